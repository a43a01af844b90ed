/* Classifiers: the best one, the one at a point, what they decide, their files, refusals. */
#include "base/rng.h"
#include "classify/shared.h"
#include "space/shared.h"
#include "support/classes.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, CLASSES = 3, DECISIONS = 729 /* CLASSES^ROWS */, MANY = 40, GROUPS = 2 };

/* Random probabilities, each class and, of the first rows, each class in each group at least once. */
typedef struct {
    double probability[MANY * CLASSES], score[MANY];
    uint32_t label[MANY], group[MANY];
    uint8_t role[MANY];
} rows;

static rows random_rows(uint64_t seed, size_t n, size_t k)
{
    rows r;
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < k; j++)
            sum += r.probability[i * k + j] = 0.05 + mel_rng_uniform(&rng);
        for (size_t j = 0; j < k; j++)
            r.probability[i * k + j] /= sum;
        r.label[i] = (uint32_t)(i < 2 * k ? i % k : mel_rng_below(&rng, (uint32_t)k));
        r.group[i] = (uint32_t)(i < 2 * k ? i / k : mel_rng_below(&rng, GROUPS));
        r.score[i] = r.probability[i * k + k - 1];
        r.role[i] = (uint8_t)(r.label[i] == 1 ? MEL_ROW_POSITIVE : MEL_ROW_NEGATIVE);
    }
    return r;
}

static mel_face *face_of(const rows *r, size_t n)
{
    mel_face *face = NULL;
    mel_error err = { 0 };
    assert_ok(mel_face_from_scores(&face, n, r->score, r->role, NULL, &err), &err);
    return face;
}

static mel_space *space_of(const rows *r, size_t n, size_t k, size_t n_groups, mel_evidence evidence,
                           mel_statistics_kind kind)
{
    mel_space *space = NULL;
    mel_error err = { 0 };
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.evidence = evidence;
    opt.kind = kind;
    const mel_rows sample = { n,    k,   n_groups, r->probability, r->label, n_groups > 0 ? r->group : NULL,
                              NULL, NULL };
    assert_ok(mel_space_from_sample(&space, &sample, &opt, &err), &err);
    return space;
}

/* A random linear or linear-fractional metric with a denominator above 0. */
static mel_metric *random_metric(const mel_layout *layout, bool fraction, mel_orientation way, mel_rng *rng)
{
    const size_t n = mel_layout_size(layout);
    double p[16], q[16];
    for (size_t i = 0; i < n; i++) {
        p[i] = mel_rng_normal(rng);
        q[i] = mel_rng_uniform(rng);
    }
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    const mel_status status = fraction
                                  ? mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, layout, NULL,
                                                          way, p, 0.1, q, 0.05, &err)
                                  : mel_metric_linear(&metric, MEL_FAMILY_LINEAR, layout, NULL, way, p, &err);
    assert_ok(status, &err);
    return metric;
}

/* --- best --------------------------------------------------------------------------------------- */

static double best_vertex_value(const mel_face *face, const mel_metric *metric, double sign)
{
    double best = -INFINITY;
    for (size_t i = 0; i < mel_face_vertices(face); i++) {
        const mel_point at = mel_face_vertex(face, i);
        double value = 0.0;
        assert_ok(mel_metric_value(&value, metric, (const double[]){ at.tp, at.tn }, NULL), NULL);
        best = fmax(best, sign * value);
    }
    return sign * best;
}

static void test_best_on_faces(void **state)
{
    (void)state;
    static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (uint64_t seed = 0; seed < 200; seed++) {
        const rows r = random_rows(seed, MANY, 2);
        mel_face *face = face_of(&r, MANY);
        const mel_domain domain = { .face = face };
        const mel_orientation way = seed % 2 == 0 ? MEL_UTILITY : MEL_COST;
        mel_metric *metric = random_metric(&binary, seed % 4 < 2, way, &rng);
        mel_classifier *c = NULL;
        mel_error err = { 0 };
        assert_ok(mel_classifier_best(&c, &domain, metric, &err), &err);
        const mel_classifier_parts got = mel_classifier_get(c);
        assert_close(got.value, best_vertex_value(face, metric, way == MEL_COST ? -1.0 : 1.0), 1e-12);
        assert_null(got.blend);
        const mel_point at = mel_face_mixture(face, got.mixture);
        assert_close(at.tp, got.statistics[0], 1e-15);
        assert_close(at.tn, got.statistics[1], 1e-15);
        mel_classifier_free(c);
        mel_metric_free(metric);
        mel_face_free(face);
    }
}

