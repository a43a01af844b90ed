/* A pool of classifiers: from a file of any form to the matrix of each of them, and to statistics. */
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double rounding = MEL_POOL_ROUNDING, sum_slack = 1e-9, nothing = 1e-9;

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

/* --- the sheet ------------------------------------------------------------------------------------ */

void mel_pool_sheet_clear(mel_pool_sheet *sheet)
{
    mel_names_free(sheet->classifier, sheet->n);
    mel_names_free(sheet->column, sheet->n_columns);
    free(sheet->file);
    free(sheet->value);
    free(sheet->text);
    *sheet = (mel_pool_sheet){ 0 };
}

/* Room for n classifiers and n_columns columns without names. */
static mel_status new_sheet(mel_pool_sheet *out, const mel_table *table, size_t n, size_t n_columns,
                            mel_error *err)
{
    const mel_format format = mel_table_format(table);
    *out = (mel_pool_sheet){ .n = n,
                             .n_columns = n_columns,
                             .file = mel_strdup(mel_table_name(table)),
                             .classifier = mel_alloc_zero(n, sizeof *out->classifier),
                             .column = mel_alloc_zero(n_columns, sizeof *out->column),
                             .value = mel_alloc(n, n_columns * sizeof *out->value),
                             .text = mel_alloc_zero(n_columns, sizeof *out->text),
                             .named = mel_table_has_header(table),
                             .array = format == MEL_FORMAT_NPY || format == MEL_FORMAT_NPZ,
                             .matrix = mel_table_matrix(table) };
    return out->file != NULL && out->classifier != NULL && out->column != NULL && out->value != NULL &&
                   out->text != NULL
               ? MEL_OK
               : mel_fail_memory(err, "a pool of classifiers");
}

static size_t find_column(const mel_table *table, const char *name)
{
    size_t column = 0;
    while (column < mel_table_columns(table) && strcasecmp(mel_table_column_name(table, column), name) != 0)
        column++;
    return column;
}

/* What a classifier is called; for the caller to free(), NULL when memory runs out. */
static char *name_of(const mel_table *table, size_t row)
{
    const size_t column = find_column(table, "name");
    const bool there = column < mel_table_columns(table);
    const uint32_t *code = there ? mel_table_codes(table, column) : NULL;
    const double *value = there ? mel_table_numbers(table, column) : NULL;
    if (code != NULL && code[row] != MEL_MISSING)
        return mel_strdup(mel_table_category(table, column, code[row]));
    char number[32];
    if (value != NULL && isfinite(value[row]))
        (void)mel_print(number, sizeof number, "%.15g", value[row]);
    else
        (void)snprintf(number, sizeof number, "%zu", row + 1);
    return mel_strdup(number);
}

/* A row of the table is a classifier. */
static mel_status copy_rows(mel_pool_sheet *out, const mel_table *table, mel_error *err)
{
    const size_t n_columns = mel_table_columns(table);
    TRY(new_sheet(out, table, mel_table_rows(table), n_columns, err));
    bool enough = true;
    for (size_t i = 0; i < out->n; i++)
        enough = (out->classifier[i] = name_of(table, i)) != NULL && enough;
    for (size_t c = 0; c < n_columns; c++) {
        const double *number = mel_table_numbers(table, c);
        enough = (out->column[c] = mel_strdup(mel_table_column_name(table, c))) != NULL && enough;
        out->text[c] = number == NULL;
        for (size_t i = 0; i < out->n; i++)
            out->value[i * n_columns + c] = number != NULL ? number[i] : (double)NAN;
    }
    return enough ? MEL_OK : mel_fail_memory(err, "the names of classifiers");
}

/* A table with a row for each true class of each classifier: the columns "name" and "true"; all others are
 * predicted classes. */
typedef struct {
    const mel_table *table;
    size_t name, truth, n_columns;
    size_t *place; /* n_names x n_columns: the row for that true class, or SIZE_MAX */
} long_form;

static bool is_class(const long_form *f, size_t column)
{
    return column != f->name && column != f->truth;
}

/* What a cell of column "true" says. */
static const char *true_class(char number[32], const long_form *f, size_t row)
{
    const uint32_t *code = mel_table_codes(f->table, f->truth);
    if (code != NULL)
        return code[row] != MEL_MISSING ? mel_table_category(f->table, f->truth, code[row]) : "";
    (void)mel_print(number, 32, "%.15g", mel_table_numbers(f->table, f->truth)[row]);
    return number;
}

