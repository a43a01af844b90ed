/* Plug-in rules that are better on the labels than the one that takes the probabilities at their word.
 *
 * Along a line in the space of gains that changes one column, each row changes its prediction once: sorting
 * the rows by where they do gives the best rule of the whole line exactly. Lines in turn, from the given
 * gains and from perturbed ones, make a local search. */
#include "space/face.h"
#include "space/feasible.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mel_rule_search {
    const mel_space *space;
    size_t n, k;
    const double *probability; /* of all rows; lent */
    void *block;               /* all that follows */
    size_t *row;               /* n: rows of the group */
    double *score;             /* n x k: of the current gains */
    double *gain;              /* k x k: current */
    double *best_gain;         /* k x k: of the best rule of a run */
    uint32_t *label;           /* n */
    uint32_t *rival;           /* n: the best class other than the one whose column changes */
    double *lead;              /* n: how far that one is ahead */
    uint64_t *key;             /* n: where rows change their prediction, as sortable keys */
    uint64_t *change;          /* n: by how much the sum changes there (bits of a double) */
    uint64_t *spare[2];
    size_t n_known;   /* rules that earlier runs ended with: */
    double *known;    /* their gains, k x k each, */
    double *achieved; /* and confusion entries in the group, k x k each */
    uint64_t tried;
    bool too_large;
    size_t column; /* the only one that may change; SIZE_MAX: all may */
    double work;   /* rows x classes that this run may still visit */
};

static const double most_work = 3e8;
enum { MOST_KNOWN = 128 };

void mel_rule_search_free(mel_rule_search *s)
{
    if (s == NULL)
        return;
    free(s->block);
    free(s);
}

static bool allocate(mel_rule_search *s)
{
    const size_t n = s->n, k = s->k, cells = k * k; /* all in words of 8 bytes; two of 4 bytes make one */
    _Static_assert(sizeof(double) == sizeof(uint64_t) && sizeof(size_t) <= sizeof(double),
                   "words of 8 bytes");
    s->block = mel_alloc(n * (k + 7) + (2 + 2 * (size_t)MOST_KNOWN) * cells, sizeof(double));
    if (s->block == NULL)
        return false;
    s->score = s->block;
    s->lead = s->score + n * k;
    s->gain = s->lead + n;
    s->best_gain = s->gain + cells;
    s->known = s->best_gain + cells;
    s->achieved = s->known + MOST_KNOWN * cells;
    s->key = (uint64_t *)(s->achieved + MOST_KNOWN * cells);
    s->change = s->key + n;
    s->spare[0] = s->change + n;
    s->spare[1] = s->spare[0] + n;
    s->row = (size_t *)(s->spare[1] + n);
    s->label = (uint32_t *)(s->row + n);
    s->rival = s->label + n;
    return true;
}

/* Scores and one line of so many rows are all that a run may visit. */
static bool is_too_large(size_t n, size_t k)
{
    return (double)n * (double)k * (double)(k + 1) >= most_work;
}

mel_status mel_rule_search_new(mel_rule_search **out, const mel_space *space, size_t group, mel_error *err)
{
    *out = NULL;
    const mel_class_rows *rows = &space->rows;
    mel_rule_search *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "a search for rules");
    s->space = space;
    for (size_t i = rows->group_slice[group]; i < rows->group_slice[group + 1]; i++)
        s->n += rows->slice[i].n;
    s->k = space->n_classes;
    s->too_large = is_too_large(s->n, s->k);
    *out = s;
    if (s->too_large)
        return MEL_OK;
    if (!allocate(s)) {
        mel_rule_search_free(s);
        *out = NULL;
        return mel_fail_memory(err, "a search for rules");
    }
    s->probability = rows->rows.probability;
    for (size_t r = 0, n = 0; r < space->n_rows; r++)
        if (space->n_groups == 1 || rows->rows.group[r] == group) {
            s->row[n] = r;
            s->label[n++] = rows->rows.label[r];
        }
    return MEL_OK;
}

static void begin(mel_rule_search *s, const double *value, size_t column)
{
    s->work = most_work;
    s->column = column;
    memcpy(s->best_gain, value, s->k * s->k * sizeof *value);
    memcpy(s->gain, value, s->k * s->k * sizeof *value);
}

uint32_t mel_rule_search_tried(const mel_rule_search *search)
{
    return search->tried < UINT32_MAX ? (uint32_t)search->tried : UINT32_MAX;
}

static const double *probabilities(const mel_rule_search *s, size_t r)
{
    return s->probability + s->row[r] * s->k;
}

/* Added up in the same order as predictions are. */
static double weigh(size_t k, const double *p, const double *column)
{
    double sum = 0.0;
    for (size_t i = 0; i < k; i++)
        sum += column[i * k] * p[i];
    return sum;
}

