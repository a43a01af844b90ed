/* The engine of every family that is linear in known features: hidden metrics are found, by questions that
 * are all achievable, always the same for the same answers, with intervals that cover. Answers come from
 * mel_metric_compare, which knows nothing of features. */
#include "support/test.h"

#include "base/la.h"
#include "elicit/engine.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 96 };
static const double root_two = 1.41421356237309504880;

typedef struct {
    const char *name;
    mel_family family;
    size_t classes, groups;
    mel_coordinates coordinates;
    double radius, tolerance;
    uint32_t degree, most;
    int runs;
    bool simple;
} problem;

static const problem problems[] = {
    { "linear, 2 rates", MEL_FAMILY_LINEAR, 2, 0, MEL_OFFDIAGONAL, 0.4, 0.02, 0, 12, 15, false },
    { "linear, (TP, TN)", MEL_FAMILY_LINEAR, 2, 0, MEL_BINARY, 0.4, 0.02, 0, 12, 10, false },
    { "linear, 6 rates", MEL_FAMILY_LINEAR, 3, 0, MEL_OFFDIAGONAL, 0.2, 0.02, 0, 36, 5, false },
    { "linear, 6 rates, simple", MEL_FAMILY_LINEAR, 3, 0, MEL_OFFDIAGONAL, 0.2, 0.02, 0, 36, 5, true },
    { "diagonal, 4 classes", MEL_FAMILY_DIAGONAL_LINEAR, 4, 0, MEL_DIAGONAL, 0.2, 0.01, 0, 26, 10, false },
    { "fair linear (2, 2)", MEL_FAMILY_FAIR_LINEAR, 2, 2, MEL_OFFDIAGONAL, 0.3, 0.02, 0, 26, 5, false },
    { "fair linear (2, 3)", MEL_FAMILY_FAIR_LINEAR, 2, 3, MEL_OFFDIAGONAL, 0.3, 0.03, 0, 50, 2, false },
    { "fair linear (2, 3), simple", MEL_FAMILY_FAIR_LINEAR, 2, 3, MEL_OFFDIAGONAL, 0.3, 0.05, 0, 60, 3,
      true },
    { "quadratic, 2 rates", MEL_FAMILY_QUADRATIC, 2, 0, MEL_OFFDIAGONAL, 0.4, 0.03, 0, 45, 4, false },
    { "quadratic, simple", MEL_FAMILY_QUADRATIC, 2, 0, MEL_OFFDIAGONAL, 0.4, 0.05, 0, 60, 2, true },
    { "fair quadratic (2, 2)", MEL_FAMILY_FAIR_QUADRATIC, 2, 2, MEL_OFFDIAGONAL, 0.3, 0.03, 0, 36, 4, false },
    { "cubic, 2 rates", MEL_FAMILY_POLYNOMIAL, 2, 0, MEL_OFFDIAGONAL, 0.45, 0.15, 3, 120, 1, false },
    { "quartic, 2 rates", MEL_FAMILY_POLYNOMIAL, 2, 0, MEL_OFFDIAGONAL, 0.45, 0.25, 4, 150, 1, false },
};

/* --- hidden metrics --------------------------------------------------------------------------------- */

typedef struct {
    mel_metric *metric;
    size_t n; /* of w */
    double w[MOST];
} hidden;

static double prevalence[8];

/* All entries of a symmetric tensor of q coordinates and its entries (once each, times the root of how often
 * they occur) from numbers at the sorted indices. */
static size_t fill_tensor(size_t q, uint32_t order, double *tensor, double *w, mel_rng *rng)
{
    size_t size = 1, n = 0;
    for (uint32_t i = 0; i < order; i++)
        size *= q;
    for (size_t at = 0; at < size; at++) { /* q = 2: an entry is known by how many of its indices are 1 */
        size_t ones = 0;
        for (size_t rest = at; rest > 0; rest /= 2)
            ones += rest % 2;
        size_t sorted = 0;
        for (size_t i = 0; i < ones; i++)
            sorted = 2 * sorted + 1;
        if (sorted == at) {
            double times = 1.0;
            for (size_t i = 0; i < ones; i++)
                times *= (double)(order - i) / (double)(i + 1);
            const double entry = mel_rng_normal(rng);
            tensor[at] = entry / sqrt(times);
            w[n++] = entry;
        } else {
            tensor[at] = tensor[sorted];
        }
    }
    return n;
}

