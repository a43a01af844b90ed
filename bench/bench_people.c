/* Simulated people in real sessions: the half of bench/people.py that measures.
 *
 *     bench_people FRONTIER realistic|imagined KIND ASSUME PEOPLE FIRST_SEED REPEAT_EVERY \
 *         [DATA [ends|whole|decision|pool:SPREAD]]
 *
 * FRONTIER: logistic (slope 3, offset 0.7), rare (3% positives, AUC 0.90), or a data set of the folder DATA.
 * PEOPLE respondents of a kind, each with an exchange rate that is log-uniform from 1/20 to 100, answer 20
 * questions (the tolerance never ends a session) and then, with the same seed, a session that may end
 * by 1.6x; with `ends` or `whole` only the one or the other. Prints a JSON object: per checkpoint (8, 12, 16,
 * 20 questions) lists of the error |ln r - ln truth|, of whether the interval holds, and of ln(hi/lo) (null:
 * open); then counts of questions, plausible ones, pairs seen twice, systems worse than chance; statements
 * about one side and how many hold; sessions that ended by the tolerance and how many hold, their questions;
 * sessions whose answers seem to drift or are called inconsistent (below 0.05); milliseconds from answer to
 * question, all of them. One thread.
 *
 * Kinds from target80 on are people whom no exchange rate describes, or not all of the time. With `decision`
 * sessions end when the setting is settled, for rates in the middle three quarters of what the test can ask
 * about (logarithm); next to them a staircase and a bisection of as many questions, on pairs of the same
 * list. Prints a list with an object for each person.
 *
 * With pool:SPREAD there are 12 people for each of PEOPLE exchange rates, evenly spaced. For each rate the
 * first 2, 3, 6 and 12 of them are pooled, and as many groups of people whose rates are normal around a mean
 * with the deviation SPREAD of the natural logarithm. Printed for each size: how many
 * intervals hold the rate (or the mean), errors of the pooled ratio and of the mean of the logarithms of
 * people's own medians, ln(hi/lo), and how many groups are said to differ. */
#include "melicit/melicit.h"

#include "elicit/active/ask/levels.h"
#include "elicit/shared.h"
#include "measure.h"
#include "oracle/noise/noise.h"
#include "outcome/shared.h"
#include "problem/shared.h"
#include "space/shared.h"

#include <math.h>

enum { QUESTIONS = 20, CHECKPOINTS = 4, MOST_TIMES = 1 << 20 };
static const uint32_t checkpoint[CHECKPOINTS] = { 8, 12, 16, 20 };
static const double imagined_distance = 3.0;

typedef enum {
    EXACT,
    FLIPS,
    LOGI200,
    LOGI50,
    LOGI20,
    BAND,
    ADVERSARY,
    WEBER15,
    WEBER40,
    WEBER_SLIPS,
    SAME,
    DRIFT,
    MIXED,
    CAUCHY,
    TIRES,
    ROUNDS,
    COINS,
    PRIOR,
    TARGET80,
    TARGET90,
    TARGET95,
    TARGET_CLEARED,
    MISSES_FIRST,
    ALARMS_FIRST,
    ROOT,
    LOGARITHM,
    LEANS,
    SATISFICES,
    LEARNS,
    MOVES,
    KINDS
} kind;
static const char *const kind_name[KINDS] = {
    "exact",     "flips",     "logi200",  "logi50",        "logi20",       "band",
    "adversary", "weber15",   "weber40",  "weber15+slips", "same",         "drift",
    "mixed",     "cauchy",    "tires",    "rounds",        "coins",        "prior",
    "target80",  "target90",  "target95", "cleared90",     "misses-first", "alarms-first",
    "root",      "logarithm", "leans",    "satisfices",    "learns",       "moves"
};

typedef struct {
    const mel_face *face;
    mel_session_options opt;
    kind who;
    uint64_t seed;
    bool skips_ends, skips_whole;
    /* Of the one at hand: */
    double rate;             /* ln r, at the setting that suits them best */
    double usual_rate;       /* ROOT, LOGARITHM: where a tenth of the positives is missed */
    mel_component component; /* PRIOR */
} study;

typedef struct {
    double *error[CHECKPOINTS], *width[CHECKPOINTS];
    size_t held[CHECKPOINTS];
    size_t asked, plausible, twice, worse, sided, sided_held, drifted, alarms;
    size_t ended, ended_held, ended_questions;
    double *time;
    size_t n_times;
} tally;

