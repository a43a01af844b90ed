/* Sessions off a planar face: which families go with which domain, logs of vectors, names, replay. */
#include "support/test.h"

#include "base/layout.h"
#include "elicit/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const groups[] = { "men", "women" };

/* One of each kind. */
static struct {
    mel_face *face;
    mel_space *diagonal, *offdiagonal;
    mel_ball *ball, *diagonal_ball, *binary_ball, *group_ball;
} made;

static mel_ball *make_ball(mel_coordinates coordinates, size_t k, size_t m, double radius)
{
    const mel_layout layout = { MEL_RATES, coordinates, k, m };
    mel_ball *ball = NULL;
    mel_error err;
    assert_ok(mel_ball_new(&ball, &layout, radius, NULL, NULL, &err), &err);
    return ball;
}

static mel_space *make_space(mel_coordinates coordinates)
{
    const double slope[] = { 1.0, 3.0, 5.0 };
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.coordinates = coordinates;
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_softmax(&space, 3, slope, &opt, &err), &err);
    return space;
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(mel_face_from_logistic(&made.face, 5.0, 0.0, NULL), MEL_OK);
    made.diagonal = make_space(MEL_DIAGONAL);
    made.offdiagonal = make_space(MEL_OFFDIAGONAL);
    made.ball = make_ball(MEL_OFFDIAGONAL, 3, 0, 0.1);
    made.diagonal_ball = make_ball(MEL_DIAGONAL, 3, 0, 0.1);
    made.binary_ball = make_ball(MEL_BINARY, 2, 0, 0.1);
    made.group_ball = make_ball(MEL_OFFDIAGONAL, 2, 2, 0.1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_face_free(made.face);
    mel_space_free(made.diagonal);
    mel_space_free(made.offdiagonal);
    mel_ball_free(made.ball);
    mel_ball_free(made.diagonal_ball);
    mel_ball_free(made.binary_ball);
    mel_ball_free(made.group_ball);
    test_cleanup();
    return 0;
}

static mel_session_options options(mel_family family, mel_strategy strategy)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.family = family;
    opt.strategy = strategy;
    return opt;
}

/* The families of each domain, as at mel_domain; everything else is refused with a sentence that says what
 * the family needs. */
static void test_families(void **state)
{
    (void)state;
    const struct {
        const char *name;
        mel_domain domain;
        unsigned families; /* bit by family */
    } rows[] = {
#define F(family) (1U << MEL_FAMILY_##family)
        { "a planar face", { .face = made.face }, F(LINEAR) | F(LINEAR_FRACTIONAL) },
        { "a space of off-diagonal statistics", { .space = made.offdiagonal }, 0 },
        { "a ball of diagonal statistics", { .ball = made.diagonal_ball }, F(DIAGONAL_LINEAR) },
        { "a ball of off-diagonal statistics",
          { .ball = made.ball },
          F(LINEAR) | F(LINEAR_FRACTIONAL) | F(QUADRATIC) | F(POLYNOMIAL) },
        { "a ball of binary statistics",
          { .ball = made.binary_ball },
          F(LINEAR) | F(LINEAR_FRACTIONAL) | F(QUADRATIC) | F(POLYNOMIAL) },
        { "a ball of off-diagonal statistics with 2 groups",
          { .ball = made.group_ball },
          F(FAIR_LINEAR) | F(FAIR_QUADRATIC) },
        { "a space of diagonal statistics",
          { .space = made.diagonal },
          F(DIAGONAL_LINEAR) | F(DIAGONAL_LINEAR_FRACTIONAL) | F(MONOTONE) },
#undef F
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int family = 0; family <= MEL_FAMILY_POLYNOMIAL; family++) {
            const mel_session_options opt = options((mel_family)family, MEL_STRATEGY_ACTIVE);
            mel_session *session = NULL;
            mel_error err = { .code = MEL_OK };
            const mel_status status = mel_session_new(&session, &rows[i].domain, &opt, &err);
            char says[160];
            (void)snprintf(says, sizeof says, "family %s needs ", mel_family_name((mel_family)family));
            const bool refused =
                status == MEL_EINVAL && strstr(err.text, says) != NULL &&
                strlen(err.text) > strlen(rows[i].name) &&
                strcmp(err.text + strlen(err.text) - strlen(rows[i].name), rows[i].name) == 0;
            if (refused == ((rows[i].families >> family & 1U) != 0))
                fail_msg("%s, %s: %s", rows[i].name, mel_family_name((mel_family)family), err.text);
            assert_true((status == MEL_OK) == (session != NULL));
            mel_session_free(session);
        }
}

