/* From the columns of a pool to statistics: shares, counts and rates become what the layout is about. */
#include "problem/pool.h"

#include "base/layout.h"
#include "base/names.h"
#include "data/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double rounding = 1e-3; /* how far numbers that were rounded may contradict each other */
static const double sum_slack = 1e-9, nothing = 1e-9;

void mel_pool_clear(mel_pool *pool)
{
    mel_names_free(pool->name, pool->n);
    free(pool->value);
    free(pool->positives);
    free(pool->class_rows);
    free(pool->matrix);
    free(pool->rows);
    *pool = (mel_pool){ 0 };
}

bool mel_pool_has_counts(const mel_pool *pool)
{
    const size_t parts = pool->layout.n_classes * (pool->layout.n_groups > 1 ? pool->layout.n_groups : 1);
    for (size_t i = 0; pool->class_rows != NULL && i < pool->n * parts; i++)
        if (isfinite(pool->class_rows[i]))
            return true;
    return false;
}

/* A pool being read. */
typedef struct {
    const mel_table *table;
    const mel_pool_about *about;
    size_t n_columns, k, m; /* columns, classes, groups (1 where there are none) */
    mel_pool_column *column;
    bool counts; /* entries are counts of rows */
} reading;

static const char *file_of(const reading *r)
{
    return mel_table_name(r->table);
}

static double number(const reading *r, size_t column, size_t row)
{
    return mel_table_numbers(r->table, column)[row];
}

static bool is_entry(mel_pool_column_kind kind)
{
    return kind == MEL_COLUMN_ENTRY || kind == MEL_COLUMN_SHARE;
}

static mel_status refuse_cell(const reading *r, size_t row, size_t column, const char *why, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: %.9g %s", file_of(r), row + 1,
                    mel_table_column_name(r->table, column), number(r, column, row), why);
}

/* --- shares or counts ---------------------------------------------------------------------------- */

static mel_status check_cell(const reading *r, size_t row, size_t column, mel_error *err)
{
    const mel_pool_column_kind kind = r->column[column].kind;
    if (kind == MEL_COLUMN_NAME)
        return MEL_OK;
    const double value = number(r, column, row);
    if (isnan(value))
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: the number is missing", file_of(r),
                        row + 1, mel_table_column_name(r->table, column));
    const bool whole = value == floor(value), share = value >= 0.0 && value <= 1.0;
    if (kind == MEL_COLUMN_TOTAL)
        return whole && value > 0.0 ? MEL_OK : refuse_cell(r, row, column, "is no number of rows", err);
    if (is_entry(kind) && value > 1.0 && !whole)
        return refuse_cell(r, row, column, "is neither a share between 0 and 1 nor a whole count", err);
    if (is_entry(kind) && r->counts)
        return whole && value >= 0.0
                   ? MEL_OK
                   : refuse_cell(r, row, column, "is no count of rows, and others in the file are", err);
    return share ? MEL_OK : refuse_cell(r, row, column, "is not a share between 0 and 1", err);
}

static mel_status check_cells(reading *r, mel_error *err)
{
    const size_t n = mel_table_rows(r->table);
    for (size_t c = 0; c < r->n_columns; c++)
        for (size_t i = 0; i < n && is_entry(r->column[c].kind); i++)
            r->counts = r->counts || (number(r, c, i) > 1.0 && number(r, c, i) == floor(number(r, c, i)));
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        for (size_t c = 0; c < r->n_columns && status == MEL_OK; c++)
            status = check_cell(r, i, c, err);
    return status;
}

/* --- one classifier ------------------------------------------------------------------------------ */

/* Its k x k entries per group, NaN where they are not known, as shares of all rows or as rates. */
typedef struct {
    double *entry;
    bool shares;
    /* Of counts: how many rows of each class in each group, NaN where that is not known; and of all of them,
     * or of each group where the layout asks for rates. */
    double *rows, *total;
} matrix;

static double *entry_at(const reading *r, const matrix *x, const mel_pool_column *c)
{
    return &x->entry[(c->group * r->k + c->truth) * r->k + c->said];
}

