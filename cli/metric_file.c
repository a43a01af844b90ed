/* Metrics that are given as files, put into the order of what they are applied to. */
#include "metric_file.h"
#include "base/layout.h"
#include "files.h"
#include "metric/shared.h"
#include "output.h"
#include "problem/shared.h"

#include <stdlib.h>
#include <string.h>

mel_status cli_load_metric(mel_metric **out, const char *given, mel_error *err)
{
    char *path = NULL;
    mel_status status = cli_find_data(&path, given, err);
    if (status == MEL_OK)
        status = mel_metric_load(out, path, err);
    free(path);
    return status;
}

double *cli_metric_draws(size_t n, const mel_metric *metric, uint64_t seed)
{
    double low = 0.0, high = 0.0;
    if (n == 0 || !mel_metric_interval(metric, 0, &low, &high))
        return NULL;
    const size_t width = mel_metric_coefficients(metric);
    double *draws = cli_alloc_zero(n * width, sizeof *draws);
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < n; i++)
        mel_metric_draw(draws + i * width, metric, &rng);
    return draws;
}

void cli_follow_metric(mel_naming *naming, const mel_metric *metric)
{
    naming->preferred = mel_metric_class_names(metric);
    naming->n_preferred = mel_metric_layout(metric)->n_classes == 2 ? 2 : 0;
}

/* "off-diagonal rates of 3 classes in 2 groups"; freed by the caller. */
static char *layout_words(const mel_layout *layout)
{
    const char *kind = layout->kind == MEL_RATES ? "rates" : "confusion entries";
    return layout->n_groups > 1
               ? cli_format("%s %s of %zu classes in %zu groups", mel_coordinates_name(layout->coordinates),
                            kind, layout->n_classes, layout->n_groups)
               : cli_format("%s %s of %zu classes", mel_coordinates_name(layout->coordinates), kind,
                            layout->n_classes);
}

static mel_status check_layout(const mel_metric *metric, const char *given, const mel_layout *layout,
                               mel_error *err)
{
    const mel_layout *own = mel_metric_layout(metric);
    if (mel_layout_equal(own, layout))
        return MEL_OK;
    char *has = layout_words(own), *wants = layout_words(layout);
    mel_layout other = *layout;
    other.kind = own->kind;
    const bool kind = mel_layout_equal(own, &other); /* that alone is different */
    (void)cli_fail(err, MEL_EDATA, "%s: the metric is about %s; here it is about %s%s%s", given, has, wants,
                   kind ? ", unless with --kind " : "", kind ? mel_kind_name(own->kind) : "");
    free(has);
    free(wants);
    return MEL_EDATA;
}

/* "0=healthy,1=cancer"; freed by the caller. */
static char *rename_words(size_t n, const char *const *from, const char *const *to)
{
    char *text = cli_format("%s", "");
    for (size_t i = 0; i < n; i++) {
        char *longer = cli_format("%s%s%s=%s", text, i > 0 ? "," : "", from[i], to[i]);
        free(text);
        text = longer;
    }
    return text;
}

static mel_status refuse_names(size_t n, const char *const *own, const char *const *name, const char *given,
                               bool groups, mel_error *err)
{
    const mel_name_list_text has = mel_name_list(n, own), here = mel_name_list(n, name);
    if (groups)
        return cli_fail(err, MEL_EDATA,
                        "%s: the metric is about the groups %s, here they are %s; call them alike in the "
                        "metric file or in the data",
                        given, has.text, here.text);
    char *example = rename_words(n, name, own);
    (void)cli_fail(err, MEL_EDATA,
                   "%s: the metric is about the classes %s, here they are %s; say which is which, as in "
                   "--rename %s",
                   given, has.text, here.text, n <= 6 ? example : "old=new,..");
    free(example);
    return MEL_EDATA;
}

static bool are_roles(size_t n, const char *const *name)
{
    return n == 2 && strcmp(name[0], "negative") == 0 && strcmp(name[1], "positive") == 0;
}

static bool share_names(size_t n, const char *const *name, const char *const *own)
{
    for (size_t i = 0; i < n; i++)
        if (mel_name_place(name[i], n, own) < n)
            return true;
    return false;
}

static void note_places(size_t n, const char *const *own, const char *const *name, const char *what,
                        const char *given, cli_run *run)
{
    cli_note(run, "%s: the %s %s of the metric stand for %s, in this order", given, what,
             mel_name_list(n, own).text, mel_name_list(n, name).text);
}

static mel_status match_classes(size_t *place, size_t n, const char *const *own, const char *given,
                                const cli_about *about, mel_error *err)
{
    if (about->name != NULL && (mel_name_places(place, n, about->name, own) ||
                                (about->label != NULL && mel_name_places(place, n, about->label, own))))
        return MEL_OK;
    for (size_t i = 0; i < n; i++)
        place[i] = i;
    if (about->name == NULL)
        return MEL_OK;
    const bool by_place = about->classes_invented || are_roles(n, own) || are_roles(n, about->name);
    if (!by_place || share_names(n, about->name, own))
        return refuse_names(n, own, about->name, given, false, err);
    if (about->classes_invented)
        note_places(n, own, about->name, "classes", given, about->run);
    return MEL_OK;
}

static mel_status match_groups(size_t *place, size_t n, const char *const *own, const char *given,
                               const cli_about *about, mel_error *err)
{
    if (mel_name_places(place, n, about->group, own))
        return MEL_OK;
    if (!about->groups_invented || share_names(n, about->group, own))
        return refuse_names(n, own, about->group, given, true, err);
    for (size_t i = 0; i < n; i++)
        place[i] = i;
    note_places(n, own, about->group, "groups", given, about->run);
    return MEL_OK;
}

mel_status cli_match_metric(mel_metric **metric, const char *given, const mel_layout *layout,
                            const cli_about *about, mel_error *err)
{
    mel_status status = check_layout(*metric, given, layout, err);
    if (status != MEL_OK)
        return status;
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 0;
    size_t *place = cli_alloc_zero(k + m, sizeof *place);
    status = match_classes(place, k, mel_metric_class_names(*metric), given, about, err);
    if (status == MEL_OK && m > 0)
        status = match_groups(place + k, m, mel_metric_group_names(*metric), given, about, err);
    mel_metric *moved = NULL;
    if (status == MEL_OK)
        status = mel_metric_reorder(&moved, *metric, place, m > 0 ? place + k : NULL, err);
    if (status == MEL_OK) {
        mel_metric_free(*metric);
        *metric = moved;
    }
    free(place);
    return status;
}
