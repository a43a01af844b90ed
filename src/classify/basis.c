/* Basis functions (hard clusters by columns and by k-means, averages of radial functions, a matrix of one's
 * own), and what rules decide whose gains depend on them. */
#include "classify/basis.h"

#include "data/quote.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KMEANS_ROUNDS = 200, NAME_SIZE = 40 };

void mel_basis_part_clear(mel_basis_part *part)
{
    mel_names_free(part->column, part->n_columns);
    free(part->centres);
    free(part->centre);
    *part = (mel_basis_part){ 0 };
}

void mel_weight_basis_free(mel_weight_basis *basis)
{
    if (basis == NULL)
        return;
    for (size_t p = 0; p < basis->n_parts; p++)
        mel_basis_part_clear(&basis->part[p]);
    free(basis->part);
    mel_names_free(basis->name, basis->n_functions);
    free(basis);
}

mel_status mel_weight_basis_new(mel_weight_basis **out, mel_error *err)
{
    *out = mel_alloc_zero(1, sizeof **out);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "basis functions");
}

size_t mel_weight_basis_size(const mel_weight_basis *basis)
{
    return basis->n_functions;
}

bool mel_weight_basis_reads_features(const mel_weight_basis *basis)
{
    for (size_t p = 0; p < basis->n_parts; p++)
        if (basis->part[p].kind != MEL_BASIS_DEFAULT)
            return true;
    return false;
}

const char *mel_weight_basis_name(const mel_weight_basis *basis, size_t l)
{
    return l < basis->n_functions ? basis->name[l] : NULL;
}

size_t mel_weight_basis_columns(const mel_weight_basis *basis)
{
    size_t n = 0;
    for (size_t p = 0; p < basis->n_parts; p++)
        n += basis->part[p].n_columns;
    return n;
}

const char *mel_weight_basis_column(const mel_weight_basis *basis, size_t i)
{
    size_t p = 0;
    for (; p < basis->n_parts && i >= basis->part[p].n_columns; p++)
        i -= basis->part[p].n_columns;
    return p < basis->n_parts ? basis->part[p].column[i] : NULL;
}

/* --- adding functions --------------------------------------------------------------------------- */

static char *function_name(const mel_basis_part *part, size_t i)
{
    char text[NAME_SIZE];
    if (part->kind == MEL_BASIS_COLUMNS)
        return mel_strdup(part->column[i]);
    if (part->kind == MEL_BASIS_DEFAULT)
        return mel_strdup("default");
    (void)snprintf(text, sizeof text, "%s %zu", part->kind == MEL_BASIS_KMEANS ? "kmeans" : "rbf", i + 1);
    return mel_strdup(text);
}

mel_status mel_basis_add_part(mel_weight_basis *basis, mel_basis_part *part, mel_error *err)
{
    const size_t n = basis->n_functions, more = part->n_functions;
    bool whole = mel_grow((void **)&basis->part, basis->n_parts + 1, sizeof *basis->part) &&
                 mel_grow((void **)&basis->name, n + more, sizeof *basis->name);
    for (size_t i = 0; i < more && whole; i++) {
        basis->name[n + i] = function_name(part, i);
        whole = basis->name[n + i] != NULL;
        basis->n_functions += whole;
    }
    if (!whole) {
        for (; basis->n_functions > n; basis->n_functions--)
            free(basis->name[basis->n_functions - 1]);
        return mel_fail_memory(err, "basis functions");
    }
    basis->part[basis->n_parts++] = *part;
    *part = (mel_basis_part){ 0 };
    return MEL_OK;
}

mel_status mel_weight_basis_add_default(mel_weight_basis *basis, mel_error *err)
{
    mel_basis_part part = { .kind = MEL_BASIS_DEFAULT, .n_functions = 1 };
    return mel_basis_add_part(basis, &part, err);
}

