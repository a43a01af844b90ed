/* What the search for a fair metric has found so far, as a metric with intervals.
 *
 * Intervals are what the weights come to when every angle of every slope is off by some part of half of its
 * last interval, evenly spread: three standard deviations of DRAWS random cases, all with the same seed. They
 * say how fine the search was, and are no probabilities when answers are noisy. Entries of B that such errors
 * alone may have made are taken to be nil, and lambda is what the others leave. */
#include "elicit/search/fair.h"

#include "base/la.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 48, DEVIATIONS = 3 };
/* Entries of lambda B up to so many standard deviations of what errors of the slopes make of them are nil. Of
 * 300 random metrics at a tolerance of 0.01 none is then farther from the true lambda B than no B at all;
 * otherwise 9 are, by up to 10 times. */
static const double hidden = 2.0;
/* Slopes are as they would be without any difference between groups when they are within so many times their
 * error of it; the errors of earlier angles add a little to those of the later ones. */
static const double same_slope = 1.2;

typedef struct {
    mel_fair_search *search;
    size_t n;       /* coefficients: a, blocks, lambda */
    size_t reached; /* sets */
    bool all, indifferent;
    bool straight;                      /* quadratic: no entry of B shows */
    double *value, *low, *high;         /* n */
    double *least, *most;               /* n: what coefficients can be */
    double *guess;                      /* n: where nothing is known */
    double *drawn, *squares, *farthest; /* n */
    double *noise;                      /* n: mean square of what errors add to lambda B */
    double *kept;                       /* stations x q: the slopes */
    double *mistakes, *apart;           /* q */
} report;

static size_t coefficients_of(const mel_fair_search *search)
{
    return search->q + search->pairs * search->block + 1;
}

/* Numbers in its room. */
static size_t room_of(const mel_fair_search *search)
{
    return 10 * coefficients_of(search) + (search->plan.n_stations + 2) * search->q;
}

static void report_init(report *r, mel_fair_search *search, double *room)
{
    const size_t q = search->q, n = coefficients_of(search);
    *r = (report){ .search = search, .n = n };
    double **const part[] = { &r->value, &r->low,   &r->high,    &r->least,    &r->most,
                              &r->guess, &r->drawn, &r->squares, &r->farthest, &r->noise };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        *part[i] = room + i * n;
    r->mistakes = room + sizeof part / sizeof *part * n;
    r->apart = r->mistakes + q;
    r->kept = r->apart + q;
    r->reached = mel_fair_sets_reached(search);
    r->all = search->n_sets > 0 && r->reached == search->n_sets;
    r->indifferent = r->all;
    for (size_t s = 0; s < search->plan.n_stations; s++)
        r->indifferent = r->indifferent && search->plan.station[s].flat;
}

/* --- where nothing is known ---------------------------------------------------------------------- */

static void guess_mistakes(const report *r)
{
    const mel_fair_search *search = r->search;
    const bool offdiagonal = mel_ball_layout(search->plan.ball)->coordinates == MEL_OFFDIAGONAL;
    for (size_t i = 0; i < search->q; i++) {
        const int sign = search->sign[i] != 0 ? search->sign[i] : offdiagonal ? 1 : -1;
        r->guess[i] = sign / sqrt((double)search->q);
        r->least[i] = search->sign[i] > 0 ? 0.0 : -1.0;
        r->most[i] = search->sign[i] < 0 ? 0.0 : 1.0;
    }
}

/* All alike, a multiple of the identity for quadratic metrics. */
static void guess_apart(const report *r)
{
    const mel_fair_search *search = r->search;
    const size_t q = search->q;
    const bool positive = search->plan.opt.direction != MEL_DIRECTION_UNKNOWN;
    const double most = search->quadratic ? 2.0 : 1.0;
    const double even = most / ((double)search->pairs * sqrt((double)q));
    for (size_t i = q; i + 1 < r->n; i++) {
        const size_t entry = (i - q) % search->block;
        const bool single = !search->quadratic || entry / q == entry % q;
        r->guess[i] = single ? even : 0.0;
        r->least[i] = single && positive ? 0.0 : -most;
        r->most[i] = most;
    }
    r->guess[r->n - 1] = 0.5;
    r->most[r->n - 1] = 1.0;
}

