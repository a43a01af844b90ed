/* Two classes: what the columns of a pool say about a classifier determines the rest of its matrix. */
#include "problem/pool_parts.h"

#include <math.h>
#include <string.h>

static const double rounding = MEL_POOL_ROUNDING, nothing = 1e-9;

/* Unknowns: the four shares; an equation is their coefficients and what they add up to. */
enum { TN, FP, FN, TP, UNKNOWNS };
enum { MOST_EQUATIONS = 40 }; /* of columns that are called differently, two prevalences and the sum */
typedef struct {
    double of[MOST_EQUATIONS][UNKNOWNS + 1];
    size_t n;
} equations;

/* A part is `value` times the whole, which of all four entries is 1. */
static void add_equation(equations *e, const double part[4], const double whole[4], double value)
{
    const bool all = whole[TN] == 1.0 && whole[FP] == 1.0 && whole[FN] == 1.0 && whole[TP] == 1.0;
    double *of = e->of[e->n++];
    for (size_t u = 0; u < UNKNOWNS; u++)
        of[u] = part[u] - (all ? 0.0 : value * whole[u]);
    of[UNKNOWNS] = all ? value : 0.0;
}

static const double everything[] = { 1, 1, 1, 1 };

static void add_columns(equations *e, const mel_pool_reading *r, const mel_pool_matrix *x, size_t group,
                        size_t row, double prevalence)
{
    const mel_pool_formula *positives = mel_pool_formula_of("prevalence");
    bool rates_only = r->about->layout.kind == MEL_RATES && isnan(prevalence);
    for (size_t c = 0; c < r->n_columns; c++) {
        const mel_pool_column *column = &r->column[c];
        if (column->group != group || column->kind == MEL_COLUMN_NAME || column->kind == MEL_COLUMN_TOTAL)
            continue;
        mel_pool_formula own = { 0 };
        const mel_pool_formula *formula = column->formula;
        if (mel_pool_is_entry(column->kind)) { /* a share of all rows, or of its class */
            const bool share = column->kind == MEL_COLUMN_SHARE || x->shares;
            own.part[2 * column->truth + column->said] = 1.0;
            for (size_t cell = 0; cell < 4; cell++)
                own.whole[cell] = share || cell / 2 == column->truth ? 1.0 : 0.0;
            formula = &own;
        }
        /* Of one class: rates are the same for any prevalence. */
        const bool of_class = (formula->whole[TN] > 0.0 || formula->whole[FP] > 0.0) !=
                              (formula->whole[FN] > 0.0 || formula->whole[TP] > 0.0);
        rates_only = rates_only && of_class;
        const double value = mel_pool_is_entry(column->kind) && r->counts ? *mel_pool_entry(r, x, column)
                                                                          : mel_pool_number(r, c, row);
        add_equation(e, formula->part, formula->whole, value);
    }
    if (!isnan(prevalence) || rates_only)
        add_equation(e, positives->part, everything, isnan(prevalence) ? 0.5 : prevalence);
    add_equation(e, everything, everything, 1.0);
}

/* Gauss-Jordan; found[i] is NaN where unknown i is not determined. False when two equations contradict each
 * other by more than rounding. */
static bool solve(double found[UNKNOWNS], equations *e)
{
    size_t pivot_row[UNKNOWNS], used = 0;
    for (size_t u = 0; u < UNKNOWNS; u++) {
        size_t best = used;
        for (size_t i = used; i < e->n; i++)
            if (fabs(e->of[i][u]) > fabs(e->of[best][u]))
                best = i;
        pivot_row[u] = SIZE_MAX;
        if (used == e->n || fabs(e->of[best][u]) <= nothing)
            continue;
        for (size_t j = 0; j <= UNKNOWNS; j++) {
            const double held = e->of[best][j];
            e->of[best][j] = e->of[used][j];
            e->of[used][j] = held;
        }
        const double pivot = e->of[used][u];
        for (size_t j = 0; j <= UNKNOWNS; j++)
            e->of[used][j] /= pivot;
        for (size_t i = 0; i < e->n; i++) {
            const double times = e->of[i][u];
            for (size_t j = 0; i != used && times != 0.0 && j <= UNKNOWNS; j++)
                e->of[i][j] -= times * e->of[used][j];
        }
        pivot_row[u] = used++;
    }
    for (size_t i = used; i < e->n; i++)
        if (fabs(e->of[i][UNKNOWNS]) > rounding)
            return false;
    for (size_t u = 0; u < UNKNOWNS; u++) {
        found[u] = pivot_row[u] != SIZE_MAX ? e->of[pivot_row[u]][UNKNOWNS] : NAN;
        for (size_t v = 0; v < UNKNOWNS && pivot_row[u] != SIZE_MAX; v++)
            if (v != u && fabs(e->of[pivot_row[u]][v]) > nothing)
                found[u] = NAN;
    }
    return true;
}

static mel_status check_found(double found[UNKNOWNS], const mel_pool_reading *r, size_t row, mel_error *err)
{
    for (size_t u = 0; u < UNKNOWNS; u++) {
        if (found[u] < -rounding || found[u] > 1.0 + rounding)
            return mel_fail(
                err, MEL_EDATA,
                "%s: classifier %zu: no classifier has such numbers; one of its shares would be %.6g",
                mel_pool_file(r), row + 1, found[u]);
        found[u] = found[u] < 0.0 ? 0.0 : found[u] > 1.0 ? 1.0 : found[u];
    }
    if (found[TP] + found[TN] > 1.0 + rounding)
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu: shares %g and %g add up to more than 1",
                        mel_pool_file(r), row + 1, found[TP], found[TN]);
    return MEL_OK;
}

static mel_status solve_with(double found[UNKNOWNS], const mel_pool_reading *r, const mel_pool_matrix *x,
                             size_t group, size_t row, double prevalence, mel_error *err)
{
    equations e = { .n = 0 };
    add_columns(&e, r, x, group, row, prevalence);
    return solve(found, &e) ? check_found(found, r, row, err)
                            : mel_fail(err, MEL_EDATA,
                                       "%s: classifier %zu: its numbers contradict each other by more than "
                                       "rounding explains",
                                       mel_pool_file(r), row + 1);
}

mel_status mel_pool_solve_two(mel_pool_matrix *x, double *positives, const mel_pool_reading *r, size_t group,
                              size_t row, mel_error *err)
{
    const bool rates = r->about->layout.kind == MEL_RATES,
               wrong = r->about->layout.coordinates == MEL_OFFDIAGONAL;
    const bool later = r->about->only_if_needed;
    double found[UNKNOWNS];
    TRY(solve_with(found, r, x, group, row, later ? NAN : r->about->prevalence, err));
    if (later && (isnan(found[wrong ? FP : TN]) || isnan(found[wrong ? FN : TP])))
        TRY(solve_with(found, r, x, group, row, r->about->prevalence, err));
    const double share = found[FN] + found[TP];
    *positives = share;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) {
            const double of = !rates ? 1.0 : i == 1 ? share : 1.0 - share;
            x->entry[(group * 2 + i) * 2 + j] = found[2 * i + j] / of;
        }
    x->rows[group * 2] = x->total[group] * (1.0 - share);
    x->rows[group * 2 + 1] = x->total[group] * share;
    return MEL_OK;
}
