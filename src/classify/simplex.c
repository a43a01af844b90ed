/* The revised simplex method with an explicit inverse of the basis: for programs of up to some thousand
 * equations that are solved again and again with a few more columns. */
#include "classify/solve.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHECK = 50,        /* pivots after which it is checked whether rounding errors have grown */
    PATIENCE = 50,     /* pivots without progress before the first column that helps is taken, not the best */
    PIVOTS_EACH = 200, /* at most so many times rows + columns */
    NONE = -1
};
static const double price_slack = 1e-11, zero = 1e-12;
static const double pivot_slack = 1e-8; /* smaller pivots are rounding errors */
static const double drift_slack = 1e-10;
static const double tie = 1e-10; /* places that empty within this of each other: the surest pivot is taken */

typedef struct {
    size_t first, n; /* entries */
    double cost;
    bool forbidden;
    long place; /* row of the basis, or NONE */
    long twin;  /* its negative, or NONE */
} column;

/* Where a number of the basis becomes 0 as the entering column grows. */
typedef struct {
    double room;
    size_t at;
} breakpoint;

struct mel_simplex {
    size_t n;
    double *b;
    size_t n_columns, column_room;
    column *columns;
    size_t n_entries, entry_room;
    size_t *row;
    double *entry;
    long *basis;     /* n: columns; NONE: not begun */
    double *inverse; /* n x n */
    double *level;   /* n: values of the basis */
    double *price, *move;
    breakpoint *breaks; /* n */
    size_t since;       /* pivots since the inverse was computed */
};

void mel_simplex_free(mel_simplex *lp)
{
    if (lp == NULL)
        return;
    free(lp->b);
    free(lp->columns);
    free(lp->row);
    free(lp->entry);
    free(lp->basis);
    free(lp->breaks);
    free(lp->inverse);
    free(lp);
}

mel_status mel_simplex_new(mel_simplex **out, size_t n, const double *b, mel_error *err)
{
    *out = NULL;
    mel_simplex *lp = mel_alloc_zero(1, sizeof *lp);
    if (lp == NULL)
        return mel_fail_memory(err, "a linear program");
    lp->n = n;
    lp->basis = mel_alloc(n, sizeof *lp->basis);
    lp->inverse = mel_alloc_zero(n * n, sizeof *lp->inverse);
    lp->breaks = mel_alloc(n, sizeof *lp->breaks);
    const mel_part parts[] = { { n, { &lp->b, &lp->level, &lp->price, &lp->move } } };
    if (lp->basis == NULL || lp->inverse == NULL || lp->breaks == NULL || !mel_parts_new(MEL_PARTS(parts))) {
        mel_simplex_free(lp);
        return mel_fail_memory(err, "a linear program");
    }
    memcpy(lp->b, b, n * sizeof *b);
    memcpy(lp->level, b, n * sizeof *b);
    for (size_t r = 0; r < n; r++) {
        lp->basis[r] = NONE;
        lp->inverse[r * n + r] = 1.0;
    }
    *out = lp;
    return MEL_OK;
}

static bool make_simplex_room(mel_simplex *lp, size_t n_entries)
{
    if (lp->n_columns == lp->column_room) {
        const size_t room = 2 * lp->column_room + 64;
        if (!mel_grow((void **)&lp->columns, room, sizeof *lp->columns))
            return false;
        lp->column_room = room;
    }
    if (lp->n_entries + n_entries > lp->entry_room) {
        const size_t room = 2 * (lp->n_entries + n_entries) + 256;
        if (!mel_grow((void **)&lp->row, room, sizeof *lp->row) ||
            !mel_grow((void **)&lp->entry, room, sizeof *lp->entry))
            return false;
        lp->entry_room = room;
    }
    return true;
}

mel_status mel_simplex_add(size_t *number, mel_simplex *lp, double cost, size_t n_entries, const size_t *row,
                           const double *value, mel_error *err)
{
    if (!make_simplex_room(lp, n_entries))
        return mel_fail_memory(err, "a linear program");
    *number = lp->n_columns;
    lp->columns[lp->n_columns++] = (column){ lp->n_entries, n_entries, cost, false, NONE, NONE };
    memcpy(lp->row + lp->n_entries, row, n_entries * sizeof *row);
    memcpy(lp->entry + lp->n_entries, value, n_entries * sizeof *value);
    lp->n_entries += n_entries;
    return MEL_OK;
}

void mel_simplex_pair(mel_simplex *lp, size_t first, size_t second)
{
    lp->columns[first].twin = (long)second;
    lp->columns[second].twin = (long)first;
}

void mel_simplex_set_cost(mel_simplex *lp, size_t c, double cost)
{
    lp->columns[c].cost = cost;
}

void mel_simplex_forbid(mel_simplex *lp, size_t c)
{
    lp->columns[c].forbidden = true;
    if (lp->columns[c].place != NONE)
        lp->level[lp->columns[c].place] = 0.0;
}

