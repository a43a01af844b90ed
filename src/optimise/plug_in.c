/* The baseline that tunes one gain per class on the validation rows by line searches: for pairs of classes as
 * in the thesis, then with all classes deciding. */
#include "optimise/optimise.h"
#include "optimise/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BETWEEN_REPORTS = 64 }; /* evaluations */

/* A search. On a line the gain of one class rises, and rows join the class from the others. */
typedef struct {
    size_t k, n, n_gains; /* n_gains: on a line */
    const mel_weight_rows *rows;
    const mel_black_box *box;
    const mel_progress *progress;
    double spacing;
    uint32_t most_lines;
    mel_optimise_result *found; /* the best rule so far, in its mixture */
    bool flat;                  /* every value so far is that of the start */
    uint32_t *other;            /* n: what a row is decided as before it joins */
    uint32_t *joins;            /* n: at which number of the line, n_gains: never */
    uint32_t *order, *first;    /* n rows in the order in which they join; where those of a number begin */
    double *chance;             /* n x k, for judges */
    double *count, *share;      /* groups x k x k, for metrics of confusion entries */
} search;

static double gain_at(const search *s, size_t number)
{
    const double zeta = (double)(number + 1) * s->spacing;
    return zeta / (1.0 - zeta);
}

/* Row i changes from one decision to another; from k: it had none. */
static void redecide(search *s, size_t i, size_t from, size_t to)
{
    if (s->chance != NULL) {
        if (from < s->k)
            s->chance[i * s->k + from] = 0.0;
        s->chance[i * s->k + to] = 1.0;
        return;
    }
    double *count =
        s->count + ((s->box->group != NULL ? s->box->group[i] : 0) * s->k + s->rows->label[i]) * s->k;
    if (from < s->k)
        count[from]--;
    count[to]++;
}

static mel_status ask_box(double *value, search *s, mel_error *err)
{
    const size_t cells = (s->box->n_groups > 1 ? s->box->n_groups : 1) * s->k * s->k;
    s->found->queries++;
    if (s->chance != NULL) {
        TRY(s->box->judge(value, s->box->user, s->chance, err));
    } else {
        for (size_t c = 0; c < cells; c++)
            s->share[c] = s->count[c] / (double)s->n;
        TRY(s->box->value(value, s->box->user, s->share, err));
    }
    TRY(mel_metric_finite(*value, err));
    if (s->found->queries > 1 && *value != s->found->start)
        s->flat = false;
    return MEL_OK;
}

/* --- lines -------------------------------------------------------------------------------------- */

/* The class without j that has the largest gain times probability, and how much; j = k: of all. */
static double rest_of(uint32_t *other, const search *s, const double *gain, size_t i, size_t j)
{
    const double *p = s->rows->probability + i * s->k;
    double best = -INFINITY;
    for (size_t c = 0; c < s->k; c++)
        if (c != j && gain[c] * p[c] > best) {
            best = gain[c] * p[c];
            *other = (uint32_t)c;
        }
    return best;
}

/* The first number of the line at which row i joins class j: ties go to the smaller class, as everywhere. */
static uint32_t joining(const search *s, size_t i, size_t j, double rest)
{
    const double p = s->rows->probability[i * s->k + j];
    size_t low = 0, high = s->n_gains;
    while (low < high) {
        const size_t at = (low + high) / 2;
        const double score = gain_at(s, at) * p;
        if (score > rest || (score == rest && j < s->other[i]))
            high = at;
        else
            low = at + 1;
    }
    return (uint32_t)low;
}

