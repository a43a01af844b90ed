/* One preference in the numbers that others use: thresholds, class weights, the beta of F-beta, a cost
 * matrix, each with its interval and with lines of code that run. */
#include "base/number_text.h"
#include "base/rng.h"
#include "classify/shared.h"
#include "elicit/shared.h"
#include "metric/shared.h"
#include "outcome/outcome.h"
#include "outcome/sheet.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16, MOST_CLASSES = 20, METRIC_DRAWS = 200, MOST_SCORES = 20000 };
/* Ends of a 95% interval of a normal deviate. */
static const double usual_deviates = 1.959964;

/* --- names and numbers in code ------------------------------------------------------------------ */

/* "12", "-0.5": what Python and R read as the number that a column of labels holds. */
static bool is_literal_number(const char *name)
{
    const char *at = name + (*name == '-');
    const size_t whole = strspn(at, "0123456789");
    if (whole == 0 || whole > 15 || (at[0] == '0' && whole > 1))
        return false;
    at += whole;
    if (*at == '.')
        at += 1 + strspn(at + 1, "0123456789");
    return *at == '\0' && at[-1] != '.';
}

/* A class as Python and R both read it. */
static void add_label(mel_buffer *out, const char *name)
{
    if (is_literal_number(name)) {
        mel_buffer_puts(out, name);
        return;
    }
    mel_buffer_puts(out, "\"");
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            mel_buffer_puts(out, "\\");
        mel_buffer_add(out, *at == '\n' ? " " : at, 1);
    }
    mel_buffer_puts(out, "\"");
}

static const char *keep_label(mel_outcome_work *w, size_t i)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_label(&text, mel_metric_class_name(w->metric, i));
    return mel_sentences_keep(&w->said, &text);
}

/* --- the list ----------------------------------------------------------------------------------- */

/* One more, shown with its interval; NULL after a failure. Lines of code are added to it. */
static mel_equivalent *add(mel_outcome_work *w, const char *key, const char *name, mel_estimate number)
{
    const size_t n = w->out.n_equivalents;
    char text[MEL_RANGE_TEXT] = "";
    if (mel_outcome_ok(w) && !mel_grow((void **)&w->equivalent, n + 1, sizeof *w->equivalent))
        (void)mel_outcome_good(w, mel_fail_memory(w->said.err, "the result"));
    if (!mel_outcome_ok(w))
        return NULL;
    if (!isnan(number.value) && !isnan(number.low))
        mel_ratio_text(text, number);
    else if (!isnan(number.value)) /* exact */
        (void)mel_print(text, sizeof text, "%s", mel_digits_significant(number.value, 4).text);
    w->equivalent[n] = (mel_equivalent){ .key = key, .name = name, .number = number };
    w->equivalent[n].text = mel_sentences_format(&w->said, "%s", text);
    w->out.equivalents = w->equivalent;
    w->out.n_equivalents++;
    return &w->equivalent[n];
}

MEL_PRINTF(4, 5)
static void add_code(mel_outcome_work *w, mel_equivalent *to, const char *tool, const char *fmt, ...)
{
    if (to == NULL)
        return;
    mel_buffer line;
    va_list args;
    mel_buffer_init(&line, MOST_TEXT);
    va_start(args, fmt);
    mel_buffer_vprintf(&line, fmt, args);
    va_end(args);
    mel_code_line *code = to->code[0].tool == NULL ? &to->code[0] : &to->code[1];
    *code = (mel_code_line){ tool, mel_sentences_keep(&w->said, &line) };
}

/* --- two classes -------------------------------------------------------------------------------- */

typedef double function_of_ratio(double ratio, const mel_face *face);

static double same(double r, const mel_face *face)
{
    (void)face;
    return r;
}
static double threshold_of(double r, const mel_face *face)
{
    (void)face;
    return 1.0 / (1.0 + r);
}
static double willing_of(double r, const mel_face *face)
{
    (void)face;
    return 1.0 + r;
}
static double benefit_of(double r, const mel_face *face)
{
    (void)face;
    return 1.0 / r;
}

