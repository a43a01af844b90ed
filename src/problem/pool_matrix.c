/* The confusion matrix of a classifier of a pool, from shares, counts or rates. */
#include "problem/pool_parts.h"

#include <math.h>

static const double rounding = MEL_POOL_ROUNDING;
static const double sum_slack = 1e-9;

static mel_status refuse_cell(const mel_pool_reading *r, size_t row, size_t column, const char *why,
                              mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: %.9g %s", mel_pool_file(r), row + 1,
                    mel_table_column_name(r->table, column), mel_pool_number(r, column, row), why);
}

/* --- shares or counts ---------------------------------------------------------------------------- */

static mel_status check_cell(const mel_pool_reading *r, size_t row, size_t column, mel_error *err)
{
    const mel_pool_column_kind kind = r->column[column].kind;
    if (kind == MEL_COLUMN_NAME)
        return MEL_OK;
    const double value = mel_pool_number(r, column, row);
    if (isnan(value))
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu, column %s: the number is missing",
                        mel_pool_file(r), row + 1, mel_table_column_name(r->table, column));
    const bool whole = value == floor(value), share = value >= 0.0 && value <= 1.0;
    if (kind == MEL_COLUMN_TOTAL)
        return whole && value > 0.0 ? MEL_OK : refuse_cell(r, row, column, "is not a number of rows", err);
    if (mel_pool_is_entry(kind) && value > 1.0 && !whole)
        return refuse_cell(r, row, column, "is neither a share between 0 and 1 nor a whole count", err);
    if (mel_pool_is_entry(kind) && r->counts)
        return whole && value >= 0.0
                   ? MEL_OK
                   : refuse_cell(r, row, column, "is not a count of rows, but other numbers in the file are",
                                 err);
    return share ? MEL_OK : refuse_cell(r, row, column, "is not a share between 0 and 1", err);
}

mel_status mel_pool_check_cells(mel_pool_reading *r, mel_error *err)
{
    const size_t n = mel_table_rows(r->table);
    for (size_t c = 0; c < r->n_columns; c++)
        for (size_t i = 0; i < n && mel_pool_is_entry(r->column[c].kind); i++)
            r->counts = r->counts || (mel_pool_number(r, c, i) > 1.0 &&
                                      mel_pool_number(r, c, i) == floor(mel_pool_number(r, c, i)));
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        for (size_t c = 0; c < r->n_columns && status == MEL_OK; c++)
            status = check_cell(r, i, c, err);
    return status;
}

/* --- one classifier ------------------------------------------------------------------------------ */

/* Of the entries of one true class in one group; NaN unless all are there. */
static double row_sum(const mel_pool_reading *r, const mel_pool_matrix *x, size_t which)
{
    double sum = 0.0;
    for (size_t j = 0; j < r->k; j++)
        sum += x->entry[which * r->k + j];
    return sum;
}

/* How many rows the counts from `first` on are of: column n, else all of them together. */
static mel_status find_total(double *total, const double *count, size_t n, double said,
                             const mel_pool_reading *r, size_t row, mel_error *err)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += count[i];
    if (isnan(said) && isnan(sum))
        return mel_fail(err, MEL_EDATA,
                        "%s: classifier %zu: the numbers are counts, and not all of the matrix is there to "
                        "add them up; give the missing ones or a column n, the number of rows",
                        mel_pool_file(r), row + 1);
    if (!isnan(said) && !isnan(sum) && said != sum)
        return mel_fail(err, MEL_EDATA, "%s: classifier %zu: the counts add up to %.9g, n is %.9g",
                        mel_pool_file(r), row + 1, sum, said);
    *total = isnan(said) ? sum : said;
    return *total > 0.0
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s: classifier %zu: all counts are 0", mel_pool_file(r), row + 1);
}

/* Shares of all rows; for rates, of the rows of each group. */
static mel_status divide_counts(mel_pool_matrix *x, const mel_pool_reading *r, size_t row, mel_error *err)
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
                said = (isnan(said) ? 0.0 : said) + mel_pool_number(r, c, row);
        status = find_total(&total, x->entry + part * n, n, said, r, row, err);
        for (size_t i = 0; i < n && status == MEL_OK; i++)
            x->entry[part * n + i] /= total;
        x->total[part] = total;
    }
    return status;
}

mel_status mel_pool_fill_matrix(mel_pool_matrix *x, const mel_pool_reading *r, size_t row, mel_error *err)
{
    x->shares = r->counts || r->about->layout.kind == MEL_CONFUSION;
    for (size_t i = 0; i < r->m * r->k * r->k; i++)
        x->entry[i] = NAN;
    for (size_t i = 0; i < r->m * r->k; i++)
        x->rows[i] = x->total[i / r->k] = NAN;
    for (size_t c = 0; c < r->n_columns; c++) {
        if (!mel_pool_is_entry(r->column[c].kind))
            continue;
        double *to = mel_pool_entry(r, x, &r->column[c]);
        if (!isnan(*to))
            return mel_fail(err, MEL_EDATA, "%s: column %s appears under another name already",
                            mel_pool_file(r), mel_table_column_name(r->table, c));
        *to = mel_pool_number(r, c, row);
    }
    return r->counts ? divide_counts(x, r, row, err) : MEL_OK;
}

/* --- more classes --------------------------------------------------------------------------------- */

/* Rates out of counts, or of a whole matrix of shares. */
static mel_status make_rates(mel_pool_matrix *x, const mel_pool_reading *r, size_t row, mel_error *err)
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
                        mel_pool_file(r), row + 1);
    for (size_t i = 0; i < r->m * r->k; i++) {
        const double sum = row_sum(r, x, i);
        if (!(sum > 0.0))
            return mel_fail(
                err, MEL_EDATA,
                "%s: classifier %zu: the rates of class \"%s\" cannot be computed: it has no rows, "
                "or not all of its entries are there",
                mel_pool_file(r), row + 1, r->about->class_name[i % r->k]);
        for (size_t j = 0; j < r->k; j++)
            x->entry[i * r->k + j] /= sum;
    }
    return MEL_OK;
}

/* Shares of all rows add up to 1 at most, and to 1 where all are there. */
static mel_status check_shares(const mel_pool_matrix *x, const mel_pool_reading *r, size_t row,
                               mel_error *err)
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
                        mel_pool_file(r), row + 1, sum);
    return known < n || sum >= 1.0 - rounding
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s: classifier %zu: the whole matrix adds up to %g, not 1",
                          mel_pool_file(r), row + 1, sum);
}

/* The wrong decisions about a class are not more than all. */
static mel_status check_rates(const mel_pool_matrix *x, const mel_pool_reading *r, size_t row, mel_error *err)
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
                            mel_pool_file(r), row + 1, r->about->class_name[i % r->k], sum);
    }
    return MEL_OK;
}

mel_status mel_pool_settle_matrix(mel_pool_matrix *x, const mel_pool_reading *r, size_t row, mel_error *err)
{
    if (r->about->layout.kind == MEL_CONFUSION)
        return check_shares(x, r, row, err);
    TRY(make_rates(x, r, row, err));
    return check_rates(x, r, row, err);
}
