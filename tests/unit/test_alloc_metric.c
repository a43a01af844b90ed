/* Every allocation of the metric room fails once. */
#include "support/test.h"

#include "melicit/elicit.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mel_layout grouped = { MEL_RATES, MEL_DIAGONAL, 3, 2 };
static const mel_layout binary = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
static const char *const three[] = { "healthy", "flu", "pneumonia" };
static const double values[] = { 0.5, -0.25, 0.125, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
static const double lows[] = { 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
static const double highs[] = { 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 19, 19, 19, 19 };

static mel_status make(mel_metric **metric)
{
    mel_error err = { 0 };
    mel_status status = mel_metric_fractional(metric, MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, &grouped, three,
                                              MEL_UTILITY, values, 1, values, 2, &err);
    if (status == MEL_OK)
        status = mel_metric_set_intervals(*metric, lows, highs, &err);
    const mel_elicited how = { 9, "active", 0.1, 7 };
    if (status == MEL_OK)
        status = mel_metric_set_elicited(*metric, &how, &err);
    return status;
}

static mel_status make_and_copy(void *context)
{
    (void)context;
    mel_metric *metric = NULL, *copy = NULL;
    mel_error err = { 0 };
    mel_status status = make(&metric);
    if (status == MEL_OK)
        status = mel_metric_copy(&copy, metric, &err);
    if (status == MEL_OK)
        status = mel_metric_normalise(copy, &err);
    mel_metric_free(copy);
    copy = NULL;
    static const size_t classes[] = { 2, 0, 1 }, groups[] = { 1, 0 };
    if (status == MEL_OK)
        status = mel_metric_reorder(&copy, metric, classes, groups, &err);
    mel_metric_free(metric);
    mel_metric_free(copy);
    return status;
}

static mel_status write_and_read(void *context)
{
    (void)context;
    mel_metric *metric = NULL, *again = NULL;
    char *text = NULL;
    mel_error err = { 0 };
    mel_status status = make(&metric);
    if (status == MEL_OK)
        status = mel_metric_to_json(&text, metric, &err);
    if (status == MEL_OK)
        status = mel_metric_load_memory(&again, text, strlen(text), "memory", &err);
    mel_metric_free(metric);
    mel_metric_free(again);
    free(text);
    return status;
}

static mel_status read_given(void *context)
{
    mel_metric *metric = NULL;
    const mel_status status = mel_metric_load_memory(&metric, context, strlen(context), "memory", NULL);
    /* Not one character of a name may be lost on the way. */
    if (status == MEL_OK && strstr(context, mel_metric_class_name(metric, 1)) == NULL)
        fail_msg("the name became %s", mel_metric_class_name(metric, 1));
    mel_metric_free(metric);
    return status;
}

static mel_status save_and_load(void *context)
{
    const char *path = context;
    mel_metric *metric = NULL, *again = NULL;
    mel_error err = { 0 };
    mel_status status = make(&metric);
    if (status == MEL_OK)
        status = mel_metric_save(metric, path, &err);
    if (status == MEL_OK)
        status = mel_metric_load(&again, path, &err);
    mel_metric_free(metric);
    mel_metric_free(again);
    return status;
}

static mel_status words(void *context)
{
    (void)context;
    mel_metric *general = NULL, *linear = NULL, *fraction = NULL;
    char *texts[3] = { NULL, NULL, NULL };
    mel_error err = { 0 };
    mel_status status = make(&general);
    if (status == MEL_OK)
        status = mel_metric_linear(&linear, MEL_FAMILY_LINEAR, &binary, three, MEL_UTILITY, values + 2, &err);
    if (status == MEL_OK)
        status = mel_metric_named(&fraction, "f1", 0.3, three, &err);
    enum { N_METRICS = 3 };
    const mel_metric *const all[N_METRICS] = { general, linear, fraction };
    for (size_t i = 0; status == MEL_OK && i < N_METRICS; i++)
        status = mel_metric_words(&texts[i], all[i], &err);
    for (size_t i = 0; i < N_METRICS; i++)
        free(texts[i]);
    mel_metric_free(general);
    mel_metric_free(linear);
    mel_metric_free(fraction);
    return status;
}

static const mel_layout fair = { MEL_RATES, MEL_OFFDIAGONAL, 2, 3 };
static const mel_layout two = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
static const double square[] = { 1, 2, 2, 3 };
static const double squares[] = { 1, 2, 2, 3, 1, 2, 2, 3, 1, 2, 2, 3 };
static const double shares[] = { 0.5, 0.5, 0.25, 0.25, 0.25, 0.25 };

/* Everything that can be done with a metric of these families. */
static mel_status use(mel_metric *metric)
{
    mel_metric *copy = NULL, *again = NULL;
    char *text = NULL, *said = NULL;
    double *zero = calloc(mel_metric_coefficients(metric), sizeof *zero);
    mel_error err = { 0 };
    mel_status status = zero != NULL ? mel_metric_set_intervals(metric, zero, zero, &err) : MEL_ENOMEM;
    if (status == MEL_OK)
        status = mel_metric_copy(&copy, metric, &err);
    if (status == MEL_OK)
        status = mel_metric_normalise(copy, &err);
    if (status == MEL_OK)
        status = mel_metric_words(&said, copy, &err);
    if (status == MEL_OK)
        status = mel_metric_to_json(&text, copy, &err);
    if (status == MEL_OK)
        status = mel_metric_load_memory(&again, text, strlen(text), "memory", &err);
    free(zero);
    free(text);
    free(said);
    mel_metric_free(copy);
    mel_metric_free(again);
    return status;
}

static mel_status quadratic(void *context)
{
    (void)context;
    mel_metric *metric = NULL;
    mel_status status = mel_metric_quadratic(&metric, &two, three, MEL_COST, values, square, NULL);
    if (status == MEL_OK)
        status = use(metric);
    mel_metric_free(metric);
    return status;
}

static mel_status polynomial(void *context)
{
    (void)context;
    static const double cube[8] = { 1 };
    const double *const tensor[] = { values, square, cube };
    mel_metric *metric = NULL;
    mel_status status = mel_metric_polynomial(&metric, 3, &two, three, MEL_COST, tensor, NULL);
    if (status == MEL_OK)
        status = use(metric);
    mel_metric_free(metric);
    return status;
}

static mel_status fair_linear(void *context)
{
    (void)context;
    mel_metric *metric = NULL;
    mel_status status =
        mel_metric_fair_linear(&metric, &fair, three, three, values, squares, 0.5, shares, NULL);
    if (status == MEL_OK)
        status = use(metric);
    mel_metric_free(metric);
    return status;
}

static mel_status fair_quadratic(void *context)
{
    (void)context;
    mel_metric *metric = NULL;
    mel_status status =
        mel_metric_fair_quadratic(&metric, &fair, three, NULL, values, squares, 0.5, shares, NULL);
    if (status == MEL_OK)
        status = use(metric);
    mel_metric_free(metric);
    return status;
}

static mel_status neighbours(void *context)
{
    (void)context;
    mel_metric *metric = NULL;
    mel_neighbour found[3];
    size_t n = 0;
    mel_error err = { 0 };
    const double a[] = { 0.1, 0.2, 0.2, 0.4 }, b[] = { 0.2, 0.1, 0.1, 0.3 };
    mel_status status = mel_metric_named(&metric, "weighted-accuracy:7", 0.3, NULL, &err);
    if (status == MEL_OK)
        status = mel_metric_neighbours(found, COUNT(found), &n, metric, 0.3, 2, a, b, &err);
    mel_metric_free(metric);
    return status;
}

/* Metrics of names and costs, measures of confusion matrices. */
static mel_status make_known(void *context)
{
    (void)context;
    static const char *const names[] = { "kappa", "q-mean", "equalised-odds:squared",
                                         "equalised-odds:absolute:1,4,1,4,1,4", "balanced-accuracy" };
    static const double share[] = { 0.1, 0.2, 0.1, 0.2, 0.2, 0.2 };
    static const double cost[] = { 0, 1, 2, 3, 0, 4, 5, 6, 0 };
    static const double confusion[] = { 5, 1, 2, 3, 9, 4, 5, 6, 7, 5, 1, 2, 3, 9, 4, 5, 6, 7 };
    mel_error err = { 0 };
    mel_status status = MEL_OK;
    for (size_t i = 0; i < COUNT(names) && status == MEL_OK; i++) {
        const size_t m = strncmp(names[i], "equal", 5) == 0 ? 2 : 0;
        const mel_people people = { .n_classes = 3, .n_groups = m, .class_names = three, .shares = share };
        mel_metric *metric = NULL;
        mel_measure *measure = NULL;
        double value = 0.0;
        status = mel_metric_of_name(&metric, names[i], &people, &err);
        if (status == MEL_OK)
            status = mel_measure_metric(&measure, metric, 3, m, &err);
        if (status == MEL_OK)
            status = mel_measure_value(&value, measure, confusion, &err);
        mel_measure_free(measure);
        mel_metric_free(metric);
    }
    mel_metric *metric = NULL;
    if (status == MEL_OK)
        status = mel_metric_costs(&metric, 3, cost, three, &err);
    mel_metric_free(metric);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_path("metric.json"));
    test_each_allocation("make and copy", make_and_copy, NULL);
    test_each_allocation("write and read", write_and_read, NULL);
    test_each_allocation("save and load", save_and_load, path);
    test_each_allocation("words", words, NULL);
    test_each_allocation("neighbours", neighbours, NULL);
    test_each_allocation("quadratic", quadratic, NULL);
    test_each_allocation("polynomial", polynomial, NULL);
    test_each_allocation("fair linear", fair_linear, NULL);
    test_each_allocation("fair quadratic", fair_quadratic, NULL);
    test_each_allocation("costs and names", make_known, NULL);
    test_cleanup();
}

/* The JSON reader makes room for words as they get longer: names of every length around that. */
static void test_allocations_for_words_of_any_length(void **state)
{
    (void)state;
    for (int length = 1; length <= 70; length++) {
        char text[512], name[128] = "";
        memset(name, 'n', (size_t)length);
        snprintf(text, sizeof text,
                 "{\"format\": \"melicit-metric\", \"version\": 1, \"family\": \"linear\", "
                 "\"layout\": {\"kind\": \"confusion\", \"coordinates\": \"binary\", "
                 "\"classes\": [\"other\", \"%s\"]}, \"coefficients\": {\"a\": [0.%0*d, 1]}}",
                 name, length, 1);
        test_each_allocation(name, read_given, text);
    }
}

static mel_status match(void *context)
{
    static const char *const order[] = { "pneumonia", "healthy", "flu" }, *const groups[] = { "2", "1" };
    mel_match with = { .name = order, .group = groups };
    mel_metric *moved = NULL;
    const mel_status status = mel_metric_match(&moved, context, &grouped, &with, NULL);
    mel_metric_free(moved);
    return status;
}

static void test_matching(void **state)
{
    (void)state;
    mel_metric *metric = NULL;
    assert_ok(make(&metric), NULL);
    test_each_allocation("a metric in another order", match, metric);
    mel_metric_free(metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocations), cmocka_unit_test(test_matching),
                                        cmocka_unit_test(test_allocations_for_words_of_any_length) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
