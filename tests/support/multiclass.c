/* What tests of elicitation with k classes share: populations, sessions to their end, the thesis' tables. */
#include "support/multiclass.h"

#include "elicit/active/family.h"
#include "elicit/search/procedure.h"
#include "elicit/shared.h"
#include "space/shared.h"
#include "support/binary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mel_space *test_softmax_space(size_t n_classes, mel_statistics_kind kind, mel_coordinates coordinates)
{
    enum { MOST = 32 };
    double slope[MOST] = { 1.0, 3.0, 5.0 };
    assert_true(n_classes <= MOST);
    for (size_t i = 0; i < n_classes && n_classes != 3; i++)
        slope[i] = 0.5 * (double)((i + 1) * (i + 2));
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.kind = kind;
    opt.coordinates = coordinates;
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_softmax(&space, n_classes, slope, &opt, &err), &err);
    return space;
}

mel_ball *test_rates_ball(size_t n_classes, double radius)
{
    const mel_layout layout = { .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = n_classes };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, radius, NULL, NULL, &err), &err);
    return ball;
}

mel_metric *test_linear_metric(mel_family family, const mel_layout *layout, const double *a)
{
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_linear(&metric, family, layout, NULL, MEL_UTILITY, a, &err), &err);
    return metric;
}

mel_metric *test_fractional_metric(mel_family family, const mel_layout *layout, const double *a,
                                   const double *b, double b0)
{
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_fractional(&metric, family, layout, NULL, MEL_UTILITY, a, 0.0, b, b0, &err), &err);
    return metric;
}

mel_session_options test_search_options(mel_family family)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.strategy = MEL_STRATEGY_SEARCH;
    opt.family = family;
    opt.tolerance = 0.01;
    opt.max_questions = 1000000;
    return opt;
}

mel_session_options test_person_options(mel_family family, uint32_t questions)
{
    mel_session_options opt;
    mel_error err;
    mel_session_options_init(&opt);
    opt.family = family;
    opt.max_questions = questions;
    opt.tolerance = 1e-9;
    assert_ok(mel_assumption_parse(&opt.assume, "person", &err), &err);
    return opt;
}

mel_metric *test_draw_metric(mel_rng *rng, const mel_domain *domain, const mel_session_options *opt)
{
    mel_basis *f = NULL;
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_basis_new(&f, domain, opt, &err), &err);
    double *w = calloc(f->dimension + f->n_reported, sizeof *w), *coefficient = w + f->dimension;
    assert_non_null(w);
    mel_rng_sphere(rng, f->dimension, w);
    for (size_t j = 0; j < f->n_cone; j++)
        for (size_t i = 0; i < f->dimension; i++)
            if (f->cone[j * f->dimension + i] * w[i] < 0.0)
                w[i] = -w[i];
    f->ops->coefficients(f, w, coefficient);
    assert_ok(f->ops->metric(&metric, f, opt, coefficient, &err), &err);
    free(w);
    mel_basis_free(f);
    return metric;
}

mel_metric *test_find(mel_summary *summary, const mel_domain *domain, const mel_session_options *opt,
                      const mel_metric *truth, mel_noise noise, uint64_t seed)
{
    mel_oracle *oracle = test_oracle(truth, noise, seed);
    mel_session *session = NULL;
    mel_metric *found = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, domain, opt, &err), &err);
    assert_ok(mel_session_run(session, oracle, &err), &err);
    assert_ok(mel_session_result(&found, summary, session, &err), &err);
    mel_session_free(session);
    mel_oracle_free(oracle);
    return found;
}

void test_intervals_hold(size_t n, const double *a, const mel_metric *found)
{
    for (size_t i = 0; i < n; i++) {
        double low = 0.0, high = 0.0;
        assert_true(mel_metric_interval(found, i, &low, &high));
        assert_true(low <= a[i] && a[i] <= high);
    }
}

mel_status test_try_session(const mel_domain *domain, const mel_session_options *opt, mel_oracle *oracle)
{
    mel_session *session = NULL;
    mel_metric *metric = NULL;
    mel_error err;
    mel_status status = mel_session_new(&session, domain, opt, &err);
    if (status == MEL_OK)
        status = mel_session_run(session, oracle, &err);
    if (status == MEL_OK)
        status = mel_session_result(&metric, NULL, session, &err);
    assert_true((status == MEL_OK) == (metric != NULL));
    mel_metric_free(metric);
    mel_session_free(session);
    return status;
}

mel_engine *test_search_engine(const mel_domain *domain, const mel_session_options *opt)
{
    mel_engine *engine = NULL;
    mel_error err;
    mel_status status;
    if (domain->space != NULL)
        status = mel_engine_search_faces(&engine, domain, opt, &err);
    else if (opt->family == MEL_FAMILY_QUADRATIC || opt->family == MEL_FAMILY_POLYNOMIAL)
        status = mel_engine_search_curve(&engine, domain, opt, &err);
    else
        status = mel_engine_search_ball(&engine, domain, opt, &err);
    assert_ok(status, &err);
    return engine;
}

