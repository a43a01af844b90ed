/* Decisions of a classifier summed up file by file: as they are counted row by row, in any order of merging;
 * what is refused. */
#include "base/rng.h"
#include "classify/shared.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { N = 900, CLASSES = 3, FILES = 3 };
static const size_t cut[FILES + 1] = { 0, 400, 401, N };
static const char *const file[FILES] = { "b", "a", "c" };
/* Each file has groups of its own, in an order of its own. */
static const char *const group_name[FILES][2] = { { "v", "u" }, { "u", "w" }, { "w", "v" } };

typedef struct {
    double probability[N * CLASSES];
    uint32_t label[N], group[N];
} rows_of_test;

static void fill(rows_of_test *r)
{
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (size_t i = 0; i < N; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < CLASSES; j++)
            sum += r->probability[i * CLASSES + j] = 0.01 + mel_rng_uniform(&rng);
        for (size_t j = 0; j < CLASSES; j++)
            r->probability[i * CLASSES + j] /= sum;
        r->label[i] = (uint32_t)mel_rng_below(&rng, CLASSES);
        r->group[i] = (uint32_t)mel_rng_below(&rng, 2);
    }
}

static mel_classifier *classifier(const char *groups, const char *more)
{
    char text[1000];
    mel_classifier *c = NULL;
    mel_error err = { 0 };
    const char *gain = "[[1, 0, 0], [0, 2, 0.5], [0, 0, 1.5]]";
    (void)snprintf(text, sizeof text,
                   "{\"format\": \"melicit-classifier\", \"version\": 1, \"classes\": [\"x\", \"y\", \"z\"], "
                   "\"groups\": [%s], \"rules\": [{\"gain\": %s%s%s%s%s%s, \"share\": 1}]%s}",
                   groups, groups[0] != '\0' ? "[" : "", gain, groups[0] != '\0' ? ", " : "",
                   groups[0] != '\0' ? "[[2, 0, 0], [0, 1, 0], [0, 0, 1]], " : "",
                   groups[0] != '\0' ? gain : "", groups[0] != '\0' ? "]" : "", more);
    assert_ok(mel_classifier_from_json(&c, text, strlen(text), &err), &err);
    return c;
}

static mel_rule_rows part(const rows_of_test *r, size_t i, bool grouped)
{
    return (mel_rule_rows){ .n_rows = cut[i + 1] - cut[i],
                            .n_classes = CLASSES,
                            .n_groups = grouped ? 2 : 0,
                            .probability = r->probability + cut[i] * CLASSES,
                            .label = r->label + cut[i],
                            .group = r->group + cut[i],
                            .group_name = group_name[i] };
}

static mel_moments *merged(const mel_classifier *c, const rows_of_test *r, bool grouped, size_t first)
{
    mel_moments *all = NULL;
    mel_error err = { 0 };
    for (size_t i = 0; i < FILES; i++) {
        const size_t f = (i + first) % FILES;
        const mel_rule_rows rows = part(r, f, grouped);
        mel_moments *one = NULL, *both = NULL;
        assert_ok(mel_classifier_moments(&one, c, &rows, file[f], &err), &err);
        if (all != NULL) {
            assert_ok(mel_moments_merge(&both, first % 2 == 0 ? all : one, first % 2 == 0 ? one : all, &err),
                      &err);
            mel_moments_free(all);
            mel_moments_free(one);
        }
        all = all != NULL ? both : one;
    }
    return all;
}