static mel_error err;

static void must(mel_status status)
{
    if (status != MEL_OK)
        die(err.text);
}

static void *array(size_t n, size_t size)
{
    void *x = calloc(n > 0 ? n : 1, size);
    if (x == NULL)
        die("memory");
    return x;
}

/* --- respondents -------------------------------------------------------------------------------- */

/* To the nearest number of one significant digit, and a half: 1, 1.5, 2, ..., 9.5, 10, 15, ... */
static double rounded(double n)
{
    if (n <= 0.0)
        return 0.0;
    const double unit = 0.5 * pow(10.0, floor(log10(n)));
    return unit * round(n / unit);
}

static double target_of(const study *s)
{
    return s->who == TARGET80 ? 0.8 : s->who == TARGET95 ? 0.95 : 0.9;
}

/* What missed positives weigh, in those that are missed when it is a tenth of them: by the square root or the
 * logarithm of their number. */
static double harm(const study *s, mel_point at)
{
    const double positives = mel_face_positives(s->face), usual = 0.1 * positives, missed = positives - at.tp;
    return s->who == ROOT ? 2.0 * sqrt(usual * fmax(missed, 0.0)) : usual * log(fmax(missed, 0.0) + 0.001);
}

/* Two classifiers, as shares: the one with more TP, and the other. */
typedef struct {
    mel_point more, fewer;
    bool more_is_a;
    double progress; /* of the session, from 0 to 1 */
} offer;

/* What the respondent prefers: 1 the one with more TP, -1 the other, 0 about the same. */
static int prefers(const study *s, mel_rng *rng, const offer *o)
{
    const double tp = o->more.tp - o->fewer.tp, tn = o->fewer.tn - o->more.tn, progress = o->progress;
    const double positives = mel_face_positives(s->face), negatives = mel_face_negatives(s->face);
    const double u = mel_rng_uniform(rng), v = mel_rng_uniform(rng), w = mel_rng_uniform(rng);
    const double normal = sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
    const double logistic = log((u + 1e-12) / (1.0 - u + 1e-12));
    const double margin = (exp(s->rate) * tp - tn) / hypot(exp(s->rate), 1.0), x = s->rate - log(tn / tp);
    const int right = margin > 0.0 ? 1 : -1;
    switch (s->who) {
    case FLIPS:
        return w < 0.1 ? -right : right;
    case LOGI200:
        return margin + logistic / 200.0 > 0.0 ? 1 : -1;
    case LOGI50:
        return margin + logistic / 50.0 > 0.0 ? 1 : -1;
    case LOGI20:
        return margin + logistic / 20.0 > 0.0 ? 1 : -1;
    case BAND:
        return fabs(margin) < 0.02 ? (w < 0.5 ? 1 : -1) : right;
    case ADVERSARY:
        return fabs(margin) < 0.02 ? -right : right;
    case WEBER15:
        return x + 0.15 * normal > 0.0 ? 1 : -1;
    case WEBER40:
        return x + 0.4 * normal > 0.0 ? 1 : -1;
    case WEBER_SLIPS:
        return (x + 0.15 * normal > 0.0) != (w < 0.03) ? 1 : -1;
    case SAME:
        return fabs(x) < 0.15 ? 0 : right;
    case DRIFT:
        return x + 0.5 * (progress - 0.5) + 0.15 * normal > 0.0 ? 1 : -1;
    case MIXED: /* both kinds of noise, and slips */
        return (x + 0.15 * normal + log((w + 1e-12) / (1.0 - w + 1e-12)) / 100.0 * x / margin > 0.0) !=
                       (mel_rng_uniform(rng) < 0.03)
                   ? 1
                   : -1;
    case CAUCHY:
        return x + 0.15 * tan(3.141592653589793 * (u - 0.5)) > 0.0 ? 1 : -1;
    case TIRES: /* from 0.05 to 0.5, and in the end every tenth answer is given without looking */
        return w < 0.1 * progress ? (v < 0.5 ? 1 : -1) : x + (0.05 + 0.45 * progress) * normal > 0.0 ? 1 : -1;
    case ROUNDS: /* compares what is at stake in round numbers */
        return exp(s->rate) * rounded(1000.0 * tp) + 0.1 * normal * rounded(1000.0 * tn) >
                       rounded(1000.0 * tn)
                   ? 1
                   : -1;
    case COINS:
        return w < 0.5 ? 1 : -1;
    case TARGET80:
    case TARGET90:
    case TARGET95: /* so many must be found, then fewest false alarms */
        return o->fewer.tp / positives + 0.002 * normal < target_of(s) ? 1 : -1;
    case TARGET_CLEARED:
        return o->more.tn / negatives + 0.002 * normal >= target_of(s) ? 1 : -1;
    case MISSES_FIRST: /* by 10 in 1,000 and more they count first */
        return tp >= 0.01 ? 1 : -1;
    case ALARMS_FIRST:
        return tn >= 0.03 ? -1 : 1;
    case ROOT:
    case LOGARITHM:
        return log(exp(s->usual_rate) * (harm(s, o->fewer) - harm(s, o->more)) / tn) + 0.15 * normal > 0.0
                   ? 1
                   : -1;
    case LEANS: /* to the left */
        return x + 0.15 * normal + (o->more_is_a ? 0.7 : -0.7) > 0.0 ? 1 : -1;
    case SATISFICES: /* takes A when it finds enough */
        return ((o->more_is_a ? o->more.tp : o->fewer.tp) / positives >= 0.8) == o->more_is_a ? 1 : -1;
    case LEARNS:
        return x + (0.05 + 0.95 * pow(1.0 - progress, 2.0)) * normal > 0.0 ? 1 : -1;
    case MOVES:
        return x + 3.0 * (progress - 0.5) + 0.15 * normal > 0.0 ? 1 : -1;
    case PRIOR: /* as the model expects people to be */
        return w < s->component.lapse ? (v < 0.5 ? 1 : -1)
               : margin + logistic * hypot(s->component.relative * margin / x, s->component.absolute) > 0.0
                   ? 1
                   : -1;
    default:
        return right;
    }
}