/* F-beta is best at the threshold t with 1/t = min over rules of (beta^2 P + TP + FP)/TP, which grows with
 * beta. It is 1 + r where beta^2 P is the largest r TP - FP. */
static double beta_of(double r, const mel_face *face)
{
    mel_point best;
    if (mel_face_support(&best, face, r, 1.0, NULL) != MEL_OK)
        return NAN;
    const double gain = r * best.tp - (mel_face_negatives(face) - best.tn);
    return sqrt(fmax(gain, 0.0) / mel_face_positives(face));
}

/* The interval is the image of that of the ratio. Where the ratio has no bound there is none. */
static mel_estimate image(mel_estimate ratio, function_of_ratio *f, const mel_face *face, bool falls)
{
    const bool known = !isnan(ratio.low) && !isnan(ratio.high);
    mel_estimate out = { f(ratio.value, face), NAN, NAN };
    if (known) {
        const double low = ratio.low > 0.0 ? f(ratio.low, face)
                           : falls         ? (double)INFINITY
                                           : -(double)INFINITY,
                     high = isfinite(ratio.high) ? f(ratio.high, face)
                            : falls              ? -(double)INFINITY
                                                 : (double)INFINITY;
        out.low = falls ? high : low;
        out.high = falls ? low : high;
    }
    return out;
}

/* The ratios for which no other rule is better than the best one for this ratio. */
static mel_interval same_best(double ratio, const mel_face *face)
{
    mel_point here;
    mel_interval out = { 0.0, INFINITY };
    if (mel_face_support(&here, face, ratio, 1.0, NULL) != MEL_OK)
        return (mel_interval){ NAN, NAN };
    for (size_t i = 0; i < mel_face_vertices(face); i++) {
        const mel_point other = mel_face_vertex(face, i);
        const double tp = here.tp - other.tp, tn = other.tn - here.tn;
        if (tp > 0.0)
            out.low = fmax(out.low, tn / tp);
        else if (tp < 0.0)
            out.high = fmin(out.high, tn / tp);
    }
    return out;
}

/* --- the threshold on these scores -------------------------------------------------------------- */

/* Rows of two classes, made from the scores of a face. */
typedef struct {
    size_t n;
    double *probability, *weight, *count;
    uint32_t *label;
} score_rows;

static mel_status rows_of_face(score_rows *out, const mel_face *face, uint64_t rows, mel_error *err)
{
    size_t n[2] = { 0, 0 };
    double *score = NULL, *weight = NULL;
    *out = (score_rows){ 0 };
    TRY(mel_face_scores(n, &score, &weight, face, MOST_SCORES, err));
    out->n = n[0] + n[1];
    const mel_part parts[] = { { 2 * out->n, { &out->probability } },
                               { out->n, { &out->weight, &out->count } } };
    out->label = mel_alloc_zero(out->n, sizeof *out->label);
    const bool ready = out->label != NULL && mel_parts_new(MEL_PARTS(parts));
    for (size_t i = 0; i < out->n && ready; i++) {
        out->probability[2 * i] = 1.0 - score[i];
        out->probability[2 * i + 1] = score[i];
        out->weight[i] = weight[i];
        out->count[i] = fmax(weight[i] * (double)rows, 1.0);
        out->label[i] = i >= n[0];
    }
    free(score);
    free(weight);
    return ready ? MEL_OK : mel_fail_memory(err, "the rows behind a threshold");
}

/* Ratios that the interval makes likely, as the costs of a metric: evenly spread quantiles. */
static void spread_costs(double *draw, mel_estimate ratio)
{
    const double deviation = log(ratio.high / ratio.low) / (2.0 * usual_deviates);
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t i = 0; i < METRIC_DRAWS; i++) {
        const double r = sqrt(ratio.low * ratio.high) * exp(deviation * mel_rng_normal(&rng)),
                     length = hypot(r, 1.0);
        draw[2 * i] = 1.0 / length;
        draw[2 * i + 1] = r / length;
    }
}

/* Where the calibration curve of these scores crosses 1/(1 + r), with the interval that `melicit apply` gives
 * it: because of the rows, and of the ratio where that has two bounds. Then *regret says what the rule costs
 * more than the best one at most. */
