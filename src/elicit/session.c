#include "base/json.h"
#include "elicit/engine.h"
#include "elicit/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLASSIFIER_TEXT = 160 };
/* Points in a log are compared with the questions that the replay gives: far above rounding, far below
 * what anybody could see. */
static const double same_point = 1e-6;

typedef struct {
    mel_pair pair;
    double a[2], b[2];
    mel_answer answer;
    double seconds;
} entry;

struct mel_session {
    const mel_face *face;
    mel_session_options opt;
    char *names[2];
    const char *lent_names[2];
    mel_engine *engine;
    mel_log *log;
    entry *entries;
    size_t n_entries, capacity;
    /* The pending question, when there is one. */
    bool asked;
    bool broken; /* memory and log differ: nothing can go on */
    mel_end end;
    entry pending;
    double class_share[2];
    char classifier[2][CLASSIFIER_TEXT];
    mel_question question;
};

void mel_session_options_init(mel_session_options *opt)
{
    *opt = (mel_session_options){
        .struct_size = sizeof *opt,
        .tolerance = 0.02,
        .max_questions = 200,
        .seed = 1,
        .known_p11 = NAN,
    };
}

/* --- making and ending -------------------------------------------------------------------------- */

void mel_session_free(mel_session *session)
{
    if (session == NULL)
        return;
    if (session->engine != NULL)
        session->engine->ops->free(session->engine);
    mel_log_close(session->log);
    free(session->entries);
    free(session->names[0]);
    free(session->names[1]);
    free(session);
}

static mel_status check_options(const mel_session_options *opt, mel_error *err)
{
    if (opt->family != MEL_FAMILY_LINEAR && opt->family != MEL_FAMILY_LINEAR_FRACTIONAL)
        return mel_fail(
            err, MEL_EINVAL,
            "family %s is not for two classes on a planar face; there are linear and linear-fractional",
            mel_family_name(opt->family));
    if (!(opt->tolerance > 0.0) || !(opt->tolerance < 1.5))
        return mel_fail(err, MEL_EINVAL, "tolerance %g is not between 0 and 1.5", opt->tolerance);
    if (opt->max_questions == 0)
        return mel_fail(err, MEL_EINVAL, "a session of at most 0 questions finds nothing");
    if (isfinite(opt->known_p11) && !(opt->known_p11 >= 0.0 && opt->known_p11 <= 1.0))
        return mel_fail(err, MEL_EINVAL, "known p11 = %g is not within 0 and 1", opt->known_p11);
    if (opt->strategy > MEL_STRATEGY_SEARCH || opt->direction > MEL_DIRECTION_UNKNOWN ||
        opt->boundary > MEL_BOUNDARY_PLUG_IN || opt->lfpm > MEL_LFPM_GRID ||
        opt->assume.kind > MEL_NOISE_FLIP)
        return mel_fail(err, MEL_EINVAL, "an option has a value that is none of its choices");
    if (opt->seed > INT64_MAX)
        return mel_fail(err, MEL_EINVAL, "the seed is larger than %lld", (long long)INT64_MAX);
    const mel_assumption *assume = &opt->assume;
    const bool flip = assume->kind == MEL_NOISE_FLIP;
    if (!(assume->size >= 0.0) || !isfinite(assume->size) || (flip && assume->size >= 0.5))
        return mel_fail(err, MEL_EINVAL, "the assumed noise cannot have size %g", assume->size);
    return MEL_OK;
}

static mel_status make_engine(mel_engine **out, const mel_session *session, mel_error *err)
{
    if (session->opt.strategy == MEL_STRATEGY_SEARCH)
        return mel_engine_search(out, session->face, &session->opt, err);
    if (session->opt.family == MEL_FAMILY_LINEAR)
        return mel_engine_planar(out, session->face, &session->opt, err);
    return mel_engine_fractional(out, session->face, &session->opt, err);
}

static mel_status copy_names(mel_session *session, const char *const *names, mel_error *err)
{
    if (names == NULL)
        return MEL_OK;
    for (size_t i = 0; i < 2; i++) {
        session->names[i] = mel_strdup(names[i]);
        if (session->names[i] == NULL)
            return mel_fail_memory(err, "the class names");
        session->lent_names[i] = session->names[i];
    }
    session->opt.class_names = session->lent_names;
    return MEL_OK;
}

