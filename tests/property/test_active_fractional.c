/* Active elicitation of binary linear-fractional metrics: the algebra of bivectors, how many questions it
 * takes on random metrics, whether intervals cover, noise, directions, repeated questions, odd faces. */
#include "support/binary.h"

#include "base/la.h"
#include "base/stat.h"
#include "elicit/families/families.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COEFFICIENTS = 6 };

/* Shares of the two classes of a face. */
typedef struct {
    double positives, negatives;
} class_shares;

/* Questions on a planar face. */
typedef struct {
    mel_point a, b;
    bool repeated;
} face_pair;

static void face_pair_write(mel_pair *out, const face_pair *pair)
{
    out->a[0] = pair->a.tp;
    out->a[1] = pair->a.tn;
    out->b[0] = pair->b.tp;
    out->b[1] = pair->b.tn;
    out->repeated = pair->repeated;
}

static face_pair face_pair_read(const mel_pair *pair)
{
    return (face_pair){
        .a = { pair->a[0], pair->a[1] },
        .b = { pair->b[0], pair->b[1] },
        .repeated = pair->repeated,
    };
}

enum { METRICS = 200, NOISY = 50, ALGEBRA = 2000 };

static size_t count_metrics(void)
{
    return test_repeats(METRICS, 60, 30);
}

static mel_face *logistic_face(double a, double b)
{
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, a, b, &err), &err);
    return face;
}

static mel_session_options options(void)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = MEL_FAMILY_LINEAR_FRACTIONAL;
    opt.strategy = MEL_STRATEGY_ACTIVE;
    return opt;
}

/* p11, p00, q11, q00, q0 of a random metric that satisfies Assumption 3.2 of the thesis. */
typedef struct {
    double p[2], q[3];
} parameters;

static parameters random_parameters(mel_rng *rng, double positives, double negatives)
{
    parameters m;
    m.p[0] = mel_rng_uniform(rng);
    m.p[1] = 1.0 - m.p[0];
    m.q[0] = m.p[0] - mel_rng_uniform(rng);
    m.q[1] = m.p[1] - mel_rng_uniform(rng);
    m.q[2] = (m.p[0] - m.q[0]) * positives + (m.p[1] - m.q[1]) * negatives;
    return m;
}

static double value(const parameters *m, mel_point c)
{
    return (m->p[0] * c.tp + m->p[1] * c.tn) / (m->q[0] * c.tp + m->q[1] * c.tn + m->q[2]);
}

/* The angle of the direction in which the metric grows at c. */
static double level_angle(const parameters *m, mel_point c)
{
    const double at = value(m, c); /* the denominator is positive and does not turn the gradient */
    return atan2(m->p[1] - at * m->q[1], m->p[0] - at * m->q[0]);
}

static parameters parameters_of(const mel_metric *metric)
{
    parameters m;
    double p0 = 0.0, q0 = 0.0;
    memcpy(m.p, mel_metric_numerator(metric, &p0), sizeof m.p);
    memcpy(m.q, mel_metric_denominator(metric, &q0), 2 * sizeof(double));
    assert_close(p0, 0.0, 0.0);
    m.q[2] = q0;
    return m;
}

/* Largest angle between the level lines of two metrics over the face. */
static double level_error(const mel_face *face, const parameters *one, const parameters *other)
{
    const size_t n = mel_face_vertices(face), step = n / 200 + 1;
    double largest =
        fabs(level_angle(one, mel_face_centre(face)) - level_angle(other, mel_face_centre(face)));
    for (size_t i = 0; i < n; i += step) {
        const mel_point c = mel_face_vertex(face, i);
        largest = fmax(largest, fabs(level_angle(one, c) - level_angle(other, c)));
    }
    return largest;
}

/* --- algebra ------------------------------------------------------------------------------------ */

/* The member of the class of metrics with the same level lines as w that is reported: 0 where everything is
 * wrong, 1 where everything is right, 1/2 halfway. */
static parameters metric_of(class_shares s, const double w[3])
{
    const double p11 = -(w[1] + w[2]) / s.positives, p00 = (w[0] + w[2]) / s.negatives, sum = p11 + p00;
    return (parameters){ { p11 / sum, p00 / sum },
                         { -2.0 * w[2] / (s.positives * sum), 2.0 * w[2] / (s.negatives * sum),
                           (w[0] - w[1]) / sum } };
}

static void pivot_of(double w[3], class_shares s, const parameters *m)
{
    const double coefficient[COEFFICIENTS] = { m->p[0], m->p[1], 0.0, m->q[0], m->q[1], m->q[2] };
    assert_true(mel_pivot_of(w, s.positives, s.negatives, coefficient));
}

