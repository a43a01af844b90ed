#include "result.h"

#include "stored_json.h"

#include "question_json.h"

#include "base/buffer.h"
#include "base/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEIGHBOURS = 3, PAIRS = 2000, MOST_WEIGHTS = 200, MOST_HULL = 400, MOST_TEXT = 20000 };

typedef struct {
    json_t *out;
    mel_flow *flow;
    const mel_study *study;
    const mel_problem *problem;
    mel_session *session;
    mel_metric *metric;
    mel_summary summary;
} finding;

static mel_status put(json_t *object, const char *key, json_t *value, mel_error *err)
{
    return json_object_set_new(object, key, value) == 0 ? MEL_OK : mel_fail_memory(err, "the result");
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

/* Takes the list over, and puts it in unless something is missing from it. */
static mel_status put_list(finding *f, const char *key, json_t *list, bool whole, mel_error *err)
{
    if (whole)
        return put(f->out, key, list, err);
    json_decref(list);
    return mel_fail_memory(err, "the result");
}

static bool say(json_t *list, const char *sentence)
{
    return json_array_append_new(list, json_string(sentence)) == 0;
}

static mel_status put_words(finding *f, mel_error *err)
{
    char *words = NULL;
    const mel_status status = mel_metric_words(&words, f->metric, err);
    if (status != MEL_OK)
        return status;
    json_t *list = json_array();
    bool whole = say(list, words);
    if (f->summary.finding != MEL_FINDING_NONE)
        whole = say(list, mel_finding_text(f->summary.finding)) && whole;
    free(words);
    return put_list(f, "words", list, whole, err);
}

static bool is_open(double low, double high)
{
    return !(low > 0.0 && high <= 3.0 * low);
}

/* What is not known, in sentences. */
static mel_status put_open(finding *f, mel_error *err)
{
    json_t *list = json_array();
    bool whole = list != NULL;
    char text[320];
    mel_cost_ratio ratio;
    if (mel_metric_cost_ratio(&ratio, f->metric, NULL) == MEL_OK && is_open(ratio.low, ratio.high)) {
        (void)snprintf(text, sizeof text,
                       "How the two mistakes compare is known only roughly: anything from %.2g to %.2g fits "
                       "your answers.",
                       ratio.low, ratio.high);
        whole = say(list, text) && whole;
    }
    if (f->summary.end == MEL_END_BUDGET && f->summary.radius > f->study->options.tolerance) {
        (void)snprintf(text, sizeof text,
                       "The questions ended before every number was as sure as wanted: each is known to "
                       "about %.2g, and %.2g "
                       "was asked for.",
                       f->summary.radius, f->study->options.tolerance);
        whole = say(list, text) && whole;
    }
    if (f->summary.end == MEL_END_NOISE)
        whole =
            say(list, "More questions would not help: answers to pairs this close are a matter of chance.") &&
            whole;
    return put_list(f, "open", list, whole, err);
}

static mel_status put_metric(finding *f, mel_error *err)
{
    char *text = NULL;
    const mel_status status = mel_metric_to_json(&text, f->metric, err);
    if (status != MEL_OK)
        return status;
    json_t *metric = mel_stored_json(text);
    free(text);
    return put(f->out, "metric", metric, err);
}

/* The name of a coordinate of one group: a mistake, or a right decision. */
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
    if (text.status == MEL_OK)
        return text.data;
    mel_buffer_free(&text);
    return NULL;
}

