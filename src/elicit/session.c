/* Questions and answers: the ask/tell object. */
#include "elicit/session.h"
#include "elicit/assumption.h"
#include "elicit/families/families.h"
#include "elicit/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- making and ending -------------------------------------------------------------------------- */

void mel_session_free(mel_session *session)
{
    if (session == NULL)
        return;
    if (session->engine != NULL)
        session->engine->ops->free(session->engine);
    mel_log_close(session->log);
    mel_session_forget(session);
    mel_options_drop(&session->options);
    free(session->entries);
    free(session->points);
    free(session->room);
    free(session);
}

static mel_status make_engine(mel_engine **out, const mel_session *session, mel_error *err)
{
    const mel_session_options *opt = &session->options.values;
    if (session->domain.pool != NULL)
        return mel_engine_candidates(out, &session->domain, opt, err);
    const mel_elicit_ops *family = mel_elicit_of(opt->family);
    mel_engine_maker *make = opt->strategy == MEL_STRATEGY_SEARCH ? family->search : family->active;
    if (make == NULL)
        return mel_fail(err, MEL_EINVAL, "%s metrics are found by the %s strategy, not by the %s one",
                        mel_family_name(opt->family),
                        mel_strategy_name(family->search != NULL ? MEL_STRATEGY_SEARCH : MEL_STRATEGY_ACTIVE),
                        mel_strategy_name(opt->strategy));
    return make(out, &session->domain, opt, err);
}

static mel_status make_room(mel_session *session, mel_error *err)
{
    session->room = mel_alloc_zero(session->size, 2 * sizeof *session->room);
    if (session->room == NULL)
        return mel_fail_memory(err, "the question");
    session->pending = (mel_pair){
        .a = session->room,
        .b = session->room + session->size,
        .note_a = session->note[0],
        .note_b = session->note[1],
    };
    return MEL_OK;
}

mel_status mel_session_new(mel_session **out, const mel_domain *domain, const mel_session_options *opt,
                           mel_error *err)
{
    *out = NULL;
    mel_session_options own;
    mel_session_options_init(&own);
    mel_status status = mel_options_take(&own, sizeof own, opt, "session options", err);
    if (status == MEL_OK)
        status = mel_options_resolve(&own, domain, err);
    if (status == MEL_OK)
        status = mel_options_check(&own, domain, err);
    if (status != MEL_OK)
        return status;
    mel_session *session = mel_alloc_zero(1, sizeof *session);
    if (session == NULL)
        return mel_fail_memory(err, "the session");
    session->domain = *domain;
    session->layout = *mel_domain_layout(domain);
    session->size = mel_layout_size(&session->layout);
    if (domain->face != NULL) {
        session->face_share[0] = mel_face_negatives(domain->face);
        session->face_share[1] = mel_face_positives(domain->face);
    }
    status = mel_options_keep(&session->options, &own, &session->layout, err);
    if (status == MEL_OK)
        status = make_room(session, err);
    if (status == MEL_OK)
        status = make_engine(&session->engine, session, err);
    if (status != MEL_OK) {
        mel_session_free(session);
        return status;
    }
    *out = session;
    return MEL_OK;
}

/* --- decisions ---------------------------------------------------------------------------------- */

/* Probability with which a decision must stand. */
static const double sure = 0.95;

/* Classifiers whose numbers differ, counted up to the most. */
static size_t count_different(const mel_pool *pool, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < pool->n && n < most; i++)
        n += mel_pool_place(pool, pool->value + i * pool->size) == i;
    return n;
}

/* The prior alone may make an order so probable that one answer about something else seems to settle it. So
 * answers must prefer one to another as often as there are neighbours in the order; of many classifiers, a
 * few times. */
bool mel_session_order_was_asked(const mel_session *session)
{
    enum { ENOUGH = 3 };
    size_t preferring = 0;
    for (size_t i = 0; i < session->n_entries; i++) {
        const mel_answer answer = session->entries[i].answer;
        preferring += answer == MEL_ANSWER_A || answer == MEL_ANSWER_B;
    }
    return preferring + 1 >= count_different(session->domain.pool, ENOUGH + 1);
}

