/* Calibration: known temperatures, steps by hand, held-out log-loss, refusals. */
#include "support/problem.h"
#include "support/test.h"

#include "model/model.h"
#include "model/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A model whose score of the second class is slope * x. */
static mel_model *logistic(double slope)
{
    mel_model *model = NULL;
    mel_error err;
    assert_ok(mel_model_new(&model, 2, 1, &err), &err);
    model->weights[0] = slope;
    return model;
}

static double loss_on(const mel_model *model, const mel_features *x, const uint32_t *y)
{
    const size_t k = mel_model_classes(model);
    double *probs = calloc(x->n_rows * k, sizeof *probs);
    mel_error err;
    assert_non_null(probs);
    assert_ok(mel_model_predict(probs, model, x, 1, &err), &err);
    const double loss = mel_log_loss(x->n_rows, k, probs, y, NULL);
    free(probs);
    return loss;
}

/* 3 of 4 rows right at a score of +-s: the best score is log 3, so T = s / log 3. */
static void test_known_temperature(void **state)
{
    (void)state;
    static const double x[] = { 1, 1, 1, 1, -1, -1, -1, -1 };
    static const uint32_t y[] = { 1, 1, 1, 0, 0, 0, 0, 1 };
    const mel_features features = { .n_rows = 8, .n_cols = 1, .dense = x, .stride = 1 };
    static const double slopes[] = { 0.01, 0.5, 1.0986122886681098, 3.0, 40.0, 700.0 };
    mel_error err;
    for (size_t i = 0; i < COUNT(slopes); i++) {
        mel_model *model = logistic(slopes[i]);
        assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_TEMPERATURE, &features, y, NULL, &err), &err);
        assert_int_equal(mel_model_calibration(model), MEL_CALIBRATE_TEMPERATURE);
        assert_close(mel_model_temperature(model), slopes[i] / log(3.0), 1e-9 * slopes[i]);
        double probs[16];
        assert_ok(mel_model_predict(probs, model, &features, 1, &err), &err);
        assert_close(probs[1], 0.75, 1e-9);
        assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_NONE, &features, y, NULL, &err), &err);
        assert_true(mel_model_temperature(model) == 1.0);
        mel_model_free(model);
    }
}

/* Rows that ask for certainty, or for the opposite of the model, get the ends of the range. */
static void test_temperature_at_the_ends(void **state)
{
    (void)state;
    static const double x[] = { 1, 2, -1, -2 };
    static const uint32_t right[] = { 1, 1, 0, 0 }, wrong[] = { 0, 0, 1, 1 };
    const mel_features features = { .n_rows = 4, .n_cols = 1, .dense = x, .stride = 1 };
    mel_error err;
    mel_model *model = logistic(2.0);
    assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_TEMPERATURE, &features, right, NULL, &err), &err);
    assert_close(mel_model_temperature(model), 1e-3, 1e-15);
    assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_TEMPERATURE, &features, wrong, NULL, &err), &err);
    assert_close(mel_model_temperature(model), 1e3, 1e-9);
    mel_model_free(model);
}

/* Weights count rows, also here; a row of weight zero is not there. */
static void test_weighted_temperature(void **state)
{
    (void)state;
    static const double x[] = { 1, 1, -1, -1, 5 }, weight[] = { 3, 1, 3, 1, 0 };
    static const uint32_t y[] = { 1, 0, 0, 1, 0 };
    const mel_features features = { .n_rows = 5, .n_cols = 1, .dense = x, .stride = 1 };
    mel_error err;
    mel_model *model = logistic(2.0);
    assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_TEMPERATURE, &features, y, weight, &err), &err);
    assert_close(mel_model_temperature(model), 2.0 / log(3.0), 1e-9);
    mel_model_free(model);
}

/* Scores beyond the range of double do not spoil the rest. */
static void test_extreme_scores(void **state)
{
    (void)state;
    static const double x[] = { 1, 1, 1, 1, -1, -1, -1, -1, 1e308, -1e308 };
    static const uint32_t y[] = { 1, 1, 1, 0, 0, 0, 0, 1, 1, 0 };
    const mel_features features = { .n_rows = 10, .n_cols = 1, .dense = x, .stride = 1 };
    mel_error err;
    mel_model *model = logistic(3.0);
    assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_TEMPERATURE, &features, y, NULL, &err), &err);
    assert_close(mel_model_temperature(model), 3.0 / log(3.0), 1e-9);
    mel_model_free(model);
}

