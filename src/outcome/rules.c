/* What the metric leads to: the best rule and what it does to people, next to what is done today; what a test
 * of two classes can be set to; the well-known metrics that come closest. */
#include "classify/shared.h"
#include "elicit/shared.h"
#include "oracle/counts.h"
#include "outcome/outcome.h"
#include "rank/rank.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PEOPLE = 1000, GRID = 121 };
static const double widest_ratio = 1000.0; /* and its inverse: settings for ratios beyond are the ends */

mel_estimate mel_outcome_out_of(double people, double share, uint64_t n_rows)
{
    const double z = 1.959964, z2 = z * z, n = (double)n_rows, s = fmax(share, 0.0);
    mel_estimate out = { people * s, NAN, NAN };
    if (n_rows == 0)
        return out;
    const double middle = (s + z2 / (2.0 * n)) / (1.0 + z2 / n);
    const double half = z / (1.0 + z2 / n) * sqrt(fmax(s * (1.0 - s), 0.0) / n + z2 / (4.0 * n * n));
    out.low = people * fmax(middle - half, 0.0);
    out.high = people * (middle + half);
    return out;
}

/* --- two classes -------------------------------------------------------------------------------- */

mel_status mel_outcome_direction(double m[2], const mel_metric *metric, mel_point at, mel_error *err)
{
    const double sign = mel_metric_orientation(metric) == MEL_COST ? -1.0 : 1.0;
    TRY(mel_metric_gradient(m, metric, (const double[]){ at.tp, at.tn }, err));
    m[0] *= sign;
    m[1] *= sign;
    return MEL_OK;
}

/* The metric's posterior, where the session has one. */
typedef struct {
    mel_certainty_options opt;
    mel_status status;
} posterior;

static void find_draws(posterior *out, mel_outcome_work *w)
{
    *out = (posterior){ .status = MEL_OK };
    mel_certainty_options_init(&out->opt);
    if (w->session == NULL || mel_outcome_is_search(&w->out) || w->out.rows == 0)
        return;
    out->status = mel_outcome_draws(w);
    out->opt.n_metrics = w->n_draws;
    out->opt.metrics = w->draw;
}

/* How sure the value of a rule is that was measured on rows. A draw may be no metric: then nothing is said.
 */
static void find_interval(mel_outcome_work *w, mel_decision *d, const mel_face *face, const posterior *drawn)
{
    const double rows = (double)w->out.rows, positives = mel_face_positives(face),
                 negatives = mel_face_negatives(face), scale = rows / (positives + negatives);
    const double counts[] = { scale * d->point.tn, scale * fmax(negatives - d->point.tn, 0.0),
                              scale * fmax(positives - d->point.tp, 0.0), scale * d->point.tp };
    mel_certainty found = { 0 };
    mel_measure *measure = NULL;
    mel_status status = drawn->status;
    if (w->out.rows == 0 || isnan(d->value))
        return;
    if (status == MEL_OK)
        status = mel_measure_metric(&measure, w->metric, 2, 0, w->said.err);
    if (status == MEL_OK)
        status = mel_certainty_of(&found, measure, counts, &drawn->opt, w->said.err);
    if (status == MEL_OK) {
        d->value_low = found.both.low;
        d->value_high = found.both.high;
    } else if (status == MEL_ENOMEM) {
        (void)mel_outcome_good(w, status);
    }
    mel_measure_free(measure);
}

