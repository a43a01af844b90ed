/* One participant's way: pages, answers, refusals that change nothing, undo, replay, agreement. */
#include "support/server/problem.h"
#include "support/test.h"

#include "base/internal.h"
#include "server/flow.h"
#include "server/flow_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_study *study;
    mel_problem *problem;
    mel_flow *flow;
    mel_oracle *oracle;
} world;

enum { MOST_EVENTS = 100 };

static mel_study *parse(const char *text)
{
    mel_study *study = NULL;
    mel_error err;
    assert_ok(mel_study_parse(&study, text, strlen(text), &err), &err);
    return study;
}

/* One miss is worth seven false alarms. */
static mel_oracle *doctor(const mel_flow *flow)
{
    mel_metric *metric = NULL;
    mel_oracle *oracle = NULL;
    mel_simulated_options opt;
    mel_simulated_options_init(&opt);
    assert_int_equal(mel_metric_linear(&metric, MEL_FAMILY_LINEAR,
                                       mel_session_layout(mel_flow_session((mel_flow *)flow)), NULL,
                                       MEL_UTILITY, (double[]){ 0.875, 0.125 }, NULL),
                     MEL_OK);
    assert_int_equal(mel_oracle_simulated(&oracle, metric, &opt, NULL), MEL_OK);
    mel_metric_free(metric);
    return oracle;
}

static world make(const char *text, uint64_t seed)
{
    world w = { .study = parse(text) };
    mel_error err;
    assert_ok(test_make_problem(&w.problem, w.study, &err), &err);
    assert_ok(mel_flow_new(&w.flow, w.study, w.problem, seed, NULL, &err), &err);
    w.oracle = doctor(w.flow);
    return w;
}

static void clear(world *w)
{
    mel_oracle_free(w->oracle);
    mel_flow_free(w->flow);
    mel_problem_free(w->problem);
    mel_study_free(w->study);
}

static json_t *page_of(mel_flow *flow)
{
    json_t *page = NULL;
    mel_error err;
    assert_ok(mel_flow_page(&page, flow, &err), &err);
    return page;
}

static const char *kind_of(mel_flow *flow)
{
    static char kind[24];
    json_t *page = page_of(flow);
    strncpy(kind, json_string_value(json_object_get(page, "kind")), sizeof kind - 1);
    json_decref(page);
    return kind;
}

/* The simulated participant answers the current page; the line of the log. */
static json_t *step(world *w)
{
    mel_error err;
    json_t *value = mel_flow_simulated(w->flow, w->oracle, 7.0, &err);
    assert_non_null(value);
    json_t *line = mel_flow_event(w->flow, value, 1.25);
    assert_non_null(line);
    assert_ok(mel_flow_tell(w->flow, value, 1.25, &err), &err);
    json_decref(value);
    return line;
}

static void go_to(world *w, const char *where)
{
    for (size_t i = 0; i < MOST_EVENTS && strcmp(mel_flow_where(w->flow), where) != 0; i++)
        json_decref(step(w));
    assert_string_equal(mel_flow_where(w->flow), where);
}

static mel_status tell(mel_flow *flow, const char *value, mel_error *err)
{
    json_t *json = json_loads(value, 0, NULL);
    assert_non_null(json);
    const mel_status status = mel_flow_tell(flow, json, 1.0, err);
    json_decref(json);
    return status;
}

/* Replaying the log up to any point gives the page that was shown there. */
static void test_replay_gives_the_same_pages(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        world w = make(test_study_text, seed);
        json_t *page[MOST_EVENTS + 1], *event[MOST_EVENTS];
        size_t n = 0;
        page[0] = page_of(w.flow);
        while (strcmp(mel_flow_state(w.flow), "active") == 0 && n < MOST_EVENTS) {
            event[n] = step(&w);
            page[++n] = page_of(w.flow);
        }
        assert_string_equal(mel_flow_state(w.flow), "complete");
        assert_true(n > 30);
        mel_flow *again = NULL;
        mel_error err;
        assert_ok(mel_flow_new(&again, w.study, w.problem, seed, NULL, &err), &err);
        for (size_t i = 0; i <= n; i++) {
            json_t *now = page_of(again);
            assert_true(json_equal(now, page[i]));
            json_decref(now);
            if (i < n)
                assert_ok(mel_flow_replay(again, event[i], &err), &err);
        }
        mel_flow_free(again);
        for (size_t i = 0; i <= n; i++)
            json_decref(page[i]);
        for (size_t i = 0; i < n; i++)
            json_decref(event[i]);
        clear(&w);
    }
}