static mel_status find_on_scores(mel_estimate *out, double *regret, const score_rows *from,
                                 mel_estimate ratio, mel_error *err)
{
    double draw[2 * METRIC_DRAWS];
    const double cost[] = { 0.0, 1.0, ratio.value, 0.0 };
    const mel_rule_rows rows = { .n_rows = from->n,
                                 .n_classes = 2,
                                 .probability = from->probability,
                                 .label = from->label,
                                 .weight = from->weight,
                                 .count = from->count };
    MEL_AUTO(mel_metric) *metric = NULL;
    MEL_AUTO(mel_classifier) *found = NULL;
    mel_adjustment curve = { 0 };
    mel_rule_report report = { 0 };
    mel_trust trust = { 0 };
    mel_rule_options opt;
    mel_trust_options sure;
    mel_rule_options_init(&opt);
    mel_trust_options_init(&sure);
    sure.calibrated = true;
    if (ratio.low > 0.0 && isfinite(ratio.high) && ratio.high > ratio.low) {
        spread_costs(draw, ratio);
        sure.n_metrics = METRIC_DRAWS;
        sure.metrics = draw;
    }
    mel_status status = mel_metric_costs(&metric, 2, cost, NULL, err);
    if (status == MEL_OK)
        status = mel_rule_calibrate(&curve, &rows, metric, NULL, &opt, err);
    opt.adjustment = &curve;
    opt.evidence = MEL_BY_MODEL;
    if (status == MEL_OK)
        status = mel_rule_find(&found, &report, &rows, metric, NULL, &opt, err);
    if (status == MEL_OK)
        status = mel_rule_trust(&trust, found, &rows, metric, NULL, &opt, &sure, err);
    if (status == MEL_OK && trust.n_thresholds == 1)
        *out = (mel_estimate){ trust.threshold[0].threshold, trust.threshold[0].both.low,
                               trust.threshold[0].both.high };
    *regret = status == MEL_OK && sure.n_metrics > 0 ? trust.regret : (double)NAN;
    mel_trust_clear(&trust);
    mel_rule_report_clear(&report);
    mel_adjustment_clear(&curve);
    return status;
}

static mel_estimate on_scores(double *regret, mel_outcome_work *w, const mel_face *face, mel_estimate ratio)
{
    mel_estimate out = { NAN, NAN, NAN };
    score_rows rows = { 0 };
    mel_error why = { 0 };
    if (w->out.rows == 0)
        return out;
    mel_status status = rows_of_face(&rows, face, w->out.rows, &why);
    if (status == MEL_OK && rows.n > 0)
        status = find_on_scores(&out, regret, &rows, ratio, &why);
    if (status == MEL_ENOMEM)
        (void)mel_outcome_good(w, mel_fail(w->said.err, status, "%s", why.text));
    free(rows.probability);
    free(rows.label);
    if (ratio.low <= 0.0) /* open sides stay open */
        out.high = INFINITY;
    if (isinf(ratio.high))
        out.low = -INFINITY;
    return out;
}

/* --- two classes, the list ---------------------------------------------------------------------- */

static void add_threshold(mel_outcome_work *w, const char *key, const char *name, mel_estimate number)
{
    const char *positive = keep_label(w, 1), *negative = keep_label(w, 0);
    mel_equivalent *one = add(w, key, name, number);
    add_code(w, one, "scikit-learn",
             "np.where(model.predict_proba(X)[:, list(model.classes_).index(%s)] >= %.6g, %s, %s)", positive,
             number.value, positive, negative);
    add_code(w, one, "R", "ifelse(p >= %.6g, %s, %s)", number.value, positive, negative);
}

