/* What goes on in a study: who is where, what is known of each, and of all together. */
#include "app.h"
#include "clock.h"
#include "flow.h"
#include "json_helpers.h"
#include "manage.h"

#include "base/internal.h"
#include "base/stat.h"

#include "melicit/rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- what all participants say together ------------------------------------------------------------- */

enum { THIRDS = 3, LEAST_TIMED = 9 };

/* Those who count: simulated people only among themselves. */
static json_t *counted(const json_t *people)
{
    json_t *real = json_array(), *simulated = json_array();
    for (size_t i = 0; i < json_array_size(people); i++) {
        json_t *person = json_array_get(people, i);
        mel_json_push(mel_json_is_true(person, "simulated") ? &simulated : &real, json_incref(person));
    }
    const bool any = real == NULL || json_array_size(real) > 0;
    json_decref(any ? simulated : real);
    return any ? real : simulated;
}

/* --- times -------------------------------------------------------------------------------------- */

typedef struct {
    double apart, seconds;
} timed;

static int by_distance(const void *x, const void *y)
{
    const timed *a = x, *b = y;
    if (a->apart != b->apart)
        return a->apart < b->apart ? -1 : 1;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* Every question whose time is known; at: room for them, NULL to count. */
static size_t collect(timed *at, const json_t *people)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(people); i++) {
        const json_t *person = json_array_get(people, i), *times = json_object_get(person, "times");
        const json_t *apart = json_object_get(person, "apart");
        for (size_t j = 0; j < json_array_size(times); j++, n++)
            if (at != NULL)
                at[n] = (timed){ json_number_value(json_array_get(apart, j)),
                                 json_number_value(json_array_get(times, j)) };
    }
    return n;
}

static json_t *third(const timed *at, size_t n, double *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = at[i].seconds;
    return json_pack("{s:f, s:f, s:f}", "low", at[0].apart, "high", at[n - 1].apart, "median_seconds",
                     mel_quantile_sort(n, room, 0.5));
}

/* at is sorted; room: 2 n numbers. */
static json_t *describe_times(const timed *at, size_t n, double *room)
{
    mel_agreement alike;
    for (size_t i = 0; i < n; i++) {
        room[i] = at[i].apart;
        room[n + i] = at[i].seconds;
    }
    if (mel_rank_agreement(&alike, n, room, MEL_COST, room + n, MEL_COST, NULL) != MEL_OK)
        return NULL;
    json_t *thirds = json_array();
    for (size_t t = 0; t < THIRDS; t++) {
        const size_t from = t * n / THIRDS, to = (t + 1) * n / THIRDS;
        mel_json_push(&thirds, third(at + from, to - from, room));
    }
    return json_pack("{s:I, s:o, s:o}", "answers", (json_int_t)n, "tau",
                     isfinite(alike.tau) ? json_real(alike.tau) : json_null(), "thirds", thirds);
}

/* Whether close pairs take longer: {"answers", "tau": of distance and time, "thirds": [{"low", "high",
 * "median_seconds"}]}; JSON null where there are few answers, NULL without memory. */
static json_t *survey_times(const json_t *people)
{
    json_auto_t *who = counted(people);
    const size_t n = collect(NULL, who);
    MEL_AUTO_MEMORY timed *at = mel_alloc(n + 1, sizeof *at);
    MEL_AUTO_MEMORY double *room = mel_alloc(2 * n + 1, sizeof *room);
    if (who == NULL || at == NULL || room == NULL)
        return NULL;
    (void)collect(at, who);
    qsort(at, n, sizeof *at, by_distance);
    return n >= LEAST_TIMED ? describe_times(at, n, room) : json_null();
}

/* --- forms -------------------------------------------------------------------------------------- */

/* What a person said in a field; NULL: nothing. */
static const json_t *said(const json_t *person, size_t phase, const char *name)
{
    return json_object_get(mel_flow_form(json_object_get(person, "forms"), phase), name);
}

/* How often each choice of a field was taken, in the order of the study. */
static json_t *count_choices(const json_t *field, size_t phase, const json_t *people)
{
    const json_t *choices = json_object_get(field, "choices");
    json_t *counts = json_object();
    for (size_t c = 0; c < json_array_size(choices); c++) {
        json_int_t n = 0;
        for (size_t i = 0; i < json_array_size(people); i++) {
            const json_t *person = json_array_get(people, i);
            n += json_equal(said(person, phase, mel_json_string(field, "name")), json_array_get(choices, c));
        }
        mel_json_set(&counts, json_string_value(json_array_get(choices, c)), json_integer(n));
    }
    return counts;
}