/* Before any answer only what holds for all metrics counts: nobody has been asked yet. */
static double least_sure(const mel_session *session)
{
    const bool rank = session->options.values.until == MEL_UNTIL_RANK && session->domain.pool != NULL;
    if (session->n_entries == 0)
        return 1.0;
    return rank && !mel_session_order_was_asked(session) ? INFINITY : sure;
}

static mel_status session_decided(bool *out, mel_session *session, mel_error *err)
{
    const mel_session_options *opt = &session->options.values;
    if (opt->until == MEL_UNTIL_DECISION) {
        *out = session->engine->ops->settled != NULL && session->engine->ops->settled(session->engine);
        return MEL_OK;
    }
    mel_belief now = { .domain = &session->domain, .n_pool = opt->n_pool, .pool = opt->pool };
    if (now.pool == NULL && session->domain.pool != NULL) {
        now.n_pool = session->domain.pool->n;
        now.pool = session->domain.pool->value;
    }
    double probability = 0.0;
    TRY(mel_session_find_draws(session, err));
    TRY(mel_session_find_metric(session, err));
    now.metric = session->found.metric;
    now.draw = session->found.draw;
    now.n_draws = session->found.n_draws;
    TRY(mel_standing_of(opt)(&probability, &now, err));
    *out = probability >= least_sure(session);
    return MEL_OK;
}

/* --- questions ---------------------------------------------------------------------------------- */

mel_pair mel_session_pair(const mel_session *session, size_t index)
{
    double *a = session->points + 2 * index * session->size;
    return (mel_pair){ .a = a, .b = a + session->size, .repeated = session->entries[index].repeated };
}

const double *mel_session_class_share(const mel_session *session)
{
    const mel_domain *domain = &session->domain;
    if (domain->face != NULL)
        return session->face_share;
    if (domain->pool != NULL)
        return domain->class_share;
    return domain->space != NULL ? mel_space_class_share(domain->space) : mel_ball_class_share(domain->ball);
}

/* In which whole numbers a pair is shown that is asked about now. */
static void find_shown(const mel_session *session, mel_pair *pair)
{
    pair->people = 0;
    pair->imagined = false;
    if (session->domain.pool != NULL)
        pair->people = mel_pool_people(session->domain.pool, pair->a, pair->b);
    else if (session->engine->ops->show != NULL)
        session->engine->ops->show(session->engine, pair);
}

void mel_session_show_pending(mel_session *session)
{
    const mel_pair *pair = &session->pending;
    const mel_face *face = session->domain.face;
    if (face != NULL && pair->people == 0) {
        mel_note_point(pair->note_a, face, (mel_point){ pair->a[0], pair->a[1] }, NULL, NULL);
        mel_note_point(pair->note_b, face, (mel_point){ pair->b[0], pair->b[1] }, NULL, NULL);
    }
    if (session->domain.pool != NULL) {
        mel_note_candidate(pair->note_a, session->domain.pool, pair->a);
        mel_note_candidate(pair->note_b, session->domain.pool, pair->b);
    }
    const uint32_t number = (uint32_t)session->n_entries + 1, left = mel_session_expected(session);
    session->question = (mel_question){
        .number = number,
        .expected = number - 1 + (left > 0 ? left : 1),
        .layout = &session->layout,
        .class_names = session->options.values.class_names,
        .group_names = session->options.values.group_names,
        .a = pair->a,
        .b = pair->b,
        .class_share = mel_session_class_share(session),
        .people = pair->people,
        .imagined = pair->imagined,
        .repeated = pair->repeated,
        .neither = session->options.values.neither,
        .announced = session->again > 0 || (pair->repeated && session->options.values.announce_repeats),
        .classifier_a = pair->note_a[0] != '\0' ? pair->note_a : NULL,
        .classifier_b = pair->note_b[0] != '\0' ? pair->note_b : NULL,
    };
    session->question.named = session->domain.pool != NULL;
}