/* All rows as without class j (j = k: as by these gains). pair: the other class is the first. */
static void begin_line(search *s, const double *gain, size_t j, bool pair)
{
    if (s->chance != NULL)
        memset(s->chance, 0, s->n * s->k * sizeof *s->chance);
    else
        memset(s->count, 0, (s->box->n_groups > 1 ? s->box->n_groups : 1) * s->k * s->k * sizeof *s->count);
    memset(s->first, 0, (s->n_gains + 2) * sizeof *s->first);
    for (size_t i = 0; i < s->n; i++) {
        s->other[i] = 0;
        const double rest = pair ? s->rows->probability[i * s->k] : rest_of(&s->other[i], s, gain, i, j);
        s->joins[i] = j < s->k ? joining(s, i, j, rest) : (uint32_t)s->n_gains;
        s->first[s->joins[i] + 1]++;
        redecide(s, i, s->k, s->other[i]);
    }
    for (size_t z = 0; z <= s->n_gains; z++)
        s->first[z + 1] += s->first[z];
    for (size_t i = 0; i < s->n; i++) /* moves every beginning to its end */
        s->order[s->first[s->joins[i]]++] = (uint32_t)i;
}

static mel_status tell(const search *s, size_t j, bool pair, mel_error *err)
{
    char what[96];
    (void)mel_print(what, sizeof what, "iteration %lu, gain of class %zu%s, value %.6g",
                    (unsigned long)s->found->iterations, j + 1, pair ? " against class 1" : "",
                    s->found->best);
    return mel_report_progress(s->progress, what, (double)(s->found->iterations - 1) / s->most_lines, err);
}

static void keep(search *s, double value)
{
    s->found->best = value;
    s->found->best_iteration = s->found->iterations;
}

/* One line: the gain of class j with the largest value, the smallest of those that tie. pair: into *gain,
 * whatever it is; else into the mixture where it is better than the best so far. */
static mel_status search_gain(double *gain, search *s, size_t j, bool pair, mel_error *err)
{
    double best = pair ? -INFINITY : s->found->best;
    size_t asked = 0;
    s->found->iterations++;
    begin_line(s, gain, j, pair);
    mel_status status = MEL_OK;
    for (size_t z = 0; z < s->n_gains && status == MEL_OK; z++) {
        const size_t from = z > 0 ? s->first[z - 1] : 0, to = s->first[z];
        double value = 0.0;
        for (size_t r = from; r < to; r++)
            redecide(s, s->order[r], s->other[s->order[r]], j);
        if (from == to && z > 0)
            continue; /* the same decisions as before */
        if (asked++ % BETWEEN_REPORTS == 0)
            status = tell(s, j, pair, err);
        if (status == MEL_OK)
            status = ask_box(&value, s, err);
        if (status == MEL_OK && value > best) {
            best = value;
            gain[j] = gain_at(s, z);
            if (!pair) {
                s->found->mixture.gain[j * s->k + j] = gain[j];
                keep(s, value);
            }
        }
    }
    return mel_metric_fails(status)
               ? mel_fail_in(err, status, "iteration %lu (gain of class %zu%s), evaluation %zu",
                             (unsigned long)s->found->iterations, j + 1, pair ? " against class 1" : "",
                             s->found->queries)
               : status;
}

/* --- the search --------------------------------------------------------------------------------- */

/* The thesis' way: the gain of each class relative to the first, by rules that predict one of these two.
 * Then the value of all together. */
static mel_status search_pairs(double *gain, search *s, bool take, mel_error *err)
{
    for (size_t j = 1; j < s->k; j++)
        TRY(search_gain(gain, s, j, true, err));
    begin_line(s, gain, s->k, false);
    const mel_status status = ask_box(&s->found->value, s, err);
    if (status != MEL_OK)
        return mel_metric_fails(status)
                   ? mel_fail_in(err, status, "iteration %lu (gains of all pairs), evaluation %zu",
                                 (unsigned long)s->found->iterations, s->found->queries)
                   : status;
    if (take || s->found->value > s->found->best) {
        keep(s, s->found->value);
        for (size_t j = 0; j < s->k; j++)
            s->found->mixture.gain[j * s->k + j] = gain[j];
    }
    return MEL_OK;
}