static parameters reported(class_shares s, const parameters *m)
{
    double w[3];
    pivot_of(w, s, m);
    return metric_of(s, w);
}

/* Increasing on the whole square. */
static bool in_cone(const double w[3], double slack)
{
    return w[0] >= fabs(w[2]) - slack && -w[1] >= fabs(w[2]) - slack;
}

static mel_basis *basis_of(const mel_face *face)
{
    mel_session_options opt = options();
    mel_basis *f = NULL;
    mel_error err;
    assert_ok(mel_basis_new(&f, &(mel_domain){ .face = face }, &opt, &err), &err);
    assert_int_equal(f->dimension, 3);
    return f;
}

/* Preferences, values and gradients of a metric, read off its bivector. */
static void check_bivector(mel_rng *rng, const mel_basis *f, class_shares s, const parameters *truth)
{
    double w[3], coefficient[COEFFICIENTS], judged[64];
    pivot_of(w, s, truth);
    assert_true(in_cone(w, 1e-12));
    for (size_t j = 0; j < f->n_cone; j++)
        assert_true(mel_dot(3, f->cone + 3 * j, w) >= -1e-12);
    f->ops->coefficients(f, w, coefficient);
    const parameters m = { { coefficient[0], coefficient[1] },
                           { coefficient[3], coefficient[4], coefficient[5] } };
    assert_close(m.p[0], truth->p[0], 1e-9);
    assert_close(m.p[0] + m.p[1], 1.0, 1e-12);
    assert_close(coefficient[2], 0.0, 0.0);
    assert_close(m.q[2], (m.p[0] - m.q[0]) * s.positives + (m.p[1] - m.q[1]) * s.negatives, 1e-12);
    assert_true(m.p[0] >= m.q[0] - 1e-12 && m.p[1] >= m.q[1] - 1e-12);
    assert_close(value(&m, (mel_point){ s.positives, s.negatives }), 1.0, 1e-12);
    assert_close(value(&m, (mel_point){ 0.5 * s.positives, 0.5 * s.negatives }), 0.5, 1e-12);
    for (int i = 0; i < 20; i++) {
        const double a[2] = { s.positives * mel_rng_uniform(rng), s.negatives * mel_rng_uniform(rng) };
        const double b[2] = { s.positives * mel_rng_uniform(rng), s.negatives * mel_rng_uniform(rng) };
        const mel_point pa = { a[0], a[1] }, pb = { b[0], b[1] };
        const double c[2] = { 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]) };
        double row[3], slope[2], between[2];
        f->ops->row(f, a, b, row);
        const double difference = value(&m, pa) - value(&m, pb), known = value(truth, pa) - value(truth, pb);
        assert_close(f->ops->gain(f, w, a, b) * mel_dot(3, row, w), difference, 1e-9);
        assert_true(fabs(known) < 1e-9 || (known > 0.0) == (mel_dot(3, row, w) > 0.0));
        f->ops->slope(f, a, w, slope);
        assert_close(atan2(slope[1], slope[0]), level_angle(truth, pa), 1e-6);
        f->ops->slope(f, c, w, between); /* a pair reads the slope at its middle, however long it is */
        assert_close(mel_dot(3, row, w), between[0] * (a[0] - b[0]) + between[1] * (a[1] - b[1]), 1e-9);
    }
    assert_true(f->n_judged <= COUNT(judged));
    f->ops->judged(f, w, judged);
    for (size_t i = 0; i < f->n_judged; i++)
        assert_true(judged[i] >= -1e-9 && judged[i] <= 1.5707963267948966 + 1e-9);
}

/* Two classes: every linear-fractional metric is a linear metric of the bivectors of pairs. */
static void test_bivectors(void **state)
{
    (void)state;
    static const double faces[][2] = { { 5.0, 0.0 }, { 5.0, 2.0 }, { 2.0, -3.0 }, { 20.0, 1.0 } };
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t k = 0; k < COUNT(faces); k++) {
        mel_face *face = logistic_face(faces[k][0], faces[k][1]);
        mel_basis *f = basis_of(face);
        const class_shares s = { mel_face_positives(face), mel_face_negatives(face) };
        for (size_t j = 0; j < f->n_cone; j++)
            assert_true(mel_dot(3, f->cone + 3 * j, f->start) > 0.0);
        for (int i = 0; i < ALGEBRA / (int)COUNT(faces); i++) {
            const parameters m = random_parameters(&rng, s.positives, s.negatives);
            check_bivector(&rng, f, s, &m);
        }
        mel_basis_free(f);
        mel_face_free(face);
    }
}