/* Coefficients from..to may be anything. */
static void widen(const report *r, size_t from, size_t to)
{
    const size_t bytes = (to - from) * sizeof *r->low;
    memcpy(r->low + from, r->least + from, bytes);
    memcpy(r->high + from, r->most + from, bytes);
}

/* Nothing is known of them. */
static void forget(const report *r, size_t from, size_t to)
{
    memcpy(r->value + from, r->guess + from, (to - from) * sizeof *r->value);
    widen(r, from, to);
}

static void set_exactly(const report *r, size_t from, size_t to, const double *value)
{
    const size_t bytes = (to - from) * sizeof *value;
    memcpy(r->value + from, value, bytes);
    memcpy(r->low + from, value, bytes);
    memcpy(r->high + from, value, bytes);
}

/* --- from slopes --------------------------------------------------------------------------------- */

static bool asked_trade_off(const report *r)
{
    const mel_fair_search *search = r->search;
    return search->asks_trade_off && search->told && (search->n_sets == 0 || r->all);
}

/* Coefficients from the slopes as they are now in the stations. */
static mel_status coefficients(report *r, double *out, mel_error *err)
{
    mel_fair_search *search = r->search;
    const size_t q = search->q, last = r->n - 1;
    TRY(mel_fair_solve(out, search, r->reached, err));
    mel_fair_parts parts = mel_fair_normalise(out, search);
    if (search->plan.opt.known != NULL) {
        /* Costs that are known wrongly may fit best with the opposite sign: then they fit not at all. */
        if (mel_dot(q, out, search->known) < 0.0)
            parts.mistakes = 0.0;
        memcpy(out, search->known, q * sizeof *out);
    }
    const double both = parts.mistakes + parts.apart;
    out[last] = both > 0.0 ? parts.apart / both : r->guess[last];
    if (!(parts.mistakes > 0.0) && search->plan.opt.known == NULL)
        memcpy(out, r->guess, q * sizeof *out);
    if (!(parts.apart > 0.0))
        memcpy(out + q, r->guess + q, (last - q) * sizeof *out);
    return MEL_OK;
}

/* Moves every slope by a random part of its error. */
static void disturb(const report *r, mel_rng *rng)
{
    const mel_plan *plan = &r->search->plan;
    const size_t q = plan->per_group;
    for (size_t s = 0; s < plan->n_stations; s++) {
        const mel_station *station = &plan->station[s];
        memcpy(station->slope, r->kept + s * q, q * sizeof *station->slope);
        for (size_t i = 0; i + 1 < station->n && station->reached; i++)
            mel_axpy(q, 2.0 * mel_rng_uniform(rng) - 1.0, station->change + i * q, station->slope);
        const double norm = mel_norm2(q, station->slope);
        if (norm > 0.0)
            mel_scale(q, 1.0 / norm, station->slope);
    }
}

static void restore(const report *r)
{
    const mel_plan *plan = &r->search->plan;
    for (size_t s = 0; s < plan->n_stations; s++)
        memcpy(plan->station[s].slope, r->kept + s * plan->per_group, plan->per_group * sizeof *r->kept);
}

static void keep(const report *r)
{
    const mel_plan *plan = &r->search->plan;
    for (size_t s = 0; s < plan->n_stations; s++)
        memcpy(r->kept + s * plan->per_group, plan->station[s].slope, plan->per_group * sizeof *r->kept);
}

/* The trade-off of a drawn metric whose answers would have been the same. */
static void draw_trade_off(const report *r)
{
    const mel_fair_search *search = r->search;
    if (!asked_trade_off(r))
        return;
    const mel_trade_off_scene scene = mel_fair_scene(search, r->drawn);
    mel_trade_off_gradients(r->mistakes, r->apart, &scene, search->trade.group, search->trade.axis);
    r->drawn[r->n - 1] = mel_trade_off_of(&search->trade, r->mistakes, r->apart);
}