/* Least, median and largest of the numbers in a field; room: one for each person. */
static void put_numbers(json_t **out, const json_t *field, size_t phase, const json_t *people, double *room)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(people); i++) {
        const json_t *person = json_array_get(people, i);
        const json_t *value = said(person, phase, mel_json_string(field, "name"));
        if (json_is_number(value))
            room[n++] = json_number_value(value);
    }
    if (n == 0)
        return;
    mel_json_set(out, "median", json_real(mel_quantile_sort(n, room, 0.5)));
    mel_json_set(out, "low", json_real(room[0]));
    mel_json_set(out, "high", json_real(room[n - 1]));
}

static json_t *describe_field(const json_t *form, const json_t *field, size_t phase, const json_t *people,
                              double *room)
{
    const char *type = mel_json_string(field, "type"), *name = mel_json_string(field, "name");
    json_int_t answers = 0, of = 0;
    for (size_t i = 0; i < json_array_size(people); i++) {
        const json_t *person = json_array_get(people, i);
        of += mel_flow_form(json_object_get(person, "forms"), phase) != NULL;
        answers += said(person, phase, name) != NULL;
    }
    json_t *out =
        json_pack("{s:s?, s:s, s:s?, s:s, s:I, s:I}", "form", mel_json_string(form, "title"), "name", name,
                  "label", mel_json_string(field, "label"), "type", type, "answers", answers, "of", of);
    if (strcmp(type, "choice") == 0)
        mel_json_set(&out, "counts", count_choices(field, phase, people));
    if (strcmp(type, "number") == 0)
        put_numbers(&out, field, phase, people, room);
    return out;
}

/* [{"form", "name", "label", "type", "answers", "of", "counts": {choice: n}?, "low"?, "median"?, "high"?}] */
static json_t *survey_forms(const mel_study *study, const json_t *people)
{
    json_t *out = json_array();
    json_auto_t *who = counted(people);
    MEL_AUTO_MEMORY double *room = mel_alloc(json_array_size(who) + 1, sizeof *room);
    if (who == NULL || room == NULL)
        return mel_json_if(false, out);
    for (size_t p = 0; p < study->n_phases; p++) {
        const json_t *form = study->phase[p].json;
        const json_t *fields =
            study->phase[p].kind == MEL_PHASE_FORM ? json_object_get(form, "fields") : NULL;
        for (size_t i = 0; i < json_array_size(fields); i++)
            mel_json_push(&out, describe_field(form, json_array_get(fields, i), p, who, room));
    }
    return out;
}

enum {
    LEAST_POOLED = 2,
    MOST_POOLED = 100,
    MOST_PAGE_TEXT = 80,
    MOST_SHOWN = 500, /* participants on one page */
    PIECE = 200       /* participants that are read at a time */
};
static const double short_pooling = 1.0; /* seconds */

/* A look at the participants of a study. */
typedef struct {
    mel_store *store;
    mel_cache *cache;
    const char *id; /* of the study */
    mel_open_study *open_study;
    mel_study_counts counts;  /* of all participants */
    mel_participant_row *row; /* n, those of the page */
    size_t n;
    uint32_t *here, *left; /* people per phase */
    double end;            /* on the monotonic clock: nobody is replayed any more */
    bool busy;             /* the server has no room for work that takes long */
    bool incomplete;       /* somebody is left for the next call */
} survey;

static bool is_simulated(const mel_participant_row *row)
{
    json_auto_t *about = mel_stored_json(row->about);
    return mel_json_is_true(about, "simulated");
}

static bool is_complete(const mel_participant_row *row)
{
    return strcmp(row->state, "complete") == 0;
}

/* --- one of them -------------------------------------------------------------------------------- */

/* How far apart the two classifiers of a question are. */
static double distance(const mel_record *record, size_t size)
{
    double squares = 0.0;
    for (size_t i = 0; i < size; i++)
        squares += (record->a[i] - record->b[i]) * (record->a[i] - record->b[i]);
    return sqrt(squares);
}

