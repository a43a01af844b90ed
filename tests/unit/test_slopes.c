/* The solvers of the searches at several places, with exact slopes. */
#include "support/multiclass.h"

#include "elicit/search/slopes.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS = 10 };

static mel_session_options options_of(mel_family family)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.strategy = MEL_STRATEGY_SEARCH;
    opt.family = family;
    return opt;
}

/* A utility of the displacement z from the centre: tensors of order 1, 2, .. one after the other. */
typedef struct {
    size_t q;
    uint32_t degree;
    double *entry;
} hidden;

/* Gradient: T_1 + T_2[z] + T_3[z, z]/2 + .. */
static void gradient_of(const hidden *h, const double *z, double *out)
{
    const size_t q = h->q;
    const double *tensor = h->entry;
    size_t size = q;
    memset(out, 0, q * sizeof *out);
    for (uint32_t order = 1; order <= h->degree; order++) {
        double *work = malloc(size * sizeof *work);
        memcpy(work, tensor, size * sizeof *work);
        size_t n = size;
        for (uint32_t r = 1; r < order; r++) {
            n /= q;
            for (size_t i = 0; i < n; i++)
                work[i] = mel_dot(q, work + i * q, z) / (double)r;
        }
        mel_axpy(q, 1.0, work, out);
        free(work);
        tensor += size;
        size *= q;
    }
}

/* What a search without errors finds: in the station's directions, or all. */
static void find_exactly(mel_plan *plan, const mel_curve *curve, const hidden *h)
{
    const size_t q = h->q;
    double *z = malloc(2 * q * sizeof *z), *g = z + q;
    for (size_t i = 0; i < plan->n_stations; i++) {
        mel_curve_prepare(plan, curve, 0, i);
        mel_station *s = &plan->station[i];
        for (size_t j = 0; j < q; j++)
            z[j] = s->middle[j] - mel_ball_centre(plan->ball)[j];
        gradient_of(h, z, g);
        memset(s->slope, 0, q * sizeof *s->slope);
        if (s->basis == NULL)
            memcpy(s->slope, g, q * sizeof *s->slope);
        for (size_t j = 0; j < s->n && s->basis != NULL; j++)
            mel_axpy(q, mel_dot(q, s->basis + j * q, g), s->basis + j * q, s->slope);
        s->reached = true;
        s->flat = mel_normalise(q, s->slope, NULL) != MEL_OK;
    }
    free(z);
}

static void draw_symmetric(mel_rng *rng, size_t q, double *b, bool diagonal)
{
    for (size_t i = 0; i < q; i++)
        for (size_t j = i; j < q; j++)
            b[i * q + j] = b[j * q + i] = diagonal && i != j ? 0.0 : mel_rng_normal(rng);
}

/* Largest entry of the difference, both scaled to length 1. */
static double difference(size_t n, const double *x, const double *y)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] / mel_norm2(n, x) - y[i] / mel_norm2(n, y)));
    return most;
}

typedef enum { ANY, LINEAR, FLAT_AT_CENTRE, ONE_AXIS, INDIFFERENT } kind_of_metric;

static void draw_quadratic(mel_rng *rng, hidden *h, bool diagonal, kind_of_metric kind)
{
    const size_t q = h->q;
    for (size_t i = 0; i < q; i++)
        h->entry[i] = mel_rng_normal(rng);
    draw_symmetric(rng, q, h->entry + q, diagonal);
    if (kind == FLAT_AT_CENTRE || kind == INDIFFERENT)
        memset(h->entry, 0, q * sizeof *h->entry);
    if (kind == ONE_AXIS)
        memset(h->entry + 1, 0, (q - 1) * sizeof *h->entry);
    if (kind == LINEAR || kind == INDIFFERENT)
        memset(h->entry + q, 0, q * q * sizeof *h->entry);
}

