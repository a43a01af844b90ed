/* Sessions: ask, tell, undo, the log, and every way a log can be wrong. */
#include "support/binary.h"

#include "elicit/session.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "oracle/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mel_noise exact = { .kind = MEL_NOISE_NONE };
static mel_face *face;

static int make_face(void **state)
{
    (void)state;
    return mel_face_from_logistic(&face, 5.0, 0.0, NULL) == MEL_OK ? 0 : -1;
}

static int free_face(void **state)
{
    (void)state;
    mel_face_free(face);
    test_cleanup();
    return 0;
}

static mel_session_options options(void)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.tolerance = 0.01;
    return opt;
}

static const mel_identity identity = { .space_json = "{\"population\": \"logistic:a=5,b=0\"}",
                                       .digest = "abc" };

static mel_session *open_session(const char *path, const mel_session_options *opt)
{
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_open(&session, &(mel_domain){ .face = face }, opt, &identity, path, &err), &err);
    return session;
}

static const mel_question *ask(mel_session *session)
{
    const mel_question *question = NULL;
    bool done = false;
    mel_error err;
    assert_ok(mel_session_ask(&question, &done, session, &err), &err);
    return question;
}

static void answer_some(mel_session *session, size_t n)
{
    static const mel_answer cycle[] = { MEL_ANSWER_A, MEL_ANSWER_B, MEL_ANSWER_B, MEL_ANSWER_A };
    for (size_t i = 0; i < n; i++) {
        const mel_question *question = ask(session);
        assert_non_null(question);
        mel_error err;
        assert_ok(mel_session_tell(session, question->number, cycle[i % COUNT(cycle)], 1.5, &err), &err);
    }
}

static char *read_text(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 16);
    assert_non_null(text);
    *n = fread(text, 1, (1 << 16) - 1, file);
    text[*n] = '\0';
    fclose(file);
    return text;
}

static void test_tell(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t number;
        int answer;
        mel_status want;
        uint32_t answered;
    } rows[] = {
        { "number 0", 0, MEL_ANSWER_A, MEL_EINVAL, 0 },
        { "never asked", 9, MEL_ANSWER_A, MEL_EINVAL, 0 },
        { "no answer", 1, 7, MEL_EINVAL, 0 },
        { "first answer", 1, MEL_ANSWER_A, MEL_OK, 1 },
        { "replayed", 1, MEL_ANSWER_A, MEL_OK, 1 },
        { "changed mind", 1, MEL_ANSWER_B, MEL_ECONFLICT, 1 },
        { "not asked yet", 2, MEL_ANSWER_A, MEL_EINVAL, 1 },
    };
    const mel_session_options opt = options();
    mel_session *session = NULL;
    assert_int_equal(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, NULL), MEL_OK);
    const mel_question *first = ask(session);
    assert_int_equal(first->number, 1);
    assert_ptr_equal(ask(session), first); /* asking again changes nothing */
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(mel_session_tell(session, rows[i].number, (mel_answer)rows[i].answer, NAN, NULL),
                         rows[i].want);
        assert_int_equal(mel_session_answers(session), rows[i].answered);
    }
    mel_session_free(session);
}

static void test_options_are_checked(void **state)
{
    (void)state;
    static const signed char signs[] = { 1, 1 };
    mel_session_options rows[13];
    for (size_t i = 0; i < COUNT(rows); i++)
        rows[i] = options();
    rows[6].per_round = 1;
    rows[7].per_round = 5;
    rows[8].cycles = 0;
    rows[9].signs = signs; /* a face has a direction */
    rows[10].family = (mel_family)99;
    rows[11].struct_size = 0;
    rows[12].seed = UINT64_MAX;
    rows[0].tolerance = 0.0;
    rows[1].tolerance = NAN;
    rows[2].max_questions = 0;
    rows[3].family = MEL_FAMILY_QUADRATIC;
    rows[4].known_p11 = 1.5;
    rows[5].assume = (mel_assumption){ .kind = MEL_NOISE_FLIP, .size = 0.5 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session *session = NULL;
        mel_error err = { .code = MEL_OK };
        assert_int_equal(mel_session_new(&session, &(mel_domain){ .face = face }, &rows[i], &err),
                         MEL_EINVAL);
        assert_null(session);
        assert_true(strlen(err.text) > 10);
    }
}