static void add_weights(mel_outcome_work *w, mel_estimate ratio, const mel_face *face)
{
    const char *positive = keep_label(w, 1), *negative = keep_label(w, 0);
    mel_equivalent *one = add(w, "class_weight", "class weights for training", ratio);
    add_code(w, one, "scikit-learn", "LogisticRegression(class_weight={%s: 1, %s: %.6g})", negative, positive,
             ratio.value);
    add_code(w, one, "R",
             "glm(y == %s ~ ., data = X, family = quasibinomial, weights = ifelse(y == %s, %.6g, 1))",
             positive, positive, ratio.value);
    one = add(w, "scale_pos_weight", "scale_pos_weight for training", ratio);
    add_code(w, one, "xgboost", "xgboost.XGBClassifier(scale_pos_weight=%.6g)", ratio.value);
    add_code(w, one, "LightGBM", "lightgbm.LGBMClassifier(scale_pos_weight=%.6g)", ratio.value);
    if (face != NULL)
        (void)add(w, "balanced", "cost ratio that class_weight=\"balanced\" assumes",
                  (mel_estimate){ mel_face_negatives(face) / mel_face_positives(face), NAN, NAN });
}

static void add_on_rows(mel_outcome_work *w, mel_estimate ratio, const mel_face *face)
{
    const mel_interval rules = same_best(ratio.value, face);
    mel_equivalent *one = add(w, "beta", "beta of F-beta on these rows", image(ratio, beta_of, face, false));
    if (one != NULL)
        add_code(w, one, "scikit-learn", "make_scorer(fbeta_score, beta=%.6g, pos_label=%s)",
                 one->number.value, keep_label(w, 1));
    w->out.same_beta = (mel_interval){ beta_of(rules.low, face),
                                       isfinite(rules.high) ? beta_of(rules.high, face) : (double)INFINITY };
}

/* In one sentence what is open about the ratio and about the rows. */
static void add_regret(mel_outcome_work *w, double regret)
{
    mel_equivalent *one = add(
        w, "regret", "extra cost of mistakes at that threshold for what may have been meant, at most (95%)",
        (mel_estimate){ regret, NAN, NAN });
    if (one != NULL)
        one->text = mel_sentences_format(&w->said, "%s%%", mel_digits_significant(100.0 * regret, 2).text);
}

static void find_two(mel_outcome_work *w)
{
    const mel_estimate ratio = w->out.cost;
    const mel_face *face = w->out.domain != NULL ? w->out.domain->face : NULL;
    const char *positive = keep_label(w, 1), *negative = keep_label(w, 0);
    (void)add(w, "ratio",
              mel_sentences_format(&w->said, "%s that one %s is worth", w->out.false_alarms, w->out.missed),
              image(ratio, same, NULL, false));
    add_threshold(w, "threshold", "threshold on calibrated probabilities",
                  image(ratio, threshold_of, NULL, true));
    double regret = NAN;
    const mel_estimate scores =
        face != NULL ? on_scores(&regret, w, face, ratio) : (mel_estimate){ NAN, NAN, NAN };
    if (isfinite(scores.value))
        add_threshold(w, "score_threshold", "threshold on these scores", scores);
    if (isfinite(regret))
        add_regret(w, regret);
    (void)add(w, "number_willing_to_test", "number willing to test to find one",
              image(ratio, willing_of, NULL, false));
    const mel_estimate benefit = image(ratio, benefit_of, NULL, true);
    mel_equivalent *one =
        add(w, "net_benefit_weight",
            mel_sentences_format(&w->said, "weight of one %s in net benefit", w->out.false_alarm), benefit);
    add_code(w, one, "NumPy", "np.mean((d == %s) & (y == %s)) - %.6g * np.mean((d == %s) & (y != %s))",
             positive, positive, benefit.value, positive, positive);
    add_code(w, one, "R", "mean(d == %s & y == %s) - %.6g * mean(d == %s & y != %s)", positive, positive,
             benefit.value, positive, positive);
    add_weights(w, ratio, face);
    if (face != NULL)
        add_on_rows(w, ratio, face);
    one = add(w, "cost_matrix", "cost matrix, true classes in rows", (mel_estimate){ NAN, NAN, NAN });
    if (one != NULL)
        one->text = mel_sentences_format(&w->said, "[[0, 1], [%.6g, 0]]", ratio.value);
    add_code(w, one, "scikit-learn",
             "(np.array([[0, 1], [%.6g, 0]]) * confusion_matrix(y, d, labels=[%s, %s])).sum()", ratio.value,
             negative, positive);
    add_code(w, one, "R",
             "sum(matrix(c(0, %.6g, 1, 0), 2) * table(factor(y, c(%s, %s)), factor(d, c(%s, %s))))",
             ratio.value, negative, positive, negative, positive);
}