/* A log of another machine: pairs differ in their last digits, and so may the next question. What was shown
 * counts, and where the participant was is what the log says. Old logs lack how a pair was shown. */
static void test_replay_tells_what_was_shown(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        world w = make(test_study_text, 2);
        json_t *event[MOST_EVENTS];
        size_t n = 0;
        while (strcmp(mel_flow_state(w.flow), "active") == 0 && n < MOST_EVENTS) {
            json_t *line = event[n++] = step(&w);
            for (size_t side = 0; side < 2; side++) {
                json_t *point = json_object_get(line, side == 0 ? "a" : "b");
                for (size_t i = 0; i < json_array_size(point); i++) {
                    const double x = json_number_value(json_array_get(point, i));
                    json_array_set_new(point, i, json_real(x * (1.0 - 1e-5)));
                }
            }
            if (old == 1) {
                json_object_del(line, "people");
                json_object_del(line, "repeated");
                json_object_del(line, "imagined");
            }
        }
        mel_flow *again = NULL;
        mel_error err;
        assert_ok(mel_flow_new(&again, w.study, w.problem, 2, NULL, &err), &err);
        for (size_t i = 0; i < n; i++)
            assert_ok(mel_flow_replay(again, event[i], &err), &err);
        assert_string_equal(mel_flow_state(again), "complete");
        const uint32_t answers = mel_session_answers(mel_flow_session(w.flow));
        assert_int_equal(mel_session_answers(mel_flow_session(again)), answers);
        for (uint32_t i = 0; i < answers; i++) {
            const mel_record was = mel_session_record(mel_flow_session(w.flow), i),
                             is = mel_session_record(mel_flow_session(again), i);
            assert_true(is.a[0] == was.a[0] * (1.0 - 1e-5) && is.answer == was.answer);
            assert_true(is.people == was.people && is.repeated == was.repeated);
        }
        json_object_del(event[n - 1], "page");
        assert_int_equal(json_object_set_new(event[n - 1], "phase", json_integer(99)), 0);
        assert_int_equal(mel_flow_replay(again, event[n - 1], &err), MEL_ESTATE);
        for (size_t i = 0; i < n; i++)
            json_decref(event[i]);
        mel_flow_free(again);
        clear(&w);
    }
}

static void test_refused_answers_change_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *where, *value, *names;
    } rows[] = {
        { "consent", "{}", "agreed" },
        { "consent", "{\"agreed\": 1}", "agreed" },
        { "consent", "{\"agreed\": true}", "version" },
        { "consent", "{\"agreed\": true, \"version\": \"2\"}", "version" },
        { "consent", "{\"undo\": true}", "take back" },
        { "form", "{}", "age" },
        { "form", "{\"age\": 17}", "age" },
        { "form", "{\"age\": 121}", "age" },
        { "form", "{\"age\": \"30\"}", "age" },
        { "form", "{\"age\": 30, \"job\": \"c\"}", "job" },
        { "form", "{\"age\": 30, \"job\": 1}", "job" },
        { "form", "{\"age\": 30, \"more\": []}", "more" },
        { "form", "{\"age\": 30, \"a\": 1, \"b\": 2, \"c\": 3}", "fields" },
        { "training", "{}", "answer" },
        { "training", "{\"answer\": null}", "answer" },
        { "guess", "{}", "ratio" },
        { "guess", "{\"ratio\": 0}", "ratio" },
        { "guess", "{\"ratio\": -3}", "ratio" },
        { "guess", "{\"ratio\": \"7\"}", "ratio" },
        { "elicitation", "{}", "" },
        { "elicitation", "{\"answer\": \"C\"}", "" },
        { "elicitation", "{\"answer\": 1}", "" },
        { "elicitation", "{\"undo\": true}", "take back" },
        { "evaluation", "{\"answer\": \"left\"}", "" },
        { "evaluation", "{\"undo\": true}", "take back" },
        { "result", "{\"more\": true}", "more" },
        { "done", "{}", "over" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        world w = make(test_study_text, 5);
        go_to(&w, rows[i].where);
        json_t *before = page_of(w.flow);
        mel_error err = { 0 };
        const mel_status status = tell(w.flow, rows[i].value, &err);
        if (status != MEL_EINVAL || strstr(err.text, rows[i].names) == NULL)
            print_error("%s %s: %d \"%s\"\n", rows[i].where, rows[i].value, status, err.text);
        assert_int_equal(status, MEL_EINVAL);
        assert_non_null(strstr(err.text, rows[i].names));
        json_t *after = page_of(w.flow);
        assert_true(json_equal(before, after));
        json_decref(before);
        json_decref(after);
        clear(&w);
    }
}