/* Of the entries of one true class in one group; NaN unless all are there. */
static double row_sum(const reading *r, const matrix *x, size_t which)
{
    double sum = 0.0;
    for (size_t j = 0; j < r->k; j++)
        sum += x->entry[which * r->k + j];
    return sum;
}

/* How many rows the counts from `first` on are of: column n, else all of them together. */
static mel_status find_total(double *total, const double *count, size_t n, double said, const reading *r,
                             size_t row, mel_error *err)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += count[i];
    if (isnan(said) && isnan(sum))
        return mel_fail(err, MEL_EDATA,
                        "%s: classifier %zu: the numbers are counts, and not all of the matrix is there to "
                        "add them up; give the missing ones or a column n, the number of rows",
                        file_of(r), row + 1);
    if (!isnan(said) && !isnan(sum) && said != sum)
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu: the counts add up to %.9g, n is %.9g",
                        file_of(r), row + 1, sum, said);
    *total = isnan(said) ? sum : said;
    return *total > 0.0
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s: classifier %zu: all counts are 0", file_of(r), row + 1);
}

/* Shares of all rows; for rates, of the rows of each group. */
static mel_status divide_counts(matrix *x, const reading *r, size_t row, mel_error *err)
{
    const bool apart = r->about->layout.kind == MEL_RATES;
    const size_t parts = apart ? r->m : 1, n = r->m * r->k * r->k / parts;
    for (size_t i = 0; i < r->m * r->k; i++)
        x->rows[i] = row_sum(r, x, i);
    mel_status status = MEL_OK;
    for (size_t part = 0; part < parts && status == MEL_OK; part++) {
        double said = NAN, total = 1.0;
        for (size_t c = 0; c < r->n_columns; c++)
            if (r->column[c].kind == MEL_COLUMN_TOTAL && (!apart || r->column[c].group == part))
                said = (isnan(said) ? 0.0 : said) + number(r, c, row);
        status = find_total(&total, x->entry + part * n, n, said, r, row, err);
        for (size_t i = 0; i < n && status == MEL_OK; i++)
            x->entry[part * n + i] /= total;
        x->total[part] = total;
    }
    return status;
}

static mel_status fill_matrix(matrix *x, const reading *r, size_t row, mel_error *err)
{
    x->shares = r->counts || r->about->layout.kind == MEL_CONFUSION;
    for (size_t i = 0; i < r->m * r->k * r->k; i++)
        x->entry[i] = NAN;
    for (size_t i = 0; i < r->m * r->k; i++)
        x->rows[i] = x->total[i / r->k] = NAN;
    for (size_t c = 0; c < r->n_columns; c++) {
        if (!is_entry(r->column[c].kind))
            continue;
        double *to = entry_at(r, x, &r->column[c]);
        if (!isnan(*to))
            return mel_fail(err, MEL_EDATA, "%s: column %s is there under another name already", file_of(r),
                            mel_table_column_name(r->table, c));
        *to = number(r, c, row);
    }
    return r->counts ? divide_counts(x, r, row, err) : MEL_OK;
}

/* --- two classes: what is given determines the rest ------------------------------------------------ */

/* Unknowns: the four shares and that of the positives; an equation is their coefficients and what they
 * add up to. */
enum { TN, FP, FN, TP, PI, UNKNOWNS };
enum { MOST_EQUATIONS = 20 }; /* 4 entries, 7 rates, precision, 2 prevalences, 2 identities */
typedef struct {
    double of[MOST_EQUATIONS][UNKNOWNS + 1];
    size_t n;
} equations;

static double *add_equation(equations *e)
{
    double *fresh = e->of[e->n++];
    memset(fresh, 0, (UNKNOWNS + 1) * sizeof *fresh);
    return fresh;
}

/* An entry is `value` times the share of its class (rates), or `value`. */
static void add_entry(equations *e, const mel_pool_column *c, double value, bool rate)
{
    double *of = add_equation(e);
    of[2 * c->truth + c->said] = 1.0;
    if (!rate) {
        of[UNKNOWNS] = value;
    } else if (c->truth == 1) {
        of[PI] = -value;
    } else {
        of[PI] = value;
        of[UNKNOWNS] = value;
    }
}

static void add_prevalence(equations *e, double value)
{
    double *of = add_equation(e);
    of[PI] = 1.0;
    of[UNKNOWNS] = value;
}

