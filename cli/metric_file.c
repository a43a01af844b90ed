/* Metrics that are given as files, put into the order of what they are applied to. */
#include "metric_file.h"
#include "files.h"
#include "output.h"
#include "problem/shared.h"

#include <stdlib.h>
#include <string.h>

mel_status cli_load_metric(mel_metric **out, const char *given, mel_error *err)
{
    MEL_AUTO_MEMORY char *path = NULL;
    TRY(cli_find_data(&path, given, err));
    return mel_metric_load(out, path, err);
}

void cli_follow_metric(mel_naming *naming, const mel_metric *metric)
{
    naming->preferred = mel_metric_class_names(metric);
    naming->n_preferred = mel_metric_layout(metric)->n_classes == 2 ? 2 : 0;
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

/* What to do about it, as an ending of the refusal. */
static mel_status add_advice(mel_status status, const mel_match *with, const mel_metric *metric,
                             const char *given, mel_error *err)
{
    const size_t n = mel_metric_layout(metric)->n_classes;
    char *advice = NULL;
    if (with->mismatch == MEL_OTHER_KIND)
        advice = cli_format(", unless with --thesis kind=%s", mel_kind_name(mel_metric_layout(metric)->kind));
    else if (with->mismatch == MEL_OTHER_GROUPS)
        advice = cli_format("; call them alike in the metric file or in the data");
    else if (with->mismatch == MEL_OTHER_CLASSES) {
        char *example = rename_words(n, with->name, mel_metric_class_names(metric));
        advice = cli_format("; say which is which, as in --rename %s", n <= 6 ? example : "old=new,..");
        free(example);
    }
    char *said = cli_format("%s", err->text);
    (void)cli_fail(err, status, "%s: %s%s", given, said, advice != NULL ? advice : "");
    free(said);
    free(advice);
    return status;
}

static void note_places(size_t n, const char *const *own, const char *const *name, const char *what,
                        const char *given, cli_run *run)
{
    cli_note(run, "%s: the %s %s of the metric stand for %s, in this order", given, what,
             mel_name_list(n, own).text, mel_name_list(n, name).text);
}

mel_status cli_check_positive(const mel_measure *measure, const char *name, const mel_classes *classes,
                              mel_error *err)
{
    if (!classes->positive_unsaid || !mel_measure_has_positive(measure))
        return MEL_OK;
    return cli_fail(err, MEL_EINVAL,
                    "%s: it matters which class is positive; say --positive %s or --positive %s", name,
                    classes->label[0], classes->label[1]);
}

void cli_put_positive(json_t *object, size_t n_classes, const char *const *class_name)
{
    if (n_classes == 2 && class_name != NULL)
        cli_put(object, "positive", cli_json_text(class_name[1]));
}

void cli_print_positive(size_t n_classes, const char *const *class_name)
{
    if (n_classes == 2 && class_name != NULL && strcmp(class_name[1], "positive") != 0)
        cli_print("\n  the positive class is %s\n", class_name[1]);
}

/* A metric of "negative" and "positive", on labels of which nobody says which is which. */
static mel_status check_roles(const mel_metric *metric, const char *given, const cli_about *about,
                              mel_error *err)
{
    const mel_layout *layout = mel_metric_layout(metric);
    const char *const *own = mel_metric_class_names(metric);
    if (about->classes == NULL || !about->classes->positive_unsaid || layout->n_classes != 2 ||
        strcmp(own[0], "negative") != 0 || strcmp(own[1], "positive") != 0)
        return MEL_OK;
    MEL_AUTO(mel_measure) *measure = NULL;
    TRY(mel_measure_metric(&measure, metric, 2, layout->n_groups, err));
    return cli_check_positive(measure, given, about->classes, err);
}

mel_status cli_match_metric(mel_metric **metric, const char *given, const mel_layout *layout,
                            const cli_about *about, mel_error *err)
{
    mel_match with = about->with;
    mel_metric *moved = NULL;
    mel_status status = check_roles(*metric, given, about, err);
    if (status != MEL_OK)
        return status;
    status = mel_metric_match(&moved, *metric, layout, &with, err);
    if (status != MEL_OK)
        return add_advice(status, &with, *metric, given, err);
    if (with.classes_by_place)
        note_places(layout->n_classes, mel_metric_class_names(*metric), with.name, "classes", given,
                    about->run);
    if (with.groups_by_place)
        note_places(layout->n_groups, mel_metric_group_names(*metric), with.group, "groups", given,
                    about->run);
    mel_metric_free(*metric);
    *metric = moved;
    return MEL_OK;
}
