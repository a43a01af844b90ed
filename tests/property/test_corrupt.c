/* Noise models of section 7.2: elicited weights undo them. With exact probabilities the weights of
 * the whole matrix converge to T^-1 L, those of the diagonal to its projection, as one over the root of the
 * rows. */
#include "base/la.h"
#include "base/rng.h"
#include "optimise/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 4 };
#define K ((size_t)3)
#define MOST_BASIS ((size_t)2)
typedef enum { INDEPENDENT, CLUSTERED, BY_INSTANCE, SHIFTED, MODELS } model;
static const char *const model_name[] = { "independent", "cluster-dependent", "instance-dependent",
                                          "domain shift" };

/* Transition matrices of two clusters, and the gains of the metric. */
static const double transition[2][K * K] = { { 0.7, 0.2, 0.1, 0.1, 0.8, 0.1, 0.3, 0.1, 0.6 },
                                             { 0.9, 0.0, 0.1, 0.4, 0.6, 0.0, 0.0, 0.2, 0.8 } };
static const double even[K * K] = { 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3,
                                    1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3 };
static const double gains[K * K] = { 1.0, 0.0, 0.3, 0.0, 2.0, 0.0, -0.5, 0.0, 1.5 };

/* --- rows --------------------------------------------------------------------------------------- */

typedef struct {
    size_t n;
    double *x, *probability, *basis;
    uint32_t *label, *cluster;
} rows;

static void true_probability(double p[K], const double x[2])
{
    const double score[K] = { 1.5 * x[0], 1.2 * x[1], -x[0] - x[1] };
    double sum = 0.0;
    for (size_t j = 0; j < K; j++)
        sum += p[j] = exp(score[j]);
    for (size_t j = 0; j < K; j++)
        p[j] /= sum;
}

static double strength_at(const double x[2])
{
    return 0.5 / (1.0 + exp(-x[0]));
}

/* How likely a row is to be in the training rows of another domain; from 1/e to e. */
static double weight_at(const double x[2])
{
    return exp(tanh(x[0]));
}

static void *room(size_t n, size_t size)
{
    void *block = calloc(n, size);
    if (block == NULL)
        abort();
    return block;
}

static rows draw_rows(size_t n, mel_rng *rng)
{
    rows r = { n,
               room(n, 2 * sizeof(double)),
               room(n, K * sizeof(double)),
               room(n, MOST_BASIS * sizeof(double)),
               room(n, sizeof(uint32_t)),
               room(n, sizeof(uint32_t)) };
    for (size_t i = 0; i < n; i++) {
        r.x[2 * i] = mel_rng_normal(rng);
        r.x[2 * i + 1] = mel_rng_normal(rng);
        r.cluster[i] = r.x[2 * i + 1] > 0.0;
        true_probability(r.probability + i * K, r.x + 2 * i);
        double u = mel_rng_uniform(rng);
        while (r.label[i] + 1 < K && u >= r.probability[i * K + r.label[i]])
            u -= r.probability[i * K + r.label[i]++];
    }
    return r;
}

static void free_rows(rows *r)
{
    free(r->x);
    free(r->probability);
    free(r->basis);
    free(r->label);
    free(r->cluster);
}

static size_t basis_size(model m)
{
    return m == CLUSTERED || m == BY_INSTANCE ? 2 : 1;
}

/* T of a row: strength times the matrix, the rest stays. */
static double strength_of(model m, const double x[2])
{
    return m == BY_INSTANCE ? strength_at(x) : m == SHIFTED ? 0.0 : 1.0;
}

static const double *matrix_of(model m, uint32_t cluster)
{
    return m == BY_INSTANCE ? even : m == CLUSTERED ? transition[cluster] : transition[0];
}

/* Basis functions in which the correction weights are exactly linear. */
static void put_basis(rows *r, model m)
{
    const size_t l = basis_size(m);
    for (size_t i = 0; i < r->n; i++) {
        double *phi = r->basis + i * l;
        phi[0] = 1.0;
        if (m == CLUSTERED) {
            phi[0] = r->cluster[i] == 0 ? 1.0 : 0.0;
            phi[1] = 1.0 - phi[0];
        } else if (m == BY_INSTANCE) {
            phi[1] = 0.5 / (1.0 - strength_at(r->x + 2 * i)); /* at most 1 */
        } else if (m == SHIFTED) {
            phi[0] = exp(-1.0) / weight_at(r->x + 2 * i);
        }
    }
}