double mel_simplex_left(const mel_simplex *lp, size_t row)
{
    return lp->level[row];
}

/* move = inverse times a column. */
static void weigh_column(const mel_simplex *lp, const column *c)
{
    const size_t n = lp->n;
    for (size_t r = 0; r < n; r++) {
        double sum = 0.0;
        for (size_t e = 0; e < c->n; e++)
            sum += lp->inverse[r * n + lp->row[c->first + e]] * lp->entry[c->first + e];
        lp->move[r] = sum;
    }
}

/* The column takes the place of what is in the basis at a row; move is its weights. */
static void pivot(mel_simplex *lp, size_t at, size_t entering)
{
    const size_t n = lp->n;
    const double by = 1.0 / lp->move[at];
    double *line = lp->inverse + at * n;
    mel_scale(n, by, line);
    lp->level[at] *= by;
    for (size_t r = 0; r < n; r++)
        if (r != at && lp->move[r] != 0.0) {
            mel_axpy(n, -lp->move[r], line, lp->inverse + r * n);
            lp->level[r] -= lp->move[r] * lp->level[at];
        }
    if (lp->basis[at] != NONE)
        lp->columns[lp->basis[at]].place = NONE;
    lp->basis[at] = (long)entering;
    lp->columns[entering].place = (long)at;
    lp->since++;
}

void mel_simplex_begin(mel_simplex *lp, size_t row, size_t c)
{
    weigh_column(lp, &lp->columns[c]);
    pivot(lp, row, c);
}

/* Inverse and levels from the columns themselves. */
static mel_status refresh(mel_simplex *lp, mel_error *err)
{
    const size_t n = lp->n;
    MEL_AUTO_MEMORY double *matrix = mel_alloc_zero(n * n, sizeof *matrix);
    if (matrix == NULL)
        return mel_fail_memory(err, "a linear program");
    for (size_t r = 0; r < n; r++) {
        const column *c = &lp->columns[lp->basis[r]];
        for (size_t e = 0; e < c->n; e++)
            matrix[lp->row[c->first + e] * n + r] = lp->entry[c->first + e];
    }
    memset(lp->inverse, 0, n * n * sizeof *lp->inverse);
    for (size_t r = 0; r < n; r++)
        lp->inverse[r * n + r] = 1.0;
    TRY(mel_solve(n, matrix, n, n, lp->inverse, n, NULL, err));
    mel_gemv(n, n, 1.0, lp->inverse, n, lp->b, 0.0, lp->level);
    for (size_t r = 0; r < n; r++)
        if (lp->columns[lp->basis[r]].forbidden || fabs(lp->level[r]) < zero)
            lp->level[r] = 0.0;
    lp->since = 0;
    return MEL_OK;
}

/* How far the levels are from solving the equations. */
static double drift(const mel_simplex *lp)
{
    double *left = lp->move;
    memcpy(left, lp->b, lp->n * sizeof *left);
    for (size_t r = 0; r < lp->n; r++) {
        const column *c = &lp->columns[lp->basis[r]];
        for (size_t e = 0; e < c->n; e++)
            left[lp->row[c->first + e]] -= lp->entry[c->first + e] * lp->level[r];
    }
    return mel_norm_inf(lp->n, left);
}

/* price = costs of the basis times the inverse. */
static void find_prices(mel_simplex *lp)
{
    memset(lp->price, 0, lp->n * sizeof *lp->price);
    for (size_t r = 0; r < lp->n; r++) {
        const double cost = lp->columns[lp->basis[r]].cost;
        if (cost != 0.0)
            mel_axpy(lp->n, cost, lp->inverse + r * lp->n, lp->price);
    }
}

/* The column that promises most per unit, or, hurried, the first that promises anything. */
static long find_entering(const mel_simplex *lp, bool first, double *promise)
{
    long best = NONE;
    double most = price_slack;
    for (size_t i = 0; i < lp->n_columns; i++) {
        const column *c = &lp->columns[i];
        if (c->place != NONE || c->forbidden)
            continue;
        double gain = c->cost, size = fabs(c->cost);
        for (size_t e = 0; e < c->n; e++) {
            const double part = lp->price[lp->row[c->first + e]] * lp->entry[c->first + e];
            gain -= part;
            size = fmax(size, fabs(part));
        }
        if (gain > fmax(most, price_slack * size)) {
            most = *promise = gain;
            best = (long)i;
            if (first)
                return best;
        }
    }
    return best;
}

/* How far a place of the basis lets the entering column grow. Forbidden columns stay at 0, whichever way. */
static double room_at(const mel_simplex *lp, size_t r)
{
    const double move = lp->move[r];
    if (lp->columns[lp->basis[r]].forbidden)
        return fabs(move) > pivot_slack ? 0.0 : INFINITY;
    return move > pivot_slack ? fmax(lp->level[r], 0.0) / move : INFINITY;
}