/* The column of the row's true class; n_columns: there is none. */
static size_t class_column(const long_form *f, size_t row)
{
    char number[32];
    const char *truth = true_class(number, f, row);
    for (size_t any = 0; any < 2; any++)
        for (size_t c = 0; c < f->n_columns; c++) {
            const char *name = mel_table_column_name(f->table, c);
            if (is_class(f, c) && (any ? mel_same_class_name(truth, name) : strcmp(truth, name) == 0))
                return c;
        }
    return f->n_columns;
}

/* Numbers under "true" may also be shares of a class that is called so. */
static bool is_long(const long_form *f)
{
    if (!mel_table_has_header(f->table) || f->name == f->n_columns || f->truth == f->n_columns ||
        mel_table_codes(f->table, f->name) == NULL)
        return false;
    bool classes = true;
    for (size_t i = 0; i < mel_table_rows(f->table); i++)
        classes = classes && class_column(f, i) < f->n_columns;
    return classes || mel_table_codes(f->table, f->truth) != NULL;
}

static mel_status place_row(const long_form *f, size_t row, mel_error *err)
{
    char number[32];
    const char *file = mel_table_name(f->table), *truth = true_class(number, f, row);
    const uint32_t code = mel_table_codes(f->table, f->name)[row];
    const size_t at = mel_table_row_number(f->table, row), column = class_column(f, row);
    if (code == MEL_MISSING)
        return mel_fail(err, MEL_EDATA, "%s: row %zu: the classifier has no name", file, at);
    if (column == f->n_columns)
        return mel_fail(err, MEL_EDATA,
                        "%s: row %zu, column \"%s\": \"%s\" is not one of the predicted classes that the "
                        "columns behind name",
                        file, at, mel_table_column_name(f->table, f->truth), truth);
    size_t *place = &f->place[code * f->n_columns + column];
    if (*place != SIZE_MAX)
        return mel_fail(
            err, MEL_EDATA, "%s: rows %zu and %zu are both of classifier \"%s\" and true class \"%s\"", file,
            mel_table_row_number(f->table, *place), at, mel_table_category(f->table, f->name, code), truth);
    *place = row;
    return MEL_OK;
}

static mel_status place_rows(const long_form *f, mel_error *err)
{
    const size_t n = mel_table_categories(f->table, f->name);
    for (size_t i = 0; i < n * f->n_columns; i++)
        f->place[i] = SIZE_MAX;
    for (size_t i = 0; i < mel_table_rows(f->table); i++)
        TRY(place_row(f, i, err));
    for (size_t i = 0; i < n * f->n_columns; i++)
        if (is_class(f, i % f->n_columns) && f->place[i] == SIZE_MAX)
            return mel_fail(err, MEL_EDATA, "%s: classifier \"%s\" has no row with true class \"%s\"",
                            mel_table_name(f->table),
                            mel_table_category(f->table, f->name, (uint32_t)(i / f->n_columns)),
                            mel_table_column_name(f->table, i % f->n_columns));
    for (size_t c = 0; c < f->n_columns; c++)
        if (is_class(f, c) && mel_table_numbers(f->table, c) == NULL)
            return mel_fail(err, MEL_EDATA, "%s: column \"%s\" holds texts, not numbers",
                            mel_table_name(f->table), mel_table_column_name(f->table, c));
    return MEL_OK;
}