static void add_decision(mel_outcome_work *w, const char *name, const mel_classifier *classifier,
                         const posterior *drawn)
{
    const mel_face *face = w->out.domain->face;
    const mel_classifier_parts got = mel_classifier_get(classifier);
    const double people = mel_face_positives(face) + mel_face_negatives(face);
    char *words = NULL;
    if (!mel_outcome_ok(w) || !mel_outcome_good(w, mel_classifier_words(&words, classifier, 0, w->said.err)))
        return;
    mel_decision *d = &w->out.decisions[w->out.n_decisions++];
    *d = (mel_decision){
        .name = name,
        .words = mel_sentences_format(&w->said, "%s", words),
        .rule = got.mixture->rule[0],
        .point = { got.statistics[0], got.statistics[1] },
        .value = NAN,
        .value_low = NAN,
        .value_high = NAN,
    };
    free(words);
    d->missed = mel_outcome_out_of(PEOPLE, (mel_face_positives(face) - d->point.tp) / people, w->out.rows);
    d->false_alarms =
        mel_outcome_out_of(PEOPLE, (mel_face_negatives(face) - d->point.tn) / people, w->out.rows);
    (void)mel_metric_value(&d->value, w->metric, got.statistics, NULL);
    find_interval(w, d, face, drawn);
}

mel_status mel_outcome_name_classifier(mel_outcome_work *w, mel_classifier *classifier)
{
    const mel_session_options *opt = w->out.options;
    const mel_classifier_source source = { .class_name = opt->class_names, .group_name = opt->group_names };
    return mel_classifier_set_source(classifier, &source, w->said.err);
}

static void decide_two_classes(mel_outcome_work *w)
{
    mel_metric *accuracy = NULL;
    mel_classifier *accurate = NULL;
    mel_status status =
        mel_metric_named(&accuracy, "accuracy", mel_face_positives(w->out.domain->face), NULL, w->said.err);
    if (status == MEL_OK)
        status = mel_classifier_best(&accurate, w->out.domain, accuracy, w->said.err);
    if (status == MEL_OK)
        status = mel_outcome_name_classifier(w, accurate);
    if (mel_outcome_good(w, status)) {
        posterior drawn;
        find_draws(&drawn, w);
        add_decision(w, "best for this metric", w->best, &drawn);
        add_decision(w, "best for accuracy", accurate, &drawn);
    }
    mel_classifier_free(accurate);
    mel_metric_free(accuracy);
}

static void find_closest(mel_outcome_work *w)
{
    mel_neighbour near[MEL_OUTCOME_CLOSEST];
    size_t n = 0;
    if (!mel_outcome_ok(w) ||
        !mel_outcome_good(w, mel_closest_metrics(near, MEL_OUTCOME_CLOSEST, &n, w->metric,
                                                 w->out.domain->face, w->said.err)))
        return;
    for (size_t i = 0; i < n; i++)
        w->out.closest[i] = (mel_closest){
            .name = mel_sentences_format(&w->said, "%s", near[i].name),
            .agreement = near[i].agreement,
        };
    w->out.n_closest = n;
}

/* --- several classes ---------------------------------------------------------------------------- */

/* Shares of each class that are recognised, by the best and by the most accurate classifier. */
static void find_recognised(mel_outcome_work *w)
{
    const mel_layout *layout = mel_metric_layout(w->metric);
    const mel_space *space = w->out.domain->space;
    const size_t k = layout->n_classes;
    const double *share = mel_space_class_share(space), *best = mel_classifier_get(w->best).statistics;
    double *point = mel_outcome_room(w, 2 * k, sizeof *point);
    mel_recognised *recognised = mel_outcome_room(w, k, sizeof *recognised);
    for (size_t i = 0; i < k && mel_outcome_ok(w); i++)
        point[k + i] = layout->kind == MEL_RATES ? share[i] : 1.0;
    if (mel_outcome_ok(w))
        (void)mel_outcome_good(w, mel_space_linear(point, space, point + k, w->said.err));
    for (size_t i = 0; i < k && mel_outcome_ok(w); i++) {
        const double whole = layout->kind == MEL_RATES ? 1.0 : share[i];
        recognised[i] =
            (mel_recognised){ best[i] / whole, point[i] / whole, best[i] / whole - point[i] / whole };
    }
    w->out.recognised = recognised;
}