static void hide_polynomial(hidden *h, const problem *p, const mel_layout *layout, mel_rng *rng)
{
    double room[40];
    const double *tensor[4];
    size_t used = 0, size = 1;
    for (uint32_t order = 1; order <= p->degree; order++) {
        size *= 2;
        tensor[order - 1] = room + used;
        h->n += fill_tensor(2, order, room + used, h->w + h->n, rng);
        used += size;
    }
    mel_error err;
    assert_ok(mel_metric_polynomial(&h->metric, p->degree, layout, NULL, MEL_COST, tensor, &err), &err);
}

static void hide_quadratic(hidden *h, const mel_layout *layout, mel_rng *rng)
{
    double b[4];
    h->n = 2;
    h->w[0] = mel_rng_normal(rng);
    h->w[1] = mel_rng_normal(rng);
    h->n += fill_tensor(2, 2, b, h->w + 2, rng);
    mel_error err;
    assert_ok(mel_metric_quadratic(&h->metric, layout, NULL, MEL_COST, h->w, b, &err), &err);
}

/* (1 - lambda) a and lambda b, or lambda B with weight root 2 off the diagonal: lambda 1/2 by scale. */
static void hide_fair(hidden *h, const problem *p, const mel_layout *layout, mel_rng *rng)
{
    const size_t q = 2, pairs = p->groups * (p->groups - 1) / 2;
    double b[16];
    mel_error err;
    for (h->n = 0; h->n < q; h->n++)
        h->w[h->n] = fabs(mel_rng_normal(rng));
    if (p->family == MEL_FAMILY_FAIR_LINEAR) {
        for (; h->n < q * (1 + pairs); h->n++)
            h->w[h->n] = b[h->n - q] = fabs(mel_rng_normal(rng));
        assert_ok(mel_metric_fair_linear(&h->metric, layout, NULL, NULL, h->w, b, 0.5, prevalence, &err),
                  &err);
        return;
    }
    const double x = mel_rng_normal(rng), y = mel_rng_normal(rng), z = mel_rng_normal(rng);
    const double matrix[4] = { x * x, x * y, x * y, y * y + z * z };
    h->w[2] = matrix[0];
    h->w[3] = root_two * matrix[1];
    h->w[4] = matrix[3];
    h->n = 5;
    assert_ok(mel_metric_fair_quadratic(&h->metric, layout, NULL, NULL, h->w, matrix, 0.5, prevalence, &err),
              &err);
}

static void hide_linear(hidden *h, const problem *p, const mel_layout *layout, mel_rng *rng)
{
    h->n = mel_layout_size(layout);
    for (size_t i = 0; i < h->n; i++)
        h->w[i] = (p->coordinates == MEL_OFFDIAGONAL ? -1.0 : 1.0) * fabs(mel_rng_normal(rng));
    mel_error err;
    assert_ok(mel_metric_linear(&h->metric, p->family, layout, NULL, MEL_UTILITY, h->w, &err), &err);
}

static double norm_of(mel_family family, size_t n, const double *w)
{
    if (family != MEL_FAMILY_DIAGONAL_LINEAR)
        return mel_norm2(n, w);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(w[i]);
    return sum;
}

static hidden hide(const problem *p, const mel_layout *layout, uint64_t seed)
{
    hidden h = { 0 };
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 99);
    if (p->family == MEL_FAMILY_POLYNOMIAL)
        hide_polynomial(&h, p, layout, &rng);
    else if (p->family == MEL_FAMILY_QUADRATIC)
        hide_quadratic(&h, layout, &rng);
    else if (p->groups > 1)
        hide_fair(&h, p, layout, &rng);
    else
        hide_linear(&h, p, layout, &rng);
    mel_scale(h.n, 1.0 / norm_of(p->family, h.n, h.w), h.w);
    return h;
}