/* A row of the sheet for each classifier, a column "true>predicted" for each entry. */
static mel_status join_rows(mel_pool_sheet *out, const long_form *f, mel_error *err)
{
    const size_t k = f->n_columns - 2;
    TRY(place_rows(f, err));
    TRY(new_sheet(out, f->table, mel_table_categories(f->table, f->name), k * k, err));
    bool enough = true;
    for (size_t i = 0; i < out->n; i++)
        enough =
            (out->classifier[i] = mel_strdup(mel_table_category(f->table, f->name, (uint32_t)i))) != NULL &&
            enough;
    size_t at = 0;
    for (size_t t = 0; t < f->n_columns; t++)
        for (size_t c = 0; c < f->n_columns; c++) {
            if (!is_class(f, t) || !is_class(f, c))
                continue;
            const char *truth = mel_table_column_name(f->table, t),
                       *said = mel_table_column_name(f->table, c);
            const size_t room = strlen(truth) + strlen(said) + 2;
            out->column[at] = mel_alloc(room, 1);
            enough = out->column[at] != NULL && enough;
            if (out->column[at] != NULL)
                (void)snprintf(out->column[at], room, "%s>%s", truth, said);
            const double *number = mel_table_numbers(f->table, c);
            for (size_t i = 0; i < out->n; i++)
                out->value[i * k * k + at] = number[f->place[i * f->n_columns + t]];
            at++;
        }
    return enough ? MEL_OK : mel_fail_memory(err, "the names of classifiers");
}

mel_status mel_pool_sheet_read(mel_pool_sheet *out, const char *key, const char *given,
                               const mel_resources *resources, size_t n_names, const char *const *name,
                               const mel_read_options *read, mel_error *err)
{
    MEL_AUTO(mel_table) *table = NULL;
    mel_read_options expecting = *read;
    expecting.row_name = "name";
    expecting.matrices = true;
    TRY(mel_input_table_named(&table, key, given, resources, n_names, name, &expecting, err));
    const long_form f = { .table = table,
                          .name = find_column(table, "name"),
                          .truth = find_column(table, "true"),
                          .n_columns = mel_table_columns(table) };
    if (!is_long(&f))
        return copy_rows(out, table, err);
    MEL_ARRAY(size_t, place, mel_table_categories(table, f.name) * f.n_columns,
              "the rows of a pool of classifiers", err);
    return join_rows(out, &(long_form){ table, f.name, f.truth, f.n_columns, place }, err);
}

/* --- one classifier ------------------------------------------------------------------------------- */

typedef struct {
    const mel_pool_sheet *sheet;
    const mel_pool_about *about;
    size_t k, m; /* classes, groups (1 where there are none) */
    mel_pool_column *column;
    bool counts; /* entries are counts of rows */
} reading;

/* The k x k entries per group of one classifier, NaN where they are not known, as shares of all rows or as
 * rates. */
typedef struct {
    double *entry;
    bool shares;
    /* With counts: how many rows of each class in each group, NaN where unknown; and the total, by group
     * where the layout asks for rates. */
    double *rows, *total;
} confusion;

static double number_at(const reading *r, size_t column, size_t row)
{
    return r->sheet->value[row * r->sheet->n_columns + column];
}

static bool is_entry(mel_pool_column_kind kind)
{
    return kind == MEL_COLUMN_ENTRY || kind == MEL_COLUMN_SHARE;
}

static size_t entry_place(const reading *r, const mel_pool_column *c)
{
    return (c->group * r->k + c->truth) * r->k + c->said;
}

/* --- from shares, counts or rates to a matrix ------------------------------------------------------ */

static mel_status refuse_cell(const reading *r, size_t row, size_t column, const char *why, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: %.9g %s", r->sheet->file, row + 1,
                    r->sheet->column[column], number_at(r, column, row), why);
}

static mel_status check_cell(const reading *r, size_t row, size_t column, mel_error *err)
{
    const mel_pool_column_kind kind = r->column[column].kind;
    if (kind == MEL_COLUMN_NAME)
        return MEL_OK;
    const double value = number_at(r, column, row);
    if (isnan(value))
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: the number is missing",
                        r->sheet->file, row + 1, r->sheet->column[column]);
    const bool whole = value == floor(value), share = value >= 0.0 && value <= 1.0;
    if (kind == MEL_COLUMN_TOTAL)
        return whole && value > 0.0 ? MEL_OK : refuse_cell(r, row, column, "is not a number of rows", err);
    if (is_entry(kind) && value > 1.0 && !whole)
        return refuse_cell(r, row, column, "is neither a share between 0 and 1 nor a whole count", err);
    if (is_entry(kind) && r->counts)
        return whole && value >= 0.0
                   ? MEL_OK
                   : refuse_cell(r, row, column, "is not a count of rows, but other numbers in the file are",
                                 err);
    return share ? MEL_OK : refuse_cell(r, row, column, "is not a share between 0 and 1", err);
}