/* One label: kept with probability 1 - strength, else drawn from its row of the matrix. */
static uint32_t draw_label(uint32_t label, const double *matrix, double strength, mel_rng *rng)
{
    if (mel_rng_uniform(rng) >= strength)
        return label;
    double left = mel_rng_uniform(rng);
    uint32_t j = 0;
    while (j + 1 < K && left >= matrix[label * K + j])
        left -= matrix[label * K + j++];
    return j;
}

/* Probabilities of noisy labels, which is what a model of the training rows gives, also for clean rows; and
 * noisy labels. */
static void corrupt(rows *r, model m, bool labels, uint64_t seed)
{
    double *strength = room(r->n, sizeof *strength);
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < r->n; i++) {
        const double *t = matrix_of(m, r->cluster[i]);
        double clean[K], *p = r->probability + i * K;
        strength[i] = strength_of(m, r->x + 2 * i);
        memcpy(clean, p, sizeof clean);
        for (size_t j = 0; j < K; j++) {
            p[j] = (1.0 - strength[i]) * clean[j];
            for (size_t y = 0; y < K; y++)
                p[j] += strength[i] * clean[y] * t[y * K + j];
        }
    }
    for (size_t i = 0; i < r->n && labels; i++)
        r->label[i] = draw_label(r->label[i], matrix_of(m, r->cluster[i]), strength[i], &rng);
    free(strength);
}

static rows shifted_rows(size_t n, mel_rng *rng)
{
    rows pool = draw_rows(4 * n, rng), out = draw_rows(n, rng);
    for (size_t i = 0; i < n;) { /* a row is taken in proportion to its weight, at most e */
        const size_t row = mel_rng_below(rng, pool.n);
        if (mel_rng_uniform(rng) * exp(1.0) >= weight_at(pool.x + 2 * row))
            continue;
        memcpy(out.x + 2 * i, pool.x + 2 * row, 2 * sizeof(double));
        memcpy(out.probability + i * K, pool.probability + row * K, K * sizeof(double));
        out.label[i++] = pool.label[row];
    }
    free_rows(&pool);
    return out;
}

/* --- elicited and true weights ------------------------------------------------------------------ */

static mel_status metric_value(double *out, void *user, const double *confusion, mel_error *err)
{
    (void)user;
    (void)err;
    *out = 0.0;
    for (size_t c = 0; c < K * K; c++)
        *out += gains[c] * confusion[c];
    return MEL_OK;
}

typedef struct {
    double *weight;
    size_t size;
} kept_weights;

/* The result falls back to the first classifier where the weights of the diagonal make it worse. */
static void keep_weights(void *user, uint32_t t, double value, double gap, const double *alpha)
{
    const kept_weights *kept = user;
    (void)value;
    (void)gap;
    if (t == 1)
        memcpy(kept->weight, alpha, kept->size * sizeof *alpha);
}

/* Weights of each basis function, n_basis x K x K, from n training and n validation rows. */
static void elicit(double *weight, model m, bool whole, size_t n, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    rows train = m == SHIFTED ? shifted_rows(n, &rng) : draw_rows(n, &rng), validation = draw_rows(n, &rng);
    put_basis(&train, m);
    put_basis(&validation, m);
    corrupt(&train, m, m != SHIFTED, seed + 1000);
    corrupt(&validation, m, false, 0);
    const mel_weight_rows t = { n, train.probability, train.label, train.basis };
    const mel_weight_rows v = { n, validation.probability, validation.label, validation.basis };
    const mel_black_box box = { .value = metric_value };
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    opt.plug_in = true;
    opt.epsilon = 0.5;
    opt.scale = MEL_SCALE_ROWS;
    opt.shape = whole ? MEL_WEIGHT_WHOLE : MEL_WEIGHT_DIAGONAL;
    kept_weights kept = { weight, basis_size(m) * K * K };
    opt.trace = keep_weights;
    opt.trace_user = &kept;
    mel_optimise_result got = { 0 };
    mel_error err = { 0 };
    assert_ok(mel_optimise(&got, K, basis_size(m), &t, &v, &box, &opt, &err), &err);
    mel_optimise_clear(&got);
    free_rows(&train);
    free_rows(&validation);
}