/* The cone is no larger than the assumption: every w inside is a metric that satisfies it. */
static void test_cone(void **state)
{
    (void)state;
    mel_face *face = logistic_face(5.0, 2.0);
    mel_basis *f = basis_of(face);
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    size_t inside = 0, outside = 0;
    for (int i = 0; i < ALGEBRA; i++) {
        double w[3], c[COEFFICIENTS], least = INFINITY;
        mel_rng_sphere(&rng, 3, w);
        f->ops->coefficients(f, w, c);
        const bool satisfies = c[0] >= 0.0 && c[1] >= 0.0 && c[0] >= c[3] && c[1] >= c[4] && c[5] > 0.0;
        /* -w has the same metric; of the two the one with positive denominator counts. */
        mel_scale(3, w[0] - w[1] > 0.0 ? 1.0 : -1.0, w);
        for (size_t j = 0; j < f->n_cone; j++)
            least = fmin(least, mel_dot(3, f->cone + 3 * j, w));
        assert_int_equal(least >= 0.0, satisfies);
        assert_int_equal(in_cone(w, 0.0), satisfies);
        inside += satisfies;
        outside += !satisfies;
    }
    assert_true(inside > 0 && outside > 0);
    mel_basis_free(f);
    mel_face_free(face);
}

/* --- how many questions --------------------------------------------------------------------------- */

typedef struct {
    mel_engine *engine;
    const mel_face *face;
    mel_metric *metric; /* as known now */
    mel_summary summary;
} elicitation;

static void look(elicitation *e)
{
    mel_error err;
    mel_metric_free(e->metric);
    e->metric = NULL;
    assert_ok(e->engine->ops->result(e->engine, &e->metric, &e->summary, &err), &err);
}

static elicitation begin(const mel_face *face, const mel_session_options *opt)
{
    elicitation e = { .face = face };
    mel_error err;
    assert_ok(mel_engine_features(&e.engine, &(mel_domain){ .face = face }, opt, &err), &err);
    return e;
}

static void finish(elicitation *e)
{
    e->engine->ops->free(e->engine);
    mel_metric_free(e->metric);
}

/* The next question, asked twice; every pair must be feasible and two different points. */
static mel_end next(elicitation *e, face_pair *pair)
{
    double room[4], room_again[4];
    mel_pair written = { .a = room, .b = room + 2 }, again = { .a = room_again, .b = room_again + 2 };
    mel_end end, end_again;
    mel_error err;
    assert_ok(e->engine->ops->next(e->engine, &written, &end, &err), &err);
    assert_ok(e->engine->ops->next(e->engine, &again, &end_again, &err), &err);
    assert_int_equal(end, end_again);
    *pair = face_pair_read(&written);
    if (end != MEL_END_NOT_YET)
        return end;
    assert_memory_equal(room, room_again, sizeof room);
    assert_int_equal(written.repeated, again.repeated);
    assert_true(mel_face_contains(e->face, pair->a, 1e-9) && mel_face_contains(e->face, pair->b, 1e-9));
    assert_true(hypot(pair->a.tp - pair->b.tp, pair->a.tn - pair->b.tn) > 1e-3);
    return end;
}

static void answer(elicitation *e, const face_pair *pair, mel_answer reply)
{
    double room[4];
    mel_pair written = { .a = room, .b = room + 2 };
    mel_error err;
    face_pair_write(&written, pair);
    assert_ok(e->engine->ops->tell(e->engine, &written, reply, &err), &err);
}

static mel_answer truthful(const parameters *m, const face_pair *pair)
{
    return value(m, pair->a) > value(m, pair->b) ? MEL_ANSWER_A : MEL_ANSWER_B;
}

enum { QUESTIONS = 16 };
/* By number of questions: 2, 4, 8, 12, 16. */
typedef struct {
    double angle[QUESTIONS + 1][METRICS], p11[QUESTIONS + 1][METRICS];
    size_t radius_covers[QUESTIONS + 1], p11_covers[QUESTIONS + 1], q_covers[QUESTIONS + 1];
} outcome;

static bool covers(const mel_metric *metric, size_t coefficient, double truth)
{
    double low = 0.0, high = 0.0;
    assert_true(mel_metric_interval(metric, coefficient, &low, &high));
    return truth >= low && truth <= high;
}

