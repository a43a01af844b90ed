/* Outcomes: the numbers of sessions whose results are known, what is said about them and what is not, and
 * that JSON says the same. */
#include "support/test.h"

#include "base/json.h"
#include "metric/shared.h"
#include "outcome/outcome.h"
#include "outcome/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[] = { "healthy", "cancer" };

typedef struct {
    mel_face *face;
    mel_metric *truth;
    mel_session *session;
} fixture;

/* Nine rows: from 0.4 up all four positives are found with two false alarms, from 0.7 up three with none. */
static void open_fixture(fixture *f, const mel_session_options *opt, double m11, double m00)
{
    static const double score[] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 };
    static const uint8_t role[] = { 0, 0, 0, 1, 0, 0, 1, 1, 1 };
    static const mel_layout layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 };
    mel_error err;
    assert_ok(mel_face_from_scores(&f->face, COUNT(score), score, role, NULL, &err), &err);
    assert_ok(mel_metric_linear(&f->truth, MEL_FAMILY_LINEAR, &layout, class_names, MEL_UTILITY,
                                (double[]){ m11, m00 }, &err),
              &err);
    assert_ok(mel_session_new(&f->session, &(mel_domain){ .face = f->face }, opt, &err), &err);
}

static void answer(fixture *f, size_t most)
{
    mel_simulated_options sim;
    mel_oracle *oracle = NULL;
    mel_error err;
    bool done = false;
    mel_simulated_options_init(&sim);
    assert_ok(mel_oracle_simulated(&oracle, f->truth, &sim, &err), &err);
    for (size_t i = 0; i < most && !done; i++) {
        const mel_question *question = NULL;
        mel_reply reply;
        assert_ok(mel_session_ask(&question, &done, f->session, &err), &err);
        if (done)
            break;
        assert_ok(mel_oracle_ask(&reply, oracle, question, &err), &err);
        assert_ok(mel_session_tell(f->session, question->number, (mel_answer)reply, NAN, &err), &err);
    }
    mel_oracle_free(oracle);
}

static void close_fixture(fixture *f)
{
    mel_session_free(f->session);
    mel_metric_free(f->truth);
    mel_face_free(f->face);
}

static mel_session_options options(void)
{
    mel_session_options opt;
    mel_session_options_init(&opt);
    opt.class_names = class_names;
    return opt;
}

static mel_outcome *outcome_of(fixture *f, const mel_outcome_options *opt)
{
    mel_outcome *o = NULL;
    mel_error err;
    assert_ok(mel_outcome_of_session(&o, f->session, opt, &err), &err);
    return o;
}

/* What is said about a finding; NULL: nothing. */
static const mel_statement *said(const mel_outcome *o, const char *key)
{
    for (size_t i = 0; i < o->n_statements; i++)
        if (strcmp(o->statements[i].key, key) == 0)
            return &o->statements[i];
    return NULL;
}

/* ---- numbers ---- */

