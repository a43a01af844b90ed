/* Runs of the optimiser where no process sees all training rows: the sums at the rules that a run came to,
 * kept, and taken over the rows of one file where others are wanted. */
#include "optimise/passes.h"

#include "base/digest.h"
#include "base/names.h"
#include "data/quote.h"
#include "model/moments.h"

#include <stdlib.h>
#include <string.h>

static mel_weight_size size_of(const mel_passes *p, int threads)
{
    return (mel_weight_size){ .k = p->k,
                              .n_basis = 1,
                              .n_directions = p->whole ? 1 + p->k : 2,
                              .n_groups = 1,
                              .whole = p->whole,
                              .threads = threads };
}

size_t mel_passes_weights(const mel_passes *p)
{
    const mel_weight_size size = size_of(p, 1);
    return mel_weight_cells(&size);
}

size_t mel_passes_totals(const mel_passes *p)
{
    return p->k * size_of(p, 1).n_directions;
}

size_t mel_passes_sums(const mel_passes *p)
{
    const mel_weight_size size = size_of(p, 1);
    return mel_packed_moments(&size);
}

void mel_passes_free(mel_passes *p)
{
    if (p == NULL)
        return;
    mel_names_free(p->class_name, p->k);
    mel_names_free(p->label, p->k);
    mel_names_free(p->file, p->n_files);
    free(p->n_rows);
    free(p->wanted);
    free(p->total);
    free(p->weight);
    free(p->sum);
    free(p);
}

mel_status mel_passes_new(mel_passes **out, size_t n_classes, const char *const *class_name,
                          const char *const *label, mel_weight_shape shape, mel_error *err)
{
    *out = NULL;
    const bool whole = shape == MEL_WEIGHT_WHOLE;
    if (mel_moments_size(MEL_MOMENTS_PASSES, n_classes, whole ? 1 + n_classes : 2) == 0)
        return mel_fail(err, MEL_ELIMIT, "sums of %zu classes are not taken file by file", n_classes);
    mel_passes *p = mel_alloc_zero(1, sizeof *p);
    if (p == NULL)
        return mel_fail_memory(err, "an iterate");
    *p = (mel_passes){ .k = n_classes, .whole = whole };
    p->class_name = mel_names_copy(n_classes, class_name, 0);
    p->label = mel_names_copy(n_classes, label != NULL ? label : class_name, 0);
    p->wanted = mel_alloc_zero(mel_passes_weights(p), sizeof *p->wanted);
    p->total = mel_alloc_zero(mel_passes_totals(p), sizeof *p->total);
    if (p->class_name != NULL && p->label != NULL && p->wanted != NULL && p->total != NULL) {
        *out = p;
        return MEL_OK;
    }
    mel_passes_free(p);
    return mel_fail_memory(err, "an iterate");
}

mel_passes_parts mel_passes_get(const mel_passes *p)
{
    return (mel_passes_parts){ .n_classes = p->k,
                               .class_name = (const char *const *)p->class_name,
                               .label = (const char *const *)p->label,
                               .number_texts = p->number_texts,
                               .whole = p->whole,
                               .waits = p->waits,
                               .n_rules = p->n };
}

void mel_passes_set_number_texts(mel_passes *p, bool yes)
{
    p->number_texts = yes;
}

/* --- as a run sees them ------------------------------------------------------------------------- */

void mel_passes_begin(mel_passes *p)
{
    if (p != NULL)
        p->waits = false;
}

bool mel_passes_end(mel_optimise_result *out, const mel_passes *p)
{
    if (p == NULL || !p->waits)
        return false;
    out->end = MEL_OPTIMISE_WAITS;
    out->failure = (mel_error){ 0 };
    return true;
}

size_t mel_passes_rows(const mel_passes *p)
{
    size_t rows = 0;
    for (size_t i = 0; i < p->n_files; i++)
        rows += p->n_rows[i];
    return rows;
}

static mel_status wait_for(mel_passes *p, const double *weight, mel_error *err)
{
    memcpy(p->wanted, weight, mel_passes_weights(p) * sizeof *weight);
    p->waits = true;
    return mel_fail(err, MEL_ESTATE, "sums over the training rows are needed");
}