static void check_quadratic(uint32_t k, bool diagonal, kind_of_metric kind, double within)
{
    mel_ball *ball = test_rates_ball(k, 0.9 / (k * sqrt(k - 1.0)));
    mel_session_options opt = options_of(MEL_FAMILY_QUADRATIC);
    opt.diagonal_b = diagonal;
    mel_rng rng;
    mel_rng_seed(&rng, 61);
    mel_plan plan = { .n_stations = 0 };
    mel_curve curve;
    mel_error err;
    assert_ok(mel_plan_init(&plan, ball, &opt, &err), &err);
    assert_ok(mel_curve_init(&curve, &plan, &err), &err);
    assert_ok(mel_curve_add(&plan, &curve, NULL, &err), &err);
    assert_int_equal(plan.n_stations, plan.per_group + (diagonal ? 1 : 2));
    assert_int_equal(plan.n_stations, curve.n_stations);
    const size_t q = plan.per_group, n = q + q * q;
    hidden h = { .q = q, .degree = 2, .entry = malloc(n * sizeof *h.entry) };
    double worst = 0.0;
    for (size_t t = 0; t < METRICS; t++) {
        draw_quadratic(&rng, &h, diagonal, kind);
        find_exactly(&plan, &curve, &h);
        mel_curve_found found;
        assert_ok(mel_curve_solve(&found, &plan, &curve, 0, &err), &err);
        assert_int_equal(found.flat_centre, kind == FLAT_AT_CENTRE || kind == INDIFFERENT);
        assert_int_equal(found.flat, kind == INDIFFERENT);
        if (kind == INDIFFERENT)
            assert_true(mel_norm2(n, found.value) == 0.0);
        else if (kind == LINEAR) /* curvature along the slope cannot be told from none */
            assert_true(!found.known);
        else
            worst = fmax(worst, difference(n, found.value, h.entry));
        assert_int_equal(found.known, kind != LINEAR && kind != INDIFFERENT);
        mel_curve_found_clear(&found);
    }
    print_message("  q = %zu%s: %.1e\n", q, diagonal ? ", diagonal" : "", worst);
    assert_true(worst <= within);
    free(h.entry);
    mel_curve_clear(&curve);
    free(plan.procedure.replay.a); /* as its engine would */
    mel_plan_clear(&plan);
    mel_ball_free(ball);
}

static void test_quadratic(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 5; k++)
        for (int diagonal = 0; diagonal < 2; diagonal++)
            check_quadratic(k, diagonal != 0, ANY, 1e-9);
}

static void test_degenerate(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 5; k++) {
        check_quadratic(k, false, FLAT_AT_CENTRE, 1e-9);
        check_quadratic(k, false, INDIFFERENT, 0.0);
        check_quadratic(k, false, LINEAR, 0.0);
        check_quadratic(k, true, INDIFFERENT, 0.0);
    }
    for (uint32_t k = 3; k <= 5; k++) {
        check_quadratic(k, true, FLAT_AT_CENTRE, 1e-9);
        check_quadratic(k, true, ONE_AXIS, 1e-9);
    }
}

/* --- polynomials -------------------------------------------------------------------------------- */

static void check_polynomial(uint32_t k, uint32_t degree)
{
    mel_ball *ball = test_rates_ball(k, 0.9 / (k * sqrt(k - 1.0)));
    mel_session_options opt = options_of(MEL_FAMILY_POLYNOMIAL);
    opt.degree = degree;
    mel_rng rng;
    mel_rng_seed(&rng, 62);
    mel_plan plan = { .n_stations = 0 };
    mel_curve curve;
    mel_error err;
    assert_ok(mel_plan_init(&plan, ball, &opt, &err), &err);
    assert_ok(mel_curve_init(&curve, &plan, &err), &err);
    assert_ok(mel_curve_add(&plan, &curve, NULL, &err), &err);
    const mel_terms *terms = &curve.terms;
    const size_t q = plan.per_group;
    hidden h = { .q = q, .degree = degree, .entry = malloc(terms->n_entries * sizeof *h.entry) };
    double *x = malloc(terms->n_terms * sizeof *x), worst = 0.0;
    for (size_t t = 0; t < (q > 2 ? 2 : METRICS); t++) {
        for (size_t i = 0; i < terms->n_terms; i++)
            x[i] = mel_rng_normal(&rng);
        mel_curve_spread(&curve, x, h.entry);
        find_exactly(&plan, &curve, &h);
        mel_curve_found found;
        assert_ok(mel_curve_solve(&found, &plan, &curve, 0, &err), &err);
        assert_true(found.known && !found.flat);
        worst = fmax(worst, difference(terms->n_terms, found.unknown, x));
        worst = fmax(worst, difference(terms->n_entries, found.value, h.entry));
        mel_curve_found_clear(&found);
    }
    print_message("  q = %zu, degree %u: %zu terms, %zu places: %.1e\n", q, degree, terms->n_terms,
                  plan.n_stations, worst);
    assert_true(worst <= 1e-9);
    free(x);
    free(h.entry);
    mel_curve_clear(&curve);
    free(plan.procedure.replay.a); /* as its engine would */
    mel_plan_clear(&plan);
    mel_ball_free(ball);
}

static void test_polynomial(void **state)
{
    (void)state;
    for (uint32_t degree = 2; degree <= 6; degree++)
        check_polynomial(2, degree);
    for (uint32_t degree = 2; degree <= 4; degree++)
        check_polynomial(3, degree);
    check_polynomial(4, 2);
    check_polynomial(4, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadratic),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_polynomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
