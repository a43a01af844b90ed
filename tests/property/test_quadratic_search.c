/* Algorithm 6.1 and section 6.6 on hidden metrics: errors, intervals, counts of questions, degenerate
 * metrics. */
#include "support/binary.h"
#include "support/multiclass.h"

#include "base/la.h"
#include "elicit/search/plan.h"
#include "elicit/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mel_noise exact = { .kind = MEL_NOISE_NONE };

/* The thesis' radius, as far as rates of k classes allow it. */
static mel_ball *ball_of(uint32_t k)
{
    return test_rates_ball(k, fmin(0.2, 0.999 / ((double)k * sqrt((double)k - 1.0))));
}

/* --- hidden metrics ------------------------------------------------------------------------------ */

typedef enum { ANY, DIAGONAL, LINEAR, FLAT_CENTRE } shape;

static size_t n_entries(size_t q, uint32_t degree)
{
    size_t n = 0, size = 1;
    for (uint32_t order = 1; order <= degree; order++)
        n += size *= q;
    return n;
}

static size_t sorted_place(size_t q, uint32_t order, size_t place)
{
    size_t at[MEL_MAX_DEGREE], out = 0;
    for (uint32_t i = 0; i < order; i++, place /= q)
        at[i] = place % q;
    for (uint32_t i = 1; i < order; i++)
        for (uint32_t j = i; j > 0 && at[j - 1] > at[j]; j--) {
            const size_t held = at[j];
            at[j] = at[j - 1];
            at[j - 1] = held;
        }
    for (uint32_t i = 0; i < order; i++)
        out = out * q + at[i];
    return out;
}

/* Entries of all tensors, normal, of common length 1. */
static void draw(double *entry, mel_rng *rng, size_t q, uint32_t degree, shape form)
{
    double *tensor = entry;
    size_t size = q;
    for (uint32_t order = 1; order <= degree; order++, tensor += size, size *= q)
        for (size_t i = 0; i < size; i++) {
            const size_t same = sorted_place(q, order, i);
            tensor[i] = mel_rng_normal(rng);
            if (form == LINEAR && order > 1)
                tensor[i] = 0.0;
            if (form == DIAGONAL && order == 2 && i / q != i % q)
                tensor[i] = 0.0;
            if (same < i)
                tensor[i] = tensor[same];
        }
    /* sorted_place's indices ascend, so the place that decides comes first */
    mel_scale(n_entries(q, degree), 1.0 / mel_norm2(n_entries(q, degree), entry), entry);
}

/* a = -B o: no slope at the centre. */
static void flatten_centre(double *entry, size_t q, const double *centre)
{
    for (size_t i = 0; i < q; i++)
        entry[i] = -mel_dot(q, entry + q + i * q, centre);
    mel_scale(q + q * q, 1.0 / mel_norm2(q + q * q, entry), entry);
}

static mel_metric *metric_of(const mel_layout *layout, size_t q, uint32_t degree, mel_family family,
                             const double *entry)
{
    mel_metric *metric = NULL;
    mel_error err;
    const double *tensor[MEL_MAX_DEGREE], *at = entry;
    size_t size = q;
    for (uint32_t order = 0; order < degree; order++, size *= q) {
        tensor[order] = at;
        at += size;
    }
    if (family == MEL_FAMILY_QUADRATIC)
        assert_ok(mel_metric_quadratic(&metric, layout, NULL, MEL_COST, entry, entry + q, &err), &err);
    else
        assert_ok(mel_metric_polynomial(&metric, degree, layout, NULL, MEL_COST, tensor, &err), &err);
    return metric;
}

/* --- runs ---------------------------------------------------------------------------------------- */

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

typedef struct {
    double a, curved, p90; /* medians of the l2 errors of a and of all else, ninth decile of the latter */
    double covered;        /* share of entries within their intervals */
    uint32_t questions, findings;
} errors;

/* Numbers, and intervals that hold them and are no wider than entries can be. */
static double check_numbers(const mel_metric *found, const double *truth)
{
    const size_t n = mel_metric_coefficients(found);
    const double *value = mel_metric_coefficient(found);
    double covered = 0.0;
    assert_close(mel_norm2(n, value), 1.0, 1e-9);
    for (size_t j = 0; j < n; j++) {
        double low = NAN, high = NAN;
        assert_true(mel_metric_interval(found, j, &low, &high));
        assert_true(-1.0 <= low && low <= value[j] && value[j] <= high && high <= 1.0);
        covered += low <= truth[j] && truth[j] <= high ? 1.0 / (double)n : 0.0;
    }
    return covered;
}