mel_status mel_session_new(mel_session **out, const mel_face *face, const mel_session_options *opt,
                           mel_error *err)
{
    *out = NULL;
    if (opt->struct_size != sizeof *opt)
        return mel_fail(err, MEL_EINVAL, "options that mel_session_options_init() did not fill");
    mel_status status = check_options(opt, err);
    if (status != MEL_OK)
        return status;
    mel_session *session = mel_alloc_zero(1, sizeof *session);
    if (session == NULL)
        return mel_fail_memory(err, "the session");
    session->face = face;
    session->opt = *opt;
    session->opt.class_names = NULL;
    session->class_share[0] = mel_face_negatives(face);
    session->class_share[1] = mel_face_positives(face);
    status = copy_names(session, opt->class_names, err);
    if (status == MEL_OK)
        status = make_engine(&session->engine, session, err);
    if (status != MEL_OK) {
        mel_session_free(session);
        return status;
    }
    *out = session;
    return MEL_OK;
}

/* --- questions and answers ---------------------------------------------------------------------- */

static void describe(char text[CLASSIFIER_TEXT], const mel_face *face, mel_point point)
{
    text[0] = '\0';
    mel_mixture mixture;
    if (mel_face_achieve(&mixture, face, point, NULL) != MEL_OK)
        return;
    size_t used = 0;
    for (size_t i = 0; i < mixture.n && used < CLASSIFIER_TEXT; i++) {
        const mel_rule rule = mixture.rule[i];
        const int n =
            snprintf(text + used, CLASSIFIER_TEXT - used, "%s%.4g: positive when score %s %.6g",
                     i == 0 ? "" : "; ", mixture.share[i], rule.inverted ? "<" : ">=", rule.threshold);
        used += n > 0 ? (size_t)n : 0;
    }
}

static void show_pending(mel_session *session)
{
    entry *pending = &session->pending;
    pending->a[0] = pending->pair.a.tp;
    pending->a[1] = pending->pair.a.tn;
    pending->b[0] = pending->pair.b.tp;
    pending->b[1] = pending->pair.b.tn;
    describe(session->classifier[0], session->face, pending->pair.a);
    describe(session->classifier[1], session->face, pending->pair.b);
    const uint32_t number = (uint32_t)session->n_entries + 1;
    session->question = (mel_question){
        .number = number,
        .expected = number - 1 + mel_session_expected(session),
        .layout = &mel_binary_layout,
        .class_names = session->opt.class_names,
        .a = pending->a,
        .b = pending->b,
        .class_share = session->class_share,
        .classifier_a = session->classifier[0][0] != '\0' ? session->classifier[0] : NULL,
        .classifier_b = session->classifier[1][0] != '\0' ? session->classifier[1] : NULL,
    };
}

/* Finds the pending question or the reason why there is none. */
static mel_status propose(mel_session *session, mel_error *err)
{
    if (session->broken)
        return mel_fail(err, MEL_ESTATE,
                        "an answer could not be stored nor taken back; open the session again");
    if (session->asked || session->end != MEL_END_NOT_YET)
        return MEL_OK;
    mel_status status =
        session->engine->ops->next(session->engine, &session->pending.pair, &session->end, err);
    if (status != MEL_OK)
        return status;
    if (session->end == MEL_END_NOT_YET && session->n_entries >= session->opt.max_questions)
        session->end = MEL_END_BUDGET;
    if (session->end == MEL_END_NOT_YET) {
        session->asked = true;
        show_pending(session);
    }
    return MEL_OK;
}

mel_status mel_session_ask(const mel_question **question, bool *done, mel_session *session, mel_error *err)
{
    const mel_status status = propose(session, err);
    if (status != MEL_OK)
        return status;
    *done = !session->asked;
    *question = session->asked ? &session->question : NULL;
    return MEL_OK;
}

static mel_status reserve_entry(mel_session *session, mel_error *err)
{
    if (session->n_entries < session->capacity)
        return MEL_OK;
    const size_t capacity = session->capacity == 0 ? 32 : 2 * session->capacity;
    void *block = session->entries;
    if (!mel_grow(&block, capacity, sizeof *session->entries))
        return mel_fail_memory(err, "the answers");
    session->entries = block;
    session->capacity = capacity;
    return MEL_OK;
}