/* What must hold of any classifier: TP + FN = pi, TN + FP = 1 - pi. */
static void add_identities(equations *e)
{
    double *of = add_equation(e);
    of[TP] = of[FN] = 1.0;
    of[PI] = -1.0;
    of = add_equation(e);
    of[TN] = of[FP] = of[PI] = 1.0;
    of[UNKNOWNS] = 1.0;
}

static void add_columns(equations *e, const reading *r, const matrix *x, size_t group, size_t row,
                        double prevalence)
{
    bool rates_only = r->about->layout.kind == MEL_RATES && isnan(prevalence);
    for (size_t c = 0; c < r->n_columns; c++) {
        const mel_pool_column *column = &r->column[c];
        if (column->group != group || column->kind == MEL_COLUMN_NAME || column->kind == MEL_COLUMN_TOTAL)
            continue;
        const bool share =
            column->kind == MEL_COLUMN_SHARE || (column->kind == MEL_COLUMN_ENTRY && x->shares);
        rates_only = rates_only && !share && column->kind != MEL_COLUMN_PRECISION &&
                     column->kind != MEL_COLUMN_PREVALENCE;
        const double value =
            is_entry(column->kind) && r->counts ? *entry_at(r, x, column) : number(r, c, row);
        if (column->kind == MEL_COLUMN_PREVALENCE) {
            add_prevalence(e, value);
        } else if (column->kind == MEL_COLUMN_PRECISION) { /* TP = value (TP + FP) */
            double *of = add_equation(e);
            of[TP] = 1.0 - value;
            of[FP] = -value;
        } else {
            add_entry(e, column, value, !share);
        }
    }
    if (!isnan(prevalence))
        add_prevalence(e, prevalence);
    else if (rates_only) /* rates are the same for any prevalence */
        add_prevalence(e, 0.5);
    add_identities(e);
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

static mel_status check_found(double found[UNKNOWNS], const reading *r, size_t row, mel_error *err)
{
    for (size_t u = 0; u < UNKNOWNS; u++) {
        if (found[u] < -rounding || found[u] > 1.0 + rounding)
            return mel_fail(
                err, MEL_EDATA,
                "%s: classifier %zu: no classifier has such numbers; one of its shares would be %.6g",
                file_of(r), row + 1, found[u]);
        found[u] = found[u] < 0.0 ? 0.0 : found[u] > 1.0 ? 1.0 : found[u];
    }
    if (found[TP] + found[TN] > 1.0 + rounding)
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu: shares %g and %g add up to more than 1",
                        file_of(r), row + 1, found[TP], found[TN]);
    return MEL_OK;
}

static mel_status solve_with(double found[UNKNOWNS], const reading *r, const matrix *x, size_t group,
                             size_t row, double prevalence, mel_error *err)
{
    equations e = { .n = 0 };
    add_columns(&e, r, x, group, row, prevalence);
    return solve(found, &e) ? check_found(found, r, row, err)
                            : mel_fail(err, MEL_EDATA,
                                       "%s: classifier %zu: its numbers contradict each other by more than "
                                       "rounding explains",
                                       file_of(r), row + 1);
}

/* The four entries of one group, in the layout's kind, and the share of positives. */
static mel_status solve_two(matrix *x, double *positives, const reading *r, size_t group, size_t row,
                            mel_error *err)
{
    const bool rates = r->about->layout.kind == MEL_RATES,
               wrong = r->about->layout.coordinates == MEL_OFFDIAGONAL;
    const bool later = r->about->only_if_needed;
    double found[UNKNOWNS];
    mel_status status = solve_with(found, r, x, group, row, later ? NAN : r->about->prevalence, err);
    if (status == MEL_OK && later && (isnan(found[wrong ? FP : TN]) || isnan(found[wrong ? FN : TP])))
        status = solve_with(found, r, x, group, row, r->about->prevalence, err);
    if (status != MEL_OK)
        return status;
    *positives = found[PI];
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) {
            const double of = !rates ? 1.0 : i == 1 ? found[PI] : 1.0 - found[PI];
            x->entry[(group * 2 + i) * 2 + j] = found[2 * i + j] / of;
        }
    x->rows[group * 2] = x->total[group] * (1.0 - found[PI]);
    x->rows[group * 2 + 1] = x->total[group] * found[PI];
    return MEL_OK;
}