static void test_no_consent(void **state)
{
    (void)state;
    world w = make(test_study_text, 1);
    mel_error err;
    assert_ok(tell(w.flow, "{\"agreed\": false}", &err), &err);
    assert_string_equal(kind_of(w.flow), "bye");
    assert_string_equal(mel_flow_state(w.flow), "left");
    assert_int_equal(mel_flow_phase(w.flow), 0);
    assert_int_equal(tell(w.flow, "{\"agreed\": true, \"version\": \"1\"}", &err), MEL_EINVAL);
    clear(&w);
}

/* Taking an answer back shows the question again, and another answer to it counts. */
static void test_undo(void **state)
{
    (void)state;
    static const char *const where[] = { "elicitation", "evaluation" };
    for (size_t i = 0; i < COUNT(where); i++) {
        world w = make(test_study_text, 9);
        go_to(&w, where[i]);
        json_decref(step(&w));
        json_t *before = page_of(w.flow);
        mel_error err;
        assert_ok(tell(w.flow, "{\"answer\": \"A\"}", &err), &err);
        assert_ok(tell(w.flow, "{\"undo\": true}", &err), &err);
        json_t *after = page_of(w.flow);
        assert_true(json_equal(json_object_get(before, "question"), json_object_get(after, "question")));
        assert_true(json_is_true(json_object_get(after, "can_undo")));
        assert_ok(tell(w.flow, "{\"undo\": true}", &err), &err);
        assert_int_equal(tell(w.flow, "{\"undo\": true}", &err), MEL_EINVAL);
        json_decref(before);
        json_decref(after);
        clear(&w);
    }
}

/* What is shown on the left is A for the person; the session hears of its own A. */
static void test_sides(void **state)
{
    (void)state;
    unsigned swapped = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        world w = make(test_study_text, seed);
        go_to(&w, "elicitation");
        json_t *page = page_of(w.flow);
        const bool turned = json_is_true(json_object_get(json_object_get(page, "question"), "swapped"));
        json_decref(page);
        swapped += turned;
        mel_error err;
        assert_ok(tell(w.flow, "{\"answer\": \"A\"}", &err), &err);
        const mel_record record = mel_session_record(mel_flow_session(w.flow), 0);
        assert_int_equal(record.answer, turned ? MEL_ANSWER_B : MEL_ANSWER_A);
        clear(&w);
    }
    assert_in_range(swapped, 3, 17);
}

static void test_training(void **state)
{
    (void)state;
    world w = make(test_study_text, 1);
    go_to(&w, "training");
    mel_error err;
    for (int wrong = 0; wrong < 3; wrong++) {
        json_t *page = page_of(w.flow);
        assert_int_equal(json_integer_value(json_object_get(page, "wrong")), wrong);
        assert_true((json_object_get(page, "explain") != NULL) == (wrong > 0));
        assert_int_equal(json_array_size(json_object_get(page, "view")), 2);
        json_decref(page);
        assert_ok(tell(w.flow, "{\"answer\": 100000}", &err), &err);
    }
    json_t *page = page_of(w.flow); /* after three wrong answers the next one comes */
    assert_string_equal(json_string_value(json_object_get(page, "question")), "Which has more?");
    assert_int_equal(json_integer_value(json_object_get(page, "wrong")), 0);
    /* The right answer follows from the numbers shown. */
    const json_t *view = json_object_get(page, "view");
    long long count[2];
    for (size_t i = 0; i < 2; i++)
        count[i] = json_integer_value(
            json_array_get(json_array_get(json_object_get(json_array_get(view, i), "counts"), 0), 1));
    json_decref(page);
    assert_true(count[0] != count[1]);
    assert_ok(tell(w.flow, count[0] > count[1] ? "{\"answer\": \"A\"}" : "{\"answer\": \"B\"}", &err), &err);
    page = page_of(w.flow);
    assert_string_equal(json_string_value(json_object_get(page, "question")), "Which is better?");
    /* Of a definite pair one is better in both. */
    const json_t *first = json_object_get(json_array_get(json_object_get(page, "view"), 0), "counts"),
                 *second = json_object_get(json_array_get(json_object_get(page, "view"), 1), "counts");
    for (size_t i = 0; i < 2; i++)
        assert_true(json_integer_value(json_array_get(json_array_get(first, i), i)) >=
                    json_integer_value(json_array_get(json_array_get(second, i), i)));
    json_decref(page);
    assert_ok(tell(w.flow, "{\"answer\": \"A\"}", &err), &err);
    assert_string_equal(mel_flow_where(w.flow), "guess");
    clear(&w);
}

