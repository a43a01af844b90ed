/* What an elicitation found, as the browser shows it: the library's outcome, and what only the server knows.
 */
#include "flow.h"

#include "app.h"
#include "json_helpers.h"

#include "base/buffer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MEL_CLEANUP(mel_changes)

enum { MOST_HULL = 400 };

/* The outcome as JSON, a new reference. */
static mel_status outcome_json(json_t **out, const mel_outcome *outcome, mel_error *err)
{
    MEL_AUTO_MEMORY char *text = NULL;
    TRY(mel_outcome_to_json(&text, outcome, err));
    *out = mel_stored_json(text);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the result");
}

mel_outcome_options mel_result_options(const mel_study *study, const mel_problem *problem)
{
    const json_t *mistakes = json_object_get(study->words, "mistakes");
    mel_outcome_options opt;
    mel_outcome_options_init(&opt);
    opt.missed = mel_json_string(mistakes, "missed");
    opt.missed_plural = mel_json_string(mistakes, "missed_plural");
    opt.false_alarm = mel_json_string(mistakes, "false_alarm");
    opt.false_alarms = mel_json_string(mistakes, "false_alarm_plural");
    opt.people = mel_json_string(study->words, "people");
    opt.rows = problem->n_rows;
    return opt;
}

/* What is achievable, as it was measured, not as it was smoothed; NULL without memory. */
static json_t *face_json(const mel_problem *problem, mel_point best)
{
    const mel_face *face = problem->sample != NULL ? problem->sample : problem->domain.face;
    const size_t n = mel_face_vertices(face), stride = n > MOST_HULL ? n / MOST_HULL + 1 : 1;
    json_t *hull = json_array();
    for (size_t i = 0; i < n; i += stride) {
        const mel_point at = mel_face_vertex(face, i);
        mel_json_push(&hull, json_pack("[f, f]", at.tp, at.tn));
    }
    return json_pack("{s:o, s:[f, f], s:f, s:f}", "hull", hull, "best", best.tp, best.tn, "positives",
                     mel_face_positives(face), "negatives", mel_face_negatives(face));
}

/* Lines that run where metric.json is, with the metric file that can be downloaded; NULL without memory. */
static json_t *python_json(void)
{
    return json_string("from melicit import Metric\n\n"
                       "metric = Metric.load(\"metric.json\")\n"
                       "print(metric.describe())\n");
}

/* The best rule for this metric: on data that come with the program, else on one's own files; of given
 * classifiers their order. The data of a study are the researchers': nothing says where they are. */
static json_t *command_json(const mel_study *study, const mel_problem *problem)
{
    const bool bundled = study->own && problem->typed != NULL && strstr(problem->typed, "upload:") == NULL &&
                         strstr(problem->typed, "--data") != NULL;
    if (problem->pool != NULL)
        return json_string("melicit rank --metric metric.json --pool classifiers.csv");
    return json_sprintf("melicit apply --metric metric.json %s%s --out rule.json",
                        bundled ? problem->typed : "--probs probabilities.csv --labels labels.csv",
                        !bundled && problem->n_groups > 1 ? " --groups groups.csv" : "");
}

/* Whether what settings and treatments are compared with is what is done today. */
static void mark_today(json_t **result, const mel_outcome_options *opt)
{
    static const char *const parts[] = { "settings", "treatments" };
    for (size_t i = 0; i < 2 && (opt->today_counts != NULL || isfinite(opt->today_threshold)); i++) {
        json_t *part = json_object_get(*result, parts[i]);
        if (part != NULL && !mel_json_put(part, "today", json_true()))
            mel_json_set(result, parts[i], NULL);
    }
}

/* The library's outcome, and what the server adds to it. */
mel_status mel_result_json(json_t **out, mel_flow *flow, mel_error *err)
{
    const mel_evaluation evaluation = mel_flow_evaluation(flow);
    const mel_problem *problem = mel_flow_problem(flow);
    mel_outcome_options opt = mel_result_options(mel_flow_study(flow), problem);
    MEL_AUTO(mel_outcome) *outcome = NULL;
    *out = NULL;
    opt.evaluation = &evaluation;
    opt.treatments = true;
    opt.language = mel_flow_language(flow);
    mel_flow_put_today(&opt, flow);
    TRY(mel_outcome_of_session(&outcome, mel_flow_session(flow), &opt, err));
    TRY(outcome_json(out, outcome, err));
    mel_json_set(out, "python", python_json());
    mel_json_set(out, "command", command_json(mel_flow_study(flow), problem));
    if (mel_space_is_example(mel_flow_study(flow)->space))
        mel_json_set(out, "example", json_true());
    mark_today(out, &opt);
    if (outcome->n_decisions > 0)
        mel_json_set(out, "face", face_json(problem, outcome->decisions[0].point));
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the result");
}