/* Only differences within a row of weights change decisions. */
static void centre_rows(double w[K * K])
{
    for (size_t i = 0; i < K; i++) {
        const double mean = (w[i * K] + w[i * K + 1] + w[i * K + 2]) / (double)K;
        for (size_t j = 0; j < K; j++)
            w[i * K + j] -= mean;
    }
}

/* The weights for which noisy rows give the linear metric of gains L: T^-1 L with T = (1 - strength) I +
 * strength matrix (the thesis prints an element-wise product). */
static void correction_weights(double out[K * K], const double *matrix, double strength)
{
    double t[K * K];
    mel_error err = { 0 };
    for (size_t c = 0; c < K * K; c++) {
        t[c] = strength * matrix[c] + (c / K == c % K ? 1.0 - strength : 0.0);
        out[c] = gains[c];
    }
    assert_ok(mel_solve(K, t, K, K, out, K, NULL, &err), &err);
}

/* The weights at a place, by the elicited coefficients and as they should be: the square of the distance. */
static double distance2_at(const double *alpha, model m, const double x[2])
{
    rows one = { 1,    (double[]){ x[0], x[1] },  NULL, (double[MOST_BASIS]){ 0 },
                 NULL, (uint32_t[]){ x[1] > 0.0 } };
    double truth[K * K], found[K * K] = { 0 }, sum = 0.0;
    put_basis(&one, m);
    correction_weights(truth, matrix_of(m, one.cluster[0]), strength_of(m, x));
    /* P^D(x)/P^mu(x) is the mean weight over the weight: the mean of exp(tanh(z)) of a normal z is 1.20795.
     */
    for (size_t c = 0; c < K * K && m == SHIFTED; c++)
        truth[c] *= 1.207952 / weight_at(x);
    for (size_t l = 0; l < basis_size(m); l++)
        for (size_t c = 0; c < K * K; c++)
            found[c] += alpha[l * K * K + c] * one.basis[l];
    centre_rows(truth);
    centre_rows(found);
    for (size_t c = 0; c < K * K; c++)
        sum += (found[c] - truth[c]) * (found[c] - truth[c]);
    return sum;
}

static double error_of_whole(const double *alpha, model m)
{
    enum { PLACES = 4 };
    static const double place[PLACES][2] = { { 0.0, 1.0 }, { 1.0, -1.0 }, { -1.0, 0.5 }, { 0.5, -0.5 } };
    double sum = 0.0;
    for (size_t i = 0; i < PLACES; i++)
        sum += distance2_at(alpha, m, place[i]);
    return sum / PLACES;
}

/* --- the projection of the correction weights on the diagonal ----------------------------------- */

/* Points of a fine grid with their standard normal density. */
static rows grid_rows(double **density)
{
    enum { SIDE = 500 };
    const double width = 12.0 / SIDE;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    rows r = draw_rows((size_t)SIDE * SIDE, &rng);
    *density = room(r.n, sizeof **density);
    for (size_t i = 0; i < r.n; i++) {
        double *x = r.x + 2 * i;
        const size_t row = i / SIDE, column = i % SIDE;
        x[0] = -6.0 + width * ((double)row + 0.5);
        x[1] = -6.0 + width * ((double)column + 0.5);
        r.cluster[i] = x[1] > 0.0;
        true_probability(r.probability + i * K, x);
        (*density)[i] = exp(-0.5 * (x[0] * x[0] + x[1] * x[1]));
    }
    return r;
}

/* Adds a point to the system of the fixed probes around the most probable noisy class: how the diagonal
 * changes on the training rows, how the metric does on the validation rows. */
static void add_point(double *system, double *right, size_t n_basis, const double *phi, const double clean[K],
                      const double noisy[K], double train_density, double density)
{
    const size_t n = n_basis * K;
    size_t now = 0;
    for (size_t j = 1; j < K; j++)
        now = noisy[j] > noisy[now] ? j : now;
    for (size_t probe = 0; probe < n; probe++) {
        const size_t i = probe % K;
        for (size_t a = 0; a < K; a++)
            right[probe] += density * phi[probe / K] * clean[a] * (gains[a * K + i] - gains[a * K + now]);
        for (size_t c = 0; c < n; c++)
            system[probe * n + c] += train_density * phi[probe / K] * phi[c / K] * noisy[c % K] *
                                     ((i == c % K ? 1.0 : 0.0) - (now == c % K ? 1.0 : 0.0));
    }
}