/* A program built against an older header knows fewer options: the library reads no further than those. */
static void test_options_of_another_header(void **state)
{
    (void)state;
    mel_session_options all = options();
    all.known_p11 = 0.25;
    const size_t older = offsetof(mel_session_options, known_p11);
    void *memory = malloc(older); /* a sanitizer sees a read beyond it */
    mel_session_options *opt = memory;
    assert_non_null(opt);
    memcpy(opt, &all, older);
    memcpy(opt, &older, sizeof older);
    const mel_domain domain = { .face = face };
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, &domain, opt, &err), &err);
    assert_true(isnan(mel_session_get_options(session)->known_p11));
    mel_session_free(session);
    free(opt);
    all.struct_size = sizeof all + 8;
    assert_int_equal(mel_session_new(&session, &domain, &all, &err), MEL_EINVAL);
    mel_problem_options about;
    mel_problem_options_init(&about);
    about.struct_size -= 8;
    mel_problem *problem = NULL;
    assert_int_equal(mel_problem_make(&problem, &about, NULL, &err), MEL_EINVAL);
    assert_null(problem);
}

/* Undo and the same answer again lead to the same question, in memory and through the file. */
static void test_undo(void **state)
{
    (void)state;
    const mel_session_options opt = options();
    const char *path = test_path("undo.jsonl");
    mel_session *session = open_session(path, &opt);
    assert_int_equal(mel_session_undo(session, NULL), MEL_ESTATE);
    answer_some(session, 3);
    const double fourth = ask(session)->a[0];
    assert_int_equal(mel_session_undo(session, NULL), MEL_OK);
    assert_int_equal(mel_session_answers(session), 2);
    const mel_question *third = ask(session);
    assert_int_equal(third->number, 3);
    assert_int_equal(mel_session_tell(session, 3, MEL_ANSWER_B, 1.0, NULL), MEL_OK);
    assert_true(ask(session)->a[0] == fourth);
    mel_session_free(session);
    session = open_session(path, &opt);
    assert_int_equal(mel_session_answers(session), 3);
    assert_true(ask(session)->a[0] == fourth);
    mel_session_free(session);
}

/* Once an answer is in memory that could neither be stored nor forgotten, taking back would write that about
 * an answer that the file does not have, and nobody could open it any more. */
static void test_broken(void **state)
{
    (void)state;
    const mel_session_options opt = options();
    const char *path = test_path("broken.jsonl");
    mel_session *session = open_session(path, &opt);
    answer_some(session, 2);
    (void)ask(session);
    mel_log *log = session->log;
    session->log = NULL; /* the third answer does not reach the file */
    assert_int_equal(mel_session_tell(session, 3, MEL_ANSWER_A, NAN, NULL), MEL_OK);
    session->log = log;
    session->broken = true;
    const mel_question *question = NULL;
    bool done = false;
    assert_int_equal(mel_session_ask(&question, &done, session, NULL), MEL_ESTATE);
    assert_int_equal(mel_session_tell(session, 4, MEL_ANSWER_A, NAN, NULL), MEL_ESTATE);
    assert_int_equal(mel_session_undo(session, NULL), MEL_ESTATE);
    mel_session_free(session);
    session = open_session(path, &opt);
    assert_int_equal(mel_session_answers(session), 2);
    mel_session_free(session);
}

