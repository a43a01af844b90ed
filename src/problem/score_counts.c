/* How many rows of two classes have which score: taken of some rows, merged, turned into rows again. */
#include "problem/score_counts.h"

#include "base/names.h"
#include "data/quote.h"
#include "problem/names.h"
#include "problem/problem.h"
#include "problem/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mel_score_counts_free(mel_score_counts *counts)
{
    if (counts == NULL)
        return;
    mel_names_free(counts->class_name, 2);
    mel_names_free(counts->group_name, counts->n_groups);
    mel_names_free(counts->file, counts->n_files);
    free(counts->cell);
    free(counts);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

mel_score_counts *mel_score_counts_new(const char *const *class_name, size_t n_groups,
                                       const char *const *group_name)
{
    mel_score_counts *c = mel_alloc_zero(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->class_name = mel_names_copy(2, class_name, 0);
    c->group_name = n_groups > 0 ? mel_names_copy(n_groups, group_name, 0) : NULL;
    c->n_groups = c->group_name != NULL ? n_groups : 0;
    if (c->class_name == NULL || c->n_groups != n_groups) {
        mel_score_counts_free(c);
        return NULL;
    }
    if (n_groups > 0)
        qsort(c->group_name, n_groups, sizeof *c->group_name, by_bytes);
    return c;
}

static mel_status fail_twice(const char *file, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "the rows of %s are there twice", mel_quote_file(file).text);
}

mel_status mel_score_counts_add_file(mel_score_counts *c, const char *file, mel_error *err)
{
    for (size_t i = 0; i < c->n_files; i++)
        if (strcmp(c->file[i], file) == 0)
            return fail_twice(file, err);
    char **longer = mel_alloc(c->n_files + 1, sizeof *longer), *name = mel_strdup(file);
    if (longer == NULL || name == NULL) {
        free(longer);
        free(name);
        return mel_fail_memory(err, "names of files");
    }
    if (c->n_files > 0)
        memcpy(longer, c->file, c->n_files * sizeof *longer);
    free(c->file);
    c->file = longer;
    c->file[c->n_files++] = name;
    qsort(c->file, c->n_files, sizeof *c->file, by_bytes);
    return MEL_OK;
}

/* Where a group is, as it is spelt; n_groups: nowhere. */
static size_t place_of(const mel_score_counts *c, const char *group)
{
    size_t g = 0;
    while (g < c->n_groups && strcmp(c->group_name[g], group) != 0)
        g++;
    return g;
}

/* place[g]: where group g of these names is in the counts, which have all of them. */
static void group_places(size_t *place, const mel_score_counts *c, size_t n, const char *const *name)
{
    for (size_t g = 0; g < n; g++)
        place[g] = place_of(c, name[g]);
}

size_t mel_score_counts_files(const mel_score_counts *counts)
{
    return counts->n_files;
}

size_t mel_score_counts_rows(const mel_score_counts *counts)
{
    size_t rows = 0;
    for (size_t i = 0; i < counts->n; i++)
        rows += counts->cell[i].rows[0] + counts->cell[i].rows[1];
    return rows;
}

/* --- taking ------------------------------------------------------------------------------------- */

static uint64_t place_of_score(double score)
{
    const double up = ceil((score - mel_score_shift) * MEL_SCORE_CELLS);
    return score > 1.0 - mel_score_shift ? MEL_SCORE_PLACES - 1 : up < 1.0 ? 0 : (uint64_t)up;
}

static double score_of_place(uint64_t place)
{
    return place == 0                      ? 0.0
           : place == MEL_SCORE_PLACES - 1 ? 1.0
                                           : ((double)place - 0.5) / MEL_SCORE_CELLS + mel_score_shift;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static mel_status check_row(const mel_counted_rows *rows, size_t r, mel_error *err)
{
    const double p = rows->probability[2 * r + 1], sum = p + rows->probability[2 * r];
    if (!(p >= -1e-6 && p <= 1.0 + 1e-6 && fabs(sum - 1.0) <= 1e-6))
        return mel_fail(err, MEL_EDATA, "row %zu: probabilities %g and %g of two classes", r + 1,
                        rows->probability[2 * r], p);
    if (rows->label[r] > 1 || (rows->n_groups > 0 && rows->group[r] >= rows->n_groups))
        return mel_fail(err, MEL_EDATA, "row %zu: its class or group is out of range", r + 1);
    return MEL_OK;
}

/* Cell and class of each row, in order. */
static mel_status sorted_keys(uint64_t *key, const mel_counted_rows *rows, const size_t *place,
                              mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t r = 0; r < rows->n && status == MEL_OK; r++) {
        status = check_row(rows, r, err);
        const uint64_t group = status == MEL_OK && rows->n_groups > 0 ? place[rows->group[r]] : 0;
        key[r] = (group * MEL_SCORE_PLACES + place_of_score(rows->probability[2 * r + 1])) * 2 +
                 (rows->label[r] & 1);
    }
    if (status == MEL_OK)
        qsort(key, rows->n, sizeof *key, by_number);
    return status;
}

static mel_status count(mel_score_counts *c, const uint64_t *key, size_t n, mel_error *err)
{
    size_t cells = 0;
    for (size_t r = 0; r < n; r++)
        cells += r == 0 || key[r] / 2 != key[r - 1] / 2;
    c->cell = mel_alloc_zero(cells, sizeof *c->cell);
    if (c->cell == NULL)
        return mel_fail_memory(err, "rows by score");
    for (size_t r = 0; r < n; r++) {
        if (r == 0 || key[r] / 2 != key[r - 1] / 2)
            c->cell[c->n++].key = key[r] / 2;
        c->cell[c->n - 1].rows[key[r] % 2]++;
    }
    return MEL_OK;
}

static mel_status fill(mel_score_counts *c, const mel_counted_rows *rows, const char *file, mel_error *err)
{
    uint64_t *key = mel_alloc(rows->n, sizeof *key);
    size_t *place = mel_alloc(rows->n_groups, sizeof *place);
    mel_status status = MEL_OK;
    if (key != NULL && place != NULL) {
        group_places(place, c, rows->n_groups, rows->group_name);
        status = sorted_keys(key, rows, place, err);
    } else {
        status = mel_fail_memory(err, "scores");
    }
    if (status == MEL_OK)
        status = mel_score_counts_add_file(c, file, err);
    if (status == MEL_OK && key != NULL)
        status = count(c, key, rows->n, err);
    free(place);
    free(key);
    return status;
}

/* The counts, or the reason why there are none. */
static mel_status finish(mel_score_counts **out, mel_score_counts *c, mel_status status)
{
    *out = status == MEL_OK ? c : NULL;
    if (status != MEL_OK)
        mel_score_counts_free(c);
    return status;
}

mel_status mel_score_counts_take(mel_score_counts **out, const mel_counted_rows *rows, const char *file,
                                 mel_error *err)
{
    *out = NULL;
    if (rows->n == 0)
        return mel_fail(err, MEL_EDATA, "there are no rows to count");
    mel_score_counts *c = mel_score_counts_new(rows->class_name, rows->n_groups, rows->group_name);
    return c != NULL ? finish(out, c, fill(c, rows, file, err)) : mel_fail_memory(err, "scores");
}

/* --- merging ------------------------------------------------------------------------------------ */

static mel_status check_pair(const mel_score_counts *a, const mel_score_counts *b, mel_error *err)
{
    for (size_t i = 0; i < 2; i++)
        if (strcmp(a->class_name[i], b->class_name[i]) != 0)
            return mel_fail(err, MEL_EDATA,
                            "these are scores of the classes %s, those of %s: they do not add up",
                            mel_name_list(2, (const char *const *)b->class_name).text,
                            mel_name_list(2, (const char *const *)a->class_name).text);
    if ((a->n_groups > 0) != (b->n_groups > 0))
        return mel_fail(err, MEL_EDATA, "some of the scores are by group and some are not");
    return MEL_OK;
}

/* Names that are in either. How many; room: for all. */
static size_t all_groups(const char **name, const mel_score_counts *a, const mel_score_counts *b)
{
    size_t n = 0;
    for (size_t g = 0; g < a->n_groups; g++)
        name[n++] = a->group_name[g];
    for (size_t g = 0; g < b->n_groups; g++)
        if (place_of(a, b->group_name[g]) == a->n_groups)
            name[n++] = b->group_name[g];
    return n;
}

static uint64_t key_in(const mel_count_cell *cell, const size_t *place)
{
    const uint64_t group = cell->key / MEL_SCORE_PLACES;
    return place[group] * MEL_SCORE_PLACES + cell->key % MEL_SCORE_PLACES;
}

/* Groups keep their order among each other, so both lists are sorted under the new keys, too. */
static void join(mel_score_counts *c, const mel_score_counts *a, const size_t *place_a,
                 const mel_score_counts *b, const size_t *place_b)
{
    for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
        const uint64_t of_a = i < a->n ? key_in(&a->cell[i], place_a) : UINT64_MAX,
                       of_b = j < b->n ? key_in(&b->cell[j], place_b) : UINT64_MAX;
        mel_count_cell *to = &c->cell[c->n++];
        *to = (mel_count_cell){ .key = of_a < of_b ? of_a : of_b };
        for (size_t k = 0; k < 2; k++)
            to->rows[k] =
                (of_a == to->key ? a->cell[i].rows[k] : 0) + (of_b == to->key ? b->cell[j].rows[k] : 0);
        i += of_a == to->key;
        j += of_b == to->key;
    }
}