static errors run(uint32_t k, mel_session_options opt, size_t n_metrics, mel_noise noise, shape form)
{
    mel_ball *ball = ball_of(k);
    const mel_domain domain = { .ball = ball };
    const mel_layout *layout = mel_ball_layout(ball);
    const uint32_t degree = opt.family == MEL_FAMILY_QUADRATIC ? 2 : opt.degree;
    const size_t q = mel_ball_size(ball), n = n_entries(q, degree);
    double *entry = malloc(n * sizeof *entry), *linear = malloc(2 * n_metrics * sizeof *linear);
    double *curved = linear + n_metrics;
    mel_engine *engine = test_search_engine(&domain, &opt);
    errors out = { .covered = 0.0 };
    mel_rng rng;
    mel_rng_seed(&rng, 71);
    for (size_t i = 0; i < n_metrics; i++) {
        draw(entry, &rng, q, degree, form);
        mel_metric *truth = metric_of(layout, q, degree, opt.family, entry);
        mel_summary summary;
        mel_metric *found = NULL;
        if (noise.kind == MEL_NOISE_NONE)
            found = test_search_exact(&summary, engine, truth);
        else
            found = test_find(&summary, &domain, &opt, truth, noise, i);
        linear[i] = test_l2_error(q, mel_metric_coefficient(found), entry);
        curved[i] = test_l2_error(n - q, mel_metric_coefficient(found) + q, entry + q);
        out.covered += check_numbers(found, entry) / (double)n_metrics;
        out.questions = summary.questions;
        out.findings += summary.finding != MEL_FINDING_NONE;
        mel_metric_free(found);
        mel_metric_free(truth);
    }
    qsort(linear, n_metrics, sizeof *linear, ascending);
    qsort(curved, n_metrics, sizeof *curved, ascending);
    out.a = linear[n_metrics / 2];
    out.curved = curved[n_metrics / 2];
    out.p90 = curved[n_metrics * 9 / 10];
    engine->ops->free(engine);
    free(entry);
    free(linear);
    mel_ball_free(ball);
    return out;
}

static void print_errors(uint32_t k, const char *what, errors e)
{
    print_message("  q = %u, %s: median of a %.4f, of B %.4f (p90 %.4f), covered %.3f, %u questions\n",
                  k * (k - 1), what, e.a, e.curved, e.p90, e.covered, e.questions);
}

/* Halvings of a right angle until it is no wider than the tolerance. */
static uint32_t rounds_of(double tolerance)
{
    return (uint32_t)ceil(log2(1.57079632679489661923 / tolerance));
}

/* Of one search of a slope: signs, one to verify them, and 2 cycles of 4 questions a round. */
static uint32_t slope_questions(uint32_t n, double tolerance)
{
    return n + 1 + 2 * (n - 1) * rounds_of(tolerance) * 4;
}

/* --- quadratic ----------------------------------------------------------------------------------- */

/* q + 2 slopes, or q + 1 of which q have one angle. A slope is off by about half of the last interval, and B
 * by that over the radius: medians at the thesis' tolerance are within three times the tolerance over it. */
static void test_random_metrics(void **state)
{
    (void)state;
    static const struct {
        uint32_t k;
        size_t n;
        double tolerance;
        bool diagonal;
    } rows[] = {
        { 2, 100, 0.01, false }, { 3, 30, 0.01, false }, { 4, 10, 0.01, false }, { 5, 2, 0.01, false },
        { 2, 100, 1e-4, false }, { 3, 20, 1e-4, false }, { 2, 50, 0.01, true },  { 3, 50, 0.01, true },
        { 4, 20, 0.01, true },   { 5, 10, 0.01, true },  { 3, 20, 1e-4, true },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t k = rows[i].k, q = k * (k - 1);
        const double tolerance = rows[i].tolerance, radius = fmin(0.2, 1.0 / (k * sqrt(k - 1.0)));
        mel_session_options opt = test_search_options(MEL_FAMILY_QUADRATIC);
        opt.tolerance = tolerance;
        opt.diagonal_b = rows[i].diagonal;
        const errors e = run(k, opt, rows[i].n, exact, rows[i].diagonal ? DIAGONAL : ANY);
        print_errors(k, rows[i].diagonal ? "diagonal" : "full", e);
        assert_int_equal(e.questions, rows[i].diagonal
                                          ? slope_questions(q, tolerance) + q * slope_questions(2, tolerance)
                                          : (q + 2) * slope_questions(q, tolerance));
        assert_true(e.curved <= 3.0 * tolerance / radius);
        assert_true(e.a <= 3.0 * tolerance / radius);
        assert_true(e.covered >= (k == 2 ? 0.98 : 0.999));
    }
}