static void test_two_classes(void **state)
{
    (void)state;
    fixture f = { NULL, NULL, NULL };
    const mel_session_options opt = options();
    mel_outcome_options about;
    open_fixture(&f, &opt, 3.0, 1.0);
    answer(&f, 100);
    mel_outcome_options_init(&about);
    about.missed = "missed ox";
    about.missed_plural = "missed oxen";
    about.people = "patients";
    about.rows = 9;
    mel_outcome *o = outcome_of(&f, &about);
    assert_int_equal(o->summary.end, MEL_END_TOLERANCE);
    assert_true(o->cost.low <= 3.0 && o->cost.high >= 3.0 && o->cost.high < 1.3 * o->cost.low);
    assert_close(o->threshold.value, 1.0 / (1.0 + o->cost.value), 1e-12);
    assert_close(o->threshold.low, 1.0 / (1.0 + o->cost.high), 1e-12);
    assert_close(o->threshold.high, 1.0 / (1.0 + o->cost.low), 1e-12);
    assert_int_equal(o->n_decisions, 2);
    const mel_decision *best = &o->decisions[0], *accurate = &o->decisions[1];
    assert_close(best->missed.value, 0.0, 1e-9);
    assert_close(best->false_alarms.value, 2000.0 / 9.0, 1e-9);
    assert_close(accurate->missed.value, 1000.0 / 9.0, 1e-9);
    assert_close(accurate->false_alarms.value, 0.0, 1e-9);
    /* Wilson's interval of 0 of 9: up to z^2/(9 + z^2). */
    assert_close(best->missed.low, 0.0, 1e-9);
    assert_close(best->missed.high, 1000.0 * 3.8414588 / 12.8414588, 1e-3);
    assert_string_equal(best->words, "predict cancer when its probability is at least 0.4");
    assert_string_equal(best->effect, "0 missed oxen and 222 false alarms");
    assert_string_equal(accurate->effect, "111 missed oxen and 0 false alarms");
    assert_string_equal(o->change, "111 fewer missed oxen and 222 more false alarms");
    assert_string_equal(best->weighs, "as much as 222 false alarms");
    const double weight = o->cost.value * 111.0; /* whole people */
    assert_close(strtod(accurate->weighs + strlen("as much as "), NULL), weight, 0.51);
    const double *m = mel_metric_numerator(o->metric, NULL);
    assert_close(best->value, m[0] * 4.0 / 9.0 + m[1] * 3.0 / 9.0, 1e-12);
    assert_int_equal(o->n_coefficients, 2);
    assert_string_equal(o->coefficients[0].symbol, "m11");
    assert_string_equal(o->coefficients[1].meaning, "healthy recognised (TN)");
    assert_close(o->coefficients[1].number.value, m[1], 0.0);
    assert_close(o->weights[0].share.value, m[0] / (m[0] + m[1]), 1e-12);
    assert_int_equal(o->n_closest, 3);
    assert_memory_equal(o->closest[0].name, "weighted accuracy", 17);
    assert_true(o->closest[0].agreement >= o->closest[1].agreement);
    assert_int_equal(o->n_ratios, 1);
    assert_close(o->ratios[0].ratio.ratio, 1.0 / o->cost.value, 1e-12);
    assert_memory_equal(o->words, "One missed ox counts as much as ", 32);
    assert_string_equal(said(o, "words")->text, o->words);
    assert_string_equal(said(o, "contradictions")->text, "The metric agrees with every answer.");
    assert_null(said(o, "cost"));
    /* Never, from 0.7 on, from 0.4 on; the first is best for nobody who counts a miss more than nothing. */
    assert_int_equal(o->n_settings, 2);
    assert_int_equal(o->best_setting, 1);
    assert_close(o->settings[0].threshold, 0.7, 0.0);
    assert_close(o->settings[1].threshold, 0.4, 0.0);
    assert_close(o->settings[1].ratio_low, 2.0, 1e-9);
    assert_true(isinf(o->settings[1].ratio_high) && o->settings[1].fits && !o->settings[0].fits);
    assert_close(o->settings[1].false_alarms, 223.0, 0.0); /* 556 - 333, as in questions */
    assert_close(o->settings[0].cost, 1000.0 / 9.0 * o->cost.value, 1e-9);
    assert_close(o->usual_setting.threshold, 0.5, 0.0);
    assert_close(o->usual_setting.missed, 111.0, 0.0);
    assert_close(o->usual_setting.false_alarms, 223.0, 0.0);
    assert_int_equal(o->setting_people, 1000);
    assert_int_equal(o->setting_positives, 444);
    assert_int_equal(o->n_calls, 3);
    assert_non_null(strstr(said(o, "sampling")->text, "chosen on the same rows"));
    mel_outcome_free(o);
    close_fixture(&f);
}

