/* Linear steps of two classes: rows are sorted once, a step is a search among thresholds. */
#include "classify/steps.h"

#include "base/stat.h"
#include "model/shared.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far thresholds stay away from scores, so that rounding does not decide. */
static const double least_margin = 1e-12;

/* One block. Predicting the second class for the first t scores achieves above[t] of each of its true classes
 * (of each group, where the block holds several). */
typedef struct {
    size_t n, width; /* distinct scores; true classes x groups of the block */
    bool falls;      /* the second class has the lower scores: these rank the classes the wrong way round */
    double *score;   /* n, largest first; smallest first where it falls */
    double *above;   /* (n + 1) x width */
    uint32_t *hull;  /* thresholds that are best for some gains; width 2 only */
    size_t n_hull;
} sorted_block;

typedef struct {
    size_t n_blocks;
    sorted_block *block;
} sorted_steps;

static void free_sorted(void *self)
{
    sorted_steps *s = self;
    for (size_t b = 0; b < s->n_blocks && s->block != NULL; b++) {
        free(s->block[b].score);
        free(s->block[b].above);
        free(s->block[b].hull);
    }
    free(s->block);
    free(s);
}

/* --- rules -------------------------------------------------------------------------------------- */

/* Between the t-th and the next score. */
static double threshold_of(const sorted_block *b, size_t t)
{
    const double high = fmax(b->score[t - 1], b->score[t]), low = fmin(b->score[t - 1], b->score[t]),
                 middle = low + (high - low) / 2.0;
    return middle < high ? middle : low;
}

/* Gains by which the second class is predicted when its probability is above the threshold; inverted: below.
 */
static void put_threshold(double *rule, double threshold, bool inverted)
{
    const size_t yes = inverted ? 0 : 1;
    memset(rule, 0, 4 * sizeof *rule);
    rule[1 - yes] = threshold;
    rule[2 + yes] = 1.0 - threshold;
}

static void put_rule(double *rule, const sorted_block *b, size_t t, bool inverted)
{
    if (t > 0 && t < b->n) {
        put_threshold(rule, threshold_of(b, t), inverted != b->falls);
        return;
    }
    const size_t always = (t == 0) == inverted ? 1 : 0;
    memset(rule, 0, 4 * sizeof *rule);
    rule[always] = rule[2 + always] = 1.0;
}

static void put_shares_at(double *shares, const sorted_block *b, size_t t, bool inverted)
{
    const double *total = b->above + b->n * b->width, *above = b->above + t * b->width;
    for (size_t c = 0; c < b->width; c++) {
        const double rest = total[c] - above[c];
        shares[2 * c] = inverted ? above[c] : rest;
        shares[2 * c + 1] = inverted ? rest : above[c];
    }
}

size_t mel_sorted_count(const mel_steps *steps, size_t block)
{
    return ((const sorted_steps *)steps->self)->block[block].n;
}

void mel_sorted_at(double *shares, double *rule, const mel_steps *steps, size_t block, size_t threshold,
                   bool inverted)
{
    const sorted_block *b = &((const sorted_steps *)steps->self)->block[block];
    put_shares_at(shares, b, threshold, inverted);
    put_rule(rule, b, threshold, inverted);
}

bool mel_sorted_falls(const mel_steps *steps, size_t block)
{
    return ((const sorted_steps *)steps->self)->block[block].falls;
}

/* --- steps -------------------------------------------------------------------------------------- */

/* The corner of the hull that is best for wins > 0 of the second class against losses > 0 of the first. */
static size_t best_corner(const sorted_block *b, double wins, double losses)
{
    size_t low = 0, high = b->n_hull - 1; /* the best one is among low..high */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const double *at = b->above + (size_t)b->hull[middle] * 2,
                     *next = b->above + (size_t)b->hull[middle + 1] * 2;
        if (wins * (next[1] - at[1]) > losses * (next[0] - at[0]))
            low = middle + 1;
        else
            high = middle;
    }
    return b->hull[low];
}

/* The best of all thresholds, for any gains of any number of groups. */
static size_t best_scan(const sorted_block *b, const double *gain, bool *inverted)
{
    double most = 0.0, least = 0.0, value = 0.0;
    size_t best = 0, worst = 0;
    for (size_t t = 1; t <= b->n; t++) {
        value = 0.0;
        for (size_t c = 0; c < b->width; c++)
            value += (gain[2 * c + 1] - gain[2 * c]) * b->above[t * b->width + c];
        best = value > most ? t : best;
        worst = value < least ? t : worst;
        most = fmax(most, value);
        least = fmin(least, value);
    }
    *inverted = value - least > most;
    return *inverted ? worst : best;
}

static size_t best_threshold(const sorted_block *b, const double *gain, bool *inverted)
{
    *inverted = false;
    if (b->width > 2)
        return best_scan(b, gain, inverted);
    const double first = gain[1] - gain[0], second = gain[3] - gain[2];
    if (first >= 0.0 && second >= 0.0)
        return first > 0.0 || second > 0.0 ? b->n : 0;
    if (first <= 0.0 && second <= 0.0)
        return 0;
    *inverted = second < 0.0;
    return best_corner(b, fabs(second), fabs(first));
}