static void record(outcome *o, size_t run, size_t q, elicitation *e, const parameters *truth)
{
    const class_shares s = { mel_face_positives(e->face), mel_face_negatives(e->face) };
    const parameters wanted = reported(s, truth);
    look(e);
    const parameters found = parameters_of(e->metric);
    o->angle[q][run] = level_error(e->face, &found, truth);
    o->p11[q][run] = fabs(found.p[0] - truth->p[0]);
    o->radius_covers[q] += o->angle[q][run] <= e->summary.radius;
    o->p11_covers[q] += covers(e->metric, 0, wanted.p[0]);
    o->q_covers[q] += covers(e->metric, 3, wanted.q[0]);
}

static outcome *elicit_random(double a, double b, bool prior, size_t runs, uint64_t seed)
{
    mel_face *face = logistic_face(a, b);
    const class_shares s = { mel_face_positives(face), mel_face_negatives(face) };
    outcome *o = calloc(1, sizeof *o);
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t run = 0; run < runs; run++) {
        parameters truth = random_parameters(&rng, s.positives, s.negatives);
        while (prior) {
            double w[3];
            mel_rng_sphere(&rng, 3, w);
            if (!in_cone(w, 0.0))
                continue;
            truth = metric_of(s, w);
            break;
        }
        mel_session_options opt = options();
        opt.seed = run;
        opt.tolerance = 1e-6;
        elicitation e = begin(face, &opt);
        for (size_t q = 1; q <= QUESTIONS; q++) {
            face_pair pair;
            assert_int_equal(next(&e, &pair), MEL_END_NOT_YET);
            answer(&e, &pair, truthful(&truth, &pair));
            if (q == 2 || q % 4 == 0)
                record(o, run, q, &e, &truth);
        }
        finish(&e);
    }
    mel_face_free(face);
    return o;
}

static double p95(size_t n, double *x)
{
    return mel_quantile_sort(n, x, 0.95);
}

/* Issue's table: all level lines within 0.05 rad in 12 questions and 0.01 in 16; p11 within 0.05 in 8. */
static void test_questions(void **state)
{
    (void)state;
    const struct {
        double a, b;
        size_t runs;
        bool p11_too; /* the figure is for balanced classes */
    } rows[] = { { 5.0, 0.0, count_metrics(), true }, { 5.0, 2.0, count_metrics() / 2, false } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t n = rows[i].runs;
        outcome *o = elicit_random(rows[i].a, rows[i].b, false, n, 3 + i);
        print_message("  logistic:%g,%g: p11 after 8 %.4f; angle after 12 %.4f, after 16 %.4f\n", rows[i].a,
                      rows[i].b, p95(n, o->p11[8]), p95(n, o->angle[12]), p95(n, o->angle[16]));
        assert_true(!rows[i].p11_too || p95(n, o->p11[8]) <= 0.05);
        assert_true(p95(n, o->angle[12]) <= 0.05);
        assert_true(p95(n, o->angle[16]) <= 0.01);
        free(o);
    }
}

/* How many of n intervals of 95% may be right at least: three standard deviations below. */
static double least_covered(double n)
{
    return 0.95 * n - 3.0 * sqrt(0.95 * 0.05 * n);
}

/* At each count within what so many runs can tell, and all together closely. */
static void test_coverage(void **state)
{
    (void)state;
    static const size_t counts[] = { 2, 4, 8, 12, 16 };
    const size_t n = count_metrics();
    outcome *o = elicit_random(5.0, 1.0, true, n, 9);
    size_t covered = 0, all = 0;
    for (size_t i = 0; i < COUNT(counts); i++) {
        const size_t q = counts[i];
        print_message("  after %zu of %zu: radius %zu, p11 %zu, q11 %zu\n", q, n, o->radius_covers[q],
                      o->p11_covers[q], o->q_covers[q]);
        assert_true((double)o->radius_covers[q] >= least_covered((double)n));
        assert_true((double)o->p11_covers[q] >= least_covered((double)n));
        assert_true((double)o->q_covers[q] >= least_covered((double)n));
        covered += o->radius_covers[q] + o->p11_covers[q] + o->q_covers[q];
        all += 3 * n;
    }
    const double share = (double)covered / (double)all;
    assert_true(share >= 0.92 && share <= 0.98);
    free(o);
}