/* How long every question took, how far apart its classifiers were, and the median where a time was recorded.
 */
static void put_times(json_t **out, mel_flow *flow)
{
    const mel_session *session = mel_flow_session(flow);
    const size_t size = mel_layout_size(mel_problem_layout(mel_flow_problem(flow)));
    const uint32_t n = mel_session_answers(session);
    MEL_AUTO_MEMORY double *seconds = mel_alloc(n, sizeof *seconds);
    json_t *times = seconds != NULL ? json_array() : NULL, *apart = json_array();
    uint32_t known = 0;
    for (uint32_t i = 0; i < n && seconds != NULL; i++) {
        const mel_record record = mel_session_record(session, i);
        if (!isfinite(record.seconds))
            continue;
        seconds[known++] = record.seconds;
        mel_json_push(&times, json_real(record.seconds));
        mel_json_push(&apart, json_real(distance(&record, size)));
    }
    if (known > 0)
        mel_json_set(out, "median_seconds", json_real(mel_quantile_sort(known, seconds, 0.5)));
    mel_json_set(out, "times", times);
    mel_json_set(out, "apart", apart);
}

/* What was found so far, without what only the participant's own page shows. */
static bool put_findings(json_t *out, mel_flow *flow)
{
    static const char *const kept[] = { "questions", "cost_ratio", "weights", "lambda",
                                        "words",     "agreement",  "repeats", "repeats_agreed",
                                        "threshold", "consistency" };
    json_auto_t *result = NULL;
    mel_flow_speak(flow, NULL); /* researchers read English */
    if (mel_session_answers(mel_flow_session(flow)) == 0 || mel_result_json(&result, flow, NULL) != MEL_OK)
        return true; /* nothing can be said yet */
    return mel_json_copy(out, result, kept, sizeof kept / sizeof *kept);
}

/* {"phase": where, "about": {..}}: what only a replay tells; NULL without memory. */
static json_t *describe_replayed(mel_participant *participant)
{
    mel_flow *flow = participant->flow;
    char page[MOST_PAGE_TEXT];
    mel_flow_describe(page, sizeof page, flow);
    json_t *about = json_pack("{s:s, s:I, s:f}", "page", page, "answers", (json_int_t)participant->seq,
                              "seconds", participant->seconds);
    const json_t *forms = mel_flow_forms(flow);
    put_times(&about, flow);
    if (forms != NULL)
        mel_json_set(&about, "forms", json_deep_copy(forms));
    return json_pack("{s:I, s:o}", "phase", (json_int_t)mel_flow_phase(flow), "about",
                     mel_json_if(put_findings(about, flow), about));
}

/* Every event sets the time, and the last one the state. */
static void mark_of(char mark[MEL_MEMO_TEXT], const mel_participant_row *row)
{
    (void)snprintf(mark, MEL_MEMO_TEXT, "%lld %s", (long long)row->seen, row->state);
}

/* Replays a participant; what is found is remembered until the person says more. */
static mel_status replay(json_t **found, const mel_participant_row *row, mel_cache *cache)
{
    char mark[MEL_MEMO_TEXT];
    mel_participant *participant = NULL;
    MEL_HELD(held);
    TRY(mel_work_begin(&held, mel_cache_admission(cache), &(mel_work){ .shared = true }, NULL));
    TRY(mel_participant_look(&participant, cache, row->id, row->seen, NULL));
    *found = describe_replayed(participant);
    (void)snprintf(participant->row.state, sizeof participant->row.state, "%s",
                   mel_flow_state(participant->flow));
    mark_of(mark, &participant->row);
    if (*found != NULL)
        mel_cache_remember(cache, row->id, mark, *found);
    mel_participant_release(cache, participant, !participant->fresh);
    return *found != NULL ? MEL_OK : MEL_ENOMEM;
}

static void count_page(survey *s, size_t phase, const mel_participant_row *row)
{
    const mel_study *study = s->open_study->study;
    const double idle = (double)(mel_now() - row->seen) / 3.6e6;
    const bool gone =
        strcmp(row->state, "left") == 0 || (strcmp(row->state, "active") == 0 && idle > study->resume_hours);
    if (phase < study->n_phases)
        ++*(gone ? &s->left[phase] : &s->here[phase]);
}

