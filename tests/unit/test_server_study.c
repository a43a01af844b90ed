/* Study files: what is read, and the field that every refusal names. */
#include "support/server/problem.h"
#include "support/test.h"

#include "server/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text with the first `from` replaced; freed by the caller. */
static char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    const size_t before = (size_t)(at - text), n = strlen(text) - strlen(from) + strlen(to) + 1;
    char *out = malloc(n);
    assert_non_null(out);
    (void)snprintf(out, n, "%.*s%s%s", (int)before, text, to, at + strlen(from));
    return out;
}

static void test_whole_file(void **state)
{
    (void)state;
    mel_study *study = NULL;
    mel_error err;
    assert_ok(mel_study_parse(&study, test_study_text, strlen(test_study_text), &err), &err);
    static const mel_phase_kind kinds[] = { MEL_PHASE_CONSENT,    MEL_PHASE_FORM,   MEL_PHASE_TEXT,
                                            MEL_PHASE_TRAINING,   MEL_PHASE_GUESS,  MEL_PHASE_ELICITATION,
                                            MEL_PHASE_EVALUATION, MEL_PHASE_RESULT, MEL_PHASE_DONE };
    assert_int_equal(study->n_phases, COUNT(kinds));
    for (size_t i = 0; i < COUNT(kinds); i++)
        assert_int_equal(study->phase[i].kind, kinds[i]);
    assert_string_equal(study->title, "A test");
    assert_int_equal(study->options.max_questions, 12);
    assert_close(study->options.tolerance, 0.02, 0.0);
    assert_int_equal(study->options.assume.kind, MEL_NOISE_FLIP);
    assert_int_equal(study->resume, MEL_RESUME);
    mel_study_free(study);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *problem;
    } rows[] = {
        { "melicit-study", "melicit-metric", "format" },
        { "\"version\": 1, \"title\"", "\"version\": 2, \"title\"", "version" },
        { "\"title\": \"A test\",", "", "study.title" },
        { "\"title\": \"A test\"", "\"title\": 3", "study.title" },
        { "\"quota\": 0", "\"quote\": 0", "study.quote" },
        { "\"quota\": 0", "\"quota\": 1.5", "quota" },
        { "\"quota\": 0", "\"quota\": -1", "quota" },
        { "\"resume\": \"resume\"", "\"resume\": \"maybe\"", "resume" },
        { "\"resume_hours\": 48", "\"resume_hours\": 0", "resume_hours" },
        { "\"people\": \"patients\"", "\"poeple\": \"patients\"", "words.poeple" },
        { "\"picture\": \"flow\"", "\"picture\": 7", "show.picture" },
        { "\"family\": \"linear\"", "\"family\": \"crooked\"", "crooked" },
        { "\"tolerance\": 0.02", "\"tolerence\": 0.02", "elicitation.tolerence" },
        { "\"max_questions\": 12", "\"max_questions\": 0", "elicitation.max_questions" },
        { "\"max_questions\": 12", "\"max_questions\": 1.5", "elicitation.max_questions" },
        { "\"max_questions\": 12", "\"max_questions\": \"12\"", "elicitation.max_questions" },
        { "\"assume\": \"flip\"", "\"assume\": \"flop\"", "flop" },
        { "\"repeat_every\": 6", "\"repeat_every\": -1", "elicitation.repeat_every" },
        { "\"kind\": \"consent\"", "\"kind\": \"consnet\"", "phases[0].kind" },
        { "\"version\": \"1\", ", "", "phases[0].version" },
        { "\"type\": \"number\", \"low\"", "\"type\": \"digits\", \"low\"", "phases[1].fields[0].type" },
        { "\"name\": \"job\"", "\"name\": \"age\"", "phases[1].fields[1].name" },
        { "[\"a\", \"b\"]", "[\"a\"]", "phases[1].fields[1].choices" },
        { "[\"a\", \"b\"]", "[\"a\", 3]", "phases[1].fields[1].choices[1]" },
        { "\"view\": true", "\"view\": 1", "phases[2].view" },
        { "\"question\": \"How many?\"", "\"quetsion\": \"How many?\"", "phases[3].items[0].quetsion" },
        { "\"definite\": true", "\"definitive\": true", "phases[3].items[2].of.definitive" },
        { "\"definite\": true", "\"true\": 1", "phases[3].items[2].of" },
        { "\"definite\": true", "\"true\": -1, \"predicted\": 0", "phases[3].items[2].of.true" },
        { "\"definite\": true", "\"true\": 1, \"predicted\": 1e300", "phases[3].items[2].of.predicted" },
        { "\"definite\": true", "\"group\": 0.5", "phases[3].items[2].of.group" },
        { "\"definite\": true", "\"total\": \"predicted\"", "phases[3].items[2].of.class" },
        { "\"definite\": true", "\"total\": \"all\", \"class\": 1", "phases[3].items[2].of.total" },
        { "\"definite\": true", "\"system\": \"C\", \"definite\": true", "phases[3].items[2].of.system" },
        { "\"people\": 0", "\"people\": -5", "show.people" },
        { "\"max_questions\": 12", "\"max_questions\": 1001", "elicitation.max_questions" },
        { "\"quota\": 0", "\"prolific\": {\"completion_url\": \"javascript:alert(1)\"}",
          "prolific.completion_url" },
        { "\"radius\": 0.1", "\"radius\": \"0.1\"", "phases[6].radius" },
        { "{\"kind\": \"elicitation\"},", "", "phases[5]" },
        { "{\"kind\": \"elicitation\"},", "{\"kind\": \"elicitation\"},{\"kind\": \"elicitation\"},",
          "phases[6]" },
        { "{\"kind\": \"guess\", \"title\": \"Guess\"}", "{\"kind\": \"result\"}", "phases[4]" },
        { ",{\"kind\": \"done\", \"title\": \"Thanks\", \"code\": true}", "", "phases[7]" },
        { "{\"kind\": \"text\"", "{\"kind\": \"done\"", "phases[2]" },
        { "\"phases\": [", "\"phases\": [7, ", "phases[0]" },
        { "\"title\": \"A test\"", "\"title\": \"A test\", \"title\": \"B\"", "line 1" },
        { "\"title\": \"A test\",", "\"title\": \"A test\"", "line 1" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = changed(test_study_text, rows[i].from, rows[i].to);
        mel_study *study = NULL;
        mel_error err = { 0 };
        assert_int_not_equal(mel_study_parse(&study, text, strlen(text), &err), MEL_OK);
        if (strstr(err.text, rows[i].problem) == NULL)
            print_error("%s -> %s: \"%s\" does not name %s\n", rows[i].from, rows[i].to, err.text,
                        rows[i].problem);
        assert_non_null(strstr(err.text, rows[i].problem));
        assert_null(study);
        free(text);
    }
}