/* Statements come by topic, whatever is known. */
static void test_sessions_on_the_way(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        mel_strategy strategy;
        mel_noise_kind assume;
        uint32_t most;
        size_t answers;
        const char *key, *says, *absent;
    } rows[] = {
        { "no answers", MEL_STRATEGY_ACTIVE, MEL_NOISE_NONE, 200, 0, "end",
          "The session is not finished: 0 questions answered so far.", "repeats" },
        { "wide", MEL_STRATEGY_ACTIVE, MEL_NOISE_NONE, 200, 1, "cost", "is known only roughly", "errors" },
        { "budget", MEL_STRATEGY_ACTIVE, MEL_NOISE_FLIP, 3, 9, "end",
          "The session ended after 3 questions, the most allowed.", "at-end" },
        { "errors", MEL_STRATEGY_ACTIVE, MEL_NOISE_FLIP, 9, 9, "errors", "The share of wrong answers is",
          "x" },
        { "nothing is foretold", MEL_STRATEGY_ACTIVE, MEL_NOISE_NONE, 2, 9, "end", "the most allowed",
          "further" },
        { "search", MEL_STRATEGY_SEARCH, MEL_NOISE_NONE, 200, 100, "end",
          "the search ended at an end of its range: its error is unknown", "consistency" },
        { "half a search", MEL_STRATEGY_SEARCH, MEL_NOISE_NONE, 200, 2, "end", "is not finished: 2 questions",
          "further" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        fixture f = { NULL, NULL, NULL };
        mel_session_options opt = options();
        print_message("  %s\n", rows[i].name);
        opt.strategy = rows[i].strategy;
        opt.assume.kind = rows[i].assume;
        opt.max_questions = rows[i].most;
        open_fixture(&f, &opt, 1.0, 1.5);
        answer(&f, rows[i].answers);
        mel_outcome *o = outcome_of(&f, NULL);
        assert_non_null(said(o, rows[i].key));
        if (strstr(said(o, rows[i].key)->text, rows[i].says) == NULL)
            fail_msg("%s: %s", rows[i].name, said(o, rows[i].key)->text);
        assert_null(said(o, rows[i].absent));
        for (size_t j = 1; j < o->n_statements; j++)
            assert_true(o->statements[j].topic >= o->statements[j - 1].topic);
        assert_int_equal(strstr(o->words, "95%") != NULL && rows[i].strategy == MEL_STRATEGY_SEARCH, 0);
        mel_outcome_free(o);
        close_fixture(&f);
    }
}

static void test_several_classes(void **state)
{
    (void)state;
    static const char *const names[] = { "healthy", "flu", "cold" };
    static const double slope[] = { 1.0, 3.0, 5.0 }, a[] = { 0.2, 0.5, 0.3 };
    const mel_layout layout = { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 };
    mel_space_options so;
    mel_space_options_init(&so);
    so.coordinates = MEL_DIAGONAL;
    fixture f = { NULL, NULL, NULL };
    mel_space *space = NULL;
    mel_session_options opt = options();
    mel_error err;
    opt.family = MEL_FAMILY_DIAGONAL_LINEAR;
    opt.class_names = names;
    opt.max_questions = 12;
    assert_ok(mel_space_from_softmax(&space, 3, slope, &so, &err), &err);
    assert_ok(mel_metric_linear(&f.truth, opt.family, &layout, names, MEL_UTILITY, a, &err), &err);
    assert_ok(mel_session_new(&f.session, &(mel_domain){ .space = space }, &opt, &err), &err);
    answer(&f, 100);
    mel_outcome *o = outcome_of(&f, NULL);
    assert_int_equal(o->n_ratios, 2);
    assert_int_equal(o->ratios[0].of, 1);
    assert_int_equal(o->n_weights, 3);
    assert_string_equal(o->weights[1].name, "flu recognised");
    assert_string_equal(o->weights[1].label, "flu");
    double weight[3], best[3], plain[3];
    memcpy(weight, mel_metric_numerator(o->metric, NULL), sizeof weight);
    assert_ok(mel_space_linear(best, space, weight, &err), &err);
    assert_ok(mel_space_linear(plain, space, (double[]){ 1.0, 1.0, 1.0 }, &err), &err);
    for (size_t i = 0; i < 3; i++) {
        const double share = mel_space_class_share(space)[i];
        assert_close(o->recognised[i].best, best[i] / share, 1e-9);
        assert_close(o->recognised[i].accurate, plain[i] / share, 1e-9);
    }
    assert_int_equal(o->n_decisions, 0);
    assert_true(isnan(o->cost.value) && isnan(o->lambda.value));
    mel_outcome_free(o);
    close_fixture(&f);
    mel_space_free(space);
}

