/* The table of a session's options: library, command line and study files obey every row of it. */
#include "support/multiclass.h"

#include "elicit/option_value.h"
#include "elicit/options.h"
#include "melicit/rank.h"
#include "server/study.h"
#include "space/shared.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    mel_face *face;
    mel_space *space;
    mel_ball *ball, *groups;
} made;

static int set_up(void **state)
{
    (void)state;
    const mel_layout layout = {
        .kind = MEL_RATES, .coordinates = MEL_OFFDIAGONAL, .n_classes = 2, .n_groups = 2
    };
    mel_error err;
    assert_ok(mel_face_from_logistic(&made.face, 5.0, 0.0, &err), &err);
    assert_ok(mel_ball_new(&made.groups, &layout, 0.2, NULL, NULL, &err), &err);
    made.space = test_softmax_space(3, MEL_CONFUSION, MEL_DIAGONAL);
    made.ball = test_rates_ball(2, 0.2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mel_face_free(made.face);
    mel_space_free(made.space);
    mel_ball_free(made.ball);
    mel_ball_free(made.groups);
    test_cleanup();
    return 0;
}

/* --- the three readers: what each says of a value ------------------------------------------------ */

enum { SENTENCE = 2000, VALUE = 48 };

static void ask_library(char *says, const mel_option *row, mel_option_value value)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    mel_option_put(&opt, row, value);
    const bool degree = strcmp(row->key, "degree") == 0; /* other families do not mind */
    opt.family = degree ? MEL_FAMILY_POLYNOMIAL : MEL_FAMILY_LINEAR;
    const mel_domain domain = { .face = degree ? NULL : made.face, .ball = degree ? made.ball : NULL };
    mel_session *session = NULL;
    mel_error err = { .text = "" };
    (void)mel_session_new(&session, &domain, &opt, &err);
    mel_session_free(session);
    (void)snprintf(says, SENTENCE, "%s", err.text);
}

/* json: the value as it stands in a file. */
static mel_study *read_study(char *says, const char *key, const char *json)
{
    char text[200];
    (void)snprintf(text, sizeof text, "{\"space\": {}, \"options\": {\"%s\": %s}}", key, json);
    json_t *start = json_loads(text, 0, NULL);
    assert_non_null(start);
    mel_study *study = NULL;
    mel_error err = { .text = "" };
    (void)mel_study_for_session(&study, start, &err);
    json_decref(start);
    (void)snprintf(says, SENTENCE, "%s", err.text);
    return study;
}

static void ask_study(char *says, const char *key, const char *json)
{
    mel_study_free(read_study(says, key, json));
}

/* Whether the program has an option of this name. */
static bool on_command_line(const mel_option *row)
{
    const bool choice = row->type == MEL_OPTION_WORD && row->argument == NULL;
    const bool number = row->type == MEL_OPTION_NUMBER || row->type == MEL_OPTION_WHOLE;
    return strcmp(row->key, "seed") == 0 || (row->help != NULL && (number || choice));
}

static void ask_program(char *says, const mel_option *row, const char *value)
{
    char name[MEL_OPTION_NAME], line[400];
    mel_option_name(name, row);
    const char *typed = strncmp(name, "known-", 6) == 0 ? name + 6 : name; /* --known p11 */
    (void)snprintf(line, sizeof line, "%s/melicit elicit --oracle sim:nothing.json --%s%s%s%s%s 2>&1",
                   MEL_TEST_BINARY, row->under != NULL ? row->under : "", row->under != NULL ? " " : "",
                   typed, row->under != NULL ? "=" : " ", value);
    FILE *program = popen(line, "r");
    assert_non_null(program);
    const size_t n = fread(says, 1, SENTENCE - 1, program);
    says[n] = '\0';
    assert_int_not_equal(pclose(program), 0); /* there is no such metric in any case */
}

/* --- values --------------------------------------------------------------------------------------- */

static bool is_number(const mel_option *row)
{
    return row->type == MEL_OPTION_NUMBER || row->type == MEL_OPTION_WHOLE;
}

static void print_value(char text[VALUE], const mel_option *row, double value)
{
    (void)snprintf(text, VALUE, row->type == MEL_OPTION_WHOLE ? "%.0f" : "%.17g", value);
}

static mel_option_value value_of(const mel_option *row, double value)
{
    return row->type == MEL_OPTION_NUMBER ? (mel_option_value){ .number = value }
                                          : (mel_option_value){ .whole = (uint64_t)value };
}

/* The nearest values inside (0, 1) and outside (2, 3) of both ends of the range. */
static double near_end(const mel_option *row, int which)
{
    const bool whole = row->type == MEL_OPTION_WHOLE;
    const double low = row->low, high = row->high;
    const double step = whole ? fmax(1.0, high * 1e-15) : 1e-9;
    switch (which) {
    case 0:
        return row->above_low ? low + step : low;
    case 1:
        return row->below_high ? high - step : high;
    case 2:
        return row->above_low ? low : low - step;
    default:
        return row->below_high ? high : high + step;
    }
}

