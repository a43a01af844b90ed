/* The coefficients of a metric of any family, with what they weigh in words. */
#include "metric/shared.h"
#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TEXT = 1 << 16, MOST_RANK = 16 };

/* A run of coefficients in file order: side^rank numbers that do not change when indices are exchanged. */
typedef struct {
    const char *letter, *note; /* note: where in the formula; NULL: there is only one place */
    const double *value;
    uint32_t rank; /* 0: a constant */
    size_t side, first;
    size_t u, v; /* a pair of groups, when u < v */
} block;

typedef struct {
    block of;
    size_t index;
    double value;
} entry;

typedef struct {
    const mel_metric *metric;
    size_t most, n, n_all;
    entry *kept;
    size_t least; /* the first to go, once there are as many as may be kept */
} picking;

/* First-order weights and constants come before the others, then larger ones before smaller ones. */
static bool before(const entry *x, const entry *y)
{
    const bool plain_x = x->of.rank <= 1 && x->of.u == x->of.v,
               plain_y = y->of.rank <= 1 && y->of.u == y->of.v;
    if (plain_x != plain_y)
        return plain_x;
    return fabs(x->value) > fabs(y->value);
}

static void find_least(picking *p)
{
    p->least = 0;
    for (size_t i = 1; i < p->n; i++)
        if (!before(&p->kept[i], &p->kept[p->least]))
            p->least = i;
}

static void offer(picking *p, const entry *e)
{
    p->n_all++;
    if (p->n < p->most) {
        p->kept[p->n++] = *e;
        if (p->n == p->most)
            find_least(p);
    } else if (before(e, &p->kept[p->least])) {
        p->kept[p->least] = *e;
        find_least(p);
    }
}

/* Indices of an entry, slowest first; false unless they ascend, which one of its mirror images does. */
static bool split_index(size_t at[MOST_RANK], const block *b, size_t index)
{
    for (uint32_t r = b->rank; r-- > 0; index /= b->side)
        at[r] = index % b->side;
    for (uint32_t r = 1; r < b->rank; r++)
        if (at[r - 1] > at[r])
            return false;
    return true;
}

static size_t block_size(const block *b)
{
    size_t n = 1;
    for (uint32_t r = 0; r < b->rank; r++)
        n *= b->side;
    return n;
}

/* Offers a block and returns where the next one begins. */
static size_t offer_block(picking *p, const block *b)
{
    const size_t n = block_size(b);
    for (size_t i = 0; i < n; i++) {
        size_t at[MOST_RANK];
        if (split_index(at, b, i))
            offer(p, &(entry){ .of = *b, .index = i, .value = b->value[i] });
    }
    return b->first + n;
}

static void offer_fraction(picking *p, const double *constants)
{
    const mel_metric *m = p->metric;
    const size_t n = mel_layout_size(mel_metric_layout(m));
    block b = {
        .letter = "a", .note = "above the line", .value = mel_metric_numerator(m, NULL), .rank = 1, .side = n
    };
    b.first = offer_block(p, &b);
    block constant = { .letter = "a0", .note = b.note, .value = &constants[0], .first = b.first };
    b.first = constants[0] != 0.0 ? offer_block(p, &constant) : b.first + 1;
    b.letter = "b";
    b.note = "below the line";
    b.value = mel_metric_denominator(m, NULL);
    constant = (block){ .letter = "b0", .note = b.note, .value = &constants[1] };
    constant.first = offer_block(p, &b);
    (void)offer_block(p, &constant);
}

static void offer_fair(picking *p, const double *lambda)
{
    const mel_metric *m = p->metric;
    const mel_layout *layout = mel_metric_layout(m);
    const uint32_t rank = mel_metric_degree(m);
    const size_t q = mel_layout_size(layout) / layout->n_groups;
    block b = { .letter = "a", .value = mel_metric_tensor(m, 1), .rank = 1, .side = q };
    b.first = offer_block(p, &b);
    b.letter = rank == 1 ? "b" : "B";
    b.rank = rank;
    for (b.u = 0; b.u < layout->n_groups; b.u++)
        for (b.v = b.u + 1; b.v < layout->n_groups; b.v++) {
            b.value = mel_metric_pair(m, b.u, b.v);
            b.first = offer_block(p, &b);
        }
    (void)offer_block(p, &(block){ .letter = "\xCE\xBB", .value = lambda, .first = b.first });
}

static void offer_tensors(picking *p)
{
    static const char *const letters[] = { "a", "B", "C", "D", "E", "F", "G", "H", "I" };
    block b = { .side = mel_layout_size(mel_metric_layout(p->metric)) };
    for (b.rank = 1; b.rank <= mel_metric_degree(p->metric); b.rank++) {
        b.letter = letters[b.rank - 1];
        b.value = mel_metric_tensor(p->metric, b.rank);
        b.first = offer_block(p, &b);
    }
}