mel_status mel_passes_at(double *moment, mel_passes *p, const double *weight, mel_error *err)
{
    const size_t n = mel_passes_weights(p), sums = mel_passes_sums(p);
    for (size_t i = 0; i < p->n; i++)
        if (memcmp(p->weight + i * n, weight, n * sizeof *weight) == 0) {
            memcpy(moment, p->sum + i * sums, sums * sizeof *moment);
            return MEL_OK;
        }
    return wait_for(p, weight, err);
}

mel_status mel_passes_all(double *total, mel_passes *p, const double *first_weight, mel_error *err)
{
    if (p->n == 0)
        return wait_for(p, first_weight, err);
    memcpy(total, p->total, mel_passes_totals(p) * sizeof *total);
    return MEL_OK;
}

/* --- sums of a file ----------------------------------------------------------------------------- */

/* Of a rule and of the classes that it is about. */
static void digest_rule(char digest[MEL_DIGEST_HEX], const mel_passes *p, const double *weight)
{
    char chain[2][MEL_DIGEST_HEX];
    mel_digest(weight, mel_passes_weights(p) * sizeof *weight, chain[0]);
    for (size_t c = 0; c < p->k; c++) {
        mel_digest(p->class_name[c], strlen(p->class_name[c]), chain[1]);
        mel_digest(chain, sizeof chain, digest);
        memcpy(chain[0], digest, MEL_DIGEST_HEX);
    }
}

static mel_status take_sums(double *sum, const mel_passes *p, const mel_weight_rows *rows, int threads,
                            mel_error *err)
{
    const mel_weight_size size = size_of(p, threads);
    mel_packed *packed = NULL;
    mel_status status = mel_packed_new(&packed, &size, rows, NULL, err);
    if (status == MEL_OK)
        status = mel_packed_totals(sum, packed, err);
    if (status == MEL_OK)
        status = mel_packed_sums(sum + mel_passes_totals(p), packed, p->wanted, err);
    mel_packed_free(packed);
    return status;
}

mel_status mel_passes_take(mel_moments **out, const mel_passes *p, const char *file,
                           const mel_weight_rows *rows, int threads, mel_error *err)
{
    *out = NULL;
    mel_moments_part part = { 0 };
    if (!p->waits)
        return mel_fail(err, MEL_ESTATE, "no sums are wanted: melicit optimise has not begun, or has ended");
    if (rows->label == NULL || rows->basis != NULL)
        return mel_fail(err, MEL_EINVAL, "expected training rows with labels and without basis functions");
    mel_status status = mel_optimise_check_rows("training", rows, p->k, 1, err);
    if (status != MEL_OK)
        return status;
    mel_moments *m = mel_moments_new(MEL_MOMENTS_PASSES, p->k, size_of(p, 1).n_directions,
                                     (const char *const *)p->class_name);
    if (m == NULL || !mel_moments_part_new(&part, m, file, rows->n_rows, 0, NULL))
        status = mel_fail_memory(err, "moments");
    else
        digest_rule(m->at, p, p->wanted);
    if (status == MEL_OK)
        status = take_sums(part.sum, p, rows, threads, err);
    if (status == MEL_OK)
        status = mel_moments_add(m, &part, err);
    mel_moments_part_clear(&part);
    return mel_moments_finish(out, m, status);
}

/* --- sums of all files -------------------------------------------------------------------------- */

static bool is_at(const mel_moments *m, const mel_passes *p, const double *weight)
{
    char at[MEL_DIGEST_HEX];
    digest_rule(at, p, weight);
    return m->n_classes == p->k && m->n_columns == size_of(p, 1).n_directions && strcmp(at, m->at) == 0;
}

/* *again: they are the last that were added, to a run that ended since: the same call once more. */
static mel_status check_wanted(bool *again, const mel_passes *p, const mel_moments *m, mel_error *err)
{
    const mel_status status = mel_moments_expect(m, MEL_MOMENTS_PASSES, err);
    *again = false;
    if (status != MEL_OK)
        return status;
    if (!p->waits) {
        *again = p->n > 0 && is_at(m, p, p->weight + (p->n - 1) * mel_passes_weights(p));
        return *again ? MEL_OK
                      : mel_fail(err, MEL_ESTATE, "no sums are wanted: the run has ended, or not begun");
    }
    return is_at(m, p, p->wanted) ? MEL_OK
                                  : mel_fail(err, MEL_EDATA, "the moments were taken at another iterate");
}