mel_status mel_result_of_sessions(json_t **out, size_t n, mel_session *const *sessions,
                                  const mel_study *study, const mel_problem *problem, mel_error *err)
{
    const mel_outcome_options opt = mel_result_options(study, problem);
    MEL_AUTO(mel_outcome) *outcome = NULL;
    *out = NULL;
    TRY(mel_outcome_of_sessions(&outcome, n, sessions, &opt, err));
    return outcome_json(out, outcome, err);
}

/* --- questions -------------------------------------------------------------------------------------- */

enum { MOST_TEXT = 100000 };

/* --- words -------------------------------------------------------------------------------------- */

static void add_plural(mel_buffer *text, const char *noun)
{
    char *many = mel_plural_of(noun);
    mel_buffer_puts(text, many != NULL ? many : noun);
    free(many);
}

char *mel_mistake_name(const mel_problem *problem, const json_t *words, size_t truth, size_t predicted,
                       bool plural)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    const json_t *mistakes = json_object_get(words, "mistakes");
    const char *key = truth == 1 ? "missed" : "false_alarm";
    const char *own = problem->n_classes == 2 ? mel_json_string(mistakes, key) : NULL;
    char plural_key[24];
    (void)snprintf(plural_key, sizeof plural_key, "%s_plural", key);
    const char *many = plural ? mel_json_string(mistakes, plural_key) : NULL;
    if (own != NULL && many != NULL)
        mel_buffer_puts(&text, many);
    else if (own != NULL && plural)
        add_plural(&text, own);
    else if (own != NULL)
        mel_buffer_puts(&text, own);
    else
        mel_buffer_printf(&text, "%s predicted as %s", problem->class_name[truth],
                          problem->class_name[predicted]);
    return mel_buffer_take(&text);
}

/* The names that a study, or a person, gave. */
static mel_change_words change_words(const json_t *words)
{
    const json_t *mistakes = json_object_get(words, "mistakes"),
                 *means = json_object_get(words, "consequences");
    return (mel_change_words){ .missed = mel_json_string(mistakes, "missed"),
                               .missed_plural = mel_json_string(mistakes, "missed_plural"),
                               .false_alarm = mel_json_string(mistakes, "false_alarm"),
                               .false_alarms = mel_json_string(mistakes, "false_alarm_plural"),
                               .found = mel_json_string(means, "found"),
                               .found_plural = mel_json_string(means, "found_plural"),
                               .alarmed = mel_json_string(means, "alarmed"),
                               .alarmed_plural = mel_json_string(means, "alarmed_plural") };
}

static json_t *differences(const mel_changes *changes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < changes->n; i++) {
        const mel_change *c = &changes->change[i];
        const bool mistake = c->truth != c->predicted;
        mel_json_push(&list, json_pack("{s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:I}", "text", c->text, "name",
                                       c->name, "a", (json_int_t)c->a, "b", (json_int_t)c->b, "better",
                                       (c->b < c->a) == mistake ? "b" : "a", "group", (json_int_t)c->group,
                                       "true", (json_int_t)c->truth, "predicted", (json_int_t)c->predicted));
    }
    return list;
}

/* Two classes: the sentence in the parts that marks stand before. */
static json_t *told_json(const mel_told *told)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < told->n_parts; i++)
        mel_json_push(&parts, json_pack("{s:s, s:s}", "kind", told->part[i].missed ? "missed" : "alarm",
                                        "text", told->part[i].text));
    return json_pack("{s:s, s:s, s:o}", "start", told->start, "after", told->after, "parts", parts);
}

/* What changes from A to B, as numbers and as the library words it. */
static void put_changes(json_t **out, const mel_changes *changes)
{
    mel_json_set(out, "differences", differences(changes));
    mel_json_set(out, "sentence", json_string(changes->sentence));
    if (changes->told.n_parts > 0)
        mel_json_set(out, "told", told_json(&changes->told));
    if (changes->longest.n_parts > 0)
        mel_json_set(out, "longest", told_json(&changes->longest));
}

/* --- numbers ------------------------------------------------------------------------------------ */

