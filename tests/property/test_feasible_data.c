/* Feasibility on real data: classifiers do what is said of them, and certificates hold against random
 * classifiers. A few points per data set and evidence; 1000 points against 10,000 classifiers with
 * MELICIT_SOAK. */
#include "support/binary.h"
#include "support/classes.h"
#include "support/test.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
enum { POINTS = 3, RULES = 200 };
#else
enum { POINTS = 15, RULES = 1000 };
#endif
static const double delta = 1e-3;

typedef struct {
    const mel_space *space;
    size_t q, k, n_points, n_rules;
    mel_rng rng;
    double *centre, *point, *other, *direction, *gain, *own;
    double *bank; /* n_rules x q: statistics of random rules */
} trial;

/* Gaussian gains or positive weights of right decisions. */
static void random_rule(trial *t, size_t r)
{
    memset(t->gain, 0, t->k * t->k * sizeof *t->gain);
    for (size_t i = 0; i < t->k * t->k; i++)
        if (r % 2 == 0)
            t->gain[i] = mel_rng_normal(&t->rng);
        else if (i % (t->k + 1) == 0)
            t->gain[i] = mel_rng_gamma(&t->rng, 1.0);
    assert_ok(mel_space_rule(t->bank + r * t->q, t->space, t->gain, NULL), NULL);
}

/* Around the boundary, a mixture of random rules, or a little outside of a vertex. */
static void random_point(trial *t, size_t number)
{
    mel_error err;
    mel_rng_sphere(&t->rng, t->q, t->direction);
    if (number % 3 == 0) {
        assert_ok(mel_space_segment(t->point, t->other, t->space, t->direction, 1e-6, &err), &err);
        const double stretch = 0.9 + 0.2 * mel_rng_uniform(&t->rng);
        for (size_t i = 0; i < t->q; i++)
            t->point[i] = t->centre[i] + stretch * (t->point[i] - t->centre[i]);
    } else if (number % 3 == 1) {
        memset(t->point, 0, t->q * sizeof *t->point);
        for (size_t i = 0; i < 5; i++)
            mel_axpy(t->q, 0.2, t->bank + t->q * mel_rng_below(&t->rng, t->n_rules), t->point);
    } else {
        assert_ok(mel_space_linear(t->point, t->space, t->direction, &err), &err);
        mel_axpy(t->q, pow(10.0, -3.0 + 2.0 * mel_rng_uniform(&t->rng)), t->direction, t->point);
    }
}

static void check_certificate(trial *t, const mel_feasibility *f)
{
    const double level = mel_dot(t->q, f->direction, t->point);
    for (size_t r = 0; r < t->n_rules; r++)
        assert_true(mel_dot(t->q, f->direction, t->bank + r * t->q) < level);
    /* The hardest ones are near the certificate's own gains. */
    mel_space_gains(t->own, t->space, f->direction);
    const double size = mel_norm2(t->k * t->k, t->own) / (double)t->k;
    for (size_t r = 0; r < t->n_rules / 3; r++) {
        const double scale = size * pow(10.0, -3.0 + 3.0 * mel_rng_uniform(&t->rng));
        for (size_t i = 0; i < t->k * t->k; i++)
            t->gain[i] = t->own[i] + scale * mel_rng_normal(&t->rng);
        assert_ok(mel_space_rule(t->other, t->space, t->gain, NULL), NULL);
        assert_true(mel_dot(t->q, f->direction, t->other) < level);
    }
}

static size_t check_points(trial *t)
{
    size_t feasible = 0;
    for (size_t p = 0; p < t->n_points; p++) {
        mel_feasibility f;
        mel_error err;
        random_point(t, p);
        assert_ok(mel_space_achieve(&f, t->space, t->point, delta, NULL, &err), &err);
        assert_true(f.blend.n_rules <= t->q + 1);
        test_space_blend(t->other, t->space, &f.blend);
        mel_axpy(t->q, -1.0, t->point, t->other);
        assert_true(fabs(mel_norm2(t->q, t->other) - f.distance) <= 1e-9);
        assert_true(f.feasible == (f.distance <= delta));
        assert_true(f.feasible || f.margin > 0.0);
        if (p % 3 == 1)
            assert_true(f.feasible);
        if (!f.feasible)
            check_certificate(t, &f);
        feasible += f.feasible;
        mel_feasibility_clear(&f);
    }
    return feasible;
}

static void run(const char *name, mel_evidence evidence)
{
    test_probabilities p;
    test_probabilities_of(&p, name, 1.0, 3);
    const mel_rows sample = {
        .n_rows = p.n_rows, .n_classes = p.n_classes, .probability = p.probability, .label = p.label
    };
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.evidence = evidence;
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_sample(&space, &sample, &opt, &err), &err);
    const bool soak = getenv("MELICIT_SOAK") != NULL;
    trial t = { .space = space,
                .q = mel_space_size(space),
                .k = p.n_classes,
                .n_points = soak ? 1000 : POINTS,
                .n_rules = soak ? 10000 : RULES };
    mel_rng_seed(&t.rng, 20261);
    t.centre = malloc(t.q * sizeof(double));
    t.point = malloc(t.q * sizeof(double));
    t.other = malloc(t.q * sizeof(double));
    t.direction = malloc(t.q * sizeof(double));
    t.gain = malloc(t.k * t.k * sizeof(double));
    t.own = malloc(t.k * t.k * sizeof(double));
    t.bank = malloc(t.n_rules * t.q * sizeof(double));
    mel_space_centre(t.centre, space);
    for (size_t r = 0; r < t.n_rules; r++)
        random_rule(&t, r);
    const size_t feasible = check_points(&t);
    print_message("  %s by %s: %zu of %zu points are achieved\n", name, mel_evidence_name(evidence), feasible,
                  t.n_points);
    assert_true(feasible < t.n_points);
    free(t.centre);
    free(t.point);
    free(t.other);
    free(t.direction);
    free(t.gain);
    free(t.own);
    free(t.bank);
    mel_space_free(space);
    test_probabilities_clear(&p);
}

static void test_soundness(void **state)
{
    (void)state;
    static const char *const names[] = { "vehicle.csv.gz", "dna_splice.csv.gz", "satellite.csv.gz" };
    const size_t n = sizeof names / sizeof *names;
    for (size_t i = 0; i < n; i++) {
        run(names[i], MEL_BY_MODEL);
        /* Six classes by labels take seconds a point. */
        if (i + 1 < n || getenv("MELICIT_SOAK") != NULL)
            run(names[i], MEL_BY_LABELS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_soundness) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