static void check_sentence(const char *says, const char *who, const mel_option *row, bool good)
{
    char name[MEL_OPTION_NAME];
    mel_option_name(name, row);
    const bool known = strncmp(name, "known-", 6) == 0; /* --known p11 */
    const bool named = strstr(says, known ? name + 6 : name) != NULL || strstr(says, row->key) != NULL;
    if ((strstr(says, "expected") == NULL) != good || !(good || named))
        fail_msg("%s, %s: %s is said of a value that is %s", who, row->key, says, good ? "good" : "wrong");
}

/* Both ends of every range, from inside and from outside. */
static void test_ranges(void **state)
{
    (void)state;
    size_t n, checked = 0;
    const mel_option *rows = mel_option_table(&n);
    for (const mel_option *row = rows; row < rows + n; row++)
        for (int which = 0; is_number(row) && which < 4; which++) {
            const double value = near_end(row, which);
            const bool good = which < 2;
            char says[SENTENCE], text[VALUE];
            print_value(text, row, value);
            if (value >= 0.0 || row->type == MEL_OPTION_NUMBER) {
                ask_library(says, row, value_of(row, value));
                check_sentence(says, "library", row, good);
            }
            ask_study(says, row->key, text);
            check_sentence(says, "study", row, good);
            if (on_command_line(row)) {
                ask_program(says, row, text);
                check_sentence(says, "program", row, good);
            }
            checked++;
        }
    assert_true(checked >= 36);
}

/* Every word is taken, any other refused with the list of them. */
static void test_words(void **state)
{
    (void)state;
    size_t n;
    const mel_option *rows = mel_option_table(&n);
    for (const mel_option *row = rows; row < rows + n; row++) {
        size_t words = 0;
        char says[SENTENCE], json[VALUE];
        for (; row->type == MEL_OPTION_WORD && row->words[words] != NULL; words++) {
            (void)snprintf(json, sizeof json, "\"%s\"", row->words[words]);
            mel_study *study = read_study(says, row->key, json);
            if (study == NULL)
                fail_msg("study, %s: %s", row->key, says);
            assert_int_equal(mel_option_get(&study->options, row).whole, words);
            mel_study_free(study);
            ask_library(says, row, (mel_option_value){ .whole = words });
            check_sentence(says, "library", row, true);
        }
        if (words == 0)
            continue;
        ask_library(says, row, (mel_option_value){ .whole = words });
        check_sentence(says, "library", row, false);
        assert_non_null(strstr(says, row->words[words - 1]));
        ask_study(says, row->key, "\"sideways\"");
        check_sentence(says, "study", row, false);
        assert_non_null(strstr(says, row->words[words - 1]));
        if (on_command_line(row)) {
            ask_program(says, row, "sideways");
            check_sentence(says, "program", row, false);
            assert_non_null(strstr(says, row->words[words - 1]));
        }
    }
}

/* A value of another type than the row's. */
static void test_types(void **state)
{
    (void)state;
    size_t n;
    const mel_option *rows = mel_option_table(&n);
    for (const mel_option *row = rows; row < rows + n; row++) {
        char says[SENTENCE];
        ask_study(says, row->key, is_number(row) ? "\"3\"" : "3");
        char place[64];
        (void)snprintf(place, sizeof place, "elicitation.%s: ", row->key);
        if (strncmp(says, place, strlen(place)) != 0)
            fail_msg("%s: %s", row->key, says);
    }
    char says[SENTENCE];
    ask_study(says, "per_rund", "3");
    assert_string_equal(says, "elicitation.per_rund: there is no such option; did you mean per_round?");
}

/* --- defaults ------------------------------------------------------------------------------------- */

static bool is_usual(const mel_session_options *opt, const mel_option *row)
{
    return !mel_option_is_scalar(row) || !mel_option_is_set(opt, row);
}