void mel_outcome_find_decisions(mel_outcome_work *w)
{
    if (!mel_outcome_ok(w) || w->out.domain->ball != NULL || w->out.domain->pool != NULL ||
        !mel_classifier_has_best(mel_metric_family(w->metric)))
        return;
    mel_status status = mel_classifier_best(&w->best, w->out.domain, w->metric, w->said.err);
    if (status == MEL_OK)
        status = mel_outcome_name_classifier(w, w->best);
    if (!mel_outcome_good(w, status))
        return;
    const mel_layout *layout = mel_metric_layout(w->metric);
    w->out.best = w->best;
    if (w->out.domain->face != NULL) {
        decide_two_classes(w);
        find_closest(w);
    } else if (layout->coordinates == MEL_DIAGONAL && layout->n_groups < 2 && w->out.n_weights > 0) {
        find_recognised(w);
    }
}

/* --- what a test can be set to --------------------------------------------------------------------- */

static mel_point of_setting(const mel_outcome_work *w, const mel_setting *s)
{
    return mel_face_rule(w->out.domain->face, (mel_rule){ s->threshold, false });
}

/* Out of how many people the questions were. */
static uint32_t people_of(const mel_session *session)
{
    uint32_t people = 0;
    for (uint32_t i = mel_session_answers(session); i-- > 0 && people == 0;)
        people = mel_session_record(session, i).people;
    return people > 0 ? people : PEOPLE;
}

static mel_setting setting_of(const mel_outcome_work *w, double threshold, mel_estimate missed,
                              mel_estimate alarms)
{
    return (mel_setting){ .threshold = threshold,
                          .missed = missed.value,
                          .missed_low = missed.low,
                          .missed_high = missed.high,
                          .false_alarms = alarms.value,
                          .false_alarms_low = alarms.low,
                          .false_alarms_high = alarms.high,
                          .cost = missed.value * w->out.cost.value + alarms.value,
                          .ratio_low = NAN,
                          .ratio_high = NAN };
}

/* Of `size` people of a class, which is this share of all, those who are not decided rightly: the whole
 * numbers that questions show. */
static double shown_wrong(const mel_outcome_work *w, double right, double share, int64_t size)
{
    const uint32_t people = w->out.setting_people;
    int64_t shown = 0, row[2];
    mel_shown_counts(&shown, 1, &right, people);
    const double known = (double)shown / people;
    mel_round_to_total(row, (const double[]){ share - known, known }, 2, size);
    return (double)row[0];
}

static mel_setting make_setting(const mel_outcome_work *w, double threshold)
{
    const mel_face *face = w->out.domain->face;
    const double p = mel_face_positives(face), n = mel_face_negatives(face), people = w->out.setting_people;
    const mel_point point = of_setting(w, &(mel_setting){ .threshold = threshold });
    mel_setting out =
        setting_of(w, threshold, mel_outcome_out_of(people, (p - point.tp) / (p + n), w->out.rows),
                   mel_outcome_out_of(people, (n - point.tn) / (p + n), w->out.rows));
    const int64_t positives = w->out.setting_positives;
    out.missed = shown_wrong(w, point.tp / (p + n), p / (p + n), positives);
    out.false_alarms =
        shown_wrong(w, point.tn / (p + n), n / (p + n), (int64_t)w->out.setting_people - positives);
    return out;
}

/* Decisions that were counted, on rows in which the classes may have other shares: what they do to each class
 * is what counts. */
static mel_setting make_counted(const mel_outcome_work *w, const double count[4])
{
    const mel_face *face = w->out.domain->face;
    const double p = mel_face_positives(face), n = mel_face_negatives(face), people = w->out.setting_people;
    const double negatives = count[0] + count[1], positives = count[2] + count[3];
    return setting_of(w, NAN,
                      mel_outcome_out_of(people * p / (p + n), count[2] / positives, (uint64_t)positives),
                      mel_outcome_out_of(people * n / (p + n), count[1] / negatives, (uint64_t)negatives));
}

static mel_setting make_today(const mel_outcome_work *w)
{
    if (w->about.today_counts != NULL)
        return make_counted(w, w->about.today_counts);
    return make_setting(w, isnan(w->about.today_threshold) ? 0.5 : w->about.today_threshold);
}