/* --- more classes --------------------------------------------------------------------------------- */

/* Rates out of counts, or of a whole matrix of shares. */
static mel_status make_rates(matrix *x, const reading *r, size_t row, mel_error *err)
{
    double all = 0.0;
    bool rates = !r->counts;
    for (size_t i = 0; i < r->m * r->k; i++) {
        const double sum = row_sum(r, x, i);
        rates = rates && !(fabs(sum - 1.0) > rounding); /* where all of the class's entries are there */
        all += sum;
    }
    if (rates)
        return MEL_OK;
    if (!r->counts && !(fabs(all - 1.0) <= rounding))
        return mel_fail(err, MEL_EDATA,
                        "%s: classifier %zu: neither the entries of each true class add up to 1 nor all of "
                        "them together",
                        file_of(r), row + 1);
    for (size_t i = 0; i < r->m * r->k; i++) {
        const double sum = row_sum(r, x, i);
        if (!(sum > 0.0))
            return mel_fail(
                err, MEL_EDATA,
                "%s: classifier %zu: the rates of class \"%s\" cannot be computed: it has no rows, "
                "or not all of its entries are there",
                file_of(r), row + 1, r->about->class_name[i % r->k]);
        for (size_t j = 0; j < r->k; j++)
            x->entry[i * r->k + j] /= sum;
    }
    return MEL_OK;
}

/* Shares of all rows add up to 1 at most, and to 1 where all are there. */
static mel_status check_shares(const matrix *x, const reading *r, size_t row, mel_error *err)
{
    double sum = 0.0;
    size_t known = 0;
    const size_t n = r->m * r->k * r->k;
    for (size_t i = 0; i < n; i++)
        if (!isnan(x->entry[i])) {
            sum += x->entry[i];
            known++;
        }
    if (sum > 1.0 + (known == n ? rounding : sum_slack))
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu: its shares add up to %g, more than 1",
                        file_of(r), row + 1, sum);
    return known < n || sum >= 1.0 - rounding
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s: classifier %zu: the whole matrix adds up to %g, not 1",
                          file_of(r), row + 1, sum);
}

/* The wrong decisions about a class are not more than all. */
static mel_status check_rates(const matrix *x, const reading *r, size_t row, mel_error *err)
{
    for (size_t i = 0; i < r->m * r->k; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < r->k; j++) {
            const double value = x->entry[i * r->k + j];
            sum += isnan(value) ? 0.0 : value;
        }
        if (sum > 1.0 + rounding)
            return mel_fail(err, MEL_EDATA,
                            "%s: classifier %zu: the rates of class \"%s\" add up to %g, more than 1",
                            file_of(r), row + 1, r->about->class_name[i % r->k], sum);
    }
    return MEL_OK;
}

static mel_status settle_matrix(matrix *x, const reading *r, size_t row, mel_error *err)
{
    if (r->about->layout.kind == MEL_CONFUSION)
        return check_shares(x, r, row, err);
    const mel_status status = make_rates(x, r, row, err);
    return status == MEL_OK ? check_rates(x, r, row, err) : status;
}

/* --- all classifiers ------------------------------------------------------------------------------ */

static mel_status refuse_missing(const reading *r, size_t row, size_t group, size_t truth, size_t said,
                                 mel_error *err)
{
    const char *const *name = r->about->class_name;
    const char *before = r->m > 1 ? r->about->group_name[group] : "", *colon = r->m > 1 ? ":" : "";
    if (r->k == 2)
        return mel_fail(
            err, MEL_EDATA,
            "%s: classifier %zu: its columns do not determine %s%sthe %s of \"%s\" called \"%s\"; give tp "
            "and tn, or rates with a prevalence (a column, or --prevalence)",
            file_of(r), row + 1, before, colon, r->about->layout.kind == MEL_RATES ? "rate" : "share",
            name[truth], name[said]);
    return truth == said ? mel_fail(err, MEL_EDATA,
                                    "%s: no column \"%s%s%s\", the share of right decisions about that class",
                                    file_of(r), before, colon, name[truth])
                         : mel_fail(err, MEL_EDATA, "%s: no column \"%s%s%s>%s\"", file_of(r), before, colon,
                                    name[truth], name[said]);
}