/* Decision d: the class of row i is digit i. */
static void decision_number(double *decision, size_t d)
{
    memset(decision, 0, sizeof(double[ROWS * CLASSES]));
    for (size_t i = 0; i < ROWS; i++, d /= CLASSES)
        decision[i * CLASSES + d % CLASSES] = 1.0;
}

/* By the model's word the plug-in rule is as good as the best of all decisions about all rows. */
static void test_best_in_spaces(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    for (uint64_t seed = 0; seed < 40; seed++) {
        const rows r = random_rows(seed, ROWS, CLASSES);
        const mel_orientation way = seed % 2 == 0 ? MEL_UTILITY : MEL_COST;
        const double sign = way == MEL_COST ? -1.0 : 1.0;
        mel_space *space =
            space_of(&r, ROWS, CLASSES, 0, MEL_BY_MODEL, seed % 3 == 0 ? MEL_RATES : MEL_CONFUSION);
        mel_metric *metric = random_metric(mel_space_layout(space), seed % 4 < 2, way, &rng);
        const mel_domain domain = { .space = space };
        mel_classifier *c = NULL;
        mel_error err = { 0 };
        double best = -INFINITY, decision[ROWS * CLASSES], statistics[CLASSES * CLASSES], value = 0.0;
        for (size_t d = 0; d < DECISIONS; d++) {
            decision_number(decision, d);
            test_space_decisions(statistics, space, decision);
            assert_ok(mel_metric_value(&value, metric, statistics, &err), &err);
            best = fmax(best, sign * value);
        }
        assert_ok(mel_classifier_best(&c, &domain, metric, &err), &err);
        assert_close(mel_classifier_get(c).value, sign * best, 1e-12);
        mel_classifier_free(c);
        mel_metric_free(metric);
        mel_space_free(space);
    }
}

/* Precision is 0/0 for the classifier that is never positive, also where that is one of only two corners. */
static void test_undefined_corners(void **state)
{
    (void)state;
    static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const double score[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.5 }, same[] = { 0.3, 0.3, 0.3, 0.3, 0.3, 0.3 };
    const uint8_t role[] = { 0, 0, 1, 0, 1, 0 };
    const double *const scores[] = { score, same };
    const double expected[] = { 0.5, 1.0 / 3.0 };
    for (size_t i = 0; i < COUNT(scores); i++) {
        mel_face *face = NULL;
        mel_metric *precision = NULL;
        mel_classifier *c = NULL;
        mel_error err = { 0 };
        assert_ok(mel_face_from_scores(&face, 6, scores[i], role, NULL, &err), &err);
        /* TP / (TP + FP), FP = 2/3 - TN */
        assert_ok(mel_metric_fractional(&precision, MEL_FAMILY_LINEAR_FRACTIONAL, &binary, NULL, MEL_UTILITY,
                                        (const double[]){ 1, 0 }, 0.0, (const double[]){ 1, -1 }, 2.0 / 3.0,
                                        &err),
                  &err);
        assert_ok(mel_classifier_best(&c, &(mel_domain){ .face = face }, precision, &err), &err);
        assert_close(mel_classifier_get(c).value, expected[i], 1e-12);
        mel_classifier_free(c);
        mel_metric_free(precision);
        mel_face_free(face);
    }
}