static void step_sorted(double *shares, double *rule, mel_steps *steps, size_t block, const double *gain)
{
    const sorted_block *b = &((const sorted_steps *)steps->self)->block[block];
    bool inverted = false;
    const size_t t = best_threshold(b, gain, &inverted);
    put_shares_at(shares, b, t, inverted);
    put_rule(rule, b, t, inverted);
}

/* How many scores come before the threshold. */
static size_t count_before(const sorted_block *b, double threshold)
{
    size_t low = 0, high = b->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((b->score[middle] > threshold) != b->falls)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rules are those of put_rule: a threshold, either way round, or always the same. */
static void measure_sorted(double *shares, mel_steps *steps, size_t block, const double *rule)
{
    const sorted_block *b = &((const sorted_steps *)steps->self)->block[block];
    const double first = rule[1] - rule[0], second = rule[3] - rule[2];
    if (first == second)
        put_shares_at(shares, b, second > 0.0 ? b->n : 0, false);
    else
        put_shares_at(shares, b, count_before(b, -first / (second - first)), (second < first) != b->falls);
}

void mel_sorted_set_threshold(double *rule, const mel_steps *steps, size_t block, double threshold)
{
    const sorted_block *b = &((const sorted_steps *)steps->self)->block[block];
    const double first = rule[1] - rule[0], second = rule[3] - rule[2];
    const bool always = first == second && second > 0.0, never = first == second && !always;
    const size_t t = always ? b->n : never ? 0 : count_before(b, -first / (second - first));
    const double before = t > 0      ? b->score[t - 1]
                          : b->falls ? 0.0
                                     : 1.0,
                 after = t < b->n   ? b->score[t]
                         : b->falls ? 1.0
                                    : 0.0;
    const double low = fmin(before, after), high = fmax(before, after),
                 margin = fmin(least_margin, (high - low) / 4.0);
    if (high > low) /* else all rows are certain: no threshold says the same */
        put_threshold(rule, fmin(fmax(threshold, low + margin), high - margin),
                      first == second ? b->falls : second < first);
}

static const mel_steps_ops ops = { free_sorted, step_sorted, measure_sorted };

/* --- making them -------------------------------------------------------------------------------- */

/* What a row adds to the true classes of its block. */
static void add_to_classes(double *to, const mel_step_rows *rows, size_t r)
{
    const double weight = rows->weight != NULL ? rows->weight[r] : 1.0;
    double *at = to + (rows->one_block && rows->n_groups > 1 ? 2 * rows->group[r] : 0);
    if (rows->evidence == MEL_BY_LABELS) {
        at[rows->label[r]] += weight;
        return;
    }
    at[0] += weight * rows->probability[2 * r];
    at[1] += weight * rows->probability[2 * r + 1];
}

static bool turns_right(const double *a, const double *b, const double *c)
{
    return (b[1] - a[1]) * (c[0] - a[0]) > (c[1] - a[1]) * (b[0] - a[0]);
}

/* The upper hull of (first class, second class) above each threshold. */
static void find_hull(sorted_block *b)
{
    for (size_t t = 0; t <= b->n; t++) {
        while (b->n_hull > 1 && !turns_right(b->above + 2 * (size_t)b->hull[b->n_hull - 2],
                                             b->above + 2 * (size_t)b->hull[b->n_hull - 1], b->above + 2 * t))
            b->n_hull--;
        b->hull[b->n_hull++] = (uint32_t)t;
    }
}

/* Whether the scores rank the classes the wrong way round: by the probabilities, or by more than chance by
 * the labels of n rows. */
static bool is_wrong_way(const sorted_block *b, const mel_step_rows *rows, size_t n)
{
    double before[2] = { 0.0, 0.0 }, now[2], area = 0.0;
    for (size_t t = 1; t <= b->n; t++) {
        now[0] = now[1] = 0.0;
        for (size_t c = 0; c < b->width; c++)
            now[c % 2] += b->above[t * b->width + c];
        area += (now[0] - before[0]) * (now[1] + before[1]) / 2.0;
        memcpy(before, now, sizeof before);
    }
    const double auc = area / (before[0] * before[1]), total = before[0] + before[1];
    const double positives = (double)n * before[1] / total, negatives = (double)n * before[0] / total;
    return rows->evidence == MEL_BY_LABELS ? mel_auc_wrong_way(auc, positives, negatives) : auc < 0.5 - 1e-9;
}

/* Rows in ascending order of their scores: their sums from the largest (smallest) on, equal ones together. */
static void fill_block(sorted_block *b, const mel_step_rows *rows, const uint32_t *row, const double *key,
                       const size_t *ascending, size_t n)
{
    b->n = 0;
    memset(b->above, 0, b->width * sizeof *b->above);
    for (size_t i = 0; i < n; i++) {
        const size_t at = b->falls ? i : n - 1 - i;
        const double score = key[ascending[at]];
        if (b->n == 0 || score != b->score[b->n - 1]) {
            memcpy(b->above + (b->n + 1) * b->width, b->above + b->n * b->width, b->width * sizeof *b->above);
            b->score[b->n++] = score;
        }
        add_to_classes(b->above + b->n * b->width, rows, row != NULL ? row[ascending[at]] : ascending[at]);
    }
}

/* key and ascending: room for n. */
static mel_status sort_block(sorted_block *b, const mel_step_rows *rows, const uint32_t *row, size_t n,
                             double *key, size_t *ascending, mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const size_t r = row != NULL ? row[i] : i;
        key[i] = rows->score != NULL ? rows->score[r] : rows->probability[2 * r + 1];
    }
    TRY(mel_argsort(n, key, ascending, err));
    fill_block(b, rows, row, key, ascending, n);
    b->falls = is_wrong_way(b, rows, n);
    if (b->falls)
        fill_block(b, rows, row, key, ascending, n);
    if (b->width == 2)
        find_hull(b);
    return MEL_OK;
}