static int by_threshold(const void *x, const void *y)
{
    const double a = ((const mel_setting *)x)->threshold, b = ((const mel_setting *)y)->threshold;
    return a > b ? -1 : a < b;
}

/* The settings that are best on a grid of cost ratios, and the metric's own: highest threshold first, each
 * once. */
static void list_settings(mel_outcome_work *w)
{
    const mel_face *face = w->out.domain->face;
    size_t n = 0;
    w->setting = mel_outcome_room(w, GRID + 1, sizeof *w->setting);
    for (size_t i = 0; i < GRID && mel_outcome_ok(w); i++) {
        const double step = 2.0 * (double)i / (GRID - 1) - 1.0;
        mel_rule rule = { 0 };
        if (mel_outcome_good(w,
                             mel_face_support_rule(&rule, face, pow(widest_ratio, step), 1.0, w->said.err)) &&
            !rule.inverted)
            w->setting[n++] = make_setting(w, rule.threshold);
    }
    if (!mel_outcome_ok(w))
        return;
    const double own = w->out.decisions[0].rule.threshold;
    w->setting[n++] = make_setting(w, own);
    qsort(w->setting, n, sizeof *w->setting, by_threshold);
    for (size_t i = 0; i < n; i++)
        if (w->out.n_settings == 0 ||
            w->setting[i].threshold != w->setting[w->out.n_settings - 1].threshold) {
            if (w->setting[i].threshold == own)
                w->out.best_setting = w->out.n_settings;
            w->setting[w->out.n_settings++] = w->setting[i];
        }
    w->out.settings = w->setting;
}

/* For which cost ratios no other setting is better: r TP + TN decides. */
static void find_ratios(mel_outcome_work *w, size_t index)
{
    mel_setting *s = &w->setting[index];
    const mel_point here = of_setting(w, s);
    double low = 0.0, high = INFINITY;
    for (size_t j = 0; j < w->out.n_settings; j++) {
        const mel_point other = of_setting(w, &w->setting[j]);
        const double tp = here.tp - other.tp, tn = other.tn - here.tn;
        if (tp > 0.0)
            low = fmax(low, tn / tp);
        else if (tp < 0.0)
            high = fmin(high, tn / tp);
        else if (tn > 0.0)
            high = -1.0;
    }
    if (!(low <= high))
        return;
    s->ratio_low = low;
    s->ratio_high = high;
    s->fits = isfinite(w->out.cost.value) && low <= w->out.cost.high && high >= w->out.cost.low;
}

void mel_outcome_find_settings(mel_outcome_work *w)
{
    if (!mel_outcome_ok(w) || w->out.n_decisions == 0 || w->out.decisions[0].rule.inverted)
        return;
    const mel_face *face = w->out.domain->face;
    const double p = mel_face_positives(face), n = mel_face_negatives(face);
    w->out.setting_people = people_of(w->session);
    int64_t totals[2];
    mel_round_to_total(totals, (const double[]){ n, p }, 2, w->out.setting_people);
    w->out.setting_positives = (uint32_t)totals[1];
    w->out.usual_setting = make_today(w);
    list_settings(w);
    for (size_t i = 0; i < w->out.n_settings; i++)
        find_ratios(w, i);
}

/* --- several classes or groups: what is done with those of each class in each group ---------------- */

/* What everything here is about. */
typedef struct {
    const mel_space *space;
    const mel_layout *layout;
    size_t k, m, size; /* classes, groups (1: none), statistics of a group */
} about;

/* Rows and columns of a statistic; the same class twice for right decisions. */
static void find_cell(size_t cell[2], const about *a, size_t i)
{
    mel_outcome_find_cell(cell, a->layout, i % a->size);
}

/* How many of all are of this class and in this group. */
static double share_of(const about *a, size_t group, size_t truth)
{
    const double *prevalence = mel_space_prevalence(a->space);
    return mel_space_class_share(a->space)[truth] *
           (prevalence != NULL ? prevalence[group * a->k + truth] : 1.0);
}