static void test_best_on_smoothed_face(void **state)
{
    (void)state;
    static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const rows r = random_rows(3, MANY, 2);
    mel_face *sample = face_of(&r, MANY), *smooth = NULL;
    mel_error err = { 0 };
    mel_rng rng;
    mel_rng_seed(&rng, 7);
    assert_ok(mel_face_smooth(&smooth, NULL, NULL, sample, &err), &err);
    for (size_t i = 0; i < 20; i++) {
        mel_metric *metric = random_metric(&binary, i % 2 == 0, MEL_UTILITY, &rng);
        mel_classifier *one = NULL, *other = NULL;
        assert_ok(mel_classifier_best(&one, &(mel_domain){ .face = sample }, metric, &err), &err);
        assert_ok(mel_classifier_best(&other, &(mel_domain){ .face = smooth }, metric, &err), &err);
        assert_close(mel_classifier_get(one).value, mel_classifier_get(other).value, 1e-12);
        mel_classifier_free(one);
        mel_classifier_free(other);
        mel_metric_free(metric);
    }
    mel_face_free(smooth);
    mel_face_free(sample);
}

/* --- at a point --------------------------------------------------------------------------------- */

static void test_face_point(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        const rows r = random_rows(seed, MANY, 2);
        mel_face *face = face_of(&r, MANY);
        mel_classifier *c = NULL;
        mel_error err = { 0 };
        mel_rng rng;
        mel_rng_seed(&rng, seed);
        const mel_point at = mel_face_random(face, &rng);
        assert_ok(mel_classifier_at_point(&c, &(mel_domain){ .face = face }, (const double[]){ at.tp, at.tn },
                                          0.0, &err),
                  &err);
        double chance[MANY * 2], tp = 0.0, tn = 0.0;
        assert_ok(mel_classifier_chances(chance, c,
                                         &(mel_undecided){ .n = MANY, .probability = r.probability }, &err),
                  &err);
        for (size_t i = 0; i < MANY; i++) {
            tp += r.label[i] == 1 ? chance[2 * i + 1] / MANY : 0.0;
            tn += r.label[i] == 0 ? chance[2 * i] / MANY : 0.0;
        }
        assert_close(tp, at.tp, 1e-9);
        assert_close(tn, at.tn, 1e-9);
        assert_true(isnan(mel_classifier_get(c).value));
        mel_classifier_free(c);
        mel_face_free(face);
    }
}

/* A point half way between two rules of a space, with groups and without: what the classifier's chances
 * achieve on its own rows are its statistics, and these are within delta of the point. */
static void check_space_point(uint64_t seed, size_t n_groups, mel_statistics_kind kind)
{
    const rows r = random_rows(seed, MANY, CLASSES);
    mel_space *space = space_of(&r, MANY, CLASSES, n_groups, MEL_BY_LABELS, kind);
    const size_t n = mel_space_size(space);
    double point[2 * 12], rule[12], statistics[12], chance[MANY * CLASSES];
    mel_error err = { 0 };
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    mel_space_centre(point, space);
    mel_rng_sphere(&rng, n, point + n);
    assert_ok(mel_space_linear(rule, space, point + n, &err), &err);
    for (size_t i = 0; i < n; i++)
        point[i] = 0.5 * (point[i] + rule[i]);
    mel_classifier *c = NULL;
    assert_ok(mel_classifier_at_point(&c, &(mel_domain){ .space = space }, point, 1e-7, &err), &err);
    const uint32_t *group = n_groups > 0 ? r.group : NULL;
    assert_ok(
        mel_classifier_chances(
            chance, c, &(mel_undecided){ .n = MANY, .probability = r.probability, .group = group }, &err),
        &err);
    test_space_decisions(statistics, space, chance);
    double distance = 0.0;
    for (size_t i = 0; i < n; i++) {
        assert_close(statistics[i], mel_classifier_get(c).statistics[i], 1e-12);
        distance = hypot(distance, statistics[i] - point[i]);
    }
    assert_true(distance <= 1.001e-7);
    mel_classifier_free(c);
    mel_space_free(space);
}

static void test_space_point(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        check_space_point(seed, 0, MEL_CONFUSION);
        check_space_point(seed, GROUPS, MEL_RATES);
    }
}