/* Steps worked out by hand. Targets are 1/(n0 + 2) and (n1 + 1)/(n1 + 2). */
static void test_isotonic_by_hand(void **state)
{
    (void)state;
    /* Scores -2 -1 -1 0 1 2 with labels 0 0 1 1 0 1: the tie at -1 pools to a half, then 0 and 1 violate. */
    static const double x[] = { 2, -1, 0, -2, 1, -1 };
    static const uint32_t y[] = { 1, 0, 1, 0, 0, 1 };
    const mel_features features = { .n_rows = 6, .n_cols = 1, .dense = x, .stride = 1 };
    const double low = 1.0 / 5.0, high = 4.0 / 5.0, half = 0.5;
    mel_error err;
    mel_model *model = logistic(1.0);
    assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_ISOTONIC, &features, y, NULL, &err), &err);
    assert_int_equal(mel_model_calibration(model), MEL_CALIBRATE_ISOTONIC);
    double probs[12];
    assert_ok(mel_model_predict(probs, model, &features, 1, &err), &err);
    static const size_t at[] = { 3, 0 };
    const double want[] = { low, high };
    for (size_t i = 0; i < COUNT(at); i++)
        assert_close(probs[2 * at[i] + 1], want[i], 1e-14);
    /* -1, -1, 0 and 1 form one step of height a half; its centre is the mean of their probabilities. */
    assert_int_equal(model->n_knots, 3);
    const double p1 = 1.0 / (1.0 + exp(1.0));
    assert_close(model->knots[1], (2.0 * p1 + 0.5 + (1.0 - p1)) / 4.0, 1e-15);
    assert_close(model->knots[4], half, 1e-15);
    /* Linear between the centres, constant beyond. */
    const double between[] = { 0.5 * (model->knots[0] + model->knots[1]) };
    const double score[] = { log(between[0] / (1.0 - between[0])), -50.0, 50.0 };
    const mel_features other = { .n_rows = 3, .n_cols = 1, .dense = score, .stride = 1 };
    assert_ok(mel_model_predict(probs, model, &other, 1, &err), &err);
    assert_close(probs[1], 0.5 * (low + half), 1e-12);
    assert_close(probs[3], low, 1e-15);
    assert_close(probs[5], high, 1e-15);
    mel_model_free(model);
}

/* The unit of the weights does not matter, and equal weights are none. */
static void test_isotonic_unit_of_weights(void **state)
{
    (void)state;
    static const double x[] = { 2, -1, 0, -2, 1, -1, 3 };
    static const double weight[2][7] = { { 1, 2, 0.5, 3, 1, 0.25, 0 }, { 1, 1, 1, 1, 1, 1, 1 } };
    static const uint32_t y[] = { 1, 0, 1, 0, 0, 1, 1 };
    static const double units[] = { 1e-6, 0.1, 1000.0, 1e12 };
    const mel_features features = { .n_rows = 7, .n_cols = 1, .dense = x, .stride = 1 };
    mel_error err;
    for (size_t w = 0; w < COUNT(weight); w++) {
        mel_model *want = logistic(1.0);
        assert_ok(
            mel_model_calibrate(want, MEL_CALIBRATE_ISOTONIC, &features, y, w == 0 ? weight[0] : NULL, &err),
            &err);
        for (size_t u = 0; u < COUNT(units); u++) {
            double scaled[7];
            for (size_t i = 0; i < COUNT(scaled); i++)
                scaled[i] = units[u] * weight[w][i];
            mel_model *got = logistic(1.0);
            assert_ok(mel_model_calibrate(got, MEL_CALIBRATE_ISOTONIC, &features, y, scaled, &err), &err);
            assert_int_equal(got->n_knots, want->n_knots);
            for (size_t i = 0; i < 2 * want->n_knots; i++)
                assert_close(got->knots[i], want->knots[i], 1e-14);
            mel_model_free(got);
        }
        mel_model_free(want);
    }
}