/* --- what was found --------------------------------------------------------------------------------- */

/* Entries of a symmetric tensor of two coordinates, each once, times the root of how often it occurs. */
static size_t read_tensor(uint32_t order, const double *tensor, double *w)
{
    double times = 1.0;
    size_t at = 0, n = 0;
    for (uint32_t ones = 0; ones <= order; ones++) {
        w[n++] = sqrt(times) * tensor[at];
        times *= (double)(order - ones) / (double)(ones + 1);
        at = 2 * at + 1;
    }
    return n;
}

static size_t read_fair(const problem *p, const mel_metric *metric, double *w)
{
    const double lambda = mel_metric_lambda(metric);
    const double *a = mel_metric_tensor(metric, 1);
    size_t n = 0;
    for (; n < 2; n++)
        w[n] = (1.0 - lambda) * a[n];
    for (size_t u = 0; u < p->groups; u++)
        for (size_t v = u + 1; v < p->groups; v++) {
            const double *b = mel_metric_pair(metric, u, v);
            if (p->family == MEL_FAMILY_FAIR_LINEAR) {
                for (size_t i = 0; i < 2; i++)
                    w[n++] = lambda * b[i];
            } else {
                w[n++] = lambda * b[0];
                w[n++] = root_two * lambda * b[1];
                w[n++] = lambda * b[3];
            }
        }
    return n;
}

static size_t read_metric(const problem *p, const mel_metric *metric, double *w)
{
    size_t n = 0;
    if (p->groups > 1)
        n = read_fair(p, metric, w);
    else if (p->family == MEL_FAMILY_QUADRATIC || p->family == MEL_FAMILY_POLYNOMIAL)
        for (uint32_t order = 1; order <= mel_metric_degree(metric); order++)
            n += read_tensor(order, mel_metric_tensor(metric, order), w + n);
    else
        for (n = 0; n < mel_metric_coefficients(metric); n++)
            w[n] = mel_metric_numerator(metric, NULL)[n];
    mel_scale(n, 1.0 / norm_of(p->family, n, w), w);
    return n;
}

static double farthest(size_t n, const double *x, const double *y)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* --- sessions --------------------------------------------------------------------------------------- */

static mel_ball *make_ball(const problem *p)
{
    const mel_layout layout = { MEL_RATES, p->coordinates, p->classes, p->groups };
    for (size_t g = 0; g < p->groups; g++)
        for (size_t i = 0; i < p->classes; i++) {
            const double first = i == 0 ? 0.4 : 0.7;
            prevalence[g * p->classes + i] = g == 0 ? first : (1.0 - first) / (double)(p->groups - 1);
        }
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, p->radius, NULL, p->groups > 1 ? prevalence : NULL, &err), &err);
    return ball;
}

static mel_session_options options_of(const problem *p, uint64_t seed)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = p->family;
    opt.degree = p->degree;
    opt.tolerance = p->tolerance;
    opt.simple_questions = p->simple;
    opt.seed = seed;
    return opt;
}

static mel_engine *make_engine(const mel_ball *ball, const mel_session_options *opt)
{
    const mel_domain domain = { .ball = ball };
    mel_engine *engine = NULL;
    mel_error err;
    assert_ok(mel_engine_features(&engine, &domain, opt, &err), &err);
    return engine;
}

static void check_inside(const mel_ball *ball, const double *point)
{
    const size_t groups = mel_ball_layout(ball)->n_groups > 1 ? mel_ball_layout(ball)->n_groups : 1;
    const size_t q = mel_ball_size(ball) / groups;
    for (size_t g = 0; g < groups; g++) {
        double out2 = 0.0;
        for (size_t i = 0; i < q; i++) {
            const double out = point[g * q + i] - mel_ball_centre(ball)[i];
            out2 += out * out;
        }
        assert_true(sqrt(out2) <= mel_ball_radius(ball));
    }
}