static void test_exactly_one(void **state)
{
    (void)state;
    const mel_domain rows[] = { { .face = NULL },
                                { .face = made.face, .ball = made.ball },
                                { .face = made.face, .space = made.diagonal, .ball = made.ball } };
    static const char *const says[] = { "one of them, not 0", "one of them, not 2", "one of them, not 3" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_session_options opt = options(MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH);
        mel_session *session = NULL;
        mel_error err;
        assert_int_equal(mel_session_new(&session, &rows[i], &opt, &err), MEL_EINVAL);
        assert_null(session);
        assert_non_null(strstr(err.text, says[i]));
    }
}

static void test_signs_and_degrees(void **state)
{
    (void)state;
    static const signed char bad[] = { 1, 0, -1, 2, 1, 1 }, good[] = { 1, 0, -1, -1, 1, 1 };
    const mel_domain ball = { .ball = made.ball };
    mel_session_options opt = options(MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH);
    mel_session *session = NULL;
    mel_error err;
    opt.signs = bad;
    assert_int_equal(mel_session_new(&session, &ball, &opt, &err), MEL_EINVAL);
    assert_string_equal(err.text, "sign 4 is 2; there are -1, 1 and, for unknown, 0");
    signed char own[6];
    memcpy(own, good, sizeof own);
    opt.signs = own;
    assert_ok(mel_session_new(&session, &ball, &opt, &err), &err);
    memset(own, 9, sizeof own); /* the session has its own */
    assert_memory_equal(mel_session_get_options(session)->signs, good, sizeof good);
    mel_session_free(session);
    opt = options(MEL_FAMILY_POLYNOMIAL, MEL_STRATEGY_ACTIVE);
    opt.degree = 1;
    assert_int_equal(mel_session_new(&session, &ball, &opt, &err), MEL_EINVAL);
    assert_non_null(strstr(err.text, "degree 1: expected a whole number from 2 to 9"));
}

/* --- questions and logs -------------------------------------------------------------------------- */

static const mel_question *ask(mel_session *session)
{
    const mel_question *question = NULL;
    bool done = false;
    mel_error err;
    assert_ok(mel_session_ask(&question, &done, session, &err), &err);
    assert_non_null(question);
    return question;
}

static void answer_some(mel_session *session, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mel_error err;
        const mel_question *question = NULL;
        bool done = false;
        assert_ok(mel_session_ask(&question, &done, session, &err), &err);
        if (done)
            return;
        assert_ok(
            mel_session_tell(session, question->number, i % 3 == 0 ? MEL_ANSWER_B : MEL_ANSWER_A, 1.5, &err),
            &err);
    }
}