/* --- who is decided how ------------------------------------------------------------------------- */

/* A share seen among the rows of the class in the group. */
static mel_estimate seen(const mel_outcome_work *w, const about *a, double share, size_t group, size_t truth)
{
    const double rows = (double)w->out.rows * share_of(a, group, truth);
    return mel_outcome_out_of(1.0, fmin(share, 1.0), (uint64_t)llround(rows));
}

/* Statistics as shares of each true class. What is right is what is no mistake; of the mistakes of right
 * decisions nothing is known beyond two classes. */
static void fill(mel_estimate *out, const mel_outcome_work *w, const about *a, const double *statistics)
{
    const size_t k = a->k;
    const mel_estimate unknown = { NAN, NAN, NAN };
    for (size_t i = 0; i < a->m * k * k; i++)
        out[i] = unknown;
    for (size_t g = 0; g < a->m; g++) {
        for (size_t i = 0; i < a->size; i++) {
            size_t cell[2];
            find_cell(cell, a, i);
            const double of = a->layout->kind == MEL_RATES ? 1.0 : share_of(a, 0, cell[0]);
            out[(g * k + cell[0]) * k + cell[1]] = seen(w, a, statistics[g * a->size + i] / of, g, cell[0]);
        }
        for (size_t truth = 0; truth < k; truth++) {
            mel_estimate *row = out + (g * k + truth) * k;
            double known = 0.0;
            size_t open = 0, last = 0;
            for (size_t j = 0; j < k; j++) {
                open += isnan(row[j].value) ? 1 : 0;
                last = isnan(row[j].value) ? j : last;
                known += isnan(row[j].value) ? 0.0 : row[j].value;
            }
            if (open == 1)
                row[last] = seen(w, a, fmax(1.0 - known, 0.0), g, truth);
        }
    }
}

/* Decisions that were counted, with the rows that they were counted on. */
static void fill_counted(mel_estimate *out, const about *a, const double *count)
{
    for (size_t row = 0; row < a->m * a->k; row++) {
        double total = 0.0;
        for (size_t j = 0; j < a->k; j++)
            total += count[row * a->k + j];
        for (size_t j = 0; j < a->k; j++)
            out[row * a->k + j] =
                mel_outcome_out_of(1.0, count[row * a->k + j] / total, (uint64_t)llround(total));
    }
}

/* --- rules -------------------------------------------------------------------------------------- */

/* The most probable class of each row: the best rule where every decision counts alike. */
static mel_status decide_probable(double *statistics, const about *a, mel_error *err)
{
    double *direction = mel_alloc(a->m * a->size, sizeof *direction);
    if (direction == NULL)
        return mel_fail_memory(err, "the most probable classes");
    for (size_t i = 0; i < a->m * a->size; i++) {
        size_t cell[2];
        find_cell(cell, a, i);
        const double of = a->layout->kind == MEL_RATES ? share_of(a, i / a->size, cell[0]) : 1.0;
        direction[i] = cell[0] == cell[1] ? of : -of;
    }
    const mel_status status = mel_space_linear(statistics, a->space, direction, err);
    free(direction);
    return status;
}

/* The second of two classes from this probability on, in every group: (1 - t) p > t (1 - p), a little below
 * t because a tie goes to the first class. */
static mel_status decide_from(double *statistics, const about *a, double threshold, mel_error *err)
{
    const double t = threshold - 1e-12;
    double *gain = mel_alloc_zero(a->m * 4, sizeof *gain);
    if (gain == NULL)
        return mel_fail_memory(err, "a threshold");
    for (size_t g = 0; g < a->m; g++) {
        gain[4 * g] = t;
        gain[4 * g + 3] = 1.0 - t;
    }
    const mel_status status = mel_space_rule(statistics, a->space, gain, err);
    free(gain);
    return status;
}

