/* What a classifier decides about rows that no process sees all of: sums over the rows of a file, and over
 * merged files. */
#include "base/names.h"
#include "classify/classify.h"
#include "classify/evidence.h"
#include "classify/shared.h"
#include "data/quote.h"
#include "model/moments.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLICE_ROWS = 1 << 16
}; /* decided at a time, by their number alone; sums of slices are added in order */

/* What decisions depend on: not how the classifier was found, nor what it was worth there. */
static mel_status digest_rules(char digest[MEL_DIGEST_HEX], const mel_classifier *c, mel_error *err)
{
    static const char *const other[] = { "layout", "statistics", "value", "found", "space" };
    char *text = NULL;
    json_t *json = NULL;
    mel_status status = mel_classifier_to_json(&text, c, err);
    if (status == MEL_OK)
        status = mel_json_parse(&json, text, strlen(text), err);
    free(text);
    text = NULL;
    for (size_t i = 0; i < sizeof other / sizeof *other && status == MEL_OK; i++)
        (void)json_object_del(json, other[i]);
    if (status == MEL_OK)
        status = mel_json_file_text(&text, json, "a classifier", err);
    if (status == MEL_OK)
        mel_digest(text, strlen(text), digest);
    free(text);
    return status;
}

/* --- the rows of a file ------------------------------------------------------------------------- */

static mel_status check_rows(const mel_classifier *c, const mel_rule_rows *rows, mel_error *err)
{
    if (c->joint || rows->joint)
        return mel_fail(err, MEL_EINVAL,
                        "decisions by probabilities of groups and classes together are not summed up");
    if (rows->n_rows == 0)
        return mel_fail(err, MEL_EDATA, "there are no rows");
    if (rows->n_classes != c->n_classes)
        return mel_fail(err, MEL_EINVAL, "rows of %zu classes, the classifier decides between %zu",
                        rows->n_classes, c->n_classes);
    if (rows->weight != NULL || rows->count != NULL)
        return mel_fail(err, MEL_EINVAL, "decisions are counted of rows that count alike");
    if (c->n_groups > 1 && rows->n_groups == 0)
        return mel_fail(err, MEL_EINVAL, "the classifier decides by groups: expected the groups of the rows");
    return mel_rule_rows_check(rows, err);
}

/* Groups as the classifier numbers them, by their names; NULL in *out: it does not look at them. */
static mel_status groups_seen(uint32_t **out, const mel_classifier *c, const mel_rule_rows *rows,
                              mel_error *err)
{
    *out = NULL;
    if (c->n_groups < 2)
        return MEL_OK;
    uint32_t *place = mel_alloc(rows->n_groups, sizeof *place);
    *out = mel_alloc(rows->n_rows, sizeof **out);
    mel_status status = place != NULL && *out != NULL ? MEL_OK : mel_fail_memory(err, "groups");
    for (size_t g = 0; g < rows->n_groups && status == MEL_OK; g++) {
        for (place[g] = 0; place[g] < c->n_groups;)
            if (strcmp(c->names.group_name[place[g]], rows->group_name[g]) == 0)
                break;
            else
                place[g]++;
        if (place[g] == c->n_groups)
            status = mel_fail(err, MEL_EDATA, "the classifier does not know the group %s",
                              mel_quote_text(rows->group_name[g]).text);
    }
    for (size_t i = 0; i < rows->n_rows && status == MEL_OK; i++)
        (*out)[i] = place[rows->group[i]];
    free(place);
    return status;
}

/* Adds rows begin .. end, of which `chance` says how each is decided. */
static void add_rows(double *sum, const mel_classifier *c, const mel_rule_rows *rows, const double *chance,
                     size_t begin, size_t end)
{
    const size_t k = c->n_classes, d = c->n_decisions, size = 2 * k * d;
    for (size_t i = begin; i < end; i++) {
        double *labels = sum + (rows->n_groups > 0 ? rows->group[i] : 0) * size, *model = labels + k * d;
        const double *p = rows->probability + i * k, *decided = chance + (i - begin) * d;
        for (size_t j = 0; j < d; j++) {
            if (decided[j] == 0.0)
                continue;
            labels[rows->label[i] * d + j] += decided[j];
            for (size_t t = 0; t < k; t++)
                model[t * d + j] += p[t] * decided[j];
        }
    }
}