static size_t differences(size_t n, const double *a, const double *b)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += a[i] != b[i];
    return count;
}

static mel_answer answer_of(const mel_metric *metric, const double *a, const double *b)
{
    double better = 0.0;
    mel_error err;
    assert_ok(mel_metric_compare(&better, metric, a, b, &err), &err);
    return better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B;
}

typedef struct {
    double a[MOST], b[MOST];
    mel_pair pair;
    mel_end end;
} question;

static void ask(question *q, mel_engine *engine)
{
    mel_error err;
    q->pair = (mel_pair){ .a = q->a, .b = q->b };
    assert_ok(engine->ops->next(engine, &q->pair, &q->end, &err), &err);
}

static void tell(mel_engine *engine, const question *q, mel_answer answer)
{
    mel_error err;
    assert_ok(engine->ops->tell(engine, &q->pair, answer, &err), &err);
}

/* Asks to the end; the error of what is found. */
static double find(const problem *p, const mel_ball *ball, uint64_t seed)
{
    const mel_session_options opt = options_of(p, seed);
    hidden h = hide(p, mel_ball_layout(ball), seed);
    mel_engine *engine = make_engine(ball, &opt);
    const size_t size = mel_ball_size(ball);
    question q;
    uint32_t n = 0;
    for (ask(&q, engine); q.end == MEL_END_NOT_YET && n < p->most; n++, ask(&q, engine)) {
        assert_true(engine->ops->expected(engine) > 0);
        check_inside(ball, q.a);
        check_inside(ball, q.b);
        assert_true(!p->simple || differences(size, q.a, q.b) == 2);
        tell(engine, &q, answer_of(h.metric, q.a, q.b));
    }
    if (q.end != MEL_END_TOLERANCE)
        fail_msg("%s, seed %u: no end after %u questions (%d)", p->name, (unsigned)seed, n, (int)q.end);
    assert_int_equal(engine->ops->expected(engine), 0);
    mel_metric *metric = NULL;
    mel_summary summary = { 0 };
    mel_error err;
    double w[MOST];
    assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
    assert_int_equal(read_metric(p, metric, w), h.n);
    assert_true(summary.radius <= p->tolerance * 1.0001);
    const double error = farthest(h.n, w, h.w);
    mel_metric_free(metric);
    mel_metric_free(h.metric);
    engine->ops->free(engine);
    return error;
}

/* 95 of 100 sessions end within the tolerance, and those that do not miss it by little. */
static void test_recovers(void **state)
{
    (void)state;
    int missed = 0, all = 0;
    for (size_t i = 0; i < COUNT(problems); i++) {
        const problem *p = &problems[i];
        print_message("  %s\n", p->name);
        mel_ball *ball = make_ball(p);
        const size_t few = p->degree > 3 ? 0 : ((size_t)p->runs + 4) / 5; /* quartic: as cubic, but longer */
        const int runs = (int)test_repeats((size_t)p->runs, few, 1);
        for (int run = 0; run < runs; run++, all++) {
            const double error = find(p, ball, (uint64_t)run + 1);
            missed += error > p->tolerance;
            if (error > 2.0 * p->tolerance)
                fail_msg("%s, seed %d: error %.4f", p->name, run + 1, error);
        }
        mel_ball_free(ball);
    }
    print_message("  %d of %d beyond the tolerance\n", missed, all);
    if (all > (int)COUNT(problems))
        assert_true(missed <= all / 8); /* 5% expected: exceeded about once in 200 */
}

