/* Planning a study: how well a number of questions tells what one person wants, and a number of people what
 * they want together, by simulated participants who are not stored. */
#include "manage.h"

#include "admission.h"
#include "json_helpers.h"

#include "base/internal.h"
#include "base/stat.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Everybody's way so far. */
typedef struct {
    const mel_plan *plan;
    const mel_open_study *open_study;
    size_t n, most; /* people; questions */
    mel_flow **flow;
    double *width;  /* n x most: of the interval after so many answers; infinity: open, or ended */
    uint32_t *idle; /* most: for how many people the question told nothing */
    uint32_t asked; /* questions of the elicitation that were not asked before */
    uint32_t dominated,
        trivial; /* one of the two is as good or better in all; else what was answered was known */
    mel_error *err;
} rehearsal;

/* What the answers so far tell: equally likely metrics, as many as draws. Strategies that know no
 * probabilities have none. */
typedef struct {
    mel_metric *metric;
    mel_summary summary;
    size_t n;
    double *draw;
} belief;

static void belief_clear(belief *b)
{
    mel_metric_free(b->metric);
    free(b->draw);
    *b = (belief){ 0 };
}

static mel_status belief_of(belief *out, mel_session *session, bool draws, mel_error *err)
{
    size_t width = 0;
    belief_clear(out);
    TRY(mel_session_result(&out->metric, &out->summary, session, err));
    return draws ? mel_session_draws(&out->n, &width, &out->draw, session, err) : MEL_OK;
}

/* How wide the result's interval is: of a cost ratio the larger end over the smaller one, else the radius. */
static double width_of(const mel_metric *metric, const mel_summary *summary)
{
    mel_cost_ratio ratio;
    if (mel_metric_cost_ratio(&ratio, metric, NULL) != MEL_OK)
        return summary->radius;
    return ratio.low > 0.0 && isfinite(ratio.high) ? ratio.high / ratio.low : INFINITY;
}

/* Whether one is at least as good as the other in every number. */
static bool is_dominated(const mel_record *record, size_t size)
{
    bool above = false, below = false;
    for (size_t i = 0; i < size; i++) {
        above = above || record->a[i] > record->b[i];
        below = below || record->a[i] < record->b[i];
    }
    return !(above && below);
}

/* Whether 39 of 40 who could have answered so far as this person did prefer the same of the two. */
static mel_status is_trivial(bool *out, const belief *before, const mel_record *record, size_t size,
                             mel_error *err)
{
    *out = false;
    if (before->n == 0)
        return MEL_OK;
    MEL_AUTO(mel_measure) *measure = NULL;
    MEL_AUTO(mel_ranking) *ranking = NULL;
    MEL_AUTO_MEMORY double *pair = mel_alloc(2 * size, sizeof *pair);
    double beats[4];
    if (pair == NULL)
        return mel_fail_memory(err, "a plan");
    memcpy(pair, record->a, size * sizeof *pair);
    memcpy(pair + size, record->b, size * sizeof *pair);
    const mel_layout *layout = mel_metric_layout(before->metric);
    mel_ranking_options opt;
    mel_ranking_options_init(&opt);
    opt.n = 2;
    opt.statistics = pair;
    opt.n_metrics = before->n;
    opt.metrics = before->draw;
    TRY(mel_measure_metric(&measure, before->metric, layout->n_classes, layout->n_groups, err));
    opt.measure = measure;
    TRY(mel_ranking_make(&ranking, &opt, err));
    TRY(mel_ranking_beats(beats, ranking, err));
    *out = fmax(beats[1], beats[2]) >= 0.975;
    return MEL_OK;
}

/* Whether the last question told something. */
static mel_status note_question(rehearsal *r, const belief *before, const mel_record *record,
                                const mel_session *session, uint32_t answered)
{
    const size_t size = mel_layout_size(mel_session_layout(session));
    const bool dominated = is_dominated(record, size);
    bool trivial = false;
    if (record->repeated)
        return MEL_OK;
    if (!dominated)
        TRY(is_trivial(&trivial, before, record, size, r->err));
    r->asked++;
    r->dominated += dominated;
    r->trivial += trivial;
    if (answered <= r->most)
        r->idle[answered - 1] += dominated || trivial;
    return MEL_OK;
}

static bool knows_probabilities(const rehearsal *r)
{
    return r->open_study->study->options.strategy == MEL_STRATEGY_ACTIVE;
}

/* known: before the answer, and then with it. */
static mel_status note_answer(rehearsal *r, size_t person, uint32_t answered, belief *known)
{
    mel_session *session = mel_flow_session(r->flow[person]);
    const mel_record record = mel_session_record(session, answered - 1);
    TRY(note_question(r, known, &record, session, answered));
    TRY(belief_of(known, session, knows_probabilities(r), r->err));
    if (answered <= r->most)
        r->width[person * r->most + answered - 1] = width_of(known->metric, &known->summary);
    return MEL_OK;
}