/* Each pass is over the same rows. */
static mel_status check_files(const mel_passes *p, const mel_moments *m, mel_error *err)
{
    for (size_t i = 0; p->n > 0 && (i < m->n || i < p->n_files); i++) {
        const char *now = i < m->n ? m->part[i].file : NULL, *then = i < p->n_files ? p->file[i] : NULL;
        const int order = now == NULL ? 1 : then == NULL ? -1 : strcmp(now, then);
        if (order != 0)
            return mel_fail(err, MEL_EDATA, "the rows of %s %s the sums before, but %s these",
                            mel_quote_file(order < 0 ? now : then).text, order < 0 ? "are not in" : "are in",
                            order < 0 ? "in" : "not in");
        if (m->part[i].n_rows != p->n_rows[i])
            return mel_fail(err, MEL_EDATA, "%s had %zu rows, and now has %zu", mel_quote_file(now).text,
                            p->n_rows[i], m->part[i].n_rows);
    }
    return MEL_OK;
}

/* Sums from `first` on of all files, added in the order of their names as mel_packed_sums does. */
static void add_files(double *to, size_t n, const mel_moments *m, size_t first)
{
    memset(to, 0, n * sizeof *to);
    for (size_t i = 0; i < m->n; i++)
        for (size_t c = 0; c < n; c++)
            to[c] += m->part[i].sum[first + c];
}

/* The first sums say which rows there are. */
static mel_status take_files(mel_passes *p, const mel_moments *m, const double *total, mel_error *err)
{
    const size_t columns = size_of(p, 1).n_directions;
    for (size_t c = 0; c < p->k; c++)
        if (!(total[c * columns] > 0.0))
            return mel_fail(err, MEL_EDATA, "no training row is of class %s",
                            mel_quote_text(p->class_name[c]).text);
    p->file = mel_alloc_zero(m->n, sizeof *p->file);
    p->n_rows = mel_alloc_zero(m->n, sizeof *p->n_rows);
    bool whole = p->file != NULL && p->n_rows != NULL;
    for (size_t i = 0; i < m->n && whole; i++) {
        p->file[i] = mel_strdup(m->part[i].file);
        p->n_rows[i] = m->part[i].n_rows;
        whole = p->file[i] != NULL;
        p->n_files += whole;
    }
    if (whole)
        memcpy(p->total, total, mel_passes_totals(p) * sizeof *total);
    else {
        mel_names_free(p->file, p->n_files);
        free(p->n_rows);
        p->file = NULL;
        p->n_rows = NULL;
        p->n_files = 0;
    }
    return whole ? MEL_OK : mel_fail_memory(err, "an iterate");
}

bool mel_passes_grow(mel_passes *p)
{
    return mel_grow((void **)&p->weight, (p->n + 1) * mel_passes_weights(p), sizeof *p->weight) &&
           mel_grow((void **)&p->sum, (p->n + 1) * mel_passes_sums(p), sizeof *p->sum);
}

mel_status mel_passes_add(mel_passes *p, const mel_moments *m, mel_error *err)
{
    bool again = false;
    mel_status status = check_wanted(&again, p, m, err);
    if (status == MEL_OK)
        status = check_files(p, m, err);
    if (status != MEL_OK)
        return status;
    const size_t n_weight = mel_passes_weights(p), n_total = mel_passes_totals(p), n_sum = mel_passes_sums(p);
    double *total = mel_alloc(n_total, sizeof *total);
    if (total == NULL || !mel_passes_grow(p)) {
        free(total);
        return mel_fail_memory(err, "an iterate");
    }
    add_files(total, n_total, m, 0);
    if (p->n == 0)
        status = take_files(p, m, total, err);
    else if (memcmp(total, p->total, n_total * sizeof *total) != 0)
        status = mel_fail(err, MEL_EDATA, "the training rows are not those of the sums before");
    free(total);
    if (status != MEL_OK || again)
        return status;
    memcpy(p->weight + p->n * n_weight, p->wanted, n_weight * sizeof *p->wanted);
    add_files(p->sum + p->n * n_sum, n_sum, m, n_total);
    p->n++;
    p->waits = false;
    return MEL_OK;
}