static void test_same_questions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(problems); i++) {
        const problem *p = &problems[i];
        mel_ball *ball = make_ball(p);
        const mel_session_options opt = options_of(p, 5);
        hidden h = hide(p, mel_ball_layout(ball), 5);
        mel_engine *first = make_engine(ball, &opt), *second = make_engine(ball, &opt);
        const size_t bytes = mel_ball_size(ball) * sizeof(double);
        question q, again, other;
        for (int n = 0; n < 8; n++) {
            ask(&q, first);
            ask(&again, first);
            ask(&other, second);
            assert_memory_equal(q.a, again.a, bytes);
            assert_memory_equal(q.a, other.a, bytes);
            assert_memory_equal(q.b, other.b, bytes);
            const mel_answer answer = answer_of(h.metric, q.a, q.b);
            tell(first, &q, answer);
            tell(second, &other, answer);
        }
        first->ops->free(first);
        second->ops->free(second);
        mel_metric_free(h.metric);
        mel_ball_free(ball);
    }
}

/* Intervals after 8 questions: of all coefficients of many metrics, about 95% are inside. */
static void test_coverage(void **state)
{
    (void)state;
    const problem *p = &problems[4];
    mel_ball *ball = make_ball(p);
    size_t inside = 0, all = 0;
    for (uint64_t seed = 1; seed <= test_repeats(80, 50, 10); seed++) {
        const mel_session_options opt = options_of(p, seed);
        mel_rng rng;
        mel_rng_seed_stream(&rng, seed, 98);
        hidden h = hide(p, mel_ball_layout(ball), seed);
        mel_engine *engine = make_engine(ball, &opt);
        question q;
        for (int n = 0; n < 8; n++) {
            ask(&q, engine);
            tell(engine, &q, answer_of(h.metric, q.a, q.b));
        }
        mel_metric *metric = NULL;
        mel_summary summary = { 0 };
        mel_error err;
        assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
        for (size_t j = 0; j < h.n; j++, all++) {
            double low = 0.0, high = 0.0;
            assert_true(mel_metric_interval(metric, j, &low, &high));
            inside += h.w[j] >= low && h.w[j] <= high;
        }
        mel_metric_free(metric);
        mel_metric_free(h.metric);
        engine->ops->free(engine);
    }
    const double share = (double)inside / (double)all;
    print_message("  %.3f of %zu intervals cover\n", share, all);
    assert_true(share > 0.91 && share < 0.985);
    mel_ball_free(ball);
}

/* --- faces ------------------------------------------------------------------------------------------ */

static void find_on_faces(const mel_space *space, uint64_t seed, mel_statistics_kind kind)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = MEL_FAMILY_DIAGONAL_LINEAR;
    opt.tolerance = 0.01;
    opt.seed = seed;
    const mel_domain domain = { .space = space };
    const size_t k = mel_space_layout(space)->n_classes;
    double a[MOST], point[2];
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, 97);
    mel_rng_dirichlet(&rng, k, NULL, a);
    mel_engine *engine = NULL;
    mel_error err;
    assert_ok(mel_engine_features(&engine, &domain, &opt, &err), &err);
    question q;
    uint32_t n = 0;
    char note[2][MEL_NOTE_TEXT] = { "", "" };
    for (ask(&q, engine); q.end == MEL_END_NOT_YET && n < 40; n++, ask(&q, engine)) {
        size_t two[2] = { 0 }, found = 0;
        for (size_t i = 0; i < k; i++)
            if (q.a[i] != 0.0 || q.b[i] != 0.0)
                two[found++ % 2] = i;
        assert_int_equal(found, 2);
        mel_face *face = NULL;
        assert_ok(mel_space_face(&face, space, two[0], two[1], &err), &err);
        for (size_t side = 0; side < 2; side++) {
            for (size_t i = 0; i < 2; i++)
                point[i] = (side == 0 ? q.a : q.b)[two[i]] *
                           (kind == MEL_RATES ? mel_space_class_share(space)[two[i]] : 1.0);
            assert_true(mel_face_contains(face, (mel_point){ point[0], point[1] }, 1e-12));
        }
        mel_face_free(face);
        double better = 0.0;
        for (size_t i = 0; i < k; i++)
            better += a[i] * (q.a[i] - q.b[i]);
        q.pair.note_a = note[0];
        q.pair.note_b = note[1];
        assert_ok(engine->ops->next(engine, &q.pair, &q.end, &err), &err);
        assert_true(note[0][0] != '\0' && note[1][0] != '\0');
        tell(engine, &q, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B);
    }
    assert_int_equal(q.end, MEL_END_TOLERANCE);
    mel_metric *metric = NULL;
    mel_summary summary = { 0 };
    assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
    assert_true(farthest(k, mel_metric_numerator(metric, NULL), a) <= 0.02);
    mel_metric_free(metric);
    engine->ops->free(engine);
}

