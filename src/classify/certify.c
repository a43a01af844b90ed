/* Limits that hold on new rows: some rows choose a list of rules, the others test it by exact binomial
 * bounds, from the safest rule on until one fails (a fixed sequence, which needs no correction). */
#include "base/stat.h"
#include "classify/certainty.h"
#include "classify/goal.h"
#include "classify/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Thresholds that are tried; steps by which limits are tightened to get other rules, of so many deviations.
 */
enum { MOST_THRESHOLDS = 500, TIGHTENED = 33 };
static const double step_of_tightening = 0.25;
/* The share of the rows that certify. */
static const double usual_share = 1.0 / 3.0;
/* How many rows would do: for them to certify with this deviate more than it takes, four times in five. */
static const double power_deviate = 0.84;
/* And the best of many rules looks better than it is, by so many deviations. */
static const double luck = 0.3;

void mel_certify_options_init(mel_certify_options *opt)
{
    *opt = (mel_certify_options){ .struct_size = sizeof *opt, .confidence = 0.95, .share = NAN, .seed = 1 };
}

void mel_certified_clear(mel_certified *certified)
{
    free(certified->limit);
    *certified = (mel_certified){ 0 };
}

/* --- bounds ------------------------------------------------------------------------------------- */

/* Clopper and Pearson: the share at which x or more of n have the probability `level`. n and x may be numbers
 * of equal rows that weighted ones are worth. */