static mel_answer answer_of(const study *s, const mel_question *q)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, s->seed, q->number);
    const bool a_first = q->a[0] > q->b[0];
    const double *more = a_first ? q->a : q->b, *fewer = a_first ? q->b : q->a;
    const offer o = { .more = { more[0], more[1] },
                      .fewer = { fewer[0], fewer[1] },
                      .more_is_a = a_first,
                      .progress = (double)(q->number - 1) / (QUESTIONS - 1) };
    const int choice = prefers(s, &rng, &o);
    return choice == 0 ? MEL_ANSWER_SAME : (choice > 0) == a_first ? MEL_ANSWER_A : MEL_ANSWER_B;
}

/* --- what questions are like -------------------------------------------------------------------- */

/* The most that a test adds to the better of "flag all" and "flag none". */
static double best_value(const study *s, double r, bool imagined)
{
    const double p = mel_face_positives(s->face), n = mel_face_negatives(s->face);
    if (!imagined) {
        mel_point best;
        must(mel_face_support(&best, s->face, r, 1.0, &err));
        return r * best.tp + best.tn;
    }
    const double t = 0.5 * imagined_distance - log(r * p / n) / imagined_distance;
    return r * p * 0.5 * erfc((t - imagined_distance) / sqrt(2.0)) + n * 0.5 * erfc(-t / sqrt(2.0));
}

static bool same_point(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1];
}

static void look(tally *t, const study *s, const mel_session *session)
{
    const double p = mel_face_positives(s->face), n = mel_face_negatives(s->face);
    const uint32_t asked = mel_session_answers(session);
    for (uint32_t i = 0; i < asked; i++) {
        const mel_record q = mel_session_record(session, i);
        const double r = fabs(q.a[1] - q.b[1]) / fabs(q.a[0] - q.b[0]);
        const double trivial = fmax(r * p, n), best = best_value(s, r, q.imagined);
        t->asked++;
        t->plausible += (r * q.a[0] + q.a[1] - trivial) / (best - trivial) >= 0.5;
        t->worse += q.a[0] / p + q.a[1] / n < 1.0 || q.b[0] / p + q.b[1] / n < 1.0;
        for (uint32_t j = 0; j < i && !q.repeated; j++) {
            const mel_record o = mel_session_record(session, j);
            const bool same = same_point(o.a, q.a) && same_point(o.b, q.b);
            const bool swapped = same_point(o.a, q.b) && same_point(o.b, q.a);
            t->twice += same || swapped;
        }
    }
}

/* --- sessions ----------------------------------------------------------------------------------- */

/* Processor time: the machine may be busy with other things. */
static double processor_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static mel_summary summary_of(mel_session *session)
{
    mel_metric *metric = NULL;
    mel_summary found;
    must(mel_session_result(&metric, &found, session, &err));
    mel_metric_free(metric);
    return found;
}