static void test_isotonic_is_monotone(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 5);
    for (int round = 0; round < 50; round++) {
        enum { N = 80, GRID = 500 };
        double x[N], weight[N], grid[GRID], probs[2 * GRID];
        uint32_t y[N];
        for (size_t i = 0; i < N; i++) {
            x[i] = round % 2 == 0 ? mel_rng_normal(&rng) : (double)mel_rng_below(&rng, 7) - 3.0;
            weight[i] = round % 3 == 0 ? (double)mel_rng_below(&rng, 3) : mel_rng_uniform(&rng);
            y[i] = i < 2 ? (uint32_t)i : mel_rng_uniform(&rng) < 0.3 + 0.1 * x[i];
        }
        weight[0] = weight[1] = 1.0;
        for (size_t i = 0; i < GRID; i++)
            grid[i] = -5.0 + 10.0 * (double)i / GRID;
        const mel_features features = { .n_rows = N, .n_cols = 1, .dense = x, .stride = 1 };
        const mel_features line = { .n_rows = GRID, .n_cols = 1, .dense = grid, .stride = 1 };
        mel_model *model = logistic(2.0);
        mel_error err;
        assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_ISOTONIC, &features, y, weight, &err), &err);
        assert_ok(mel_model_predict(probs, model, &line, 1, &err), &err);
        for (size_t i = 0; i < GRID; i++) {
            assert_true(probs[2 * i + 1] > 0.0 && probs[2 * i + 1] < 1.0);
            assert_close(probs[2 * i] + probs[2 * i + 1], 1.0, 1e-15);
            assert_true(i == 0 || probs[2 * i + 1] >= probs[2 * i - 1]);
        }
        mel_model_free(model);
    }
}

/* Fits on a third, calibrates on a third, measures on a third. */
static void split(const test_problem *p, mel_features part[3], const uint32_t *y[3])
{
    const size_t third = p->n_rows / 3;
    for (size_t i = 0; i < 3; i++) {
        part[i] = (mel_features){ .n_rows = third,
                                  .n_cols = p->n_cols,
                                  .dense = p->dense + i * third * p->stride,
                                  .stride = p->stride };
        y[i] = p->y + i * third;
    }
}

/* Coefficients three times too large are over-confident, a third too small under-confident; both are
 * put right on rows that neither fit nor calibration saw. */
static void test_miscalibrated_models(void **state)
{
    (void)state;
    static const double factors[] = { 3.0, 0.3 };
    for (size_t k = 2; k <= 4; k++)
        for (size_t f = 0; f < COUNT(factors); f++) {
            test_problem p;
            test_problem_make(&p, 40 + k, 9000, 6, k, 1.0);
            mel_features part[3];
            const uint32_t *y[3];
            split(&p, part, y);
            mel_model *model = NULL;
            mel_error err;
            assert_ok(mel_model_fit(&model, NULL, &part[0], y[0], k, NULL, NULL, &err), &err);
            const double good = loss_on(model, &part[2], y[2]);
            for (size_t i = 0; i < model->n_outputs * model->n_features; i++)
                model->weights[i] *= factors[f];
            for (size_t c = 0; c < model->n_outputs; c++)
                model->intercepts[c] *= factors[f];
            const double bad = loss_on(model, &part[2], y[2]);
            assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_TEMPERATURE, &part[1], y[1], NULL, &err),
                      &err);
            assert_true(loss_on(model, &part[2], y[2]) < bad);
            assert_close(loss_on(model, &part[2], y[2]), good, 2e-3);
            assert_close(mel_model_temperature(model), factors[f], 0.1 * factors[f]);
            if (k == 2) {
                assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_ISOTONIC, &part[1], y[1], NULL, &err),
                          &err);
                assert_true(mel_model_temperature(model) == 1.0);
                assert_true(loss_on(model, &part[2], y[2]) < bad);
                assert_close(loss_on(model, &part[2], y[2]), good, 2e-2);
            }
            mel_model_free(model);
            test_problem_clear(&p);
        }
}