/* One simulated participant, from the first page to the last. */
static mel_status walk(rehearsal *r, size_t person, mel_oracle *oracle, double guess)
{
    mel_flow *flow = r->flow[person];
    mel_session *session = mel_flow_session(flow);
    __attribute__((cleanup(belief_clear))) belief known = { 0 };
    TRY(belief_of(&known, session, knows_probabilities(r), r->err));
    while (strcmp(mel_flow_state(flow), "active") == 0) {
        const uint32_t before = mel_session_answers(session);
        json_auto_t *value = mel_flow_simulated(flow, oracle, guess, r->err);
        if (value == NULL)
            return r->err->code;
        TRY(mel_flow_tell(flow, value, (double)NAN, r->err));
        if (mel_session_answers(session) > before)
            TRY(note_answer(r, person, mel_session_answers(session), &known));
        TRY(mel_budget_check(r->err));
    }
    /* What is known at the end stays known. */
    const uint32_t n = mel_session_answers(session);
    double *width = r->width + person * r->most;
    for (size_t q = n; q < r->most && n > 0; q++)
        width[q] = width[n - 1];
    return MEL_OK;
}

static mel_status send_one(rehearsal *r, size_t person)
{
    const mel_plan *plan = r->plan;
    mel_rng rng;
    mel_rng_seed_stream(&rng, plan->how.seed != 0 ? plan->how.seed : 1, person + 1);
    const uint64_t seed = mel_rng_next(&rng) >> 1;
    json_auto_t *wanted =
        json_is_number(plan->how.metric)
            ? json_real(json_number_value(plan->how.metric) * exp(plan->spread * mel_rng_normal(&rng)))
            : json_incref((json_t *)plan->how.metric);
    if (wanted == NULL && plan->how.metric != NULL)
        return mel_fail_memory(r->err, "a plan");
    const mel_problem *problem = r->open_study->problem;
    mel_rehearsal how = plan->how;
    MEL_AUTO(mel_oracle) *oracle = NULL;
    double guess = NAN;
    how.metric = wanted;
    TRY(mel_flow_new(&r->flow[person], r->open_study->study, problem, seed, NULL, r->err));
    TRY(mel_rehearsal_oracle(&oracle, &guess, &how, r->flow[person], problem, seed, r->err));
    return walk(r, person, oracle, guess);
}

/* --- what comes of it --------------------------------------------------------------------------- */

/* After each number of questions: the median width, and for how many people it is narrow enough. *needs:
 * the first number at which the median is; 0: none. room: n numbers. */
static json_t *by_questions(json_int_t *needs, const rehearsal *r, double *room)
{
    json_t *list = json_array();
    *needs = 0;
    for (size_t q = 0; q < r->most; q++) {
        json_int_t within = 0;
        for (size_t i = 0; i < r->n; i++) {
            room[i] = r->width[i * r->most + q];
            within += room[i] <= r->plan->width;
        }
        const double middle = mel_quantile_sort(r->n, room, 0.5);
        if (*needs == 0 && middle <= r->plan->width)
            *needs = (json_int_t)q + 1;
        mel_json_push(&list, json_pack("{s:I, s:o, s:I, s:I}", "questions", (json_int_t)q + 1, "width",
                                       isfinite(middle) ? json_real(middle) : json_null(), "within", within,
                                       "idle", (json_int_t)r->idle[q]));
    }
    return list;
}

/* The width of what the first n want together; infinity: open. */
static mel_status width_of_first(double *out, const rehearsal *r, size_t n, mel_session **session)
{
    json_auto_t *found = NULL;
    for (size_t i = 0; i < n; i++)
        session[i] = mel_flow_session(r->flow[i]);
    TRY(mel_result_of_sessions(&found, n, session, r->open_study->study, r->open_study->problem, r->err));
    const json_t *ratio = json_object_get(found, "cost_ratio");
    const double low = mel_json_number(ratio, "low", 0.0), high = mel_json_number(ratio, "high", INFINITY);
    *out = ratio == NULL ? mel_json_number(found, "radius", INFINITY) : low > 0.0 ? high / low : INFINITY;
    return MEL_OK;
}

/* The same of 2, 4, 8, ... people and all of them together. */
static mel_status by_people(json_t *list, json_int_t *needs, const rehearsal *r)
{
    MEL_AUTO_MEMORY mel_session **session = mel_alloc_zero(r->n, sizeof(void *)); /* pointers */
    if (session == NULL)
        return mel_fail_memory(r->err, "a plan");
    *needs = 0;
    for (size_t n = 2; n <= r->n; n = n < r->n && 2 * n > r->n ? r->n : 2 * n) {
        double width = INFINITY;
        TRY(width_of_first(&width, r, n, session));
        if (*needs == 0 && width <= r->plan->width)
            *needs = (json_int_t)n;
        if (!mel_json_add(list, json_pack("{s:I, s:o}", "people", (json_int_t)n, "width",
                                          isfinite(width) ? json_real(width) : json_null())))
            return mel_fail_memory(r->err, "a plan");
        TRY(mel_budget_check(r->err));
    }
    return MEL_OK;
}