static bool holds(const mel_summary *f, double rate)
{
    return rate >= log(f->ratio_low) - 1e-12 && rate <= log(f->ratio_high) + 1e-12;
}

static void note(tally *t, size_t at, size_t i, const mel_summary *f, double rate)
{
    t->error[at][i] = fabs(log(f->ratio) - rate);
    t->width[at][i] = log(f->ratio_high / f->ratio_low);
    t->held[at] += holds(f, rate);
}

/* Statements about one side. */
static void note_sided(tally *t, const mel_summary *f, double rate)
{
    if (!isinf(f->ratio_high) && f->ratio_low > 0.0)
        return;
    t->sided++;
    t->sided_held += holds(f, rate);
}

/* A session that is over, and what was known at the checkpoints. */
typedef struct {
    mel_session *session;
    mel_summary at[CHECKPOINTS], last;
} course;

/* Answers until the end; looks at the checkpoints, too. */
static course run(tally *t, const study *s, double factor, bool looks)
{
    mel_session_options opt = s->opt;
    opt.tolerance_factor = factor;
    opt.seed = s->seed;
    const mel_domain domain = { .face = s->face };
    course c = { .session = NULL };
    must(mel_session_new(&c.session, &domain, &opt, &err));
    size_t next = 0;
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        const double start = processor_seconds();
        must(mel_session_ask(&q, &done, c.session, &err));
        if (done)
            break;
        const mel_answer answer = answer_of(s, q);
        const double asked = processor_seconds() - start, again = processor_seconds();
        must(mel_session_tell(c.session, q->number, answer, NAN, &err));
        if (t->n_times < MOST_TIMES)
            t->time[t->n_times++] = 1e3 * (asked + processor_seconds() - again);
        if (looks && next + 1 < CHECKPOINTS && mel_session_answers(c.session) == checkpoint[next])
            c.at[next++] = summary_of(c.session);
    }
    c.last = summary_of(c.session);
    look(t, s, c.session);
    while (next < CHECKPOINTS)
        c.at[next++] = c.last;
    return c;
}

/* One of the components by which people err in the model, as likely as it is. */
static mel_component draw_component(mel_rng *rng)
{
    mel_component component[MEL_MOST_COMPONENTS];
    const size_t n = mel_noise_person.learned(component);
    double left = mel_rng_uniform(rng);
    size_t i = 0;
    while (i + 1 < n && left >= component[i].weight)
        left -= component[i++].weight;
    return component[i];
}

static void until_precise(tally *t, const study *s)
{
    const course c = run(t, s, 1.6, false);
    mel_session_free(c.session);
    note_sided(t, &c.last, s->rate);
    if (c.last.end != MEL_END_TOLERANCE)
        return;
    t->ended++;
    t->ended_held += holds(&c.last, s->rate);
    t->ended_questions += c.last.questions;
}

static void until_last(tally *t, const study *s, size_t i)
{
    const course c = run(t, s, 1.0001, true);
    mel_session_free(c.session);
    for (size_t k = 0; k < CHECKPOINTS; k++)
        note(t, k, i, &c.at[k], s->rate);
    note_sided(t, &c.last, s->rate);
    t->drifted += c.last.misfit.kind == MEL_MISFIT_DRIFT;
    t->alarms += c.last.consistency < 0.05;
}

static void one_person(tally *t, study *s, size_t i, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, UINT64_C(1) << 40);
    s->seed = seed;
    s->rate = log(1.0 / 20.0) + log(2000.0) * mel_rng_uniform(&rng);
    s->component = draw_component(&rng);
    if (!s->skips_ends)
        until_precise(t, s);
    if (!s->skips_whole)
        until_last(t, s, i);
}

/* --- until the decision is settled ---------------------------------------------------------------- */

/* What a setting for this rate loses to the person, as a share of what the best one adds to flagging all or
 * none. */
static double regret_of(const study *s, double rate)
{
    const double r = exp(s->rate), p = mel_face_positives(s->face), n = mel_face_negatives(s->face);
    const double best = best_value(s, r, false), trivial = fmax(r * p, n);
    mel_point setting;
    must(mel_face_support(&setting, s->face, exp(rate), 1.0, &err));
    return best > trivial ? (best - (r * setting.tp + setting.tn)) / (best - trivial) : 0.0;
}

typedef enum { STAIRCASE, BISECTION, BASELINES } baseline;