mel_status mel_weight_basis_add_columns(mel_weight_basis *basis, size_t n, const char *const *name,
                                        mel_error *err)
{
    if (n == 0)
        return mel_fail(err, MEL_EINVAL, "expected at least one column");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(name[i], name[j]) == 0)
                return mel_fail(err, MEL_EINVAL, "the column %s is given twice",
                                mel_quote_text(name[i]).text);
    MEL_AUTO_CLEAR(mel_basis_part)
    part = { .kind = MEL_BASIS_COLUMNS, .n_functions = n, .column = mel_names_copy(n, name, 0) };
    if (part.column == NULL)
        return mel_fail_memory(err, "basis functions");
    part.n_columns = n;
    return mel_basis_add_part(basis, &part, err);
}

/* A part with so many centres in the space of the rows' columns. */
static mel_status centre_part(mel_basis_part *part, mel_basis_kind kind, const mel_feature_rows *rows,
                              size_t n_functions, size_t n_centres, mel_error *err)
{
    *part = (mel_basis_part){ .kind = kind, .n_functions = n_functions, .n_centres = n_centres };
    part->centre = mel_alloc_zero(n_centres * rows->n_columns, sizeof *part->centre);
    part->centres = mel_alloc_zero(n_functions, sizeof *part->centres);
    part->column = mel_names_copy(rows->n_columns, rows->name, 0);
    part->n_columns = part->column != NULL ? rows->n_columns : 0;
    return part->column != NULL && part->centre != NULL && part->centres != NULL
               ? MEL_OK
               : mel_fail_memory(err, "basis functions");
}

static mel_status check_features(const mel_feature_rows *rows, mel_error *err)
{
    if (rows->n_rows == 0 || rows->n_columns == 0)
        return mel_fail(err, MEL_EDATA, "there are no features");
    for (size_t i = 0; i < rows->n_rows * rows->n_columns; i++)
        if (!isfinite(rows->value[i]))
            return mel_fail(err, MEL_EDATA, "row %zu, column %s: %g is not finite", i / rows->n_columns + 1,
                            mel_quote_text(rows->name[i % rows->n_columns]).text, rows->value[i]);
    return MEL_OK;
}

/* --- k-means ------------------------------------------------------------------------------------ */

static double distance2(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static size_t nearest(const double *row, size_t n_columns, size_t k, const double *centre, double *distance)
{
    size_t best = 0;
    *distance = INFINITY;
    for (size_t c = 0; c < k; c++) {
        const double d = distance2(n_columns, row, centre + c * n_columns);
        if (d < *distance) {
            *distance = d;
            best = c;
        }
    }
    return best;
}

/* k-means++: each further centre is a row, drawn by its squared distance to the centres so far. */
static mel_status draw_centres(double *centre, const mel_feature_rows *rows, size_t k, double *weight,
                               uint64_t seed, mel_error *err)
{
    const size_t n = rows->n_rows, d = rows->n_columns;
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    memcpy(centre, rows->value + mel_rng_below(&rng, n) * d, d * sizeof *centre);
    for (size_t c = 1; c < k; c++) {
        double total = 0.0;
        for (size_t i = 0; i < n; i++) {
            (void)nearest(rows->value + i * d, d, c, centre, &weight[i]);
            total += weight[i];
        }
        if (!(total > 0.0))
            return mel_fail(err, MEL_EDATA, "%zu clusters: the rows have only %zu different values", k, c);
        double left = mel_rng_uniform(&rng) * total;
        size_t chosen = 0;
        while (chosen + 1 < n && (left >= weight[chosen] || weight[chosen] == 0.0))
            left -= weight[chosen++];
        memcpy(centre + c * d, rows->value + chosen * d, d * sizeof *centre);
    }
    return MEL_OK;
}

/* Lloyd's step; whether any row changed its cluster. An empty cluster keeps its centre. */
static bool lloyd(double *centre, uint32_t *of, double *sum, size_t *count, const mel_feature_rows *rows,
                  size_t k)
{
    const size_t d = rows->n_columns;
    bool moved = false;
    memset(sum, 0, k * d * sizeof *sum);
    memset(count, 0, k * sizeof *count);
    for (size_t i = 0; i < rows->n_rows; i++) {
        double distance = 0.0;
        const uint32_t c = (uint32_t)nearest(rows->value + i * d, d, k, centre, &distance);
        moved = moved || of[i] != c;
        of[i] = c;
        count[c]++;
        for (size_t j = 0; j < d; j++)
            sum[c * d + j] += rows->value[i * d + j];
    }
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d && count[c] > 0; j++)
            centre[c * d + j] = sum[c * d + j] / (double)count[c];
    return moved;
}