/* The weights of everybody's mistakes or right decisions. */
static mel_status put_weights(finding *f, mel_error *err)
{
    mel_layout one = *mel_metric_layout(f->metric);
    one.n_groups = 0;
    const size_t n = mel_layout_size(&one);
    const double *a = mel_metric_numerator(f->metric, NULL);
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; i < n && n <= MOST_WEIGHTS && a != NULL && good; i++) {
        double low = NAN, high = NAN;
        (void)mel_metric_interval(f->metric, i, &low, &high);
        char *name = coordinate_name(f, i);
        good = name != NULL && json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "name", name,
                                                                     "value", number(a[i]), "low",
                                                                     number(low), "high", number(high))) == 0;
        free(name);
    }
    if (!good) {
        json_decref(list);
        return mel_fail_memory(err, "the result");
    }
    const double lambda = mel_metric_lambda(f->metric);
    mel_status status = put(f->out, "weights", list, err);
    if (status == MEL_OK && isfinite(lambda)) {
        double low = NAN, high = NAN;
        (void)mel_metric_interval(f->metric, mel_metric_coefficients(f->metric) - 1, &low, &high);
        status = put(f->out, "lambda", interval(lambda, low, high), err);
    }
    return status;
}

/* --- two classes -------------------------------------------------------------------------------- */

static mel_status put_ratio(finding *f, mel_error *err)
{
    mel_cost_ratio ratio;
    if (mel_metric_cost_ratio(&ratio, f->metric, NULL) != MEL_OK)
        return MEL_OK; /* not a linear metric */
    char *missed = mel_mistake_name(f->problem, f->study->words, 1, 0, false);
    char *alarms = mel_mistake_name(f->problem, f->study->words, 0, 1, true);
    json_t *object = interval(ratio.ratio, ratio.low, ratio.high);
    const bool good = missed != NULL && alarms != NULL &&
                      json_object_set_new(object, "missed", json_string(missed)) == 0 &&
                      json_object_set_new(object, "false_alarms", json_string(alarms)) == 0;
    free(missed);
    free(alarms);
    if (!good) {
        json_decref(object);
        return mel_fail_memory(err, "the result");
    }
    mel_status status = put(f->out, "ratio", object, err);
    double threshold = NAN;
    if (status == MEL_OK && mel_metric_threshold(&threshold, f->metric, NULL) == MEL_OK) {
        /* The threshold falls as the ratio grows: 1/(1 + ratio). */
        object = interval(threshold, 1.0 / (1.0 + ratio.high), 1.0 / (1.0 + ratio.low));
        if (json_object_set_new(object, "positive", json_string(f->problem->class_name[1])) != 0) {
            json_decref(object);
            return mel_fail_memory(err, "the result");
        }
        status = put(f->out, "threshold", object, err);
    }
    return status;
}

static json_t *pair_json(mel_point point)
{
    return json_pack("[f, f]", point.tp, point.tn);
}

/* What holds for the data at hand is read off the face as it was measured, not off the smoothed one. */
static const mel_face *measured_face(const finding *f)
{
    return f->problem->measured != NULL ? f->problem->measured : f->problem->domain.face;
}

static mel_status best_vertex(mel_point *out, const finding *f, mel_error *err)
{
    const mel_face *face = measured_face(f);
    *out = mel_face_vertex(face, 0);
    for (size_t i = 1; i < mel_face_vertices(face); i++) {
        const mel_point other = mel_face_vertex(face, i);
        double difference = 0.0;
        const mel_status status = mel_metric_compare(&difference, f->metric, (double[]){ other.tp, other.tn },
                                                     (double[]){ out->tp, out->tn }, err);
        if (status != MEL_OK)
            return status;
        if (difference > 0.0)
            *out = other;
    }
    return MEL_OK;
}

static mel_status put_face(finding *f, mel_point best, mel_error *err)
{
    const mel_face *face = measured_face(f);
    const size_t n = mel_face_vertices(face), step = n > MOST_HULL ? n / MOST_HULL + 1 : 1;
    json_t *hull = json_array();
    bool good = hull != NULL;
    for (size_t i = 0; i < n && good; i += step)
        good = json_array_append_new(hull, pair_json(mel_face_vertex(face, i))) == 0;
    if (!good) {
        json_decref(hull);
        return mel_fail_memory(err, "the result");
    }
    return put(f->out, "face",
               json_pack("{s:o, s:o, s:f, s:f}", "hull", hull, "best", pair_json(best), "positives",
                         mel_face_positives(face), "negatives", mel_face_negatives(face)),
               err);
}