/* The most plausible pair whose rate is nearest. */
static const mel_level *level_at(const mel_levels *l, double rate)
{
    const mel_level *best = &l->level[0];
    for (size_t i = 1; i < l->n; i++)
        if (fabs(l->level[i].rate - rate) < fabs(best->rate - rate))
            best = &l->level[i];
    return best;
}

/* The textbook's: one up, one down, in steps that halve at every turn; or the halves of an interval. The
 * rates that they believe in after each question. */
static void ask_simply(double *rate, const study *s, const mel_levels *l, baseline how)
{
    const double least = 0.1;
    double low = l->level[0].rate, high = l->level[l->n - 1].rate, at = 0.5 * (low + high);
    double step = 0.25 * (high - low);
    int before = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        const mel_level *pair = level_at(l, at);
        mel_rng rng;
        mel_rng_seed_stream(&rng, s->seed, 1000 * ((uint64_t)how + 1) + i);
        const double n = l->people;
        const offer o = { .more = { pair->tp[0] / n, pair->tn[0] / n },
                          .fewer = { pair->tp[1] / n, pair->tn[1] / n },
                          .more_is_a = i % 2 == 0,
                          .progress = (double)i / (QUESTIONS - 1) };
        const int more = prefers(s, &rng, &o);
        if (how == BISECTION) {
            low = more >= 0 ? pair->rate : low;
            high = more <= 0 ? pair->rate : high;
            at = 0.5 * (low + high);
        } else {
            step = before * more < 0 ? fmax(least, 0.5 * step) : step;
            before = more != 0 ? more : before;
            at += more * step;
        }
        rate[i] = at;
    }
}

/* How many more questions the cost ratio takes; -1: more than 60, or the setting was not settled. */
static double go_on(const study *s, mel_session *session, const mel_summary *settled)
{
    if (settled->end != MEL_END_DECIDED)
        return -1.0;
    must(mel_session_set_budget(session, settled->questions + 60, &err));
    for (;;) {
        const mel_question *q = NULL;
        bool done = false;
        must(mel_session_ask(&q, &done, session, &err));
        if (done)
            break;
        must(mel_session_tell(session, q->number, answer_of(s, q), NAN, &err));
    }
    const mel_summary last = summary_of(session);
    return last.end == MEL_END_TOLERANCE ? (double)(last.questions - settled->questions) : -1.0;
}

/* Prints {"questions", "settled", "regret", "error", "held", "foreseen" and "needed" (questions to the ratio,
 * -1: not known), "misfit" (mel_misfit_kind), the "label" of the consistency, "target_held" (of a target that
 * was told), and for each baseline its regret after as many questions, and regret and error after all}. */
static void decide(tally *t, const study *s, const mel_levels *l)
{
    static const char *const name[BASELINES] = { "staircase", "bisection" };
    double rate[QUESTIONS];
    const course c = run(t, s, 1.6, false);
    const mel_summary *f = &c.last;
    const bool foreseen = f->end == MEL_END_DECIDED && isfinite(f->questions_to_ratio);
    const double needed = go_on(s, c.session, f);
    printf("{\"questions\": %u, \"settled\": %s, \"regret\": %.5f, \"error\": %.4f, \"held\": %s, "
           "\"foreseen\": %.0f, \"needed\": %.0f",
           f->questions, f->end == MEL_END_DECIDED ? "true" : "false", regret_of(s, log(f->ratio)),
           fabs(log(f->ratio) - s->rate), holds(f, s->rate) ? "true" : "false",
           foreseen ? f->questions_to_ratio : -1.0, needed);
    printf(", \"misfit\": %d, \"label\": \"%s\", \"target_held\": %s", (int)f->misfit.kind,
           mel_consistency_label(f),
           target_of(s) >= f->misfit.low && target_of(s) <= f->misfit.high ? "true" : "false");
    for (int b = 0; b < BASELINES; b++) {
        ask_simply(rate, s, l, (baseline)b);
        printf(", \"%s\": [%.5f, %.5f, %.4f]", name[b], regret_of(s, rate[f->questions - 1]),
               regret_of(s, rate[QUESTIONS - 1]), fabs(rate[QUESTIONS - 1] - s->rate));
    }
    printf("}");
    mel_session_free(c.session);
}