static mel_status search_all(double *gain, search *s, uint32_t rounds, mel_error *err)
{
    if (s->k == 2) /* one gain: a pair is all */
        return search_gain(gain, s, 1, false, err);
    TRY(search_pairs(gain, s, rounds == 0, err));
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t before = s->found->iterations;
        for (size_t j = 0; j < s->k; j++) {
            for (size_t c = 0; c < s->k; c++)
                gain[c] = s->found->mixture.gain[c * s->k + c];
            TRY(search_gain(gain, s, j, false, err));
        }
        if (s->found->best_iteration <= before)
            break; /* nothing better */
    }
    return MEL_OK;
}

/* From gains of 1: the model as it is. */
static mel_status run_search(double *gain, search *s, uint32_t rounds, mel_error *err)
{
    for (size_t j = 0; j < s->k; j++)
        gain[j] = s->found->mixture.gain[j * s->k + j] = 1.0;
    begin_line(s, gain, s->k, false);
    mel_status status = ask_box(&s->found->start, s, err);
    if (status != MEL_OK)
        return mel_metric_fails(status) ? mel_fail_in(err, status, "iteration 0") : status;
    keep(s, s->found->start);
    status = search_all(gain, s, rounds, err);
    s->found->value = s->found->best;
    return mel_optimise_ended(s->found, s->flat, status, err);
}

static void search_clear(search *s)
{
    free(s->other);
    free(s->first);
    free(s->chance);
    free(s->count);
}

static bool make_search_room(search *s)
{
    const size_t k = s->k, cells = (s->box->n_groups > 1 ? s->box->n_groups : 1) * k * k;
    mel_blend *rule = &s->found->mixture;
    *rule = (mel_blend){ .n_rules = 1, .n_classes = k };
    rule->gain = mel_alloc_zero(k * k, sizeof *rule->gain);
    rule->share = mel_alloc(1, sizeof *rule->share);
    s->other = mel_alloc(s->n, 3 * sizeof *s->other);
    s->first = mel_alloc(s->n_gains + 2, sizeof *s->first);
    if (s->box->judge != NULL)
        s->chance = mel_alloc(s->n, k * sizeof *s->chance);
    else
        s->count = mel_alloc(2 * cells, sizeof *s->count);
    if (rule->gain == NULL || rule->share == NULL || s->other == NULL || s->first == NULL ||
        (s->chance == NULL && s->count == NULL))
        return false;
    rule->share[0] = 1.0;
    s->joins = s->other + s->n;
    s->order = s->joins + s->n;
    s->share = s->count != NULL ? s->count + cells : NULL;
    return true;
}

mel_status mel_optimise_plug_in(mel_optimise_result *found, size_t n_classes,
                                const mel_weight_rows *validation, const mel_black_box *box, double spacing,
                                uint32_t rounds, const mel_progress *progress, mel_error *err)
{
    mel_error own = { 0 };
    *found = (mel_optimise_result){ .condition = NAN, .gap = NAN };
    if (!(spacing > 0.0 && spacing <= 0.5))
        return mel_fail(err, MEL_EINVAL, "spacing %g: expected a number above 0, at most 0.5", spacing);
    if (validation->n_rows > UINT32_MAX || (box->judge == NULL && validation->label == NULL))
        return mel_fail(err, MEL_EINVAL, "expected validation rows with labels");
    TRY(mel_optimise_check_rows("validation", validation, n_classes, 1, err));
    MEL_AUTO_CLEAR(search)
    s = { .k = n_classes,
          .n = validation->n_rows,
          .n_gains = (size_t)(1.0 / spacing + 0.5) - 1,
          .rows = validation,
          .box = box,
          .progress = progress,
          .spacing = spacing,
          .most_lines = (uint32_t)(n_classes * (1 + (size_t)rounds)),
          .found = found,
          .flat = true };
    MEL_AUTO_MEMORY double *gain = mel_alloc(n_classes, sizeof *gain);
    const mel_status status = gain != NULL && make_search_room(&s)
                                  ? run_search(gain, &s, rounds, err != NULL ? err : &own)
                                  : mel_fail_memory(err, "the search");
    if (status != MEL_OK)
        mel_optimise_clear(found);
    return status;
}