static void score_column(mel_rule_search *s, size_t j)
{
    for (size_t r = 0; r < s->n; r++)
        s->score[r * s->k + j] = weigh(s->k, probabilities(s, r), s->gain + j);
    s->work -= (double)s->n * (double)s->k;
}

/* The best class other than j in every row (the first of equals), and how far j is ahead of it. */
static void find_rivals(mel_rule_search *s, size_t j)
{
    for (size_t r = 0; r < s->n; r++) {
        const double *score = s->score + r * s->k;
        size_t best = j == 0 ? 1 : 0;
        for (size_t l = best + 1; l < s->k; l++)
            if (l != j && score[l] > score[best])
                best = l;
        s->rival[r] = (uint32_t)best;
        s->lead[r] = score[j] - score[best];
    }
    s->work -= (double)s->n * (double)s->k;
}

/* The sum with no row past its change, and the changes; how many there are. Along the line the score of j
 * grows with P(class i), or with 1 when i is k. */
static size_t find_changes(mel_rule_search *s, size_t j, size_t i, const double *value, double *sum)
{
    const double still = 1e-12; /* slopes of a row */
    size_t n = 0;
    for (size_t r = 0; r < s->n; r++) {
        const double *worth = value + s->label[r] * s->k;
        const size_t rival = s->rival[r];
        const double slope = i < s->k ? probabilities(s, r)[i] : 1.0;
        if (slope < still) {
            *sum += s->lead[r] > 0.0 || (s->lead[r] == 0.0 && j < rival) ? worth[j] : worth[rival];
            continue;
        }
        const double change = worth[j] - worth[rival];
        *sum += worth[rival];
        s->key[n] = mel_score_bits(-s->lead[r] / slope);
        memcpy(&s->change[n], &change, sizeof change);
        n++;
    }
    s->work -= 8.0 * (double)s->n;
    return n;
}

/* A place strictly between two keys, or beyond the outermost ones. */
static double place_between(size_t n, const uint64_t *key, size_t after)
{
    if (n == 0)
        return 0.0;
    const double left = mel_score_of_bits(key[after == 0 ? 0 : after - 1]);
    const double right = mel_score_of_bits(key[after == n ? n - 1 : after]);
    if (after == 0)
        return left - (1.0 + fabs(left));
    if (after == n)
        return right + (1.0 + fabs(right));
    return left + (right - left) / 2.0;
}

/* The largest sum on the line, and where. */
static double best_on_line(mel_rule_search *s, size_t j, size_t i, const double *value, double *at)
{
    double sum = 0.0;
    const size_t n = find_changes(s, j, i, value, &sum);
    mel_score_bits_sort(n, s->key, s->change, s->spare[0], s->spare[1]);
    double best = sum;
    size_t after = 0;
    s->tried++;
    for (size_t m = 0; m < n; m++) {
        double change;
        memcpy(&change, &s->change[m], sizeof change);
        sum += change;
        if (m + 1 < n && s->key[m + 1] == s->key[m])
            continue;
        s->tried++;
        if (sum > best) {
            best = sum;
            after = m + 1;
        }
    }
    *at = place_between(n, s->key, after);
    return best / (double)s->space->n_rows;
}

/* One pass over all columns and simple slopes; true as soon as the level is passed. *here: of the current
 * gains. */
static bool sweep(mel_rule_search *s, const double *value, double level, double *here)
{
    const double rounding = 1e-13;
    const size_t first = s->column < s->k ? s->column : 0, end = s->column < s->k ? s->column + 1 : s->k;
    for (size_t j = first; j < end; j++) {
        find_rivals(s, j);
        for (size_t i = 0; i <= s->k; i++) {
            double at = 0.0;
            if (s->work <= 0.0)
                return false;
            const double best = best_on_line(s, j, i, value, &at);
            if (!(best > *here + rounding) || !isfinite(at))
                continue;
            for (size_t c = 0; c < s->k; c++)
                s->gain[c * s->k + j] += c == i || i == s->k ? at : 0.0;
            score_column(s, j);
            for (size_t r = 0; r < s->n; r++)
                s->lead[r] = s->score[r * s->k + j] - s->score[r * s->k + s->rival[r]];
            *here = best;
            if (best > level)
                return true;
        }
    }
    return false;
}

/* The sum of the current gains' rule; counts (k x k, may be NULL) receives its confusion entries. */
static double measure_rule_sum(const mel_rule_search *s, const double *value, double *counts)
{
    const double one = 1.0 / (double)s->space->n_rows;
    double sum = 0.0;
    for (size_t r = 0; r < s->n; r++) {
        const double *score = s->score + r * s->k;
        size_t best = 0;
        for (size_t j = 1; j < s->k; j++)
            if (score[j] > score[best])
                best = j;
        const size_t cell = s->label[r] * s->k + best;
        sum += value[cell];
        if (counts != NULL)
            counts[cell] += one;
    }
    return sum * one;
}