/* A person as the store has them, with what a replay found (or NULL). */
static json_t *person_json(const mel_participant_row *row, const json_t *found)
{
    json_t *out = json_pack("{s:s, s:s?, s:b, s:s, s:I, s:I}", "id", row->id, "label", row->label,
                            "simulated", is_simulated(row), "state", row->state, "seen",
                            (json_int_t)row->seen, "created", (json_int_t)row->created);
    json_auto_t *about = mel_stored_json(row->about);
    json_t *truth = json_object_get(about, "metric"); /* a ratio, where a simulated one was given a number */
    const bool good = (!json_is_number(truth) || json_object_set(out, "truth", truth) == 0) &&
                      (found == NULL || json_object_update(out, json_object_get(found, "about")) == 0);
    return mel_json_if(good, out);
}

/* Somebody who cannot be replayed at all does not make the survey incomplete. */
static json_t *describe(survey *s, const mel_participant_row *row)
{
    char mark[MEL_MEMO_TEXT];
    mark_of(mark, row);
    json_auto_t *found = mel_cache_recall(s->cache, row->id, mark);
    mel_status status = found != NULL ? MEL_OK : MEL_BUSY;
    if (found == NULL && !s->busy && mel_clock_seconds(CLOCK_MONOTONIC) <= s->end)
        status = replay(&found, row, s->cache);
    s->busy = s->busy || status == MEL_BUSY;
    s->incomplete = s->incomplete || status == MEL_BUSY || status == MEL_EIO || status == MEL_ENOMEM;
    if (found != NULL && !is_simulated(row))
        count_page(s, (size_t)mel_json_number(found, "phase", 0.0), row);
    return person_json(row, found);
}

/* Those of the page, in the order in which they joined. */
static json_t *list_people(survey *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n && list != NULL; i++)
        mel_json_push(&list, describe(s, &s->row[i]));
    return list;
}

static json_t *list_pages(const survey *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->open_study->study->n_phases; i++) {
        const mel_phase *phase = &s->open_study->study->phase[i];
        mel_json_push(&list, json_pack("{s:s, s:s?, s:I, s:I}", "name", mel_phase_name(phase->kind), "title",
                                       mel_json_string(phase->json, "title"), "here", (json_int_t)s->here[i],
                                       "left", (json_int_t)s->left[i]));
    }
    return list;
}

/* --- all together ------------------------------------------------------------------------------- */

/* What is shown of several participants, without what each one wants. */
static json_t *pooled_json(size_t n, mel_session *const *session, size_t through, bool simulated,
                           const mel_open_study *open_study)
{
    static const char *const kept[] = { "metric",     "words",        "weights",    "lambda",
                                        "cost_ratio", "threshold",    "statements", "differ",
                                        "against",    "mean_degrees", "community" };
    json_auto_t *found = NULL;
    if (mel_result_of_sessions(&found, n, session, open_study->study, open_study->problem, NULL) != MEL_OK)
        return NULL;
    json_t *out = json_pack("{s:I, s:I, s:b}", "participants", (json_int_t)n, "of", (json_int_t)through,
                            "simulated", simulated);
    return mel_json_if(mel_json_copy(out, found, kept, sizeof kept / sizeof *kept), out);
}

/* The participants whose sessions are pooled, and how many could not be had now. */
typedef struct {
    mel_participant *participant[MOST_POOLED];
    mel_session *session[MOST_POOLED];
    size_t n, missing;
    bool real;
} pool;

static void add_respondent(pool *p, const survey *s, const mel_participant_row *row)
{
    if (!is_complete(row) || is_simulated(row) == p->real || p->n == MOST_POOLED)
        return;
    if (mel_participant_look(&p->participant[p->n], s->cache, row->id, row->seen, NULL) == MEL_OK) {
        p->session[p->n] = mel_flow_session(p->participant[p->n]->flow);
        p->n++;
    } else {
        p->missing++;
    }
}

/* The first MOST_POOLED who are through; holding them delays nobody. */
static void collect_respondents(pool *p, const survey *s)
{
    mel_place place = MEL_FIRST_PLACE;
    size_t n = PIECE;
    while (n == PIECE && p->n < MOST_POOLED) {
        mel_participant_row *row = NULL;
        n = 0;
        if (mel_store_participants(&row, &n, s->store, s->id, &place, PIECE, NULL) != MEL_OK)
            p->missing++;
        for (size_t i = 0; i < n; i++)
            add_respondent(p, s, &row[i]);
        mel_participant_rows_free(row, n);
    }
}

