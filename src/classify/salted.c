/* Mixtures without coins: which rule a row gets is a hash of its probabilities with a number for each group,
 * its salt, chosen so that decisions about the rows at hand achieve what the mixture does, and keep limits.
 */
#include "classify/salted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SALTS = 4000, LEAST_SALTS = 100, SWEEPS = 4 };
static const double most_work = 1e7; /* hashes of rows, all groups and salts together */
static const double close = 1e-8;    /* sums of squares of differences that no longer matter */
static const double meets = 1e-10;   /* limits that are missed by less hold */

typedef struct {
    mel_classifier *c;
    const mel_step_rows *rows; /* by which they are measured */
    const double *probability; /* the model's own */
    uint32_t *said;            /* rules x rows: what each rule says */
    uint32_t *open;            /* rows of a block about which rules disagree */
    double *mass;              /* groups x classes */
    double *off;               /* groups x classes x decisions: what a salt achieves beyond the mixture */
    double *aim;               /* the same: minus what the mixture achieves of the open rows */
    double *x, *trial;         /* the same: shares of all rows with the salts so far, and with another one */
    const mel_goal *goal;
    double missed;   /* by how much the mixture misses limits */
    double promised; /* its value */
    double total[2]; /* mel_step_totals */
} salting;

/* --- hashes ------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Of two classes the second alone: the first may be rounded another way. */
double mel_salted_uniform(uint32_t salt, const double *probability, size_t k)
{
    uint64_t hash = mix(salt + UINT64_C(0x9e3779b97f4a7c15));
    for (size_t i = k == 2 ? 1 : 0; i < k; i++) {
        const double p = probability[i] + 0.0; /* not -0.0 */
        uint64_t bits;
        memcpy(&bits, &p, sizeof bits);
        hash = mix(hash ^ bits);
    }
    return ldexp((double)(hash >> 11), -53);
}

/* --- measuring ---------------------------------------------------------------------------------- */

static size_t group_at(const salting *s, size_t r)
{
    return s->rows->n_groups > 1 ? s->rows->group[r] : 0;
}

/* What a row costs, then the row itself. */
static void add_split(const salting *s, double *to, size_t r, double weight)
{
    const size_t k = s->c->n_classes, d = s->c->n_decisions, label = s->rows->label[r];
    if (s->rows->evidence == MEL_BY_LABELS) {
        to[label * d] += weight * s->rows->cost[r * k + label];
        to[(k + label) * d] += weight;
        return;
    }
    for (size_t c = 0; c < 2 * k; c++)
        to[c * d] += weight * s->rows->probability[r * 2 * k + c];
}

/* Adds `times` what decision j about a row achieves. */
static void add(const salting *s, double *sums, size_t r, size_t j, double times)
{
    const size_t k = s->c->n_classes, d = s->c->n_decisions;
    const double weight = times * (s->rows->weight != NULL ? s->rows->weight[r] : 1.0);
    if (s->rows->cost != NULL) {
        add_split(s, sums + group_at(s, r) * 2 * k * d + j, r, weight);
        return;
    }
    double *to = sums + group_at(s, r) * k * d + j;
    if (s->rows->joint && s->rows->evidence == MEL_BY_MODEL) {
        for (size_t c = 0; c < s->rows->n_groups * k; c++)
            sums[c * d + j] += weight * s->rows->probability[r * s->rows->n_groups * k + c];
        return;
    }
    if (s->rows->evidence == MEL_BY_LABELS) {
        to[s->rows->label[r] * d] += weight;
        return;
    }
    for (size_t i = 0; i < k; i++)
        to[i * d] += weight * s->rows->probability[r * k + i];
}

static size_t rule_of(const salting *s, size_t r, uint32_t salt)
{
    const size_t n = mel_classifier_columns(s->c);
    return mel_classifier_rule_at(s->c, mel_salted_uniform(salt, s->probability + r * n, n));
}

/* The rows of a block that rules disagree about, and what the mixture achieves of them. */
static size_t gather(salting *s, size_t block)
{
    const size_t n = s->rows->n_rows, rules = mel_classifier_rules(s->c);
    const double *share = mel_classifier_shares(s->c);
    size_t found = 0;
    memset(s->aim, 0, s->goal->size * sizeof *s->aim);
    for (size_t r = 0; r < n; r++) {
        bool agree = true;
        if (mel_classifier_blocks(s->c) > 1 && s->rows->group[r] != block)
            continue;
        for (size_t q = 1; q < rules; q++)
            agree = agree && s->said[q * n + r] == s->said[r];
        if (agree)
            continue;
        s->open[found++] = (uint32_t)r;
        for (size_t q = 0; q < rules; q++)
            add(s, s->aim, r, s->said[q * n + r], -share[q]);
    }
    return found;
}

/* What decisions with a salt achieve beyond the mixture. */
static void measure(salting *s, size_t n_open, uint32_t salt)
{
    const size_t n = s->rows->n_rows;
    memcpy(s->off, s->aim, s->goal->size * sizeof *s->off);
    for (size_t i = 0; i < n_open; i++)
        add(s, s->off, s->open[i], s->said[rule_of(s, s->open[i], salt) * n + s->open[i]], 1.0);
}

/* Squares of how far rates are from the mixture's. */
static double distance(salting *s, size_t n_open, uint32_t salt)
{
    double sum = 0.0;
    measure(s, n_open, salt);
    for (size_t c = 0; c < s->goal->size; c++) {
        const double mass = s->mass[c / s->c->n_decisions];
        sum += mass > 0.0 ? s->off[c] / mass * (s->off[c] / mass) : 0.0;
    }
    return sum;
}