static void test_metric_alone(void **state)
{
    (void)state;
    const mel_layout layout = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
    mel_metric *metric = NULL;
    mel_outcome *o = NULL;
    mel_outcome_options about;
    mel_error err;
    mel_outcome_options_init(&about);
    about.missed = "missed cancer";
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, class_names, MEL_COST,
                                (double[]){ 1.0, 4.0 }, &err),
              &err);
    assert_ok(mel_outcome_of_metric(&o, metric, &about, &err), &err);
    mel_metric_free(metric);
    assert_close(o->weights[1].share.value, 0.8, 1e-12);
    assert_string_equal(o->weights[0].name, "healthy taken for cancer");
    assert_string_equal(o->weights[1].name, "missed cancer");
    assert_int_equal(o->n_statements, 0);
    char *text = NULL;
    assert_ok(mel_outcome_to_json(&text, o, &err), &err);
    assert_null(strstr(text, "questions\":0"));
    free(text);
    mel_outcome_free(o);
    about.struct_size = 0;
    assert_int_equal(mel_outcome_of_metric(&o, NULL, &about, &err), MEL_EINVAL);
    assert_string_equal(err.text, "the outcome options were not initialised");
}

/* ---- JSON ---- */

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void test_json(void **state)
{
    (void)state;
    fixture f = { NULL, NULL, NULL };
    mel_session_options opt = options();
    mel_error err;
    char *text = NULL;
    json_t *json = NULL;
    open_fixture(&f, &opt, 3.0, 1.0);
    answer(&f, 4);
    mel_outcome *o = outcome_of(&f, NULL);
    assert_ok(mel_outcome_to_json(&text, o, &err), &err);
    assert_ok(mel_json_parse(&json, text, strlen(text), &err), &err);
    const json_t *cost = json_object_get(json, "cost_ratio"), *effect = json_object_get(json, "effect");
    assert_close(number_at(cost, "value"), o->cost.value, 0.0);
    assert_close(number_at(json_object_get(json, "threshold"), "value"), o->threshold.value, 0.0);
    assert_int_equal(json_array_size(effect), 2);
    assert_close(number_at(json_array_get(effect, 1), "value"), o->decisions[1].value, 0.0);
    assert_close(number_at(json_object_get(json, "best"), "tp"), o->decisions[0].point.tp, 0.0);
    assert_int_equal(json_array_size(json_object_get(json, "statements")), o->n_statements);
    for (size_t i = 0; i < o->n_statements; i++) {
        const json_t *one = json_array_get(json_object_get(json, "statements"), i);
        assert_string_equal(json_string_value(json_object_get(one, "text")), o->statements[i].text);
        assert_string_equal(json_string_value(json_object_get(one, "about")),
                            mel_topic_name(o->statements[i].topic));
    }
    assert_close(number_at(json_array_get(json_object_get(json, "weights"), 0), "value"),
                 o->coefficients[0].number.value, 0.0);
    assert_close(number_at(json_array_get(json_object_get(json, "closest"), 0), "agreement"),
                 o->closest[0].agreement, 0.0);
    json_decref(json);
    free(text);
    mel_outcome_free(o);
    close_fixture(&f);
}

/* ---- sentences about answers ---- */