static mel_status fail_broken(mel_error *err)
{
    return mel_fail(err, MEL_ESTATE, "an answer could not be stored nor taken back; open the session again");
}

mel_status mel_session_propose(mel_session *session, mel_error *err)
{
    if (session->broken)
        return fail_broken(err);
    if (session->asked || session->end != MEL_END_NOT_YET)
        return MEL_OK;
    session->note[0][0] = '\0';
    session->note[1][0] = '\0';
    session->pending.repeated = false;
    mel_end end = MEL_END_NOT_YET;
    TRY(session->engine->ops->next(session->engine, &session->pending, &end, err));
    mel_session_forget(session); /* what was found before (set_budget) did not know this question */
    find_shown(session, &session->pending);
    bool decided = false;
    if (end != MEL_END_TOLERANCE && session->options.values.until != MEL_UNTIL_TOLERANCE)
        TRY(session_decided(&decided, session, err));
    if (decided)
        end = MEL_END_DECIDED;
    if (end == MEL_END_NOT_YET && session->n_entries >= session->options.values.max_questions)
        end = MEL_END_BUDGET;
    session->end = end;
    session->asked = end == MEL_END_NOT_YET;
    if (session->asked)
        mel_session_show_pending(session);
    return MEL_OK;
}

mel_status mel_session_ask(const mel_question **question, bool *done, mel_session *session, mel_error *err)
{
    TRY(mel_session_propose(session, err));
    *done = !session->asked;
    *question = session->asked ? &session->question : NULL;
    return MEL_OK;
}

uint32_t mel_session_expected(mel_session *session)
{
    const uint32_t left = session->engine->ops->expected(session->engine);
    const uint32_t budget = session->options.values.max_questions;
    const uint32_t answered = (uint32_t)session->n_entries;
    const uint32_t allowed = budget > answered ? budget - answered : 0;
    return left < allowed ? left : allowed;
}

/* --- answers ------------------------------------------------------------------------------------ */

/* As engines take it: what is refused altogether tells nothing about what is preferred. */
static mel_answer heard(mel_answer answer)
{
    return answer == MEL_ANSWER_NEITHER ? MEL_ANSWER_SKIP : answer;
}

static mel_status reserve_entry(mel_session *session, mel_error *err)
{
    if (session->n_entries < session->capacity)
        return MEL_OK;
    const size_t capacity = session->capacity == 0 ? 32 : 2 * session->capacity;
    void *entries = session->entries, *points = session->points;
    const bool grown = mel_grow(&entries, capacity, sizeof *session->entries) &&
                       mel_grow(&points, capacity, 2 * session->size * sizeof *session->points);
    session->entries = entries;
    session->points = points;
    if (!grown)
        return mel_fail_memory(err, "the answers");
    session->capacity = capacity;
    return MEL_OK;
}

/* The engine comes first: what it cannot digest is not recorded. */
mel_status mel_session_accept(mel_session *session, const mel_record *said, mel_error *err)
{
    TRY(reserve_entry(session, err));
    if (said->answer == MEL_ANSWER_NEITHER && !session->options.values.neither)
        return mel_fail(
            err, MEL_EINVAL,
            "question %zu: this session takes no answer \"neither\"; begin it with the option neither",
            session->n_entries + 1);
    const size_t before = session->n_entries, bytes = session->size * sizeof *session->points;
    session->entries[before] = *said;
    const mel_pair pair = mel_session_pair(session, before);
    memcpy(pair.a, said->a, bytes);
    memcpy(pair.b, said->b, bytes);
    TRY(session->engine->ops->tell(session->engine, &pair, heard(said->answer), err));
    session->n_entries = before + 1;
    session->asked = false;
    session->again = 0;
    mel_session_forget(session);
    return MEL_OK;
}