/* --- several classes ---------------------------------------------------------------------------- */

/* What a weight counts in units of another: of a session by its draws, which know how they move together. */
static mel_estimate in_units_of(mel_outcome_work *w, size_t i, size_t unit)
{
    mel_cost_ratio found = { 1.0, 1.0, 1.0 };
    if (i == unit)
        return (mel_estimate){ 1.0, 1.0, 1.0 };
    mel_status status = mel_metric_weight_ratio(&found, w->metric, i, unit, w->said.err);
    if (status == MEL_OK && w->session != NULL && !mel_outcome_is_search(&w->out)) {
        status = mel_outcome_draws(w);
        if (status == MEL_OK)
            status =
                mel_drawn_ratio_interval(&found, w->n_draws, w->draw_width, w->draw, i, unit, w->said.err);
    }
    (void)mel_outcome_good(w, status);
    return (mel_estimate){ found.ratio, found.low, found.high };
}

/* Cases per unit of a statistic of class i: rates are of the class alone. */
static double per_case(const mel_outcome_work *w, size_t i)
{
    const bool rates = mel_metric_layout(w->metric)->kind == MEL_RATES;
    return rates ? 1.0 / mel_space_class_share(w->out.domain->space)[i] : 1.0;
}

static bool has_costs(const mel_outcome_work *w)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    mel_cost_ratio probe;
    bool costs = layout->n_groups < 2 && layout->coordinates != MEL_BINARY &&
                 layout->n_classes <= MOST_CLASSES && w->out.n_weights > 0 &&
                 mel_family_about(mel_metric_family(w->metric))->sum &&
                 mel_metric_weight_ratio(&probe, w->metric, 0, 1, NULL) == MEL_OK &&
                 (layout->kind == MEL_CONFUSION || (w->out.domain != NULL && w->out.domain->space != NULL));
    for (size_t i = 0; i < w->out.n_weights && costs; i++)
        costs = w->out.weights[i].share.value > 0.0;
    return costs;
}

/* Statistic that says what taking class i for j costs. */
static size_t statistic_of(const mel_layout *layout, size_t i, size_t j)
{
    return layout->coordinates == MEL_DIAGONAL ? i : i * (layout->n_classes - 1) + j - (j > i);
}

static void fill_costs(mel_outcome_work *w)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    const size_t k = layout->n_classes;
    size_t unit = 0, unit_class = 0;
    double least = INFINITY;
    w->cost = mel_outcome_room(w, k * k, sizeof *w->cost);
    for (size_t i = 0; i < k && mel_outcome_ok(w); i++)
        for (size_t j = 0; j < k; j++) {
            const size_t s = statistic_of(layout, i, j == i ? (i + 1) % k : j);
            const double here = w->out.weights[s].share.value * per_case(w, i);
            if (here < least) {
                least = here;
                unit = s;
                unit_class = i;
            }
        }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k && mel_outcome_ok(w); j++) {
            if (i == j)
                continue;
            const double scale = per_case(w, i) / per_case(w, unit_class);
            const mel_estimate e = in_units_of(w, statistic_of(layout, i, j), unit);
            w->cost[i * k + j] = (mel_estimate){ e.value * scale, e.low * scale, e.high * scale };
        }
    w->out.costs = mel_outcome_ok(w) ? w->cost : NULL;
}

static void add_matrix(mel_buffer *out, const mel_estimate *cost, size_t k, const char *open, const char *row,
                       const char *close)
{
    mel_buffer_puts(out, open);
    for (size_t i = 0; i < k; i++) {
        mel_buffer_printf(out, "%s%s", i > 0 ? ", " : "", row);
        for (size_t j = 0; j < k; j++)
            mel_buffer_printf(out, "%s%.6g", j > 0 ? ", " : "", cost[i * k + j].value);
        mel_buffer_puts(out, *row != '\0' ? "]" : "");
    }
    mel_buffer_puts(out, close);
}

static const char *keep_matrix(mel_outcome_work *w, size_t k, const char *open, const char *row,
                               const char *close)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_matrix(&text, w->cost, k, open, row, close);
    return mel_sentences_keep(&w->said, &text);
}