/* Never worse on the rows that it is fitted on. */
static void test_temperature_never_hurts(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        test_problem p;
        test_problem_make(&p, seed, 200, 4, 2 + seed % 4, 0.7);
        mel_features x = test_problem_dense(&p), half = x;
        half.n_rows = 100;
        mel_model *model = NULL;
        mel_error err;
        mel_fit_options opt;
        mel_fit_options_init(&opt);
        opt.l2 = seed % 2 == 0 ? 1e-3 : 30.0;
        assert_ok(mel_model_fit(&model, NULL, &half, p.y, p.n_classes, NULL, &opt, &err), &err);
        const double before = loss_on(model, &x, p.y);
        assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_TEMPERATURE, &x, p.y, NULL, &err), &err);
        assert_true(loss_on(model, &x, p.y) <= before + 1e-12);
        mel_model_free(model);
        test_problem_clear(&p);
    }
}

/* The diagnostic breast cancer data: an unpenalised fit on a third of the rows is far too sure. */
static void test_real_data(void **state)
{
    (void)state;
    const char *path = test_data("breast_cancer_diagnostic.csv.gz");
    mel_error err;
    mel_table *table = NULL;
    mel_labels labels = { 0 };
    mel_encoder *encoder = NULL;
    mel_encoded encoded = { 0 };
    mel_encoder_options opt;
    mel_encoder_options_init(&opt);
    static const char *const skip[] = { "label" };
    opt.skip = skip;
    opt.n_skip = 1;
    opt.dense = true;
    assert_ok(mel_table_read(&table, path, NULL, &err), &err);
    assert_ok(mel_table_labels(&labels, table, "label", &err), &err);
    assert_ok(mel_encoder_fit(&encoder, table, &opt, &err), &err);
    assert_ok(mel_encode(&encoded, encoder, table, &err), &err);
    mel_features part[3];
    const uint32_t *y[3];
    const size_t third = encoded.view.n_rows / 3;
    for (size_t i = 0; i < 3; i++) {
        part[i] = encoded.view;
        part[i].n_rows = third;
        part[i].dense += i * third * encoded.view.stride;
        y[i] = labels.code + i * third;
    }
    mel_model *model = NULL;
    mel_fit_options fit;
    mel_fit_options_init(&fit);
    fit.l2 = 1e-6;
    assert_ok(mel_model_fit(&model, NULL, &part[0], y[0], 2, NULL, &fit, &err), &err);
    const double before = loss_on(model, &part[2], y[2]);
    assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_TEMPERATURE, &part[1], y[1], NULL, &err), &err);
    const double temperature = loss_on(model, &part[2], y[2]);
    assert_ok(mel_model_calibrate(model, MEL_CALIBRATE_ISOTONIC, &part[1], y[1], NULL, &err), &err);
    const double isotonic = loss_on(model, &part[2], y[2]);
    print_message("  held-out log-loss %.4f, with temperature %.4f, isotonic %.4f\n", before, temperature,
                  isotonic);
    assert_true(temperature < 0.5 * before);
    assert_true(isotonic < 0.5 * before);
    mel_model_free(model);
    mel_encoded_clear(&encoded);
    mel_encoder_free(encoder);
    mel_labels_clear(&labels);
    mel_table_free(table);
}