/* null where a count is unknown. */
static json_t *count_row(size_t k, const int64_t *count)
{
    json_t *row = json_array();
    for (size_t i = 0; i < k; i++)
        mel_json_push(&row, count[i] < 0 ? json_null() : json_integer((json_int_t)count[i]));
    return row;
}

static json_t *matrix(size_t k, const int64_t *count)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < k; i++)
        mel_json_push(&rows, count_row(k, count + i * k));
    return rows;
}

/* A matrix, or one for each group. */
static json_t *counts(const mel_counted *c, const int64_t *side)
{
    if (c->n_groups == 1)
        return matrix(c->k, side);
    json_t *groups = json_array();
    for (size_t g = 0; g < c->n_groups; g++)
        mel_json_push(&groups, matrix(c->k, side + g * c->k * c->k));
    return groups;
}

static json_t *classes(const mel_problem *problem)
{
    const double *share = problem->class_share;
    json_t *list = json_array();
    for (size_t i = 0; i < problem->n_classes; i++)
        mel_json_push(&list, json_pack("{s:s, s:o}", "name", problem->class_name[i], "share",
                                       share != NULL ? json_real(share[i]) : json_null()));
    return list;
}

static json_t *groups(const mel_problem *problem)
{
    return mel_json_texts(problem->n_groups > 1 ? problem->n_groups : 0, problem->group_name);
}

/* What every picture needs. */
static json_t *frame(const mel_counted *c, const mel_problem *problem)
{
    json_t *out = json_pack("{s:I, s:b, s:o, s:o}", "people", (json_int_t)c->people, "of_each_class",
                            c->of_each_class, "classes", classes(problem), "groups", groups(problem));
    if (problem->n_classes == 2)
        mel_json_set(&out, "positive", json_integer(1));
    return out;
}

/* What A and B are called, where they exist. */
static json_t *names(const mel_question *question, bool swapped)
{
    const char *a = swapped ? question->classifier_b : question->classifier_a;
    const char *b = swapped ? question->classifier_a : question->classifier_b;
    return json_pack("[s, s]", a != NULL ? a : "", b != NULL ? b : "");
}

json_t *mel_question_to_json(const mel_question *question, const mel_problem *problem,
                             const mel_language *language, const json_t *words, uint32_t people, bool swapped,
                             mel_error *err)
{
    MEL_AUTO_CLEAR(mel_counted) c = { 0 };
    MEL_AUTO(mel_changes) *changes = NULL;
    mel_change_words names_given = change_words(words);
    names_given.language = language;
    if (mel_counted_make(&c, question, people, err) != MEL_OK ||
        mel_changes_make(&changes, &c, question, &names_given, swapped, err) != MEL_OK)
        return NULL;
    MEL_AUTO_MEMORY char *remark = mel_question_remark(question);
    json_t *out = frame(&c, problem);
    mel_json_set(&out, "number", json_integer((json_int_t)question->number));
    mel_json_set(&out, "expected", json_integer((json_int_t)question->expected));
    mel_json_set(&out, "a", counts(&c, swapped ? c.b : c.a));
    mel_json_set(&out, "b", counts(&c, swapped ? c.a : c.b));
    put_changes(&out, changes);
    mel_json_set(&out, "swapped", json_boolean(swapped));
    if (question->named)
        mel_json_set(&out, "names", names(question, swapped));
    if (question->neither)
        mel_json_set(&out, "neither", json_true());
    /* Pairs in whole numbers on a face are two settings of one test: they differ for nobody else. */
    if (question->people > 0 && problem->domain.face != NULL)
        mel_json_set(&out, "same_test", json_true());
    if (words != NULL)
        mel_json_set(&out, "words", json_incref((json_t *)words));
    if (remark != NULL)
        mel_json_set(&out, "remark", json_string(remark));
    if (out == NULL)
        (void)mel_fail_memory(err, "a question");
    return out;
}

json_t *mel_views_to_json(const mel_question *question, const mel_problem *problem, uint32_t people,
                          mel_error *err)
{
    MEL_AUTO_CLEAR(mel_counted) c = { 0 };
    if (mel_counted_make(&c, question, people, err) != MEL_OK)
        return NULL;
    json_t *a = frame(&c, problem), *b = frame(&c, problem);
    mel_json_set(&a, "counts", counts(&c, c.a));
    mel_json_set(&b, "counts", counts(&c, c.b));
    json_t *out = json_pack("[o, o]", a, b);
    if (out == NULL)
        (void)mel_fail_memory(err, "two pictures");
    return out;
}