/* constants: room for the numbers that are not in an array of the metric. */
static void offer_all(picking *p, double constants[2])
{
    if (mel_metric_denominator(p->metric, &constants[1]) != NULL) {
        (void)mel_metric_numerator(p->metric, &constants[0]);
        offer_fraction(p, constants);
        return;
    }
    constants[0] = mel_metric_lambda(p->metric);
    if (isfinite(constants[0]))
        offer_fair(p, &constants[0]);
    else
        offer_tensors(p);
}

static int by_place(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    const size_t i = a->of.first + a->index, j = b->of.first + b->index;
    return (i > j) - (i < j);
}

/* ---- in words ---- */

static void add_meaning(mel_buffer *out, const mel_metric *metric, const entry *e,
                        const char *const *coordinates)
{
    size_t at[MOST_RANK] = { 0 };
    const block *b = &e->of;
    (void)split_index(at, b, e->index);
    if (b->u < b->v) {
        mel_buffer_puts(out, "between ");
        mel_buffer_puts(out, mel_metric_group_name(metric, b->u));
        mel_buffer_puts(out, " and ");
        mel_buffer_puts(out, mel_metric_group_name(metric, b->v));
        mel_buffer_puts(out, ": ");
    }
    if (b->rank == 0)
        mel_buffer_puts(out, b->note != NULL ? "constant" : "differences between groups against mistakes");
    if (b->rank == 2 && at[0] == at[1]) {
        mel_buffer_puts(out, coordinates[at[0]]);
        mel_buffer_puts(out, ", squared");
        return;
    }
    for (uint32_t r = 0; r < b->rank; r++) {
        mel_buffer_puts(out, r == 0 ? "" : ", times ");
        mel_buffer_puts(out, coordinates[at[r]]);
    }
    if (b->note != NULL) {
        mel_buffer_puts(out, ", ");
        mel_buffer_puts(out, b->note);
    }
}

/* "m11", "p00" for the two statistics of a face, "B1,2" elsewhere. */
static void add_symbol(mel_buffer *out, const mel_metric *metric, const entry *e)
{
    static const char *const planar[] = { "11", "00" };
    const mel_layout *layout = mel_metric_layout(metric);
    const bool binary = layout->coordinates == MEL_BINARY && mel_layout_size(layout) == 2;
    const block *b = &e->of;
    size_t at[MOST_RANK] = { 0 };
    (void)split_index(at, b, e->index);
    if (binary && b->note != NULL)
        mel_buffer_printf(out, "%s%s", b->letter[0] == 'a' ? "p" : "q", b->rank == 0 ? "0" : planar[at[0]]);
    else if (binary && b->rank == 1)
        mel_buffer_printf(out, "m%s", planar[at[0]]);
    else
        mel_buffer_puts(out, b->letter);
    for (uint32_t r = 0; r < b->rank && !binary; r++)
        mel_buffer_printf(out, "%s%zu", r == 0 ? "" : ",", at[r] + 1);
}

static mel_coefficient coefficient_of(mel_outcome_work *w, const mel_metric *metric, const entry *e,
                                      const char *const *coordinates)
{
    mel_coefficient out = { .number = { e->value, NAN, NAN } };
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_symbol(&text, metric, e);
    out.symbol = mel_outcome_keep(w, &text);
    mel_buffer_init(&text, MOST_TEXT);
    add_meaning(&text, metric, e, coordinates);
    out.meaning = mel_outcome_keep(w, &text);
    (void)mel_metric_interval(metric, e->of.first + e->index, &out.number.low, &out.number.high);
    return out;
}

size_t mel_outcome_pick_coefficients(mel_outcome_work *w, mel_coefficient *out, size_t *n_left_out,
                                     const mel_metric *metric, const char *const *coordinates, size_t most)
{
    double constants[2];
    picking p = { .metric = metric, .most = most, .kept = mel_outcome_room(w, most, sizeof(entry)) };
    if (w->status != MEL_OK) {
        free(p.kept);
        return 0;
    }
    offer_all(&p, constants);
    qsort(p.kept, p.n, sizeof *p.kept, by_place);
    *n_left_out = p.n_all - p.n;
    for (size_t i = 0; i < p.n; i++)
        out[i] = coefficient_of(w, metric, &p.kept[i], coordinates);
    free(p.kept);
    return p.n;
}

void mel_outcome_find_coefficients(mel_outcome_work *w)
{
    w->coefficient = mel_outcome_room(w, MEL_OUTCOME_COEFFICIENTS, sizeof *w->coefficient);
    w->out.coefficients = w->coefficient;
    w->out.n_coefficients = mel_outcome_pick_coefficients(w, w->coefficient, &w->out.n_left_out, w->metric,
                                                          w->coordinate, MEL_OUTCOME_COEFFICIENTS);
}
