/* What goes on in a study: who is where, what is known of each, and of all together. */
#include "manage.h"

#include "app.h"
#include "read.h"
#include "result.h"

#include "base/internal.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_POOLED = 2, MOST_POOLED = 100, MOST_PAGE_TEXT = 80, MOST_VERDICT = 240 };

/* One participant as the store tells. */
typedef struct {
    mel_participant_row row; /* own copies */
    uint32_t answers;
    double seconds;
} person;

typedef struct {
    person *list;
    size_t n, capacity;
} crowd;

static void crowd_clear(crowd *c)
{
    for (size_t i = 0; i < c->n; i++)
        mel_participant_row_clear(&c->list[i].row);
    free(c->list);
    *c = (crowd){ 0 };
}

static mel_status add_person(crowd *c, const mel_participant_row *row, mel_error *err)
{
    if (c->n == c->capacity) {
        const size_t capacity = c->capacity == 0 ? 64 : 2 * c->capacity;
        void *block = c->list;
        if (!mel_grow(&block, capacity, sizeof *c->list))
            return mel_fail_memory(err, "the participants");
        c->list = block;
        c->capacity = capacity;
    }
    person *next = &c->list[c->n];
    *next = (person){ .row = *row };
    next->row.label = row->label != NULL ? mel_strdup(row->label) : NULL;
    next->row.about = row->about != NULL ? mel_strdup(row->about) : NULL;
    c->n++;
    return (row->label != NULL && next->row.label == NULL) || (row->about != NULL && next->row.about == NULL)
               ? mel_fail_memory(err, "the participants")
               : MEL_OK;
}

static mel_status collect(void *user, const mel_participant_row *row, const mel_event_row *event,
                          mel_error *err)
{
    crowd *c = user;
    if (event == NULL)
        return add_person(c, row, err);
    person *last = &c->list[c->n - 1];
    json_t *line = mel_read_json(event->body);
    const double seconds = json_number_value(json_object_get(line, "seconds"));
    json_decref(line);
    last->answers++;
    last->seconds += seconds > 0.0 ? seconds : 0.0;
    return MEL_OK;
}

static bool is_simulated(const mel_participant_row *row)
{
    json_t *about = mel_read_json(row->about);
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
        good = json_array_append_new(times, json_real(taken)) == 0;
    }
    if (good && known > 0) {
        qsort(seconds, known, sizeof *seconds, by_size);
        const double middle = 0.5 * (seconds[(known - 1) / 2] + seconds[known / 2]);
        good = json_object_set_new(out, "median_seconds", json_real(middle)) == 0;
    }
    free(seconds);
    return json_object_set_new(out, "times", times) == 0 && good;
}

/* What was found so far, without what only the own result page shows. */
static bool put_findings(json_t *out, mel_seat *seat)
{
    static const char *const kept[] = { "questions", "ratio",     "weights",     "lambda",
                                        "words",     "agreement", "consistency", "threshold" };
    if (mel_session_answers(mel_flow_session(seat->flow)) == 0)
        return true;
    json_t *result = NULL;
    if (mel_result_json(&result, seat->flow, seat->hall->study, seat->hall->place, NULL) != MEL_OK)
        return true; /* nothing can be said yet */
    bool good = true;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && good; i++)
        if (json_object_get(result, kept[i]) != NULL)
            good = json_object_set(out, kept[i], json_object_get(result, kept[i])) == 0;
    json_decref(result);
    return good;
}

static json_t *describe_plain(const person *p)
{
    return json_pack("{s:s, s:s?, s:b, s:s, s:I, s:f, s:I, s:I}", "id", p->row.id, "label", p->row.label,
                     "simulated", is_simulated(&p->row), "state", p->row.state, "answers",
                     (json_int_t)p->answers, "seconds", p->seconds, "seen", (json_int_t)p->row.seen,
                     "created", (json_int_t)p->row.created);
}