/* The weights of the diagonal (n_basis x K x K) that explain the metric of infinitely many rows. */
static void project(double *weight, model m)
{
    enum { MOST = MOST_BASIS * K };
    double system[MOST * MOST] = { 0 }, right[MOST] = { 0 }, all = 0.0, all_train = 0.0, rcond = 0.0,
                         *density;
    const size_t n_basis = basis_size(m), n = n_basis * K;
    rows r = grid_rows(&density);
    double *clean = room(r.n * K, sizeof *clean);
    mel_error err = { 0 };
    memcpy(clean, r.probability, r.n * K * sizeof *clean);
    put_basis(&r, m);
    corrupt(&r, m, false, 0);
    for (size_t i = 0; i < r.n; i++) {
        all += density[i];
        all_train += density[i] * (m == SHIFTED ? weight_at(r.x + 2 * i) : 1.0);
    }
    for (size_t i = 0; i < r.n; i++)
        add_point(system, right, n_basis, r.basis + i * n_basis, clean + i * K, r.probability + i * K,
                  density[i] * (m == SHIFTED ? weight_at(r.x + 2 * i) : 1.0) / all_train, density[i] / all);
    assert_ok(mel_solve(n, system, n, 1, right, 1, &rcond, &err), &err);
    for (size_t c = 0; c < n; c++)
        weight[(c / K * K + c % K) * K + c % K] = right[c];
    free(clean);
    free(density);
    free_rows(&r);
}

/* --- convergence -------------------------------------------------------------------------------- */

/* Slope of log root mean square error against log rows, over doublings of doublings. */
static double slope_of(const double error2[SIZES])
{
    double sxy = 0.0, sxx = 0.0;
    for (int s = 0; s < SIZES; s++) {
        const double x = s - 0.5 * (SIZES - 1);
        sxy += x * 0.5 * log(error2[s]);
        sxx += x * x;
    }
    return sxy / sxx / log(4.0);
}

static void check_convergence(model m, bool whole, size_t repeats)
{
    double limit[MOST_BASIS * K * K] = { 0 }, alpha[MOST_BASIS * K * K], error2[SIZES] = { 0 };
    const size_t size = basis_size(m) * K * K;
    double size2 = whole ? error_of_whole(limit, m) : 0.0; /* of the true weights */
    if (!whole)
        project(limit, m);
    for (size_t c = 0; c < size && !whole; c++)
        size2 += limit[c] * limit[c];
    for (int s = 0; s < SIZES; s++)
        for (size_t r = 0; r < repeats; r++) {
            elicit(alpha, m, whole, (size_t)500 << (2 * s), 10 * r + 7);
            for (size_t c = 0; c < size && !whole; c++)
                error2[s] += (alpha[c] - limit[c]) * (alpha[c] - limit[c]) / (double)repeats;
            if (whole)
                error2[s] += error_of_whole(alpha, m) / (double)repeats;
        }
    const double slope = slope_of(error2);
    print_message("  %-18s %s: errors %.3f %.3f %.3f %.3f of %.3f, slope %.2f\n", model_name[m],
                  whole ? "whole matrix" : "diagonal    ", sqrt(error2[0]), sqrt(error2[1]), sqrt(error2[2]),
                  sqrt(error2[3]), sqrt(size2), slope);
    if (repeats >= 6) {
        const double off = whole || repeats >= 40 ? 0.15 : 0.2; /* few draws of small systems vary more */
        assert_true(slope < off - 0.5 && slope > -off - 0.5);
        assert_true(error2[SIZES - 1] <
                    (m == BY_INSTANCE ? 0.06 * size2 : 0.25)); /* its functions are nearly parallel */
    }
}

static void test_convergence(void **state)
{
    (void)state;
    const size_t repeats = test_repeats(40, 8, 1);
    for (int m = 0; m < 2 * MODELS; m++)
        check_convergence((model)(m % MODELS), m < MODELS, repeats);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_convergence) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