static mel_status find_clusters(double *centre, const mel_feature_rows *rows, size_t k, uint64_t seed,
                                mel_error *err)
{
    MEL_AUTO_MEMORY double *sum = mel_alloc(k * rows->n_columns + rows->n_rows, sizeof *sum);
    MEL_AUTO_MEMORY size_t *count = mel_alloc(k, sizeof *count);
    MEL_AUTO_MEMORY uint32_t *of = mel_alloc_zero(rows->n_rows, sizeof *of);
    if (sum == NULL || count == NULL || of == NULL)
        return mel_fail_memory(err, "clusters");
    TRY(draw_centres(centre, rows, k, sum + k * rows->n_columns, seed, err));
    for (int round = 0; round < MOST_KMEANS_ROUNDS; round++)
        if (!lloyd(centre, of, sum, count, rows, k) && round > 0)
            break;
    return MEL_OK;
}

mel_status mel_weight_basis_add_kmeans(mel_weight_basis *basis, const mel_feature_rows *rows, size_t k,
                                       uint64_t seed, mel_error *err)
{
    MEL_AUTO_CLEAR(mel_basis_part) part = { 0 };
    TRY(check_features(rows, err));
    if (k < 2 || k > rows->n_rows)
        return mel_fail(err, MEL_EINVAL, "%zu clusters of %zu rows: expected at least 2, at most one per row",
                        k, rows->n_rows);
    TRY(centre_part(&part, MEL_BASIS_KMEANS, rows, k, k, err));
    TRY(find_clusters(part.centre, rows, k, seed, err));
    return mel_basis_add_part(basis, &part, err);
}

/* --- radial functions --------------------------------------------------------------------------- */

mel_status mel_weight_basis_add_rbf(mel_weight_basis *basis, const mel_feature_rows *centres,
                                    const uint32_t *of, size_t n_classes, double width, bool squared,
                                    mel_error *err)
{
    MEL_AUTO_CLEAR(mel_basis_part) part = { 0 };
    TRY(check_features(centres, err));
    if (!(width > 0.0 && isfinite(width)))
        return mel_fail(err, MEL_EINVAL, "width %g: expected a number above 0", width);
    TRY(centre_part(&part, MEL_BASIS_RBF, centres, n_classes, centres->n_rows, err));
    part.width = width;
    part.squared = squared;
    size_t placed = 0;
    for (size_t c = 0; c < n_classes; c++) {
        for (size_t i = 0; i < centres->n_rows; i++)
            if (of[i] == c) {
                memcpy(part.centre + placed++ * part.n_columns, centres->value + i * part.n_columns,
                       part.n_columns * sizeof *part.centre);
                part.centres[c]++;
            }
        if (part.centres[c] == 0)
            return mel_fail(err, MEL_EDATA, "class or group %zu has no row to be a centre", c + 1);
    }
    if (placed != centres->n_rows)
        return mel_fail(err, MEL_EDATA, "a centre is of none of the %zu classes", n_classes);
    return mel_basis_add_part(basis, &part, err);
}

static double kernel(const mel_basis_part *part, const double *row, const double *centre)
{
    const double d2 = distance2(part->n_columns, row, centre);
    return exp(-(part->squared ? d2 : sqrt(d2)) / (2.0 * part->width * part->width));
}

/* --- values ------------------------------------------------------------------------------------- */

/* The columns that a part reads, of one row. */
static void take_row(double *row, const mel_basis_part *part, const mel_feature_rows *rows,
                     const size_t *place, size_t i)
{
    for (size_t c = 0; c < part->n_columns; c++)
        row[c] = rows->value[i * rows->n_columns + place[c]];
}