static bool describe_seat(json_t *out, mel_seat *seat)
{
    char page[MOST_PAGE_TEXT];
    mel_flow_describe(page, sizeof page, seat->flow);
    return json_object_set_new(out, "page", json_string(page)) == 0 &&
           put_times(out, mel_flow_session(seat->flow)) && put_findings(out, seat);
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
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static void count_page(drop_out *d, const mel_seat *seat, int64_t seen)
{
    const double idle = (double)(mel_now() - seen) / 3.6e6;
    const size_t phase = mel_flow_phase(seat->flow);
    const bool gone =
        strcmp(mel_flow_state(seat->flow), "left") == 0 ||
        (strcmp(mel_flow_state(seat->flow), "active") == 0 && idle > seat->hall->study->resume_hours);
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

static json_t *pooled_json(const mel_pooled *pooled, size_t through, const mel_hall *hall)
{
    json_t *out = NULL;
    if (mel_result_of_metric(&out, pooled->joint, hall->study, hall->place, NULL) != MEL_OK)
        return NULL;
    (void)json_object_set_new(out, "participants", json_integer((json_int_t)pooled->n));
    (void)json_object_set_new(out, "of", json_integer((json_int_t)through));
    (void)json_object_set_new(out, "disagreement", disagreement(pooled));
    return out;
}

/* The metric of those who are through, of the first MOST_POOLED where there are more. Nobody waits for a
 * participant who is: holding them holds up nobody. */
static json_t *pool(const crowd *c, const mel_hall *hall, mel_live *live)
{
    mel_seat *seat[MOST_POOLED];
    mel_session *session[MOST_POOLED];
    size_t n = 0, through = 0;
    bool real = false;
    for (size_t i = 0; i < c->n; i++)
        real = real || (strcmp(c->list[i].row.state, "complete") == 0 && !is_simulated(&c->list[i].row));
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->list[i].row.state, "complete") != 0 || (real && is_simulated(&c->list[i].row)))
            continue;
        through++;
        if (n == MOST_POOLED ||
            mel_seat_take(&seat[n], live, c->list[i].row.id, c->list[i].row.seen, NULL) != MEL_OK)
            continue;
        session[n] = mel_flow_session(seat[n]->flow);
        n++;
    }
    mel_pooled *pooled = NULL;
    json_t *out = NULL;
    if (n >= LEAST_POOLED && mel_sessions_pool(&pooled, n, session, NULL) == MEL_OK)
        out = pooled_json(pooled, through, hall);
    mel_pooled_free(pooled);
    while (n > 0)
        mel_seat_release(live, seat[--n], true);
    return out != NULL ? out : json_null();
}

/* Pooling takes a while: what was found is kept until somebody else is through. */
static json_t *pool_once(const crowd *c, const mel_hall *hall, mel_live *live, const char *study)
{
    char mark[MEL_MEMO_TEXT];
    uint64_t through = 0, last = 0;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].row.state, "complete") == 0) {
            through++;
            last ^= (uint64_t)c->list[i].row.seen * 0x9e3779b97f4a7c15u + c->list[i].row.seed;
        }
    (void)snprintf(mark, sizeof mark, "%s %llu %llx", study, (unsigned long long)through,
                   (unsigned long long)last);
    json_t *known = mel_live_recall(live, mark);
    if (known != NULL)
        return known;
    known = pool(c, hall, live);
    mel_live_remember(live, study, mark, known);
    return known;
}

/* --- the whole ---------------------------------------------------------------------------------- */

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Everybody, in the order in which they came; *complete: within the time. */
static json_t *list_people(bool *complete, drop_out *d, const crowd *c, mel_live *live, double seconds)
{
    const double end = clock_now() + seconds;
    json_t *list = json_array();
    bool good = list != NULL;
    *complete = true;
    for (size_t i = 0; i < c->n && good; i++) {
        json_t *one = describe_plain(&c->list[i]);
        mel_seat *seat = NULL;
        if (clock_now() > end)
            *complete = false;
        else if (one != NULL && mel_seat_take(&seat, live, c->list[i].row.id, 0, NULL) == MEL_OK) {
            (void)describe_seat(one, seat);
            count_page(d, seat, c->list[i].row.seen);
            mel_seat_release(live, seat, true);
        }
        good = json_array_append_new(list, one) == 0;
    }
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static mel_status monitor(json_t **out, const crowd *c, const mel_hall *hall, mel_live *live,
                          const char *study, double seconds, mel_error *err)
{
    drop_out d = { mel_alloc_zero(hall->study->n_phases, sizeof *d.here),
                   mel_alloc_zero(hall->study->n_phases, sizeof *d.left) };
    bool complete = false;
    json_t *people = d.here != NULL && d.left != NULL ? list_people(&complete, &d, c, live, seconds) : NULL;
    if (people != NULL)
        *out =
            json_pack("{s:o, s:o, s:o, s:b}", "live", people, "pages", list_pages(hall->study, &d), "pooled",
                      complete ? pool_once(c, hall, live, study) : json_null(), "complete", complete);
    free(d.here);
    free(d.left);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the participants");
}

mel_status mel_manage_monitor(json_t **out, mel_store *store, mel_live *live, const char *study,
                              double seconds, mel_error *err)
{
    *out = NULL;
    crowd c = { 0 };
    mel_hall *hall = NULL;
    mel_status status = mel_store_visit(store, study, collect, &c, err);
    if (status == MEL_OK)
        status = mel_hall_of_study(&hall, live, study, err);
    if (status == MEL_OK)
        status = monitor(out, &c, hall, live, study, seconds, err);
    mel_hall_release(live, hall);
    crowd_clear(&c);
    return status;
}