/* The rate for which the setting that just keeps the target is the best one. */
static double rate_of_target(const study *s)
{
    double low = -8.0, high = 8.0;
    for (int i = 0; i < 50; i++) {
        const double middle = 0.5 * (low + high);
        mel_point at;
        must(mel_face_support(&at, s->face, exp(middle), 1.0, &err));
        const bool kept = s->who == TARGET_CLEARED ? at.tn < target_of(s) * mel_face_negatives(s->face)
                                                   : at.tp >= target_of(s) * mel_face_positives(s->face);
        low = kept ? low : middle;
        high = kept ? middle : high;
    }
    return 0.5 * (low + high);
}

/* The rate at the best setting for somebody who sees missed positives by their root or logarithm. */
static double rate_at_best(const study *s)
{
    double most = -INFINITY, slope = 1.0;
    for (size_t i = 0; i < mel_face_vertices(s->face); i++) {
        const mel_point p = mel_face_vertex(s->face, i);
        const double value = p.tn - exp(s->usual_rate) * harm(s, p);
        const double positives = mel_face_positives(s->face), missed = positives - p.tp + 0.001;
        if (value > most) {
            most = value;
            slope = s->who == ROOT ? sqrt(0.1 * positives / missed) : 0.1 * positives / missed;
        }
    }
    return s->usual_rate + log(slope);
}

/* Rates of the middle three quarters of what the test can ask about, on a log scale. */
static void decide_all(tally *t, study *s, size_t people, uint64_t first)
{
    const double positives = mel_face_positives(s->face), negatives = mel_face_negatives(s->face);
    mel_levels l;
    must(mel_levels_real(&l, s->face, mel_levels_people(positives, negatives), &err));
    const double low = l.level[0].rate, range = l.level[l.n - 1].rate - low;
    s->opt.until = MEL_UNTIL_DECISION;
    printf("[");
    for (size_t i = 0; i < people; i++) {
        mel_rng rng;
        s->seed = first + i;
        mel_rng_seed_stream(&rng, s->seed, UINT64_C(1) << 40);
        do {
            s->rate = s->usual_rate = low + range * (0.125 + 0.75 * mel_rng_uniform(&rng));
            if (s->who == ROOT || s->who == LOGARITHM)
                s->rate = rate_at_best(s);
        } while (s->rate > low + 0.875 * range);
        if (s->who >= TARGET80 && s->who <= TARGET_CLEARED)
            s->rate = rate_of_target(s);
        s->component = draw_component(&rng);
        printf("%s", i > 0 ? ", " : "");
        decide(t, s, &l);
    }
    printf("]\n");
    mel_levels_free(&l);
}

/* --- frontiers ---------------------------------------------------------------------------------- */

/* Two normal distributions at a distance, in fine steps. */
static mel_face *binormal(double positives, double distance)
{
    const size_t steps = 2000;
    double *score = array(2 * steps, sizeof *score), *weight = array(2 * steps, sizeof *weight);
    uint8_t *role = array(2 * steps, sizeof *role);
    for (size_t i = 0; i < 2 * steps; i++) {
        const bool positive = i >= steps;
        const double x = -5.0 + (10.0 + distance) * ((double)(i % steps) + 0.5) / (double)steps,
                     z = x - (positive ? distance : 0.0);
        score[i] = x;
        role[i] = positive ? MEL_ROW_POSITIVE : MEL_ROW_NEGATIVE;
        weight[i] = (positive ? positives : 1.0 - positives) * exp(-0.5 * z * z);
    }
    mel_face *face = NULL;
    must(mel_face_from_scores(&face, 2 * steps, score, role, weight, &err));
    free(score);
    free(weight);
    free(role);
    return face;
}

static mel_problem *of_data(const char *name, const char *folder)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.csv.gz", folder, name);
    mel_problem_options opt = MEL_PROBLEM_DEFAULTS;
    opt.dataset.data = path;
    opt.seed = 1;
    const mel_problem_want want = mel_want_of_family(MEL_FAMILY_LINEAR);
    mel_problem *problem = NULL;
    must(mel_problem_make(&problem, &opt, &want, &err));
    return problem;
}

/* --- pools -------------------------------------------------------------------------------------- */

enum { TOGETHER = 12, SIZES = 4 };
static const size_t size_of[SIZES] = { 2, 3, 6, 12 };
static const double lowest_rate = -2.995732273553991, all_rates = 7.600902459542082; /* 1/20 to 100 */

typedef struct {
    size_t runs, held, against;
    double *error, *napkin, *width;
} pool_tally;