/* The layout's coordinates out of the matrix. */
static mel_status take_coordinates(double *out, const matrix *x, const reading *r, size_t row, mel_error *err)
{
    const mel_coordinates coordinates = r->about->layout.coordinates;
    size_t at = 0;
    for (size_t g = 0; g < r->m; g++)
        for (size_t i = 0; i < r->k; i++)
            for (size_t j = 0; j < r->k; j++) {
                if ((i == j) == (coordinates == MEL_OFFDIAGONAL))
                    continue;
                const size_t truth = coordinates == MEL_BINARY ? 1 - i : i;
                const size_t said = coordinates == MEL_BINARY ? 1 - j : j;
                const double value = x->entry[(g * r->k + truth) * r->k + said];
                if (!isfinite(value))
                    return refuse_missing(r, row, g, truth, said, err);
                out[at++] = value;
            }
    return MEL_OK;
}

/* How many rows there are, by columns n or by counts of everything; NaN: nobody says. */
static double rows_of(const reading *r, size_t row, const double *count)
{
    double said = NAN, sum = 0.0;
    for (size_t c = 0; c < r->n_columns; c++)
        if (r->column[c].kind == MEL_COLUMN_TOTAL)
            said = (isnan(said) ? 0.0 : said) + number(r, c, row);
    for (size_t i = 0; i < r->m * r->k * r->k; i++)
        sum += count[i];
    return !isnan(said) ? said : r->counts ? sum : NAN;
}

/* The confusion matrix: what was counted, or shares of all rows. Of rates alone there is none. */
static void keep_matrix(double *out, double *rows, const matrix *x, const reading *r, size_t row)
{
    const size_t n = r->m * r->k * r->k;
    for (size_t c = 0; c < n; c++)
        out[c] = NAN;
    for (size_t c = 0; c < r->n_columns && r->counts; c++)
        if (is_entry(r->column[c].kind))
            out[(r->column[c].group * r->k + r->column[c].truth) * r->k + r->column[c].said] =
                number(r, c, row);
    *rows = rows_of(r, row, out);
    if (r->about->layout.kind == MEL_CONFUSION)
        for (size_t c = 0; c < n; c++)
            out[c] = x->entry[c] * (isnan(*rows) ? 1.0 : *rows);
}

static mel_status read_row(mel_pool *out, matrix *x, const reading *r, size_t row, mel_error *err)
{
    double *positives = &out->positives[row];
    mel_status status = fill_matrix(x, r, row, err);
    const bool two = r->k == 2 && (r->m == 1 || r->about->layout.kind == MEL_RATES);
    *positives = NAN;
    if (status == MEL_OK && !two)
        status = settle_matrix(x, r, row, err);
    for (size_t g = 0; g < r->m && two && status == MEL_OK; g++)
        status = solve_two(x, positives, r, g, row, err);
    if (status == MEL_OK)
        keep_matrix(out->matrix + row * out->cells, &out->rows[row], x, r, row);
    return status == MEL_OK ? take_coordinates(out->value + row * out->size, x, r, row, err) : status;
}

/* For the caller to free(); NULL when memory runs out. */
static char *name_of(const mel_table *table, size_t row)
{
    size_t column = 0;
    while (column < mel_table_columns(table) && strcasecmp(mel_table_column_name(table, column), "name") != 0)
        column++;
    const bool there = column < mel_table_columns(table);
    const uint32_t *code = there ? mel_table_codes(table, column) : NULL;
    const double *value = there ? mel_table_numbers(table, column) : NULL;
    if (code != NULL && code[row] != MEL_MISSING)
        return mel_strdup(mel_table_category(table, column, code[row]));
    char number[32];
    if (value != NULL && isfinite(value[row]))
        (void)snprintf(number, sizeof number, "%.15g", value[row]);
    else
        (void)snprintf(number, sizeof number, "%zu", row + 1);
    return mel_strdup(number);
}