static mel_status draw(report *r, mel_error *err)
{
    const size_t last = r->n - 1;
    mel_rng rng;
    mel_rng_seed(&rng, r->search->plan.opt.seed);
    keep(r);
    mel_status status = MEL_OK;
    for (size_t d = 0; d < DRAWS && status == MEL_OK; d++) {
        disturb(r, &rng);
        status = coefficients(r, r->drawn, err);
        if (status != MEL_OK)
            break;
        draw_trade_off(r);
        for (size_t i = 0; i < r->n; i++) {
            const double off = r->drawn[i] - r->value[i];
            r->squares[i] += off * off / DRAWS;
            r->farthest[i] = fmax(r->farthest[i], fabs(off));
            r->noise[i] += pow(r->drawn[last] * r->drawn[i] - r->value[last] * r->value[i], 2.0) / DRAWS;
        }
    }
    restore(r);
    return status;
}

static void set_widths(const report *r)
{
    const size_t last = r->n - 1;
    const mel_arc arc = r->search->trade.arc;
    for (size_t i = 0; i < r->n; i++) {
        double half = DEVIATIONS * sqrt(r->squares[i]);
        if (i == last && asked_trade_off(r))
            half += 0.5 * (arc.high - arc.low);
        r->value[i] = fmin(fmax(r->value[i], r->least[i]), r->most[i]);
        r->low[i] = fmax(r->value[i] - half, r->least[i]);
        r->high[i] = fmin(r->value[i] + half, r->most[i]);
    }
}

/* Takes entries of B that do not show to be nil, and the rest as it is; intervals stay. The length of lambda
 * B beside that of (1 - lambda) a is the trade-off. */
static mel_status hide_noise(report *r, mel_error *err)
{
    const mel_fair_search *search = r->search;
    const size_t q = search->q, last = r->n - 1;
    const double lambda = r->value[last];
    double apart = 0.0;
    for (size_t i = q; i < last; i++) {
        r->drawn[i] = lambda * r->value[i];
        if (fabs(r->drawn[i]) <= hidden * sqrt(r->noise[i]))
            r->drawn[i] = 0.0;
    }
    for (size_t p = 0; p < search->pairs; p++) {
        double *block = r->drawn + q + p * search->block;
        if (search->plan.opt.direction != MEL_DIRECTION_UNKNOWN)
            TRY(mel_fair_make_positive(q, block, err));
        apart += 0.5 * mel_norm2(search->block, block);
    }
    r->straight = !(apart > 0.0);
    for (size_t i = q; i < last; i++)
        r->value[i] = r->straight ? r->guess[i] : r->drawn[i] / apart;
    r->value[last] = apart > 0.0 ? apart / (apart + 1.0 - lambda) : 0.0;
    for (size_t i = q; i < r->n; i++) {
        r->low[i] = fmin(r->low[i], r->value[i]);
        r->high[i] = fmax(r->high[i], r->value[i]);
    }
    return MEL_OK;
}

/* --- findings ------------------------------------------------------------------------------------ */

/* The share of everybody that moves at a station. */
static const double *share_at(const mel_fair_search *search, size_t station)
{
    const size_t row = search->quadratic ? station / search->per_set : station;
    return search->share + row * search->q;
}

/* How far off a slope can be. */
static double slope_error(const mel_station *station, size_t q)
{
    double squares = 0.0;
    for (size_t i = 0; i + 1 < station->n; i++) {
        const double norm = mel_norm2(q, station->change + i * q);
        squares += norm * norm;
    }
    return sqrt(squares);
}

/* What a station's slope would be with mistakes alone, up to its length, into r->mistakes, and its error: as
 * known, as where all groups move, or as at the centre of the same set. */
static double mistakes_at(const report *r, size_t s)
{
    const mel_fair_search *search = r->search;
    const size_t q = search->q;
    const bool known = search->plan.opt.known != NULL;
    const mel_station *base =
        &search->plan.station[search->quadratic ? s / search->per_set * search->per_set : 0];
    const double *share = share_at(search, s);
    for (size_t i = 0; i < q; i++)
        r->mistakes[i] = known               ? -share[i] * search->known[i]
                         : search->quadratic ? base->slope[i]
                                             : share[i] * base->slope[i];
    if (known)
        return 0.0;
    return slope_error(base, q) * (search->quadratic ? 1.0 : mel_norm_inf(q, share));
}