mel_metric *test_search(mel_summary *summary, mel_engine *engine, const mel_layout *layout,
                        mel_oracle *oracle)
{
    mel_procedure *procedure = (mel_procedure *)engine;
    procedure->replay.n_answers = 0;
    procedure->settled = false;
    const size_t n = mel_layout_size(layout);
    double *room = malloc(2 * n * sizeof *room);
    const uint32_t total = engine->ops->expected(engine);
    mel_pair pair = { .a = room, .b = room + n };
    mel_metric *found = NULL;
    mel_error err;
    *summary = (mel_summary){ .questions = 0 };
    for (;;) {
        mel_end end = MEL_END_NOT_YET;
        assert_ok(engine->ops->next(engine, &pair, &end, &err), &err);
        assert_int_equal(engine->ops->expected(engine), total - summary->questions);
        if (end != MEL_END_NOT_YET)
            break;
        const mel_question question = {
            .number = ++summary->questions, .layout = layout, .a = pair.a, .b = pair.b
        };
        mel_reply reply = MEL_REPLY_QUIT;
        assert_ok(mel_oracle_ask(&reply, oracle, &question, &err), &err);
        assert_ok(engine->ops->tell(engine, &pair, (mel_answer)reply, &err), &err);
    }
    assert_int_equal(summary->questions, total);
    assert_ok(engine->ops->result(engine, &found, summary, &err), &err);
    free(room);
    return found;
}

mel_metric *test_search_exact(mel_summary *summary, mel_engine *engine, const mel_metric *truth)
{
    mel_oracle *oracle = test_oracle(truth, (mel_noise){ .kind = MEL_NOISE_NONE }, 1);
    mel_metric *found = test_search(summary, engine, mel_metric_layout(truth), oracle);
    mel_oracle_free(oracle);
    return found;
}

/* --- points ------------------------------------------------------------------------------------- */

double *test_space_points(const mel_space *space, size_t n, uint64_t seed)
{
    enum { RULES = 300, MIXED = 4 };
    const size_t size = mel_space_size(space);
    double *points = calloc(n * size, sizeof *points), *rule = malloc(RULES * size * sizeof *rule);
    double *direction = malloc(size * sizeof *direction), share[MIXED];
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t r = 0; r < RULES; r++) {
        mel_rng_sphere(&rng, size, direction);
        mel_error err;
        assert_ok(mel_space_linear(rule + r * size, space, direction, &err), &err);
    }
    for (size_t i = 0; i < n; i++) {
        mel_rng_dirichlet(&rng, MIXED, NULL, share);
        for (size_t m = 0; m < MIXED; m++) {
            const double *from = rule + mel_rng_below(&rng, RULES) * size;
            for (size_t j = 0; j < size; j++)
                points[i * size + j] += share[m] * from[j];
        }
    }
    free(rule);
    free(direction);
    return points;
}

double *test_ball_points(const mel_ball *ball, size_t n, uint64_t seed)
{
    const size_t size = mel_ball_size(ball), groups = mel_ball_layout(ball)->n_groups;
    const size_t per_group = size / (groups > 1 ? groups : 1);
    const double *centre = mel_ball_centre(ball); /* of one group */
    double *points = malloc(n * size * sizeof *points);
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < n; i++) {
        double *point = points + i * size;
        mel_rng_sphere(&rng, size, point);
        const double length = mel_ball_radius(ball) * pow(mel_rng_uniform(&rng), 1.0 / (double)size);
        for (size_t j = 0; j < size; j++)
            point[j] = centre[j % per_group] + length * point[j];
    }
    return points;
}

double test_order_agreement(size_t n, size_t size, const double *points, const mel_metric *one,
                            const mel_metric *other)
{
    size_t agreed = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        double x = 0.0, y = 0.0;
        mel_error err;
        assert_ok(mel_metric_compare(&x, one, points + i * size, points + (i + 1) * size, &err), &err);
        assert_ok(mel_metric_compare(&y, other, points + i * size, points + (i + 1) * size, &err), &err);
        agreed += (x > 0.0) == (y > 0.0);
    }
    const size_t pairs = n / 2;
    return (double)agreed / (double)pairs;
}

void test_value_ratio(double *mean, double *deviation, size_t n, size_t size, const double *points,
                      const mel_metric *found, const mel_metric *truth)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) {
        double x = 0.0, y = 0.0;
        mel_error err;
        assert_ok(mel_metric_value(&x, found, points + i * size, &err), &err);
        assert_ok(mel_metric_value(&y, truth, points + i * size, &err), &err);
        sum += x / y;
        squares += (x / y) * (x / y);
    }
    *mean = sum / (double)n;
    *deviation = sqrt(fmax(squares / (double)n - *mean * *mean, 0.0));
}

test_likeness test_compare_search(mel_engine *engine, const mel_metric *truth, size_t n, const double *points)
{
    test_likeness out;
    mel_summary summary;
    mel_metric *found = test_search_exact(&summary, engine, truth);
    const size_t size = mel_layout_size(mel_metric_layout(truth));
    out.agreement = test_order_agreement(n, size, points, found, truth);
    test_value_ratio(&out.alpha, &out.sigma, n, size, points, found, truth);
    out.questions = summary.questions;
    mel_metric_free(found);
    return out;
}

double test_max_error(size_t n, const double *x, const double *y)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

double test_l2_error(size_t n, const double *x, const double *y)
{
    double squares = 0.0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(squares);
}
