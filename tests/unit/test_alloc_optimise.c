/* Every allocation of the optimise room fails once. */
#include "optimise/shared.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { N = 12, K = 2, L = 3 };
static const double probability[N * K] = { 0.9, 0.1, 0.2, 0.8, 0.4, 0.6, 0.7,  0.3,  0.6,  0.4,  0.1,  0.9,
                                           0.3, 0.7, 0.8, 0.2, 0.5, 0.5, 0.55, 0.45, 0.35, 0.65, 0.15, 0.85 };
static const uint32_t label[N] = { 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1 };
static const uint32_t group[N] = { 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 0 };
static const char *const names[] = { "a", "b" };
static const double value[N * 2] = { 0, 1, 1,   0,   0.5, 0.5, 0.2, 0.1, 0.9, 1,   0, 0,
                                     1, 1, 0.3, 0.7, 0.6, 0.2, 0.8, 0.1, 0.4, 0.4, 0, 1 };
static const mel_feature_rows features = { N, 2, value, names };

static mel_status make_basis(mel_weight_basis **basis, mel_error *err)
{
    mel_status status = mel_weight_basis_new(basis, err);
    if (status == MEL_OK)
        status = mel_weight_basis_add_default(*basis, err);
    if (status == MEL_OK)
        status = mel_weight_basis_add_kmeans(*basis, &features, 2, 1, err);
    return status;
}

static mel_status use_files(const mel_blend *mixture, mel_weight_basis *basis, mel_error *err)
{
    mel_classifier *c = NULL, *read = NULL;
    char *text = NULL;
    double chance[N * K];
    uint32_t decided[N];
    const mel_classifier_source source = { .class_name = names, .label = names };
    const mel_undecided rows = { .n = N, .probability = probability, .features = &features, .seed = 1 };
    mel_status status = mel_classifier_of_blend(&c, mixture, basis, true, 0.5, err);
    if (status == MEL_OK)
        status = mel_classifier_set_source(c, &source, err);
    if (status == MEL_OK)
        status = mel_classifier_to_json(&text, c, err);
    if (status == MEL_OK)
        status = mel_classifier_from_json(&read, text, strlen(text), err);
    if (status == MEL_OK)
        status = mel_classifier_chances_of(chance, read, &rows, err);
    if (status == MEL_OK)
        status = mel_classifier_decide_of(decided, read, &rows, err);
    free(text);
    mel_classifier_free(c);
    mel_classifier_free(read);
    return status;
}

typedef struct {
    mel_probe_kind probes;
    mel_weight_shape shape;
    bool soft;
} way;

static mel_status optimise(void *context)
{
    const way *w = context;
    mel_weight_basis *basis = NULL;
    mel_measure *measure = NULL;
    mel_optimise_result found = { 0 };
    mel_error err = { 0 };
    double phi[N * L];
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    opt.iterations = 2;
    opt.probes = w->probes;
    opt.shape = w->shape;
    mel_status status = make_basis(&basis, &err);
    if (status == MEL_OK)
        status = mel_weight_basis_values(phi, basis, &features, N, &err);
    for (size_t i = 0; i < N && status == MEL_OK && w->soft; i++)
        phi[i * L] = value[2 * i];
    if (status == MEL_OK)
        status = mel_measure_named(&measure, "balanced-accuracy", K, 2, &err);
    const mel_weight_rows rows = { N, probability, label, phi };
    if (status == MEL_OK) {
        const mel_black_box box = mel_measure_box(measure, group);
        status = mel_optimise(&found, K, L, &rows, &rows, &box, &opt, &err);
    }
    if (status == MEL_OK) {
        status = use_files(&found.mixture, basis, &err);
        basis = NULL; /* taken over, on failure too */
    }
    mel_optimise_clear(&found);
    mel_measure_free(measure);
    mel_weight_basis_free(basis);
    return status;
}

static mel_status other_bases(void *context)
{
    (void)context;
    mel_weight_basis *basis = NULL;
    mel_error err = { 0 };
    double phi[N * 4];
    mel_status status = mel_weight_basis_new(&basis, &err);
    if (status == MEL_OK)
        status = mel_weight_basis_add_columns(basis, 2, names, &err);
    if (status == MEL_OK)
        status = mel_weight_basis_add_rbf(basis, &features, label, 2, 1.0, true, &err);
    if (status == MEL_OK)
        status = mel_weight_basis_values(phi, basis, &features, N, &err);
    mel_weight_basis_free(basis);
    return status;
}