/* Questions in some directions only show what a gradient has of them. */
static void project(const report *r, const mel_station *station)
{
    const size_t q = r->search->q;
    if (station->basis == NULL)
        return;
    memset(r->apart, 0, q * sizeof *r->apart);
    for (size_t j = 0; j < station->n; j++) {
        const double *axis = station->basis + j * q;
        mel_axpy(q, mel_dot(q, axis, r->mistakes), axis, r->apart);
    }
    memcpy(r->mistakes, r->apart, q * sizeof *r->mistakes);
}

static bool only_mistakes_at(const report *r, size_t s)
{
    const mel_station *station = &r->search->plan.station[s];
    const size_t q = r->search->q;
    const double error = mistakes_at(r, s);
    project(r, station);
    const double norm = mel_norm2(q, r->mistakes);
    if (!(norm > 0.0) || station->flat)
        return false;
    double squares = 0.0;
    for (size_t i = 0; i < q; i++) {
        const double off = r->mistakes[i] / norm - station->slope[i];
        squares += off * off;
    }
    return sqrt(squares) <= same_slope * (slope_error(station, q) + error / norm);
}

static bool no_differences(const report *r)
{
    for (size_t s = 0; s < r->search->plan.n_stations; s++)
        if (!only_mistakes_at(r, s))
            return false;
    return true;
}

/* Without differences the slope of any place tells the weights of mistakes. */
static void narrow_mistakes(const report *r)
{
    const mel_fair_search *search = r->search;
    const size_t q = search->q;
    double half = INFINITY;
    for (size_t s = 0; s < search->plan.n_stations; s++) {
        const mel_station *station = &search->plan.station[s];
        const double *share = share_at(search, s);
        double least = INFINITY, length = 0.0;
        for (size_t i = 0; i < q; i++) {
            least = fmin(least, share[i]);
            length = hypot(length, station->slope[i] / share[i]);
        }
        if (station->basis == NULL)
            half = fmin(half, slope_error(station, q) / (least * length));
    }
    for (size_t i = 0; i < q && search->plan.opt.known == NULL; i++) {
        r->low[i] = fmax(r->low[i], r->value[i] - half);
        r->high[i] = fmin(r->high[i], r->value[i] + half);
    }
}

/* No slope where the groups do not differ. */
static bool no_mistakes(const report *r)
{
    const mel_fair_search *search = r->search;
    bool flat = true;
    for (size_t s = 0; s < search->n_sets && search->quadratic; s++)
        flat = flat && search->level[s];
    return search->quadratic ? flat : search->first > 0 && search->plan.station[0].flat;
}

static mel_finding judge(const report *r)
{
    const mel_fair_search *search = r->search;
    const size_t q = search->q, last = r->n - 1;
    if (search->n_sets == 0)
        return search->plan.procedure.pending  ? MEL_FINDING_NONE
               : search->trade.arc.low == 0.0  ? MEL_FINDING_NO_DIFFERENCES
               : search->trade.arc.high == 1.0 ? MEL_FINDING_NO_MISTAKES
                                               : MEL_FINDING_NONE;
    if (!r->all)
        return MEL_FINDING_NONE;
    if (r->indifferent) {
        forget(r, 0, r->n);
        return MEL_FINDING_INDIFFERENT;
    }
    if (no_mistakes(r)) {
        forget(r, 0, q);
        if (search->plan.opt.known != NULL)
            set_exactly(r, 0, q, search->known);
        if (search->n_blocks > 1)
            widen(r, q, last);
        r->value[last] = r->high[last] = 1.0;
        r->low[last] = 1.0 - search->plan.opt.tolerance;
        return MEL_FINDING_NO_MISTAKES;
    }
    if (no_differences(r)) {
        const double most = fmin(r->value[last] + r->farthest[last], 1.0);
        forget(r, q, last);
        narrow_mistakes(r);
        r->value[last] = r->low[last] = 0.0;
        r->high[last] = most;
        return MEL_FINDING_NO_DIFFERENCES;
    }
    if (r->straight) {
        widen(r, q, r->n);
        return MEL_FINDING_NO_CURVATURE;
    }
    return MEL_FINDING_NONE;
}

