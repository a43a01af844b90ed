/* What tests of binary elicitation share: simulated respondents and runs to the end. */
#include "support/binary.h"

#include "data/shared.h"
#include "elicit/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mel_oracle *test_oracle(const mel_metric *metric, mel_noise noise, uint64_t seed)
{
    mel_simulated_options opt;
    mel_simulated_options_init(&opt);
    opt.noise = noise;
    opt.seed = seed;
    mel_oracle *oracle = NULL;
    mel_error err;
    assert_ok(mel_oracle_simulated(&oracle, metric, &opt, &err), &err);
    return oracle;
}

static const mel_layout binary = { .kind = MEL_CONFUSION, .coordinates = MEL_BINARY, .n_classes = 2 };

mel_oracle *test_linear_oracle(double angle, mel_noise noise, uint64_t seed)
{
    const double a[2] = { cos(angle), sin(angle) };
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &binary, NULL, MEL_UTILITY, a, &err), &err);
    mel_oracle *oracle = test_oracle(metric, noise, seed);
    mel_metric_free(metric);
    return oracle;
}

mel_metric *test_fractional(const double p[2], const double q[3])
{
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, &binary, NULL, MEL_UTILITY, p, 0.0,
                                    q, q[2], &err),
              &err);
    return metric;
}

mel_metric *test_elicit(mel_summary *summary, const mel_face *face, const mel_session_options *opt,
                        mel_oracle *oracle)
{
    mel_session *session = NULL;
    mel_metric *metric = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, &(mel_domain){ .face = face }, opt, &err), &err);
    assert_ok(mel_session_run(session, oracle, &err), &err);
    assert_ok(mel_session_result(&metric, summary, session, &err), &err);
    mel_session_free(session);
    return metric;
}

double test_linf(double angle, double other)
{
    return fmax(fabs(cos(angle) - cos(other)), fabs(sin(angle) - sin(other)));
}

double test_agreement(const mel_face *face, const mel_metric *one, const mel_metric *other, size_t n,
                      uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    size_t agreed = 0;
    for (size_t i = 0; i < n; i++) {
        const mel_point a = mel_face_random(face, &rng), b = mel_face_random(face, &rng);
        const double first[2] = { a.tp, a.tn }, second[2] = { b.tp, b.tn };
        double x = 0.0, y = 0.0;
        mel_error err;
        assert_ok(mel_metric_compare(&x, one, first, second, &err), &err);
        assert_ok(mel_metric_compare(&y, other, first, second, &err), &err);
        agreed += (x > 0.0) == (y > 0.0);
    }
    return (double)agreed / (double)n;
}

mel_face *test_logistic_face(double a, double b)
{
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_logistic(&face, a, b, &err), &err);
    return face;
}

const struct test_fractional_row test_fractional_table[TEST_FRACTIONAL_ROWS] = {
    { { 1.0, 0.0 }, { 0.5, -0.5, 0.5 } },       { { 1.0, 0.0 }, { 0.8, -0.8, 0.5 } },
    { { 0.8, 0.2 }, { 0.3, 0.1, 0.3 } },        { { 0.60, 0.40 }, { 0.40, 0.20, 0.20 } },
    { { 0.40, 0.60 }, { -0.10, -0.20, 0.65 } }, { { 0.20, 0.80 }, { -0.40, -0.20, 0.80 } },
};

double test_value_on_boundary(const mel_face *face, const mel_metric *metric, size_t i, size_t n)
{
    const double half_pi = 1.57079632679489661923;
    const double angle = half_pi * ((double)i + 0.5) / (double)n;
    mel_point c;
    mel_error err;
    assert_ok(mel_face_support(&c, face, cos(angle), sin(angle), &err), &err);
    const double s[2] = { c.tp, c.tn };
    double value = 0.0;
    assert_ok(mel_metric_value(&value, metric, s, &err), &err);
    return value;
}

size_t test_argmax_on_boundary(const mel_face *face, const mel_metric *metric, size_t n)
{
    size_t best = 0;
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double value = test_value_on_boundary(face, metric, i, n);
        if (value > top) {
            top = value;
            best = i;
        }
    }
    return best;
}

