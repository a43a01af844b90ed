/* From the columns of a pool to statistics: shares, counts and rates become what the layout is about. */
#include "pool.h"
#include "base/names.h"
#include "data/shared.h"
#include "metric_file.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double rounding = 1e-3; /* how far numbers that were rounded may contradict each other */
static const double sum_slack = 1e-9, nothing = 1e-9;

void cli_pool_clear(cli_pool *pool)
{
    mel_names_free(pool->name, pool->n);
    free(pool->value);
    free(pool->positives);
    free(pool->matrix);
    free(pool->rows);
    *pool = (cli_pool){ 0 };
}

/* A pool being read. */
typedef struct {
    const mel_table *table;
    const cli_pool_about *about;
    size_t n_columns, k, m; /* columns, classes, groups (1 where there are none) */
    cli_column *column;
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

static bool is_entry(cli_column_kind kind)
{
    return kind == CLI_COLUMN_ENTRY || kind == CLI_COLUMN_SHARE;
}

static mel_status refuse_cell(const reading *r, size_t row, size_t column, const char *why, mel_error *err)
{
    return cli_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: %.9g %s", file_of(r), row + 1,
                    mel_table_column_name(r->table, column), number(r, column, row), why);
}

/* --- shares or counts ---------------------------------------------------------------------------- */

static mel_status check_cell(const reading *r, size_t row, size_t column, mel_error *err)
{
    const cli_column_kind kind = r->column[column].kind;
    if (kind == CLI_COLUMN_NAME)
        return MEL_OK;
    const double value = number(r, column, row);
    if (isnan(value))
        return cli_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: the number is missing", file_of(r),
                        row + 1, mel_table_column_name(r->table, column));
    const bool whole = value == floor(value), share = value >= 0.0 && value <= 1.0;
    if (kind == CLI_COLUMN_TOTAL)
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
} matrix;

static double *entry_at(const reading *r, const matrix *x, const cli_column *c)
{
    return &x->entry[(c->group * r->k + c->truth) * r->k + c->said];
}

/* How many rows the counts from `first` on are of: column n, else all of them together. */
static mel_status find_total(double *total, const double *count, size_t n, double said, const reading *r,
                             size_t row, mel_error *err)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += count[i];
    if (isnan(said) && isnan(sum))
        return cli_fail(err, MEL_EDATA,
                        "%s: classifier %zu: the numbers are counts, and not all of the matrix is there to "
                        "add them up; give the missing ones or a column n, the number of rows",
                        file_of(r), row + 1);
    if (!isnan(said) && !isnan(sum) && said != sum)
        return cli_fail(err, MEL_EDATA, "%s: classifier %zu: the counts add up to %.9g, n is %.9g",
                        file_of(r), row + 1, sum, said);
    *total = isnan(said) ? sum : said;
    return *total > 0.0
               ? MEL_OK
               : cli_fail(err, MEL_EDATA, "%s: classifier %zu: all counts are 0", file_of(r), row + 1);
}

/* Shares of all rows; for rates, of the rows of each group. */
static mel_status divide_counts(matrix *x, const reading *r, size_t row, mel_error *err)
{
    const bool apart = r->about->layout.kind == MEL_RATES;
    const size_t parts = apart ? r->m : 1, n = r->m * r->k * r->k / parts;
    mel_status status = MEL_OK;
    for (size_t part = 0; part < parts && status == MEL_OK; part++) {
        double said = NAN, total = 1.0;
        for (size_t c = 0; c < r->n_columns; c++)
            if (r->column[c].kind == CLI_COLUMN_TOTAL && (!apart || r->column[c].group == part))
                said = (isnan(said) ? 0.0 : said) + number(r, c, row);
        status = find_total(&total, x->entry + part * n, n, said, r, row, err);
        for (size_t i = 0; i < n && status == MEL_OK; i++)
            x->entry[part * n + i] /= total;
    }
    return status;
}