/* The names of both, which are sorted. */
static mel_status join_files(mel_score_counts *c, const mel_score_counts *a, const mel_score_counts *b,
                             mel_error *err)
{
    c->file = mel_alloc_zero(a->n_files + b->n_files, sizeof *c->file);
    if (c->file == NULL)
        return mel_fail_memory(err, "names of files");
    for (size_t i = 0, j = 0; i < a->n_files || j < b->n_files; c->n_files++) {
        const int order = i == a->n_files ? 1 : j == b->n_files ? -1 : strcmp(a->file[i], b->file[j]);
        if (order == 0)
            return fail_twice(a->file[i], err);
        c->file[c->n_files] = mel_strdup(order < 0 ? a->file[i++] : b->file[j++]);
        if (c->file[c->n_files] == NULL)
            return mel_fail_memory(err, "names of files");
    }
    return MEL_OK;
}

static mel_status merge(mel_score_counts *c, const mel_score_counts *a, const mel_score_counts *b,
                        mel_error *err)
{
    mel_status status = MEL_OK;
    size_t *place = mel_alloc_zero(a->n_groups + b->n_groups + 2, sizeof *place);
    c->cell = mel_alloc(a->n + b->n, sizeof *c->cell);
    if (place != NULL && c->cell != NULL) {
        size_t *place_b = place + a->n_groups + 1;
        group_places(place, c, a->n_groups, (const char *const *)a->group_name);
        group_places(place_b, c, b->n_groups, (const char *const *)b->group_name);
        join(c, a, place, b, place_b);
    } else {
        status = mel_fail_memory(err, "scores");
    }
    free(place);
    return status == MEL_OK ? join_files(c, a, b, err) : status;
}