static mel_status choose(void *context)
{
    (void)context;
    const mel_weight_candidate candidate[] = { { 1, NULL, NULL, 0.01 }, { 1, NULL, NULL, 0.1 } };
    const mel_weight_rows rows = { N, probability, label, NULL };
    mel_measure *measure = NULL;
    mel_error err = { 0 };
    double got[2];
    mel_weight_choice choice = { .value = got };
    mel_optimise_options opt;
    mel_optimise_options_init(&opt);
    opt.iterations = 2;
    mel_status status = mel_measure_named(&measure, "accuracy", K, 0, &err);
    if (status == MEL_OK) {
        const mel_black_box box = mel_measure_box(measure, NULL);
        status = mel_optimise_choose(&choice, 2, candidate, 2, K, &rows, &rows, &box, &opt, &err);
    }
    mel_measure_free(measure);
    return status;
}

static mel_status compare(void *context)
{
    const mel_compare_method *method = context;
    const mel_sample rows = { N, K, 2, probability, label, group, NULL };
    mel_comparisons *search = NULL;
    mel_error err = { 0 };
    char *text = NULL;
    mel_compare_options opt;
    mel_compare_options_init(&opt);
    opt.method = *method;
    opt.bits = 1;
    mel_status status = mel_comparisons_new(&search, &rows, &opt, &err);
    for (int i = 0; i < 6 && status == MEL_OK && mel_comparisons_ask(search) != NULL; i++)
        status = mel_comparisons_tell(search, i % 3 == 0 ? MEL_ANSWER_A : MEL_ANSWER_B, &err);
    if (status == MEL_OK)
        status =
            mel_comparisons_to_json(&text, search, &(mel_classifier_source){ .class_name = names }, &err);
    free(text);
    mel_comparisons_free(search);
    return status;
}

static mel_status metric(void *context)
{
    mel_measure *measure = NULL;
    mel_error err = { 0 };
    const mel_status status = mel_measure_metric(&measure, context, K, 0, &err);
    mel_measure_free(measure);
    return status;
}

/* The share of rows that are said to be of class 1. */
static mel_status judge(double *out, void *user, const double *chance, mel_error *err)
{
    (void)user;
    (void)err;
    *out = 0.0;
    for (size_t i = 0; i < N; i++)
        *out += chance[i * K + 1] / N;
    return MEL_OK;
}

static mel_status plug_in(void *context)
{
    const mel_progress silent = { 0 };
    mel_measure *measure = NULL;
    mel_error err = { 0 };
    mel_optimise_result found = { 0 };
    mel_status status = mel_measure_named(&measure, "g-mean", K, 2, &err);
    if (status == MEL_OK) {
        const mel_black_box soft = { .judge = judge }, box = mel_measure_box(measure, group);
        const mel_weight_rows rows = { N, probability, label, NULL };
        status =
            mel_optimise_plug_in(&found, K, &rows, context != NULL ? &soft : &box, 0.1, 1, &silent, &err);
    }
    mel_optimise_clear(&found);
    mel_measure_free(measure);
    return status;
}

static void test_optimise(void **state)
{
    (void)state;
    static const way ways[] = { { MEL_PROBE_FIXED, MEL_WEIGHT_DIAGONAL, false },
                                { MEL_PROBE_FIXED, MEL_WEIGHT_DIAGONAL, true },
                                { MEL_PROBE_FIXED, MEL_WEIGHT_WHOLE, false },
                                { MEL_PROBE_CONSTRAINED, MEL_WEIGHT_DIAGONAL, false },
                                { MEL_PROBE_CONSTRAINED, MEL_WEIGHT_WHOLE, false } };
    for (size_t i = 0; i < COUNT(ways); i++) {
        way w = ways[i];
        test_each_allocation("optimise", optimise, &w);
    }
    test_each_allocation("columns and radial functions", other_bases, NULL);
    test_each_allocation("cross-fitting", choose, NULL);
    test_each_allocation("plug-in", plug_in, NULL);
    test_each_allocation("plug-in, judged", plug_in, (void *)(uintptr_t)names);
}

static void test_comparisons(void **state)
{
    (void)state;
    mel_compare_method signs = MEL_COMPARE_SIGNS, slopes = MEL_COMPARE_SLOPES;
    test_each_allocation("sign steps", compare, &signs);
    test_each_allocation("slopes", compare, &slopes);
}

static void test_metric(void **state)
{
    (void)state;
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    const double a[] = { 1.0, 2.0 };
    mel_metric *m = NULL;
    mel_error err = { 0 };
    assert_ok(mel_metric_linear(&m, MEL_FAMILY_LINEAR, &layout, NULL, MEL_UTILITY, a, &err), &err);
    test_each_allocation("a metric as a black box", metric, m);
    mel_metric_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_optimise), cmocka_unit_test(test_comparisons),
                                        cmocka_unit_test(test_metric) };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
