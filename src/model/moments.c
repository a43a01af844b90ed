/* Sums over the rows of files: kept file by file under their names, and merged. */
#include "model/moments.h"

#include "base/names.h"
#include "data/quote.h"

#include <stdlib.h>
#include <string.h>

const mel_moments_words mel_moments_kinds[MEL_MOMENTS_KINDS] = {
    [MEL_MOMENTS_TRAINING] = { "training", "features", "sums for training", "models" },
    [MEL_MOMENTS_DECISIONS] = { "decisions", "decisions", "decisions of a classifier", "classifiers" },
    [MEL_MOMENTS_PASSES] = { "passes", "directions", "sums for melicit optimise", "iterates" },
};

mel_moments_kind mel_moments_are(const mel_moments *moments)
{
    return moments->kind;
}

static size_t training_size(size_t k, size_t n_features)
{
    enum { MOST_PARAMETERS = 20000 }; /* as Newton's method takes */
    const size_t d = n_features + 1, outputs = k == 2 ? 1 : k;
    if (n_features >= MOST_PARAMETERS || k >= MOST_PARAMETERS || d * outputs > MOST_PARAMETERS)
        return 0;
    return 1 + d * outputs + d * (d + 1) / 2 * (k * (k - 1) / 2);
}

size_t mel_moments_size(mel_moments_kind kind, size_t n_classes, size_t n_columns)
{
    enum { MOST_CLASSES = 400 }; /* their cube is the number of sums of whole weight matrices */
    const size_t k = n_classes;
    if (k < 2)
        return 0;
    if (kind == MEL_MOMENTS_TRAINING)
        return training_size(k, n_columns);
    if (k > MOST_CLASSES)
        return 0;
    if (kind == MEL_MOMENTS_DECISIONS)
        return n_columns == k || n_columns == k + 1 ? 2 * k * n_columns : 0;
    /* Totals of each class, and sums of the entries that have weights: the diagonal, or all. */
    return n_columns == 2 ? n_columns * 2 * k : n_columns == k + 1 ? n_columns * (k + k * k) : 0;
}

size_t mel_moments_numbers(const mel_moments *moments, const mel_moments_part *part)
{
    return mel_moments_size(moments->kind, moments->n_classes, moments->n_columns) *
           (part->n_groups > 0 ? part->n_groups : 1);
}

void mel_moments_part_clear(mel_moments_part *part)
{
    free(part->file);
    mel_names_free(part->group_name, part->n_groups);
    free(part->sum);
    *part = (mel_moments_part){ 0 };
}

bool mel_moments_part_new(mel_moments_part *out, const mel_moments *like, const char *file, size_t n_rows,
                          size_t n_groups, const char *const *group_name)
{
    *out = (mel_moments_part){ .file = mel_strdup(file), .n_rows = n_rows, .weight = (double)n_rows };
    out->group_name = n_groups > 0 ? mel_names_copy(n_groups, group_name, 0) : NULL;
    out->n_groups = out->group_name != NULL ? n_groups : 0;
    out->sum = mel_alloc_zero(mel_moments_numbers(like, out), sizeof *out->sum);
    return out->file != NULL && out->n_groups == n_groups && out->sum != NULL;
}

void mel_moments_free(mel_moments *moments)
{
    if (moments == NULL)
        return;
    for (size_t i = 0; i < moments->n; i++)
        mel_moments_part_clear(&moments->part[i]);
    mel_names_free(moments->class_name, moments->class_name != NULL ? moments->n_classes : 0);
    free(moments->part);
    free(moments);
}

mel_moments *mel_moments_new(mel_moments_kind kind, size_t n_classes, size_t n_columns,
                             const char *const *class_name)
{
    mel_moments *m = mel_alloc_zero(1, sizeof *m);
    if (m == NULL)
        return NULL;
    *m = (mel_moments){ .kind = kind, .n_classes = n_classes, .n_columns = n_columns };
    if (class_name != NULL && (m->class_name = mel_names_copy(n_classes, class_name, 0)) == NULL) {
        mel_moments_free(m);
        return NULL;
    }
    return m;
}

size_t mel_moments_files(const mel_moments *moments)
{
    return moments->n;
}

size_t mel_moments_rows(const mel_moments *moments)
{
    size_t rows = 0;
    for (size_t i = 0; i < moments->n; i++)
        rows += moments->part[i].n_rows;
    return rows;
}

static bool grouped_alike(const mel_moments *m, const mel_moments_part *part)
{
    return m->n == 0 || (m->part[0].n_groups > 0) == (part->n_groups > 0);
}

static mel_status fail_grouped(const mel_moments *m, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "some of the %s are by group and some are not",
                    mel_moments_kinds[m->kind].of);
}