static double lower_bound(double n, double x, double level)
{
    double low = 0.0, high = 1.0;
    if (!(x > 0.0) || !(n > 0.0))
        return 0.0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (mel_beta_inc(x, n - x + 1.0, middle) <= level)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double upper_bound(double n, double x, double level)
{
    return 1.0 - lower_bound(n, n - x, level);
}

/* The deviate that a standard normal number exceeds with this probability. */
static double normal_deviate(double level)
{
    double low = 0.0, high = 40.0;
    for (int i = 0; i < 80; i++) {
        const double middle = 0.5 * (low + high);
        if (1.0 - mel_normal_cdf(middle) > level)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* --- one rule on some rows ---------------------------------------------------------------------- */

/* Weighted decisions about rows, and what their squared weights add up to: m x k x d each. */
typedef struct {
    const mel_trust_work *work;
    const double *counts, *squares;
} tally;

/* A share, as so many of so many equal rows. */
typedef struct {
    double n, x;
} part;

static bool concerns(const mel_limit *limit, const mel_trust_work *w, size_t g, size_t i, size_t j)
{
    return (limit->group == SIZE_MAX || limit->group == g) &&
           (limit->kind != MEL_LIMIT_RECALL || i == limit->class_code) &&
           (limit->kind != MEL_LIMIT_PRECISION || j == limit->class_code) && g < w->m;
}

static bool succeeds(const mel_limit *limit, const mel_trust_work *w, size_t i, size_t j)
{
    switch (limit->kind) {
    case MEL_LIMIT_SHARE:
    case MEL_LIMIT_RECALL:
        return j == limit->class_code;
    case MEL_LIMIT_REFERRED:
        return j == w->k;
    case MEL_LIMIT_PRECISION:
        return i == limit->class_code;
    default:
        return i == j;
    }
}

/* What a limit on a share is about, or only decisions j about it (SIZE_MAX: what the limit counts). */
static part share_of(const mel_limit *limit, const tally *t, size_t decision)
{
    const mel_trust_work *w = t->work;
    double all = 0.0, hits = 0.0, squares = 0.0;
    for (size_t c = 0; c < w->cells; c++) {
        const size_t g = c / (w->k * w->d), i = c / w->d % w->k, j = c % w->d;
        if (!concerns(limit, w, g, i, j))
            continue;
        all += t->counts[c];
        squares += t->squares[c];
        hits += (decision == SIZE_MAX ? succeeds(limit, w, i, j) : j == decision) ? t->counts[c] : 0.0;
    }
    const double n = squares > 0.0 ? all * all / squares : 0.0;
    return (part){ n, all > 0.0 ? n * hits / all : 0.0 };
}

/* Rate of decisions j about class i (k: all rows) in a group. */
static part rate_of(const tally *t, size_t g, size_t i, size_t j)
{
    const mel_limit_kind kind = i < t->work->k ? MEL_LIMIT_RECALL : MEL_LIMIT_SHARE;
    return share_of(&(mel_limit){ .kind = kind, .class_code = i, .group = g }, t, j);
}

/* The bound on a difference between groups, each group with half of the level. A difference that is too large
 * is one of two groups in one rate: to certify all of them takes no further correction. */
static double bound_of_difference(const mel_limit *limit, const tally *t, double level)
{
    const mel_trust_work *w = t->work;
    double most = 0.0;
    for (size_t rate = 0; rate < (w->k + 1) * w->k; rate++) {
        double low = 1.0, high = 0.0;
        for (size_t g = 0; g < w->m && mel_limit_compares(limit, w->k, rate / w->k, rate % w->k); g++) {
            const part p = rate_of(t, g, rate / w->k, rate % w->k);
            low = fmin(low, lower_bound(p.n, p.x, 0.5 * level));
            high = fmax(high, p.n > 0.0 ? upper_bound(p.n, p.x, 0.5 * level) : 1.0);
        }
        most = fmax(most, high - low);
    }
    return most;
}

static double bound_of(const mel_limit *limit, const tally *t, double level)
{
    if (limit->kind >= MEL_LIMIT_ODDS)
        return bound_of_difference(limit, t, level);
    const part p = share_of(limit, t, SIZE_MAX);
    if (!(p.n > 0.0)) /* of nothing nothing is known */
        return limit->at_least ? 0.0 : 1.0;
    return limit->at_least ? lower_bound(p.n, p.x, level) : upper_bound(p.n, p.x, level);
}

static bool keeps(const mel_limit *limit, double bound)
{
    return limit->at_least ? bound >= limit->bound : bound <= limit->bound;
}

/* Slack in standard deviations of chance at the limit; -INFINITY: nothing is known. */
static double slack_of(const mel_limit *limit, const tally *t)
{
    const mel_trust_work *w = t->work;
    const double p = limit->bound;
    if (limit->kind < MEL_LIMIT_ODDS) {
        const part is = share_of(limit, t, SIZE_MAX);
        const double slack = (limit->at_least ? 1.0 : -1.0) * (is.x / fmax(is.n, 1.0) - p);
        return is.n > 0.0 ? slack / sqrt(fmax(p * (1.0 - p), 1e-4) / is.n) : -(double)INFINITY;
    }
    double worst = INFINITY;
    for (size_t rate = 0; rate < (w->k + 1) * w->k; rate++)
        for (size_t g = 0; g < w->m && mel_limit_compares(limit, w->k, rate / w->k, rate % w->k); g++)
            for (size_t h = 0; h < g; h++) {
                const part a = rate_of(t, g, rate / w->k, rate % w->k),
                           b = rate_of(t, h, rate / w->k, rate % w->k);
                const double ra = (a.x + 0.5) / (a.n + 1.0), rb = (b.x + 0.5) / (b.n + 1.0);
                /* half of the level each: the two deviations add up */
                const double deviation =
                    sqrt(ra * (1.0 - ra) / fmax(a.n, 1.0)) + sqrt(rb * (1.0 - rb) / fmax(b.n, 1.0));
                worst = fmin(worst, (p - fabs(ra - rb)) / deviation);
            }
    return worst;
}

/* How safe a rule is: among rules with the same slack, the safer one comes first. */
static double safe_side(const mel_limit *limit, const tally *t)
{
    const mel_trust_work *w = t->work;
    double sum = 0.0;
    for (size_t c = 0; c < w->cells; c++)
        sum += c % w->d == limit->class_code ? t->counts[c] : 0.0;
    if (limit->kind == MEL_LIMIT_RECALL || limit->kind == MEL_LIMIT_SHARE)
        return limit->at_least ? sum : -sum;
    return limit->kind == MEL_LIMIT_PRECISION ? -sum : 0.0;
}

/* --- rows that choose, rows that certify -------------------------------------------------------- */

/* A share of each class in each group certifies, at random; the others choose. */
static mel_status split_rows(mel_taken_rows *choose, mel_taken_rows *test, const mel_rule_rows *rows,
                             double share, uint64_t seed, mel_error *err)
{
    const size_t m = rows->n_groups > 1 ? rows->n_groups : 1, n_rows = rows->n_rows;
    MEL_AUTO_MEMORY size_t *row = mel_alloc(n_rows, 2 * sizeof *row);
    mel_rng rng;
    if (row == NULL)
        return mel_fail_memory(err, "rows that certify a rule");
    size_t *taken = row + n_rows;
    mel_rng_seed_stream(&rng, seed, 7);
    for (size_t cell = 0; cell < m * rows->n_classes; cell++) {
        size_t n = 0;
        for (size_t r = 0; r < n_rows; r++)
            if (rows->label[r] == cell % rows->n_classes &&
                (m == 1 || rows->group[r] == cell / rows->n_classes))
                row[n++] = r;
        mel_rng_shuffle(&rng, n, row);
        for (size_t i = 0; i < n; i++)
            taken[row[i]] = (double)i < round(share * (double)n);
    }
    TRY(mel_rule_rows_take(test, rows, taken, err));
    for (size_t r = 0; r < n_rows; r++)
        taken[r] = 1 - taken[r];
    return mel_rule_rows_take(choose, rows, taken, err);
}

/* --- the search --------------------------------------------------------------------------------- */

typedef struct {
    mel_trust_work work; /* rule: the options; measure */
    mel_certify_options opt;
    const mel_rule_rows *all;
    bool together; /* the same rows choose and certify */
    mel_taken_rows choose, test;
    size_t n_rules;
    double *threshold;                 /* of each rule, or .. */
    mel_classifier *rule[TIGHTENED];   /* .. the rule, .. */
    mel_rule_report report[TIGHTENED]; /* .. and how it was found */
    /* Counts and squares of each rule on both kinds of rows. */
    double *chosen, *tested, *value, *chance, *count_room, *seen;
    bool *certified;
} search;

static void search_clear(search *s)
{
    mel_trust_work_clear(&s->work);
    mel_taken_rows_clear(&s->choose);
    mel_taken_rows_clear(&s->test);
    for (size_t i = 0; i < TIGHTENED; i++) {
        mel_classifier_free(s->rule[i]);
        mel_rule_report_clear(&s->report[i]);
    }
    free(s->threshold);
    free(s->chosen);
    free(s->certified);
}

/* One threshold on the model's own probability decides. */
static bool has_one_threshold(const search *s)
{
    const mel_trust_work *w = &s->work;
    return w->k == 2 && w->d == 2 && mel_rule_keeps_scores(w->rows, &w->rule) &&
           (w->m == 1 || w->rule.group_use == MEL_GROUP_UNSEEN);
}

/* Whether thresholds have an order of their own for every limit: what is counted only grows along it. Then no
 * rows have to choose the order, and all of them certify: the last threshold that passes is an order
 * statistic of the rows that are counted, and the binomial bound is exact at it. */
static bool has_own_order(const search *s)
{
    const mel_trust_work *w = &s->work;
    bool own = has_one_threshold(s);
    for (size_t l = 0; l < w->rule.n_limits; l++)
        own = own && (w->rule.limit[l].kind == MEL_LIMIT_RECALL || w->rule.limit[l].kind == MEL_LIMIT_SHARE);
    return own;
}

/* Thresholds at the scores of the rows that choose, at most so many, with "always" and "never". */
static mel_status list_thresholds(search *s, mel_error *err)
{
    const mel_rule_rows *rows = &s->choose.rows;
    MEL_AUTO_MEMORY double *score = mel_alloc(rows->n_rows + 2, sizeof *score);
    s->threshold = mel_alloc(MOST_THRESHOLDS + 2, sizeof *s->threshold);
    if (score == NULL || s->threshold == NULL)
        return mel_fail_memory(err, "thresholds");
    size_t n = 0;
    for (size_t r = 0; r < rows->n_rows; r++)
        score[r] = rows->probability[2 * r + 1];
    mel_sort(rows->n_rows, score);
    for (size_t r = 0; r < rows->n_rows; r++)
        if (n == 0 || score[r] != score[n - 1])
            score[n++] = score[r];
    const size_t most = n < MOST_THRESHOLDS ? n : MOST_THRESHOLDS;
    s->threshold[s->n_rules++] = 0.0;
    for (size_t i = 0; i < most; i++)
        s->threshold[s->n_rules++] = score[i * n / most];
    if (score[n - 1] < 1.0)
        s->threshold[s->n_rules++] = 1.0;
    return MEL_OK;
}

/* Limits so many deviations tighter, of what they will look like on the rows that test. */
static void tighten(mel_limit *out, const search *s, double deviations)
{
    const mel_trust_work *w = &s->work;
    const tally first = { w, s->chosen, s->chosen + s->work.cells };
    for (size_t l = 0; l < w->rule.n_limits; l++) {
        const mel_limit *limit = &w->rule.limit[l];
        const double grow = s->opt.share / (1.0 - s->opt.share), b = limit->bound;
        out[l] = *limit;
        if (!(deviations > 0.0))
            continue;
        double by = 0.0;
        if (limit->kind < MEL_LIMIT_ODDS) {
            const part p = share_of(limit, &first, SIZE_MAX);
            by = sqrt(fmax(b * (1.0 - b), 1e-4) / fmax(p.n * grow, 1.0));
        } else {
            const double z = slack_of(limit, &first),
                         apart = fabs(
                             b - mel_limit_achieved(limit, &(mel_shares){ w->m, w->k, w->d, s->chosen }));
            by = isfinite(z) && fabs(z) > 1e-6 ? apart / fabs(z) / sqrt(grow) : 0.05;
        }
        out[l].bound = limit->at_least ? fmin(b + deviations * by, 1.0) : fmax(b - deviations * by, 0.0);
    }
}

static mel_status count_rule(double *counts, search *s, size_t rule, const mel_rule_rows *rows,
                             mel_error *err)
{
    const mel_trust_work *w = &s->work;
    memset(counts, 0, 2 * s->work.cells * sizeof *counts);
    memset(s->chance, 0, rows->n_rows * w->d * sizeof *s->chance);
    if (s->threshold != NULL) {
        for (size_t r = 0; r < rows->n_rows; r++)
            s->chance[2 * r + (rows->probability[2 * r + 1] >= s->threshold[rule])] = 1.0;
    } else { /* what mixtures draw is what is tested */
        MEL_AUTO_MEMORY uint32_t *decided = mel_alloc(rows->n_rows, sizeof *decided);
        if (decided == NULL)
            return mel_fail_memory(err, "decisions");
        TRY(mel_classifier_decide(decided, s->rule[rule],
                                  &(mel_undecided){ .n = rows->n_rows,
                                                    .probability = rows->probability,
                                                    .group = rows->group,
                                                    .seed = s->opt.seed },
                                  err));
        for (size_t r = 0; r < rows->n_rows; r++)
            s->chance[r * w->d + decided[r]] = 1.0;
    }
    mel_trust_count(counts, counts + w->cells, w, rows, s->chance, s->count_room);
    return MEL_OK;
}

/* Rules for limits that are tighter and tighter, as long as there are any. */
static mel_status list_rules(search *s, mel_error *err)
{
    const mel_trust_work *w = &s->work;
    MEL_AUTO_MEMORY mel_limit *limit = mel_alloc(w->rule.n_limits, sizeof *limit);
    MEL_AUTO_CLEAR(mel_adjustment) adjustment = { 0 };
    mel_rule_options opt = w->rule;
    if (limit == NULL)
        return mel_fail_memory(err, "limits");
    opt.limit = limit;
    if (opt.adjustment != NULL)
        TRY(mel_trust_adjust(&adjustment, w, &s->choose.rows, err));
    opt.adjustment = opt.adjustment != NULL ? &adjustment : NULL;
    for (size_t n = 0; n < TIGHTENED && n == s->n_rules; n++) {
        tighten(limit, s, step_of_tightening * (double)n);
        TRY(mel_rule_find(&s->rule[n], &s->report[n], &s->choose.rows, w->metric, w->name, &opt, err));
        if (n == 0) /* by which limits are tightened */
            TRY(count_rule(s->chosen, s, n, &s->choose.rows, err));
        s->n_rules += s->report[n].violation > 0.0 ? 0 : 1;
    }
    return MEL_OK;
}

static tally tally_at(const search *s, const double *of, size_t rule)
{
    const double *counts = of + 2 * s->work.cells * rule;
    return (tally){ &s->work, counts, counts + s->work.cells };
}

/* What every rule does with both kinds of rows, and what it is worth on those that choose. */
static mel_status count_all(search *s, mel_error *err)
{
    mel_trust_work *w = &s->work;
    const double sign = mel_measure_orientation(w->measure) == MEL_COST ? -1.0 : 1.0;
    for (size_t i = 0; i < s->n_rules; i++) {
        double *counts = s->chosen + 2 * w->cells * i;
        TRY(count_rule(counts, s, i, &s->choose.rows, err));
        TRY(count_rule(s->tested + 2 * w->cells * i, s, i, &s->test.rows, err));
        if (w->d > w->k)
            TRY(mel_trust_price_of_referring(&w->refer, w, counts, s->seen, err));
        s->value[i] = sign * mel_trust_value(w, counts, s->seen);
    }
    return MEL_OK;
}

typedef struct {
    double slack, safe;
    size_t rule;
} candidate;

static int by_slack(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    if (a->slack != b->slack)
        return a->slack > b->slack ? -1 : 1;
    if (a->safe != b->safe)
        return a->safe > b->safe ? -1 : 1;
    return a->rule < b->rule ? -1 : a->rule > b->rule;
}

/* From the rule with the most expected slack on, until one fails: it and those behind cannot be promised. */
static mel_status walk(search *s, const mel_limit *limit, double level, mel_error *err)
{
    MEL_AUTO_MEMORY candidate *order = mel_alloc(s->n_rules, sizeof *order);
    if (order == NULL)
        return mel_fail_memory(err, "the order of rules");
    for (size_t i = 0; i < s->n_rules; i++) {
        const tally t = tally_at(s, s->chosen, i);
        order[i] = (candidate){ slack_of(limit, &t), safe_side(limit, &t), i };
    }
    qsort(order, s->n_rules, sizeof *order, by_slack);
    bool stands = true;
    for (size_t i = 0; i < s->n_rules; i++) {
        const tally t = tally_at(s, s->tested, order[i].rule);
        stands = stands && keeps(limit, bound_of(limit, &t, level));
        if (!stands)
            s->certified[order[i].rule] = false;
    }
    return MEL_OK;
}

/* How many more rows would do, four times in five, by the slack on all of them; INFINITY: none would. */
static double rows_missing(const search *s, double level)
{
    const mel_trust_work *w = &s->work;
    const double n = (double)s->all->n_rows, wanted = normal_deviate(level) + power_deviate;
    double least = INFINITY;
    for (size_t i = 0; i < s->n_rules; i++) {
        double worst = INFINITY;
        const tally first = tally_at(s, s->chosen, i), second = tally_at(s, s->tested, i);
        for (size_t l = 0; l < w->rule.n_limits; l++) {
            const double a = slack_of(&w->rule.limit[l], &first), b = slack_of(&w->rule.limit[l], &second);
            /* deviations of both parts, as those of all rows */
            worst = fmin(worst, s->together ? a : sqrt(1.0 - s->opt.share) * a + sqrt(s->opt.share) * b);
        }
        worst = fmax(worst - luck, 0.25 * worst);
        if (worst > 0.0)
            least = fmin(least, n * wanted * wanted / (worst * worst) / (s->together ? 1.0 : s->opt.share));
    }
    return fmax(least - n, 0.1 * n);
}

static mel_status refuse(const search *s, mel_certified *out, double level, mel_error *err)
{
    const mel_trust_work *w = &s->work;
    const char *limits = w->rule.n_limits == 1 ? w->rule.limit[0].text : "all limits";
    const double more = out->more_rows = rows_missing(s, level);
    if (!isfinite(more))
        return mel_fail(err, MEL_EDATA,
                        "no rule can be promised to keep %s on new rows: none is expected to, however many "
                        "rows there are",
                        limits);
    const double unit = pow(10.0, floor(log10(fmax(more, 10.0))) - 1.0);
    return mel_fail(err, MEL_EDATA,
                    "no rule can be promised to keep %s on new rows with %g%% confidence; with about %.0f "
                    "rows more one could",
                    limits, 100.0 * s->opt.confidence, unit * ceil(more / unit));
}

/* The classifier of a threshold, reported on all rows. */
static mel_status make_threshold(mel_classifier **out, mel_rule_report *report, const search *s, double at,
                                 mel_error *err)
{
    const mel_trust_work *w = &s->work;
    mel_rule_options opt = w->rule;
    opt.n_limits = 0;
    opt.limit = NULL;
    opt.threshold = &at;
    opt.n_thresholds = 1;
    TRY(mel_rule_find(out, report, s->all, w->metric, w->name, &opt, err));
    const mel_shares shares = { w->m, w->k, w->d, report->shares };
    free(report->achieved);
    free(report->price);
    report->achieved = mel_alloc_zero(w->rule.n_limits, sizeof *report->achieved);
    report->price = mel_alloc_zero(w->rule.n_limits, sizeof *report->price);
    if (report->achieved == NULL || report->price == NULL)
        return mel_fail_memory(err, "the report on a rule");
    for (size_t l = 0; l < w->rule.n_limits; l++)
        report->achieved[l] = mel_limit_achieved(&w->rule.limit[l], &shares);
    report->n_limits = w->rule.n_limits;
    return MEL_OK;
}

static mel_status take_best(mel_classifier **out, mel_rule_report *report, mel_certified *certified,
                            search *s, double level, mel_error *err)
{
    const mel_trust_work *w = &s->work;
    size_t best = s->n_rules;
    for (size_t i = 0; i < s->n_rules; i++) {
        certified->n_certified += s->certified[i];
        if (s->certified[i] && !isnan(s->value[i]) && (best == s->n_rules || s->value[i] > s->value[best]))
            best = i;
    }
    if (best == s->n_rules)
        return refuse(s, certified, level, err);
    double *counts = s->tested + 2 * s->work.cells * best;
    const tally t = tally_at(s, s->tested, best);
    for (size_t l = 0; l < w->rule.n_limits; l++)
        certified->limit[l] =
            (mel_certified_limit){ mel_limit_achieved(&w->rule.limit[l],
                                                      &(mel_shares){ w->m, w->k, w->d, counts }),
                                   bound_of(&w->rule.limit[l], &t, level) };
    TRY(mel_trust_settle_size(counts, counts + w->cells, w, false, s->seen, err));
    TRY(mel_trust_of_counts(&certified->value, &s->work, counts, s->seen, err));
    if (s->threshold != NULL)
        return make_threshold(out, report, s, s->threshold[best], err);
    *out = s->rule[best];
    *report = s->report[best];
    s->rule[best] = NULL;
    s->report[best] = (mel_rule_report){ 0 };
    return MEL_OK;
}

static mel_status make_room(search *s, size_t n_rules, mel_error *err)
{
    const mel_trust_work *w = &s->work;
    const mel_part parts[] = { { n_rules * 2 * w->cells, { &s->chosen, &s->tested } },
                               { n_rules, { &s->value } },
                               { s->all->n_rows * w->d, { &s->chance } },
                               { mel_trust_count_room(s->all), { &s->count_room } },
                               { mel_measure_cells(w->measure), { &s->seen } } };
    s->certified = mel_alloc(n_rules, sizeof *s->certified);
    if (s->certified == NULL || !mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "certified limits");
    for (size_t i = 0; i < n_rules; i++)
        s->certified[i] = true;
    return MEL_OK;
}

static mel_status certify(mel_classifier **out, mel_rule_report *report, mel_certified *certified, search *s,
                          mel_error *err)
{
    const size_t n_limits = s->work.rule.n_limits;
    const double level = (1.0 - s->opt.confidence) / (double)n_limits;
    const bool thresholds = has_one_threshold(s);
    s->together = isnan(s->opt.share) && has_own_order(s);
    if (isnan(s->opt.share))
        s->opt.share = usual_share;
    if (s->together)
        s->choose.rows = s->test.rows = *s->all;
    else
        TRY(split_rows(&s->choose, &s->test, s->all, s->opt.share, s->opt.seed, err));
    TRY(make_room(s, thresholds ? MOST_THRESHOLDS + 2 : TIGHTENED, err));
    TRY(thresholds ? list_thresholds(s, err) : list_rules(s, err));
    TRY(count_all(s, err));
    for (size_t l = 0; l < n_limits; l++)
        TRY(walk(s, &s->work.rule.limit[l], level, err));
    *certified = (mel_certified){ .confidence = s->opt.confidence,
                                  .rows = s->test.rows.n_rows,
                                  .all_rows = s->together,
                                  .weighted = s->all->weight != NULL || s->work.rule.class_share != NULL,
                                  .n_rules = s->n_rules,
                                  .n_limits = n_limits,
                                  .limit = mel_alloc_zero(n_limits, sizeof *certified->limit),
                                  .more_rows = NAN };
    return certified->limit != NULL ? take_best(out, report, certified, s, level, err)
                                    : mel_fail_memory(err, "certified limits");
}

static mel_status check(const mel_rule_rows *rows, const mel_rule_options *rule,
                        const mel_certify_options *opt, mel_error *err)
{
    if (rule->n_limits == 0)
        return mel_fail(err, MEL_EINVAL, "there is no limit to be certified");
    if (!(opt->confidence >= 0.5 && opt->confidence < 1.0))
        return mel_fail(err, MEL_EINVAL, "a confidence of %g; expected 0.5 to below 1", opt->confidence);
    if (!isnan(opt->share) && !(opt->share > 0.0 && opt->share < 1.0))
        return mel_fail(err, MEL_EINVAL, "%g of the rows certify; expected a share between 0 and 1",
                        opt->share);
    if (rows->row_cost != NULL || rows->count != NULL || rows->engine != NULL)
        return mel_fail(err, MEL_EINVAL, "limits are certified by rows in one place that each count once");
    return mel_rule_rows_check(rows, err);
}

mel_status mel_rule_certify(mel_classifier **out, mel_rule_report *report, mel_certified *certified,
                            const mel_rule_rows *rows, const mel_metric *metric, const char *name,
                            const mel_rule_options *rule, const mel_certify_options *opt, mel_error *err)
{
    MEL_AUTO_CLEAR(search) s = { .all = rows };
    mel_rule_options own;
    *out = NULL;
    *report = (mel_rule_report){ 0 };
    *certified = (mel_certified){ .more_rows = NAN };
    mel_rule_options_init(&own);
    mel_certify_options_init(&s.opt);
    TRY(mel_options_take(&own, sizeof own, rule, "rule options", err));
    TRY(mel_options_take(&s.opt, sizeof s.opt, opt, "options of certified limits", err));
    TRY(check(rows, &own, &s.opt, err));
    TRY(mel_trust_begin(&s.work, NULL, rows, metric, name, &own, err));
    s.work.opt.calibrated = s.opt.calibrated;
    s.work.opt.seed = s.opt.seed;
    const mel_status status = certify(out, report, certified, &s, err);
    if (status == MEL_OK)
        return MEL_OK;
    mel_classifier_free(*out);
    mel_rule_report_clear(report);
    *out = NULL;
    return status;
}