static double rightly(const json_t *page, size_t system)
{
    const json_t *counts = json_object_get(json_array_get(json_object_get(page, "view"), system), "counts");
    double sum = 0.0;
    for (size_t i = 0; i < 2; i++)
        sum += json_number_value(json_array_get(json_array_get(counts, i), i));
    return sum;
}

/* Which side of a definite pair is better differs between participants, and the right answer with it. */
static void test_definite_sides(void **state)
{
    (void)state;
    size_t sides[2] = { 0 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        world w = make(test_study_text, seed);
        mel_error err;
        go_to(&w, "training");
        json_decref(step(&w));
        json_decref(step(&w));
        json_t *page = page_of(w.flow);
        const bool b = rightly(page, 1) > rightly(page, 0);
        json_decref(page);
        sides[b]++;
        assert_ok(tell(w.flow, b ? "{\"answer\": \"A\"}" : "{\"answer\": \"B\"}", &err), &err);
        assert_string_equal(mel_flow_where(w.flow), "training");
        assert_ok(tell(w.flow, b ? "{\"answer\": \"B\"}" : "{\"answer\": \"A\"}", &err), &err);
        assert_string_equal(mel_flow_where(w.flow), "guess");
        clear(&w);
    }
    assert_true(sides[0] > 0 && sides[1] > 0);
}

/* What is asked for must be in the picture. */
static void test_training_about_nothing(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "{\"true\": 2, \"predicted\": 0}",
        "{\"true\": 0, \"predicted\": 2, \"rate\": true}",
        "{\"total\": \"true\", \"class\": 7}",
        "{\"group\": 0, \"true\": 0, \"predicted\": 1}",
        "{\"group\": 0, \"total\": \"predicted\", \"class\": 1}",
        "{\"group\": 9, \"total\": \"predicted\", \"class\": 1}",
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        world w = make(test_study_text, 1);
        json_t *item = json_array_get(json_object_get(w.study->phase[3].json, "items"), 0), *page = NULL;
        mel_error err;
        json_object_set_new(item, "of", json_loads(rows[i], 0, NULL));
        go_to(&w, "training");
        assert_int_equal(mel_flow_page(&page, w.flow, &err), MEL_EDATA);
        assert_non_null(strstr(err.text, "phases[3].items[0].of"));
        assert_null(page);
        clear(&w);
    }
}

/* The range of a guess holds whatever the browser does. */
static void test_guess_in_range(void **state)
{
    (void)state;
    world w = make(test_study_text, 1);
    mel_error err;
    json_object_set_new((json_t *)w.study->phase[4].json, "low", json_real(0.5));
    json_object_set_new((json_t *)w.study->phase[4].json, "high", json_real(50.0));
    go_to(&w, "guess");
    static const char *const wrong[] = { "{\"ratio\": 0.4}", "{\"ratio\": 51}", "{\"ratio\": -1}", "{}" };
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(tell(w.flow, wrong[i], &err), MEL_EINVAL);
    assert_ok(tell(w.flow, "{\"ratio\": 50}", &err), &err);
    clear(&w);
}