static mel_status make_block(sorted_block *b, const mel_step_rows *rows, const uint32_t *row, size_t n,
                             mel_error *err)
{
    b->width = rows->one_block && rows->n_groups > 1 ? 2 * rows->n_groups : 2;
    b->score = mel_alloc(n + 1, sizeof *b->score);
    b->above = mel_alloc_zero((n + 1) * b->width, sizeof *b->above);
    b->hull = mel_alloc(b->width == 2 ? n + 1 : 1, sizeof *b->hull);
    MEL_AUTO_MEMORY double *key = mel_alloc(n + 1, sizeof *key);
    MEL_AUTO_MEMORY size_t *ascending = mel_alloc(n + 1, sizeof *ascending);
    if (b->score != NULL && b->above != NULL && b->hull != NULL && key != NULL && ascending != NULL)
        TRY(sort_block(b, rows, row, n, key, ascending, err));
    else
        return mel_fail_memory(err, "sorted rows");
    return MEL_OK;
}

static mel_status sort_blocks(sorted_steps *s, const mel_step_rows *rows, mel_error *err)
{
    if (s->n_blocks == 1)
        return make_block(&s->block[0], rows, NULL, rows->n_rows, err);
    MEL_AUTO_MEMORY uint32_t *order = mel_alloc(rows->n_rows, sizeof *order);
    MEL_AUTO_MEMORY size_t *start = mel_alloc(s->n_blocks + 1, sizeof *start);
    if (order == NULL || start == NULL)
        return mel_fail_memory(err, "rows by group");
    TRY(mel_order_by_group(order, start, rows->n_rows, s->n_blocks, rows->group, err));
    for (size_t b = 0; b < s->n_blocks; b++)
        TRY(make_block(&s->block[b], rows, order + start[b], start[b + 1] - start[b], err));
    return MEL_OK;
}

/* Sums become shares of everything; the masses are what lies above the lowest threshold. */
static void make_shares(mel_steps *steps)
{
    const sorted_steps *s = steps->self;
    double total = 0.0;
    for (size_t b = 0; b < s->n_blocks; b++)
        for (size_t c = 0; c < s->block[b].width; c++)
            total += s->block[b].above[s->block[b].n * s->block[b].width + c];
    for (size_t b = 0; b < s->n_blocks; b++) {
        sorted_block *of = &s->block[b];
        for (size_t i = 0; i < (of->n + 1) * of->width; i++)
            of->above[i] /= total;
        memcpy(steps->mass + b * of->width, of->above + of->n * of->width, of->width * sizeof *of->above);
    }
}

mel_status mel_steps_sorted(mel_steps **out, const mel_step_rows *rows, mel_error *err)
{
    *out = NULL;
    const size_t groups = rows->n_groups > 1 ? rows->n_groups : 1, n_blocks = rows->one_block ? 1 : groups;
    sorted_steps *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "sorted rows");
    s->block = mel_alloc_zero(n_blocks, sizeof *s->block);
    s->n_blocks = s->block != NULL ? n_blocks : 0;
    mel_status status = s->block != NULL ? sort_blocks(s, rows, err) : mel_fail_memory(err, "sorted rows");
    if (status != MEL_OK) {
        free_sorted(s);
        return status;
    }
    const mel_steps shape = { .n_groups = groups,
                              .n_classes = 2,
                              .n_decisions = 2,
                              .n_blocks = n_blocks,
                              .n_evidence = 2,
                              .exact = rows->evidence == MEL_BY_MODEL && !(rows->one_block && groups > 1),
                              .sorted = true };
    status = mel_steps_new(out, &ops, s, &shape, err);
    if (status == MEL_OK)
        make_shares(*out);
    return status;
}
