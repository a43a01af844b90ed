/* The hull of measured rules: its step is an assignment of predictions to classes for each rule. */
#include "space/feasible.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mel_hull {
    size_t k, n, room;
    double *rule; /* room x k x k: confusion entries by prediction first */
};

void mel_hull_free(mel_hull *hull)
{
    free(hull); /* one block */
}

/* --- the best exchange of predictions ----------------------------------------------------------- */

/* Room for assignments of k rows to k columns. Index k stands for no row and for the column that a new row
 * starts from. */
typedef struct {
    double *row_price, *column_price, *slack; /* k + 1 */
    size_t *row_of, *before; /* k + 1: by column; the column before it on the cheapest path */
    bool *reached;           /* k + 1 */
} assignment;

/* Extends the cheapest path from column `at` by one column. */
static size_t extend_path(const assignment *a, size_t k, const double *worth, size_t at)
{
    const size_t row = a->row_of[at];
    double least = INFINITY;
    size_t next = k;
    a->reached[at] = true;
    for (size_t l = 0; l < k; l++) {
        if (a->reached[l])
            continue;
        const double cost = -worth[row * k + l] - a->row_price[row] - a->column_price[l];
        if (cost < a->slack[l]) {
            a->slack[l] = cost;
            a->before[l] = at;
        }
        if (a->slack[l] < least || next == k) {
            least = a->slack[l];
            next = l;
        }
    }
    for (size_t l = 0; l <= k; l++) {
        if (a->reached[l]) {
            a->row_price[a->row_of[l]] += least;
            a->column_price[l] -= least;
        } else {
            a->slack[l] -= least;
        }
    }
    return next;
}

/* The assignment with the largest sum of worth[row][column] (k x k), one row after the other along the
 * cheapest path to a free column. Returns the sum; rows are in a->row_of. */
static double assign(const assignment *a, size_t k, const double *worth)
{
    for (size_t l = 0; l <= k; l++) {
        a->row_price[l] = a->column_price[l] = 0.0;
        a->row_of[l] = k;
    }
    for (size_t row = 0; row < k; row++) {
        for (size_t l = 0; l <= k; l++) {
            a->slack[l] = INFINITY;
            a->reached[l] = false;
        }
        a->row_of[k] = row;
        size_t at = k;
        do
            at = extend_path(a, k, worth, at);
        while (a->row_of[at] != k);
        for (; at != k; at = a->before[at])
            a->row_of[at] = a->row_of[a->before[at]];
    }
    double sum = 0.0;
    for (size_t l = 0; l < k; l++)
        sum += worth[a->row_of[l] * k + l];
    return sum;
}

/* --- the step ----------------------------------------------------------------------------------- */

typedef struct {
    assignment best;
    size_t *row_of; /* k: of the best assignment of all rules */
    double *worth;  /* room x k x k: of calling prediction j of a rule l */
    double *bound;  /* room: no assignment of the rule is worth more */
} scratch;

size_t mel_hull_spare(const mel_hull *hull)
{
    const size_t k = hull->k, line = k + 1;
    return (3 * line + hull->room * (k * k + 1)) * sizeof(double) + (2 * line + k) * sizeof(size_t) +
           line * sizeof(bool);
}

static scratch lay_out(void *spare, const mel_hull *h)
{
    const size_t k = h->k, line = k + 1;
    scratch s = { .worth = spare };
    s.bound = s.worth + h->room * k * k;
    s.best.row_price = s.bound + h->room;
    s.best.column_price = s.best.row_price + line;
    s.best.slack = s.best.column_price + line;
    s.best.row_of = (size_t *)(s.best.slack + line);
    s.best.before = s.best.row_of + line;
    s.row_of = s.best.before + line;
    s.best.reached = (bool *)(s.row_of + k);
    return s;
}

/* The largest worth of every prediction by itself, added up. */
static double bound_of(size_t k, const double *worth)
{
    double sum = 0.0;
    for (size_t j = 0; j < k; j++) {
        double most = worth[j * k];
        for (size_t l = 1; l < k; l++)
            most = fmax(most, worth[j * k + l]);
        sum += most;
    }
    return sum;
}