static void test_question(void **state)
{
    (void)state;
    const struct {
        const char *name;
        mel_domain domain;
        mel_family family;
        mel_strategy strategy;
        int notes; /* whether which classifiers achieve the points is said; -1: it may be */
    } rows[] = {
        { "space, search", { .space = made.diagonal }, MEL_FAMILY_DIAGONAL_LINEAR, MEL_STRATEGY_SEARCH, 1 },
        { "space, active", { .space = made.diagonal }, MEL_FAMILY_DIAGONAL_LINEAR, MEL_STRATEGY_ACTIVE, -1 },
        { "ball, search", { .ball = made.ball }, MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH, 0 },
        { "ball, active", { .ball = made.ball }, MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE, 0 },
        { "groups", { .ball = made.group_ball }, MEL_FAMILY_FAIR_LINEAR, MEL_STRATEGY_ACTIVE, 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        char *names[] = { strdup("one"), strdup("two"), strdup("three") };
        mel_session_options opt = options(rows[i].family, rows[i].strategy);
        opt.tolerance = 1e-5;
        opt.class_names = (const char *const *)names;
        opt.group_names = groups;
        mel_session *session = NULL;
        mel_error err;
        assert_ok(mel_session_new(&session, &rows[i].domain, &opt, &err), &err);
        for (size_t j = 0; j < COUNT(names); j++)
            free(names[j]);
        const mel_question *q = ask(session);
        const mel_layout *layout = mel_session_layout(session);
        assert_true(mel_layout_equal(q->layout, layout));
        assert_string_equal(q->class_names[0], "one");
        assert_string_equal(q->class_names[layout->n_classes - 1], layout->n_classes == 2 ? "two" : "three");
        assert_true((q->group_names != NULL) == (layout->n_groups > 1));
        if (q->group_names != NULL)
            assert_string_equal(q->group_names[1], "women");
        if (rows[i].notes >= 0) {
            assert_int_equal(q->classifier_a != NULL, rows[i].notes);
            assert_int_equal(q->classifier_b != NULL, rows[i].notes);
        }
        if (rows[i].domain.space != NULL)
            assert_ptr_equal(q->class_share, mel_space_class_share(made.diagonal));
        assert_ptr_equal(mel_session_domain(session)->ball, rows[i].domain.ball);
        const size_t bytes = mel_layout_size(layout) * sizeof(double);
        double *a = malloc(bytes), *b = malloc(bytes);
        memcpy(a, q->a, bytes);
        memcpy(b, q->b, bytes);
        assert_memory_not_equal(a, b, bytes);
        answer_some(session, 40); /* most go beyond the first growth */
        const mel_record first = mel_session_record(session, 0);
        assert_memory_equal(first.a, a, bytes);
        assert_memory_equal(first.b, b, bytes);
        free(a);
        free(b);
        mel_session_free(session);
    }
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 16);
    const size_t n = fread(text, 1, (1 << 16) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static mel_session *open_ball(const char *path, const mel_session_options *opt, mel_status want,
                              const char *says)
{
    const mel_identity identity = { .space_json = "{\"ball\": \"3\"}" };
    mel_session *session = NULL;
    mel_error err = { .code = MEL_OK };
    const mel_status status =
        mel_session_open(&session, &(mel_domain){ .ball = made.ball }, opt, &identity, path, &err);
    if (status != want || strstr(err.text, says) == NULL)
        fail_msg("%d: %s", (int)status, err.text);
    return session;
}

/* Stopped and resumed, with an answer taken back on the way: the same questions as in one go. */
static void test_resume(void **state)
{
    (void)state;
    enum { ASKED = 12 };
    static const mel_strategy strategies[] = { MEL_STRATEGY_SEARCH, MEL_STRATEGY_ACTIVE };
    for (size_t s = 0; s < COUNT(strategies); s++) {
        const mel_session_options opt = options(MEL_FAMILY_LINEAR, strategies[s]);
        const char *path = test_path(s == 0 ? "search.jsonl" : "active.jsonl");
        mel_session *whole = NULL, *part;
        assert_int_equal(mel_session_new(&whole, &(mel_domain){ .ball = made.ball }, &opt, NULL), MEL_OK);
        answer_some(whole, ASKED);
        for (uint32_t i = 0; i < ASKED; i++) {
            part = open_ball(path, &opt, MEL_OK, "");
            assert_int_equal(mel_session_answers(part), i);
            const mel_record r = mel_session_record(whole, i);
            const mel_question *q = ask(part);
            assert_memory_equal(q->a, r.a, 6 * sizeof(double));
            assert_memory_equal(q->b, r.b, 6 * sizeof(double));
            if (i % 4 == 1) {
                assert_int_equal(mel_session_tell(part, q->number, MEL_ANSWER_SAME, NAN, NULL), MEL_OK);
                assert_int_equal(mel_session_undo(part, NULL), MEL_OK);
                q = ask(part);
            }
            assert_int_equal(mel_session_tell(part, q->number, r.answer, NAN, NULL), MEL_OK);
            mel_session_free(part);
        }
        mel_session_free(whole);
    }
}

/* Every coordinate is in the file. A search takes answers by their place: last digits do not matter, and
 * pairs of another procedure are refused. */
static void test_points_in_the_log(void **state)
{
    (void)state;
    static const struct {
        double off;
        mel_status want;
        const char *says;
    } rows[] = { { 0.0, MEL_OK, "" },
                 { 1e-5, MEL_OK, "" },
                 { 2e-2, MEL_EDATA, "question 1 was about another pair than this search asks about" } };
    const mel_session_options opt = options(MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH);
    const char *path = test_path("points.jsonl");
    mel_session *session = open_ball(path, &opt, MEL_OK, "");
    answer_some(session, 1);
    const mel_record r = mel_session_record(session, 0);
    char *header = read_text(path);
    *(strchr(header, '\n') + 1) = '\0';
    assert_non_null(strstr(header, "\"layout\":{\"kind\":\"rates\",\"coordinates\":\"offdiagonal\","
                                   "\"classes\":3,\"groups\":0}"));
    for (size_t row = 0; row < COUNT(rows); row++) {
        char text[8192];
        int n = snprintf(text, sizeof text, "%s{\"question\":1,\"answer\":\"B\"", header);
        for (size_t side = 0; side < 2; side++) {
            n += snprintf(text + n, sizeof text - (size_t)n, ",\"%s\":[", side == 0 ? "a" : "b");
            for (size_t i = 0; i < 6; i++)
                n += snprintf(text + n, sizeof text - (size_t)n, "%s%.17g", i == 0 ? "" : ",",
                              (side == 0 ? r.a : r.b)[i] + rows[row].off);
            n += snprintf(text + n, sizeof text - (size_t)n, "]");
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "}\n");
        mel_session *again = open_ball(test_file("changed.jsonl", text, (size_t)n), &opt, MEL_OK, "");
        const mel_question *question = NULL;
        bool done = false;
        mel_error err = { .code = MEL_OK };
        if (mel_session_ask(&question, &done, again, &err) != rows[row].want ||
            strstr(err.text, rows[row].says) == NULL)
            fail_msg("%s", err.text);
        mel_session_free(again);
    }
    char text[8192];
    const int n =
        snprintf(text, sizeof text, "%s{\"question\":1,\"answer\":\"B\",\"a\":[1,2],\"b\":[1,2]}\n", header);
    open_ball(test_file("short.jsonl", text, (size_t)n), &opt, MEL_EDATA,
              "line 2: a is not a list of 6 numbers");
    free(header);
    mel_session_free(session);
}

/* What is new in a header decides the questions, so it must stay the same. */
static void test_changed_options(void **state)
{
    (void)state;
    static const signed char signs[] = { -1, -1, -1, -1, -1, 1 }, others[] = { -1, -1, -1, -1, -1, 0 };
    mel_session_options opt = options(MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH), rows[4];
    opt.signs = signs;
    const char *path = test_path("options.jsonl");
    mel_session_free(open_ball(path, &opt, MEL_OK, ""));
    for (size_t i = 0; i < COUNT(rows); i++)
        rows[i] = opt;
    rows[0].per_round = 2;
    rows[1].cycles = 3;
    rows[2].signs = others;
    rows[3].signs = NULL;
    static const char *const says[] = {
        "options.per_round = 4, not 2",
        "options.cycles = 2, not 3",
        "options.signs = [-1,-1,-1,-1,-1,1]",
        "options.signs, which is not set now",
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        open_ball(path, &rows[i], MEL_ECONFLICT, says[i]);
    mel_session_free(open_ball(path, &opt, MEL_OK, ""));
    const char *third = test_path("degree.jsonl");
    opt = options(MEL_FAMILY_POLYNOMIAL, MEL_STRATEGY_ACTIVE);
    mel_session_free(open_ball(third, &opt, MEL_OK, ""));
    opt.degree = 4;
    open_ball(third, &opt, MEL_ECONFLICT, "options.degree = 3, not 4");
    opt.degree = 3;
    opt.simple_questions = true;
    open_ball(third, &opt, MEL_ECONFLICT, "options.simple_questions = false, not true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_exactly_one),
        cmocka_unit_test(test_signs_and_degrees),
        cmocka_unit_test(test_question),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_points_in_the_log),
        cmocka_unit_test(test_changed_options),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
