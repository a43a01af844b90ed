/* What an elicitation found, as the browser shows it. */
#include "result.h"

#include "json_helpers.h"
#include "question_json.h"

#include "base/buffer.h"
#include "melicit/classify.h"
#include "melicit/rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEIGHBOURS = 3, MOST_WEIGHTS = 200, MOST_HULL = 400, MOST_TEXT = 20000 };

typedef struct {
    json_t *out;
    bool incomplete; /* memory ran out for a part of it */
    mel_flow *flow;  /* NULL: there is only a metric */
    const mel_study *study;
    const mel_problem *problem;
    mel_metric *metric;
    mel_summary summary;
} finding;
typedef mel_status (*step)(finding *f, mel_error *err);

/* Takes the value over; NULL: memory ran out while it was made. */
static mel_status put(finding *f, const char *key, json_t *value)
{
    f->incomplete = !mel_json_put(f->out, key, value) || f->incomplete;
    return MEL_OK;
}

static void add(finding *f, json_t *list, json_t *value)
{
    f->incomplete = !mel_json_add(list, value) || f->incomplete;
}

/* null where a number is not known. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *interval(double value, double low, double high)
{
    return json_pack("{s:o, s:o, s:o}", "value", number(value), "low", number(low), "high", number(high));
}

/* --- words and weights -------------------------------------------------------------------------- */

static mel_status put_words(finding *f, mel_error *err)
{
    char *words = NULL;
    const mel_status status = mel_metric_words(&words, f->metric, err);
    if (status != MEL_OK)
        return status;
    json_t *list = json_array();
    add(f, list, json_string(words));
    if (f->summary.finding != MEL_FINDING_NONE)
        add(f, list, json_string(mel_finding_text(f->summary.finding)));
    free(words);
    return put(f, "words", list);
}

/* What is not known, in sentences. */
static mel_status put_open(finding *f, mel_error *err)
{
    (void)err;
    const double tolerance = f->study->options.tolerance;
    json_t *list = json_array();
    char text[320];
    mel_cost_ratio ratio;
    if (mel_metric_cost_ratio(&ratio, f->metric, NULL) == MEL_OK && mel_cost_ratio_is_wide(&ratio)) {
        (void)snprintf(text, sizeof text,
                       "How the two mistakes compare is known only roughly: anything from %.2g to %.2g fits "
                       "your answers.",
                       ratio.low, ratio.high);
        add(f, list, json_string(text));
    }
    if (f->summary.end == MEL_END_BUDGET && f->summary.radius > tolerance) {
        (void)snprintf(text, sizeof text,
                       "The questions ended before every number was as precise as asked for: each is known "
                       "to about %.2g, not to %.2g.",
                       f->summary.radius, tolerance);
        add(f, list, json_string(text));
    }
    if (f->summary.end == MEL_END_NOISE)
        add(f, list,
            json_string(
                "More questions would not help: answers to pairs this close are a matter of chance."));
    return put(f, "open", list);
}

static mel_status put_metric(finding *f, mel_error *err)
{
    char *text = NULL;
    const mel_status status = mel_metric_to_json(&text, f->metric, err);
    if (status != MEL_OK)
        return status;
    json_t *metric = mel_stored_json(text);
    free(text);
    return put(f, "metric", metric);
}

/* The name of a coordinate of one group, a mistake or a right decision; NULL without memory. */
static char *coordinate_name(const finding *f, size_t i)
{
    const mel_layout *layout = mel_metric_layout(f->metric);
    const size_t k = layout->n_classes;
    if (layout->coordinates == MEL_OFFDIAGONAL) {
        const size_t truth = i / (k - 1), rest = i % (k - 1);
        return mel_mistake_name(f->problem, f->study->words, truth, rest < truth ? rest : rest + 1, false);
    }
    const size_t class_code = layout->coordinates == MEL_BINARY ? 1 - i : i;
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    mel_buffer_printf(&text, "%s predicted rightly", f->problem->class_name[class_code]);
    return mel_buffer_take(&text);
}

static json_t *weight_json(const finding *f, size_t i, double value)
{
    double low = NAN, high = NAN;
    (void)mel_metric_interval(f->metric, i, &low, &high);
    return interval(value, low, high);
}

/* The weights of everybody's mistakes or right decisions. */
static mel_status put_weights(finding *f, mel_error *err)
{
    (void)err;
    mel_layout one = *mel_metric_layout(f->metric);
    one.n_groups = 0;
    const size_t n = mel_layout_size(&one);
    const double *a = mel_metric_numerator(f->metric, NULL);
    json_t *list = json_array();
    for (size_t i = 0; i < n && n <= MOST_WEIGHTS && a != NULL; i++) {
        char *name = coordinate_name(f, i);
        json_t *weight = weight_json(f, i, a[i]);
        add(f, list, mel_json_if(name != NULL && mel_json_put(weight, "name", json_string(name)), weight));
        free(name);
    }
    (void)put(f, "weights", list);
    const double lambda = mel_metric_lambda(f->metric);
    return isfinite(lambda) ? put(f, "lambda", weight_json(f, mel_metric_coefficients(f->metric) - 1, lambda))
                            : MEL_OK;
}