static mel_status sum_rows(double *sum, const mel_classifier *c, const mel_rule_rows *rows,
                           const uint32_t *group, mel_error *err)
{
    const size_t k = c->n_classes, d = c->n_decisions,
                 n_sums = 2 * k * d * (rows->n_groups > 0 ? rows->n_groups : 1),
                 most = rows->n_rows < SLICE_ROWS ? rows->n_rows : SLICE_ROWS;
    double *chance = mel_alloc(most * d, sizeof *chance), *slice = mel_alloc(n_sums, sizeof *slice);
    mel_status status = chance != NULL && slice != NULL ? MEL_OK : mel_fail_memory(err, "decisions");
    for (size_t at = 0; at < rows->n_rows && status == MEL_OK; at += most) {
        const size_t n = rows->n_rows - at < most ? rows->n_rows - at : most;
        const mel_undecided some = { .n = n,
                                     .probability = rows->probability + at * k,
                                     .group = group != NULL ? group + at : NULL,
                                     .row_cost = rows->row_cost != NULL ? rows->row_cost + at * k : NULL };
        status = mel_classifier_chances_of(chance, c, &some, err);
        if (status != MEL_OK)
            break;
        memset(slice, 0, n_sums * sizeof *slice);
        add_rows(slice, c, rows, chance, at, at + n);
        for (size_t i = 0; i < n_sums; i++)
            sum[i] += slice[i];
    }
    free(chance);
    free(slice);
    return status;
}

mel_status mel_classifier_moments(mel_moments **out, const mel_classifier *at, const mel_rule_rows *rows,
                                  const char *file, mel_error *err)
{
    *out = NULL;
    uint32_t *group = NULL;
    mel_moments_part part = { 0 };
    mel_status status = check_rows(at, rows, err);
    if (status != MEL_OK)
        return status;
    if (mel_moments_size(MEL_MOMENTS_DECISIONS, at->n_classes, at->n_decisions) == 0)
        return mel_fail(err, MEL_ELIMIT, "decisions between %zu classes are not summed up", at->n_classes);
    mel_moments *m = mel_moments_new(MEL_MOMENTS_DECISIONS, at->n_classes, at->n_decisions,
                                     (const char *const *)at->names.class_name);
    status = m != NULL && mel_moments_part_new(&part, m, file, rows->n_rows, rows->n_groups, rows->group_name)
                 ? digest_rules(m->at, at, err)
                 : mel_fail_memory(err, "moments");
    if (status == MEL_OK)
        status = groups_seen(&group, at, rows, err);
    if (status == MEL_OK)
        status = sum_rows(part.sum, at, rows, group, err);
    if (status == MEL_OK)
        status = mel_moments_add(m, &part, err);
    mel_moments_part_clear(&part);
    free(group);
    return mel_moments_finish(out, m, status);
}

/* --- all files ---------------------------------------------------------------------------------- */

void mel_decided_clear(mel_decided *d)
{
    free(d->by_labels);
    free((void *)(uintptr_t)d->group_name);
    *d = (mel_decided){ 0 };
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The groups of all files, each once. */
static mel_status list_groups(mel_decided *out, const mel_moments *m, mel_error *err)
{
    size_t all = 0;
    for (size_t i = 0; i < m->n; i++)
        all += m->part[i].n_groups;
    const char **name = mel_alloc(all, sizeof *name);
    if (name == NULL)
        return mel_fail_memory(err, "groups");
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        for (size_t g = 0; g < m->part[i].n_groups; g++)
            name[n++] = m->part[i].group_name[g];
    if (n > 0)
        qsort(name, n, sizeof *name, by_bytes);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(name[i], name[out->n_groups - 1]) != 0)
            name[out->n_groups++] = name[i];
    out->group_name = name;
    return MEL_OK;
}

static void add_part(mel_decided *out, const mel_moments_part *part)
{
    const size_t cells = out->n_classes * out->n_decisions, groups = part->n_groups > 0 ? part->n_groups : 1;
    for (size_t g = 0; g < groups; g++) {
        size_t to = 0;
        while (part->n_groups > 0 && strcmp(out->group_name[to], part->group_name[g]) != 0)
            to++;
        for (size_t c = 0; c < cells; c++) {
            out->by_labels[to * cells + c] += part->sum[2 * g * cells + c];
            out->by_model[to * cells + c] += part->sum[(2 * g + 1) * cells + c];
        }
    }
}

mel_status mel_decided_of(mel_decided *out, const mel_moments *m, mel_error *err)
{
    *out = (mel_decided){ .n_classes = m->n_classes,
                          .n_decisions = m->n_columns,
                          .class_name = (const char *const *)m->class_name };
    mel_status status = mel_moments_expect(m, MEL_MOMENTS_DECISIONS, err);
    if (status == MEL_OK)
        status = list_groups(out, m, err);
    if (status == MEL_OK) {
        const size_t n = m->n_classes * m->n_columns * (out->n_groups > 0 ? out->n_groups : 1);
        const mel_part parts[] = { { n, { &out->by_labels, &out->by_model } } };
        if (!mel_parts_new(MEL_PARTS(parts)))
            status = mel_fail_memory(err, "decisions");
    }
    for (size_t i = 0; i < m->n && status == MEL_OK; i++)
        add_part(out, &m->part[i]);
    if (status != MEL_OK)
        mel_decided_clear(out);
    return status;
}