/* Of the library, of a session that the program starts, and, where people are asked otherwise, of studies. */
static void test_defaults(void **state)
{
    (void)state;
    static const char *const for_people[] = { "max_questions", "repeat_every",     "simple_questions",
                                              "questions",     "tolerance_factor", "until" };
    static const char truth[] = "{\"format\": \"melicit-metric\", \"version\": 1, \"family\": \"linear\", "
                                "\"layout\": {\"kind\": \"confusion\", \"coordinates\": \"binary\", "
                                "\"classes\": [\"0\", \"1\"]}, \"coefficients\": {\"a\": [0.8, 0.6]}}";
    const char *metric = test_file("truth.json", truth, sizeof truth - 1);
    const char *path = test_path("program.jsonl");
    char line[1000], says[SENTENCE];
    (void)snprintf(line, sizeof line,
                   "%s/melicit elicit --population logistic:a=5,b=0 --oracle sim:%s --session %s --json "
                   ">/dev/null",
                   MEL_TEST_BINARY, metric, path);
    assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c): the program itself */
    mel_session_options usual, *stored = NULL;
    mel_error err;
    mel_session_options_init(&usual);
    assert_ok(mel_session_options_read(&stored, path, &(mel_domain){ .face = made.face }, &err), &err);
    mel_study *study = read_study(says, "family", "\"linear\"");
    size_t n, others = 0;
    const mel_option *rows = mel_option_table(&n);
    for (const mel_option *row = rows; row < rows + n; row++) {
        assert_true(is_usual(&usual, row));
        assert_true(row->varies || is_usual(stored, row));
        bool other = false;
        for (size_t i = 0; i < COUNT(for_people); i++)
            other = other || strcmp(row->key, for_people[i]) == 0;
        assert_true(is_usual(&study->options, row) != other);
        others += other;
    }
    assert_int_equal(others, COUNT(for_people));
    assert_close(usual.tolerance, 0.02, 0.0);
    assert_int_equal(usual.max_questions, 200);
    assert_int_equal(usual.per_round, 4);
    assert_int_equal(study->options.max_questions, 20);
    assert_int_equal(study->options.assume.kind, MEL_NOISE_PERSON);
    mel_study_free(study);
    mel_session_options_free(stored);
}

/* --- session files -------------------------------------------------------------------------------- */

/* Some other value than the default. */
static mel_option_value other_value(const mel_option *row)
{
    if (row->type == MEL_OPTION_NUMBER)
        return (mel_option_value){ .number = row->low + 0.0625 * (row->high - row->low) };
    if (row->type == MEL_OPTION_WHOLE)
        return (mel_option_value){ .whole = (uint64_t)(row->usual == row->low ? row->low + 1 : row->low) };
    return (mel_option_value){ .whole = 1 };
}

/* Opens a new file with the option set on the first domain and family that read it; false: none does. */
static bool open_with(mel_domain *domain, const mel_option *row, const char *path)
{
    static const char *const families[] = { "linear",    "linear-fractional", "diagonal-linear",
                                            "quadratic", "fair-linear",       "polynomial:3" };
    const mel_domain domains[] = {
        { .face = made.face }, { .space = made.space }, { .ball = made.ball }, { .ball = made.groups }
    };
    for (size_t k = 0; k < 2 * COUNT(families) * COUNT(domains); k++) {
        mel_session_options opt;
        mel_session *session = NULL;
        mel_session_options_init(&opt);
        opt.strategy = (mel_strategy)(k % 2);
        assert_ok(mel_session_options_set(&opt, "family", families[k / 2 % COUNT(families)], NULL), NULL);
        mel_option_put(&opt, row, other_value(row));
        *domain = domains[k / 2 / COUNT(families)];
        if (mel_option_in_family(row, opt.family) &&
            mel_session_open(&session, domain, &opt, NULL, path, NULL) == MEL_OK) {
            mel_session_free(session);
            return true;
        }
    }
    return false;
}

/* What is not as usual is in the file and comes back from it. */
static void test_files(void **state)
{
    (void)state;
    /* These need more than a number or a word. */
    static const char *const apart[] = { "until", "known_costs_only", "prior_strength" };
    size_t n;
    const mel_option *rows = mel_option_table(&n);
    for (const mel_option *row = rows; row < rows + n; row++) {
        bool more = false;
        for (size_t i = 0; i < COUNT(apart); i++)
            more = more || strcmp(row->key, apart[i]) == 0;
        if (!mel_option_is_scalar(row) || more)
            continue;
        char name[64];
        (void)snprintf(name, sizeof name, "%s.jsonl", row->key);
        const char *path = test_path(name);
        mel_domain domain;
        if (!open_with(&domain, row, path))
            fail_msg("no session reads %s", row->key);
        mel_session_options *stored = NULL;
        mel_session *again = NULL;
        mel_error err;
        assert_ok(mel_session_options_read(&stored, path, &domain, &err), &err);
        const mel_option_value got = mel_option_get(stored, row), want = other_value(row);
        assert_true(row->type == MEL_OPTION_NUMBER ? got.number == want.number : got.whole == want.whole);
        assert_ok(mel_session_open(&again, &domain, stored, NULL, path, &err), &err);
        mel_session_free(again);
        /* More questions, and those about a better test, may be wanted later. */
        const bool open = strcmp(row->key, "max_questions") == 0 || strcmp(row->key, "imagined_beyond") == 0;
        mel_option_put(stored, row, mel_option_usual(row));
        assert_int_equal(mel_session_open(&again, &domain, stored, NULL, path, &err),
                         open ? MEL_OK : MEL_ECONFLICT);
        mel_session_free(again);
        mel_session_options_free(stored);
    }
}