/* The metric of those who are through; simulated ones only when there is nobody else. *whole: all of them
 * were available. */
static json_t *pool_respondents(bool *whole, const survey *s)
{
    pool p = { .real = s->counts.complete > 0 };
    collect_respondents(&p, s);
    *whole = p.missing == 0;
    const size_t through = p.real ? s->counts.complete : s->counts.simulated;
    json_t *out = p.n >= LEAST_POOLED ? pooled_json(p.n, p.session, through, !p.real, s->open_study) : NULL;
    for (; p.n > 0; p.n--)
        mel_participant_release(s->cache, p.participant[p.n - 1], !p.participant[p.n - 1]->fresh);
    return out != NULL ? out : json_null();
}

/* A short text that changes with who is through; findings about a study are forgotten when somebody is
 * erased. */
static void mark_all(char mark[MEL_MEMO_TEXT], const survey *s)
{
    (void)snprintf(mark, MEL_MEMO_TEXT, "%zu %zu %lld", s->counts.complete, s->counts.simulated,
                   (long long)s->counts.completed);
}

/* Whether it is time to pool anew: what takes seconds is done for a tenth of the time at most. */
static bool is_due(const json_t *known)
{
    const double took = mel_json_number(known, "took", 0.0);
    const int64_t since = mel_now() - (int64_t)json_integer_value(json_object_get(known, "at"));
    return took < short_pooling || since < 0 || (double)since > 1e4 * took;
}

static json_t *join_anew(const survey *s, const char *mark)
{
    const double begun = mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    bool whole = true;
    json_t *pooled = pool_respondents(&whole, s);
    json_t *known =
        json_pack("{s:o, s:f, s:I}", "pooled", pooled, "took",
                  mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID) - begun, "at", (json_int_t)mel_now());
    if (known != NULL)
        mel_cache_remember(s->cache, s->id, whole ? mark : "", known);
    return known;
}

/* Pooling takes a while: the result is kept until somebody else is through, and for longer where it takes
 * long or people are still to be replayed. */
static json_t *join_respondents(const survey *s)
{
    char mark[MEL_MEMO_TEXT];
    mark_all(mark, s);
    json_t *known = mel_cache_recall(s->cache, s->id, mark);
    const bool current = known != NULL;
    if (!current)
        known = mel_cache_recall(s->cache, s->id, NULL);
    MEL_HELD(held);
    if (!current && !s->incomplete && (known == NULL || is_due(known)) &&
        mel_work_begin(&held, mel_cache_admission(s->cache), &(mel_work){ .shared = true }, NULL) == MEL_OK) {
        json_decref(known);
        known = join_anew(s, mark);
    }
    json_t *pooled = json_incref(json_object_get(known, "pooled"));
    json_decref(known);
    return pooled != NULL ? pooled : json_null();
}

/* --- the whole ---------------------------------------------------------------------------------- */

/* Where the next page begins, as a text; JSON null: this was the last one. */
static json_t *next_json(const survey *s, const mel_place *place)
{
    char text[MEL_ID_TEXT + 24];
    if (s->n < MOST_SHOWN)
        return json_null();
    (void)snprintf(text, sizeof text, "%lld-%s", (long long)place->created, place->id);
    return json_string(text);
}

static mel_status report(json_t **out, survey *s, const mel_place *place, mel_error *err)
{
    s->here = mel_alloc_zero(s->open_study->study->n_phases, sizeof *s->here);
    s->left = mel_alloc_zero(s->open_study->study->n_phases, sizeof *s->left);
    json_t *people = s->here != NULL && s->left != NULL ? list_people(s) : NULL;
    if (people != NULL) {
        json_t *times = survey_times(people), *forms = survey_forms(s->open_study->study, people);
        *out = json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "live", people, "pages", list_pages(s),
                         "pooled", join_respondents(s), "complete", !s->incomplete, "times", times, "forms",
                         forms, "participants", mel_counts_json(&s->counts), "next", next_json(s, place));
    }
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the participants");
}

