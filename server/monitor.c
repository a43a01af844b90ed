/* What goes on in a study: who is where, what is known of each, and of all together. */
#include "manage.h"

#include "app.h"
#include "json_helpers.h"
#include "result.h"

#include "base/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_POOLED = 2, MOST_POOLED = 100, MOST_PAGE_TEXT = 80, MOST_VERDICT = 240 };
static const double SHORT_POOLING = 1.0; /* seconds */

/* Everybody in a study, as the store tells. */
typedef struct {
    mel_participant_row *row;
    size_t n;
} people_of_study;

static bool is_simulated(const mel_participant_row *row)
{
    json_t *about = mel_stored_json(row->about);
    const bool simulated = json_is_true(json_object_get(about, "simulated"));
    json_decref(about);
    return simulated;
}

/* --- one of them -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How long every question took, and the median; null when nothing was recorded. */
static bool put_times(json_t *out, const mel_session *session)
{
    const uint32_t n = mel_session_answers(session);
    double *seconds = mel_alloc(n, sizeof *seconds);
    json_t *times = json_array();
    uint32_t known = 0;
    bool good = seconds != NULL && times != NULL;
    for (uint32_t i = 0; i < n && good; i++) {
        const double taken = mel_session_record(session, i).seconds;
        if (!isfinite(taken))
            continue;
        seconds[known++] = taken;
        good = mel_json_add(times, json_real(taken));
    }
    if (good && known > 0) {
        qsort(seconds, known, sizeof *seconds, by_size);
        const double middle = 0.5 * (seconds[(known - 1) / 2] + seconds[known / 2]);
        good = mel_json_put(out, "median_seconds", json_real(middle));
    }
    free(seconds);
    return mel_json_put(out, "times", times) && good;
}

/* What was found so far, without what only the own result page shows. */
static bool put_findings(json_t *out, mel_participant *participant)
{
    static const char *const kept[] = { "questions", "ratio",     "weights",     "lambda",
                                        "words",     "agreement", "consistency", "threshold" };
    if (mel_session_answers(mel_flow_session(participant->flow)) == 0)
        return true;
    json_t *result = NULL;
    if (mel_result_json(&result, participant->flow, NULL) != MEL_OK)
        return true; /* nothing can be said yet */
    const bool good = mel_json_copy(out, result, kept, sizeof kept / sizeof *kept);
    json_decref(result);
    return good;
}

static json_t *describe_plain(const mel_participant_row *row)
{
    return json_pack("{s:s, s:s?, s:b, s:s, s:I, s:I}", "id", row->id, "label", row->label, "simulated",
                     is_simulated(row), "state", row->state, "seen", (json_int_t)row->seen, "created",
                     (json_int_t)row->created);
}

/* {"phase": where, "about": {..}}: what only a replay tells; NULL without memory. */
static json_t *describe_participant(mel_participant *participant)
{
    char page[MOST_PAGE_TEXT];
    mel_flow_describe(page, sizeof page, participant->flow);
    json_t *about = json_pack("{s:s, s:I, s:f}", "page", page, "answers", (json_int_t)participant->seq,
                              "seconds", participant->seconds);
    if (about == NULL || !put_times(about, mel_flow_session(participant->flow)) ||
        !put_findings(about, participant)) {
        json_decref(about);
        return NULL;
    }
    return json_pack("{s:I, s:o}", "phase", (json_int_t)mel_flow_phase(participant->flow), "about", about);
}

/* Every event sets the time, and the last one the state. */
static void mark_of(char mark[MEL_MEMO_TEXT], const mel_participant_row *row)
{
    (void)snprintf(mark, MEL_MEMO_TEXT, "%lld %s", (long long)row->seen, row->state);
}

/* Found out now, and remembered until the person says more. */
static mel_status find_out(json_t **found, const mel_participant_row *row, mel_cache *cache)
{
    char mark[MEL_MEMO_TEXT];
    mel_participant *participant = NULL;
    mel_status status = mel_cache_begin_work(cache, NULL);
    if (status != MEL_OK)
        return status;
    status = mel_participant_look(&participant, cache, row->id, row->seen, NULL);
    if (status == MEL_OK) {
        *found = describe_participant(participant);
        (void)snprintf(participant->row.state, sizeof participant->row.state, "%s",
                       mel_flow_state(participant->flow));
        mark_of(mark, &participant->row);
        if (*found != NULL)
            mel_cache_remember(cache, row->id, mark, *found);
        else
            status = MEL_ENOMEM;
        mel_participant_release(cache, participant, !participant->fresh);
    }
    mel_cache_end_work(cache);
    return status;
}

/* --- pages -------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t *here, *left; /* per phase */
} drop_out;