static mel_agreed agreed_now(world *w)
{
    const mel_evaluation evaluation = mel_flow_evaluation(w->flow);
    mel_outcome_options about;
    mel_outcome *outcome = NULL;
    mel_error err;
    mel_outcome_options_init(&about);
    about.evaluation = &evaluation;
    assert_ok(mel_outcome_of_session(&outcome, mel_flow_session(w->flow), &about, &err), &err);
    const mel_agreed agreed = outcome->agreed;
    mel_outcome_free(outcome);
    return agreed;
}

/* An answer that was taken back agrees with nothing until it is given again. */
static void test_undone_evaluation_does_not_count(void **state)
{
    (void)state;
    world w = make(test_study_text, 1);
    mel_error err;
    go_to(&w, "evaluation");
    json_decref(step(&w));
    json_decref(step(&w));
    assert_int_equal(agreed_now(&w).n, 2);
    assert_ok(tell(w.flow, "{\"undo\": true}", &err), &err);
    assert_int_equal(agreed_now(&w).n, 1);
    clear(&w);
}

/* Somebody without noise: the guess is right everywhere, the elicited metric nearly so, accuracy is not. */
static void test_agreement(void **state)
{
    (void)state;
    uint32_t n = 0, elicited = 0, guess = 0, accuracy = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        world w = make(test_study_text, seed);
        go_to(&w, "done");
        const mel_agreed agreed = agreed_now(&w);
        assert_int_equal(agreed.n, 15);
        assert_true(agreed.planar);
        n += agreed.n;
        elicited += agreed.elicited;
        guess += agreed.guess;
        accuracy += agreed.accuracy;
        clear(&w);
    }
    assert_int_equal(guess, n);
    assert_true(elicited >= n * 93 / 100);
    assert_true(accuracy < n * 90 / 100);
}

/* Evaluation pairs come from the feasible set, and differ between participants. */
static void test_evaluation_pairs(void **state)
{
    (void)state;
    double first[3];
    for (uint64_t seed = 1; seed <= 3; seed++) {
        world w = make(test_study_text, seed);
        go_to(&w, "evaluation");
        for (size_t i = 0; i < 15; i++) {
            json_t *line = step(&w);
            const json_t *sides[] = { json_object_get(line, "a"), json_object_get(line, "b") };
            for (size_t s = 0; s < 2; s++) {
                const mel_point point = { json_number_value(json_array_get(sides[s], 0)),
                                          json_number_value(json_array_get(sides[s], 1)) };
                assert_true(mel_face_contains(w.problem->domain.face, point, 1e-12));
            }
            if (i == 0)
                first[seed - 1] = json_number_value(json_array_get(sides[0], 0));
            json_decref(line);
        }
        clear(&w);
    }
    assert_true(first[0] != first[1] && first[1] != first[2]);
}

static world make_without_radius(const char *space, const char *elicitation, uint64_t seed)
{
    static const char format[] =
        "{\"format\": \"melicit-study\", \"version\": 1, \"title\": \"Systems\", \"space\": %s, "
        "\"elicitation\": %s, \"phases\": [{\"kind\": \"elicitation\"}, {\"kind\": \"evaluation\", "
        "\"questions\": 6}, {\"kind\": \"done\", \"title\": \"Thanks\"}]}";
    char text[2000];
    (void)snprintf(text, sizeof text, format, space, elicitation);
    world w = { .study = parse(text) };
    mel_problem_options opt;
    mel_error err;
    char *described = json_dumps(w.study->space, JSON_COMPACT);
    assert_ok(mel_problem_from_json(&opt, described, &err), &err);
    free(described);
    const mel_problem_want want = mel_want_of_family(w.study->options.family);
    assert_ok(mel_problem_make(&w.problem, &opt, &want, &err), &err);
    mel_problem_options_clear(&opt);
    assert_ok(mel_flow_new(&w.flow, w.study, w.problem, seed, NULL, &err), &err);
    return w;
}

/* Without a radius, pairs are such as sessions ask people about: whole numbers of classifiers that are of
 * use, of which neither is better in everything; shown as they are. */