mel_status mel_manage_put_prior(json_t *about, mel_cache *cache, const char *study, mel_error *err)
{
    json_auto_t *known = mel_cache_recall(cache, study, NULL);
    json_t *prior = mel_prior_json(json_object_get(json_object_get(known, "pooled"), "community"));
    return prior == NULL || mel_json_put(about, "prior", prior) ? MEL_OK
                                                                : mel_fail_memory(err, "what others want");
}

/* Opens the study and counts its participants. */
static mel_status begin_survey(survey *s, mel_store *store, mel_cache *cache, const char *study,
                               mel_error *err)
{
    *s = (survey){ .store = store, .cache = cache, .id = study };
    TRY(mel_open_study_by_id(&s->open_study, cache, study, err));
    return mel_store_counts(&s->counts, store, study, err);
}

static void survey_clear(survey *s)
{
    mel_open_study_free(s->open_study);
    mel_participant_rows_free(s->row, s->n);
    free(s->here);
    free(s->left);
}

mel_status mel_manage_learn(mel_store *store, mel_cache *cache, const char *study, mel_error *err)
{
    __attribute__((cleanup(survey_clear))) survey s = { 0 };
    TRY(begin_survey(&s, store, cache, study, err));
    if (s.open_study->study->learns)
        json_decref(join_respondents(&s));
    return MEL_OK;
}

mel_status mel_manage_learn_all(mel_store *store, mel_cache *cache, const _Atomic bool *stop, mel_error *err)
{
    mel_study_row *row = NULL;
    size_t n = 0;
    const mel_status status = mel_store_studies(&row, &n, store, err);
    for (size_t i = 0; i < n && !*stop;
         i++) /* whoever does not say the word does not learn: no need to open it */
        if (strcmp(row[i].state, "open") == 0 && strstr(row[i].file, "learn_from_others") != NULL)
            (void)mel_manage_learn(store, cache, row[i].id, NULL);
    mel_study_rows_free(row, n);
    return status;
}

mel_status mel_manage_monitor(json_t **out, mel_store *store, mel_cache *cache, const char *study,
                              const char *after, double seconds, mel_error *err)
{
    *out = NULL;
    __attribute__((cleanup(survey_clear))) survey s = { 0 };
    mel_place place = MEL_FIRST_PLACE;
    long long created = 0;
    if (after != NULL && sscanf(after, "%lld-%23[A-Za-z0-9_-]", &created, place.id) != 2)
        return mel_fail(err, MEL_EINVAL, "after: expected the text \"next\" of the page before");
    if (after != NULL)
        place.created = created;
    TRY(begin_survey(&s, store, cache, study, err));
    TRY(mel_store_participants(&s.row, &s.n, store, study, &place, MOST_SHOWN, err));
    s.end = mel_clock_seconds(CLOCK_MONOTONIC) + seconds;
    return report(out, &s, &place, err);
}

/* --- one of them, with everything they said ------------------------------------------------------- */

/* The lines of the log, each with its number and time. */
static mel_status list_events(json_t *list, mel_store *store, const char *participant, mel_error *err)
{
    mel_event_row *row = NULL;
    size_t n = 0;
    mel_status status = mel_store_events(&row, &n, store, participant, err);
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        json_t *event = mel_stored_json(row[i].body);
        const bool good = mel_json_put(event, "seq", json_integer((json_int_t)row[i].seq)) &&
                          mel_json_put(event, "time", json_integer((json_int_t)row[i].time));
        if (!mel_json_add(list, mel_json_if(good, event)))
            status = mel_fail_memory(err, "a participant's answers");
    }
    mel_event_rows_free(row, n);
    return status;
}

mel_status mel_manage_person(json_t **out, mel_store *store, mel_cache *cache, const mel_participant_row *row,
                             mel_error *err)
{
    char mark[MEL_MEMO_TEXT];
    mark_of(mark, row);
    json_auto_t *found = mel_cache_recall(cache, row->id, mark), *events = json_array();
    if (found == NULL)
        (void)replay(&found, row, cache); /* what cannot be replayed can still be looked at */
    TRY(list_events(events, store, row->id, err));
    *out = json_pack("{s:o, s:O, s:o*}", "person", person_json(row, found), "events", events, "about",
                     mel_stored_json(row->about));
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "a participant");
}