/* Over many seeds each row is decided as often as its chances say, and the same seed decides the same. */
static void test_decide(void **state)
{
    (void)state;
    enum { DRAWS = 2000 };
    const rows r = random_rows(2, MANY, 2);
    mel_face *face = face_of(&r, MANY);
    const mel_point at = mel_face_centre(face);
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    assert_ok(mel_classifier_at_point(&c, &(mel_domain){ .face = face },
                                      (const double[]){ at.tp * 1.1, at.tn * 0.95 }, 0.0, &err),
              &err);
    double chance[MANY * 2], often[MANY] = { 0 };
    uint32_t prediction[MANY], again[MANY];
    assert_ok(
        mel_classifier_chances(chance, c, &(mel_undecided){ .n = MANY, .probability = r.probability }, &err),
        &err);
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        assert_ok(mel_classifier_decide(
                      prediction, c,
                      &(mel_undecided){ .n = MANY, .probability = r.probability, .seed = seed }, &err),
                  &err);
        for (size_t i = 0; i < MANY; i++)
            often[i] += prediction[i] / (double)DRAWS;
    }
    assert_ok(
        mel_classifier_decide(
            again, c, &(mel_undecided){ .n = MANY, .probability = r.probability, .seed = DRAWS - 1 }, &err),
        &err);
    assert_memory_equal(prediction, again, sizeof again);
    for (size_t i = 0; i < MANY; i++)
        assert_close(often[i], chance[2 * i + 1], 5.0 * 0.5 / sqrt(DRAWS));
    mel_classifier_free(c);
    mel_face_free(face);
}

/* --- files -------------------------------------------------------------------------------------- */

static const char *const names[] = { "small", "middle", "large" }, *const labels[] = { "s", "m", "l" },
                         *const groups[] = { "u", "v" };

/* What was written reads back as the same file, and decides the same. */
static void check_round_trip(mel_classifier *c, const rows *r, const uint32_t *group)
{
    const mel_classifier_source source = { names, labels, groups, "{\"data\": \"d.csv\"}", true, NULL };
    mel_error err = { 0 };
    assert_ok(mel_classifier_set_source(c, &source, &err), &err);
    const char *path = test_path("classifier.json");
    mel_classifier *read = NULL;
    char *text = NULL, *again = NULL;
    assert_ok(mel_classifier_save(c, path, &err), &err);
    assert_ok(mel_classifier_load(&read, path, &err), &err);
    assert_ok(mel_classifier_to_json(&text, c, &err), &err);
    assert_ok(mel_classifier_to_json(&again, read, &err), &err);
    assert_string_equal(text, again);
    assert_non_null(strstr(text, "\"d.csv\""));
    const mel_classifier_parts got = mel_classifier_get(read);
    assert_string_equal(got.class_name[1], "middle");
    assert_string_equal(got.label[1], "m");
    assert_true(got.number_texts);
    uint32_t one[MANY], other[MANY];
    assert_ok(mel_classifier_decide(
                  one, c,
                  &(mel_undecided){ .n = MANY, .probability = r->probability, .group = group, .seed = 3 },
                  &err),
              &err);
    assert_ok(mel_classifier_decide(
                  other, read,
                  &(mel_undecided){ .n = MANY, .probability = r->probability, .group = group, .seed = 3 },
                  &err),
              &err);
    assert_memory_equal(one, other, sizeof one);
    free(text);
    free(again);
    mel_classifier_free(read);
}

static void test_round_trip(void **state)
{
    (void)state;
    const rows two = random_rows(4, MANY, 2), three = random_rows(4, MANY, CLASSES);
    mel_face *face = face_of(&two, MANY);
    mel_space *space = space_of(&three, MANY, CLASSES, GROUPS, MEL_BY_LABELS, MEL_RATES);
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    const mel_point at = mel_face_random(face, &rng);
    assert_ok(
        mel_classifier_at_point(&c, &(mel_domain){ .face = face }, (const double[]){ at.tp, at.tn }, 0, &err),
        &err);
    check_round_trip(c, &two, NULL);
    mel_classifier_free(c);
    mel_metric *metric = random_metric(mel_space_layout(space), false, MEL_UTILITY, &rng);
    assert_ok(mel_classifier_best(&c, &(mel_domain){ .space = space }, metric, &err), &err);
    assert_string_equal(mel_classifier_get(c).group_name[1], "2");
    check_round_trip(c, &three, three.group);
    mel_classifier_free(c);
    mel_metric_free(metric);
    mel_space_free(space);
    mel_face_free(face);
}