static mel_status check_number(const mel_session *session, uint32_t number, mel_answer answer, bool *known,
                               mel_error *err)
{
    *known = false;
    if (answer != MEL_ANSWER_A && answer != MEL_ANSWER_B && answer != MEL_ANSWER_SAME &&
        answer != MEL_ANSWER_SKIP && answer != MEL_ANSWER_NEITHER)
        return mel_fail(err, MEL_EINVAL, "question %u: %d is not an answer", number, (int)answer);
    if (number >= 1 && number <= session->n_entries) {
        const mel_answer before = session->entries[number - 1].answer;
        if (before != answer)
            return mel_fail(err, MEL_ECONFLICT, "question %u was answered %s already, not %s", number,
                            mel_answer_name(before), mel_answer_name(answer));
        *known = true;
        return MEL_OK;
    }
    if (session->broken || !session->asked || number != session->n_entries + 1)
        return mel_fail(err, session->broken ? MEL_ESTATE : MEL_EINVAL,
                        "question %u has not been asked; %zu are answered", number, session->n_entries);
    return MEL_OK;
}

static mel_status radius_now(double *out, mel_engine *engine, mel_error *err)
{
    mel_metric *metric = NULL;
    mel_summary summary = { .radius = NAN };
    const mel_status status = engine->ops->result(engine, &metric, &summary, err);
    mel_metric_free(metric);
    *out = summary.radius;
    return status;
}

/* An engine of its own hears the answers once more. */
static mel_status fill_radii(double *radius, mel_engine *engine, const mel_session *session, mel_error *err)
{
    TRY(radius_now(&radius[0], engine, err));
    for (size_t i = 0; i < session->n_entries; i++) {
        const mel_pair pair = mel_session_pair(session, i);
        TRY(engine->ops->tell(engine, &pair, heard(session->entries[i].answer), err));
        TRY(radius_now(&radius[i + 1], engine, err));
    }
    return MEL_OK;
}

mel_status mel_session_radii(double **out, size_t *n, const mel_session *session, mel_error *err)
{
    *out = NULL;
    *n = 0;
    if (session->options.values.strategy != MEL_STRATEGY_ACTIVE)
        return MEL_OK;
    MEL_AUTO_MEMORY double *radius = mel_alloc(session->n_entries + 1, sizeof *radius);
    if (radius == NULL)
        return mel_fail_memory(err, "the radius after each question");
    mel_engine *engine = NULL;
    TRY(make_engine(&engine, session, err));
    const mel_status status = fill_radii(radius, engine, session, err);
    engine->ops->free(engine);
    if (status != MEL_OK)
        return status;
    *n = session->n_entries + 1;
    for (size_t i = 0; i <= session->n_entries; i++)
        if (!(radius[i] > 0.0) || !isfinite(radius[i]))
            *n = 0;
    *out = radius;
    radius = NULL;
    return MEL_OK;
}

mel_status mel_session_rebuild(mel_engine **out, const mel_session *session, size_t n, mel_error *err)
{
    mel_engine *fresh = NULL;
    mel_status status = make_engine(&fresh, session, err);
    for (size_t i = 0; i < n && status == MEL_OK && fresh != NULL; i++) {
        const mel_pair pair = mel_session_pair(session, i);
        status =
            mel_report_progress(&session->domain.progress, "replaying answers", (double)i / (double)n, err);
        if (status == MEL_OK)
            status = fresh->ops->tell(fresh, &pair, heard(session->entries[i].answer), err);
    }
    if (status == MEL_OK)
        *out = fresh;
    else if (fresh != NULL)
        fresh->ops->free(fresh);
    return status;
}

void mel_session_adopt(mel_session *session, mel_engine *fresh, size_t n)
{
    session->engine->ops->free(session->engine);
    session->engine = fresh;
    session->n_entries = n;
    session->asked = false;
    session->again = 0;
    session->end = MEL_END_NOT_YET;
    mel_session_forget(session);
}

/* The last answer was heard but not stored: it must be as if it had not been given. Where memory does not
 * allow that either, the session is broken and says so from then on. */