static void rescore(mel_rule_search *s)
{
    for (size_t j = 0; j < s->k; j++)
        score_column(s, j);
}

/* Keeps the current rule for later runs; the oldest makes room. */
static void remember(mel_rule_search *s, const double *value)
{
    const size_t cells = s->k * s->k, at = s->n_known++ % MOST_KNOWN;
    memcpy(s->known + at * cells, s->gain, cells * sizeof *s->gain);
    memset(s->achieved + at * cells, 0, cells * sizeof *s->achieved);
    (void)measure_rule_sum(s, value, s->achieved + at * cells);
}

/* The best known rule becomes the current one; there is one. */
static void recall(mel_rule_search *s, const double *value)
{
    const size_t cells = s->k * s->k, n = s->n_known < MOST_KNOWN ? s->n_known : MOST_KNOWN;
    double best = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double sum = mel_dot(cells, value, s->achieved + i * cells);
        if (sum > best) {
            best = sum;
            memcpy(s->gain, s->known + i * cells, cells * sizeof *s->gain);
        }
    }
}

/* Sweeps from the current gains, whose sum is `here`, until nothing improves. */
static bool climb(mel_rule_search *s, const double *value, double here, double level, double *best)
{
    enum { SWEEPS = 6 };
    *best = fmax(*best, here);
    bool passed = here > level;
    for (int i = 0; i < SWEEPS && !passed; i++) {
        const double before = here;
        passed = sweep(s, value, level, &here);
        *best = fmax(*best, here);
        if (!passed && here <= before)
            break;
    }
    remember(s, value);
    return passed;
}

/* Where a climb may start: near given gains, with each class tilted, each entry scaled and shaken. */
static void perturb(mel_rule_search *s, const double *near, mel_rng *rng)
{
    const size_t cells = s->k * s->k;
    const double size = mel_norm2(cells, near) / (double)s->k;
    const double shake = pow(10.0, 3.5 * mel_rng_uniform(rng) - 3.0) * size;
    const double tilt = mel_rng_uniform(rng) * (mel_rng_uniform(rng) < 0.5 ? 1.0 : 0.1);
    for (size_t i = 0; i < s->k; i++) {
        const double class = exp(tilt * mel_rng_normal(rng));
        for (size_t j = 0; j < s->k; j++) {
            const double entry = exp(tilt * mel_rng_normal(rng));
            s->gain[i * s->k + j] = near[i * s->k + j] * class * entry + shake * mel_rng_normal(rng);
        }
    }
}

/* Level and base are so close that a few rows decide. */
static bool is_close_call(const mel_rule_search *s, const double *value, double base, double level)
{
    const double rows = 6.0;
    double widest = 0.0;
    for (size_t i = 0; i < s->k; i++)
        for (size_t j = 0; j < s->k; j++)
            widest = fmax(widest, fabs(value[i * s->k + j] - value[i * s->k]));
    return level - base < rows * widest / (double)s->space->n_rows;
}

/* Climbs from the current gains; keeps the best that was seen in s->best_gain. */
static bool climb_from_here(mel_rule_search *s, const double *value, double level, double *best)
{
    const double before = *best;
    rescore(s);
    const bool passed = climb(s, value, measure_rule_sum(s, value, NULL), level, best);
    if (passed || *best > before)
        memcpy(s->best_gain, s->gain, s->k * s->k * sizeof *s->gain);
    return passed;
}

bool mel_rule_search_run(mel_rule_search *s, double *gain, const double *value, double base, double level,
                         double *best)
{
    enum { RESTARTS = 48 };
    const double hopeless = 0.4; /* of the way to the level: more of the same will not get there */
    const bool close_call = is_close_call(s, value, base, level);
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    *best = base;
    memcpy(gain, value, s->k * s->k * sizeof *gain);
    if (s->too_large)
        return false;
    begin(s, value, SIZE_MAX);
    bool passed = climb_from_here(s, value, level, best);
    if (!passed) {
        recall(s, value);
        passed = climb_from_here(s, value, level, best);
    }
    for (size_t i = 0; i < RESTARTS && !passed && s->work > 0.0; i++) {
        if (!close_call && *best - base < hopeless * (level - base))
            break;
        perturb(s, i % 3 == 0 ? value : s->best_gain, &rng);
        passed = climb_from_here(s, value, level, best);
    }
    memcpy(gain, s->best_gain, s->k * s->k * sizeof *gain);
    return passed;
}

double mel_rule_search_climb(mel_rule_search *s, double *gain, const double *value, size_t column)
{
    double best = -INFINITY;
    memcpy(gain, value, s->k * s->k * sizeof *gain);
    if (s->too_large)
        return best;
    begin(s, value, column);
    (void)climb_from_here(s, value, INFINITY, &best);
    memcpy(gain, s->best_gain, s->k * s->k * sizeof *gain);
    return best;
}