static json_t *known_or_null(json_int_t n)
{
    return n > 0 ? json_integer(n) : json_null();
}

static mel_status summarise(json_t **out, const rehearsal *r)
{
    MEL_AUTO_MEMORY double *room = mel_alloc(r->n, sizeof *room);
    json_auto_t *together = json_array();
    if (room == NULL)
        return mel_fail_memory(r->err, "a plan");
    const bool ratio = mel_session_layout(mel_flow_session(r->flow[0]))->coordinates == MEL_BINARY &&
                       r->open_study->study->options.family == MEL_FAMILY_LINEAR;
    json_int_t questions = 0, people = 0;
    if (knows_probabilities(r))
        TRY(by_people(together, &people, r));
    json_t *asked = by_questions(&questions, r, room);
    *out = json_pack("{s:s, s:f, s:I, s:o, s:O, s:o, s:o, s:I, s:I, s:I}", "measure",
                     ratio ? "factor" : "radius", "wanted", r->plan->width, "participants", (json_int_t)r->n,
                     "by_questions", asked, "by_people", together, "questions", known_or_null(questions),
                     "people", known_or_null(people), "asked", (json_int_t)r->asked, "dominated",
                     (json_int_t)r->dominated, "trivial", (json_int_t)r->trivial);
    return *out != NULL ? MEL_OK : mel_fail_memory(r->err, "a plan");
}

/* Everybody stays in memory until all are compared. */
static mel_status check_memory(const rehearsal *r, size_t person, size_t begun)
{
    enum { MOST_BYTES = 64 << 20 };
    if (!mel_budget_is_limited() || mel_resident_bytes() <= begun + MOST_BYTES)
        return MEL_OK;
    return mel_fail(r->err, MEL_ELIMIT,
                    "%zu people of this study take all the memory that a plan may: plan for fewer, or use "
                    "`melicit study plan` on another machine",
                    person + 1);
}

static mel_status send_all(json_t **out, rehearsal *r)
{
    const size_t begun = mel_resident_bytes();
    r->flow = mel_alloc_zero(r->n, sizeof(void *)); /* pointers */
    r->width = mel_alloc(r->n * r->most, sizeof *r->width);
    r->idle = mel_alloc_zero(r->most, sizeof *r->idle);
    if (r->flow == NULL || r->width == NULL || r->idle == NULL)
        return mel_fail_memory(r->err, "a plan");
    for (size_t i = 0; i < r->n * r->most; i++)
        r->width[i] = INFINITY;
    for (size_t i = 0; i < r->n; i++) {
        TRY(send_one(r, i));
        TRY(check_memory(r, i, begun));
    }
    return summarise(out, r);
}

static void rehearsal_clear(rehearsal *r)
{
    for (size_t i = 0; r->flow != NULL && i < r->n; i++)
        mel_flow_free(r->flow[i]);
    free(r->flow);
    free(r->width);
    free(r->idle);
}

static mel_status plan_study(json_t **out, mel_cache *cache, const char *study, const mel_plan *plan,
                             mel_error *err)
{
    MEL_AUTO(mel_open_study) *open_study = NULL;
    MEL_HELD(held);
    TRY(mel_open_study_by_id(&open_study, cache, study, err));
    TRY(mel_work_begin(&held, mel_cache_admission(cache), &(mel_work){ .shared = true }, err));
    __attribute__((cleanup(rehearsal_clear))) rehearsal r = {
        .plan = plan,
        .open_study = open_study,
        .n = plan->how.participants,
        .most = open_study->study->options.max_questions,
        .err = err,
    };
    return send_all(out, &r);
}

mel_status mel_manage_plan(json_t **out, mel_cache *cache, const char *study, const mel_plan *plan,
                           mel_error *err)
{
    *out = NULL;
    if (plan->how.participants < 2 || plan->how.participants > MEL_MOST_PLANNED)
        return mel_fail(err, MEL_EINVAL, "participants: expected 2 to %d", MEL_MOST_PLANNED);
    if (!(plan->width > 0.0) || !(plan->spread >= 0.0 && plan->spread <= 5.0))
        return mel_fail(err, MEL_EINVAL, "width: expected a number above 0; spread: one from 0 to 5");
    if (plan->spread > 0.0 && !json_is_number(plan->how.metric))
        return mel_fail(err, MEL_EINVAL, "spread: people differ around a number of false alarms");
    static _Atomic bool planning; /* one at a time, as each takes much memory */
    if (atomic_exchange(&planning, true))
        return mel_fail(err, MEL_BUSY, "another plan is being made; try again when it is done");
    const mel_status status = plan_study(out, cache, study, plan, err);
    planning = false;
    return status;
}