static json_t *list_pages(const mel_study *study, const drop_out *d)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; i < study->n_phases && good; i++) {
        const char *kind = json_string_value(json_object_get(study->phase[i].json, "kind"));
        const char *title = json_string_value(json_object_get(study->phase[i].json, "title"));
        good = json_array_append_new(list,
                                     json_pack("{s:s, s:s?, s:I, s:I}", "name", kind, "title", title, "here",
                                               (json_int_t)d->here[i], "left", (json_int_t)d->left[i])) == 0;
    }
    return mel_json_if(good, list);
}

static void count_page(drop_out *d, const mel_study *study, size_t phase, const mel_participant_row *row)
{
    const double idle = (double)(mel_now() - row->seen) / 3.6e6;
    const bool gone =
        strcmp(row->state, "left") == 0 || (strcmp(row->state, "active") == 0 && idle > study->resume_hours);
    if (phase < study->n_phases)
        ++*(gone ? &d->left[phase] : &d->here[phase]);
}

/* --- all together ------------------------------------------------------------------------------- */

static double mean_degrees(const mel_pooled *pooled)
{
    double sum = 0.0;
    size_t pairs = 0;
    for (size_t i = 0; i < pooled->n; i++)
        for (size_t j = 0; j < i; j++, pairs++)
            sum += pooled->disagreement[i * pooled->n + j].angle;
    return pairs > 0 ? sum / (double)pairs * 180.0 / 3.14159265358979323846 : 0.0;
}

/* The mean angle between two of them, in degrees, and what one metric for all hides. */
static json_t *disagreement(const mel_pooled *pooled)
{
    char text[MOST_VERDICT];
    const double degrees = mean_degrees(pooled);
    if (pooled->n_against > 0)
        (void)snprintf(text, sizeof text,
                       "they do not all want the same: %zu of %zu answered against this metric more often "
                       "than their own slips explain, and its interval does not say how far people differ",
                       pooled->n_against, pooled->n);
    else
        (void)snprintf(text, sizeof text, "%s",
                       degrees < 5.0 ? "they want about the same"
                                     : "nothing in the answers speaks against one metric for all");
    return json_pack("{s:f, s:I, s:s}", "value", degrees, "against", (json_int_t)pooled->n_against, "text",
                     text);
}

static json_t *pooled_json(const mel_pooled *pooled, size_t through, const mel_open_study *open_study)
{
    json_t *out = NULL;
    if (mel_result_of_metric(&out, pooled->joint, open_study->study, open_study->problem, NULL) != MEL_OK)
        return NULL;
    (void)json_object_set_new(out, "participants", json_integer((json_int_t)pooled->n));
    (void)json_object_set_new(out, "of", json_integer((json_int_t)through));
    (void)json_object_set_new(out, "disagreement", disagreement(pooled));
    return out;
}

/* The metric of those who are through, of the first MOST_POOLED where there are more. Nobody waits for a
 * participant who is: holding them holds up nobody. *whole: all of them could be had. */
static json_t *pool(bool *whole, const people_of_study *c, const mel_open_study *open_study, mel_cache *cache)
{
    mel_participant *participant[MOST_POOLED];
    mel_session *session[MOST_POOLED];
    size_t n = 0, through = 0;
    bool real = false;
    for (size_t i = 0; i < c->n; i++)
        real = real || (strcmp(c->row[i].state, "complete") == 0 && !is_simulated(&c->row[i]));
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->row[i].state, "complete") != 0 || (real && is_simulated(&c->row[i])))
            continue;
        through++;
        if (n == MOST_POOLED)
            continue;
        if (mel_participant_look(&participant[n], cache, c->row[i].id, c->row[i].seen, NULL) != MEL_OK) {
            *whole = false;
            continue;
        }
        session[n] = mel_flow_session(participant[n]->flow);
        n++;
    }
    mel_pooled *pooled = NULL;
    json_t *out = NULL;
    if (n >= LEAST_POOLED && mel_sessions_pool(&pooled, n, session, NULL) == MEL_OK)
        out = pooled_json(pooled, through, open_study);
    mel_pooled_free(pooled);
    for (; n > 0; n--)
        mel_participant_release(cache, participant[n - 1], !participant[n - 1]->fresh);
    return out != NULL ? out : json_null();
}

/* Who is through, in short. */
static void mark_all(char mark[MEL_MEMO_TEXT], const people_of_study *c)
{
    uint64_t through = 0, last = 0;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->row[i].state, "complete") == 0) {
            through++;
            last ^= (uint64_t)c->row[i].seen * 0x9e3779b97f4a7c15u + c->row[i].seed;
        }
    (void)snprintf(mark, MEL_MEMO_TEXT, "%llu %llx", (unsigned long long)through, (unsigned long long)last);
}

/* Of a clock that only the own work moves. */
static double work_done(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
                                                           : 0.0;
}