/* Whether the numbers are shares or counts, and each of them can be. */
static mel_status check_pool_numbers(reading *r, mel_error *err)
{
    const size_t n = r->sheet->n;
    for (size_t c = 0; c < r->sheet->n_columns; c++)
        for (size_t i = 0; i < n && is_entry(r->column[c].kind); i++)
            r->counts =
                r->counts || (number_at(r, c, i) > 1.0 && number_at(r, c, i) == floor(number_at(r, c, i)));
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < r->sheet->n_columns; c++)
            TRY(check_cell(r, i, c, err));
    return MEL_OK;
}

/* Sum of the entries of one true class in one group; NaN unless all are there. */
static double row_sum(const reading *r, const confusion *x, size_t which)
{
    double sum = 0.0;
    for (size_t j = 0; j < r->k; j++)
        sum += x->entry[which * r->k + j];
    return sum;
}

/* How many rows columns n say that there are, in one group or (SIZE_MAX) in all; NaN: nobody says. */
static double rows_said(const reading *r, size_t row, size_t group)
{
    double said = NAN;
    for (size_t c = 0; c < r->sheet->n_columns; c++)
        if (r->column[c].kind == MEL_COLUMN_TOTAL && (group == SIZE_MAX || r->column[c].group == group))
            said = (isnan(said) ? 0.0 : said) + number_at(r, c, row);
    return said;
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
                        r->sheet->file, row + 1);
    if (!isnan(said) && !isnan(sum) && said != sum)
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu: the counts add up to %.9g, n is %.9g",
                        r->sheet->file, row + 1, sum, said);
    *total = isnan(said) ? sum : said;
    return *total > 0.0
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s: classifier %zu: all counts are 0", r->sheet->file, row + 1);
}

/* Shares of all rows; for rates, of the rows of each group. */
static mel_status divide_counts(confusion *x, const reading *r, size_t row, mel_error *err)
{
    const bool apart = r->about->layout.kind == MEL_RATES;
    const size_t parts = apart ? r->m : 1, n = r->m * r->k * r->k / parts;
    for (size_t i = 0; i < r->m * r->k; i++)
        x->rows[i] = row_sum(r, x, i);
    for (size_t part = 0; part < parts; part++) {
        double *total = &x->total[part];
        const double said = rows_said(r, row, apart ? part : SIZE_MAX);
        TRY(find_total(total, x->entry + part * n, n, said, r, row, err));
        for (size_t i = 0; i < n; i++)
            x->entry[part * n + i] /= *total;
    }
    return MEL_OK;
}

/* The entries that the columns of a row give, and how many rows they are of. */
static mel_status fill_matrix(confusion *x, const reading *r, size_t row, mel_error *err)
{
    x->shares = r->counts || r->about->layout.kind == MEL_CONFUSION;
    for (size_t i = 0; i < r->m * r->k * r->k; i++)
        x->entry[i] = NAN;
    for (size_t i = 0; i < r->m * r->k; i++)
        x->rows[i] = x->total[i / r->k] = NAN;
    for (size_t c = 0; c < r->sheet->n_columns; c++) {
        if (!is_entry(r->column[c].kind))
            continue;
        double *to = &x->entry[entry_place(r, &r->column[c])];
        if (!isnan(*to))
            return mel_fail(err, MEL_EDATA, "%s: column %s appears under another name already",
                            r->sheet->file, r->sheet->column[c]);
        *to = number_at(r, c, row);
    }
    return r->counts ? divide_counts(x, r, row, err) : MEL_OK;
}

/* Rates out of counts, or of a whole matrix of shares. */
static mel_status make_rates(confusion *x, const reading *r, size_t row, mel_error *err)
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
                        r->sheet->file, row + 1);
    for (size_t i = 0; i < r->m * r->k; i++) {
        const double sum = row_sum(r, x, i);
        if (!(sum > 0.0))
            return mel_fail(
                err, MEL_EDATA,
                "%s: classifier %zu: the rates of class \"%s\" cannot be computed: it has no rows, "
                "or not all of its entries are there",
                r->sheet->file, row + 1, r->about->class_name[i % r->k]);
        for (size_t j = 0; j < r->k; j++)
            x->entry[i * r->k + j] /= sum;
    }
    return MEL_OK;
}