static void test_faces(void **state)
{
    (void)state;
    static const double slope[4] = { 1.0, 3.0, 5.0, 6.0 };
    for (size_t kind = 0; kind < 2; kind++) {
        mel_space_options opt;
        mel_space_options_init(&opt);
        opt.coordinates = MEL_DIAGONAL;
        opt.kind = kind == 0 ? MEL_CONFUSION : MEL_RATES;
        mel_space *space = NULL;
        mel_error err;
        assert_ok(mel_space_from_softmax(&space, 4, slope, &opt, &err), &err);
        for (uint64_t seed = 1; seed <= test_repeats(8, 1, 1); seed++)
            find_on_faces(space, seed, opt.kind);
        mel_space_free(space);
    }
}

/* --- prior ------------------------------------------------------------------------------------------ */

/* Signs of any kind, known or not, are found. */
static void test_signs(void **state)
{
    (void)state;
    static const signed char given[6] = { 1, -1, 0, 0, 1, 1 };
    static const struct {
        const char *name;
        mel_direction direction;
        const signed char *signs;
        double a[6];
    } rows[] = {
        { "unknown", MEL_DIRECTION_UNKNOWN, NULL, { 0.3, -0.5, 0.2, -0.6, 0.1, 0.5 } },
        { "decreasing", MEL_DECREASING, NULL, { 0.3, 0.5, 0.2, 0.6, 0.1, 0.5 } },
        { "given", MEL_INCREASING, given, { .3, -.5, .2, -.6, .1, .5 } },
    };
    const problem *p = &problems[2];
    mel_ball *ball = make_ball(p);
    for (size_t r = 0; r < COUNT(rows); r++) {
        print_message("  %s\n", rows[r].name);
        mel_session_options opt = options_of(p, 3);
        opt.direction = rows[r].direction;
        opt.signs = rows[r].signs;
        mel_engine *engine = make_engine(ball, &opt);
        question q;
        int n = 0;
        for (ask(&q, engine); q.end == MEL_END_NOT_YET && n < 60; n++, ask(&q, engine)) {
            double better = 0.0;
            for (size_t i = 0; i < 6; i++)
                better += rows[r].a[i] * (q.a[i] - q.b[i]);
            tell(engine, &q, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B);
        }
        mel_metric *metric = NULL;
        mel_summary summary = { 0 };
        mel_error err;
        double w[6];
        assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
        memcpy(w, rows[r].a, sizeof w);
        mel_scale(6, 1.0 / mel_norm2(6, w), w);
        assert_int_equal(q.end, MEL_END_TOLERANCE);
        assert_true(farthest(6, mel_metric_numerator(metric, NULL), w) <= 0.04);
        mel_metric_free(metric);
        engine->ops->free(engine);
    }
    mel_ball_free(ball);
}

/* --- wrong answers ---------------------------------------------------------------------------------- */