static void test_not_even_json(void **state)
{
    (void)state;
    static const char *const rows[] = { "", "{", "[]", "null", "3", "\"study\"", "{\"a\": 1e999}", "{} {}" };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_study *study = NULL;
        assert_int_equal(mel_study_parse(&study, rows[i], strlen(rows[i]), NULL), MEL_EDATA);
        assert_null(study);
    }
}

/* A session of one's own is a study with the phases elicitation, result, done. */
static void test_alone(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_status want;
    } rows[] = {
        { "{\"space\": {}, \"family\": \"linear\", \"options\": {\"max_questions\": 7}}", MEL_OK },
        { "{\"space\": {}}", MEL_OK },
        { "{\"family\": \"linear\"}", MEL_EDATA },
        { "{\"space\": {}, \"familly\": \"linear\"}", MEL_EDATA },
        { "{\"space\": {}, \"options\": {\"max_question\": 7}}", MEL_EDATA },
        { "{\"space\": 1}", MEL_EDATA },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_t *start = json_loads(rows[i].text, 0, NULL);
        mel_study *study = NULL;
        assert_int_equal(mel_study_for_session(&study, start, NULL), rows[i].want);
        assert_true((study != NULL) == (rows[i].want == MEL_OK));
        if (study != NULL)
            assert_int_equal(study->n_phases, 3);
        if (study != NULL && i == 0)
            assert_int_equal(study->options.max_questions, 7);
        mel_study_free(study);
        json_decref(start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_file),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_not_even_json),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
