/* Every allocation of the rank room fails once. */
#include "support/test.h"

#include "melicit/rank.h"
#include "rank/rank.h"
#include "space/shared.h"

enum { N = 5, S = 3 };
static const double x[S * N] = { 1, 2, 2, 4, 5, 5, 4, 3, 2, 1, 3, 1, 4, 1, 5 };
static const double y[N] = { 2, 1, 3, 3, 5 };

static mel_status orders(void *context)
{
    (void)context;
    size_t order[N], place[N];
    double number = 0, places[N * N];
    mel_agreement agreement = { 0 };
    mel_error err = { 0 };
    mel_status status = mel_rank_order(order, place, N, x, MEL_COST, &err);
    if (status == MEL_OK)
        status = mel_kendall_tau(&number, N, x, y, &err);
    if (status == MEL_OK)
        status = mel_ndcg(&number, N, x, y, &err);
    if (status == MEL_OK)
        status = mel_rank_agreement(&agreement, N, x, MEL_COST, y, MEL_UTILITY, &err);
    if (status == MEL_OK)
        status = mel_rank_places(places, S, N, x, MEL_COST, &err);
    if (status == MEL_OK)
        status = mel_rank_order_probability(&number, S, N, x, MEL_COST, N, order, &err);
    return status;
}

static mel_status samples(void *context)
{
    (void)context;
    const mel_layout layout = { MEL_RATES, MEL_DIAGONAL, N, 0 };
    double values[S * S];
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    mel_status status = mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, NULL, MEL_COST, y, &err);
    if (status == MEL_OK)
        status = mel_rank_sampled_values(values, metric, S, x, S, x, &err);
    mel_metric_free(metric);
    return status;
}

static mel_status closest(void *context)
{
    const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    mel_neighbour found[3];
    size_t n = 0;
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    mel_status status = mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, NULL, MEL_COST, y, &err);
    if (status == MEL_OK)
        status = mel_closest_metrics(found, 3, &n, metric, context, &err);
    mel_metric_free(metric);
    return status;
}

/* On a face that has no notes yet. */
static mel_status closest_on_a_new_face(void *context)
{
    (void)context;
    mel_face *face = NULL;
    mel_status status = mel_face_from_logistic(&face, 5.0, 0.0, NULL);
    if (status == MEL_OK)
        status = closest(face);
    mel_face_free(face);
    return status;
}

static void test_allocations(void **state)
{
    (void)state;
    test_each_allocation("orders", orders, NULL);
    test_each_allocation("samples", samples, NULL);
    mel_face *face = NULL;
    assert_ok(mel_face_from_logistic(&face, 5.0, 0.0, NULL), NULL);
    test_each_allocation("closest metrics", closest, face);
    test_each_allocation("closest metrics on a new face", closest_on_a_new_face, NULL);
    mel_face_free(face);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_allocations) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