static void test_refusals(void **state)
{
    (void)state;
    static const double x[] = { 1, 2, 3, 4 }, bad_x[] = { 1, 2, NAN, 4 };
    static const double bad_weight[] = { 1, -1, 1, 1 }, half_weight[] = { 0, 1, 0, 1 };
    static const uint32_t y[] = { 0, 1, 0, 1 }, same[] = { 1, 1, 1, 1 }, large[] = { 0, 1, 2, 1 };
    static const struct {
        const char *name;
        size_t k, n_rows, n_cols;
        const double *x, *weight;
        const uint32_t *y;
        mel_calibration kind;
        mel_status want;
        const char *says;
    } rows[] = {
        { "unknown kind", 2, 4, 1, x, NULL, y, (mel_calibration)9, MEL_EINVAL, "calibration 9" },
        { "isotonic of three", 3, 4, 1, x, NULL, y, MEL_CALIBRATE_ISOTONIC, MEL_EINVAL, "two classes" },
        { "no rows", 2, 0, 1, x, NULL, y, MEL_CALIBRATE_TEMPERATURE, MEL_EDATA, "no rows" },
        { "NaN", 2, 4, 1, bad_x, NULL, y, MEL_CALIBRATE_TEMPERATURE, MEL_EDATA, "row 3, feature 1" },
        { "other width", 2, 2, 2, x, NULL, y, MEL_CALIBRATE_TEMPERATURE, MEL_EINVAL, "2 features" },
        { "weight", 2, 4, 1, x, bad_weight, y, MEL_CALIBRATE_ISOTONIC, MEL_EDATA, "row 2: weight -1" },
        { "one class", 2, 4, 1, x, NULL, same, MEL_CALIBRATE_ISOTONIC, MEL_EDATA, "only one class" },
        { "one class by weight", 2, 4, 1, x, half_weight, y, MEL_CALIBRATE_TEMPERATURE, MEL_EDATA,
          "only one" },
        { "code", 2, 4, 1, x, NULL, large, MEL_CALIBRATE_TEMPERATURE, MEL_EINVAL, "row 3: class code 2" },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        mel_model *model = NULL;
        mel_error err = { MEL_OK, "" };
        assert_ok(mel_model_new(&model, rows[r].k, 1, &err), &err);
        const mel_features features = {
            .n_rows = rows[r].n_rows, .n_cols = rows[r].n_cols, .dense = rows[r].x, .stride = rows[r].n_cols
        };
        print_message("  %s\n", rows[r].name);
        assert_int_equal(mel_model_calibrate(model, rows[r].kind, &features, rows[r].y, rows[r].weight, &err),
                         rows[r].want);
        if (strstr(err.text, rows[r].says) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[r].says);
        assert_int_equal(mel_model_calibration(model), MEL_CALIBRATE_NONE);
        mel_model_free(model);
    }
}

/* Two classes whose probabilities err differently at either end: drawn from a known adjustment, the fit finds
 * it, and undoing it gives the model's own probability back. */
static void test_adjustments_of_two_classes(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    mel_rng rng;
    mel_rng_seed(&rng, 8);
    double *p = calloc((size_t)2 * ROWS, sizeof *p);
    uint32_t *label = calloc(ROWS, sizeof *label);
    assert_non_null(p);
    assert_non_null(label);
    for (size_t turn = 0; turn < test_repeats(20, 3, 1); turn++) {
        double sharpness[2] = { 0.4 + mel_rng_uniform(&rng), 0.4 + mel_rng_uniform(&rng) };
        double offset[2] = { 0.0, mel_rng_normal(&rng) };
        const mel_adjustment truth = { .n_classes = 2, .sharpness = sharpness, .offset = offset };
        mel_adjustment found = { 0 };
        mel_error err = { 0 };
        for (size_t r = 0; r < ROWS; r++) {
            double q[2];
            p[2 * r + 1] = 1.0 / (1.0 + exp(2.0 * mel_rng_normal(&rng)));
            p[2 * r] = 1.0 - p[2 * r + 1];
            mel_adjust(q, &truth, 1, p + 2 * r, NULL);
            assert_close(mel_adjustment_undo(&truth, 0, q[1]), p[2 * r + 1], 1e-9);
            label[r] = mel_rng_uniform(&rng) < q[1];
        }
        assert_ok(mel_adjustment_fit(&found, ROWS, 2, p, label, NULL, NULL, NULL, &err), &err);
        assert_close(found.offset[1] - found.offset[0], offset[1], 0.25);
        for (size_t i = 0; i < 2; i++)
            assert_close(found.sharpness[i], sharpness[i], 0.15);
        mel_adjustment_clear(&found);
    }
    free(p);
    free(label);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_temperature),
        cmocka_unit_test(test_temperature_at_the_ends),
        cmocka_unit_test(test_weighted_temperature),
        cmocka_unit_test(test_extreme_scores),
        cmocka_unit_test(test_isotonic_by_hand),
        cmocka_unit_test(test_isotonic_unit_of_weights),
        cmocka_unit_test(test_isotonic_is_monotone),
        cmocka_unit_test(test_miscalibrated_models),
        cmocka_unit_test(test_temperature_never_hurts),
        cmocka_unit_test(test_real_data),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_adjustments_of_two_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
