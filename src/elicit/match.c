/* A metric in the order of the classes and groups that something else is about, matched by name. */
#include "base/internal.h"
#include "base/layout.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "problem/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "off-diagonal rates of 3 classes in 2 groups" */
static void print_layout(char *text, size_t size, const mel_layout *layout)
{
    const char *kind = layout->kind == MEL_RATES ? "rates" : "confusion entries";
    const int n = snprintf(text, size, "%s %s of %zu classes", mel_coordinates_name(layout->coordinates),
                           kind, layout->n_classes);
    if (layout->n_groups > 1)
        (void)snprintf(text + n, size - (size_t)n, " in %zu groups", layout->n_groups);
}

/* *turned: the metric of right decisions instead of mistakes, or the other way round, where that fits. */
static mel_status check_layout(mel_metric **turned, mel_match *with, const mel_metric *metric,
                               const mel_layout *layout, mel_error *err)
{
    const mel_layout *own = mel_metric_layout(metric);
    if (mel_layout_equal(own, layout))
        return MEL_OK;
    if (mel_metric_trades_two(metric)) {
        const mel_status status = mel_metric_turn(turned, metric, err);
        if (status != MEL_OK || mel_layout_equal(mel_metric_layout(*turned), layout))
            return status;
    }
    char has[120], wants[120];
    mel_layout other = *layout;
    other.kind = own->kind;
    with->mismatch = mel_layout_equal(own, &other) ? MEL_OTHER_KIND : MEL_OTHER_STATISTICS;
    print_layout(has, sizeof has, own);
    print_layout(wants, sizeof wants, layout);
    return mel_fail(err, MEL_EDATA, "the metric is about %s; here it is about %s", has, wants);
}

static mel_status refuse_names(size_t n, const char *const *own, const char *const *name, const char *what,
                               mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "the metric is about the %s %s, here they are %s", what,
                    mel_name_list(n, own).text, mel_name_list(n, name).text);
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

static mel_status match_classes(size_t *place, size_t n, const char *const *own, mel_match *with,
                                mel_error *err)
{
    if (with->name != NULL && (mel_name_places(place, n, with->name, own) ||
                               (with->label != NULL && mel_name_places(place, n, with->label, own))))
        return MEL_OK;
    for (size_t i = 0; i < n; i++)
        place[i] = i;
    if (with->name == NULL)
        return MEL_OK;
    const bool by_place = with->classes_invented || are_roles(n, own) || are_roles(n, with->name);
    if (!by_place || share_names(n, with->name, own)) {
        with->mismatch = MEL_OTHER_CLASSES;
        return refuse_names(n, own, with->name, "classes", err);
    }
    with->classes_by_place = with->classes_invented;
    return MEL_OK;
}

static mel_status match_groups(size_t *place, size_t n, const char *const *own, mel_match *with,
                               mel_error *err)
{
    if (mel_name_places(place, n, with->group, own))
        return MEL_OK;
    if (!with->groups_invented || share_names(n, with->group, own)) {
        with->mismatch = MEL_OTHER_GROUPS;
        return refuse_names(n, own, with->group, "groups", err);
    }
    for (size_t i = 0; i < n; i++)
        place[i] = i;
    with->groups_by_place = true;
    return MEL_OK;
}

mel_status mel_metric_match(mel_metric **out, const mel_metric *metric, const mel_layout *layout,
                            mel_match *with, mel_error *err)
{
    *out = NULL;
    with->mismatch = MEL_NO_MISMATCH;
    with->classes_by_place = with->groups_by_place = false;
    mel_metric *turned = NULL;
    mel_status status = check_layout(&turned, with, metric, layout, err);
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 0;
    size_t *place = status == MEL_OK ? mel_alloc_zero(k + m, sizeof *place) : NULL;
    if (status == MEL_OK && place == NULL)
        status = mel_fail_memory(err, "the order of a metric");
    if (status == MEL_OK)
        status = match_classes(place, k, mel_metric_class_names(metric), with, err);
    if (status == MEL_OK && m > 0)
        status = match_groups(place + k, m, mel_metric_group_names(metric), with, err);
    if (status == MEL_OK)
        status =
            mel_metric_reorder(out, turned != NULL ? turned : metric, place, m > 0 ? place + k : NULL, err);
    mel_metric_free(turned);
    free(place);
    return status;
}