static mel_classifier *read_text(const char *text)
{
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    assert_ok(mel_classifier_from_json(&c, text, strlen(text), &err), &err);
    return c;
}

#define HEAD "{\"format\": \"melicit-classifier\", \"version\": 1, \"classes\": [\"no\", \"yes\"], "

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *words;
    } cases[] = {
        { "\"threshold\": 0.25, \"inverted\": false", "predict yes when its probability is at least 0.25" },
        { "\"threshold\": 0.25, \"inverted\": true", "predict yes when its probability is below 0.25" },
        { "\"threshold\": -1, \"inverted\": false", "always predict yes" },
        { "\"threshold\": 2", "never predict yes" },
        { "\"threshold\": 2, \"inverted\": true", "always predict yes" },
        { "\"gain\": [[1, 0], [0, 1]]", "yes from 0.5" },
        { "\"gain\": [[0, 1], [3, 0]]", "yes below 0.25" },
        { "\"gain\": [[0, 1], [0, 1]]", "always yes" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[400], *words = NULL;
        mel_error err = { 0 };
        (void)snprintf(text, sizeof text, HEAD "\"rules\": [{%s, \"share\": 1}]}", cases[i].rule);
        mel_classifier *c = read_text(text);
        assert_ok(mel_classifier_words(&words, c, 0, &err), &err);
        assert_string_equal(words, cases[i].words);
        free(words);
        assert_int_equal(mel_classifier_words(&words, c, 1, &err), MEL_EINVAL);
        assert_null(words);
        assert_null(mel_classifier_get(c).label);
        mel_classifier_free(c);
    }
}

static void test_refused_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "[]", "melicit-classifier" },
        { "{\"format\": \"melicit-metric\"}", "expected a classifier" },
        { "{\"format\": \"melicit-classifier\", \"version\": 3}", "version" },
        { "{\"format\": \"melicit-classifier\", \"version\": 1, \"classes\": [\"a\"]}", "classes" },
        { HEAD "\"rules\": []}", "rules" },
        { HEAD "\"labels\": [\"0\"], \"rules\": [{}]}", "labels: 1 for 2" },
        { HEAD "\"labels\": [\"0\", \"0\"], \"rules\": [{}]}", "labels[1]" },
        { HEAD "\"groups\": [7], \"rules\": [{}]}", "groups[0]" },
        { HEAD "\"rules\": [{}]}", "rules[0].threshold" },
        { HEAD "\"rules\": [{\"threshold\": 0.5}]}", "rules[0].share" },
        { HEAD "\"rules\": [{\"threshold\": 0.5, \"share\": 0.5}]}", "add up to 0.5" },
        { HEAD "\"rules\": [{\"threshold\": 0.5, \"share\": 2}, {\"threshold\": 0.5, \"share\": -1}]}",
          "rules[1].share: -1" },
        { HEAD "\"rules\": [{\"threshold\": 0.5, \"inverted\": 1, \"share\": 1}]}", "inverted" },
        { HEAD "\"positive\": \"no\", \"rules\": [{\"threshold\": 0.5, \"share\": 1}]}", "second class" },
        { HEAD "\"rules\": [{\"gain\": [[1, 0]], \"share\": 1}]}", "2 x 2" },
        { HEAD "\"rules\": [{\"gain\": [[1, 0], [0, \"x\"]], \"share\": 1}]}", "rules[0].gain" },
        { HEAD "\"groups\": [\"u\", \"v\"], \"rules\": [{\"gain\": [[1, 0], [0, 1], []], \"share\": 1}]}",
          "each of 2 groups" },
        { HEAD "\"rules\": ", "line 1" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        mel_classifier *c = NULL;
        mel_error err = { 0 };
        print_message("  %s\n", cases[i].says);
        assert_int_equal(mel_classifier_from_json(&c, cases[i].text, strlen(cases[i].text), &err), MEL_EDATA);
        assert_null(c);
        assert_non_null(strstr(err.text, cases[i].says));
    }
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    assert_int_equal(mel_classifier_load(&c, test_file("bad.json", "{}", 2), &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "bad.json"));
}