static void test_realistic_evaluation(void **state)
{
    (void)state;
    static const struct {
        const char *space, *elicitation;
    } rows[] = {
        { "{\"population\": \"logistic:a=5,b=0.7\"}", "{\"max_questions\": 1}" },
        { "{\"population\": \"logistic:a=5,b=0.7\"}", "{\"max_questions\": 1, \"strategy\": \"search\"}" },
        { "{\"population\": \"softmax:1,3,5\"}", "{\"max_questions\": 1}" },
        { "{\"population\": \"softmax:1,3,5\"}", "{\"max_questions\": 1, \"family\": \"diagonal-linear\"}" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        world w = make_without_radius(rows[i].space, rows[i].elicitation, i + 1);
        mel_error err;
        assert_ok(tell(w.flow, "{\"answer\": \"A\"}", &err), &err);
        const size_t n = mel_layout_size(mel_session_layout(mel_flow_session(w.flow)));
        for (int q = 0; q < 6; q++) {
            assert_string_equal(kind_of(w.flow), "question");
            json_t *page = page_of(w.flow);
            const json_t *question = json_object_get(page, "question");
            assert_int_equal(json_integer_value(json_object_get(question, "people")), 1000);
            json_decref(page);
            mel_question raw;
            bool done = true;
            assert_ok(mel_flow_question(&raw, &done, w.flow, &err), &err);
            bool more = false, fewer = false;
            for (size_t c = 0; c < n; c++) {
                assert_close(raw.a[c] * 1000.0, round(raw.a[c] * 1000.0), 1e-9);
                assert_close(raw.b[c] * 1000.0, round(raw.b[c] * 1000.0), 1e-9);
                more = more || raw.a[c] > raw.b[c];
                fewer = fewer || raw.a[c] < raw.b[c];
            }
            assert_true(n > 2 ? more || fewer : more && fewer); /* rounding may hide what is worse */
            assert_ok(tell(w.flow, "{\"answer\": \"B\"}", &err), &err);
        }
        assert_string_equal(mel_flow_state(w.flow), "complete");
        clear(&w);
    }
}

/* A session of one's own may go on after its budget. */
static void test_more_questions(void **state)
{
    (void)state;
    json_t *start = json_loads("{\"space\": {\"population\": \"logistic:a=5,b=0.7\", \"classes\": "
                               "[\"healthy\", \"cancer\"]}, \"options\": {\"max_questions\": 3}}",
                               0, NULL);
    world w = { 0 };
    mel_error err;
    assert_ok(mel_study_for_session(&w.study, start, &err), &err);
    json_decref(start);
    assert_ok(test_make_problem(&w.problem, w.study, &err), &err);
    assert_ok(mel_flow_new(&w.flow, w.study, w.problem, 1, NULL, &err), &err);
    w.oracle = doctor(w.flow);
    go_to(&w, "result");
    assert_int_equal(mel_session_answers(mel_flow_session(w.flow)), 3);
    assert_true(mel_flow_can_ask_more(w.flow));
    assert_ok(tell(w.flow, "{\"more\": true}", &err), &err);
    assert_string_equal(mel_flow_where(w.flow), "elicitation");
    assert_int_equal(mel_session_answers(mel_flow_session(w.flow)), 3);
    json_t *page = page_of(w.flow);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(page, "question"), "number")), 4);
    json_decref(page);
    go_to(&w, "result");
    assert_in_range(mel_session_answers(mel_flow_session(w.flow)), 4, 13);
    clear(&w);
}