/* Median angle between the slopes that were found and the true ones. */
static double slope_error(void)
{
    enum { K = 3, Q = 6, METRICS = 20, PLACES = Q + 2 };
    mel_ball *ball = ball_of(K);
    const mel_domain domain = { .ball = ball };
    mel_session_options opt = test_search_options(MEL_FAMILY_QUADRATIC);
    opt.tolerance = 1e-3;
    mel_engine *engine = test_search_engine(&domain, &opt);
    const mel_plan *plan = (const mel_plan *)engine;
    double off[METRICS * PLACES], entry[Q + Q * Q], gradient[Q];
    mel_rng rng;
    mel_rng_seed(&rng, 72);
    for (size_t t = 0; t < METRICS; t++) {
        draw(entry, &rng, Q, 2, ANY);
        mel_metric *truth = metric_of(mel_ball_layout(ball), Q, 2, MEL_FAMILY_QUADRATIC, entry);
        mel_summary summary;
        mel_metric_free(test_search_exact(&summary, engine, truth));
        for (size_t i = 0; i < PLACES; i++) {
            mel_error err;
            assert_ok(mel_metric_gradient(gradient, truth, plan->station[i].middle, &err), &err);
            const double cosine = -mel_dot(Q, gradient, plan->station[i].slope) / mel_norm2(Q, gradient);
            off[t * PLACES + i] = acos(fmin(cosine, 1.0));
        }
        mel_metric_free(truth);
    }
    qsort(off, COUNT(off), sizeof *off, ascending);
    engine->ops->free(engine);
    mel_ball_free(ball);
    return off[COUNT(off) / 2];
}

/* Between opposite points no curvature disturbs a slope: it is off by the tolerance at most. */
static void test_slopes(void **state)
{
    (void)state;
    const double off = slope_error();
    print_message("  off by %.4f\n", off);
    assert_true(off <= 1e-3);
}

/* Theorem 6.1: within q (eps + sqrt(radius + band / radius)) for a, q sqrt(q) for B. */
static void test_band_noise(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 4; k++) {
        const double inner = 0.1 * fmin(0.2, 1.0 / (k * sqrt(k - 1.0)));
        const mel_noise band = { .kind = MEL_NOISE_BAND, .size = 0.02 * inner };
        const mel_session_options opt = test_search_options(MEL_FAMILY_QUADRATIC);
        const errors e = run(k, opt, k < 4 ? 40 : 10, band, ANY);
        const double q = k * (k - 1.0), bound = q * (0.01 + sqrt(inner + band.size / inner));
        print_message("  q = %.0f: a %.3f, B %.3f: %.3f and %.3f of the bounds\n", q, e.a, e.curved,
                      e.a / bound, e.curved / (sqrt(q) * bound));
        assert_true(e.a <= 0.5 * bound);
        assert_true(e.curved <= sqrt(q) * bound);
    }
}

/* --- degenerate ---------------------------------------------------------------------------------- */

/* The answers of a metric to which differences that are only rounding are none. */
static mel_metric *find_with_ties(mel_summary *summary, const mel_domain *domain,
                                  const mel_session_options *opt, const mel_metric *truth)
{
    mel_session *session = NULL;
    mel_metric *found = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, domain, opt, &err), &err);
    for (;;) {
        const mel_question *question = NULL;
        bool done = false;
        double better = 0.0;
        assert_ok(mel_session_ask(&question, &done, session, &err), &err);
        if (done)
            break;
        assert_ok(mel_metric_compare(&better, truth, question->a, question->b, &err), &err);
        const mel_answer answer = fabs(better) < 1e-12 ? MEL_ANSWER_SAME
                                  : better > 0.0       ? MEL_ANSWER_A
                                                       : MEL_ANSWER_B;
        assert_ok(mel_session_tell(session, question->number, answer, NAN, &err), &err);
    }
    assert_ok(mel_session_result(&found, summary, session, &err), &err);
    mel_session_free(session);
    return found;
}

/* To a respondent whose answers to differences that are only rounding are rounding, and to one who sees none
 * there. */