static const char *keep_classes(mel_outcome_work *w, size_t k)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    for (size_t i = 0; i < k; i++) {
        mel_buffer_puts(&text, i > 0 ? ", " : "");
        add_label(&text, mel_metric_class_name(w->metric, i));
    }
    return mel_sentences_keep(&w->said, &text);
}

/* Whether mistakes about a class cost the same, whatever it is taken for. */
static bool equal_in_rows(const mel_outcome_work *w, size_t k)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            if (i != j && w->cost[i * k + j].value != w->cost[i * k + (i + 1) % k].value)
                return false;
    return true;
}

static const char *keep_class_weights(mel_outcome_work *w, size_t k)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    for (size_t i = 0; i < k; i++) {
        mel_buffer_puts(&text, i > 0 ? ", " : "{");
        add_label(&text, mel_metric_class_name(w->metric, i));
        mel_buffer_printf(&text, ": %.6g", w->cost[i * k + (i + 1) % k].value);
    }
    mel_buffer_puts(&text, "}");
    return mel_sentences_keep(&w->said, &text);
}

static void find_costs(mel_outcome_work *w)
{
    const size_t k = mel_metric_layout(w->metric)->n_classes;
    const mel_estimate none = { NAN, NAN, NAN };
    fill_costs(w);
    if (!mel_outcome_ok(w))
        return;
    const char *matrix = keep_matrix(w, k, "[", "[", "]"), *classes = keep_classes(w, k);
    mel_equivalent *one = add(w, "cost_matrix", "cost matrix, true classes in rows", none);
    if (one != NULL)
        one->text = matrix;
    add_code(w, one, "NumPy", "np.array([%s])[np.argmin(P @ np.array(%s), axis=1)]", classes, matrix);
    add_code(w, one, "R", "c(%s)[apply(P %%*%% %s, 1, which.min)]", classes,
             keep_matrix(w, k, "matrix(c(", "", mel_sentences_format(&w->said, "), %zu, byrow = TRUE)", k)));
    if (!equal_in_rows(w, k))
        return;
    const char *weights = keep_class_weights(w, k);
    one = add(w, "class_weight", "class weights for training", none);
    if (one != NULL)
        one->text = weights;
    add_code(w, one, "scikit-learn", "LogisticRegression(class_weight=%s)", weights);
}

void mel_outcome_find_equivalents(mel_outcome_work *w)
{
    if (!mel_outcome_ok(w) || w->out.headline.kind == MEL_HEADLINE_UNSETTLED)
        return;
    if (isfinite(w->out.cost.value) && w->out.cost.value > 0.0)
        find_two(w);
    else if (has_costs(w))
        find_costs(w);
    if (w->out.n_equivalents > 0)
        w->out.equivalents_note =
            "Thresholds are for decisions, weights for training a model anew, whose scores are then shifted "
            "and whose cut is one half: use one of the two, not both.";
}

/* --- JSON --------------------------------------------------------------------------------------- */

static json_t *triple(mel_estimate e)
{
    return json_pack("[o, o, o]", mel_sheet_number(e.value), mel_sheet_number(e.low),
                     mel_sheet_number(e.high));
}

static json_t *lines_json(mel_sheet *s, const mel_outcome *o)
{
    json_t *list = json_array();
    for (size_t i = 0; i < o->n_equivalents; i++) {
        const mel_equivalent *e = &o->equivalents[i];
        mel_sheet one = mel_sheet_new();
        json_t *code = json_array();
        for (size_t c = 0; c < 2 && e->code[c].tool != NULL; c++)
            s->whole = mel_json_add(code, json_pack("{s:s, s:o}", "tool", e->code[c].tool, "line",
                                                    mel_sheet_text(e->code[c].line))) &&
                       s->whole;
        mel_sheet_put(&one, "key", json_string(e->key));
        mel_sheet_put(&one, "name", mel_sheet_text(e->name));
        mel_sheet_put(&one, "text", mel_sheet_text(e->text));
        mel_sheet_put(&one, "code", code);
        mel_sheet_add(s, list, &one);
    }
    return list;
}