/* A run that is stopped and resumed at every possible place asks what an uninterrupted one asks. */
static void test_resume_anywhere(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_family family;
        mel_strategy strategy;
        mel_noise_kind assume;
    } rows[] = {
        { "active", MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE, MEL_NOISE_NONE },
        { "active, flips", MEL_FAMILY_LINEAR, MEL_STRATEGY_ACTIVE, MEL_NOISE_FLIP },
        { "search", MEL_FAMILY_LINEAR, MEL_STRATEGY_SEARCH, MEL_NOISE_NONE },
        { "search fractional", MEL_FAMILY_LINEAR_FRACTIONAL, MEL_STRATEGY_SEARCH, MEL_NOISE_NONE },
        { "active fractional", MEL_FAMILY_LINEAR_FRACTIONAL, MEL_STRATEGY_ACTIVE, MEL_NOISE_NONE },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        print_message("  %s\n", rows[r].name);
        mel_session_options opt = options();
        opt.family = rows[r].family;
        opt.strategy = rows[r].strategy;
        opt.assume.kind = rows[r].assume;
        opt.repeat_every = rows[r].assume == MEL_NOISE_FLIP ? 5 : 0;
        opt.max_questions = 15;
        mel_session *whole = NULL;
        assert_int_equal(mel_session_new(&whole, &(mel_domain){ .face = face }, &opt, NULL), MEL_OK);
        mel_oracle *oracle = test_linear_oracle(1.1, exact, 1);
        assert_int_equal(mel_session_run(whole, oracle, NULL), MEL_OK);
        char name[32];
        snprintf(name, sizeof name, "resume%zu.jsonl", r);
        const char *path = test_path(name);
        for (uint32_t i = 0; i < mel_session_answers(whole); i++) {
            mel_session *part = open_session(path, &opt);
            const mel_question *question = ask(part);
            const mel_record record = mel_session_record(whole, i);
            assert_memory_equal(question->a, record.a, 2 * sizeof(double));
            assert_memory_equal(question->b, record.b, 2 * sizeof(double));
            assert_int_equal(mel_session_tell(part, i + 1, record.answer, 0.1, NULL), MEL_OK);
            mel_session_free(part);
        }
        mel_session *part = open_session(path, &opt);
        mel_metric *one = NULL, *other = NULL;
        mel_summary first, second;
        assert_int_equal(mel_session_result(&one, &first, whole, NULL), MEL_OK);
        assert_int_equal(mel_session_result(&other, &second, part, NULL), MEL_OK);
        assert_memory_equal(mel_metric_numerator(one, NULL), mel_metric_numerator(other, NULL),
                            2 * sizeof(double));
        assert_true(first.radius == second.radius);
        mel_metric_free(one);
        mel_metric_free(other);
        mel_session_free(part);
        mel_session_free(whole);
        mel_oracle_free(oracle);
    }
}

/* Cut at every byte: whole lines are kept, the rest is dropped, and the session goes on. */
static void test_truncation(void **state)
{
    (void)state;
    const mel_session_options opt = options();
    const char *path = test_path("whole.jsonl");
    mel_session *session = open_session(path, &opt);
    answer_some(session, 3);
    mel_session_free(session);
    size_t n = 0;
    char *text = read_text(path, &n);
    for (size_t cut = 0; cut <= n; cut++) {
        const char *part = test_file("cut.jsonl", text, cut);
        size_t lines = 0;
        for (size_t i = 0; i < cut; i++)
            lines += text[i] == '\n';
        const bool whole_without_newline = cut < n && cut > 0 && text[cut] == '\n';
        const bool clean = cut == 0 || text[cut - 1] == '\n' || whole_without_newline;
        const size_t kept = lines + (whole_without_newline ? 1 : 0);
        session = open_session(part, &opt);
        assert_int_equal(mel_session_repaired(session), !clean);
        assert_int_equal(mel_session_answers(session), kept > 0 ? kept - 1 : 0);
        answer_some(session, 1);
        mel_session_free(session);
        session = open_session(part, &opt);
        assert_int_equal(mel_session_answers(session), kept > 0 ? kept : 1);
        mel_session_free(session);
    }
    free(text);
}