static void take_back(mel_session *session, size_t n)
{
    mel_engine *fresh = NULL;
    if (mel_session_rebuild(&fresh, session, n, NULL) == MEL_OK)
        mel_session_adopt(session, fresh, n);
    else
        session->broken = true;
}

static mel_status accept_and_store(mel_session *session, const mel_record *said, mel_error *err)
{
    const size_t before = session->n_entries;
    TRY(mel_session_accept(session, said, err));
    if (session->log == NULL)
        return MEL_OK;
    const mel_log_line line = mel_session_log_line(session, before);
    const mel_status status = mel_log_append(session->log, &line, err);
    if (status != MEL_OK)
        take_back(session, before);
    return status;
}

mel_status mel_session_tell(mel_session *session, uint32_t number, mel_answer answer, double seconds,
                            mel_error *err)
{
    bool known = false;
    mel_status status = check_number(session, number, answer, &known, err);
    if (status != MEL_OK || known)
        return status;
    const mel_pair *pair = &session->pending;
    const mel_record said = { .a = pair->a,
                              .b = pair->b,
                              .answer = answer,
                              .seconds = seconds,
                              .repeated = pair->repeated,
                              .imagined = pair->imagined,
                              .people = pair->people,
                              .again = session->again };
    return accept_and_store(session, &said, err);
}

/* --- answers from elsewhere --------------------------------------------------------------------- */

static mel_status go_on_as_set(mel_session *session, mel_error *err)
{
    mel_engine *fresh = NULL;
    TRY(mel_session_rebuild(&fresh, session, session->n_entries, err));
    mel_session_adopt(session, fresh, session->n_entries);
    return MEL_OK;
}

/* A line of an earlier version, in which sessions gave declared signs up once answers spoke against them:
 * those of the weights that the question was about where answers err by margin, else all. On a face the
 * direction was turned round. */
static mel_status go_on_without_signs(mel_session *session, const mel_record *said, mel_error *err)
{
    const double same = 1e-9;
    mel_kept_options *kept = &session->options;
    mel_session_options *opt = &kept->values;
    if (session->domain.face != NULL) {
        opt->direction = opt->direction == MEL_INCREASING ? MEL_DECREASING : MEL_INCREASING;
        return go_on_as_set(session, err);
    }
    const size_t n = mel_sign_count(&session->layout);
    const bool singly = mel_assumed(&opt->assume)->errs == MEL_ERRS_BY_MARGIN;
    signed char *signs = mel_alloc(n, sizeof *signs);
    if (signs == NULL)
        return mel_fail_memory(err, "the signs");
    for (size_t i = 0; i < n; i++)
        signs[i] = (signed char)mel_sign_declared(session, i);
    for (size_t i = 0; i < session->size; i++)
        if (!singly || fabs(said->a[i] - said->b[i]) > same)
            signs[i % n] = 0;
    free(kept->signs);
    opt->signs = kept->signs = signs;
    opt->direction = MEL_DIRECTION_UNKNOWN;
    return go_on_as_set(session, err);
}

/* The session had ended with the cost ratio beyond its questions, and went on with an option that its header
 * does not have. */
static mel_status go_on_imagined(mel_session *session, mel_error *err)
{
    session->options.values.imagined_beyond = true;
    return go_on_as_set(session, err);
}

/* The classifier of a pool that a recorded point is, whose numbers may have been computed otherwise in the
 * last digits; NULL: none. */
static const double *find_candidate(const mel_pool *pool, const double *point)
{
    const double alike = 1e-9;
    const double *nearest = NULL;
    double least = INFINITY;
    for (size_t c = 0; c < pool->n; c++) {
        const double *one = pool->value + c * pool->size;
        double apart = 0.0;
        for (size_t i = 0; i < pool->size; i++)
            apart = fmax(apart, fabs(one[i] - point[i]) / fmax(1.0, fabs(one[i])));
        if (apart < least) {
            least = apart;
            nearest = one;
        }
    }
    return least <= alike ? nearest : NULL;
}