/* The six metrics of the thesis' table: order agreement after a session of 0.01 rad. */
static void test_table(void **state)
{
    (void)state;
    static const parameters rows[] = {
        { { 1.0, 0.0 }, { 0.5, -0.5, 0.5 } },   { { 1.0, 0.0 }, { 0.8, -0.8, 0.5 } },
        { { 0.8, 0.2 }, { 0.3, 0.1, 0.3 } },    { { 0.6, 0.4 }, { 0.4, 0.2, 0.2 } },
        { { 0.4, 0.6 }, { -0.1, -0.2, 0.65 } }, { { 0.2, 0.8 }, { -0.4, -0.2, 0.8 } },
    };
    mel_face *face = logistic_face(5.0, 0.0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_metric *truth = test_fractional(rows[i].p, rows[i].q);
        mel_oracle *oracle = test_oracle(truth, (mel_noise){ 0 }, 1);
        mel_session_options opt = options();
        opt.tolerance = 0.01;
        mel_summary summary;
        mel_metric *found = test_elicit(&summary, face, &opt, oracle);
        const double agreement = test_agreement(face, truth, found, 1000, 5);
        print_message("  row %zu: %u questions, radius %.4f, agreement %.4f\n", i + 1, summary.questions,
                      summary.radius, agreement);
        assert_int_equal(summary.end, MEL_END_TOLERANCE);
        assert_int_equal(summary.disagreements, 0);
        assert_true(summary.radius <= opt.tolerance);
        assert_true(agreement >= 0.995);
        mel_metric_free(found);
        mel_oracle_free(oracle);
        mel_metric_free(truth);
    }
    mel_face_free(face);
}

/* --- noise ---------------------------------------------------------------------------------------- */

typedef struct {
    mel_noise noise;
    mel_assumption assume;
    uint32_t questions;
    double median, p90; /* of the largest angle error, at most */
} noisy_row;

static void check_noise(const mel_face *face, const noisy_row *row)
{
    double error[NOISY];
    size_t covered = 0;
    const size_t n = test_repeats(NOISY, 15, 10);
    mel_rng rng;
    mel_rng_seed(&rng, 21);
    const class_shares s = { mel_face_positives(face), mel_face_negatives(face) };
    for (uint64_t run = 0; run < n; run++) {
        /* Noise is in units of the value, and these are the units that the engine means. */
        const parameters any = random_parameters(&rng, s.positives, s.negatives), m = reported(s, &any);
        mel_metric *truth = test_fractional(m.p, m.q);
        mel_oracle *oracle = test_oracle(truth, row->noise, run);
        mel_session_options opt = options();
        opt.seed = run;
        opt.tolerance = 1e-4;
        opt.assume = row->assume;
        opt.max_questions = row->questions;
        mel_summary summary;
        mel_metric *found = test_elicit(&summary, face, &opt, oracle);
        const parameters got = parameters_of(found);
        error[run] = level_error(face, &m, &got);
        covered += error[run] <= summary.radius;
        assert_int_equal(isnan(summary.error_rate), row->assume.kind != MEL_NOISE_FLIP);
        mel_metric_free(found);
        mel_oracle_free(oracle);
        mel_metric_free(truth);
    }
    mel_sort(n, error);
    const double median = mel_quantile_sorted(n, error, 0.5), p90 = mel_quantile_sorted(n, error, 0.9);
    print_message("  noise %d after %u: median %.4f, p90 %.4f, covered %zu of %zu\n", (int)row->noise.kind,
                  row->questions, median, p90, covered, n);
    assert_true(median <= row->median);
    assert_true(p90 <= row->p90);
    assert_true((double)covered >= least_covered((double)n));
}

static void test_noise(void **state)
{
    (void)state;
    static const noisy_row rows[] = {
        { { MEL_NOISE_FLIP, 0.1, false }, { MEL_NOISE_FLIP, 0.0 }, 30, 0.03, 0.12 },
        { { MEL_NOISE_NONE, 0.0, false }, { MEL_NOISE_FLIP, 0.0 }, 20, 0.03, 0.06 },
        { { MEL_NOISE_BAND, 0.005, false }, { MEL_NOISE_BAND, 0.005 }, 20, 0.02, 0.03 },
        { { MEL_NOISE_LOGISTIC, 50.0, false }, { MEL_NOISE_LOGISTIC, 0.0 }, 25, 0.06, 0.15 },
    };
    mel_face *face = logistic_face(5.0, 0.0);
    for (size_t i = 0; i < COUNT(rows); i++)
        check_noise(face, &rows[i]);
    mel_face_free(face);
}