/* The answer to the pending question, engine first: what it cannot digest is not recorded. */
static mel_status accept(mel_session *session, mel_answer answer, double seconds, mel_error *err)
{
    mel_status status = reserve_entry(session, err);
    if (status == MEL_OK)
        status = session->engine->ops->tell(session->engine, &session->pending.pair, answer, err);
    if (status != MEL_OK)
        return status;
    session->pending.answer = answer;
    session->pending.seconds = seconds;
    session->entries[session->n_entries++] = session->pending;
    session->asked = false;
    return MEL_OK;
}

static mel_status check_number(const mel_session *session, uint32_t number, mel_answer answer, bool *known,
                               mel_error *err)
{
    *known = false;
    if (answer != MEL_ANSWER_A && answer != MEL_ANSWER_B && answer != MEL_ANSWER_SAME)
        return mel_fail(err, MEL_EINVAL, "question %u: %d is no answer", number, (int)answer);
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

/* An engine that has heard the first n answers. */
static mel_status build_engine(mel_engine **out, const mel_session *session, size_t n, mel_error *err)
{
    mel_engine *fresh = NULL;
    mel_status status = make_engine(&fresh, session, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        const entry *e = &session->entries[i];
        status = fresh->ops->tell(fresh, &e->pair, e->answer, err);
    }
    if (status == MEL_OK)
        *out = fresh;
    else if (fresh != NULL)
        fresh->ops->free(fresh);
    return status;
}

/* Goes on with that engine. */
static void adopt(mel_session *session, mel_engine *fresh, size_t n)
{
    session->engine->ops->free(session->engine);
    session->engine = fresh;
    session->n_entries = n;
    session->asked = false;
    session->end = MEL_END_NOT_YET;
}

/* The last answer was heard but not stored: it must be as if it had not been given. Where memory does not
 * allow that either, the session is broken and says so from then on. */
static void take_back(mel_session *session, size_t n)
{
    mel_engine *fresh = NULL;
    if (build_engine(&fresh, session, n, NULL) == MEL_OK)
        adopt(session, fresh, n);
    else
        session->broken = true;
}

mel_status mel_session_tell(mel_session *session, uint32_t number, mel_answer answer, double seconds,
                            mel_error *err)
{
    bool known = false;
    mel_status status = check_number(session, number, answer, &known, err);
    if (status != MEL_OK || known)
        return status;
    const size_t before = session->n_entries;
    status = accept(session, answer, seconds, err);
    if (status != MEL_OK || session->log == NULL)
        return status;
    const entry *e = &session->entries[before];
    const mel_log_line line = {
        .question = number,
        .answer = answer,
        .seconds = seconds,
        .a = { e->a[0], e->a[1] },
        .b = { e->b[0], e->b[1] },
    };
    status = mel_log_append(session->log, &line, err);
    if (status != MEL_OK)
        take_back(session, before);
    return status;
}

mel_status mel_session_undo(mel_session *session, mel_error *err)
{
    if (session->n_entries == 0)
        return mel_fail(err, MEL_ESTATE, "there is no answer to take back");
    mel_engine *fresh = NULL;
    mel_status status = build_engine(&fresh, session, session->n_entries - 1, err);
    if (status != MEL_OK)
        return status;
    const mel_log_line line = { .undo = true, .question = (uint32_t)session->n_entries };
    if (session->log != NULL)
        status = mel_log_append(session->log, &line, err);
    if (status != MEL_OK) {
        fresh->ops->free(fresh);
        return status;
    }
    adopt(session, fresh, session->n_entries - 1);
    return MEL_OK;
}

/* --- the log ------------------------------------------------------------------------------------ */

static json_t *options_object(const mel_session_options *opt)
{
    char assume[MEL_NOISE_TEXT];
    mel_assumption_print(assume, sizeof assume, &opt->assume);
    json_t *object = json_pack(
        "{s:f, s:I, s:s, s:s, s:I, s:s, s:b, s:s}", "tolerance", opt->tolerance, "max_questions",
        (json_int_t)opt->max_questions, "direction", mel_direction_name(opt->direction), "assume", assume,
        "repeat_every", (json_int_t)opt->repeat_every, "boundary", mel_boundary_name(opt->boundary),
        "three_questions", opt->three_questions ? 1 : 0, "lfpm", mel_lfpm_name(opt->lfpm));
    if (object != NULL && isfinite(opt->known_p11) &&
        json_object_set_new(object, "known_p11", json_real(opt->known_p11)) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static mel_status make_header(json_t **out, const mel_session_options *opt, const mel_identity *identity,
                              mel_error *err)
{
    const char *text = identity != NULL && identity->space_json != NULL ? identity->space_json : "{}";
    char digest[MEL_DIGEST_HEX + 8] = "none";
    if (identity != NULL && identity->digest != NULL)
        (void)snprintf(digest, sizeof digest, "sha256:%s", identity->digest);
    json_t *space = NULL;
    const mel_status status = mel_json_parse(&space, text, strlen(text), err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "the description of the space");
    if (!json_is_object(space)) {
        json_decref(space);
        return mel_fail(err, MEL_EINVAL, "the description of the space is not a JSON object");
    }
    *out = json_pack("{s:s, s:i, s:o, s:s, s:s, s:o, s:I, s:s}", "format", "melicit-session", "version", 1,
                     "space", space, "family", mel_family_name(opt->family), "strategy",
                     mel_strategy_name(opt->strategy), "options", options_object(opt), "seed",
                     (json_int_t)opt->seed, "data", digest);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the session's header");
}

static bool near(const double x[2], const double y[2])
{
    return fabs(x[0] - y[0]) <= same_point && fabs(x[1] - y[1]) <= same_point;
}

static mel_status replay_answer(mel_session *session, const mel_log_line *line, mel_error *err)
{
    if (line->question != session->n_entries + 1)
        return mel_fail(err, MEL_EDATA,
                        "answers question %u, but question %zu comes next: lines are missing or out of order",
                        line->question, session->n_entries + 1);
    mel_status status = propose(session, err);
    if (status != MEL_OK)
        return status;
    if (!session->asked && session->end == MEL_END_BUDGET)
        return mel_fail(err, MEL_ECONFLICT, "the file has more answers than the %u questions allowed now",
                        session->opt.max_questions);
    if (!session->asked)
        return mel_fail(err, MEL_EDATA, "answers question %u, but the session was complete before it",
                        line->question);
    if (line->has_points && !(near(line->a, session->pending.a) && near(line->b, session->pending.b)))
        return mel_fail(err, MEL_ECONFLICT,
                        "question %u was about (%.6g, %.6g) or (%.6g, %.6g), now it would be about (%.6g, "
                        "%.6g) or (%.6g, "
                        "%.6g): the data, the model or the version have changed",
                        line->question, line->a[0], line->a[1], line->b[0], line->b[1], session->pending.a[0],
                        session->pending.a[1], session->pending.b[0], session->pending.b[1]);
    return accept(session, line->answer, line->seconds, err);
}

static mel_status replay_line(void *user, const mel_log_line *line, mel_error *err)
{
    mel_session *session = user;
    if (!line->undo)
        return replay_answer(session, line, err);
    if (session->n_entries == 0 || line->question != session->n_entries)
        return mel_fail(err, MEL_EDATA, "takes back question %u, but the last answered one is %zu",
                        line->question, session->n_entries);
    mel_engine *fresh = NULL;
    const mel_status status = build_engine(&fresh, session, session->n_entries - 1, err);
    if (status == MEL_OK)
        adopt(session, fresh, session->n_entries - 1);
    return status;
}

mel_status mel_session_open(mel_session **out, const mel_face *face, const mel_session_options *opt,
                            const mel_identity *identity, const char *path, mel_error *err)
{
    *out = NULL;
    mel_session *session = NULL;
    mel_status status = mel_session_new(&session, face, opt, err);
    if (status != MEL_OK)
        return status;
    json_t *header = NULL;
    status = make_header(&header, opt, identity, err);
    if (status == MEL_OK)
        status = mel_log_open(&session->log, path, identity != NULL && identity->read_only, header,
                              replay_line, session, err);
    json_decref(header);
    if (status != MEL_OK) {
        mel_session_free(session);
        return status;
    }
    *out = session;
    return MEL_OK;
}

bool mel_session_repaired(const mel_session *session)
{
    return session->log != NULL && mel_log_repaired(session->log);
}

/* --- running to the end ------------------------------------------------------------------------- */

static double seconds_now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : NAN;
}

static mel_status one_question(mel_session *session, mel_oracle *oracle, const mel_question *question,
                               mel_error *err)
{
    mel_reply reply;
    const double start = seconds_now();
    const mel_status status = mel_oracle_ask(&reply, oracle, question, err);
    if (status != MEL_OK)
        return status;
    if (reply == MEL_REPLY_QUIT)
        return mel_fail(err, MEL_ESTOPPED, "stopped after %zu answers", session->n_entries);
    if (reply == MEL_REPLY_UNDO)
        return session->n_entries > 0 ? mel_session_undo(session, err) : MEL_OK;
    return mel_session_tell(session, question->number, (mel_answer)reply, seconds_now() - start, err);
}

mel_status mel_session_run(mel_session *session, mel_oracle *oracle, mel_error *err)
{
    for (;;) {
        const mel_question *question = NULL;
        bool done = false;
        mel_status status = mel_session_ask(&question, &done, session, err);
        if (status != MEL_OK || done)
            return status;
        status = one_question(session, oracle, question, err);
        if (status != MEL_OK)
            return status;
    }
}

/* --- looking ------------------------------------------------------------------------------------ */

uint32_t mel_session_answers(const mel_session *session)
{
    return (uint32_t)session->n_entries;
}

mel_record mel_session_record(const mel_session *session, uint32_t index)
{
    const entry *e = &session->entries[index];
    return (mel_record){
        .a = e->a, .b = e->b, .answer = e->answer, .seconds = e->seconds, .repeated = e->pair.repeated
    };
}

const mel_session_options *mel_session_get_options(const mel_session *session)
{
    return &session->opt;
}

const mel_face *mel_session_face(const mel_session *session)
{
    return session->face;
}

uint32_t mel_session_expected(mel_session *session)
{
    const uint32_t left = session->engine->ops->expected(session->engine);
    const uint32_t budget = session->opt.max_questions;
    const uint32_t answered = (uint32_t)session->n_entries;
    const uint32_t allowed = budget > answered ? budget - answered : 0;
    return left < allowed ? left : allowed;
}

/* Whether two answers to the same pair, the second one with its sides swapped, say the same. */
static bool agrees(mel_answer first, mel_answer swapped)
{
    if (first == MEL_ANSWER_SAME || swapped == MEL_ANSWER_SAME)
        return first == swapped;
    return first != swapped;
}

static bool equal(const double x[2], const double y[2])
{
    return x[0] == y[0] && x[1] == y[1];
}

static void count_repeats(const mel_session *session, mel_summary *summary)
{
    for (size_t i = 0; i < session->n_entries; i++) {
        const entry *again = &session->entries[i];
        if (!again->pair.repeated)
            continue;
        for (size_t j = i; j-- > 0;) {
            const entry *first = &session->entries[j];
            if (!equal(first->a, again->b) || !equal(first->b, again->a))
                continue;
            summary->repeats++;
            summary->repeats_agreed += agrees(first->answer, again->answer);
            break;
        }
    }
}

static void count_disagreements(const mel_session *session, const mel_metric *metric, mel_summary *summary)
{
    for (size_t i = 0; i < session->n_entries; i++) {
        const entry *e = &session->entries[i];
        double better = 0.0;
        if (e->answer == MEL_ANSWER_SAME || mel_metric_compare(&better, metric, e->a, e->b, NULL) != MEL_OK)
            continue;
        summary->disagreements += (e->answer == MEL_ANSWER_A) != (better > 0.0);
    }
}

mel_status mel_session_result(mel_metric **metric, mel_summary *summary, mel_session *session, mel_error *err)
{
    *metric = NULL;
    mel_status status = propose(session, err);
    if (status != MEL_OK)
        return status;
    mel_summary found = {
        .end = session->end,
        .questions = (uint32_t)session->n_entries,
        .radius = NAN,
        .error_rate = NAN,
        .angle = NAN,
        .angle_low = NAN,
        .angle_high = NAN,
    };
    mel_metric *result = NULL;
    status = session->engine->ops->result(session->engine, &result, &found, err);
    if (status != MEL_OK)
        return status;
    const mel_elicited how = {
        .questions = found.questions,
        .strategy = mel_strategy_name(session->opt.strategy),
        .radius = found.radius,
        .seed = session->opt.seed,
    };
    status = mel_metric_set_elicited(result, &how, err);
    if (status != MEL_OK) {
        mel_metric_free(result);
        return status;
    }
    count_repeats(session, &found);
    count_disagreements(session, result, &found);
    if (summary != NULL)
        *summary = found;
    *metric = result;
    return MEL_OK;
}

mel_status mel_session_posterior(size_t n, double *angle, double *density, mel_session *session,
                                 mel_error *err)
{
    return session->engine->ops->posterior(session->engine, n, angle, density, err);
}