/* without_own: a centre that is the row itself does not count, once. */
static void radial_values(double *value, const mel_basis_part *part, const double *row, bool without_own)
{
    size_t first = 0;
    bool own = without_own;
    for (size_t f = 0; f < part->n_functions; f++) {
        size_t n = part->centres[f];
        value[f] = 0.0;
        for (size_t c = first; c < first + part->centres[f]; c++) {
            const double *centre = part->centre + c * part->n_columns;
            if (own && memcmp(row, centre, part->n_columns * sizeof *row) == 0) {
                own = false;
                n--;
            } else {
                value[f] += kernel(part, row, centre);
            }
        }
        value[f] = n > 0 ? value[f] / (double)n : 0.0;
        first += part->centres[f];
    }
}

static void part_values(double *value, const mel_basis_part *part, const double *row, bool without_own)
{
    double distance = 0.0;
    if (part->kind == MEL_BASIS_DEFAULT)
        value[0] = 1.0;
    else if (part->kind == MEL_BASIS_COLUMNS)
        memcpy(value, row, part->n_functions * sizeof *value);
    else if (part->kind == MEL_BASIS_KMEANS) {
        memset(value, 0, part->n_functions * sizeof *value);
        value[nearest(row, part->n_columns, part->n_centres, part->centre, &distance)] = 1.0;
    } else {
        radial_values(value, part, row, without_own);
    }
}

static mel_status find_columns(size_t *place, const mel_basis_part *part, const mel_feature_rows *rows,
                               mel_error *err)
{
    for (size_t c = 0; c < part->n_columns; c++) {
        place[c] = 0;
        while (place[c] < rows->n_columns && strcmp(rows->name[place[c]], part->column[c]) != 0)
            place[c]++;
        if (place[c] == rows->n_columns)
            return mel_fail(err, MEL_EDATA, "the features have no column %s",
                            mel_quote_text(part->column[c]).text);
    }
    return MEL_OK;
}

static mel_status check_value(double value, const mel_basis_part *part, size_t f, size_t row, mel_error *err)
{
    return value >= 0.0 && value <= 1.0
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "row %zu, column %s: %g, expected a number from 0 to 1", row + 1,
                          mel_quote_text(part->column[f]).text, value);
}

/* Values of a part for all rows; `at` is its first function. */
static mel_status add_values(double *value, size_t n_functions, size_t at, const mel_basis_part *part,
                             const mel_feature_rows *rows, size_t n_rows, bool without_own, mel_error *err)
{
    MEL_AUTO_MEMORY size_t *place = mel_alloc(part->n_columns, sizeof *place);
    MEL_AUTO_MEMORY double *row = mel_alloc(part->n_columns, sizeof *row);
    if (place == NULL || row == NULL)
        return mel_fail_memory(err, "basis functions");
    TRY(part->n_columns > 0 ? find_columns(place, part, rows, err) : MEL_OK);
    for (size_t i = 0; i < n_rows; i++) {
        double *to = value + i * n_functions + at;
        take_row(row, part, rows, place, i);
        part_values(to, part, row, without_own);
        for (size_t f = 0; part->kind == MEL_BASIS_COLUMNS && f < part->n_functions; f++)
            TRY(check_value(to[f], part, f, i, err));
    }
    return MEL_OK;
}

static mel_status all_values(double *value, const mel_weight_basis *basis, const mel_feature_rows *rows,
                             size_t n_rows, bool without_own, mel_error *err)
{
    if (mel_weight_basis_reads_features(basis)) {
        if (rows == NULL)
            return mel_fail(err, MEL_EINVAL, "the basis functions read features");
        if (rows->n_rows != n_rows)
            return mel_fail(err, MEL_EDATA, "%zu rows of features for %zu rows", rows->n_rows, n_rows);
        TRY(check_features(rows, err));
    }
    size_t at = 0;
    for (size_t p = 0; p < basis->n_parts; p++) {
        TRY(add_values(value, basis->n_functions, at, &basis->part[p], rows, n_rows, without_own, err));
        at += basis->part[p].n_functions;
    }
    return MEL_OK;
}

mel_status mel_weight_basis_values(double *value, const mel_weight_basis *basis, const mel_feature_rows *rows,
                                   size_t n_rows, mel_error *err)
{
    return all_values(value, basis, rows, n_rows, false, err);
}