/* Shares of all rows add up to 1 at most, and to 1 where all are there. */
static mel_status check_shares(const confusion *x, const reading *r, size_t row, mel_error *err)
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
                        r->sheet->file, row + 1, sum);
    return known < n || sum >= 1.0 - rounding
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s: classifier %zu: the whole matrix adds up to %g, not 1",
                          r->sheet->file, row + 1, sum);
}

/* The wrong decisions about a class are not more than all. */
static mel_status check_rates(const confusion *x, const reading *r, size_t row, mel_error *err)
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
                            r->sheet->file, row + 1, r->about->class_name[i % r->k], sum);
    }
    return MEL_OK;
}

/* --- two classes: whatever determines the matrix ---------------------------------------------------- */

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

static void add_columns(equations *e, const reading *r, const confusion *x, size_t group, size_t row,
                        double prevalence)
{
    const mel_pool_formula *positives = mel_pool_formula_of("prevalence");
    bool rates_only = r->about->layout.kind == MEL_RATES && isnan(prevalence);
    for (size_t c = 0; c < r->sheet->n_columns; c++) {
        const mel_pool_column *column = &r->column[c];
        if (column->group != group || column->kind == MEL_COLUMN_NAME || column->kind == MEL_COLUMN_TOTAL)
            continue;
        mel_pool_formula own = { 0 };
        const mel_pool_formula *formula = column->formula;
        if (is_entry(column->kind)) { /* a share of all rows, or of its class */
            const bool share = column->kind == MEL_COLUMN_SHARE || x->shares;
            own.part[2 * column->truth + column->said] = 1.0;
            for (size_t cell = 0; cell < 4; cell++)
                own.whole[cell] = share || cell / 2 == column->truth ? 1.0 : 0.0;
            formula = &own;
        }
        /* Formulas about one class: rates are the same for any prevalence. */
        const bool of_class = (formula->whole[TN] > 0.0 || formula->whole[FP] > 0.0) !=
                              (formula->whole[FN] > 0.0 || formula->whole[TP] > 0.0);
        rates_only = rates_only && of_class;
        const double value =
            is_entry(column->kind) && r->counts ? x->entry[entry_place(r, column)] : number_at(r, c, row);
        add_equation(e, formula->part, formula->whole, value);
    }
    if (!isnan(prevalence) || rates_only)
        add_equation(e, positives->part, everything, isnan(prevalence) ? 0.5 : prevalence);
    add_equation(e, everything, everything, 1.0);
}

/* Gauss-Jordan; found[i] is NaN where unknown i is not determined. False when two equations contradict each
 * other by more than rounding. */
static bool solve_equations(double found[UNKNOWNS], equations *e)
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
                r->sheet->file, row + 1, found[u]);
        found[u] = found[u] < 0.0 ? 0.0 : found[u] > 1.0 ? 1.0 : found[u];
    }
    if (found[TP] + found[TN] > 1.0 + rounding)
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu: shares %g and %g add up to more than 1",
                        r->sheet->file, row + 1, found[TP], found[TN]);
    return MEL_OK;
}

static mel_status solve_with(double found[UNKNOWNS], const reading *r, const confusion *x, size_t group,
                             size_t row, double prevalence, mel_error *err)
{
    equations e = { .n = 0 };
    add_columns(&e, r, x, group, row, prevalence);
    return solve_equations(found, &e)
               ? check_found(found, r, row, err)
               : mel_fail(err, MEL_EDATA,
                          "%s: classifier %zu: its numbers contradict each other by more than "
                          "rounding explains",
                          r->sheet->file, row + 1);
}

/* Two classes: the four entries of one group, in the layout's kind, and the share of positives, by all that
 * the columns say. */
static mel_status solve_two(confusion *x, double *positives, const reading *r, size_t group, size_t row,
                            mel_error *err)
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