static void add(mel_outcome_work *w, const about *a, const char *name, const double *statistics)
{
    mel_estimate *share = mel_outcome_room(w, a->m * a->k * a->k, sizeof *share);
    if (share == NULL)
        return;
    mel_treatment *t = &w->out.treatments[w->out.n_treatments++];
    *t = (mel_treatment){ .name = name, .share = share };
    if (statistics != NULL)
        fill(share, w, a, statistics);
    else
        fill_counted(share, a, w->about.today_counts);
}

static void add_today(mel_outcome_work *w, const about *a)
{
    const bool from = a->k == 2 && isfinite(w->about.today_threshold);
    if (w->about.today_counts != NULL) {
        add(w, a, "decided today", NULL);
        return;
    }
    double *statistics = mel_outcome_room(w, a->m * a->size, sizeof *statistics);
    if (statistics != NULL &&
        mel_outcome_good(w, from ? decide_from(statistics, a, w->about.today_threshold, w->said.err)
                                 : decide_probable(statistics, a, w->said.err)))
        add(w, a, from ? "from the threshold of today on" : "the most probable class", statistics);
}

/* --- the best rule ------------------------------------------------------------------------------ */

/* Beside a ball, too, and of families for which it must be searched. Where none is found nothing is said. */
static void find_best(mel_outcome_work *w, const about *a)
{
    const mel_domain domain = { .space = a->space, .progress = w->out.domain->progress };
    mel_error why;
    mel_status status = mel_classifier_best(&w->best, &domain, w->metric, &why);
    if (status == MEL_OK)
        status = mel_outcome_name_classifier(w, w->best);
    if (status == MEL_ENOMEM || status == MEL_ESTOPPED) {
        if (w->said.err != NULL)
            *w->said.err = why;
        (void)mel_outcome_good(w, status);
    }
    w->out.best = status == MEL_OK ? w->best : NULL;
}

static void list_shares(mel_outcome_work *w, const about *a)
{
    double *treated = mel_outcome_room(w, a->m * a->k, sizeof *treated);
    for (size_t i = 0; treated != NULL && i < a->m * a->k; i++)
        treated[i] = share_of(a, i / a->k, i % a->k);
    w->out.treated = treated;
}

void mel_outcome_find_treatments(mel_outcome_work *w)
{
    const mel_domain *domain = w->out.domain;
    const mel_space *space = domain->ball != NULL ? domain->frontier : domain->space;
    if (!mel_outcome_ok(w) || !w->about.treatments || space == NULL)
        return;
    about a = { .space = space, .layout = mel_space_layout(space) };
    a.k = a.layout->n_classes;
    a.m = a.layout->n_groups > 1 ? a.layout->n_groups : 1;
    a.size = mel_outcome_per_group(w->metric);
    if (a.m > 1 && a.layout->kind != MEL_RATES)
        return; /* entries of groups are shares of what the groups are, which is not kept */
    if (w->out.best == NULL)
        find_best(w, &a);
    if (w->out.best == NULL || !mel_outcome_ok(w))
        return;
    list_shares(w, &a);
    if (mel_outcome_ok(w))
        add(w, &a, "best for this metric", mel_classifier_get(w->out.best).statistics);
    if (mel_outcome_ok(w))
        add_today(w, &a);
}

void mel_outcome_find_refused(mel_outcome_work *w)
{
    const mel_outcome *o = &w->out;
    const double point[] = { o->decisions[0].point.tp, o->decisions[0].point.tn };
    const mel_pool *pool = o->domain->pool;
    const double *best = o->n_order > 0       ? pool->value + o->order[0].place * pool->size
                         : o->n_decisions > 0 ? point
                                              : NULL;
    for (uint32_t i = 0;
         best != NULL && !o->nothing_found && i < mel_session_answers(w->session) && mel_outcome_ok(w); i++) {
        const mel_record r = mel_session_record(w->session, i);
        for (size_t side = 0; side < 2 && r.answer == MEL_ANSWER_NEITHER; side++) {
            double more = 0.0;
            if (mel_metric_compare(&more, w->metric, best, side == 0 ? r.a : r.b, NULL) == MEL_OK)
                w->out.above_refused = fmin(o->above_refused, more);
        }
    }
}