mel_status mel_weight_basis_values_of_centres(double *value, const mel_weight_basis *basis,
                                              const mel_feature_rows *rows, size_t n_rows, mel_error *err)
{
    return all_values(value, basis, rows, n_rows, true, err);
}

/* --- rules whose gains depend on them ------------------------------------------------------------ */

static const double one_function[] = { 1.0 };

const double *mel_weight_basis_row(const double *basis, size_t n_basis, size_t row)
{
    return basis != NULL ? basis + row * n_basis : one_function;
}

void mel_weights_to_gains(double *gain, size_t k, size_t n_basis, const double *weight)
{
    memset(gain, 0, n_basis * k * k * sizeof *gain);
    for (size_t l = 0; l < n_basis; l++)
        for (size_t j = 0; j < k; j++)
            gain[(l * k + j) * k + j] = weight[l * k + j];
}

bool mel_weighted_diagonal(size_t k, size_t n_basis, const double *gain)
{
    for (size_t i = 0; i < n_basis * k * k; i++)
        if (gain[i] != 0.0 && i / k % k != i % k)
            return false;
    return true;
}

static size_t largest(size_t k, const double *value)
{
    size_t best = 0;
    for (size_t j = 1; j < k; j++)
        if (value[j] > value[best])
            best = j;
    return best;
}

/* score_j = sum over l, i of gain[l][i][j] phi_l P(Y=i|x). */
static void score_row(double *score, size_t k, size_t n_basis, const double *gain, const double *probability,
                      const double *phi)
{
    for (size_t j = 0; j < k; j++)
        score[j] = 0.0;
    for (size_t l = 0; l < n_basis; l++)
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++)
                score[j] += gain[(l * k + i) * k + j] * phi[l] * probability[i];
}

/* The same numbers, to the last bit, as of packed training rows. */
static void score_row_diagonal(double *score, size_t k, size_t n_basis, const double *gain,
                               const double *probability, const double *phi)
{
    for (size_t j = 0; j < k; j++) {
        score[j] = gain[j * k + j] * phi[0];
        for (size_t l = 1; l < n_basis; l++)
            score[j] += gain[(l * k + j) * k + j] * phi[l];
        score[j] *= probability[j];
    }
}

uint32_t mel_weighted_class(size_t k, size_t n_basis, const double *gain, bool diagonal,
                            const double *probability, const double *phi, double *score)
{
    bool reached = false;
    for (size_t l = 0; l < n_basis; l++)
        reached = reached || phi[l] != 0.0;
    if (!reached)
        return (uint32_t)largest(k, probability);
    if (diagonal)
        score_row_diagonal(score, k, n_basis, gain, probability, phi);
    else
        score_row(score, k, n_basis, gain, probability, phi);
    return (uint32_t)largest(k, score);
}

mel_status mel_weighted_chances(double *chance, const mel_blend *mixture, size_t n, const double *probability,
                                const double *basis, mel_error *err)
{
    const size_t k = mixture->n_classes, n_basis = mixture->n_groups > 1 ? mixture->n_groups : 1;
    MEL_AUTO_MEMORY double *score = mel_alloc(k, sizeof *score);
    if (score == NULL)
        return mel_fail_memory(err, "scores");
    memset(chance, 0, n * k * sizeof *chance);
    for (size_t i = 0; i < n * k; i++)
        if (!isfinite(probability[i]))
            return mel_fail(err, MEL_EDATA, "row %zu: the probability %g is not finite", i / k + 1,
                            probability[i]);
    for (size_t r = 0; r < mixture->n_rules; r++) {
        const double *gain = mixture->gain + r * n_basis * k * k;
        const bool diagonal = mel_weighted_diagonal(k, n_basis, gain);
        for (size_t i = 0; i < n; i++)
            chance[i * k + mel_weighted_class(k, n_basis, gain, diagonal, probability + i * k,
                                              mel_weight_basis_row(basis, n_basis, i), score)] +=
                mixture->share[r];
    }
    return MEL_OK;
}

void mel_weighted_majority(double *chance, size_t k)
{
    const size_t most = largest(k, chance);
    for (size_t j = 0; j < k; j++)
        chance[j] = j == most ? 1.0 : 0.0;
}