static mel_status refuse_undetermined(const reading *r, size_t row, size_t group, size_t truth, size_t said,
                                      mel_error *err)
{
    const char *const *name = r->about->class_name;
    const char *before = r->m > 1 ? r->about->group_name[group] : "", *colon = r->m > 1 ? ":" : "";
    if (r->k == 2)
        return mel_fail(
            err, MEL_EDATA,
            "%s: classifier %zu: its columns do not determine %s%sthe %s of \"%s\" called \"%s\"; give tp "
            "and tn, or rates with the share of the positive class (a column prevalence, or shares=P)",
            r->sheet->file, row + 1, before, colon, r->about->layout.kind == MEL_RATES ? "rate" : "share",
            name[truth], name[said]);
    return truth == said ? mel_fail(err, MEL_EDATA,
                                    "%s: no column \"%s%s%s\", the share of right decisions about that class",
                                    r->sheet->file, before, colon, name[truth])
                         : mel_fail(err, MEL_EDATA, "%s: no column \"%s%s%s>%s\"", r->sheet->file, before,
                                    colon, name[truth], name[said]);
}

/* The layout's coordinates out of the matrix. */
static mel_status take_coordinates(double *out, const confusion *x, const reading *r, size_t row,
                                   mel_error *err)
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
                    return refuse_undetermined(r, row, g, truth, said, err);
                out[at++] = value;
            }
    return MEL_OK;
}

/* The confusion matrix: what was counted, or shares of all rows, of which columns n or counts of everything
 * say how many there are. Of rates alone there is none. */
static void keep_matrix(double *out, double *rows, const confusion *x, const reading *r, size_t row)
{
    const size_t n = r->m * r->k * r->k;
    for (size_t c = 0; c < n; c++)
        out[c] = NAN;
    for (size_t c = 0; c < r->sheet->n_columns && r->counts; c++)
        if (is_entry(r->column[c].kind))
            out[entry_place(r, &r->column[c])] = number_at(r, c, row);
    double sum = 0.0;
    for (size_t c = 0; c < n; c++)
        sum += out[c];
    const double said = rows_said(r, row, SIZE_MAX);
    *rows = !isnan(said) ? said : r->counts ? sum : NAN;
    if (r->about->layout.kind == MEL_CONFUSION)
        for (size_t c = 0; c < n; c++)
            out[c] = x->entry[c] * (isnan(*rows) ? 1.0 : *rows);
}

static mel_status read_row(mel_pool *out, confusion *x, const reading *r, size_t row, mel_error *err)
{
    const bool rates = r->about->layout.kind == MEL_RATES, two = r->k == 2 && (r->m == 1 || rates);
    double *positives = &out->positives[row];
    *positives = NAN;
    TRY(fill_matrix(x, r, row, err));
    for (size_t g = 0; g < r->m && two; g++)
        TRY(solve_two(x, positives, r, g, row, err));
    if (!two && rates)
        TRY(make_rates(x, r, row, err));
    if (!two)
        TRY(rates ? check_rates(x, r, row, err) : check_shares(x, r, row, err));
    keep_matrix(out->matrix + row * out->cells, &out->rows[row], x, r, row);
    memcpy(out->class_rows + row * r->m * r->k, x->rows, r->m * r->k * sizeof *x->rows);
    return take_coordinates(out->value + row * out->size, x, r, row, err);
}

/* --- all of them ---------------------------------------------------------------------------------- */

static mel_status read_rows(mel_pool *out, const reading *r, mel_error *err)
{
    const size_t n = r->sheet->n, parts = r->m * r->k;
    out->cells = parts * r->k;
    out->name = mel_names_copy(n, (const char *const *)r->sheet->classifier, 0);
    out->n = out->name != NULL ? n : 0;
    out->value = mel_alloc_zero(n, out->size * sizeof *out->value);
    out->positives = mel_alloc_zero(n, sizeof *out->positives);
    out->class_rows = mel_alloc_zero(n, parts * sizeof *out->class_rows);
    out->matrix = mel_alloc_zero(n, out->cells * sizeof *out->matrix);
    out->rows = mel_alloc_zero(n, sizeof *out->rows);
    MEL_AUTO_MEMORY double *entry = mel_alloc_zero(parts * r->k + parts + r->m, sizeof *entry);
    TRY(MEL_NEED(out->name != NULL && out->value != NULL && out->positives != NULL &&
                     out->class_rows != NULL && out->matrix != NULL && out->rows != NULL && entry != NULL,
                 "a pool of classifiers", err));
    confusion x = { .entry = entry, .rows = entry + parts * r->k, .total = entry + parts * r->k + parts };
    for (size_t i = 0; i < n; i++)
        TRY(read_row(out, &x, r, i, err));
    return MEL_OK;
}