static int by_room(const void *a, const void *b)
{
    const breakpoint *x = a, *y = b;
    return x->room < y->room ? -1 : x->room > y->room ? 1 : x->at < y->at ? -1 : x->at > y->at;
}

/* Turns a number of the basis that passes 0 into its negative; prices follow. */
static void flip(mel_simplex *lp, size_t r)
{
    column *old = &lp->columns[lp->basis[r]];
    mel_axpy(lp->n, -(old->cost + lp->columns[old->twin].cost), lp->inverse + r * lp->n, lp->price);
    mel_scale(lp->n, -1.0, lp->inverse + r * lp->n);
    lp->level[r] = -lp->level[r];
    lp->move[r] = -lp->move[r];
    lp->basis[r] = old->twin;
    lp->columns[old->twin].place = (long)r;
    old->place = NONE;
}

/* Whether the entering column still gains once a number has passed 0; *rate is what it gains from there on.
 */
static bool passes(const mel_simplex *lp, size_t r, double *rate)
{
    const column *c = &lp->columns[lp->basis[r]];
    if (c->twin == NONE || lp->columns[c->twin].forbidden || c->forbidden)
        return false;
    const double after = *rate + (c->cost + lp->columns[c->twin].cost) * fabs(lp->move[r]);
    if (!(after > price_slack))
        return false;
    *rate = after;
    return true;
}

/* The place that is emptied first, of equals the one with the largest pivot; hurried: the one of the smallest
 * column. Numbers that may have either sign are passed as long as that gains something, which *promise keeps.
 */
static long find_leaving(mel_simplex *lp, bool first, double *promise)
{
    size_t n = 0, passed = 0;
    for (size_t r = 0; r < lp->n; r++) {
        const double room = room_at(lp, r);
        if (room < INFINITY)
            lp->breaks[n++] = (breakpoint){ room, r };
    }
    qsort(lp->breaks, n, sizeof *lp->breaks, by_room);
    while (passed < n && passes(lp, lp->breaks[passed].at, promise))
        passed++;
    if (passed == n)
        return NONE;
    long best = (long)lp->breaks[passed].at;
    for (size_t i = passed + 1; i < n && lp->breaks[i].room <= lp->breaks[passed].room + tie; i++) {
        const long r = (long)lp->breaks[i].at;
        if (first ? lp->basis[r] < lp->basis[best] : fabs(lp->move[r]) > fabs(lp->move[best]))
            best = r;
    }
    for (size_t i = 0; i < passed; i++)
        flip(lp, lp->breaks[i].at);
    return best;
}

/* One exchange of columns; false in *more: there is nothing to gain. */
static mel_status exchange(bool *more, bool *moved, mel_simplex *lp, bool hurried, mel_error *err)
{
    double promise = 0.0;
    const long entering = find_entering(lp, hurried, &promise);
    *more = entering != NONE;
    if (!*more)
        return MEL_OK;
    weigh_column(lp, &lp->columns[entering]);
    const long leaving = find_leaving(lp, hurried, &promise);
    if (leaving == NONE)
        return mel_fail(err, MEL_ENUMERIC, "a linear program has no largest value");
    *moved = room_at(lp, (size_t)leaving) > zero;
    pivot(lp, (size_t)leaving, (size_t)entering);
    mel_axpy(lp->n, promise, lp->inverse + (size_t)leaving * lp->n, lp->price);
    for (size_t r = 0; r < lp->n; r++)
        if (fabs(lp->level[r]) < zero || lp->columns[lp->basis[r]].forbidden)
            lp->level[r] = 0.0;
    return MEL_OK;
}

mel_status mel_simplex_solve(mel_simplex *lp, mel_error *err)
{
    size_t idle = 0, old = 0; /* exchanges since the prices were computed and not only updated */
    bool more = true;
    mel_status status = MEL_OK;
    find_prices(lp);
    for (size_t turn = 0; (more || old > 0) && status == MEL_OK; turn++) {
        if (turn > PIVOTS_EACH * (lp->n + lp->n_columns))
            return mel_fail(err, MEL_ENUMERIC, "a linear program did not end");
        if (lp->since % CHECK == CHECK - 1 && drift(lp) > drift_slack)
            status = refresh(lp, err);
        if (!more || ++old > CHECK) {
            find_prices(lp);
            old = 0;
        }
        bool moved = false;
        if (status == MEL_OK)
            status = exchange(&more, &moved, lp, idle > PATIENCE, err);
        idle = moved ? 0 : idle + 1;
    }
    return status;
}

double mel_simplex_value(const mel_simplex *lp, size_t c)
{
    const long place = lp->columns[c].place;
    return place != NONE ? fmax(lp->level[place], 0.0) : 0.0;
}

double mel_simplex_objective(const mel_simplex *lp)
{
    double sum = 0.0;
    for (size_t r = 0; r < lp->n; r++)
        sum += lp->columns[lp->basis[r]].cost * lp->level[r];
    return sum;
}

const double *mel_simplex_prices(const mel_simplex *lp)
{
    return lp->price;
}