/* What the pair was, as the session has it; statistics are shares, from 0 to 1 up to rounding. */
static mel_status check_point(const double **point, const char *side, const mel_session *session,
                              mel_error *err)
{
    const double rounding = 1e-6;
    if (session->domain.pool != NULL) {
        *point = find_candidate(session->domain.pool, *point);
        return *point != NULL
                   ? MEL_OK
                   : mel_fail(err, MEL_EDATA, "%s: no classifier of the pool has these numbers", side);
    }
    for (size_t i = 0; i < session->size; i++)
        if (!((*point)[i] >= -rounding && (*point)[i] <= 1.0 + rounding))
            return mel_fail(err, MEL_EDATA, "%s[%zu]: expected a share from 0 to 1, not %g", side, i,
                            (*point)[i]);
    return MEL_OK;
}

static bool was_asked_swapped(const mel_session *session, const mel_record *said)
{
    const size_t bytes = session->size * sizeof *said->a;
    for (size_t i = 0; i < session->n_entries; i++) {
        const mel_pair pair = mel_session_pair(session, i);
        if (memcmp(pair.a, said->b, bytes) == 0 && memcmp(pair.b, said->a, bytes) == 0)
            return true;
    }
    return false;
}

mel_status mel_session_replay(mel_session *session, const mel_record *record, mel_error *err)
{
    const mel_session_options *opt = &session->options.values;
    mel_record said = *record;
    if (session->broken)
        return fail_broken(err);
    if (said.again == 0 && session->n_entries >= opt->max_questions)
        return mel_fail(err, MEL_ECONFLICT, "there are more answers than the %u questions allowed now",
                        opt->max_questions);
    TRY(check_point(&said.a, "a", session, err));
    TRY(check_point(&said.b, "b", session, err));
    if (said.imagined && !opt->imagined_beyond && opt->questions == MEL_QUESTIONS_REALISTIC)
        TRY(go_on_imagined(session, err));
    if (said.signs_dropped)
        TRY(go_on_without_signs(session, &said, err));
    if (said.people == MEL_NOT_RECORDED) {
        mel_pair pair = { .a = (double *)said.a, .b = (double *)said.b };
        find_shown(session, &pair);
        said.people = pair.people;
        said.imagined = pair.imagined;
        said.repeated = was_asked_swapped(session, &said);
    }
    session->end = MEL_END_NOT_YET;
    return accept_and_store(session, &said, err);
}

mel_status mel_session_set_budget(mel_session *session, uint32_t max_questions, mel_error *err)
{
    const size_t least = session->n_entries > 0 ? session->n_entries : 1;
    if (max_questions < least)
        return mel_fail(err, MEL_EINVAL, "max_questions: expected at least %zu, not %u", least,
                        max_questions);
    session->options.values.max_questions = max_questions;
    mel_session_forget(session);
    bool settled = false;
    if (session->options.values.until == MEL_UNTIL_DECISION)
        TRY(session_decided(&settled, session, err));
    if (settled)
        session->options.values.until = MEL_UNTIL_TOLERANCE;
    session->end = MEL_END_NOT_YET;
    return MEL_OK;
}

mel_status mel_session_undo(mel_session *session, mel_error *err)
{
    if (session->broken)
        return fail_broken(err);
    if (session->n_entries == 0)
        return mel_fail(err, MEL_ESTATE, "there is no answer to take back");
    mel_engine *fresh = NULL;
    mel_status status = mel_session_rebuild(&fresh, session, session->n_entries - 1, err);
    if (status != MEL_OK || fresh == NULL)
        return status;
    const mel_log_line line = { .undo = true, .question = (uint32_t)session->n_entries };
    if (session->log != NULL)
        status = mel_log_append(session->log, &line, err);
    if (status != MEL_OK) {
        fresh->ops->free(fresh);
        return status;
    }
    mel_session_adopt(session, fresh, session->n_entries - 1);
    return MEL_OK;
}