/* Damage that is not a cut-off last line is refused with its place; nothing in the file changes. */
static void test_damage(void **state)
{
    (void)state;
#define HEADER "@" /* replaced by the real header line */
#define LINE(n, answer)                                                                                      \
    "{\"question\": " #n ", \"answer\": \"" answer "\", \"a\": [0.3, 0.2], \"b\": [0.2, 0.3]}\n"
    static const struct {
        const char *name, *text;
        mel_status want;
        const char *says;
    } rows[] = {
        { "not JSON", "hello\n", MEL_EDATA, "line 1" },
        { "not a session", "{\"format\": \"something\"}\n", MEL_EDATA,
          "line 1: expected a session of questions" },
        { "version", "{\"format\": \"melicit-session\", \"version\": 2}\n", MEL_EDATA, "version 1" },
        { "array", "[1]\n", MEL_EDATA, "line 1" },
        { "duplicate key", HEADER "{\"question\": 1, \"question\": 1, \"answer\": \"A\"}\n", MEL_EDATA,
          "line 2" },
        { "reordered", HEADER LINE(2, "A") LINE(1, "B"), MEL_EDATA,
          "line 2: answers question 2, but question 1" },
        { "missing line", HEADER LINE(1, "A") LINE(3, "B"), MEL_EDATA, "line 3: answers question 3" },
        { "doubled line", HEADER LINE(1, "A") LINE(1, "A"), MEL_EDATA, "line 3: answers question 1" },
        { "unknown answer", HEADER LINE(1, "C"), MEL_EDATA, "line 2: neither an answer nor an undo" },
        { "question 0", HEADER LINE(0, "A"), MEL_EDATA, "line 2" },
        { "undo of nothing", HEADER "{\"undo\": 1}\n", MEL_EDATA, "line 2: takes back question 1" },
        { "undo of another", HEADER LINE(1, "A") "{\"undo\": 2}\n", MEL_EDATA,
          "line 3: takes back question 2" },
        { "no pair", HEADER "{\"question\": 1, \"answer\": \"A\"}\n", MEL_EDATA,
          "line 2: a is not a list of 2 numbers" },
        { "no share", HEADER "{\"question\": 1, \"answer\": \"A\", \"a\": [0.1, 5], \"b\": [0.2, 0.1]}\n",
          MEL_EDATA, "line 2: a[1]: expected a share from 0 to 1, not 5" },
        { "a point too long",
          HEADER "{\"question\": 1, \"answer\": \"A\", \"a\": [0, 0, 0], \"b\": [0, 0]}\n", MEL_EDATA,
          "line 2: a is not a list of 2 numbers" },
        { "a point too short", HEADER "{\"question\": 1, \"answer\": \"A\", \"a\": [0, 0], \"b\": [0]}\n",
          MEL_EDATA, "line 2: b is not a list of 2 numbers" },
        { "a point of words",
          HEADER "{\"question\": 1, \"answer\": \"A\", \"a\": [0, \"x\"], \"b\": [0, 0]}\n", MEL_EDATA,
          "line 2: a is not a list of 2 numbers" },
        { "half a pair", HEADER "{\"question\": 1, \"answer\": \"A\", \"a\": [0, 0]}\n", MEL_EDATA,
          "line 2: b is not a list of 2 numbers" },
        { "broken in the middle", HEADER "{\"question\": 1, \"ans\n" LINE(2, "A"), MEL_EDATA,
          "line 2: not a JSON object" },
    };
    const mel_session_options opt = options();
    mel_session *session = open_session(test_path("header.jsonl"), &opt);
    mel_session_free(session);
    size_t n = 0;
    char *header = read_text(test_path("header.jsonl"), &n);
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        char text[4096];
        const bool with = rows[i].text[0] == '@';
        snprintf(text, sizeof text, "%s%s", with ? header : "", rows[i].text + (with ? 1 : 0));
        const char *path = test_file("damaged.jsonl", text, strlen(text));
        mel_error err;
        assert_int_equal(
            mel_session_open(&session, &(mel_domain){ .face = face }, &opt, &identity, path, &err),
            rows[i].want);
        assert_null(session);
        if (strstr(err.text, rows[i].says) == NULL || strstr(err.text, "damaged.jsonl") == NULL)
            fail_msg("%s", err.text);
        char *after = read_text(path, &n);
        assert_string_equal(after, text);
        free(after);
    }
    free(header);
}