static mel_status read_rows(mel_pool *out, const reading *r, matrix *x, mel_error *err)
{
    const size_t n = mel_table_rows(r->table), parts = r->m * r->k;
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        out->name[out->n] = name_of(r->table, i);
        if (out->name[out->n++] == NULL)
            return mel_fail_memory(err, "the names of classifiers");
        status = read_row(out, x, r, i, err);
        memcpy(out->class_rows + i * parts, x->rows, parts * sizeof *x->rows);
    }
    return status;
}

static mel_status make_rooms(mel_pool *out, const reading *r, matrix *x, mel_error *err)
{
    const size_t n = mel_table_rows(r->table), parts = r->m * r->k;
    out->name = mel_alloc_zero(n, sizeof *out->name);
    out->value = mel_alloc_zero(n, out->size * sizeof *out->value);
    out->positives = mel_alloc_zero(n, sizeof *out->positives);
    out->class_rows = mel_alloc_zero(n, parts * sizeof *out->class_rows);
    out->cells = parts * r->k;
    out->matrix = mel_alloc_zero(n, out->cells * sizeof *out->matrix);
    out->rows = mel_alloc_zero(n, sizeof *out->rows);
    x->entry = mel_alloc_zero(parts * r->k + parts + r->m, sizeof *x->entry);
    if (out->name == NULL || out->value == NULL || out->positives == NULL || out->class_rows == NULL ||
        out->matrix == NULL || out->rows == NULL || x->entry == NULL)
        return mel_fail_memory(err, "a pool of classifiers");
    x->rows = x->entry + parts * r->k;
    x->total = x->rows + parts;
    return MEL_OK;
}

/* --- from a file ---------------------------------------------------------------------------------- */

mel_status mel_pool_table(mel_table **out, const mel_input *input, size_t n_names, const char *const *name,
                          const mel_read_options *read, mel_error *err)
{
    mel_read_options expecting = *read;
    expecting.row_name = "name";
    return mel_input_read_named(out, input, n_names, name, &expecting, err);
}

static mel_status understand_columns(reading *r, mel_error *err)
{
    const double prevalence = r->about->prevalence;
    if (!isnan(prevalence) && (r->k != 2 || r->m > 1))
        return mel_fail(err, MEL_EINVAL,
                        "--prevalence is the share of the positive one of two classes; here there are %zu "
                        "classes%s",
                        r->k, r->m > 1 ? ", in groups (columns group:prevalence may say it)" : "");
    const mel_status status = mel_pool_columns(r->column, r->table, r->about, err);
    return status == MEL_OK ? check_cells(r, err) : status;
}

mel_status mel_pool_of_table(mel_pool *out, const mel_table *table, const mel_pool_about *about,
                             mel_error *err)
{
    *out = (mel_pool){ .layout = about->layout, .size = mel_layout_size(&about->layout) };
    reading r = { .table = table,
                  .about = about,
                  .n_columns = mel_table_columns(table),
                  .k = about->layout.n_classes,
                  .m = about->layout.n_groups > 1 ? about->layout.n_groups : 1 };
    matrix x = { .entry = NULL };
    r.column = mel_alloc_zero(r.n_columns, sizeof *r.column);
    if (r.column == NULL)
        return mel_fail_memory(err, "the columns of a pool");
    mel_status status = understand_columns(&r, err);
    if (status == MEL_OK)
        status = make_rooms(out, &r, &x, err);
    if (status == MEL_OK && x.total != NULL)
        status = read_rows(out, &r, &x, err);
    free(r.column);
    free(x.entry);
    if (status != MEL_OK)
        mel_pool_clear(out);
    return status;
}

mel_status mel_pool_read(mel_pool *out, const char *path, const mel_pool_about *about,
                         const mel_read_options *read, mel_error *err)
{
    *out = (mel_pool){ .n = 0 };
    const mel_input input = { .path = (char *)(uintptr_t)path };
    mel_table *table = NULL;
    size_t n = 0;
    char **name = mel_pool_names(&n, about);
    mel_status status = name != NULL ? mel_pool_table(&table, &input, n, (const char *const *)name, read, err)
                                     : mel_fail_memory(err, "the names of columns");
    mel_names_free(name, n);
    if (status == MEL_OK)
        status = mel_pool_of_table(out, table, about, err);
    mel_table_free(table);
    return status;
}
