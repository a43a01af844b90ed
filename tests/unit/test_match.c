/* mel_metric_match: metrics in the order of given classes and groups, by name; refusals. */
#include "support/test.h"

#include "melicit/elicit.h"
#include "metric/shared.h"

#include <stdlib.h>
#include <string.h>

static const mel_layout diagonal = { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 },
                        off_diagonal = { MEL_RATES, MEL_OFFDIAGONAL, 3, 0 };
static const char *const sorted[] = { "cold", "flu", "healthy" },
                         *const mixed[] = { "healthy", "cold", "flu" },
                         *const other[] = { "cold", "flu", "measles" }, *const unknown[] = { "x", "y", "z" },
                         *const numbers[] = { "1", "2", "3" };

static mel_metric *make(const mel_layout *layout, const char *const *names)
{
    static const double a[] = { 1, 2, 3, 4, 5, 6 };
    mel_metric *metric = NULL;
    mel_error err;
    const mel_family family =
        layout->coordinates == MEL_DIAGONAL ? MEL_FAMILY_DIAGONAL_LINEAR : MEL_FAMILY_LINEAR;
    assert_ok(mel_metric_linear(&metric, family, layout, names, MEL_UTILITY, a, &err), &err);
    return metric;
}

static void test_rows(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        const mel_layout *layout;
        const char *const *own, *const *name, *const *label;
        bool invented;
        mel_status status;
        mel_mismatch mismatch;
        bool by_place;
        double a[6];
    } rows[] = {
        { "the same order",
          &diagonal,
          sorted,
          sorted,
          NULL,
          false,
          MEL_OK,
          MEL_NO_MISMATCH,
          false,
          { 1, 2, 3 } },
        { "another order",
          &diagonal,
          sorted,
          mixed,
          NULL,
          false,
          MEL_OK,
          MEL_NO_MISMATCH,
          false,
          { 3, 1, 2 } },
        /* cold flu healthy: cf ch fc fh hc hf; healthy cold flu: hc hf ch cf fh fc */
        { "mistakes",
          &off_diagonal,
          sorted,
          mixed,
          NULL,
          false,
          MEL_OK,
          MEL_NO_MISMATCH,
          false,
          { 5, 6, 2, 1, 4, 3 } },
        { "by label", &diagonal, sorted, unknown, mixed, false, MEL_OK, MEL_NO_MISMATCH, false, { 3, 1, 2 } },
        { "nobody named them",
          &diagonal,
          sorted,
          NULL,
          NULL,
          false,
          MEL_OK,
          MEL_NO_MISMATCH,
          false,
          { 1, 2, 3 } },
        { "invented names",
          &diagonal,
          sorted,
          numbers,
          NULL,
          true,
          MEL_OK,
          MEL_NO_MISMATCH,
          true,
          { 1, 2, 3 } },
        { "one differs", &diagonal, sorted, other, NULL, false, MEL_EDATA, MEL_OTHER_CLASSES, false, { 0 } },
        { "invented, but some are the same",
          &diagonal,
          sorted,
          other,
          NULL,
          true,
          MEL_EDATA,
          MEL_OTHER_CLASSES,
          false,
          { 0 } },
        { "all differ", &diagonal, sorted, unknown, NULL, false, MEL_EDATA, MEL_OTHER_CLASSES, false, { 0 } },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].what);
        mel_metric *metric = make(rows[i].layout, rows[i].own), *moved = NULL;
        mel_match with = { .name = rows[i].name,
                           .label = rows[i].label,
                           .classes_invented = rows[i].invented };
        mel_error err = { 0 };
        assert_int_equal(mel_metric_match(&moved, metric, rows[i].layout, &with, &err), rows[i].status);
        assert_int_equal(with.mismatch, rows[i].mismatch);
        assert_int_equal(with.classes_by_place, rows[i].by_place);
        if (rows[i].status == MEL_OK)
            assert_memory_equal(mel_metric_tensor(moved, 1), rows[i].a,
                                mel_layout_size(rows[i].layout) * sizeof(double));
        else
            assert_true(moved == NULL && strstr(err.text, "\"cold\"") != NULL);
        mel_metric_free(moved);
        mel_metric_free(metric);
    }
}

static void test_other_layout(void **state)
{
    (void)state;
    mel_metric *metric = make(&diagonal, sorted), *moved = NULL;
    mel_match with = { .name = sorted };
    mel_error err;
    assert_int_equal(mel_metric_match(&moved, metric, &off_diagonal, &with, &err), MEL_EDATA);
    assert_null(moved);
    mel_metric_free(metric);
}

/* Costs of the two mistakes and worths of (TP, TN) become each other, names and intervals included. */
static void test_two_mistakes(void **state)
{
    (void)state;
    static const mel_layout right = { MEL_CONFUSION, MEL_BINARY, 2, 0 },
                            wrong = { MEL_CONFUSION, MEL_OFFDIAGONAL, 2, 0 },
                            rates = { MEL_RATES, MEL_BINARY, 2, 0 };
    static const char *const names[] = { "ill", "well" }, *const turned[] = { "well", "ill" };
    static const double cost[] = { 0, 1, 7, 0 };
    mel_metric *costs = NULL, *worth = NULL, *back = NULL;
    mel_match with = { .name = turned };
    mel_error err;
    assert_ok(mel_metric_costs(&costs, 2, cost, names, &err), &err);
    assert_ok(mel_metric_set_intervals(costs, (double[]){ 0.5, 6 }, (double[]){ 1.5, 8 }, &err), &err);
    assert_ok(mel_metric_match(&worth, costs, &right, &with, &err), &err); /* "ill" is positive here */
    assert_memory_equal(mel_metric_coefficient(worth), ((double[]){ 1, 7 }), 2 * sizeof(double));
    assert_int_equal(mel_metric_orientation(worth), MEL_UTILITY);
    double low = 0, high = 0;
    assert_true(mel_metric_interval(worth, 1, &low, &high) && low == 6 && high == 8);
    with = (mel_match){ .name = names };
    assert_ok(mel_metric_match(&back, worth, &wrong, &with, &err), &err);
    assert_memory_equal(mel_metric_coefficient(back), mel_metric_coefficient(costs), 2 * sizeof(double));
    assert_int_equal(mel_metric_orientation(back), MEL_COST);
    mel_metric_free(worth);
    assert_int_equal(mel_metric_match(&worth, costs, &rates, &with, &err), MEL_EDATA);
    assert_null(worth);
    mel_metric_free(costs);
    mel_metric_free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_other_layout),
        cmocka_unit_test(test_two_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