mel_status mel_pool_of_sheet(mel_pool *out, const mel_pool_sheet *sheet, const mel_pool_about *about,
                             mel_error *err)
{
    MEL_AUTO_CLEAR(mel_pool) pool = { .layout = about->layout, .size = mel_layout_size(&about->layout) };
    MEL_AUTO_MEMORY mel_pool_column *column = mel_alloc_zero(sheet->n_columns, sizeof *column);
    reading r = { .sheet = sheet,
                  .about = about,
                  .k = about->layout.n_classes,
                  .m = about->layout.n_groups > 1 ? about->layout.n_groups : 1,
                  .column = column };
    *out = (mel_pool){ .n = 0 };
    TRY(MEL_NEED(column, "the columns of a pool", err));
    if (!isnan(about->prevalence) && (r.k != 2 || r.m > 1))
        return mel_fail(err, MEL_EINVAL,
                        "shares=P is the share of the positive one of two classes; here there are %zu "
                        "classes%s",
                        r.k, r.m > 1 ? ", in groups (columns group:prevalence may say it)" : "");
    TRY(mel_pool_columns(column, sheet, about, err));
    TRY(check_pool_numbers(&r, err));
    TRY(read_rows(&pool, &r, err));
    return MEL_GIVE_STRUCT(out, pool);
}

/* The sheet of a file whose header may have the names of `about`. */
static mel_status read_sheet(mel_pool_sheet *out, const char *path, const mel_pool_about *about,
                             const mel_read_options *read, mel_error *err)
{
    static const mel_resources none = { 0 };
    size_t n = 0;
    char **name = mel_pool_names(&n, about);
    const mel_status status = name != NULL ? mel_pool_sheet_read(out, "candidates", path, &none, n,
                                                                 (const char *const *)name, read, err)
                                           : mel_fail_memory(err, "the names of columns");
    mel_names_free(name, n);
    return status;
}

mel_status mel_pool_read(mel_pool *out, const char *path, const mel_pool_about *about,
                         const mel_read_options *read, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_pool_sheet) sheet = { 0 };
    *out = (mel_pool){ .n = 0 };
    TRY(read_sheet(&sheet, path, about, read, err));
    return mel_pool_of_sheet(out, &sheet, about, err);
}

/* Entries of the matrix and groups; other columns say nothing about names. */
static mel_status survey_columns(mel_pool_header *out, const mel_pool_sheet *sheet, mel_error *err)
{
    static const char *const roles[] = { "negative", "positive" };
    for (size_t c = 0; sheet->named && c < sheet->n_columns; c++) {
        const char *text = sheet->column[c], *colon = strchr(text, ':');
        if (colon != NULL) {
            TRY(mel_name_set_add(&out->groups, text, (size_t)(colon - text), err));
            text = colon + 1;
        }
        if (strchr(text, '>') != NULL)
            TRY(mel_pool_header_name(out, text, sheet->file, err));
    }
    for (size_t i = 0; i < sheet->matrix; i++) {
        char number[24]; /* they have no names */
        const int length = snprintf(number, sizeof number, "%zu", i + 1);
        TRY(mel_name_set_add(&out->classes, number, (size_t)length, err));
    }
    for (size_t i = out->classes.n; i < 2; i++)
        TRY(mel_name_set_add(&out->classes, roles[i], strlen(roles[i]), err));
    return MEL_OK;
}

mel_status mel_pool_survey(char ***class_name, size_t *n_classes, char ***group_name, size_t *n_groups,
                           const char *path, const mel_read_options *read, mel_error *err)
{
    static const char *const roles[] = { "negative", "positive" };
    const mel_pool_about two = { .layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 }, .class_name = roles };
    MEL_AUTO_CLEAR(mel_pool_header) header = { .entries = false };
    MEL_AUTO_CLEAR(mel_pool_sheet) sheet = { 0 };
    TRY(read_sheet(&sheet, path, &two, read, err));
    TRY(survey_columns(&header, &sheet, err));
    *class_name = header.classes.name;
    *n_classes = header.classes.n;
    *group_name = header.groups.name;
    *n_groups = header.groups.n;
    header = (mel_pool_header){ .entries = false };
    return MEL_OK;
}