static void put_two(mel_sheet *s, const mel_outcome *o)
{
    for (size_t i = 0; i < o->n_equivalents; i++) {
        const mel_equivalent *e = &o->equivalents[i];
        const bool plain = strcmp(e->key, "balanced") == 0 || strcmp(e->key, "regret") == 0;
        if (plain)
            mel_sheet_put(s, e->key, mel_sheet_number(e->number.value));
        else if (!isnan(e->number.value) && strcmp(e->key, "class_weight") != 0)
            mel_sheet_put(s, e->key, triple(e->number));
    }
    mel_sheet weights = mel_sheet_new();
    mel_sheet_put(&weights, mel_metric_class_name(o->metric, 0), json_integer(1));
    mel_sheet_put(&weights, mel_metric_class_name(o->metric, 1), mel_sheet_number(o->cost.value));
    mel_sheet_put(s, "class_weight", mel_json_if(weights.whole, weights.object));
    mel_sheet_put(s, "cost_matrix", json_pack("[[i, i], [o, i]]", 0, 1, mel_sheet_number(o->cost.value), 0));
    if (!isnan(o->same_beta.low))
        mel_sheet_put(s, "same_beta", mel_sheet_pair(o->same_beta.low, o->same_beta.high));
}

/* Gains for argmax: what the worst decision about a class costs less what this one does. */
static double gain_at(const mel_outcome *o, size_t k, size_t i, size_t j)
{
    double worst = 0.0;
    for (size_t c = 0; c < k; c++)
        worst = fmax(worst, o->costs[i * k + c].value);
    return worst - o->costs[i * k + j].value;
}

static void put_several(mel_sheet *s, const mel_outcome *o)
{
    const size_t k = mel_metric_layout(o->metric)->n_classes;
    json_t *costs = json_array(), *ranges = json_array(), *gains = json_array();
    for (size_t i = 0; i < k; i++) {
        json_t *row = json_array(), *range = json_array(), *gain = json_array();
        for (size_t j = 0; j < k; j++) {
            const mel_estimate *e = &o->costs[i * k + j];
            s->whole = mel_json_add(row, mel_sheet_number(e->value)) && s->whole;
            s->whole = mel_json_add(range, mel_sheet_pair(e->low, e->high)) && s->whole;
            s->whole = mel_json_add(gain, mel_sheet_number(gain_at(o, k, i, j))) && s->whole;
        }
        s->whole = mel_json_add(costs, row) && s->whole;
        s->whole = mel_json_add(ranges, range) && s->whole;
        s->whole = mel_json_add(gains, gain) && s->whole;
    }
    mel_sheet_put(s, "cost_matrix", costs);
    mel_sheet_put(s, "cost_intervals", ranges);
    mel_sheet_put(s, "gains", gains);
    if (strcmp(o->equivalents[o->n_equivalents - 1].key, "class_weight") != 0)
        return;
    mel_sheet weights = mel_sheet_new();
    for (size_t i = 0; i < k; i++)
        mel_sheet_put(&weights, mel_metric_class_name(o->metric, i), triple(o->costs[i * k + (i + 1) % k]));
    mel_sheet_put(s, "class_weight", mel_json_if(weights.whole, weights.object));
}

static void fill(mel_sheet *s, const mel_outcome *o)
{
    if (o->n_equivalents == 0)
        return;
    if (o->costs != NULL)
        put_several(s, o);
    else
        put_two(s, o);
    mel_sheet_put(s, "lines", lines_json(s, o));
    mel_sheet_put(s, "note", json_string(o->equivalents_note));
}

void mel_sheet_put_equivalents(mel_sheet *s, const mel_outcome *o)
{
    if (o->n_equivalents == 0)
        return;
    mel_sheet one = mel_sheet_new();
    fill(&one, o);
    mel_sheet_put(s, "equivalents", mel_json_if(one.whole, one.object));
}

mel_status mel_outcome_equivalents_json(char **out, const mel_outcome *outcome, mel_error *err)
{
    mel_sheet s = mel_sheet_new();
    fill(&s, outcome);
    return mel_sheet_take(out, &s, err);
}