/* One answer in ten is wrong, and how many are is not known: the metric is found nevertheless. */
static void test_flips(void **state)
{
    (void)state;
    const problem *p = &problems[2];
    mel_ball *ball = make_ball(p);
    mel_session_options opt = options_of(p, 2);
    opt.assume = (mel_assumption){ .kind = MEL_NOISE_FLIP };
    opt.repeat_every = 7;
    hidden h = hide(p, mel_ball_layout(ball), 2);
    mel_engine *engine = make_engine(ball, &opt);
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    question q;
    int repeats = 0;
    for (int n = 0; n < 120; n++) {
        ask(&q, engine);
        if (q.end != MEL_END_NOT_YET)
            break;
        assert_true(q.pair.repeated || (n + 1) % 7 != 0);
        repeats += q.pair.repeated;
        mel_answer answer = answer_of(h.metric, q.a, q.b);
        if (mel_rng_uniform(&rng) < 0.1)
            answer = answer == MEL_ANSWER_A ? MEL_ANSWER_B : MEL_ANSWER_A;
        tell(engine, &q, answer);
    }
    mel_metric *metric = NULL;
    mel_summary summary = { 0 };
    mel_error err;
    assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
    assert_true(farthest(6, mel_metric_numerator(metric, NULL), h.w) <= 0.05);
    assert_true(summary.error_rate > 0.02 && summary.error_rate < 0.25);
    assert_true(repeats >= 5);
    mel_metric_free(metric);
    mel_metric_free(h.metric);
    engine->ops->free(engine);
    mel_ball_free(ball);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Error after so many questions, flips allowed for, when just the answer at this place is wrong. */
static double error_after_one_wrong(int questions, int wrong_at, uint64_t seed)
{
    const problem *p = &problems[2];
    mel_ball *ball = make_ball(p);
    mel_session_options opt = options_of(p, seed);
    opt.assume = (mel_assumption){ .kind = MEL_NOISE_FLIP };
    opt.repeat_every = 0;
    opt.tolerance = 1e-6;
    hidden h = hide(p, mel_ball_layout(ball), seed);
    mel_engine *engine = make_engine(ball, &opt);
    question q;
    for (int n = 0; n < questions; n++) {
        ask(&q, engine);
        assert_int_equal(q.end, MEL_END_NOT_YET);
        mel_answer answer = answer_of(h.metric, q.a, q.b);
        if (n == wrong_at)
            answer = answer == MEL_ANSWER_A ? MEL_ANSWER_B : MEL_ANSWER_A;
        tell(engine, &q, answer);
    }
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_error err;
    assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
    const double error = farthest(6, mel_metric_numerator(metric, NULL), h.w);
    mel_metric_free(metric);
    mel_metric_free(h.metric);
    engine->ops->free(engine);
    mel_ball_free(ball);
    return error;
}

/* One wrong answer does not send the questions after it where few samples are: in measurements 95% were
 * within 0.02 after 35 questions. Of these few the largest but one must be. */
static void test_one_wrong(void **state)
{
    (void)state;
    enum { RUNS = 12 };
    double error[RUNS];
    const size_t n = test_repeats(RUNS, 5, 2);
    for (size_t i = 0; i < n; i++) /* at places all over the session */
        error[i] = error_after_one_wrong(35, (int)(2 * i * RUNS / n + 1), 100 + i);
    qsort(error, n, sizeof *error, compare_doubles);
    print_message("  35 questions, one answer wrong: median error %.4f, largest %.4f %.4f\n", error[n / 2],
                  error[n - 2], error[n - 1]);
    assert_true(error[n - 2] <= 0.02);
}

/* Inside the band answers are coin tosses, or all wrong: at some point the noise is what is left. The error
 * is then about what the band hides: a margin over the length of a question, 0.4 here. */
static void check_band(double size, bool adversarial, int most, double error, uint64_t seed)
{
    const problem *p = &problems[2];
    mel_ball *ball = make_ball(p);
    mel_session_options opt = options_of(p, 2);
    opt.assume = (mel_assumption){ .kind = MEL_NOISE_BAND, .size = size };
    opt.tolerance = 1e-6;
    opt.seed = seed;
    hidden h = hide(p, mel_ball_layout(ball), seed);
    mel_engine *engine = make_engine(ball, &opt);
    mel_rng rng;
    mel_rng_seed(&rng, seed + 2);
    question q;
    int n = 0;
    for (ask(&q, engine); q.end == MEL_END_NOT_YET && n < most; n++, ask(&q, engine)) {
        double better = 0.0;
        for (size_t i = 0; i < 6; i++)
            better += h.w[i] * (q.a[i] - q.b[i]);
        if (fabs(better) < size)
            better = adversarial ? -better : mel_rng_uniform(&rng) - 0.5;
        tell(engine, &q, better > 0.0 ? MEL_ANSWER_A : MEL_ANSWER_B);
    }
    mel_metric *metric = NULL;
    mel_summary summary;
    mel_error err;
    assert_int_equal(q.end, MEL_END_NOISE);
    assert_ok(engine->ops->result(engine, &metric, &summary, &err), &err);
    const double got = farthest(6, mel_metric_numerator(metric, NULL), h.w);
    print_message("  band %g%s: %d questions, error %.4f\n", size, adversarial ? ", adversarial" : "", n,
                  got);
    assert_true(got <= error);
    mel_metric_free(metric);
    mel_metric_free(h.metric);
    engine->ops->free(engine);
    mel_ball_free(ball);
}

static void test_band(void **state)
{
    (void)state;
    for (uint64_t seed = 2; seed < 2 + test_repeats(4, 1, 1); seed++) {
        check_band(0.005, false, 60, 0.05, seed);
        check_band(0.005, true, 60, 0.05, seed);
        check_band(0.001, true, 60, 0.01, seed);
    }
}

/* --- refusals --------------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
    static const signed char two[6] = { 1, -1, 2, 1, 1, 1 };
    static const struct {
        const char *name;
        size_t problem;
        mel_family family;
        uint32_t degree;
        const signed char *signs;
        mel_status want;
    } rows[] = {
        { "sign 2", 2, MEL_FAMILY_LINEAR, 0, two, MEL_EINVAL },
        { "fair without groups", 2, MEL_FAMILY_FAIR_LINEAR, 0, NULL, MEL_EINVAL },
        { "linear with groups", 5, MEL_FAMILY_LINEAR, 0, NULL, MEL_EINVAL },
        { "diagonal of off-diagonal rates", 2, MEL_FAMILY_DIAGONAL_LINEAR, 0, NULL, MEL_EINVAL },
        { "fractional", 2, MEL_FAMILY_LINEAR_FRACTIONAL, 0, NULL, MEL_EINVAL },
        { "degree 1", 2, MEL_FAMILY_POLYNOMIAL, 1, NULL, MEL_EINVAL },
        { "degree 10", 2, MEL_FAMILY_POLYNOMIAL, 10, NULL, MEL_EINVAL },
        { "too many terms", 2, MEL_FAMILY_POLYNOMIAL, 9, NULL, MEL_ELIMIT },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        print_message("  %s\n", rows[r].name);
        mel_ball *ball = make_ball(&problems[rows[r].problem]);
        mel_session_options opt = options_of(&problems[rows[r].problem], 1);
        opt.family = rows[r].family;
        opt.degree = rows[r].degree;
        opt.signs = rows[r].signs;
        const mel_domain domain = { .ball = ball };
        mel_engine *engine = NULL;
        mel_error err = { 0 };
        assert_int_equal(mel_engine_features(&engine, &domain, &opt, &err), rows[r].want);
        assert_null(engine);
        assert_true(err.text[0] != '\0');
        mel_ball_free(ball);
    }
    const mel_layout letters = { MEL_RATES, MEL_OFFDIAGONAL, 26, 0 };
    mel_ball *ball = NULL;
    mel_error err = { 0 };
    assert_ok(mel_ball_new(&ball, &letters, 0.001, NULL, NULL, &err), &err);
    mel_session_options opt = options_of(&problems[2], 1);
    opt.family = MEL_FAMILY_LINEAR;
    mel_engine *engine = NULL;
    assert_int_equal(mel_engine_features(&engine, &(mel_domain){ .ball = ball }, &opt, &err), MEL_ELIMIT);
    assert_non_null(strstr(err.text, "650 coefficients"));
    mel_ball_free(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recovers),  cmocka_unit_test(test_same_questions),
        cmocka_unit_test(test_coverage),  cmocka_unit_test(test_faces),
        cmocka_unit_test(test_signs),     cmocka_unit_test(test_flips),
        cmocka_unit_test(test_one_wrong), cmocka_unit_test(test_band),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