/* --- two classes -------------------------------------------------------------------------------- */

/* Only of a linear metric. The threshold 1/(1 + ratio) falls as the ratio grows. */
static mel_status put_ratio(finding *f, mel_error *err)
{
    (void)err;
    mel_cost_ratio ratio;
    if (f->problem->domain.face == NULL || mel_metric_cost_ratio(&ratio, f->metric, NULL) != MEL_OK)
        return MEL_OK;
    char *missed = mel_mistake_name(f->problem, f->study->words, 1, 0, false);
    char *alarms = mel_mistake_name(f->problem, f->study->words, 0, 1, true);
    json_t *object = interval(ratio.ratio, ratio.low, ratio.high);
    const bool named = missed != NULL && alarms != NULL &&
                       mel_json_put(object, "missed", json_string(missed)) &&
                       mel_json_put(object, "false_alarms", json_string(alarms));
    free(missed);
    free(alarms);
    (void)put(f, "ratio", mel_json_if(named, object));
    double threshold = NAN;
    if (mel_metric_threshold(&threshold, f->metric, NULL) != MEL_OK)
        return MEL_OK;
    object = interval(threshold, 1.0 / (1.0 + ratio.high), 1.0 / (1.0 + ratio.low));
    const bool whole = mel_json_put(object, "positive", json_string(f->problem->class_name[1]));
    return put(f, "threshold", mel_json_if(whole, object));
}

static json_t *pair_json(mel_point point)
{
    return json_pack("[f, f]", point.tp, point.tn);
}

/* Statements about the data at hand come from the face as it was measured, not from the smoothed one. */
static const mel_face *measured_face(const finding *f)
{
    return f->problem->sample != NULL ? f->problem->sample : f->problem->domain.face;
}

static mel_status find_best(mel_point *out, const finding *f, mel_error *err)
{
    mel_classifier *best = NULL;
    const mel_domain domain = { .face = measured_face(f) };
    const mel_status status = mel_classifier_best(&best, &domain, f->metric, err);
    if (status != MEL_OK)
        return status;
    const double *achieved = mel_classifier_get(best).statistics;
    *out = (mel_point){ achieved[0], achieved[1] };
    mel_classifier_free(best);
    return MEL_OK;
}

static void put_face(finding *f, mel_point best)
{
    const mel_face *face = measured_face(f);
    const size_t n = mel_face_vertices(face), stride = n > MOST_HULL ? n / MOST_HULL + 1 : 1;
    json_t *hull = json_array();
    for (size_t i = 0; i < n; i += stride)
        add(f, hull, pair_json(mel_face_vertex(face, i)));
    (void)put(f, "face",
              json_pack("{s:o, s:o, s:f, s:f}", "hull", hull, "best", pair_json(best), "positives",
                        mel_face_positives(face), "negatives", mel_face_negatives(face)));
}

static mel_status add_effect(json_t *list, finding *f, const char *name, mel_point point, mel_error *err)
{
    uint32_t people = 0;
    json_t *counts = mel_counts_to_json((double[]){ point.tp, point.tn }, mel_metric_layout(f->metric),
                                        f->problem, &people, err);
    if (counts == NULL)
        return MEL_ENOMEM;
    double value = NAN;
    (void)mel_metric_value(&value, f->metric, (double[]){ point.tp, point.tn }, NULL);
    add(f, list,
        json_pack("{s:s, s:o, s:I, s:o}", "name", name, "counts", counts, "people", (json_int_t)people,
                  "value", number(value)));
    return MEL_OK;
}

static mel_status put_effect(finding *f, mel_point best, mel_error *err)
{
    json_t *list = json_array();
    const mel_point half = mel_face_rule(measured_face(f), (mel_rule){ .threshold = 0.5 });
    mel_status status = add_effect(list, f, "best for your metric", best, err);
    if (status == MEL_OK)
        status = add_effect(list, f, "threshold 0.5", half, err);
    (void)put(f, "effect", list);
    return status;
}

static mel_status put_neighbours(finding *f, mel_error *err)
{
    mel_neighbour near[NEIGHBOURS];
    size_t n = 0;
    const mel_status status =
        mel_closest_metrics(near, NEIGHBOURS, &n, f->metric, f->problem->domain.face, err);
    json_t *list = json_array();
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        add(f, list, json_pack("{s:s, s:f}", "name", near[i].name, "agreement", near[i].agreement));
    (void)put(f, "neighbours", list);
    return status;
}

static mel_status put_planar(finding *f, mel_error *err)
{
    mel_point best = { 0 };
    if (f->problem->domain.face == NULL)
        return MEL_OK;
    mel_status status = find_best(&best, f, err);
    if (status != MEL_OK)
        return status;
    put_face(f, best);
    status = put_effect(f, best, err);
    return status == MEL_OK ? put_neighbours(f, err) : status;
}