/* --- the metric ---------------------------------------------------------------------------------- */

/* Only the trade-off was asked for. */
static void from_arc(const report *r)
{
    const mel_fair_search *search = r->search;
    const size_t last = r->n - 1;
    set_exactly(r, 0, last, search->known);
    r->value[last] = mel_arc_middle(search->trade.arc);
    r->low[last] = search->trade.arc.low;
    r->high[last] = search->trade.arc.high;
}

/* Before the first set of groups was done: a may be known. */
static void from_start(const report *r)
{
    const mel_fair_search *search = r->search;
    const mel_station *station = search->plan.station;
    const size_t q = search->q;
    forget(r, 0, r->n);
    if (search->plan.opt.known != NULL)
        set_exactly(r, 0, q, search->known);
    if (search->first == 0 || !station->reached || station->flat)
        return;
    for (size_t i = 0; i < q; i++) {
        double half = 0.0;
        for (size_t j = 0; j + 1 < station->n; j++)
            half += fabs(station->change[j * q + i]);
        r->value[i] = -station->slope[i];
        r->low[i] = fmax(r->value[i] - half, r->least[i]);
        r->high[i] = fmin(r->value[i] + half, r->most[i]);
    }
}

static mel_status from_slopes(report *r, mel_error *err)
{
    const size_t last = r->n - 1;
    mel_status status = coefficients(r, r->value, err);
    if (status == MEL_OK && asked_trade_off(r))
        r->value[last] = mel_arc_middle(r->search->trade.arc);
    if (status == MEL_OK)
        status = draw(r, err);
    if (status != MEL_OK)
        return status;
    set_widths(r);
    if (r->all && r->search->quadratic && !asked_trade_off(r))
        status = hide_noise(r, err);
    if (!r->all)
        widen(r, r->search->q, r->n);
    else if (r->search->vague)
        widen(r, r->search->q, asked_trade_off(r) ? last : r->n);
    return status;
}

static mel_status make_metric(mel_metric **out, const report *r, mel_error *err)
{
    const mel_fair_search *search = r->search;
    const mel_session_options *opt = &search->plan.opt;
    const mel_layout *layout = mel_ball_layout(search->plan.ball);
    const double *prevalence = mel_ball_prevalence(search->plan.ball), *apart = r->value + search->q;
    const double lambda = r->value[r->n - 1];
    TRY(search->quadratic ? mel_metric_fair_quadratic(out, layout, opt->class_names, opt->group_names,
                                                      r->value, apart, lambda, prevalence, err)
                          : mel_metric_fair_linear(out, layout, opt->class_names, opt->group_names, r->value,
                                                   apart, lambda, prevalence, err));
    return mel_metric_set_intervals(*out, r->low, r->high, err);
}

static mel_status fill(report *r, mel_error *err)
{
    guess_mistakes(r);
    guess_apart(r);
    if (r->search->n_sets == 0)
        from_arc(r);
    else if (r->reached == 0)
        from_start(r);
    else
        return from_slopes(r, err);
    return MEL_OK;
}

mel_status mel_fair_result(mel_procedure *procedure, mel_metric **metric, mel_summary *summary,
                           mel_error *err)
{
    mel_fair_search *search = (mel_fair_search *)procedure;
    mel_plan_settle(&search->plan);
    double *room = mel_alloc_zero(room_of(search), sizeof *room);
    if (room == NULL)
        return mel_fail_memory(err, "the metric that was found");
    report r;
    report_init(&r, search, room);
    mel_status status = mel_fair_judge_sets(search, r.reached, err);
    if (status == MEL_OK)
        status = fill(&r, err);
    if (status == MEL_OK) {
        summary->finding = judge(&r);
        summary->radius = mel_bounds_radius(r.n, r.low, r.high);
        status = make_metric(metric, &r, err);
    }
    free(room);
    return status;
}