static mel_status fill_matrix(matrix *x, const reading *r, size_t row, mel_error *err)
{
    x->shares = r->counts || r->about->layout.kind == MEL_CONFUSION;
    for (size_t i = 0; i < r->m * r->k * r->k; i++)
        x->entry[i] = NAN;
    for (size_t c = 0; c < r->n_columns; c++) {
        if (!is_entry(r->column[c].kind))
            continue;
        double *to = entry_at(r, x, &r->column[c]);
        if (!isnan(*to))
            return cli_fail(err, MEL_EDATA, "%s: column %s is there under another name already", file_of(r),
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
static void add_entry(equations *e, const cli_column *c, double value, bool rate)
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
        const cli_column *column = &r->column[c];
        if (column->group != group || column->kind == CLI_COLUMN_NAME || column->kind == CLI_COLUMN_TOTAL)
            continue;
        const bool share =
            column->kind == CLI_COLUMN_SHARE || (column->kind == CLI_COLUMN_ENTRY && x->shares);
        rates_only = rates_only && !share && column->kind != CLI_COLUMN_PRECISION &&
                     column->kind != CLI_COLUMN_PREVALENCE;
        const double value =
            is_entry(column->kind) && r->counts ? *entry_at(r, x, column) : number(r, c, row);
        if (column->kind == CLI_COLUMN_PREVALENCE) {
            add_prevalence(e, value);
        } else if (column->kind == CLI_COLUMN_PRECISION) { /* TP = value (TP + FP) */
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
            return cli_fail(
                err, MEL_EDATA,
                "%s: classifier %zu: no classifier has such numbers; one of its shares would be %.6g",
                file_of(r), row + 1, found[u]);
        found[u] = found[u] < 0.0 ? 0.0 : found[u] > 1.0 ? 1.0 : found[u];
    }
    if (found[TP] + found[TN] > 1.0 + rounding)
        return cli_fail(err, MEL_EDATA, "%s: classifier %zu: shares %g and %g add up to more than 1",
                        file_of(r), row + 1, found[TP], found[TN]);
    return MEL_OK;
}

static mel_status solve_with(double found[UNKNOWNS], const reading *r, const matrix *x, size_t group,
                             size_t row, double prevalence, mel_error *err)
{
    equations e = { .n = 0 };
    add_columns(&e, r, x, group, row, prevalence);
    return solve(found, &e) ? check_found(found, r, row, err)
                            : cli_fail(err, MEL_EDATA,
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
    return MEL_OK;
}

/* --- more classes --------------------------------------------------------------------------------- */

/* Of the entries of one true class in one group; NaN unless all are there. */
static double row_sum(const reading *r, const matrix *x, size_t which)
{
    double sum = 0.0;
    for (size_t j = 0; j < r->k; j++)
        sum += x->entry[which * r->k + j];
    return sum;
}

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
        return cli_fail(err, MEL_EDATA,
                        "%s: classifier %zu: neither the entries of each true class add up to 1 nor all of "
                        "them together",
                        file_of(r), row + 1);
    for (size_t i = 0; i < r->m * r->k; i++) {
        const double sum = row_sum(r, x, i);
        if (!(sum > 0.0))
            return cli_fail(
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
        return cli_fail(err, MEL_EDATA, "%s: classifier %zu: its shares add up to %g, more than 1",
                        file_of(r), row + 1, sum);
    return known < n || sum >= 1.0 - rounding
               ? MEL_OK
               : cli_fail(err, MEL_EDATA, "%s: classifier %zu: the whole matrix adds up to %g, not 1",
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
            return cli_fail(err, MEL_EDATA,
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
        return cli_fail(
            err, MEL_EDATA,
            "%s: classifier %zu: its columns do not determine %s%sthe %s of \"%s\" called \"%s\"; give tp "
            "and tn, or rates with a prevalence (a column, or --prevalence)",
            file_of(r), row + 1, before, colon, r->about->layout.kind == MEL_RATES ? "rate" : "share",
            name[truth], name[said]);
    return truth == said ? cli_fail(err, MEL_EDATA,
                                    "%s: no column \"%s%s%s\", the share of right decisions about that class",
                                    file_of(r), before, colon, name[truth])
                         : cli_fail(err, MEL_EDATA, "%s: no column \"%s%s%s>%s\"", file_of(r), before, colon,
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
        if (r->column[c].kind == CLI_COLUMN_TOTAL)
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

static mel_status read_row(cli_pool *out, matrix *x, const reading *r, size_t row, mel_error *err)
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

static char *name_of(const mel_table *table, size_t row)
{
    size_t column = 0;
    while (column < mel_table_columns(table) && strcasecmp(mel_table_column_name(table, column), "name") != 0)
        column++;
    const bool there = column < mel_table_columns(table);
    const uint32_t *code = there ? mel_table_codes(table, column) : NULL;
    const double *value = there ? mel_table_numbers(table, column) : NULL;
    if (code != NULL && code[row] != MEL_MISSING)
        return cli_format("%s", mel_table_category(table, column, code[row]));
    return value != NULL && isfinite(value[row]) ? cli_format("%.15g", value[row])
                                                 : cli_format("%zu", row + 1);
}

static mel_status read_rows(cli_pool *out, const reading *r, mel_error *err)
{
    const size_t n = mel_table_rows(r->table);
    out->name = cli_alloc_zero(n, sizeof *out->name);
    out->value = cli_alloc_zero(n * out->size, sizeof *out->value);
    out->positives = cli_alloc_zero(n, sizeof *out->positives);
    out->cells = r->m * r->k * r->k;
    out->matrix = cli_alloc_zero(n * out->cells, sizeof *out->matrix);
    out->rows = cli_alloc_zero(n, sizeof *out->rows);
    matrix x = { .entry = cli_alloc_zero(r->m * r->k * r->k, sizeof *x.entry) };
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        out->name[out->n++] = name_of(r->table, i);
        status = read_row(out, &x, r, i, err);
    }
    free(x.entry);
    return status;
}

static mel_status read_table(mel_table **out, const char *path, const cli_pool_about *about,
                             const mel_read_options *read, mel_error *err)
{
    mel_read_options expecting = *read;
    char **name = cli_pool_names(&expecting.n_expected_names, about);
    expecting.expected_names = (const char *const *)name;
    expecting.row_name = "name";
    const mel_status status = mel_table_read(out, path, &expecting, err);
    mel_names_free(name, expecting.n_expected_names);
    return status;
}

mel_status cli_pool_read(cli_pool *out, const char *path, const cli_pool_about *about,
                         const mel_read_options *read, mel_error *err)
{
    *out = (cli_pool){ .size = mel_layout_size(&about->layout) };
    mel_table *table = NULL;
    mel_status status = read_table(&table, path, about, read, err);
    if (status != MEL_OK)
        return status;
    reading r = { .table = table,
                  .about = about,
                  .n_columns = mel_table_columns(table),
                  .k = about->layout.n_classes,
                  .m = about->layout.n_groups > 1 ? about->layout.n_groups : 1 };
    r.column = cli_alloc_zero(r.n_columns, sizeof *r.column);
    if (!isnan(about->prevalence) && (r.k != 2 || r.m > 1))
        status = cli_fail(err, MEL_EINVAL,
                          "--prevalence is the share of the positive one of two classes; here there are %zu "
                          "classes%s",
                          r.k, r.m > 1 ? ", in groups (columns group:prevalence may say it)" : "");
    if (status == MEL_OK)
        status = cli_pool_columns(r.column, table, about, err);
    if (status == MEL_OK)
        status = check_cells(&r, err);
    if (status == MEL_OK)
        status = read_rows(out, &r, err);
    free(r.column);
    mel_table_free(table);
    if (status != MEL_OK)
        cli_pool_clear(out);
    return status;
}

/* --- what the columns are about ------------------------------------------------------------------- */

static void add_name(char ***name, size_t *n, const char *text, size_t length)
{
    char *fresh = cli_format("%.*s", (int)length, text);
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*name)[i], fresh) == 0) {
            free(fresh);
            return;
        }
    *name = cli_regrow(*name, *n + 1, sizeof **name);
    (*name)[(*n)++] = fresh;
}

mel_status cli_pool_survey(char ***class_name, size_t *n_classes, char ***group_name, size_t *n_groups,
                           const char *path, const mel_read_options *read, mel_error *err)
{
    static const char *const roles[] = { "negative", "positive" };
    const cli_pool_about two = { .layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 }, .class_name = roles };
    mel_table *table = NULL;
    const mel_status status = read_table(&table, path, &two, read, err);
    *n_classes = *n_groups = 0;
    for (size_t c = 0; status == MEL_OK && mel_table_has_header(table) && c < mel_table_columns(table); c++) {
        const char *text = mel_table_column_name(table, c), *colon = strchr(text, ':');
        if (colon != NULL) {
            add_name(group_name, n_groups, text, (size_t)(colon - text));
            text = colon + 1;
        }
        const char *arrow = strchr(text, '>');
        if (arrow != NULL) {
            add_name(class_name, n_classes, text, (size_t)(arrow - text));
            add_name(class_name, n_classes, arrow + 1, strlen(arrow + 1));
        }
    }
    for (size_t i = 0; i < 2 && status == MEL_OK && (*n_classes == 0 || i == 1) && *n_classes < 2; i++)
        add_name(class_name, n_classes, roles[i], strlen(roles[i]));
    mel_table_free(table);
    return status;
}

mel_status cli_metric_pool(cli_pool *out, const char *path, const mel_metric *metric, double prevalence,
                           const mel_read_options *read, mel_error *err)
{
    const cli_pool_about about = { .layout = *mel_metric_layout(metric),
                                   .class_name = mel_metric_class_names(metric),
                                   .group_name = mel_metric_group_names(metric),
                                   .prevalence = prevalence };
    return cli_pool_read(out, path, &about, read, err);
}
