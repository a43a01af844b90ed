/* Mixtures without coins: which rule a row gets is a hash of its probabilities with a number for each group,
 * its salt, chosen so that decisions about the rows at hand achieve what the mixture does, and keep limits.
 */
#include "classify/salted.h"

#include "base/team.h"
#include "data/row_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where ranks have rows of their own, several salts are measured before sums are exchanged. */
enum { MOST_SALTS = 4000, LEAST_SALTS = 100, SWEEPS = 4, SALTS_AT_ONCE = 50 };
static const double most_work = 1e7; /* hashes of rows, all groups and salts together */
static const double close = 1e-8;    /* sums of squares of differences that no longer matter */
static const double meets = 1e-10;   /* limits that are missed by less hold */

typedef struct {
    mel_classifier *c;
    const mel_step_rows *rows; /* by which they are measured */
    const double *probability; /* the model's own */
    uint32_t *said;            /* rules x rows: what each rule says */
    uint32_t *open;            /* rows of a block about which rules disagree */
    mel_shards files;          /* of these, as the rows have them; none: one */
    size_t n_open, all_open;   /* here, and of all ranks */
    size_t at_once;            /* salts that are measured before sums are exchanged */
    double *mass;              /* groups x classes */
    double *off;               /* at_once x groups x classes x decisions: what salts achieve beyond it */
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

static bool disagree(const salting *s, size_t r, size_t block)
{
    const size_t n = s->rows->n_rows, rules = mel_classifier_rules(s->c);
    if (mel_classifier_blocks(s->c) > 1 && s->rows->group[r] != block)
        return false;
    for (size_t q = 1; q < rules; q++)
        if (s->said[q * n + r] != s->said[r])
            return true;
    return false;
}

/* Sums over all rows, or over those that are open. */
static mel_status sum_up(double *sums, size_t size, const salting *s, bool open,
                         void (*each)(double *sum, size_t from, size_t to, const void *user),
                         const void *user, mel_error *err)
{
    const mel_row_sums rows = { .n_rows = open ? s->n_open : s->rows->n_rows,
                                .shards = open ? &s->files : s->rows->shards,
                                .size = size,
                                .add = each,
                                .user = user };
    return mel_rows_sum(sums, &rows, err);
}

static void add_mixture(double *sums, size_t from, size_t to, const void *user)
{
    const salting *s = user;
    const double *share = mel_classifier_shares(s->c);
    for (size_t i = from; i < to; i++)
        for (size_t q = 0; q < mel_classifier_rules(s->c); q++)
            add(s, sums, s->open[i], s->said[q * s->rows->n_rows + s->open[i]], -share[q]);
}

/* The rows of a block that rules disagree about, and what the mixture achieves of them. */
static mel_status gather(salting *s, size_t block, mel_error *err)
{
    const mel_shards *shards = s->rows->shards;
    s->n_open = 0;
    for (size_t file = 0; file < mel_row_files(shards); file++) {
        const size_t end = mel_row_file_start(shards, s->rows->n_rows, file + 1);
        for (size_t r = mel_row_file_start(shards, s->rows->n_rows, file); r < end; r++)
            if (disagree(s, r, block))
                s->open[s->n_open++] = (uint32_t)r;
        if (s->files.n > 0)
            s->files.start[file + 1] = s->n_open;
    }
    s->all_open = s->n_open;
    if (mel_rows_divided(shards) && !mel_team_count(&s->all_open, 1))
        return mel_fail_memory(err, "decisions without coins");
    memset(s->aim, 0, s->goal->size * sizeof *s->aim);
    return sum_up(s->aim, s->goal->size, s, true, add_mixture, s, err);
}

/* Salts one after the other. */
typedef struct {
    const salting *of;
    uint32_t first;
    size_t n;
} trial;

static void add_salts(double *sums, size_t from, size_t to, const void *user)
{
    const trial *t = user;
    const salting *s = t->of;
    for (size_t q = 0; q < t->n; q++)
        for (size_t i = from; i < to; i++) {
            const size_t r = s->open[i], rule = rule_of(s, r, t->first + (uint32_t)q);
            add(s, sums + q * s->goal->size, r, s->said[rule * s->rows->n_rows + r], 1.0);
        }
}

/* What decisions with n salts from the first on achieve beyond the mixture. */
static mel_status measure(salting *s, uint32_t first, size_t n, mel_error *err)
{
    for (size_t q = 0; q < n; q++)
        memcpy(s->off + q * s->goal->size, s->aim, s->goal->size * sizeof *s->off);
    return sum_up(s->off, n * s->goal->size, s, true, add_salts, &(trial){ s, first, n }, err);
}

/* Squares of how far rates are from the mixture's. */
static double distance(const salting *s, const double *off)
{
    double sum = 0.0;
    for (size_t c = 0; c < s->goal->size; c++) {
        const double mass = s->mass[c / s->c->n_decisions];
        sum += mass > 0.0 ? off[c] / mass * (off[c] / mass) : 0.0;
    }
    return sum;
}

static uint32_t salts_to_try(const salting *s)
{
    const double may = most_work / (double)mel_classifier_blocks(s->c) / ((double)s->all_open + 1.0);
    return (uint32_t)fmin(fmax(may, LEAST_SALTS), MOST_SALTS);
}

/* Salts from `salt` on that are measured together. */
static size_t together(const salting *s, uint32_t salt, uint32_t salts)
{
    const size_t left = salts - salt + 1;
    return left < s->at_once ? left : s->at_once;
}

static mel_status closest_salt(uint32_t *best, salting *s, size_t block, mel_error *err)
{
    mel_status status = gather(s, block, err);
    const uint32_t salts = salts_to_try(s);
    double least = INFINITY;
    *best = 1;
    for (uint32_t salt = 1; salt <= salts && least > close && status == MEL_OK;) {
        const size_t n = together(s, salt, salts);
        status = measure(s, salt, n, err);
        for (size_t q = 0; q < n && least > close && status == MEL_OK; q++) {
            const double now = distance(s, s->off + q * s->goal->size);
            *best = now < least ? salt + (uint32_t)q : *best;
            least = fmin(least, now);
        }
        salt += (uint32_t)n;
    }
    return status;
}

/* --- limits ------------------------------------------------------------------------------------- */

/* 0: shares of costs, 1: of rows. */
static size_t part_of(const salting *s, size_t cell)
{
    return s->rows->cost == NULL ? 1 : cell / (s->c->n_classes * s->c->n_decisions) % 2;
}

static void move(double *to, const salting *s, const double *from, const double *off, double times)
{
    for (size_t c = 0; c < s->goal->size; c++)
        to[c] = from[c] + times * off[c] / s->total[part_of(s, c)];
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

/* The shares with a salt instead (+1), or without one (-1). */
static mel_status exchange(salting *s, uint32_t salt, double times, mel_error *err)
{
    const mel_status status = measure(s, salt, 1, err);
    if (status == MEL_OK)
        move(s->x, s, s->x, s->off, times);
    return status;
}

/* The salt of a block with which limits are missed least, and of those the one whose value is closest to the
 * mixture's; true in *moved: another one. */
static mel_status improve(bool *moved, salting *s, size_t block, uint32_t *salt, mel_error *err)
{
    mel_status status = gather(s, block, err);
    const uint32_t salts = s->all_open > 0 ? salts_to_try(s) : 0, before = *salt;
    double least = missed_by(s, s->x), nearest = off_value(s, s->x);
    if (status == MEL_OK)
        status = exchange(s, before, -1.0, err);
    for (uint32_t first = 1; first <= salts && status == MEL_OK;) {
        const size_t n = together(s, first, salts);
        status = measure(s, first, n, err);
        for (size_t q = 0; q < n && status == MEL_OK; q++) {
            move(s->trial, s, s->x, s->off + q * s->goal->size, 1.0);
            const double now = missed_by(s, s->trial), far = off_value(s, s->trial);
            if (now < least || (now == least && far < nearest)) {
                least = now;
                nearest = far;
                *salt = first + (uint32_t)q;
            }
        }
        first += (uint32_t)n;
    }
    *moved = *moved || *salt != before;
    return status == MEL_OK ? exchange(s, *salt, 1.0, err) : status;
}

static mel_status keep_limits(salting *s, mel_error *err)
{
    mel_status status = MEL_OK;
    bool moved = true;
    for (size_t sweep = 0; sweep < SWEEPS && moved && missed_by(s, s->x) > 0.0 && status == MEL_OK; sweep++) {
        moved = false;
        for (size_t b = 0; b < mel_classifier_blocks(s->c) && status == MEL_OK; b++)
            status = improve(&moved, s, b, &s->c->salt[b], err);
    }
    return status;
}

/* --- all groups --------------------------------------------------------------------------------- */

static void add_masses(double *sums, size_t from, size_t to, const void *user)
{
    for (size_t r = from; r < to; r++)
        add(user, sums, r, 0, 1.0);
}

static mel_status weigh(salting *s, mel_error *err)
{
    const size_t d = s->c->n_decisions;
    memset(s->off, 0, s->goal->size * sizeof *s->off);
    const mel_status status = sum_up(s->off, s->goal->size, s, false, add_masses, s, err);
    for (size_t c = 0; c < s->goal->size / d; c++)
        s->mass[c] = s->off[c * d];
    return status == MEL_OK ? mel_step_totals(s->total, s->rows, err) : status;
}

static void add_settled(double *sums, size_t from, size_t to, const void *user)
{
    const salting *s = user;
    for (size_t r = from; r < to; r++) {
        const uint32_t salt = s->c->salt[mel_classifier_blocks(s->c) > 1 ? s->rows->group[r] : 0];
        add(s, sums, r, s->said[rule_of(s, r, salt) * s->rows->n_rows + r], 1.0);
    }
}

static mel_status settle(const salting *s, double *achieved, mel_error *err)
{
    double total[2];
    memset(achieved, 0, s->goal->size * sizeof *achieved);
    mel_status status = sum_up(achieved, s->goal->size, s, false, add_settled, s, err);
    if (status == MEL_OK)
        status = mel_step_totals(total, s->rows, err);
    for (size_t c = 0; c < s->goal->size && status == MEL_OK; c++)
        achieved[c] /= total[part_of(s, c)];
    return status;
}

/* Salts of all groups, then what they achieve. */
static mel_status choose(salting *s, double *achieved, mel_error *err)
{
    mel_status status = weigh(s, err);
    for (size_t b = 0; b < mel_classifier_blocks(s->c) && status == MEL_OK; b++)
        status = closest_salt(&s->c->salt[b], s, b, err);
    if (status == MEL_OK)
        status = settle(s, s->x, err);
    if (status == MEL_OK)
        status = keep_limits(s, err);
    return status == MEL_OK ? settle(s, achieved, err) : status;
}

static bool make_room(salting *s, size_t n, size_t blocks)
{
    const mel_shards *shards = s->rows->shards;
    const size_t size = s->goal->size, files = mel_row_files(shards);
    const bool divided = mel_rows_divided(shards);
    s->at_once = divided ? SALTS_AT_ONCE : 1;
    const mel_part parts[] = { { size, { &s->mass, &s->aim, &s->x, &s->trial } },
                               { s->at_once * size, { &s->off } } };
    s->said = mel_alloc(mel_classifier_rules(s->c) * n, sizeof *s->said);
    s->open = mel_alloc(n, sizeof *s->open);
    s->c->salt = mel_alloc_zero(blocks, sizeof *s->c->salt);
    s->files.start = mel_alloc_zero(files + 1, sizeof *s->files.start);
    s->files.here = divided ? s->files.start : NULL;
    s->files.n = files > 1 || divided ? files : 0;
    return s->said != NULL && s->open != NULL && s->c->salt != NULL && s->files.start != NULL &&
           mel_parts_new(MEL_PARTS(parts));
}

mel_status mel_classifier_salt(mel_classifier *c, double *achieved, double *by_labels,
                               const mel_solution *solution, const mel_goal *goal, const mel_rule_evidence *e,
                               const mel_rule_rows *rows, mel_error *err)
{
    const mel_undecided all = {
        .n = rows->n_rows, .probability = rows->probability, .group = rows->group, .row_cost = rows->row_cost
    };
    mel_step_rows labels = e->rows;
    labels.evidence = MEL_BY_LABELS;
    labels.weight = e->label_weight;
    salting s = { .c = c, .rows = &e->rows, .probability = rows->probability, .goal = goal };
    s.missed = fmax(0.0, solution->violation);
    s.promised = solution->value;
    mel_status status = make_room(&s, rows->n_rows, mel_classifier_blocks(c))
                            ? mel_classifier_said(s.said, c, &all, err)
                            : mel_fail_memory(err, "decisions without coins");
    if (status == MEL_OK)
        status = choose(&s, achieved, err);
    s.rows = &labels;
    if (status == MEL_OK)
        status = settle(&s, by_labels, err);
    free(s.said);
    free(s.open);
    free(s.files.start);
    free(s.mass);
    return status;
}