static mel_status add_effect(json_t *list, const finding *f, const char *name, mel_point point,
                             mel_error *err)
{
    uint32_t people = 0;
    json_t *counts = mel_counts_to_json((double[]){ point.tp, point.tn }, mel_metric_layout(f->metric),
                                        f->problem, &people, err);
    if (counts == NULL)
        return MEL_ENOMEM;
    double value = NAN;
    (void)mel_metric_value(&value, f->metric, (double[]){ point.tp, point.tn }, NULL);
    return json_array_append_new(list, json_pack("{s:s, s:o, s:I, s:o}", "name", name, "counts", counts,
                                                 "people", (json_int_t)people, "value", number(value))) == 0
               ? MEL_OK
               : mel_fail_memory(err, "the result");
}

static mel_status put_effect(finding *f, mel_point best, mel_error *err)
{
    json_t *list = json_array();
    const mel_point half = mel_face_rule(measured_face(f), (mel_rule){ .threshold = 0.5 });
    mel_status status = list != NULL ? add_effect(list, f, "best for your metric", best, err) : MEL_ENOMEM;
    if (status == MEL_OK)
        status = add_effect(list, f, "threshold 0.5", half, err);
    if (status != MEL_OK) {
        json_decref(list);
        return status;
    }
    return put(f->out, "effect", list, err);
}

static mel_status put_neighbours(finding *f, mel_error *err)
{
    double *a = mel_alloc(4 * (size_t)PAIRS, sizeof *a);
    if (a == NULL)
        return mel_fail_memory(err, "the result");
    double *b = a + 2 * (size_t)PAIRS;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t i = 0; i < 2 * (size_t)PAIRS; i++) {
        const mel_point point = mel_face_random(f->problem->domain.face, &rng);
        a[2 * i] = point.tp;
        a[2 * i + 1] = point.tn;
    }
    mel_neighbour near[NEIGHBOURS];
    size_t n = 0;
    const mel_status status = mel_metric_neighbours(
        near, NEIGHBOURS, &n, f->metric, mel_face_positives(f->problem->domain.face), PAIRS, a, b, err);
    free(a);
    if (status != MEL_OK)
        return status;
    json_t *list = json_array();
    bool whole = list != NULL;
    for (size_t i = 0; i < n && whole; i++)
        whole = json_array_append_new(
                    list, json_pack("{s:s, s:f}", "name", near[i].name, "agreement", near[i].agreement)) == 0;
    return put_list(f, "neighbours", list, whole, err);
}

static mel_status put_planar(finding *f, mel_error *err)
{
    mel_point best = { 0 };
    mel_status status = put_ratio(f, err);
    if (status == MEL_OK)
        status = best_vertex(&best, f, err);
    if (status == MEL_OK)
        status = put_face(f, best, err);
    if (status == MEL_OK)
        status = put_effect(f, best, err);
    return status == MEL_OK ? put_neighbours(f, err) : status;
}

/* --- how sure, and how to use it ---------------------------------------------------------------- */

/* Where answers may be flipped, by the evidence against coin tosses. */
static const char *flipped_text(const mel_summary *s)
{
    if (!isfinite(s->consistency))
        return "not known";
    if (s->consistency < 0.05)
        return "your answers do not hang together: coin tosses would explain them better than a metric of "
               "this "
               "kind with some wrong answers";
    if (fabs(s->evidence) < 1.0)
        return s->repeats_agreed < s->repeats
                   ? "there is not enough yet to tell whether your answers are consistent"
                   : "too few questions came back to rule out chance";
    return s->evidence > 0.0 ? "your answers hang together: a metric of this kind explains them better than "
                               "coin tosses would"
                             : "it is doubtful whether your answers hang together: coin tosses would explain "
                               "them better than a metric of this kind";
}

static const char *contradictions_text(const mel_summary *s)
{
    return !isfinite(s->consistency) ? "not known"
           : s->consistency >= 0.2   ? "your answers hang together well"
           : s->consistency >= 0.05  ? "some answers contradict each other"
                                     : "your answers contradict each other more often than was allowed for";
}