/* Once all that is possible lies within the band of every level line, more questions say nothing more. */
static void test_noise_limit(void **state)
{
    (void)state;
    const parameters truth = { { 0.6, 0.4 }, { 0.1, -0.1, 0.5 } };
    mel_face *face = logistic_face(5.0, 0.0);
    mel_metric *metric = test_fractional(truth.p, truth.q);
    for (int adversarial = 0; adversarial < 2; adversarial++) {
        const mel_noise noise = { MEL_NOISE_BAND, 0.02, adversarial != 0 };
        mel_oracle *oracle = test_oracle(metric, noise, 3);
        mel_session_options opt = options();
        opt.assume = (mel_assumption){ MEL_NOISE_BAND, 0.02 };
        opt.tolerance = 1e-4;
        mel_summary summary;
        mel_metric *found = test_elicit(&summary, face, &opt, oracle);
        print_message("  %u questions, radius %.4f\n", summary.questions, summary.radius);
        assert_true(adversarial || summary.end == MEL_END_NOISE);
        assert_true(summary.radius > 0.005 && summary.radius < 0.15);
        assert_true(test_agreement(face, metric, found, 1000, 4) >= 0.98);
        mel_metric_free(found);
        mel_oracle_free(oracle);
    }
    mel_metric_free(metric);
    mel_face_free(face);
}

/* Whoever assumes no error and gets a contradictory answer ends up with a metric all the same. */
static void test_contradiction(void **state)
{
    (void)state;
    mel_face *face = logistic_face(5.0, 0.0);
    const mel_session_options opt = options();
    elicitation e = begin(face, &opt);
    face_pair pair;
    assert_int_equal(next(&e, &pair), MEL_END_NOT_YET);
    answer(&e, &pair, MEL_ANSWER_A);
    answer(&e, &pair, MEL_ANSWER_B);
    for (int i = 0; i < 10 && next(&e, &pair) == MEL_END_NOT_YET; i++)
        answer(&e, &pair, MEL_ANSWER_A);
    look(&e);
    assert_true(e.summary.error_rate > 0.0 && e.summary.error_rate < 0.5);
    finish(&e);
    mel_face_free(face);
}

/* "About the same" whenever the values differ by less than 0.02: informative, not harmful. */
static void test_about_the_same(void **state)
{
    (void)state;
    const parameters truth = { { 0.6, 0.4 }, { 0.1, -0.1, 0.5 } };
    mel_face *face = logistic_face(5.0, 0.0);
    mel_session_options opt = options();
    opt.assume = (mel_assumption){ MEL_NOISE_FLIP, 0.0 };
    elicitation e = begin(face, &opt);
    size_t same = 0;
    for (int q = 0; q < 16; q++) {
        face_pair pair;
        if (next(&e, &pair) != MEL_END_NOT_YET)
            break;
        const bool near = fabs(value(&truth, pair.a) - value(&truth, pair.b)) < 0.02;
        same += near;
        answer(&e, &pair, near ? MEL_ANSWER_SAME : truthful(&truth, &pair));
    }
    look(&e);
    const parameters found = parameters_of(e.metric);
    print_message("  %zu ties, error %.4f, radius %.4f\n", same, level_error(face, &found, &truth),
                  e.summary.radius);
    assert_true(same >= 3);
    assert_true(level_error(face, &found, &truth) <= 0.08);
    finish(&e);
    mel_face_free(face);
}

/* --- directions, repetitions, odd faces ----------------------------------------------------------- */

static mel_answer reversed(mel_answer reply)
{
    return reply == MEL_ANSWER_A ? MEL_ANSWER_B : MEL_ANSWER_A;
}

static void test_direction(void **state)
{
    (void)state;
    const parameters truth = { { 0.7, 0.3 }, { 0.2, -0.2, 0.5 } };
    static const struct {
        mel_direction direction;
        mel_noise_kind assume;
        bool decreasing;
        uint32_t first; /* questions about the direction */
    } rows[] = {
        { MEL_INCREASING, MEL_NOISE_NONE, false, 0 },
        { MEL_DECREASING, MEL_NOISE_NONE, true, 0 },
        { MEL_DIRECTION_UNKNOWN, MEL_NOISE_NONE, false, 1 },
        { MEL_DIRECTION_UNKNOWN, MEL_NOISE_NONE, true, 1 },
        { MEL_DIRECTION_UNKNOWN, MEL_NOISE_FLIP, true, 2 },
    };
    mel_face *face = logistic_face(5.0, 1.0);
    mel_point best, worst;
    assert_ok(mel_face_support(&best, face, 1.0, 1.0, NULL), NULL);
    assert_ok(mel_face_support(&worst, face, -1.0, -1.0, NULL), NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session_options opt = options();
        opt.direction = rows[i].direction;
        opt.assume.kind = rows[i].assume;
        elicitation e = begin(face, &opt);
        assert_true(e.engine->ops->expected(e.engine) >= rows[i].first);
        face_pair pair;
        for (uint32_t q = 0; next(&e, &pair) == MEL_END_NOT_YET; q++) {
            const bool about_direction = pair.a.tp == best.tp && pair.b.tp == worst.tp;
            assert_int_equal(about_direction, q < rows[i].first);
            const mel_answer reply = truthful(&truth, &pair);
            answer(&e, &pair, rows[i].decreasing ? reversed(reply) : reply);
        }
        look(&e);
        const parameters found = parameters_of(e.metric);
        assert_true(level_error(face, &found, &truth) <= 2.0 * opt.tolerance);
        assert_int_equal(mel_metric_orientation(e.metric), rows[i].decreasing ? MEL_COST : MEL_UTILITY);
        assert_int_equal(e.engine->ops->expected(e.engine), 0);
        finish(&e);
    }
    mel_face_free(face);
}