static mel_status fail_twice(const mel_moments_part *part, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "the rows of %s are there twice", mel_quote_file(part->file).text);
}

mel_status mel_moments_add(mel_moments *m, mel_moments_part *part, mel_error *err)
{
    size_t at = m->n; /* files come in order for the most part */
    while (at > 0 && strcmp(m->part[at - 1].file, part->file) > 0)
        at--;
    mel_status status = MEL_OK;
    void *parts = m->part;
    if (at > 0 && strcmp(m->part[at - 1].file, part->file) == 0)
        status = fail_twice(part, err);
    else if (!grouped_alike(m, part))
        status = fail_grouped(m, err);
    else if (!mel_grow(&parts, m->n + 1, sizeof *m->part))
        status = mel_fail_memory(err, "moments");
    m->part = parts;
    if (status != MEL_OK) {
        mel_moments_part_clear(part);
        return status;
    }
    memmove(m->part + at + 1, m->part + at, (m->n - at) * sizeof *m->part);
    m->part[at] = *part;
    m->n++;
    *part = (mel_moments_part){ 0 };
    return MEL_OK;
}

mel_status mel_moments_expect(const mel_moments *moments, mel_moments_kind kind, mel_error *err)
{
    return moments->kind == kind ? MEL_OK
                                 : mel_fail(err, MEL_EDATA, "these are moments of another kind, %s, not %s",
                                            mel_moments_kinds[moments->kind].of, mel_moments_kinds[kind].of);
}

mel_status mel_moments_finish(mel_moments **out, mel_moments *moments, mel_status status)
{
    *out = status == MEL_OK ? moments : NULL;
    if (status != MEL_OK)
        mel_moments_free(moments);
    return status;
}

/* --- merging ------------------------------------------------------------------------------------ */

static mel_status check_pair(const mel_moments *a, const mel_moments *b, mel_error *err)
{
    const mel_status status = mel_moments_expect(b, a->kind, err);
    if (status != MEL_OK)
        return status;
    if (a->n_classes != b->n_classes || a->n_columns != b->n_columns || strcmp(a->at, b->at) != 0)
        return mel_fail(err, MEL_EDATA, "moments at different %s do not add up",
                        mel_moments_kinds[a->kind].at);
    if (b->n > 0 && !grouped_alike(a, &b->part[0]))
        return fail_grouped(a, err);
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const int order = strcmp(a->part[i].file, b->part[j].file);
        if (order == 0)
            return fail_twice(&a->part[i], err);
        i += order < 0;
        j += order > 0;
    }
    return MEL_OK;
}

mel_status mel_moments_move(mel_moments *to, mel_moments *from, mel_error *err)
{
    const mel_status status = check_pair(to, from, err);
    if (status != MEL_OK)
        return status;
    void *parts = to->part;
    if (!mel_grow(&parts, to->n + from->n, sizeof *to->part))
        return mel_fail_memory(err, "moments");
    to->part = parts;
    size_t i = to->n;
    to->n += from->n;
    for (size_t at = to->n; from->n > 0; at--) /* the last of both comes last */
        to->part[at - 1] = i > 0 && strcmp(to->part[i - 1].file, from->part[from->n - 1].file) > 0
                               ? to->part[--i]
                               : from->part[--from->n];
    return MEL_OK;
}

static mel_status copy(mel_moments **out, const mel_moments *from, mel_error *err)
{
    *out =
        mel_moments_new(from->kind, from->n_classes, from->n_columns, (const char *const *)from->class_name);
    if (*out == NULL)
        return mel_fail_memory(err, "moments");
    memcpy((*out)->at, from->at, sizeof from->at);
    mel_status status = MEL_OK;
    for (size_t i = 0; i < from->n && status == MEL_OK; i++) {
        const mel_moments_part *old = &from->part[i];
        mel_moments_part part;
        if (!mel_moments_part_new(&part, from, old->file, old->n_rows, old->n_groups,
                                  (const char *const *)old->group_name)) {
            mel_moments_part_clear(&part);
            return mel_fail_memory(err, "moments");
        }
        part.weight = old->weight;
        memcpy(part.sum, old->sum, mel_moments_numbers(from, old) * sizeof *part.sum);
        status = mel_moments_add(*out, &part, err);
    }
    return status;
}

mel_status mel_moments_merge(mel_moments **out, const mel_moments *a, const mel_moments *b, mel_error *err)
{
    *out = NULL;
    mel_moments *both = NULL, *more = NULL;
    mel_status status = check_pair(a, b, err);
    if (status == MEL_OK)
        status = copy(&both, a, err);
    if (status == MEL_OK)
        status = copy(&more, b, err);
    if (status == MEL_OK)
        status = mel_moments_move(both, more, err);
    mel_moments_free(more);
    return mel_moments_finish(out, both, status);
}