typedef struct {
    size_t rates;
    mel_session **session; /* rates x TOGETHER */
    double *own;           /* ln of each one's median */
} bank;

static void pool_group(pool_tally *t, const bank *b, size_t n, const size_t *who, double truth)
{
    mel_session *session[TOGETHER];
    mel_pooled *pooled = NULL;
    double napkin = 0.0;
    for (size_t i = 0; i < n; i++) {
        session[i] = b->session[who[i]];
        napkin += b->own[who[i]] / (double)n;
    }
    must(mel_respondents_join(&pooled, n, session, &err));
    t->error[t->runs] = fabs(log(pooled->summary.ratio) - truth);
    t->napkin[t->runs] = fabs(napkin - truth);
    t->width[t->runs++] = log(pooled->summary.ratio_high / pooled->summary.ratio_low);
    t->held += holds(&pooled->summary, truth);
    t->against += pooled->n_against > 0;
    mel_pooled_free(pooled);
}

static double rate_at(const bank *b, size_t i)
{
    return lowest_rate + all_rates * ((double)i + 0.5) / (double)b->rates;
}

/* Somebody whose rate is nearest, and who is not yet one of them. */
static size_t somebody(const bank *b, double rate, size_t n, const size_t *who, mel_rng *rng)
{
    const double place = floor((rate - lowest_rate) / all_rates * (double)b->rates);
    const size_t at = (size_t)fmin(fmax(place, 0.0), (double)b->rates - 1.0);
    for (;;) {
        const size_t one = at * TOGETHER + (size_t)mel_rng_below(rng, TOGETHER);
        size_t i = 0;
        while (i < n && who[i] != one)
            i++;
        if (i == n)
            return one;
    }
}

/* For each rate one group that has it, and one that is normal around a mean. */
static void pool_size(pool_tally *same, pool_tally *apart, const bank *b, size_t n, double spread)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, 7, n);
    const double margin = fmin(2.5 * spread, 0.45 * all_rates);
    for (size_t i = 0; i < b->rates; i++) {
        size_t who[TOGETHER];
        for (size_t k = 0; k < n; k++)
            who[k] = i * TOGETHER + k;
        pool_group(same, b, n, who, rate_at(b, i));
        const double mean = lowest_rate + margin + (all_rates - 2.0 * margin) * mel_rng_uniform(&rng);
        for (size_t k = 0; k < n; k++)
            who[k] = somebody(b, mean + spread * mel_rng_normal(&rng), k, who, &rng);
        pool_group(apart, b, n, who, mean);
    }
}

static void print_list(const char *key, size_t n, const double *x);

static void print_pools(const char *key, const pool_tally *t)
{
    printf("\"%s\": {\"runs\": %zu, \"held\": %zu, \"against\": %zu, ", key, t->runs, t->held, t->against);
    print_list("error", t->runs, t->error);
    printf(", ");
    print_list("napkin", t->runs, t->napkin);
    printf(", ");
    print_list("width", t->runs, t->width);
    printf("}");
}

static pool_tally new_pools(size_t most)
{
    pool_tally t = { 0 };
    t.error = array(most, sizeof *t.error);
    t.napkin = array(most, sizeof *t.napkin);
    t.width = array(most, sizeof *t.width);
    return t;
}

static void free_pools(pool_tally *t)
{
    free(t->error);
    free(t->napkin);
    free(t->width);
}

static void pool_all(tally *t, study *s, size_t rates, uint64_t first, double spread)
{
    bank b = { .rates = rates,
               .session = array(rates * TOGETHER, sizeof(void *)),
               .own = array(rates * TOGETHER, sizeof *b.own) };
    for (size_t i = 0; i < rates * TOGETHER; i++) {
        mel_rng rng;
        s->seed = first + i;
        mel_rng_seed_stream(&rng, s->seed, UINT64_C(1) << 40);
        s->rate = rate_at(&b, i / TOGETHER);
        s->component = draw_component(&rng);
        const course c = run(t, s, 1.6, false);
        b.session[i] = c.session;
        b.own[i] = log(c.last.ratio);
    }
    printf("{\"sizes\": [");
    for (size_t k = 0; k < SIZES; k++) {
        pool_tally same = new_pools(rates), apart = new_pools(rates);
        pool_size(&same, &apart, &b, size_of[k], spread);
        printf("%s{\"people\": %zu, ", k > 0 ? ", " : "", size_of[k]);
        print_pools("same", &same);
        printf(", ");
        print_pools("apart", &apart);
        printf("}");
        free_pools(&same);
        free_pools(&apart);
    }
    printf("]}\n");
    for (size_t i = 0; i < rates * TOGETHER; i++)
        mel_session_free(b.session[i]);
    free(b.session);
    free(b.own);
}