/* Rows of the table whose mark is `want`. */
static mel_table *half(const mel_table *table, const bool *first, bool want)
{
    const size_t n = mel_table_rows(table);
    size_t *rows = malloc(n * sizeof *rows);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (first[i] == want)
            rows[kept++] = i;
    mel_table *part = NULL;
    mel_error err;
    assert_ok(mel_table_take(&part, table, rows, kept, &err), &err);
    free(rows);
    return part;
}

static void measure(test_probabilities *out, const mel_model *model, const mel_encoder *encoder,
                    const mel_table *table)
{
    mel_error err;
    mel_labels labels;
    mel_encoded encoded;
    assert_ok(mel_table_labels(&labels, table, "label", &err), &err);
    assert_ok(mel_encode(&encoded, encoder, table, &err), &err);
    out->n_rows = labels.n_rows;
    out->probability = malloc(out->n_classes * out->n_rows * sizeof *out->probability);
    out->label = malloc(out->n_rows * sizeof *out->label);
    assert_ok(mel_model_predict(out->probability, model, &encoded.view, 1, &err), &err);
    memcpy(out->label, labels.code, out->n_rows * sizeof *out->label);
    mel_encoded_clear(&encoded);
    mel_labels_clear(&labels);
}

void test_probabilities_of(test_probabilities *out, const char *name, double l2, uint64_t seed)
{
    mel_error err;
    const char *path = test_data(name);
    mel_read_options read;
    mel_read_options_init(&read);
    mel_table *table = NULL;
    assert_ok(mel_table_read(&table, path, &read, &err), &err);
    mel_labels labels;
    assert_ok(mel_table_labels(&labels, table, "label", &err), &err);
    bool *first = malloc(labels.n_rows * sizeof *first);
    assert_ok(mel_split(first, labels.n_rows, labels.code, NULL, 0.5, seed, &err), &err);
    mel_labels_clear(&labels);
    mel_table *train = half(table, first, true), *test = half(table, first, false);
    free(first);
    mel_table_free(table);

    const char *skip[] = { "label" };
    mel_encoder_options encoding;
    mel_encoder_options_init(&encoding);
    encoding.skip = skip;
    encoding.n_skip = 1;
    mel_encoder *encoder = NULL;
    mel_encoded encoded;
    assert_ok(mel_encoder_fit(&encoder, train, &encoding, &err), &err);
    assert_ok(mel_encode(&encoded, encoder, train, &err), &err);
    assert_ok(mel_table_labels(&labels, train, "label", &err), &err);
    out->n_classes = labels.n_classes;
    mel_fit_options fit;
    mel_fit_options_init(&fit);
    fit.l2 = l2;
    mel_model *model = NULL;
    assert_ok(mel_model_fit(&model, NULL, &encoded.view, labels.code, labels.n_classes, NULL, &fit, &err),
              &err);
    measure(out, model, encoder, test);
    mel_model_free(model);
    mel_encoded_clear(&encoded);
    mel_encoder_free(encoder);
    mel_labels_clear(&labels);
    mel_table_free(train);
    mel_table_free(test);
}

void test_probabilities_clear(test_probabilities *p)
{
    free(p->probability);
    free(p->label);
}

mel_face *test_data_face(const char *name, double l2, uint64_t seed)
{
    test_probabilities p;
    test_probabilities_of(&p, name, l2, seed);
    double *score = malloc(p.n_rows * sizeof *score);
    uint8_t *role = malloc(p.n_rows);
    for (size_t i = 0; i < p.n_rows; i++) {
        role[i] = (uint8_t)p.label[i];
        score[i] = p.probability[2 * i + 1];
    }
    mel_face *face = NULL;
    mel_error err;
    assert_ok(mel_face_from_scores(&face, p.n_rows, score, role, NULL, &err), &err);
    free(score);
    free(role);
    test_probabilities_clear(&p);
    return face;
}
