/* Faces when memory runs out: each allocation fails once, nothing leaks, nothing half-built is returned. */
#include "support/test.h"

#include "base/rng.h"
#include "space/shared.h"

#include <math.h>

enum { ROWS = 20000 }; /* enough for several buckets */

typedef struct {
    double score[ROWS], weight[ROWS];
    uint8_t role[ROWS];
    size_t n;
    bool weighted;
} sample;

static void fill(sample *s, size_t n, bool weighted)
{
    mel_rng rng;
    mel_rng_seed(&rng, 6);
    s->n = n;
    s->weighted = weighted;
    for (size_t i = 0; i < n; i++) {
        s->score[i] = mel_rng_uniform(&rng);
        s->role[i] = i < 2 ? i == 1 : mel_rng_uniform(&rng) < s->score[i];
        s->weight[i] = 0.5 + mel_rng_uniform(&rng);
    }
}

static mel_status from_scores(void *context)
{
    const sample *s = context;
    mel_face *face = NULL;
    mel_error err;
    const mel_status status =
        mel_face_from_scores(&face, s->n, s->score, s->role, s->weighted ? s->weight : NULL, &err);
    if (status != MEL_OK) {
        assert_null(face);
        assert_int_equal(err.code, MEL_ENOMEM);
        assert_int_equal(status, MEL_ENOMEM);
    }
    mel_face_free(face);
    return status;
}

static mel_status from_probabilities(void *context)
{
    (void)context;
    mel_face *face = NULL;
    const mel_status status = mel_face_from_probabilities(&face, 2, (const double[]){ 0.2, 0.8, 0.7, 0.3 },
                                                          (const uint8_t[]){ 1, 0 }, NULL, NULL);
    assert_int_equal(status == MEL_OK, face != NULL);
    mel_face_free(face);
    return status;
}

static mel_status from_logistic(void *context)
{
    (void)context;
    mel_face *face = NULL;
    const mel_status status = mel_face_from_logistic(&face, 3, 1, NULL);
    assert_int_equal(status == MEL_OK, face != NULL);
    mel_face_free(face);
    return status;
}

/* context: a sample face; whatever fails, it can still be used and freed. */
static mel_status smooth(void *context)
{
    mel_face *face = NULL;
    double a = 7, b = 7;
    const mel_status status = mel_face_smooth(&face, &a, &b, context, NULL);
    assert_int_equal(status == MEL_OK, face != NULL);
    assert_int_equal(status == MEL_OK, a != 7);
    mel_face_free(face);
    assert_true(mel_face_rule(context, (mel_rule){ 0.5, false }).tp > 0);
    return status;
}

static void test_samples(void **state)
{
    (void)state;
    static sample s;
    static const size_t sizes[] = { 2, 500, ROWS };
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int weighted = 0; weighted < 2; weighted++) {
            fill(&s, sizes[i], weighted == 1);
            test_each_allocation("mel_face_from_scores", from_scores, &s);
        }
    test_each_allocation("mel_face_from_probabilities", from_probabilities, NULL);
}

static void test_populations(void **state)
{
    (void)state;
    test_each_allocation("mel_face_from_logistic", from_logistic, NULL);
}

static void test_smoothing(void **state)
{
    (void)state;
    static sample s;
    mel_face *face = NULL;
    fill(&s, 300, false);
    assert_ok(mel_face_from_scores(&face, s.n, s.score, s.role, NULL, NULL), NULL);
    test_each_allocation("mel_face_smooth", smooth, face);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_populations),
        cmocka_unit_test(test_smoothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