static uint32_t salts_to_try(const salting *s, size_t n_open)
{
    const double may = most_work / (double)mel_classifier_blocks(s->c) / ((double)n_open + 1.0);
    return (uint32_t)fmin(fmax(may, LEAST_SALTS), MOST_SALTS);
}

static uint32_t closest_salt(salting *s, size_t block)
{
    const size_t n_open = gather(s, block);
    const uint32_t salts = salts_to_try(s, n_open);
    uint32_t best = 1;
    double least = INFINITY;
    for (uint32_t salt = 1; salt <= salts && least > close; salt++) {
        const double now = distance(s, n_open, salt);
        best = now < least ? salt : best;
        least = fmin(least, now);
    }
    return best;
}

/* --- limits ------------------------------------------------------------------------------------- */

/* 0: shares of costs, 1: of rows. */
static size_t part_of(const salting *s, size_t cell)
{
    return s->rows->cost == NULL ? 1 : cell / (s->c->n_classes * s->c->n_decisions) % 2;
}

static void move(double *to, const salting *s, const double *from, double times)
{
    for (size_t c = 0; c < s->goal->size; c++)
        to[c] = from[c] + times * s->off[c] / s->total[part_of(s, c)];
}

/* How far limits are missed with these shares. */
static double missed_by(const salting *s, const double *x)
{
    const double violation = mel_goal_violation(s->goal, x) - s->missed;
    return violation > meets ? violation : 0.0;
}

/* How far the value of shares is from the mixture's. */
static double off_value(const salting *s, const double *x)
{
    return fabs(mel_goal_at(s->goal, x) - s->promised);
}

/* The salt of a block with which limits are missed least, and of those the one whose value is closest to the
 * mixture's; true: another one. */
static bool improve(salting *s, size_t block, uint32_t *salt)
{
    const size_t n_open = gather(s, block);
    const uint32_t salts = n_open > 0 ? salts_to_try(s, n_open) : 0, before = *salt;
    double least = missed_by(s, s->x), nearest = off_value(s, s->x);
    measure(s, n_open, before);
    move(s->x, s, s->x, -1.0);
    for (uint32_t other = 1; other <= salts; other++) {
        measure(s, n_open, other);
        move(s->trial, s, s->x, 1.0);
        const double now = missed_by(s, s->trial), far = off_value(s, s->trial);
        if (now < least || (now == least && far < nearest)) {
            least = now;
            nearest = far;
            *salt = other;
        }
    }
    measure(s, n_open, *salt);
    move(s->x, s, s->x, 1.0);
    return *salt != before;
}

static void keep_limits(salting *s)
{
    bool moved = true;
    for (size_t sweep = 0; sweep < SWEEPS && moved && missed_by(s, s->x) > 0.0; sweep++) {
        moved = false;
        for (size_t b = 0; b < mel_classifier_blocks(s->c); b++)
            moved = improve(s, b, &s->c->salt[b]) || moved;
    }
}

/* --- all groups --------------------------------------------------------------------------------- */

static void weigh(salting *s)
{
    const size_t d = s->c->n_decisions;
    memset(s->off, 0, s->goal->size * sizeof *s->off);
    for (size_t r = 0; r < s->rows->n_rows; r++)
        add(s, s->off, r, 0, 1.0);
    mel_step_totals(s->total, s->rows);
    for (size_t c = 0; c < s->goal->size / d; c++)
        s->mass[c] = s->off[c * d];
}

static void settle(const salting *s, double *achieved)
{
    const size_t n = s->rows->n_rows;
    double total[2];
    memset(achieved, 0, s->goal->size * sizeof *achieved);
    for (size_t r = 0; r < n; r++) {
        const uint32_t salt = s->c->salt[mel_classifier_blocks(s->c) > 1 ? s->rows->group[r] : 0];
        add(s, achieved, r, s->said[rule_of(s, r, salt) * n + r], 1.0);
    }
    mel_step_totals(total, s->rows);
    for (size_t c = 0; c < s->goal->size; c++)
        achieved[c] /= total[part_of(s, c)];
}

mel_status mel_classifier_salt(mel_classifier *c, double *achieved, double *by_labels,
                               const mel_solution *solution, const mel_goal *goal, const mel_rule_evidence *e,
                               const mel_rule_rows *rows, mel_error *err)
{
    const size_t n = rows->n_rows, blocks = mel_classifier_blocks(c);
    const mel_undecided all = {
        .n = n, .probability = rows->probability, .group = rows->group, .row_cost = rows->row_cost
    };
    mel_step_rows labels = e->rows;
    labels.evidence = MEL_BY_LABELS;
    labels.weight = e->label_weight;
    salting s = { .c = c, .rows = &e->rows, .probability = rows->probability, .goal = goal };
    s.missed = fmax(0.0, solution->violation);
    s.promised = solution->value;
    const mel_part parts[] = { { goal->size, { &s.mass, &s.off, &s.aim, &s.x, &s.trial } } };
    s.said = mel_alloc(mel_classifier_rules(c) * n, sizeof *s.said);
    s.open = mel_alloc(n, sizeof *s.open);
    c->salt = mel_alloc_zero(blocks, sizeof *c->salt);
    mel_status status = s.said != NULL && s.open != NULL && c->salt != NULL && mel_parts_new(MEL_PARTS(parts))
                            ? mel_classifier_said(s.said, c, &all, err)
                            : mel_fail_memory(err, "decisions without coins");
    if (status == MEL_OK && s.off != NULL) {
        weigh(&s);
        for (size_t b = 0; b < blocks; b++)
            c->salt[b] = closest_salt(&s, b);
        settle(&s, s.x);
        keep_limits(&s);
        settle(&s, achieved);
        s.rows = &labels;
        settle(&s, by_labels);
    }
    free(s.said);
    free(s.open);
    free(s.mass);
    return status;
}