static void test_answers(void **state)
{
    (void)state;
    mel_metric *likely = NULL;
    mel_error err;
    assert_ok(mel_metric_named(&likely, "accuracy", 0.5, NULL, &err), &err);
    const struct {
        double consistency, evidence;
        bool prior;
        mel_sign_check signs;
        bool wavered; /* a question that came back got another answer */
        const char *says, *never;
    } rows[] = {
        { 0.01, -3.1, false, MEL_SIGNS_FREE, false, "are not consistent: tossed coins", "beforehand" },
        { 0.01, -3.1, true, MEL_SIGNS_FREE, false, "thought likely beforehand", "doubtful" },
        { 0.09, -1.3, true, MEL_SIGNS_FREE, false, "It is doubtful that", "beforehand" },
        { 0.43, 0.0, false, MEL_SIGNS_FREE, true, "tossed coins explain them about equally well",
          "came back" },
        { 0.43, 0.0, false, MEL_SIGNS_FREE, false, "Too few questions came back", "coins" },
        { 0.2, -0.7, false, MEL_SIGNS_FREE, false, "Too few questions came back", "doubtful" },
        { 1.0, 0.99, false, MEL_SIGNS_FREE, false, "Too few questions came back", "explains them" },
        { 1.0, 7.0, false, MEL_SIGNS_FREE, false, "explains them better than tossed coins", "not enough" },
        { 1.0, NAN, false, MEL_SIGNS_FREE, false, "contradict the metric no more often than expected",
          "coins" },
        { 0.3, NAN, false, MEL_SIGNS_FREE, false,
          "A respondent as assumed would contradict the metric this often", "no more" },
        { 0.01, NAN, true, MEL_SIGNS_FREE, false, "are not consistent: a respondent", "coins" },
        { NAN, NAN, false, MEL_SIGNS_PRESSED, false, "no question has settled that", "are consistent" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_session_options opt = options();
        opt.prior = rows[i].prior ? likely : NULL;
        mel_outcome_work *w = mel_alloc_zero(1, sizeof *w);
        assert_non_null(w);
        w->said.err = &err;
        w->out = (mel_outcome){ .options = &opt,
                                .domain = &(mel_domain){ .face = NULL },
                                .summary = { .questions = 9,
                                             .error_rate = NAN,
                                             .repeats = 2,
                                             .repeats_agreed = rows[i].wavered ? 1 : 2,
                                             .consistency = rows[i].consistency,
                                             .evidence = rows[i].evidence,
                                             .signs = rows[i].signs } };
        mel_outcome_state_answers(w);
        assert_ok(w->said.status, &err);
        char text[4096] = "";
        for (size_t j = 0; j < w->out.n_statements; j++)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", w->out.statements[j].text);
        if (strstr(text, rows[i].says) == NULL || strstr(text, rows[i].never) != NULL)
            fail_msg("row %zu: \"%s\", and not \"%s\", in: %s", i, rows[i].says, rows[i].never, text);
        const mel_statement *verdict = said(&w->out, "consistency");
        assert_int_equal(verdict != NULL && verdict->grave, rows[i].consistency < 0.05);
        mel_outcome_free(&w->out);
    }
    mel_metric_free(likely);
}

static void test_labels(void **state)
{
    (void)state;
    static const struct {
        double consistency, evidence;
        const char *label;
    } rows[] = { { NAN, NAN, NULL },         { 0.01, NAN, "inconsistent" }, { 0.1, NAN, "doubtful" },
                 { 0.5, NAN, "consistent" }, { 0.5, 0.3, "undecided" },     { 0.01, 0.3, "inconsistent" },
                 { 1.0, 4.0, "consistent" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mel_summary s = { .consistency = rows[i].consistency, .evidence = rows[i].evidence };
        const char *label = mel_consistency_label(&s);
        assert_int_equal(label == NULL, rows[i].label == NULL);
        if (label != NULL)
            assert_string_equal(label, rows[i].label);
    }
}

/* ---- coefficients ---- */

static void test_coefficients(void **state)
{
    (void)state;
    static const char *const classes[] = { "healthy", "flu", "cold" }, *const groups[] = { "men", "women" };
    static const char *const coordinates[] = { "x", "y", "z" };
    const mel_layout diagonal = { MEL_CONFUSION, MEL_DIAGONAL, 3, 0 },
                     two = { MEL_RATES, MEL_OFFDIAGONAL, 2, 0 };
    const mel_layout fair = { MEL_RATES, MEL_OFFDIAGONAL, 2, 2 };
    const double a[] = { 0.2, 0.3, 0.5 }, b[] = { 0, 0.1, -0.2 }, even[] = { 0.5, 0.5, 0.5, 0.5 };
    const double square[] = { 1, 2, 2, -3 }, cube[] = { 1, 2, 2, 3, 2, 3, 3, 4 };
    enum { METRICS = 4 };
    mel_metric *metric[METRICS];
    mel_error err;
    assert_ok(mel_metric_fractional(&metric[0], MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL, &diagonal, classes,
                                    MEL_UTILITY, a, 0.0, b, 1.5, &err),
              &err);
    assert_ok(mel_metric_polynomial(&metric[1], 3, &two, classes, MEL_COST,
                                    (const double *const[]){ a, square, cube }, &err),
              &err);
    assert_ok(mel_metric_fair_linear(&metric[2], &fair, classes, groups, a, b, 0.25, even, &err), &err);
    assert_ok(mel_metric_fair_quadratic(&metric[3], &fair, classes, groups, a, square, 0.25, even, &err),
              &err);
    double ends[18];
    for (size_t i = 0; i < COUNT(ends); i++)
        ends[i] = (double)i;
    static const struct {
        size_t metric, most, n, left_out;
        const char *says; /* symbol value meaning @place in the file */
    } rows[] = {
        { 0, 40, 7, 0,
          "a1 0.2 x, above the line @0|a2 0.3 y, above the line @1|a3 0.5 z, above the line @2|b1 0 x, below "
          "the "
          "line @4|b2 0.1 y, below the line @5|b3 -0.2 z, below the line @6|b0 1.5 constant, below the line "
          "@7|" },
        { 1, 40, 9, 0,
          "a1 0.2 x @0|a2 0.3 y @1|B1,1 1 x, squared @2|B1,2 2 x, times y @3|B2,2 -3 y, squared @5|C1,1,1 1 "
          "x, "
          "times x, times x @6|C1,1,2 2 x, times x, times y @7|C1,2,2 3 x, times y, times y @9|C2,2,2 4 y, "
          "times "
          "y, times y @13|" },
        { 1, 4, 4, 5, "a1 0.2 x @0|a2 0.3 y @1|B2,2 -3 y, squared @5|C2,2,2 4 y, times y, times y @13|" },
        { 1, 1, 1, 8, "a2 0.3 y @1|" },
        { 2, 40, 5, 0,
          "a1 0.2 x @0|a2 0.3 y @1|b1 0 between men and women: x @2|b2 0.1 between men and women: y "
          "@3|\xCE\xBB 0.25 differences between groups against mistakes @4|" },
        { 3, 40, 6, 0,
          "a1 0.2 x @0|a2 0.3 y @1|B1,1 1 between men and women: x, squared @2|B1,2 2 between men and women: "
          "x, "
          "times y @3|B2,2 -3 between men and women: y, squared @5|\xCE\xBB 0.25 differences between groups "
          "against mistakes @6|" },
    };
    for (size_t i = 0; i < METRICS; i++)
        assert_ok(mel_metric_set_intervals(metric[i], ends, ends, &err), &err);
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_outcome_work w = { .said = { .err = &err } };
        mel_coefficient found[MEL_OUTCOME_COEFFICIENTS];
        size_t left_out = 0;
        const size_t n = mel_outcome_pick_coefficients(&w, found, &left_out, metric[rows[i].metric],
                                                       coordinates, rows[i].most);
        assert_ok(w.said.status, &err);
        assert_int_equal(n, rows[i].n);
        assert_int_equal(left_out, rows[i].left_out);
        char text[2048] = "";
        size_t used = 0;
        for (size_t j = 0; j < n; j++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %g %s @%g|", found[j].symbol,
                                     found[j].number.value, found[j].meaning, found[j].number.low);
        assert_string_equal(text, rows[i].says);
        mel_sentences_clear(&w.said);
    }
    for (size_t i = 0; i < METRICS; i++)
        mel_metric_free(metric[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_sessions_on_the_way),
        cmocka_unit_test(test_several_classes),
        cmocka_unit_test(test_metric_alone),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_coefficients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