/* Somebody who finds the best and the worst classifier about the same is not asked about it for ever. */
static void test_undecided(void **state)
{
    (void)state;
    mel_face *face = logistic_face(5.0, 0.0);
    mel_session_options opt = options();
    opt.direction = MEL_DIRECTION_UNKNOWN;
    elicitation e = begin(face, &opt);
    face_pair first, pair;
    assert_int_equal(next(&e, &first), MEL_END_NOT_YET);
    pair = first;
    int tries = 0;
    for (; tries < 10 && pair.a.tp == first.a.tp && pair.b.tp == first.b.tp; tries++) {
        answer(&e, &pair, MEL_ANSWER_SAME);
        assert_int_equal(next(&e, &pair), MEL_END_NOT_YET);
    }
    assert_true(tries < 10);
    finish(&e);
    mel_face_free(face);
}

static bool is_swapped(const face_pair *x, const face_pair *y)
{
    return x->a.tp == y->b.tp && x->a.tn == y->b.tn && x->b.tp == y->a.tp && x->b.tn == y->a.tn;
}

static void test_repetition(void **state)
{
    (void)state;
    enum { ASKED = 20 };
    static const struct {
        mel_noise_kind assume;
        uint32_t every;
        size_t want;
    } rows[] = {
        { MEL_NOISE_FLIP, 4, 5 },
        { MEL_NOISE_FLIP, 0, 0 },
        { MEL_NOISE_FLIP, 1, 10 },
        { MEL_NOISE_NONE, 4, 0 },
    };
    const parameters truth = { { 0.7, 0.3 }, { 0.2, -0.2, 0.5 } };
    mel_face *face = logistic_face(5.0, 0.0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session_options opt = options();
        opt.tolerance = 1e-9;
        opt.assume.kind = rows[i].assume;
        opt.repeat_every = rows[i].every;
        elicitation e = begin(face, &opt);
        face_pair pair[ASKED];
        bool repeated[ASKED] = { false };
        size_t repeats = 0;
        for (size_t q = 0; q < ASKED; q++) {
            assert_int_equal(next(&e, &pair[q]), MEL_END_NOT_YET);
            if (pair[q].repeated) {
                size_t j = 0;
                while (j < q && !is_swapped(&pair[j], &pair[q]))
                    j++;
                assert_true(j < q && !pair[j].repeated && !repeated[j]);
                repeated[j] = true;
                repeats++;
            }
            answer(&e, &pair[q], truthful(&truth, &pair[q]));
        }
        assert_int_equal(repeats, rows[i].want);
        finish(&e);
    }
    mel_face_free(face);
}

/* Same header and answers, same questions; another seed, other questions. */
static void test_replay(void **state)
{
    (void)state;
    const parameters truth = { { 0.3, 0.7 }, { 0.2, -0.2, 0.5 } };
    mel_face *face = logistic_face(5.0, 0.5);
    mel_session_options opt = options();
    opt.assume.kind = MEL_NOISE_FLIP;
    elicitation one = begin(face, &opt), two = begin(face, &opt);
    opt.seed = 2;
    elicitation other = begin(face, &opt);
    size_t different = 0;
    for (int q = 0; q < 12; q++) {
        face_pair a, b, c;
        assert_int_equal(next(&one, &a), MEL_END_NOT_YET);
        assert_int_equal(next(&two, &b), MEL_END_NOT_YET);
        assert_int_equal(next(&other, &c), MEL_END_NOT_YET);
        assert_memory_equal(&a.a, &b.a, sizeof a.a);
        assert_memory_equal(&a.b, &b.b, sizeof a.b);
        different += a.a.tp != c.a.tp;
        look(&one); /* looking changes nothing */
        answer(&one, &a, truthful(&truth, &a));
        answer(&two, &b, truthful(&truth, &b));
        answer(&other, &c, truthful(&truth, &c));
    }
    assert_true(different > 6);
    finish(&one);
    finish(&two);
    finish(&other);
    mel_face_free(face);
}