static void check_degenerate(uint32_t k, shape form, bool diagonal, bool ties, mel_finding finding)
{
    mel_ball *ball = ball_of(k);
    const mel_domain domain = { .ball = ball };
    const size_t q = mel_ball_size(ball);
    double *entry = malloc((q + q * q) * sizeof *entry);
    mel_rng rng;
    mel_rng_seed(&rng, 73 + k);
    draw(entry, &rng, q, 2, diagonal && form != LINEAR ? DIAGONAL : form);
    if (form == FLAT_CENTRE)
        flatten_centre(entry, q, mel_ball_centre(ball));
    mel_metric *truth = metric_of(mel_ball_layout(ball), q, 2, MEL_FAMILY_QUADRATIC, entry);
    mel_session_options opt = test_search_options(MEL_FAMILY_QUADRATIC);
    opt.diagonal_b = diagonal;
    mel_summary summary;
    mel_metric *found = ties ? find_with_ties(&summary, &domain, &opt, truth)
                             : test_find(&summary, &domain, &opt, truth, exact, 1);
    assert_int_equal(summary.finding, finding);
    assert_true(check_numbers(found, entry) >= 0.95);
    const double *value = mel_metric_coefficient(found);
    const double a = test_l2_error(q, value, entry), b = test_l2_error(q * q, value + q, entry + q);
    print_message("  q = %zu%s: a off by %.4f, B by %.4f: %.40s..\n", q, diagonal ? ", diagonal" : "", a, b,
                  mel_finding_text(summary.finding));
    assert_true(b <= (finding == MEL_FINDING_NO_CURVATURE ? 0.0 : 0.2));
    assert_true(a <= (finding == MEL_FINDING_NO_CURVATURE ? 0.01 * sqrt((double)q) : 0.2));
    mel_metric_free(found);
    mel_metric_free(truth);
    free(entry);
    mel_ball_free(ball);
}

static void test_degenerate(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 4; k++)
        for (int ties = 0; ties < 2; ties++) {
            check_degenerate(k, LINEAR, false, ties != 0, MEL_FINDING_NO_CURVATURE);
            check_degenerate(k, LINEAR, true, ties != 0, MEL_FINDING_NO_CURVATURE);
            check_degenerate(k, FLAT_CENTRE, false, ties != 0, MEL_FINDING_FLAT_CENTRE);
            if (k > 2)
                check_degenerate(k, FLAT_CENTRE, true, ties != 0, MEL_FINDING_FLAT_CENTRE);
        }
}

/* Where the centre's numbers are no binary fractions, rounding answers at a flat centre: all of these are
 * recognised nevertheless, and none of the others is taken for one. */
static void test_rounding_answers(void **state)
{
    (void)state;
    enum { Q = 6, N = Q + Q * Q, METRICS = 20 };
    mel_ball *ball = ball_of(3);
    const mel_domain domain = { .ball = ball };
    mel_rng rng;
    mel_rng_seed(&rng, 75);
    for (int i = 0; i < 4 * METRICS; i++) {
        const bool diagonal = i % 2 != 0, flat = i % 4 < 2;
        double entry[N];
        mel_session_options opt = test_search_options(MEL_FAMILY_QUADRATIC);
        opt.per_round = 2;
        opt.diagonal_b = diagonal;
        draw(entry, &rng, Q, 2, diagonal ? DIAGONAL : ANY);
        if (flat)
            flatten_centre(entry, Q, mel_ball_centre(ball));
        mel_metric *truth = metric_of(mel_ball_layout(ball), Q, 2, MEL_FAMILY_QUADRATIC, entry);
        mel_summary summary;
        mel_metric *found = test_find(&summary, &domain, &opt, truth, exact, 1);
        assert_int_equal(summary.finding, flat ? MEL_FINDING_FLAT_CENTRE : MEL_FINDING_NONE);
        mel_metric_free(found);
        mel_metric_free(truth);
    }
    mel_ball_free(ball);
}

/* A respondent to whom all is the same: no question about angles, and intervals as wide as can be. */
static void test_indifferent(void **state)
{
    (void)state;
    mel_ball *ball = ball_of(3);
    const mel_domain domain = { .ball = ball };
    for (int polynomial = 0; polynomial < 2; polynomial++) {
        const mel_session_options opt =
            test_search_options(polynomial ? MEL_FAMILY_POLYNOMIAL : MEL_FAMILY_QUADRATIC);
        const double nothing[6 + 36] = { 0.0 };
        mel_metric *truth = metric_of(mel_ball_layout(ball), 6, 2, MEL_FAMILY_QUADRATIC, nothing);
        mel_summary summary;
        mel_metric *found = find_with_ties(&summary, &domain, &opt, truth);
        assert_int_equal(summary.finding, MEL_FINDING_INDIFFERENT);
        assert_int_equal(summary.questions, (polynomial ? 35 : 8) * 7);
        for (size_t j = 0; j < mel_metric_coefficients(found); j++) {
            double low = 0.0, high = 0.0;
            assert_true(mel_metric_interval(found, j, &low, &high));
            assert_true(low == -1.0 && high == 1.0);
        }
        mel_metric_free(found);
        mel_metric_free(truth);
    }
    mel_ball_free(ball);
}