static mel_status put_sure(finding *f, mel_error *err)
{
    const mel_summary *s = &f->summary;
    const char *text = isfinite(s->evidence) ? flipped_text(s) : contradictions_text(s);
    mel_status status =
        put(f->out, "consistency",
            json_pack("{s:o, s:s, s:I, s:I, s:I}", "p", number(s->consistency), "text", text, "contradicted",
                      (json_int_t)s->disagreements, "repeats", (json_int_t)s->repeats, "repeats_agreed",
                      (json_int_t)s->repeats_agreed),
            err);
    mel_agreed agreed;
    if (status == MEL_OK)
        status = mel_flow_agreed(&agreed, f->flow, err);
    if (status != MEL_OK || agreed.n == 0)
        return status;
    json_t *object =
        json_pack("{s:I, s:I}", "of", (json_int_t)agreed.n, "elicited", (json_int_t)agreed.elicited);
    bool whole = true;
    if (agreed.planar)
        whole = json_object_set_new(object, "accuracy", json_integer((json_int_t)agreed.accuracy)) == 0 &&
                json_object_set_new(object, "f1", json_integer((json_int_t)agreed.f1)) == 0;
    if (agreed.planar && isfinite(mel_flow_guess(f->flow)))
        whole = whole && json_object_set_new(object, "guess", json_integer((json_int_t)agreed.guess)) == 0;
    return put_list(f, "agreement", object, whole, err);
}

static mel_status put_use(finding *f, mel_error *err)
{
    const json_t *threshold = json_object_get(json_object_get(f->out, "threshold"), "value");
    char text[600];
    if (json_is_number(threshold))
        (void)snprintf(
            text, sizeof text,
            "# probabilities of \"%s\" from any model\ndecision = model.predict_proba(X)[:, 1] >= %.4g\n",
            f->problem->class_name[1], json_number_value(threshold));
    else
        (void)snprintf(text, sizeof text,
                       "# with the metric file that you can download here\n"
                       "import subprocess\nsubprocess.run([\"melicit\", \"rank\", \"--metric\", "
                       "\"metric.json\", \"--pool\", \"classifiers.csv\"])\n");
    return put(f->out, "python", json_string(text), err);
}

mel_status mel_result_json(json_t **out, mel_flow *flow, const mel_study *study, const mel_problem *problem,
                           mel_error *err)
{
    *out = NULL;
    finding f = { .flow = flow, .study = study, .problem = problem, .session = mel_flow_session(flow) };
    mel_status status = mel_session_result(&f.metric, &f.summary, f.session, err);
    f.out = json_object();
    if (status == MEL_OK)
        status = put(f.out, "questions", json_integer((json_int_t)f.summary.questions), err);
    if (status == MEL_OK)
        status = put_words(&f, err);
    if (status == MEL_OK)
        status = put_open(&f, err);
    if (status == MEL_OK)
        status = put_metric(&f, err);
    if (status == MEL_OK)
        status = put_weights(&f, err);
    if (status == MEL_OK && problem->domain.face != NULL)
        status = put_planar(&f, err);
    if (status == MEL_OK)
        status = put_sure(&f, err);
    if (status == MEL_OK)
        status = put_use(&f, err);
    mel_metric_free(f.metric);
    if (status == MEL_OK)
        *out = f.out;
    else
        json_decref(f.out);
    return status;
}

mel_status mel_result_of_metric(json_t **out, mel_metric *metric, const mel_study *study,
                                const mel_problem *problem, mel_error *err)
{
    *out = NULL;
    finding f = { .out = json_object(), .study = study, .problem = problem, .metric = metric };
    mel_status status = put_words(&f, err);
    if (status == MEL_OK)
        status = put_weights(&f, err);
    if (status == MEL_OK && problem->domain.face != NULL)
        status = put_ratio(&f, err);
    if (status == MEL_OK)
        *out = f.out;
    else
        json_decref(f.out);
    return status;
}
