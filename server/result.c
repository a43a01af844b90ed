/* What an elicitation found, as the browser shows it: the library's outcome, and what only the server knows.
 */
#include "result.h"

#include "json_helpers.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HULL = 400 };

/* The outcome as JSON, a new reference. */
static mel_status outcome_json(json_t **out, const mel_outcome *outcome, mel_error *err)
{
    char *text = NULL;
    const mel_status status = mel_outcome_to_json(&text, outcome, err);
    if (status != MEL_OK)
        return status;
    *out = mel_stored_json(text);
    free(text);
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
    bool good = true;
    for (size_t i = 0; i < n && good; i += stride) {
        const mel_point at = mel_face_vertex(face, i);
        good = mel_json_add(hull, json_pack("[f, f]", at.tp, at.tn));
    }
    return json_pack("{s:o, s:[f, f], s:f, s:f}", "hull", mel_json_if(good, hull), "best", best.tp, best.tn,
                     "positives", mel_face_positives(face), "negatives", mel_face_negatives(face));
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

/* What the server adds to an outcome. */
static mel_status complete(json_t *result, const mel_outcome *outcome, mel_flow *flow, mel_error *err)
{
    const mel_problem *problem = mel_flow_problem(flow);
    bool good = mel_json_put(result, "python", python_json()) &&
                mel_json_put(result, "command", command_json(mel_flow_study(flow), problem));
    if (outcome->n_decisions > 0)
        good = mel_json_put(result, "face", face_json(problem, outcome->decisions[0].point)) && good;
    return good ? MEL_OK : mel_fail_memory(err, "the result");
}

mel_status mel_result_json(json_t **out, mel_flow *flow, mel_error *err)
{
    const mel_evaluation evaluation = mel_flow_evaluation(flow);
    mel_outcome_options opt = mel_result_options(mel_flow_study(flow), mel_flow_problem(flow));
    mel_outcome *outcome = NULL;
    json_t *result = NULL;
    opt.evaluation = &evaluation;
    opt.treatments = true;
    mel_flow_put_today(&opt, flow);
    mel_status status = mel_outcome_of_session(&outcome, mel_flow_session(flow), &opt, err);
    if (status == MEL_OK)
        status = outcome_json(&result, outcome, err);
    if (status == MEL_OK)
        status = complete(result, outcome, flow, err);
    mel_outcome_free(outcome);
    *out = mel_json_if(status == MEL_OK, result);
    return status;
}

mel_status mel_result_of_sessions(json_t **out, size_t n, mel_session *const *sessions,
                                  const mel_study *study, const mel_problem *problem, mel_error *err)
{
    const mel_outcome_options opt = mel_result_options(study, problem);
    mel_outcome *outcome = NULL;
    *out = NULL;
    mel_status status = mel_outcome_of_sessions(&outcome, n, sessions, &opt, err);
    if (status == MEL_OK)
        status = outcome_json(out, outcome, err);
    mel_outcome_free(outcome);
    return status;
}