/* --- polynomials --------------------------------------------------------------------------------- */

/* One search of a slope for each place. Higher terms count less within the ball, and are known less well. */
static void test_polynomials(void **state)
{
    (void)state;
    static const struct {
        uint32_t k, degree, places;
        size_t n;
        double tolerance, a, all;
    } rows[] = {
        { 2, 2, 4, 30, 1e-4, 0.005, 0.005 }, { 3, 2, 8, 10, 1e-4, 0.005, 0.005 },
        { 2, 3, 9, 30, 1e-5, 0.005, 0.05 },  { 3, 3, 35, 10, 1e-4, 0.002, 0.02 },
        { 2, 4, 16, 30, 1e-6, 0.01, 0.3 },   { 3, 4, 112, 1, 1e-6, 0.01, 0.1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t k = rows[i].k, q = k * (k - 1);
        mel_session_options opt = test_search_options(MEL_FAMILY_POLYNOMIAL);
        opt.degree = rows[i].degree;
        opt.tolerance = rows[i].tolerance;
        const errors e = run(k, opt, rows[i].n, exact, ANY);
        print_message("  degree %u, tolerance %g:\n", opt.degree, opt.tolerance);
        print_errors(k, "polynomial", e);
        assert_int_equal(e.questions, rows[i].places * slope_questions(q, opt.tolerance));
        assert_true(e.a <= rows[i].a);
        assert_true(e.curved <= rows[i].all);
        assert_true(e.covered >= 0.98);
    }
}

/* --- at any time --------------------------------------------------------------------------------- */

/* All points are in the ball, and there is a metric after any number of answers. */
static void test_every_moment(void **state)
{
    (void)state;
    static const struct {
        mel_family family;
        bool diagonal;
    } rows[] = {
        { MEL_FAMILY_QUADRATIC, false },
        { MEL_FAMILY_QUADRATIC, true },
        { MEL_FAMILY_POLYNOMIAL, false },
    };
    mel_ball *ball = ball_of(2);
    const mel_domain domain = { .ball = ball };
    double entry[14], room[4];
    mel_rng rng;
    mel_rng_seed(&rng, 74);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t degree = rows[i].family == MEL_FAMILY_POLYNOMIAL ? 3 : 2;
        mel_session_options opt = test_search_options(rows[i].family);
        opt.diagonal_b = rows[i].diagonal;
        draw(entry, &rng, 2, degree, rows[i].diagonal ? DIAGONAL : ANY);
        mel_metric *truth = metric_of(mel_ball_layout(ball), 2, degree, rows[i].family, entry);
        mel_engine *engine = test_search_engine(&domain, &opt);
        mel_pair pair = { .a = room, .b = room + 2 };
        double covered = 0.0;
        for (uint32_t answers = 0;; answers++) {
            mel_end end = MEL_END_NOT_YET;
            mel_metric *found = NULL;
            mel_summary summary;
            mel_error err;
            double better = 0.0;
            assert_ok(engine->ops->result(engine, &found, &summary, &err), &err);
            covered = check_numbers(found, entry);
            assert_true(answers > 0 || covered >= 0.999);
            mel_metric_free(found);
            assert_ok(engine->ops->next(engine, &pair, &end, &err), &err);
            if (end != MEL_END_NOT_YET)
                break;
            for (size_t side = 0; side < 2; side++)
                assert_true(hypot(room[2 * side] - 0.5, room[2 * side + 1] - 0.5) <=
                            mel_ball_radius(ball) * (1.0 + 1e-12));
            assert_ok(mel_metric_compare(&better, truth, pair.a, pair.b, &err), &err);
            assert_ok(engine->ops->tell(engine, &pair, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B, &err),
                      &err);
        }
        engine->ops->free(engine);
        mel_metric_free(truth);
    }
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_metrics),   cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_band_noise),       cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_rounding_answers), cmocka_unit_test(test_indifferent),
        cmocka_unit_test(test_polynomials),      cmocka_unit_test(test_every_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