/* What a session would write: the same lines as its file but for their times, and a session again when read.
 */
static void test_to_text(void **state)
{
    (void)state;
    const mel_session_options opt = options();
    mel_session *session = open_session(test_path("written.jsonl"), &opt), *again = NULL;
    answer_some(session, 3);
    char *text = NULL, *at = NULL;
    mel_error err;
    /* Question 2 by wish, with its sides swapped, and then the session goes on. */
    assert_int_equal(mel_session_ask_again(session, 4, &err), MEL_EINVAL);
    assert_ok(mel_session_ask_again(session, 2, &err), &err);
    assert_true(ask(session)->repeated && ask(session)->announced);
    assert_ok(mel_session_tell(session, 4, MEL_ANSWER_A, NAN, &err), &err);
    answer_some(session, 1);
    assert_ok(mel_session_to_text(&text, session, &identity, &err), &err);
    size_t n = 0;
    char *file = read_text(test_path("written.jsonl"), &n);
    while ((at = strstr(file, "\"time\":\"")) != NULL) {
        char *end = strchr(at + strlen("\"time\":\""), '"') + strlen("\",");
        memmove(at, end, strlen(end) + 1);
    }
    assert_string_equal(text, file);
    again = open_session(test_file("copied.jsonl", text, strlen(text)), &opt);
    assert_int_equal(mel_session_answers(again), 5);
    assert_close(mel_session_record(again, 2).seconds, 1.5, 0.0);
    assert_int_equal(mel_session_record(again, 3).again, 2);
    assert_close(mel_session_record(again, 3).a[0], mel_session_record(again, 1).b[0], 0.0);
    assert_close(ask(again)->a[0], ask(session)->a[0], 0.0);
    free(file);
    free(text);
    mel_session_free(again);
    mel_session_free(session);
}

/* Recorded pairs are told as they are, in another session too; a larger budget lets it go on. */
static void test_replay(void **state)
{
    (void)state;
    mel_session_options opt = options();
    opt.max_questions = 3;
    mel_session *session = open_session(test_path("pairs.jsonl"), &opt), *other = NULL;
    mel_error err;
    assert_ok(mel_session_new(&other, &(mel_domain){ .face = face }, &opt, &err), &err);
    for (uint32_t i = 0; i < 3; i++) {
        const mel_question *question = ask(session);
        assert_ok(mel_session_tell(session, question->number, MEL_ANSWER_A, NAN, &err), &err);
        const mel_record record = mel_session_record(session, i);
        const double a[2] = { record.a[0] + 1e-5, record.a[1] };
        const mel_record moved = { .a = a, .b = record.b, .answer = record.answer, .seconds = NAN };
        assert_ok(mel_session_replay(other, &moved, &err), &err);
        assert_memory_equal(mel_session_record(other, i).a, a, sizeof a);
    }
    const mel_record record = mel_session_record(session, 0);
    assert_int_equal(mel_session_replay(other, &record, &err), MEL_ECONFLICT);
    assert_int_equal(mel_session_set_budget(other, 2, &err), MEL_EINVAL);
    assert_ok(mel_session_set_budget(other, 4, &err), &err);
    assert_int_equal(ask(other)->number, 4);
    mel_session_free(other);
    mel_session_free(session);
}

