/* All participants of a study together: how long close pairs take, and what the forms say. */
#include "survey.h"

#include "flow.h"
#include "json_helpers.h"

#include "base/internal.h"
#include "base/stat.h"
#include "melicit/rank.h"

#include <math.h>
#include <stdlib.h>

enum { THIRDS = 3, LEAST_TIMED = 9 };

/* Those who count: simulated people only among themselves. */
static json_t *counted(const json_t *people)
{
    json_t *real = json_array(), *simulated = json_array();
    bool good = real != NULL && simulated != NULL;
    for (size_t i = 0; i < json_array_size(people) && good; i++) {
        json_t *person = json_array_get(people, i);
        good = json_array_append(mel_json_is_true(person, "simulated") ? simulated : real, person) == 0;
    }
    const bool any = json_array_size(real) > 0;
    json_decref(any ? simulated : real);
    return mel_json_if(good, any ? real : simulated);
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
    bool good = true;
    for (size_t t = 0; t < THIRDS && good; t++) {
        const size_t from = t * n / THIRDS, to = (t + 1) * n / THIRDS;
        good = mel_json_add(thirds, third(at + from, to - from, room));
    }
    json_t *out = json_pack("{s:I, s:o, s:o}", "answers", (json_int_t)n, "tau",
                            isfinite(alike.tau) ? json_real(alike.tau) : json_null(), "thirds", thirds);
    return mel_json_if(good, out);
}

json_t *mel_survey_times(const json_t *people)
{
    json_t *who = counted(people), *out = NULL;
    const size_t n = collect(NULL, who);
    timed *at = mel_alloc(n + 1, sizeof *at);
    double *room = mel_alloc(2 * n + 1, sizeof *room);
    if (who != NULL && at != NULL && room != NULL) {
        (void)collect(at, who);
        qsort(at, n, sizeof *at, by_distance);
        out = n >= LEAST_TIMED ? describe_times(at, n, room) : json_null();
    }
    free(at);
    free(room);
    json_decref(who);
    return out;
}

/* --- forms -------------------------------------------------------------------------------------- */

/* What a person said in a field; NULL: nothing. */
static const json_t *said(const json_t *person, size_t phase, const char *name)
{
    return json_object_get(mel_flow_form(json_object_get(person, "forms"), phase), name);
}

/* Of a choice, how often each was taken, in the order of the study. */
static json_t *count_choices(const json_t *field, size_t phase, const json_t *people)
{
    const json_t *choices = json_object_get(field, "choices");
    json_t *counts = json_object();
    bool good = true;
    for (size_t c = 0; c < json_array_size(choices) && good; c++) {
        json_int_t n = 0;
        for (size_t i = 0; i < json_array_size(people); i++) {
            const json_t *person = json_array_get(people, i);
            n += json_equal(said(person, phase, mel_json_string(field, "name")), json_array_get(choices, c));
        }
        good = mel_json_put(counts, json_string_value(json_array_get(choices, c)), json_integer(n));
    }
    return mel_json_if(good, counts);
}

/* Least, median and largest of the numbers in a field; room: one for each person. */
static bool put_numbers(json_t *out, const json_t *field, size_t phase, const json_t *people, double *room)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(people); i++) {
        const json_t *person = json_array_get(people, i);
        const json_t *value = said(person, phase, mel_json_string(field, "name"));
        if (json_is_number(value))
            room[n++] = json_number_value(value);
    }
    return n == 0 || (mel_json_put(out, "median", json_real(mel_quantile_sort(n, room, 0.5))) &&
                      mel_json_put(out, "low", json_real(room[0])) &&
                      mel_json_put(out, "high", json_real(room[n - 1])));
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
    bool good = out != NULL;
    if (good && strcmp(type, "choice") == 0)
        good = mel_json_put(out, "counts", count_choices(field, phase, people));
    if (good && strcmp(type, "number") == 0)
        good = put_numbers(out, field, phase, people, room);
    return mel_json_if(good, out);
}

json_t *mel_survey_forms(const mel_study *study, const json_t *people)
{
    json_t *out = json_array(), *who = counted(people);
    double *room = mel_alloc(json_array_size(who) + 1, sizeof *room);
    bool good = who != NULL && room != NULL;
    for (size_t p = 0; p < study->n_phases && good; p++) {
        const json_t *form = study->phase[p].json;
        const json_t *fields =
            study->phase[p].kind == MEL_PHASE_FORM ? json_object_get(form, "fields") : NULL;
        for (size_t i = 0; i < json_array_size(fields) && good; i++)
            good = mel_json_add(out, describe_field(form, json_array_get(fields, i), p, who, room));
    }
    free(room);
    json_decref(who);
    return mel_json_if(good, out);
}