/* Counted row by row, groups in the order u, v, w. */
static void count(double *labels, double *model, const mel_classifier *c, const rows_of_test *r, bool grouped,
                  bool by_group)
{
    mel_error err = { 0 };
    for (size_t f = 0; f < FILES; f++)
        for (size_t i = cut[f]; i < cut[f + 1]; i++) {
            const size_t g = grouped ? (size_t)(group_name[f][r->group[i]][0] - 'u') : 0;
            const uint32_t seen = (uint32_t)g; /* the classifier's groups are u, v, w */
            double chance[CLASSES];
            assert_ok(mel_classifier_chances(chance, c, 1, r->probability + i * CLASSES,
                                             by_group ? &seen : NULL, &err),
                      &err);
            for (size_t j = 0; j < CLASSES; j++) {
                labels[(g * CLASSES + r->label[i]) * CLASSES + j] += chance[j];
                for (size_t t = 0; t < CLASSES; t++)
                    model[(g * CLASSES + t) * CLASSES + j] += r->probability[i * CLASSES + t] * chance[j];
            }
        }
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *groups;
        bool grouped;
    } rows[] = { { "", false }, { "", true }, { "\"u\", \"v\", \"w\"", true } };
    rows_of_test r;
    fill(&r);
    for (size_t w = 0; w < COUNT(rows); w++) {
        mel_classifier *c = classifier(rows[w].groups, "");
        double labels[3 * CLASSES * CLASSES] = { 0 }, model[3 * CLASSES * CLASSES] = { 0 };
        count(labels, model, c, &r, rows[w].grouped, rows[w].groups[0] != '\0');
        mel_decided first = { 0 };
        mel_moments *held = NULL;
        for (size_t turn = 0; turn < FILES; turn++) {
            mel_moments *all = merged(c, &r, rows[w].grouped, turn), *read = NULL;
            mel_decided d;
            mel_error err = { 0 };
            const char *path = test_path("all.moments");
            assert_ok(mel_moments_save(all, path, &err), &err);
            assert_ok(mel_moments_load(&read, path, &err), &err);
            assert_ok(mel_decided_of(&d, read, &err), &err);
            assert_int_equal(d.n_groups, rows[w].grouped ? 3 : 0);
            assert_int_equal(mel_moments_rows(read), N);
            const size_t n = (size_t)(rows[w].grouped ? 3 : 1) * CLASSES * CLASSES;
            for (size_t i = 0; i < n; i++) {
                assert_true(d.by_labels[i] == labels[i]);
                assert_close(d.by_model[i], model[i], 1e-11);
            }
            if (turn > 0)
                assert_memory_equal(d.by_model, first.by_model, n * sizeof *d.by_model);
            mel_moments_free(all);
            if (turn == 0) {
                first = d;
                held = read;
            } else {
                mel_decided_clear(&d);
                mel_moments_free(read);
            }
        }
        mel_decided_clear(&first);
        mel_moments_free(held);
        mel_classifier_free(c);
    }
}

static void assert_refused(mel_status got, mel_status want, const mel_error *err, const char *words)
{
    assert_int_equal(got, want);
    if (strstr(err->text, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err->text, words);
}

static void test_refuses(void **state)
{
    (void)state;
    rows_of_test r;
    fill(&r);
    mel_error err = { 0 };
    mel_classifier *c = classifier("", ""), *other = classifier("", ", \"refer\": false"),
                   *grouped = classifier("\"u\", \"v\", \"t\"", "");
    mel_moments *a = NULL, *b = NULL, *none = NULL;
    mel_rule_rows rows = part(&r, 0, false), with = part(&r, 1, true);
    assert_ok(mel_classifier_moments(&a, c, &rows, "a", &err), &err);
    assert_ok(mel_classifier_moments(&b, c, &with, "b", &err), &err);
    assert_refused(mel_moments_merge(&none, a, a, &err), MEL_EDATA, &err, "are there twice");
    assert_refused(mel_moments_merge(&none, a, b, &err), MEL_EDATA, &err, "by group and some are not");
    mel_moments_free(b);
    assert_ok(mel_classifier_moments(&b, other, &rows, "b", &err), &err); /* it decides the same */
    assert_ok(mel_moments_merge(&none, a, b, &err), &err);
    mel_moments_free(none);
    mel_moments_free(b);
    assert_refused(mel_classifier_moments(&none, grouped, &rows, "a", &err), MEL_EINVAL, &err,
                   "decides by groups");
    assert_refused(mel_classifier_moments(&none, grouped, &with, "a", &err), MEL_EDATA, &err,
                   "does not know the group \"w\"");
    rows.n_classes = 2;
    assert_refused(mel_classifier_moments(&none, c, &rows, "a", &err), MEL_EINVAL, &err, "rows of 2 classes");
    rows = part(&r, 0, false);
    r.probability[4] = NAN;
    assert_refused(mel_classifier_moments(&none, c, &rows, "a", &err), MEL_EDATA, &err,
                   "row 2: the probability of class 2 is nan");
    r.probability[4] = 0.9; /* expected numbers of rows would be too large */
    r.probability[3] = 0.9;
    assert_refused(mel_classifier_moments(&none, c, &rows, "a", &err), MEL_EDATA, &err,
                   "row 2: the probabilities add");
    mel_moments_free(a);
    mel_classifier_free(c);
    mel_classifier_free(other);
    mel_classifier_free(grouped);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_counts), cmocka_unit_test(test_refuses) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