/* Scores that know nothing leave a segment: one question, then there is nothing more to ask. */
static void test_segment(void **state)
{
    (void)state;
    mel_face *face = logistic_face(0.0, 0.3);
    const mel_session_options opt = options();
    elicitation e = begin(face, &opt);
    face_pair pair;
    assert_int_equal(next(&e, &pair), MEL_END_NOT_YET);
    answer(&e, &pair, MEL_ANSWER_A);
    assert_int_equal(next(&e, &pair), MEL_END_EXHAUSTED);
    look(&e);
    finish(&e);
    mel_face_free(face);
}

/* A few scores make a polygon of few corners; nothing in the engine needs a smooth one. */
static void test_few_scores(void **state)
{
    (void)state;
    static const double score[] = { 0.1, 0.2, 0.35, 0.4, 0.6, 0.7, 0.9 };
    static const uint8_t role[] = { 0, 0, 1, 0, 1, 0, 1 };
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_scores(&face, COUNT(score), score, role, NULL, &err), &err);
    const parameters truth = {
        { 0.6, 0.4 }, { 0.2, -0.3, 0.4 * mel_face_positives(face) + 0.7 * mel_face_negatives(face) }
    };
    const mel_session_options opt = options();
    elicitation e = begin(face, &opt);
    face_pair pair;
    uint32_t asked = 0;
    for (; next(&e, &pair) == MEL_END_NOT_YET; asked++)
        answer(&e, &pair, truthful(&truth, &pair));
    look(&e);
    const parameters found = parameters_of(e.metric);
    assert_true(asked <= 20);
    assert_true(e.summary.radius <= opt.tolerance);
    assert_true(level_error(face, &found, &truth) <= 2.0 * opt.tolerance);
    finish(&e);
    mel_face_free(face);
}

/* Almost precision: the pivot is next to a corner of the face, where its level lines turn fast. */
static void test_precision(void **state)
{
    (void)state;
    mel_face *face = logistic_face(5.0, 1.0);
    const parameters truth = {
        { 1.0, 0.0 },
        { 0.99, -1.0, 0.01 * mel_face_positives(face) + mel_face_negatives(face) },
    };
    mel_metric *metric = test_fractional(truth.p, truth.q);
    mel_oracle *oracle = test_oracle(metric, (mel_noise){ 0 }, 1);
    mel_session_options opt = options();
    opt.max_questions = 40;
    mel_summary summary;
    mel_metric *found = test_elicit(&summary, face, &opt, oracle);
    const double agreement = test_agreement(face, metric, found, 1000, 6);
    print_message("  %u questions, end %d, radius %.4f, agreement %.4f\n", summary.questions,
                  (int)summary.end, summary.radius, agreement);
    assert_true(agreement >= 0.995);
    mel_metric_free(found);
    mel_oracle_free(oracle);
    mel_metric_free(metric);
    mel_face_free(face);
}

static void test_no_angle(void **state)
{
    (void)state;
    mel_face *face = logistic_face(5.0, 0.0);
    const mel_session_options opt = options();
    elicitation e = begin(face, &opt);
    mel_session *session = NULL;
    double angle[4], density[4];
    mel_error err;
    assert_ok(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, &err), &err);
    assert_int_equal(mel_session_posterior(4, angle, density, session, &err), MEL_ESTATE);
    assert_string_equal(err.text, "only a linear metric on a face has a single angle");
    mel_session_free(session);
    look(&e);
    assert_true(e.summary.radius > 0.3);
    finish(&e);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bivectors),      cmocka_unit_test(test_cone),
        cmocka_unit_test(test_questions),      cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_table),          cmocka_unit_test(test_noise),
        cmocka_unit_test(test_noise_limit),    cmocka_unit_test(test_contradiction),
        cmocka_unit_test(test_about_the_same), cmocka_unit_test(test_direction),
        cmocka_unit_test(test_undecided),      cmocka_unit_test(test_repetition),
        cmocka_unit_test(test_replay),         cmocka_unit_test(test_segment),
        cmocka_unit_test(test_few_scores),     cmocka_unit_test(test_precision),
        cmocka_unit_test(test_no_angle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