/* --- how sure, and how to use it ---------------------------------------------------------------- */

/* Where answers may be flipped, by the evidence against coin tosses. */
static const char *flipped_text(const mel_summary *s)
{
    if (s->consistency < 0.05)
        return "your answers are not consistent: coin tosses would explain them better than a metric of "
               "this kind with some wrong answers";
    if (fabs(s->evidence) < 1.0)
        return s->repeats_agreed < s->repeats
                   ? "there is not enough yet to tell whether your answers are consistent"
                   : "too few questions came back to rule out chance";
    return s->evidence > 0.0 ? "your answers are consistent: a metric of this kind explains them better than "
                               "coin tosses would"
                             : "it is doubtful whether your answers are consistent: coin tosses would "
                               "explain them better than a metric of this kind";
}

static const char *consistency_text(const mel_summary *s)
{
    if (!isfinite(s->consistency))
        return "not known";
    if (isfinite(s->evidence))
        return flipped_text(s);
    return s->consistency >= 0.2    ? "your answers are consistent"
           : s->consistency >= 0.05 ? "some answers contradict each other"
                                    : "your answers contradict each other more often than was allowed for";
}

static mel_status put_consistency(finding *f, mel_error *err)
{
    (void)err;
    const mel_summary *s = &f->summary;
    return put(f, "consistency",
               json_pack("{s:o, s:s, s:I, s:I, s:I}", "p", number(s->consistency), "text",
                         consistency_text(s), "contradicted", (json_int_t)s->disagreements, "repeats",
                         (json_int_t)s->repeats, "repeats_agreed", (json_int_t)s->repeats_agreed));
}

static mel_status put_agreement(finding *f, mel_error *err)
{
    mel_flow_agreements agreed;
    const mel_status status = mel_flow_agreement(&agreed, f->flow, err);
    if (status != MEL_OK || agreed.n == 0)
        return status;
    json_t *object =
        json_pack("{s:I, s:I}", "of", (json_int_t)agreed.n, "elicited", (json_int_t)agreed.elicited);
    bool whole = true;
    if (agreed.planar)
        whole = mel_json_put(object, "accuracy", json_integer((json_int_t)agreed.accuracy)) &&
                mel_json_put(object, "f1", json_integer((json_int_t)agreed.f1));
    if (agreed.planar && isfinite(mel_flow_guess(f->flow)))
        whole = whole && mel_json_put(object, "guess", json_integer((json_int_t)agreed.guess));
    return put(f, "agreement", mel_json_if(whole, object));
}

static mel_status put_use(finding *f, mel_error *err)
{
    (void)err;
    const double threshold = mel_json_number(json_object_get(f->out, "threshold"), "value", (double)NAN);
    char text[600];
    if (isfinite(threshold))
        (void)snprintf(
            text, sizeof text,
            "# probabilities of \"%s\" from any model\ndecision = model.predict_proba(X)[:, 1] >= %.4g\n",
            f->problem->class_name[1], threshold);
    else
        (void)snprintf(text, sizeof text,
                       "# with the metric file that you can download here\n"
                       "import subprocess\nsubprocess.run([\"melicit\", \"rank\", \"--metric\", "
                       "\"metric.json\", \"--pool\", \"classifiers.csv\"])\n");
    return put(f, "python", json_string(text));
}

/* Runs the steps; gives all of the result or nothing. */
static mel_status find(json_t **out, finding *f, const step *steps, size_t n, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++)
        status = steps[i](f, err);
    if (status == MEL_OK && f->incomplete)
        status = mel_fail_memory(err, "the result");
    *out = mel_json_if(status == MEL_OK, f->out);
    return status;
}

mel_status mel_result_json(json_t **out, mel_flow *flow, mel_error *err)
{
    static const step steps[] = { put_words,  put_open,        put_metric,    put_weights, put_ratio,
                                  put_planar, put_consistency, put_agreement, put_use };
    *out = NULL;
    finding f = { .flow = flow, .study = mel_flow_study(flow), .problem = mel_flow_problem(flow) };
    mel_status status = mel_session_result(&f.metric, &f.summary, mel_flow_session(flow), err);
    if (status != MEL_OK)
        return status;
    f.out = json_pack("{s:I}", "questions", (json_int_t)f.summary.questions);
    status = find(out, &f, steps, sizeof steps / sizeof *steps, err);
    mel_metric_free(f.metric);
    return status;
}

mel_status mel_result_of_metric(json_t **out, mel_metric *metric, const mel_study *study,
                                const mel_problem *problem, mel_error *err)
{
    static const step steps[] = { put_words, put_weights, put_ratio };
    finding f = { .out = json_object(), .study = study, .problem = problem, .metric = metric };
    return find(out, &f, steps, sizeof steps / sizeof *steps, err);
}