/* A log is not continued under other settings or on other data; only its budget may change. */
static void test_changed_header(void **state)
{
    (void)state;
    mel_session_options opt = options();
    const char *path = test_path("settings.jsonl");
    mel_session_free(open_session(path, &opt));
    mel_session_options rows[5];
    for (size_t i = 0; i < COUNT(rows); i++)
        rows[i] = opt;
    rows[0].seed = 2;
    rows[1].tolerance = 0.1;
    rows[2].strategy = MEL_STRATEGY_SEARCH;
    rows[3].family = MEL_FAMILY_LINEAR_FRACTIONAL;
    rows[4].direction = MEL_DECREASING;
    static const char *const says[] = { "seed = 1, not 2", "options.tolerance = 0.01, not 0.1",
                                        "strategy = \"active\"", "family = \"linear\"",
                                        "options.direction = \"increasing\"" };
    mel_session *session = NULL;
    mel_error err;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(
            mel_session_open(&session, &(mel_domain){ .face = face }, &rows[i], &identity, path, &err),
            MEL_ECONFLICT);
        if (strstr(err.text, says[i]) == NULL)
            fail_msg("%s", err.text);
    }
    const mel_identity other_data = { .space_json = identity.space_json, .digest = "def" };
    assert_int_equal(mel_session_open(&session, &(mel_domain){ .face = face }, &opt, &other_data, path, &err),
                     MEL_ECONFLICT);
    assert_non_null(strstr(err.text, "data = \"sha256:abc\", not \"sha256:def\""));
    const mel_identity other_space = { .space_json = "{\"population\": \"logistic:a=4,b=0\"}",
                                       .digest = "abc" };
    assert_int_equal(
        mel_session_open(&session, &(mel_domain){ .face = face }, &opt, &other_space, path, &err),
        MEL_ECONFLICT);
    assert_non_null(strstr(err.text, "space.population"));
    opt.max_questions = 300;
    mel_session_free(open_session(path, &opt));
}

static void test_one_process_at_a_time(void **state)
{
    (void)state;
    const mel_session_options opt = options();
    const char *path = test_path("locked.jsonl");
    mel_session *one = open_session(path, &opt), *other = NULL;
    mel_error err;
    assert_int_equal(mel_session_open(&other, &(mel_domain){ .face = face }, &opt, &identity, path, &err),
                     MEL_ECONFLICT);
    mel_session_free(one);
    mel_session_free(open_session(path, &opt));
}

static void test_unwritable(void **state)
{
    (void)state;
    const mel_session_options opt = options();
    mel_session *session = NULL;
    mel_error err;
    assert_int_equal(mel_session_open(&session, &(mel_domain){ .face = face }, &opt, &identity,
                                      "/nonexistent/folder/s.jsonl", &err),
                     MEL_EIO);
    assert_non_null(strstr(err.text, "/nonexistent/folder/s.jsonl"));
    assert_int_equal(
        mel_session_open(&session, &(mel_domain){ .face = face }, &opt, &identity, "/dev/null", &err),
        MEL_EDATA);
}

/* The posterior is a density; the search has none. */
static void test_posterior(void **state)
{
    (void)state;
    mel_session_options opt = options();
    mel_session *session = NULL;
    assert_int_equal(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, NULL), MEL_OK);
    answer_some(session, 4);
    enum { N = 2001 };
    double angle[N], density[N], mass = 0.0;
    assert_int_equal(mel_session_posterior(N, angle, density, session, NULL), MEL_OK);
    for (size_t i = 0; i + 1 < N; i++) {
        assert_true(angle[i + 1] > angle[i] && density[i] >= 0.0);
        mass += 0.5 * (density[i] + density[i + 1]) * (angle[i + 1] - angle[i]);
    }
    assert_close(mass, 1.0, 0.01);
    assert_int_equal(mel_session_posterior(1, angle, density, session, NULL), MEL_EINVAL);
    mel_session_free(session);
    opt.strategy = MEL_STRATEGY_SEARCH;
    assert_int_equal(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, NULL), MEL_OK);
    assert_int_equal(mel_session_posterior(N, angle, density, session, NULL), MEL_ESTATE);
    mel_session_free(session);
}