/* Whether it is time to pool anew: what takes seconds is done for a tenth of the time at most. */
static bool is_due(const json_t *known)
{
    const double took = json_number_value(json_object_get(known, "took"));
    const int64_t since = mel_now() - (int64_t)json_integer_value(json_object_get(known, "at"));
    return took < SHORT_POOLING || since < 0 || (double)since > 1e4 * took;
}

/* Pooling takes a while: what was found is kept until somebody else is through, and for longer where it takes
 * long or (anew is false) there are other things to do first. */
static json_t *pool_once(const people_of_study *c, const mel_open_study *open_study, mel_cache *cache,
                         const char *study, bool anew)
{
    char mark[MEL_MEMO_TEXT];
    mark_all(mark, c);
    json_t *known = mel_cache_recall(cache, study, mark);
    if (known == NULL) {
        known = mel_cache_recall(cache, study, NULL);
        if (anew && (known == NULL || is_due(known)) && mel_cache_begin_work(cache, NULL) == MEL_OK) {
            const double begun = work_done();
            bool whole = true;
            json_t *pooled = pool(&whole, c, open_study, cache);
            mel_cache_end_work(cache);
            json_decref(known);
            known = json_pack("{s:o, s:f, s:I}", "pooled", pooled, "took", work_done() - begun, "at",
                              (json_int_t)mel_now());
            if (known != NULL)
                mel_cache_remember(cache, study, whole ? mark : "", known);
        }
    }
    json_t *pooled = json_object_get(known, "pooled");
    json_incref(pooled);
    json_decref(known);
    return pooled != NULL ? pooled : json_null();
}

/* --- the whole ---------------------------------------------------------------------------------- */

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Work on a list of people: until when, and whether something of it is left for another time. */
typedef struct {
    double end;
    bool busy, left;
} shift;

static json_t *describe(shift *work, drop_out *d, const mel_participant_row *row, const mel_study *study,
                        mel_cache *cache)
{
    char mark[MEL_MEMO_TEXT];
    mark_of(mark, row);
    json_t *one = describe_plain(row), *found = mel_cache_recall(cache, row->id, mark);
    mel_status status = found != NULL ? MEL_OK : MEL_BUSY;
    if (found == NULL && !work->busy && clock_now() <= work->end)
        status = find_out(&found, row, cache);
    work->busy = work->busy || status == MEL_BUSY;
    /* Who cannot be replayed at all is left out, and not waited for. */
    work->left = work->left || status == MEL_BUSY || status == MEL_EIO || status == MEL_ENOMEM;
    bool good = one != NULL;
    if (found != NULL) {
        count_page(d, study, (size_t)json_integer_value(json_object_get(found, "phase")), row);
        good = good && json_object_update(one, json_object_get(found, "about")) == 0;
    }
    json_decref(found);
    return mel_json_if(good, one);
}

/* Everybody, in the order in which they came; *complete: nothing was left for another time. */
static json_t *list_people(bool *complete, drop_out *d, const people_of_study *c, const mel_study *study,
                           mel_cache *cache, double seconds)
{
    shift work = { .end = clock_now() + seconds };
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; i < c->n && good; i++)
        good = mel_json_add(list, describe(&work, d, &c->row[i], study, cache));
    *complete = !work.left;
    return mel_json_if(good, list);
}

static mel_status monitor(json_t **out, const people_of_study *c, const mel_open_study *open_study,
                          mel_cache *cache, const char *study, double seconds, mel_error *err)
{
    drop_out d = { mel_alloc_zero(open_study->study->n_phases, sizeof *d.here),
                   mel_alloc_zero(open_study->study->n_phases, sizeof *d.left) };
    bool complete = false;
    json_t *people = d.here != NULL && d.left != NULL
                         ? list_people(&complete, &d, c, open_study->study, cache, seconds)
                         : NULL;
    if (people != NULL)
        *out = json_pack("{s:o, s:o, s:o, s:b}", "live", people, "pages", list_pages(open_study->study, &d),
                         "pooled", pool_once(c, open_study, cache, study, complete), "complete", complete);
    free(d.here);
    free(d.left);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the participants");
}

mel_status mel_manage_monitor(json_t **out, mel_store *store, mel_cache *cache, const char *study,
                              double seconds, mel_error *err)
{
    *out = NULL;
    people_of_study c = { 0 };
    mel_open_study *open_study = NULL;
    mel_status status = mel_open_study_by_id(&open_study, cache, study, err);
    if (status == MEL_OK)
        status = mel_store_participants(&c.row, &c.n, store, study, err);
    if (status == MEL_OK)
        status = monitor(out, &c, open_study, cache, study, seconds, err);
    mel_open_study_release(cache, open_study);
    mel_participant_rows_free(c.row, c.n);
    return status;
}
