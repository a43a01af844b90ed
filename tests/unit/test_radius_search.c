/* The search for a radius: it asks often whether it should stop, and does; rays are followed to their end
 * also in sets that are very thin. */
#include "support/test.h"

#include "space/shared.h"

#include <stdatomic.h>
#include <string.h>

enum { CLASSES = 4, NEVER = 1 << 30 };
static const double slope[CLASSES] = { 1, 2, 3, 4 };

typedef struct {
    int calls, stop_at;
    double share; /* largest so far */
    atomic_int inside;
    bool wrong; /* two calls at once, or one after the search was to stop */
} listener;

static int listen(void *user, const char *what, double share)
{
    listener *l = user;
    if (atomic_fetch_add(&l->inside, 1) != 0 || l->calls >= l->stop_at || what == NULL || share > 1.0)
        l->wrong = true;
    l->calls++;
    l->share = share;
    atomic_fetch_sub(&l->inside, 1);
    return l->calls >= l->stop_at;
}

static mel_status search(mel_ball **ball, mel_radius *how, listener *l, mel_radius_method method)
{
    mel_space *space = NULL;
    mel_error err;
    assert_int_equal(mel_space_from_softmax(&space, CLASSES, slope, NULL, &err), MEL_OK);
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    opt.method = method;
    opt.progress = (mel_progress){ listen, l };
    const mel_status status = mel_ball_of_space(ball, how, space, &opt, &err);
    if (status == MEL_ESTOPPED)
        assert_non_null(strstr(err.text, "stopped on request"));
    mel_space_free(space);
    return status;
}

static void test_asks_often(void **state)
{
    (void)state;
    const uint64_t most_steps = 500; /* between two questions; one takes some 20 microseconds */
    for (int method = MEL_RADIUS_INSCRIBED; method <= MEL_RADIUS_THESIS; method++) {
        listener l = { .stop_at = NEVER };
        mel_ball *ball = NULL;
        mel_radius how;
        assert_int_equal(search(&ball, &how, &l, (mel_radius_method)method), MEL_OK);
        assert_false(l.wrong);
        assert_true(l.share == 1.0);
        assert_true(how.steps <= most_steps * (uint64_t)l.calls);
        mel_ball_free(ball);
        mel_radius_clear(&how);
    }
}

static void test_stops_wherever_it_asks(void **state)
{
    (void)state;
    static const int stop_at[] = { 1, 2, 3, 7, 20, 35 };
    for (size_t i = 0; i < sizeof stop_at / sizeof *stop_at; i++) {
        listener l = { .stop_at = stop_at[i] };
        mel_ball *ball = NULL;
        mel_radius how;
        print_message("  stopped at question %d\n", stop_at[i]);
        assert_int_equal(search(&ball, &how, &l, MEL_RADIUS_INSCRIBED), MEL_ESTOPPED);
        assert_null(ball);
        assert_null(how.direction);
        assert_false(l.wrong);
        assert_int_equal(l.calls, stop_at[i]);
    }
}

/* Seven classes on a line: a set 1e5 times as long as thin, of which little is sure beforehand. These
 * rays end between 1.3e-5 and 3e-5. */
static void test_rays_in_a_thin_set(void **state)
{
    (void)state;
    static const double slopes[] = { 1, 2, 3, 4, 5, 6, 7 };
    mel_space *space = NULL;
    mel_ball *ball = NULL;
    mel_radius how;
    mel_radius_options opt;
    mel_radius_options_init(&opt);
    opt.restarts = 1;
    opt.rays = 4;
    assert_int_equal(mel_space_from_softmax(&space, sizeof slopes / sizeof *slopes, slopes, NULL, NULL),
                     MEL_OK);
    assert_int_equal(mel_ball_of_space(&ball, &how, space, &opt, NULL), MEL_OK);
    assert_true(how.certified < 1e-9);
    assert_true(how.rays > 1e-5);
    assert_true(how.descent > 3e-6 && how.descent < 5e-6);
    mel_ball_free(ball);
    mel_radius_clear(&how);
    mel_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks_often),
        cmocka_unit_test(test_stops_wherever_it_asks),
        cmocka_unit_test(test_rays_in_a_thin_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