/* --- refusals ----------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
    const rows r = random_rows(8, MANY, CLASSES);
    mel_space *space = space_of(&r, MANY, CLASSES, 0, MEL_BY_LABELS, MEL_CONFUSION);
    const mel_layout *layout = mel_space_layout(space), binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const mel_layout rates = { MEL_RATES, MEL_OFFDIAGONAL, CLASSES, 0 };
    const mel_domain domain = { .space = space };
    mel_ball *ball = NULL;
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    mel_metric *other = random_metric(&binary, false, MEL_UTILITY, &rng);
    mel_metric *metric = random_metric(layout, false, MEL_UTILITY, &rng);
    assert_int_equal(mel_classifier_best(&c, &domain, other, &err), MEL_EINVAL);
    assert_null(c);
    assert_ok(mel_ball_new(&ball, &rates, 0.1, NULL, NULL, &err), &err);
    assert_int_equal(mel_classifier_best(&c, &(mel_domain){ .ball = ball }, metric, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "ball"));
    const double nothing[6] = { 0 };
    assert_int_equal(mel_classifier_at_point(&c, &domain, nothing, 1e-6, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "not achievable"));
    assert_false(mel_classifier_has_best(MEL_FAMILY_QUADRATIC));
    assert_ok(mel_classifier_best(&c, &domain, metric, &err), &err);
    const char *const twice[] = { "a", "b", "a" }, *const broken[] = { "a", "\xff", "c" };
    assert_int_equal(mel_classifier_set_source(c, &(mel_classifier_source){ .class_name = twice }, &err),
                     MEL_EDATA);
    assert_int_equal(mel_classifier_set_source(c, &(mel_classifier_source){ .label = broken }, &err),
                     MEL_EDATA);
    assert_int_equal(mel_classifier_set_source(c, &(mel_classifier_source){ .space = "{" }, &err), MEL_EDATA);
    assert_string_equal(mel_classifier_get(c).class_name[2], "2");
    mel_classifier_free(c);
    mel_metric_free(metric);
    mel_metric_free(other);
    mel_ball_free(ball);
    mel_space_free(space);
}

static void test_refused_rows(void **state)
{
    (void)state;
    const double bad[] = { 0.5, 0.5, NAN, NAN };
    uint32_t prediction[2];
    double chance[4];
    mel_error err = { 0 };
    mel_classifier *c = read_text(HEAD "\"rules\": [{\"threshold\": 0.5, \"share\": 1}]}");
    assert_int_equal(
        mel_classifier_decide(prediction, c, &(mel_undecided){ .n = 2, .probability = bad, .seed = 1 }, &err),
        MEL_EDATA);
    assert_non_null(strstr(err.text, "row 2"));
    assert_int_equal(mel_classifier_chances(chance, c, &(mel_undecided){ .n = 2, .probability = bad }, &err),
                     MEL_EDATA);
    mel_classifier_free(c);
    c = read_text(HEAD
                  "\"groups\": [\"u\", \"v\"], \"rules\": [{\"gain\": [[[1, 0], [0, 1]], [[1, 0], [0, 2]]], "
                  "\"share\": 1}]}");
    assert_int_equal(
        mel_classifier_decide(prediction, c, &(mel_undecided){ .n = 1, .probability = bad, .seed = 1 }, &err),
        MEL_EINVAL);
    mel_classifier_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_on_faces),
        cmocka_unit_test(test_best_in_spaces),
        cmocka_unit_test(test_undefined_corners),
        cmocka_unit_test(test_best_on_smoothed_face),
        cmocka_unit_test(test_face_point),
        cmocka_unit_test(test_space_point),
        cmocka_unit_test(test_decide),
        cmocka_unit_test_teardown(test_round_trip, test_teardown),
        cmocka_unit_test(test_words),
        cmocka_unit_test_teardown(test_refused_files, test_teardown),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refused_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