/* A snapshot is what result and draws give, the same until there is another answer. */
static void test_snapshot(void **state)
{
    (void)state;
    const mel_session_options opt = options();
    mel_session *session = NULL;
    mel_error err;
    assert_ok(mel_session_new(&session, &(mel_domain){ .face = face }, &opt, &err), &err);
    for (size_t n = 0; n < 4; n++) {
        mel_snapshot one, again;
        mel_summary summary;
        mel_metric *metric = NULL;
        double *draw = NULL;
        size_t draws = 0, width = 0;
        assert_ok(mel_session_snapshot(&one, session, &err), &err);
        assert_ok(mel_session_snapshot(&again, session, &err), &err);
        assert_ok(mel_session_result(&metric, &summary, session, &err), &err);
        assert_ok(mel_session_draws(&draws, &width, &draw, session, &err), &err);
        assert_true(one.metric == again.metric && one.draw == again.draw);
        assert_int_equal(one.summary.questions, n);
        assert_int_equal(one.n_draws, draws);
        assert_int_equal(one.n_coefficients, width);
        assert_memory_equal(one.draw, draw, draws * width * sizeof *draw);
        assert_memory_equal(mel_metric_coefficient(one.metric), mel_metric_coefficient(metric),
                            2 * sizeof *draw);
        assert_true(one.summary.radius == summary.radius);
        mel_metric_free(metric);
        free(draw);
        answer_some(session, 1);
    }
    mel_session_free(session);
    mel_session_options search = options();
    search.strategy = MEL_STRATEGY_SEARCH;
    assert_ok(mel_session_new(&session, &(mel_domain){ .face = face }, &search, &err), &err);
    mel_snapshot found;
    assert_ok(mel_session_snapshot(&found, session, &err), &err);
    assert_true(found.metric != NULL && found.draw == NULL && found.n_draws == 0);
    mel_session_free(session);
}

static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_noise_kind kind;
        double size;
    } rows[] = {
        { "none", MEL_NOISE_NONE, 0.0 },
        { "flip", MEL_NOISE_FLIP, 0.0 },
        { "flip:0.1", MEL_NOISE_FLIP, 0.1 },
        { "logistic", MEL_NOISE_LOGISTIC, 0.0 },
        { "logistic:50", MEL_NOISE_LOGISTIC, 50.0 },
        { "band:0.001", MEL_NOISE_BAND, 0.001 },
        { "person", MEL_NOISE_PERSON, 0.0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_assumption assume;
        char text[MEL_NOISE_TEXT];
        assert_int_equal(mel_assumption_parse(&assume, rows[i].text, NULL), MEL_OK);
        assert_int_equal(assume.kind, rows[i].kind);
        assert_close(assume.size, rows[i].size, 0.0);
        mel_assumption_print(text, sizeof text, &assume);
        assert_string_equal(text, rows[i].text);
    }
    static const char *const refused[] = { "",     "flip:0.5",   "flip:-1",  "noise",
                                           "band", "logistic:x", "flip:nan", "person:1" };
    for (size_t i = 0; i < COUNT(refused); i++) {
        mel_assumption assume;
        assert_int_equal(mel_assumption_parse(&assume, refused[i], NULL), MEL_EINVAL);
    }
    mel_session_options opt = options();
    mel_error err;
    assert_ok(mel_session_options_set(&opt, "strategy", "search", &err), &err);
    assert_int_equal(opt.strategy, MEL_STRATEGY_SEARCH);
    assert_int_equal(mel_session_options_set(&opt, "strategy", "magic", &err), MEL_EINVAL);
    assert_string_equal(err.text, "strategy magic: expected one of active, search");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tell),
        cmocka_unit_test(test_options_are_checked),
        cmocka_unit_test(test_options_of_another_header),
        cmocka_unit_test(test_undo),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_resume_anywhere),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_changed_header),
        cmocka_unit_test(test_one_process_at_a_time),
        cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_to_text),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_posterior),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, make_face, free_face);
}