/* The answers that were closest are given again, by wish: they count like others, and can be taken back. */
static void test_answers_given_again(void **state)
{
    (void)state;
    json_t *start = json_loads("{\"space\": {\"population\": \"logistic:a=5,b=0.7\", \"classes\": "
                               "[\"healthy\", \"cancer\"]}, \"options\": {\"max_questions\": 5}}",
                               0, NULL);
    world w = { 0 };
    mel_error err;
    assert_ok(mel_study_for_session(&w.study, start, &err), &err);
    json_decref(start);
    assert_ok(test_make_problem(&w.problem, w.study, &err), &err);
    assert_ok(mel_flow_new(&w.flow, w.study, w.problem, 1, NULL, &err), &err);
    w.oracle = doctor(w.flow);
    assert_int_equal(tell(w.flow, "{\"again\": true}", &err), MEL_EINVAL);
    go_to(&w, "result");
    uint32_t number[3];
    const size_t n = mel_flow_close_calls(number, 3, w.flow);
    assert_in_range(n, 2, 3);
    assert_ok(tell(w.flow, "{\"again\": true}", &err), &err);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(mel_flow_where(w.flow), "elicitation");
        json_t *page = page_of(w.flow);
        assert_non_null(json_object_get(json_object_get(page, "question"), "remark"));
        json_decref(page);
        assert_ok(tell(w.flow, "{\"answer\": \"A\"}", &err), &err);
        if (i == 0) {
            assert_ok(tell(w.flow, "{\"undo\": true}", &err), &err);
            assert_ok(tell(w.flow, "{\"answer\": \"A\"}", &err), &err);
        }
        const mel_session *session = mel_flow_session(w.flow);
        const mel_record last = mel_session_record(session, 5 + (uint32_t)i),
                         first = mel_session_record(session, number[i] - 1);
        assert_int_equal(last.again, number[i]);
        assert_close(last.a[0], first.b[0], 0.0);
        assert_close(last.b[1], first.a[1], 0.0);
    }
    assert_string_equal(mel_flow_where(w.flow), "result");
    /* More questions come after them, and hear them, too. */
    assert_true(mel_flow_can_ask_more(w.flow));
    assert_ok(tell(w.flow, "{\"more\": true}", &err), &err);
    assert_int_equal(mel_session_answers(mel_flow_session(w.flow)), 5 + n);
    assert_int_equal(mel_session_record(mel_flow_session(w.flow), 5).again, number[0]);
    clear(&w);
}

/* Numbers that are shown add up, and differences are those of the numbers. */
static void test_counts_add_up(void **state)
{
    (void)state;
    world w = make(test_study_text, 3);
    go_to(&w, "elicitation");
    while (strcmp(mel_flow_where(w.flow), "elicitation") == 0) {
        json_t *page = page_of(w.flow);
        const json_t *question = json_object_get(page, "question");
        const long long people = json_integer_value(json_object_get(question, "people"));
        static const char *const sides[] = { "a", "b" };
        for (size_t s = 0; s < 2; s++) {
            long long total = 0;
            for (size_t i = 0; i < 4; i++)
                total += json_integer_value(
                    json_array_get(json_array_get(json_object_get(question, sides[s]), i / 2), i % 2));
            assert_int_equal(total, people);
        }
        const json_t *differences = json_object_get(question, "differences");
        assert_true(json_array_size(differences) >= 1);
        for (size_t i = 0; i < json_array_size(differences); i++) {
            const json_t *one = json_array_get(differences, i);
            const size_t t = (size_t)json_integer_value(json_object_get(one, "true")),
                         p = (size_t)json_integer_value(json_object_get(one, "predicted"));
            for (size_t s = 0; s < 2; s++)
                assert_int_equal(json_integer_value(json_object_get(one, sides[s])),
                                 json_integer_value(json_array_get(
                                     json_array_get(json_object_get(question, sides[s]), t), p)));
        }
        json_decref(page);
        json_decref(step(&w));
    }
    clear(&w);
}

static void test_result(void **state)
{
    (void)state;
    world w = make(test_study_text, 3);
    go_to(&w, "result");
    json_t *result = NULL;
    mel_error err;
    assert_ok(mel_result_json(&result, w.flow, &err), &err);
    const double ratio = json_number_value(json_object_get(json_object_get(result, "cost_ratio"), "value"));
    assert_true(ratio > 3.0 && ratio < 14.0);
    const json_t *threshold = json_object_get(result, "threshold");
    assert_close(json_number_value(json_object_get(threshold, "value")), 1.0 / (1.0 + ratio), 1e-9);
    static const char *const there[] = { "questions",   "words",     "statements", "metric",
                                         "weights",     "face",      "effect",     "closest",
                                         "consistency", "agreement", "python" };
    for (size_t i = 0; i < COUNT(there); i++)
        assert_non_null(json_object_get(result, there[i]));
    json_decref(result);
    clear(&w);
}