/* --- output ------------------------------------------------------------------------------------- */

static void print_list(const char *key, size_t n, const double *x)
{
    printf("\"%s\": [", key);
    for (size_t i = 0; i < n; i++)
        isfinite(x[i]) ? printf("%s%.4f", i > 0 ? ", " : "", x[i]) : printf("%snull", i > 0 ? ", " : "");
    printf("]");
}

static void print_tally(const tally *t, size_t n)
{
    printf("{\"checkpoints\": [");
    for (size_t k = 0; k < CHECKPOINTS; k++) {
        printf("%s{\"questions\": %u, \"held\": %zu, ", k > 0 ? ", " : "", checkpoint[k], t->held[k]);
        print_list("error", n, t->error[k]);
        printf(", ");
        print_list("width", n, t->width[k]);
        printf("}");
    }
    printf("], \"asked\": %zu, \"plausible\": %zu, \"twice\": %zu, \"worse\": %zu, \"sided\": %zu, "
           "\"sided_held\": %zu, \"ended\": %zu, \"ended_held\": %zu, \"ended_questions\": %zu, \"drifted\": "
           "%zu, \"alarms\": %zu, ",
           t->asked, t->plausible, t->twice, t->worse, t->sided, t->sided_held, t->ended, t->ended_held,
           t->ended_questions, t->drifted, t->alarms);
    print_list("milliseconds", t->n_times, t->time);
    printf("}\n");
}

static void set_options(study *s, char **argv)
{
    mel_session_options_init(&s->opt);
    must(mel_session_options_suit(&s->opt, NULL, MEL_BY_PERSON, NULL, 1, &err));
    s->opt.max_questions = QUESTIONS;
    s->opt.until = MEL_UNTIL_TOLERANCE;
    must(mel_session_options_set(&s->opt, "questions", argv[2], &err));
    must(mel_session_options_set(&s->opt, "assume", argv[4], &err));
    must(mel_session_options_set(&s->opt, "repeat_every", argv[7], &err));
    while (s->who < KINDS && strcmp(kind_name[s->who], argv[3]) != 0)
        s->who++;
    if (s->who == KINDS)
        die("no such kind of respondent");
}

int main(int argc, char **argv)
{
    if (argc < 8)
        die("usage: bench_people FRONTIER realistic|imagined KIND ASSUME PEOPLE FIRST_SEED REPEAT_EVERY "
            "[DATA [ends|whole|decision|pool:SPREAD]]");
    study s = { .who = EXACT };
    set_options(&s, argv);
    mel_face *face = NULL;
    mel_problem *problem = NULL;
    if (strcmp(argv[1], "logistic") == 0)
        must(mel_face_from_logistic(&face, 3.0, 0.7, &err));
    else if (strcmp(argv[1], "rare") == 0)
        face = binormal(0.03, 1.8124);
    else
        problem = of_data(argv[1], argc > 8 ? argv[8] : "data");
    s.skips_whole = argc > 9 && strcmp(argv[9], "ends") == 0;
    s.skips_ends = argc > 9 && strcmp(argv[9], "whole") == 0;
    s.face = problem != NULL ? problem->face : face;
    const size_t people = strtoul(argv[5], NULL, 10);
    const uint64_t first = strtoull(argv[6], NULL, 10);
    tally t = { .time = array(MOST_TIMES, sizeof *t.time) };
    for (size_t k = 0; k < CHECKPOINTS; k++) {
        t.error[k] = array(people, sizeof **t.error);
        t.width[k] = array(people, sizeof **t.width);
    }
    if (argc > 9 && strcmp(argv[9], "decision") == 0) {
        decide_all(&t, &s, people, first);
    } else if (argc > 9 && strncmp(argv[9], "pool:", 5) == 0) {
        pool_all(&t, &s, people, first, strtod(argv[9] + 5, NULL));
    } else {
        for (size_t i = 0; i < people; i++)
            one_person(&t, &s, i, first + i);
        print_tally(&t, people);
    }
    mel_face_free(face);
    mel_problem_free(problem);
    for (size_t k = 0; k < CHECKPOINTS; k++) {
        free(t.error[k]);
        free(t.width[k]);
    }
    free(t.time);
    return 0;
}