mel_status mel_score_counts_merge(mel_score_counts **out, const mel_score_counts *a,
                                  const mel_score_counts *b, mel_error *err)
{
    *out = NULL;
    const mel_status status = check_pair(a, b, err);
    if (status != MEL_OK)
        return status;
    const char **name = mel_alloc(a->n_groups + b->n_groups, sizeof *name);
    mel_score_counts *c =
        name != NULL ? mel_score_counts_new((const char *const *)a->class_name, all_groups(name, a, b), name)
                     : NULL;
    free(name);
    return c != NULL ? finish(out, c, merge(c, a, b, err)) : mel_fail_memory(err, "scores");
}

/* --- rows again --------------------------------------------------------------------------------- */

static size_t kinds_of_rows(const mel_score_counts *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += (c->cell[i].rows[0] > 0) + (size_t)(c->cell[i].rows[1] > 0);
    return n;
}

static void put_rows(mel_problem *p, const mel_score_counts *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const uint64_t rows = c->cell[i].rows[k];
            if (rows == 0)
                continue;
            const double score = score_of_place(c->cell[i].key % MEL_SCORE_PLACES);
            p->probability[2 * p->n_rows] = 1.0 - score;
            p->probability[2 * p->n_rows + 1] = score;
            p->label[p->n_rows] = k;
            p->group[p->n_rows] = (uint32_t)(c->cell[i].key / MEL_SCORE_PLACES);
            p->weight[p->n_rows] = p->count[p->n_rows] = (double)rows;
            p->n_rows++;
        }
}

mel_status mel_score_counts_rows_of(mel_problem *p, const mel_score_counts *c, mel_error *err)
{
    const size_t n = kinds_of_rows(c);
    const char *const *name = (const char *const *)c->class_name;
    mel_classes classes = { 0 };
    p->probability = mel_alloc(n, 2 * sizeof *p->probability);
    p->label = mel_alloc(n, sizeof *p->label);
    p->group = mel_alloc(n, sizeof *p->group);
    p->weight = mel_alloc(n, sizeof *p->weight);
    p->count = mel_alloc(n, sizeof *p->count);
    if (p->probability == NULL || p->label == NULL || p->group == NULL || p->weight == NULL ||
        p->count == NULL)
        return mel_fail_memory(err, "rows by score");
    put_rows(p, c);
    mel_status status = mel_classes_of_names(&classes, 2, name, name, false, err);
    if (status == MEL_OK)
        status = mel_name_groups(p, c->n_groups, c->group_name, err);
    if (status == MEL_OK)
        mel_take_classes(p, &classes);
    else
        mel_classes_clear(&classes);
    return status;
}

mel_status mel_problem_of_scores(mel_problem **out, const mel_score_counts *counts, mel_error *err)
{
    *out = mel_alloc_zero(1, sizeof **out);
    if (*out == NULL)
        return mel_fail_memory(err, "a problem");
    const mel_status status = mel_score_counts_rows_of(*out, counts, err);
    if (status != MEL_OK) {
        mel_problem_free(*out);
        *out = NULL;
    }
    return status;
}