/* The rule whose bound is largest: likely the best one, which spares the assignments of most others. */
static size_t most_promising(scratch *s, size_t n, size_t k)
{
    size_t best = 0;
    for (size_t r = 0; r < n; r++) {
        s->bound[r] = bound_of(k, s->worth + r * k * k);
        best = s->bound[r] > s->bound[best] ? r : best;
    }
    return best;
}

/* The best exchange of all rules: which rule; rows are in s->row_of. */
static size_t exchange_all(scratch *s, const mel_hull *h, const double *gain)
{
    const size_t k = h->k, cells = k * k;
    mel_gemm(false, false, h->n * k, k, k, 1.0, h->rule, k, gain, k, 0.0, s->worth, k);
    const size_t start = most_promising(s, h->n, k);
    size_t best = start;
    double most = -INFINITY;
    for (size_t i = 0; i <= h->n; i++) {
        const size_t r = i == 0 ? start : i - 1;
        if (!(s->bound[r] > most) || (i > 0 && r == start))
            continue;
        const double sum = assign(&s->best, k, s->worth + r * cells);
        if (sum > most) {
            most = sum;
            best = r;
            memcpy(s->row_of, s->best.row_of, k * sizeof *s->row_of);
        }
    }
    return best;
}

/* Whether gains differ within their rows in one column only. */
static bool is_column(size_t k, const double *gain, size_t column)
{
    const size_t other = column == 0 ? 1 : 0;
    for (size_t i = 0; i < k; i++)
        for (size_t l = 0; l < k; l++)
            if (l != column && gain[i * k + l] != gain[i * k + other])
                return false;
    return true;
}

/* The same for such gains: what matters is which prediction becomes that of the column. */
static size_t exchange_one(scratch *s, const mel_hull *h, const double *gain, size_t column)
{
    const size_t k = h->k, other = column == 0 ? 1 : 0;
    double most = -INFINITY;
    size_t best = 0;
    for (size_t i = 0; i < k; i++)
        s->worth[i] = gain[i * k + column] - gain[i * k + other];
    for (size_t at = 0; at < h->n * k; at++) {
        const double worth = mel_dot(k, h->rule + at * k, s->worth);
        if (worth > most) {
            most = worth;
            best = at;
        }
    }
    for (size_t l = 0; l < k; l++)
        s->row_of[l] = l;
    s->row_of[best % k] = column;
    s->row_of[column] = best % k;
    return best / k;
}

void mel_hull_best(double *confusion, const mel_hull *h, const double *gain, void *spare)
{
    const size_t k = h->k;
    scratch s = lay_out(spare, h);
    size_t column = 0;
    while (column < k && !is_column(k, gain, column))
        column++;
    const size_t best = column < k ? exchange_one(&s, h, gain, column) : exchange_all(&s, h, gain);
    for (size_t i = 0; i < k; i++)
        for (size_t l = 0; l < k; l++)
            confusion[i * k + l] = h->rule[best * k * k + s.row_of[l] * k + i];
}

/* --- making a hull ------------------------------------------------------------------------------ */

void mel_hull_add(mel_hull *h, const double *confusion)
{
    double *to = h->rule + h->n++ * h->k * h->k;
    for (size_t i = 0; i < h->k; i++)
        for (size_t j = 0; j < h->k; j++)
            to[j * h->k + i] = confusion[i * h->k + j];
}

mel_status mel_hull_new(mel_hull **out, const mel_space *space, size_t group, size_t room, mel_error *err)
{
    const size_t k = space->n_classes;
    mel_hull *h = *out = mel_alloc(1, sizeof *h + (room + 1) * k * k * sizeof *h->rule);
    if (h == NULL)
        return mel_fail_memory(err, "a hull");
    *h = (mel_hull){ .k = k, .n = 1, .room = room + 1, .rule = (double *)(h + 1) };
    memset(h->rule, 0, k * k * sizeof *h->rule);
    memcpy(h->rule, space->cell_share + group * k, k * sizeof *h->rule); /* always the first class */
    return MEL_OK;
}