/* What is lent comes back, too: the same header is made from it. */
static void test_lent(void **state)
{
    (void)state;
    static const double pool[] = { 0.1, 0.2, 0.2, 0.1 }, a[] = { 0.6, 0.8 }, b[] = { 0.8, 0.6 };
    static const double prevalence[] = { 0.5, 0.5, 0.5, 0.5 };
    static const signed char signs[] = { 1, 0 };
    mel_metric *prior = NULL, *known = NULL;
    mel_error err;
    assert_ok(mel_metric_linear(&prior, MEL_FAMILY_LINEAR, &mel_binary_layout, NULL, MEL_UTILITY, a, &err),
              &err);
    assert_ok(
        mel_metric_fair_linear(&known, mel_ball_layout(made.groups), NULL, NULL, a, b, 0.3, prevalence, &err),
        &err);
    const mel_domain domains[] = { { .face = made.face }, { .ball = made.groups } };
    mel_session_options rows[2];
    mel_session_options_init(&rows[0]);
    rows[0].until = MEL_UNTIL_RANK;
    rows[0].n_pool = 2;
    rows[0].pool = pool;
    rows[0].decisions = mel_decisions_usual();
    rows[0].prior = prior;
    rows[0].prior_strength = 4.0;
    mel_session_options_init(&rows[1]);
    rows[1].strategy = MEL_STRATEGY_SEARCH;
    rows[1].family = MEL_FAMILY_FAIR_LINEAR;
    rows[1].signs = signs;
    rows[1].known = known;
    rows[1].known_costs_only = true;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *path = test_path(i == 0 ? "lent0.jsonl" : "lent1.jsonl");
        mel_session_options *stored = NULL;
        mel_session *session = NULL;
        assert_ok(mel_session_open(&session, &domains[i], &rows[i], NULL, path, &err), &err);
        mel_session_free(session);
        assert_ok(mel_session_options_read(&stored, path, &domains[i], &err), &err);
        stored->decisions = rows[i].decisions;
        assert_ok(mel_session_open(&session, &domains[i], stored, NULL, path, &err), &err);
        const mel_session_options *kept = mel_session_get_options(session);
        assert_int_equal(kept->n_pool, i == 0 ? 2 : 0);
        assert_int_equal(kept->known_costs_only, i == 1);
        assert_true(i == 0 || memcmp(kept->signs, signs, sizeof signs) == 0);
        mel_session_free(session);
        mel_session_options_free(stored);
    }
    mel_metric_free(prior);
    mel_metric_free(known);
}

/* A header that no session could have written is refused with its option. */
static void test_bad_headers(void **state)
{
    (void)state;
    static const struct {
        const char *family, *options, *says;
    } rows[] = {
        { "linear", "\"per_round\": 5", "line 1: per_round: expected a whole number from 2 to 4" },
        { "linear", "\"direction\": \"up\"", "line 1: direction: expected one of increasing" },
        { "linear", "\"tournament\": 1", "line 1: tournament: expected one of false, true" },
        { "linear", "\"assume\": 3", "line 1: assume: expected a text" },
        { "linear", "\"assume\": \"luck\"", "line 1: assume: " },
        { "linear", "\"signs\": [1]", "line 1: signs: expected a list of 2 signs" },
        { "linear", "\"pool\": [[1, 2], [3]]", "line 1: pool: [1] is not 2 numbers" },
        { "linear", "\"prior\": {\"strength\": 3}", "line 1: prior: there is no metric" },
        { "linear", "\"known\": {}", "line 1: known: " },
        { "crooked", "\"per_round\": 3", "line 1: family: " },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[400];
        const int n = snprintf(text, sizeof text,
                               "{\"format\": \"melicit-session\", \"version\": 1, \"family\": \"%s\", "
                               "\"options\": {%s}}\n",
                               rows[i].family, rows[i].options);
        const char *path = test_file("bad.jsonl", text, (size_t)n);
        mel_session_options *stored = NULL;
        mel_error err;
        assert_int_equal(mel_session_options_read(&stored, path, &(mel_domain){ .face = made.face }, &err),
                         MEL_EDATA);
        assert_null(stored);
        assert_int_equal(err.code, MEL_EDATA);
        if (strstr(err.text, rows[i].says) == NULL || strstr(err.text, path) == NULL)
            fail_msg("row %zu: \"%s\" is not in: %s", i, rows[i].says, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),      cmocka_unit_test(test_words), cmocka_unit_test(test_types),
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_files), cmocka_unit_test(test_lent),
        cmocka_unit_test(test_bad_headers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