/* What a study says of its questions counts, or is refused: nothing is put in its place. */
static void check_options_of_candidates(world *w)
{
    static const struct {
        const char *options, *says;
    } rows[] = {
        { "{\"questions\": \"realistic\"}",
          "questions realistic: given classifiers are asked about as they" },
        { "{\"tolerance\": \"1.6x\"}", "tolerance 1.6x: sessions about given classifiers end by" },
        { "{\"until\": \"tolerance\", \"tolerance\": 0.05}", NULL },
        { "{\"strategy\": \"search\"}", "a search asks about pairs of its own making" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_error err;
        mel_flow *flow = NULL;
        json_t *options = json_loads(rows[i].options, 0, NULL);
        assert_int_equal(json_object_set_new(w->study->file, "elicitation", options), 0);
        const mel_status status = mel_flow_new(&flow, w->study, w->problem, 5, NULL, &err);
        if (rows[i].says == NULL)
            assert_ok(status, &err);
        else
            assert_non_null(strstr(err.text, rows[i].says));
        mel_flow_free(flow);
    }
}

/* A study about systems that exist: questions and evaluation are about them alone, under their names. */
static void test_candidates(void **state)
{
    (void)state;
    static const char pool[] = "name,tp,fn,fp,tn\nbold,95,5,400,500\ncareful,90,10,250,650\n"
                               "fast,80,20,120,780\nslow,65,35,70,830\nshy,30,70,10,890\n";
    static const char format[] =
        "{\"format\": \"melicit-study\", \"version\": 1, \"title\": \"Systems\", \"space\": "
        "{\"candidates\": \"%s\", \"classes\": [\"healthy\", \"cancer\"]}, \"elicitation\": {\"assume\": "
        "\"none\"}, \"phases\": [{\"kind\": \"training\", \"title\": \"Try\", \"items\": [{\"question\": "
        "\"Which is better?\", \"of\": {\"definite\": true}}]}, {\"kind\": \"elicitation\"}, {\"kind\": "
        "\"evaluation\", \"questions\": 4}, {\"kind\": \"result\"}, {\"kind\": \"done\", \"title\": "
        "\"Thanks\"}]}";
    char text[2000];
    (void)snprintf(text, sizeof text, format, test_file("pool.csv", pool, sizeof pool - 1));
    world w = make(text, 5);
    json_t *event[MOST_EVENTS], *page = NULL;
    size_t n = 0, named = 0, asked = 0;
    while (strcmp(mel_flow_state(w.flow), "active") == 0 && n < MOST_EVENTS) {
        page = page_of(w.flow);
        const json_t *question = json_object_get(page, "question"),
                     *names = json_object_get(question, "names");
        asked += strcmp(kind_of(w.flow), "question") == 0;
        if (strcmp(kind_of(w.flow), "question") == 0 && names != NULL) {
            const char *first = json_string_value(json_array_get(names, 0));
            const json_t *row = json_array_get(json_array_get(json_object_get(question, "a"), 1), 1);
            const char *found = strstr(pool, first);
            assert_non_null(found);
            assert_int_equal(strtol(found + strlen(first) + 1, NULL, 10),
                             json_integer_value(row)); /* tp as counted */
            assert_int_equal(json_integer_value(json_object_get(question, "people")), 1000);
            named++;
        }
        json_decref(page);
        event[n++] = step(&w);
    }
    assert_string_equal(mel_flow_state(w.flow), "complete");
    assert_true(named >= 6 && named == asked); /* four of them in the evaluation */
    mel_flow *again = NULL;
    mel_error err;
    assert_ok(mel_flow_new(&again, w.study, w.problem, 5, NULL, &err), &err);
    for (size_t i = 0; i < n; i++) {
        assert_ok(mel_flow_replay(again, event[i], &err), &err);
        json_decref(event[i]);
    }
    assert_string_equal(mel_flow_state(again), "complete");
    mel_flow_free(again);
    check_options_of_candidates(&w);
    clear(&w);
    test_cleanup();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay_gives_the_same_pages),
        cmocka_unit_test(test_replay_tells_what_was_shown),
        cmocka_unit_test(test_refused_answers_change_nothing),
        cmocka_unit_test(test_no_consent),
        cmocka_unit_test(test_undo),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_definite_sides),
        cmocka_unit_test(test_training_about_nothing),
        cmocka_unit_test(test_guess_in_range),
        cmocka_unit_test(test_undone_evaluation_does_not_count),
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_evaluation_pairs),
        cmocka_unit_test(test_realistic_evaluation),
        cmocka_unit_test(test_more_questions),
        cmocka_unit_test(test_answers_given_again),
        cmocka_unit_test(test_counts_add_up),
        cmocka_unit_test(test_result),
        cmocka_unit_test(test_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
