/* What is in memory is what is stored: participants, problems, researchers' work and exports, on a real
 * store. */
#include "support/server/problem.h"
#include "support/server/store.h"

#include "server/cache.h"
#include "server/manage.h"
#include "server/server.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    mel_store *store;
    mel_app app;
    char study[MEL_ID_TEXT];
} world;

static int set_up(void **state)
{
    static world w;
    mel_error err;
    w = (world){ .store = test_store_open(test_fresh_url()) };
    assert_ok(mel_app_init(&w.app, w.store, NULL, &err), &err);
    assert_ok(mel_manage_create(w.study, w.store, w.app.cache, test_study_text, &err), &err);
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    mel_app_clear(&w->app);
    mel_store_close(w->store);
    return 0;
}

static void add_person(const world *w, char id[MEL_ID_TEXT], const char *label)
{
    char about[] = "{}";
    mel_participant_row row = { .about = about, .state = "active", .created = 1000, .seen = 1000, .seed = 7 };
    mel_new_id(row.id);
    memcpy(row.study, w->study, sizeof row.study);
    row.label = (char *)label;
    randombytes_buf(row.token, sizeof row.token);
    mel_error err;
    assert_ok(mel_store_add_participant(w->store, &row, &err), &err);
    memcpy(id, row.id, MEL_ID_TEXT);
}

/* Appends as another process would. */
static void append(const world *w, const char *id, mel_flow *flow, uint32_t seq, const char *value)
{
    json_t *json = json_loads(value, 0, NULL), *line = mel_flow_event(flow, json, 2.0);
    mel_event_row event = { .seq = seq, .time = 1000 + (int64_t)seq };
    (void)snprintf(event.key, sizeof event.key, "key-%u", (unsigned)seq);
    event.body = json_dumps(line, JSON_COMPACT);
    mel_append outcome;
    mel_error err;
    assert_ok(mel_flow_tell(flow, json, 2.0, &err), &err);
    assert_ok(mel_store_append(&outcome, NULL, w->store, id, &event, mel_flow_state(flow), &err), &err);
    assert_int_equal(outcome, MEL_APPENDED);
    free(event.body);
    json_decref(line);
    json_decref(json);
}

static const char consent[] = "{\"agreed\": true, \"version\": \"1\"}",
                  form[] = "{\"age\": 30, \"more\": \"=HYPERLINK(\\\"x\\\")\"}";

static void test_participants_follow_the_store(void **state)
{
    world *w = *state;
    char id[MEL_ID_TEXT];
    mel_error err;
    mel_participant *participant = NULL;
    add_person(w, id, NULL);
    assert_ok(mel_participant_take(&participant, w->app.cache, id, 1000, &err), &err);
    assert_string_equal(mel_flow_where(participant->flow), "consent");
    assert_int_equal(participant->seq, 0);
    mel_participant_release(w->app.cache, participant, true);

    mel_open_study *open_study = NULL;
    mel_flow *other = NULL;
    assert_ok(mel_open_study_by_id(&open_study, w->app.cache, w->study, &err), &err);
    assert_ok(mel_flow_new(&other, open_study->study, open_study->problem, 7, NULL, &err), &err);
    append(w, id, other, 1, consent);
    /* Whoever does not know better gets what is in memory; who has seen the store, what is stored. */
    assert_ok(mel_participant_take(&participant, w->app.cache, id, 0, &err), &err);
    assert_int_equal(participant->seq, 0);
    mel_participant_release(w->app.cache, participant, true);
    assert_ok(mel_participant_take(&participant, w->app.cache, id, 1001, &err), &err);
    assert_int_equal(participant->seq, 1);
    assert_string_equal(mel_flow_where(participant->flow), "form");
    mel_participant_release(w->app.cache, participant, false);
    append(w, id, other, 2, form);
    assert_ok(mel_participant_take(&participant, w->app.cache, id, 0, &err), &err);
    assert_string_equal(mel_flow_where(participant->flow), "text");
    mel_participant_release(w->app.cache, participant, true);
    /* Who only looks, with an older list, leaves what is in memory; a newer list does not. */
    static const struct {
        int64_t seen;
        bool fresh;
    } looks[] = { { 1001, false }, { 1002, false }, { 1003, true } };
    for (size_t i = 0; i < COUNT(looks); i++) {
        assert_ok(mel_participant_look(&participant, w->app.cache, id, looks[i].seen, &err), &err);
        assert_int_equal(participant->fresh, looks[i].fresh);
        assert_int_equal(participant->seq, 2);
        mel_participant_release(w->app.cache, participant, true);
    }
    assert_ok(mel_participant_take(&participant, w->app.cache, id, 1001, &err), &err);
    assert_true(participant->fresh);
    mel_participant_release(w->app.cache, participant, true);
    mel_flow_free(other);
    mel_open_study_free(open_study);
    assert_int_equal(mel_participant_take(&participant, w->app.cache, "nobody", 0, &err), MEL_EINVAL);
    assert_int_equal(
        mel_participant_take(&participant, w->app.cache, "a name that is far too long for an id", 0, &err),
        MEL_EINVAL);
    assert_int_equal(mel_cache_count(w->app.cache).made,
                     1); /* one problem for the check, the open study and all participants */
}

typedef struct {
    const world *w;
    const char *id;
    unsigned *inside;
    bool crowded;
} racer;

static void *race(void *user)
{
    racer *r = user;
    for (int i = 0; i < 300; i++) {
        mel_participant *participant = NULL;
        if (mel_participant_take(&participant, r->w->app.cache, r->id, 0, NULL) != MEL_OK)
            continue;
        r->crowded =
            r->crowded || *r->inside != 0; /* a plain number: it is the participant that protects it */
        ++*r->inside;
        --*r->inside;
        mel_participant_release(r->w->app.cache, participant, i % 3 != 0);
    }
    return NULL;
}

static void test_one_caller_at_a_time(void **state)
{
    const world *w = *state;
    enum { RACERS = 6 };
    char id[2][MEL_ID_TEXT];
    unsigned inside[2] = { 0 };
    racer r[RACERS];
    pthread_t thread[RACERS];
    add_person(w, id[0], NULL);
    add_person(w, id[1], NULL);
    for (size_t i = 0; i < RACERS; i++) {
        r[i] = (racer){ .w = w, .id = id[i % 2], .inside = &inside[i % 2] };
        assert_int_equal(pthread_create(&thread[i], NULL, race, &r[i]), 0);
    }
    for (size_t i = 0; i < RACERS; i++) {
        pthread_join(thread[i], NULL);
        assert_false(r[i].crowded);
    }
}

static char *copied(void)
{
    char *copy = malloc(strlen(test_study_text) + 1);
    assert_non_null(copy);
    return memcpy(copy, test_study_text, strlen(test_study_text) + 1);
}

static void overwrite(char *at, const char *with)
{
    assert_non_null(at);
    for (; *with != '\0'; with++)
        *at++ = *with;
}

static void test_refused_studies_are_not_stored(void **state)
{
    const world *w = *state;
    char id[MEL_ID_TEXT];
    mel_error err;
    static const char *const wrong[] = { "{}", "{\"format\": \"melicit-study\"}" };
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(mel_manage_create(id, w->store, w->app.cache, wrong[i], &err), MEL_EDATA);
    char *elsewhere = copied();
    overwrite(strstr(elsewhere, "population"), "populatiom");
    assert_int_equal(mel_manage_create(id, w->store, w->app.cache, elsewhere, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "space.populatiom"));
    free(elsewhere);
    char *far = copied();
    overwrite(strstr(far, "\"radius\": 0.1"), "\"radius\": 9.9");
    assert_int_equal(mel_manage_create(id, w->store, w->app.cache, far, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "radius"));
    free(far);
    json_t *studies = mel_studies_json(w->store, &err);
    assert_int_equal(json_array_size(studies),
                     1); /* that of set_up; sessions without a study are not listed */
    json_decref(studies);
}

static void test_rehearsal_and_monitor(void **state)
{
    const world *w = *state;
    mel_error err;
    json_t *ratio = json_real(7.0), *seen = NULL;
    const mel_rehearsal how = { .participants = 3, .metric = ratio, .noise = "flip:0.05" };
    uint32_t done = 0;
    assert_ok(mel_manage_rehearse(&done, w->store, w->app.cache, w->study, &how, &err), &err);
    assert_int_equal(done, 3);
    assert_ok(mel_manage_monitor(&seen, w->store, w->app.cache, w->study, NULL, 60.0, &err), &err);
    const json_t *cache = json_object_get(seen, "live"), *pooled = json_object_get(seen, "pooled");
    assert_int_equal(json_array_size(cache), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *one = json_array_get(cache, i);
        assert_true(json_is_true(json_object_get(one, "simulated")));
        assert_string_equal(json_string_value(json_object_get(one, "state")), "complete");
        assert_non_null(json_object_get(one, "cost_ratio"));
        assert_int_equal(json_integer_value(json_object_get(json_object_get(one, "agreement"), "of")), 15);
    }
    assert_int_equal(json_integer_value(json_object_get(pooled, "participants")), 3);
    assert_int_equal(json_integer_value(json_object_get(pooled, "of")), 3);
    const double together =
        json_number_value(json_object_get(json_object_get(pooled, "cost_ratio"), "value"));
    assert_true(together > 4.0 && together < 12.0);
    const json_t *pages = json_object_get(seen, "pages");
    assert_int_equal(json_array_size(pages), 9);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(pages, 8), "here")),
                     0);  /* simulated ones are not people */
    json_t *again = NULL; /* what was pooled is remembered, and the same */
    assert_ok(mel_manage_monitor(&again, w->store, w->app.cache, w->study, NULL, 60.0, &err), &err);
    json_t *text = json_object_get(again, "pooled");
    assert_close(json_number_value(json_object_get(json_object_get(text, "cost_ratio"), "value")), together,
                 1e-9);
    json_decref(again);
    json_decref(seen);
    json_decref(ratio);
}

/* One metric for all is said to hide something when some want the opposite of what others want. */
static void test_people_who_differ(void **state)
{
    const world *w = *state;
    const double wanted[] = { 12.0, 12.0, 0.2 };
    mel_error err;
    for (size_t i = 0; i < COUNT(wanted); i++) {
        json_t *ratio = json_real(wanted[i]), *seen = NULL;
        const mel_rehearsal how = { .participants = 2, .metric = ratio };
        assert_ok(mel_manage_rehearse(NULL, w->store, w->app.cache, w->study, &how, &err), &err);
        assert_ok(mel_manage_monitor(&seen, w->store, w->app.cache, w->study, NULL, 60.0, &err), &err);
        const json_t *pooled = json_object_get(seen, "pooled"), *said = json_object_get(pooled, "statements");
        const json_int_t against = json_integer_value(json_object_get(pooled, "against"));
        const char *text = "";
        for (size_t k = 0; k < json_array_size(said); k++)
            if (strcmp(json_string_value(json_object_get(json_array_get(said, k), "key")), "agreement") == 0)
                text = json_string_value(json_object_get(json_array_get(said, k), "text"));
        assert_true(wanted[i] > 1.0 ? against == 0 : against >= 2);
        assert_non_null(strstr(text, wanted[i] > 1.0 ? "Nobody's answers show" : "do not all want the same"));
        json_decref(seen);
        json_decref(ratio);
    }
}

static void test_rehearsals_that_are_refused(void **state)
{
    const world *w = *state;
    mel_error err;
    json_t *zero = json_real(0.0), *text = json_string("seven"), *seven = json_real(7.0);
    const struct {
        mel_rehearsal how;
        const char *names;
    } rows[] = {
        { { .participants = 0 }, "participants" },
        { { .participants = MEL_MOST_REHEARSED + 1 }, "participants" },
        { { .participants = 1, .metric = zero }, "metric" },
        { { .participants = 1, .metric = text }, "metric" },
        { { .participants = 1, .metric = seven, .noise = "loud" }, "noise" },
        { { .participants = 1, .noise = "flip:0.1" }, "noise" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(mel_manage_rehearse(NULL, w->store, w->app.cache, w->study, &rows[i].how, &err),
                         MEL_EINVAL);
        assert_non_null(strstr(err.text, rows[i].names));
    }
    mel_study_counts counts;
    assert_ok(mel_store_counts(&counts, w->store, w->study, &err), &err);
    assert_int_equal(counts.active + counts.complete + counts.left + counts.simulated, 0);
    json_decref(zero);
    json_decref(text);
    json_decref(seven);
}

/* The cells of a line of CSV, unquoted; how many. */
static size_t cells(char *out[32], char *line)
{
    size_t n = 0;
    char *to = line;
    for (char *at = line; n < 32;) {
        out[n++] = to;
        bool quoted = *at == '"';
        at += quoted;
        while (*at != '\0' && (quoted || (*at != ',' && *at != '\r'))) {
            if (quoted && *at == '"' && *++at != '"') {
                quoted = false;
                continue;
            }
            *to++ = *at++;
        }
        const bool more = *at++ == ',';
        *to++ = '\0';
        if (!more)
            return n;
    }
    return n;
}

/* The whole file with a NUL at its end, for free(). */
static char *exported(const world *w, mel_export_format format, size_t *n)
{
    int file = -1;
    mel_error err;
    assert_ok(mel_export(&file, n, w->store, w->study, format, &err), &err);
    char *text = calloc(*n + 1, 1);
    assert_non_null(text);
    assert_int_equal(read(file, text, *n + 1), *n);
    (void)close(file);
    return text;
}

static bool never(void *user)
{
    (void)user;
    return false;
}

static void test_export(void **state)
{
    const world *w = *state;
    char id[MEL_ID_TEXT], *text = NULL;
    size_t n = 0;
    mel_error err;
    mel_open_study *open_study = NULL;
    mel_flow *flow = NULL;
    add_person(w, id, "=1+1");
    assert_ok(mel_open_study_by_id(&open_study, w->app.cache, w->study, &err), &err);
    assert_ok(mel_flow_new(&flow, open_study->study, open_study->problem, 7, NULL, &err), &err);
    static const char *const values[] = { consent,
                                          form,
                                          "{}",
                                          "{\"answer\": -1}",
                                          "{\"answer\": -1}",
                                          "{\"answer\": -1}",
                                          "{\"answer\": \"=\"}",
                                          "{\"answer\": \"=\"}",
                                          "{\"answer\": \"=\"}",
                                          "{\"answer\": \"A\"}",
                                          "{\"ratio\": 7}",
                                          "{\"answer\": \"A\"}",
                                          "{\"answer\": \"=\"}",
                                          "{\"undo\": true}",
                                          "{\"undo\": true}",
                                          "{\"answer\": \"?\"}" };
    uint32_t seq = 0;
    for (size_t i = 0; i < COUNT(values); i++)
        if (strcmp(mel_flow_where(flow), "training") != 0 || strstr(values[i], "answer") != NULL)
            append(w, id, flow, ++seq, values[i]);
    assert_string_equal(mel_flow_where(flow), "elicitation");
    mel_flow_free(flow);
    mel_open_study_free(open_study);

    text = exported(w, MEL_EXPORT_CSV, &n);
    size_t rows = 0, undone = 0;
    for (char *line = text, *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2, rows++) {
        *end = '\0';
        char *cell[32];
        assert_int_equal(cells(cell, line), 18);
        undone += strcmp(cell[13], "true") == 0;
        for (size_t i = 0; i < 18; i++) /* nothing that a spreadsheet would run */
            assert_null(cell[i][0] != '\0' && strchr("=+@\t", cell[i][0]) != NULL ? cell[i] : NULL);
        if (rows > 0)
            assert_string_equal(cell[1], "'=1+1");
        if (rows == seq)
            assert_string_equal(cell[8], "cannot say");
    }
    assert_int_equal(rows, seq + 1);
    assert_int_equal(undone, 2);
    free(text);

    text = exported(w, MEL_EXPORT_JSONL, &n);
    rows = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1, rows++) {
        *end = '\0';
        json_t *one = json_loads(line, 0, NULL);
        assert_int_equal(json_integer_value(json_object_get(one, "seq")), rows + 1);
        assert_string_equal(json_string_value(json_object_get(one, "label")), "=1+1");
        json_decref(one);
    }
    assert_int_equal(rows, seq);
    free(text);

    text = exported(w, MEL_EXPORT_SQLITE, &n);
    const char *path = test_file("copy.db", text, n);
    free(text);
    mel_store *copy = test_store_open(path);
    mel_event_row *events = NULL;
    assert_ok(mel_store_events(&events, &n, copy, id, &err), &err);
    assert_int_equal(n, seq);
    mel_event_rows_free(events, n);
    mel_store_close(copy);
    int file = 0;
    assert_int_equal(mel_export(&file, &n, w->store, "nothing", MEL_EXPORT_CSV, &err), MEL_EINVAL);
    assert_int_equal(file, -1);
    /* Nobody waits any more: it ends early. */
    const mel_budget over = { .is_wanted = never };
    for (int format = MEL_EXPORT_CSV; format <= MEL_EXPORT_SQLITE; format++) {
        mel_budget_begin(&over);
        assert_int_equal(mel_export(&file, &n, w->store, w->study, (mel_export_format)format, &err),
                         MEL_ESTOPPED);
        mel_budget_end();
        assert_int_equal(file, -1);
    }
}

static void test_tokens(void **state)
{
    const world *w = *state;
    char first[MEL_TOKEN_TEXT], second[MEL_TOKEN_TEXT];
    bool mine = false;
    mel_error err;
    assert_ok(mel_admin_token_new(first, &mine, false, &w->app, &err), &err);
    assert_true(mine);
    assert_ok(mel_admin_token_new(second, &mine, false, &w->app, &err), &err);
    assert_false(mine); /* there is one already */
    assert_ok(mel_admin_token_new(second, &mine, true, &w->app, &err), &err);
    assert_true(mine);
    assert_string_not_equal(first, second);
    assert_int_equal(strlen(first), 43); /* 256 bits in base 64 */
    void *stored = NULL;
    size_t n = 0;
    unsigned char hash[MEL_HASH_BYTES];
    mel_token_hash(hash, second, &w->app);
    assert_ok(mel_store_get(&stored, &n, w->store, MEL_ADMIN_TOKEN, &err), &err);
    assert_int_equal(n, sizeof hash);
    assert_memory_equal(stored, hash, n);
    free(stored);
    /* Links depend on the study and on the label. */
    char link[4][MEL_LINK_TEXT];
    mel_link_of(link[0], "study", "a", &w->app);
    mel_link_of(link[1], "study", "b", &w->app);
    mel_link_of(link[2], "studya", "", &w->app);
    mel_link_of(link[3], "study", "a", &w->app);
    assert_string_equal(link[0], link[3]);
    assert_string_not_equal(link[0], link[1]);
    assert_string_not_equal(link[0], link[2]);
}

/* Without patience. */
static mel_status begin_work(const mel_cache *cache, mel_error *err)
{
    mel_admission *held = NULL;
    mel_cache_admission(cache)->patience = 0.0;
    return mel_work_begin(&held, mel_cache_admission(cache), &(mel_work){ .shared = true }, err);
}

static void end_work(const mel_cache *cache)
{
    mel_admission *held = mel_cache_admission(cache);
    mel_work_end(&held);
}

/* With four workers one does what takes long; others are told to come again, unless all is there already. */
static void test_heavy_work_is_bounded(void **state)
{
    world *w = *state;
    mel_cache *cache = w->app.cache;
    mel_open_study *open_study = NULL;
    mel_study *other = NULL;
    mel_error err;
    char *text = copied();
    overwrite(strstr(text, "\"seed\": 1"), "\"seed\": 2");
    mel_admission_limit(mel_cache_admission(cache), 4, 0);
    assert_ok(begin_work(cache, &err), &err);
    assert_int_equal(begin_work(cache, &err), MEL_BUSY);
    assert_ok(mel_study_parse(&other, text, strlen(text), &err), &err);
    assert_int_equal(mel_open_study_of(&open_study, cache, other, &err), MEL_BUSY);
    assert_null(open_study);
    assert_ok(mel_open_study_by_id(&open_study, cache, w->study, &err), &err);
    mel_open_study_free(open_study);
    end_work(cache);
    assert_ok(mel_study_parse(&other, text, strlen(text), &err), &err);
    assert_ok(mel_open_study_of(&open_study, cache, other, &err), &err);
    mel_open_study_free(open_study);
    free(text);
}

/* Of four that may do heavy work at a time, one client has two at the most. */
static void test_heavy_work_is_shared_out(void **state)
{
    mel_cache *cache = ((world *)*state)->app.cache;
    const mel_budget greedy = { .client = "198.51.100.1" }, modest = { .client = "198.51.100.2" };
    mel_error err;
    mel_admission_limit(mel_cache_admission(cache), 16, 0);
    mel_budget_begin(&greedy);
    assert_ok(begin_work(cache, &err), &err);
    assert_ok(begin_work(cache, &err), &err);
    assert_int_equal(begin_work(cache, &err), MEL_BUSY);
    mel_budget_begin(&modest);
    assert_ok(begin_work(cache, &err), &err);
    end_work(cache);
    mel_budget_begin(&greedy);
    end_work(cache);
    assert_ok(begin_work(cache, &err), &err);
    end_work(cache);
    end_work(cache);
    mel_budget_end();
}

/* An IPv6 client has any address of its /64; an IPv4 address may be written as one of IPv6. */
static void test_names_of_clients(void **state)
{
    (void)state;
    static const struct {
        const char *address, *name;
    } cases[] = {
        { "198.51.100.1", "198.51.100.1" },
        { "::ffff:198.51.100.1", "198.51.100.1" },
        { "::ffff:c633:6401", "198.51.100.1" },
        { "2001:db8:0:1::1", "2001:db8:0:1::/64" },
        { "2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64" },
        { "2001:db8:0:2::1", "2001:db8:0:2::/64" },
        { "?", "?" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[MEL_CLIENT_TEXT];
        mel_client_name(name, cases[i].address);
        assert_string_equal(name, cases[i].name);
    }
}

/* Four clients of one /48 may do what four may, and then all of it has done enough. */
static void test_networks_are_counted(void **state)
{
    (void)state;
    enum { MOST = 3, CLIENTS = 20 };
    mel_admission *rate = mel_admission_new();
    assert_non_null(rate);
    size_t allowed = 0;
    for (unsigned client = 0; client < CLIENTS; client++)
        for (unsigned i = 0; i < 2 * MOST; i++) {
            char address[MEL_CLIENT_TEXT];
            (void)snprintf(address, sizeof address, "2001:db8:7:%x::%x", client, i + 1);
            allowed += mel_admission_count(rate, "joins", address, MOST) == 0;
        }
    assert_int_equal(allowed, MOST * MEL_NETWORK_CLIENTS);
    assert_int_equal(mel_admission_count(rate, "joins", "2001:db8:8::1", MOST), 0);
    for (unsigned i = 0; i < MOST; i++)
        assert_int_equal(mel_admission_count(rate, "joins", "198.51.100.1", MOST), 0);
    assert_int_not_equal(mel_admission_count(rate, "joins", "::ffff:198.51.100.1", MOST), 0);
    mel_admission_free(rate);
}

/* Two addresses of one /64 are one client. */
static void test_clients_with_many_addresses(void **state)
{
    mel_cache *cache = ((world *)*state)->app.cache;
    const mel_budget one = { .client = "2001:db8:0:1::1" }, other = { .client = "2001:db8:0:1::2" };
    mel_error err;
    mel_admission_limit(mel_cache_admission(cache), 8, 0);
    mel_budget_begin(&one);
    assert_ok(begin_work(cache, &err), &err);
    mel_budget_begin(&other);
    assert_int_equal(begin_work(cache, &err), MEL_BUSY);
    mel_budget_begin(&one);
    end_work(cache);
    mel_budget_begin(&other);
    assert_ok(begin_work(cache, &err), &err);
    end_work(cache);
    mel_budget_end();
}

enum { MANY_LIMITS = 200 };

static void *change_limits(void *cache)
{
    for (size_t i = 0; i < MANY_LIMITS; i++)
        mel_admission_limit(mel_cache_admission(cache), 16, ((size_t)1 << 40) + i);
    return NULL;
}

/* Limits are read again while others work. */
static void test_limits_change_under_way(void **state)
{
    mel_cache *cache = ((world *)*state)->app.cache;
    mel_error err;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, change_limits, cache), 0);
    for (size_t i = 0; i < MANY_LIMITS; i++) {
        assert_ok(begin_work(cache, &err), &err);
        end_work(cache);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Answers and joins of a study take all places, whoever sends them; what else the same client does counts by
 * itself. */
static void test_a_laboratory_is_no_client(void **state)
{
    mel_cache *cache = ((world *)*state)->app.cache;
    mel_admission *admission = mel_cache_admission(cache);
    const mel_budget laboratory = { .client = "198.51.100.1" };
    const mel_work of_client = { .shared = true }, of_nobody = { .shared = false };
    mel_admission_limit(admission, 16, 0);
    mel_budget_begin(&laboratory);
    pthread_mutex_lock(&admission->lock);
    for (size_t i = 0; i < 2; i++)
        assert_true(mel_work_enter(admission, &of_client));
    assert_false(mel_work_enter(admission, &of_client));
    for (size_t i = 0; i < 2; i++)
        assert_true(mel_work_enter(admission, &of_nobody));
    assert_false(mel_work_enter(admission, &of_nobody));
    mel_work_leave(admission);
    mel_work_leave(admission);
    assert_false(mel_work_enter(admission, &of_client));
    mel_work_leave(admission);
    assert_true(mel_work_enter(admission, &of_client));
    mel_work_leave(admission);
    mel_work_leave(admission);
    pthread_mutex_unlock(&admission->lock);
    mel_budget_end();
}

static size_t places_of(const mel_admission *admission, const char *client)
{
    size_t n = 0;
    for (size_t i = 0; i < MEL_MOST_MAKING; i++)
        n += strcmp(admission->worker[i].client, client) == 0;
    return n;
}

/* Of a study with many coefficients: answers are nobody's in particular, results are their client's. */
static void test_whose_work_a_study_is(void **state)
{
    static const char text[] =
        "{\"format\": \"melicit-study\", \"version\": 1, \"title\": \"t\","
        " \"space\": {\"ball\": \"6\", \"radius\": 0.02}, \"elicitation\": {\"family\": \"linear\"},"
        " \"phases\": [{\"kind\": \"elicitation\"}, {\"kind\": \"done\", \"title\": \"x\"}]}";
    mel_cache *cache = ((world *)*state)->app.cache;
    mel_admission *admission = mel_cache_admission(cache);
    const mel_budget laboratory = { .client = "198.51.100.1" };
    mel_study *study = NULL;
    mel_open_study *open_study = NULL;
    mel_error err;
    assert_ok(mel_study_parse(&study, text, strlen(text), &err), &err);
    assert_ok(mel_open_study_of(&open_study, cache, study, &err), &err);
    mel_admission_limit(admission, 16, 0);
    mel_budget_begin(&laboratory);
    for (int what = MEL_WORK_ANSWER; what <= MEL_WORK_REPORT; what++) {
        mel_admission *held = NULL;
        assert_ok(mel_cache_begin_flow(&held, cache, open_study, (mel_flow_work)what, &err), &err);
        assert_ptr_equal(held, admission);
        assert_int_equal(admission->n_making, 1);
        assert_int_equal(places_of(admission, "198.51.100.1"), what == MEL_WORK_ANSWER ? 0 : 1);
        mel_work_end(&held);
        assert_int_equal(places_of(admission, ""), MEL_MOST_MAKING);
    }
    mel_budget_end();
    mel_open_study_free(open_study);
}

/* Of four places one study has three, and lets another go first that waits and has fewer. */
static void test_studies_share_the_places(void **state)
{
    mel_cache *cache = ((world *)*state)->app.cache;
    mel_admission *admission = mel_cache_admission(cache);
    static const char a, b, c; /* looked at by their addresses only */
    const mel_work large = { .study = &a }, small = { .study = &b }, third = { .study = &c };
    mel_admission_limit(admission, 16, 0);
    pthread_mutex_lock(&admission->lock);
    for (size_t i = 0; i < 3; i++)
        assert_true(mel_work_enter(admission, &large));
    assert_false(mel_work_enter(admission, &large));
    assert_true(mel_work_enter(admission, &small));
    assert_false(mel_work_enter(admission, &third)); /* all are taken */
    mel_work_leave(admission);
    mel_work_leave(admission);
    mel_waiter waiter = { .study = third.study };
    admission->waiters = &waiter;
    assert_false(mel_work_enter(admission, &large));
    assert_true(mel_work_enter(admission, &third));
    assert_false(mel_work_enter(admission, &large));
    admission->waiters = NULL;
    assert_true(mel_work_enter(admission, &large));
    while (admission->n_making > 0)
        mel_work_leave(admission);
    pthread_mutex_unlock(&admission->lock);
}

typedef struct {
    mel_admission *admission;
    mel_work work;
    bool steps_aside;
    mel_status status;
} patient;

static bool step_aside(void *user)
{
    return ((const patient *)user)->steps_aside;
}

static void step_back(void *user)
{
    (void)user;
}

static void *begin_patiently(void *user)
{
    patient *p = user;
    const mel_budget budget = { .step_aside = step_aside, .step_back = step_back, .user = p };
    mel_admission *held = NULL;
    mel_budget_begin(&budget);
    p->status = mel_work_begin(&held, p->admission, &p->work, NULL);
    mel_work_end(&held);
    mel_budget_end();
    return NULL;
}

/* How many callers wait while all places are taken. */
static size_t waiting(mel_admission *admission)
{
    pthread_mutex_lock(&admission->lock);
    const size_t n = admission->n_waiting[0] + admission->n_waiting[1];
    pthread_mutex_unlock(&admission->lock);
    return n;
}

/* Work waits for a place instead of being refused: a study's in any case, other work where the request can
 * let others go first. */
static void test_work_waits_for_a_place(void **state)
{
    static const char study;
    static const struct {
        mel_work work;
        bool steps_aside, waits;
    } rows[] = { { { .study = &study }, true, true },
                 { { .study = &study }, false, true },
                 { { .own = true }, true, true },
                 { { .own = true }, false, false },
                 { { .own = true, .holds = true }, true, false } };
    mel_cache *cache = ((world *)*state)->app.cache;
    mel_error err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        patient p = { mel_cache_admission(cache), rows[i].work, rows[i].steps_aside, MEL_OK };
        pthread_t thread;
        mel_admission_limit(p.admission, 8, 0);
        assert_ok(begin_work(cache, &err), &err);
        assert_ok(begin_work(cache, &err), &err);
        p.admission->patience = 1e9;
        assert_int_equal(pthread_create(&thread, NULL, begin_patiently, &p), 0);
        while (rows[i].waits && waiting(p.admission) == 0)
            sched_yield();
        if (!rows[i].waits)
            assert_int_equal(pthread_join(thread, NULL), 0);
        end_work(cache);
        end_work(cache);
        if (rows[i].waits)
            assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(p.status, rows[i].waits ? MEL_OK : MEL_BUSY);
        assert_int_equal(waiting(p.admission), 0);
    }
}

/* Who finds no place wakes nobody who waits for one: they would wake each other for ever. */
static void test_waiters_do_not_wake_each_other(void **state)
{
    mel_cache *cache = ((world *)*state)->app.cache;
    mel_admission *admission = mel_cache_admission(cache), *held = NULL;
    patient large = { .admission = admission, .work = { .bytes = 1 << 20 } };
    pthread_t thread;
    mel_error err;
    struct timespec soon;
    mel_admission_limit(admission, 16, 1);
    assert_ok(mel_work_begin(&held, admission, &large.work, &err), &err);
    admission->patience = 0.0;
    pthread_mutex_lock(&admission->lock);
    assert_int_equal(pthread_create(&thread, NULL, begin_patiently, &large), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &soon);
    soon.tv_sec++;
    assert_int_equal(pthread_cond_timedwait(&admission->changed, &admission->lock, &soon), ETIMEDOUT);
    pthread_mutex_unlock(&admission->lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(large.status, MEL_BUSY);
    mel_work_end(&held);
}

/* The open study of the test's study with another seed: a problem of its own. */
static mel_open_study *hall_with_seed(const world *w, unsigned seed)
{
    char *text = copied(), with[16];
    mel_study *study = NULL;
    mel_open_study *open_study = NULL;
    mel_error err;
    (void)snprintf(with, sizeof with, "\"seed\":%02u", seed); /* as long as what was there */
    overwrite(strstr(text, "\"seed\": 1"), with);
    assert_ok(mel_study_parse(&study, text, strlen(text), &err), &err);
    assert_ok(mel_open_study_of(&open_study, w->app.cache, study, &err), &err);
    free(text);
    return open_study;
}

/* Places that nobody uses are kept for a while, the newest eight; those in use always. */
static void test_idle_places_are_forgotten(void **state)
{
    const world *w = *state;
    enum { KEPT = 8 };
    mel_open_study *held = hall_with_seed(w, 10);
    for (unsigned i = 0; i < KEPT + 4; i++)
        mel_open_study_free(hall_with_seed(w, 11 + i));
    const size_t made = mel_cache_count(w->app.cache).made;
    for (unsigned i = 4; i < KEPT + 4; i++)
        mel_open_study_free(hall_with_seed(w, 11 + i));
    mel_open_study_free(hall_with_seed(w, 10));
    assert_int_equal(mel_cache_count(w->app.cache).made, made);
    for (unsigned i = 0; i < 4; i++)
        mel_open_study_free(hall_with_seed(w, 11 + i));
    assert_int_equal(mel_cache_count(w->app.cache).made, made + 4);
    mel_open_study_free(held);
}

/* A session of somebody's own, about a problem of its own. */
static void add_alone(const world *w, char id[MEL_ID_TEXT], unsigned seed)
{
    char about[256];
    mel_participant_row row = { .about = about, .state = "active", .created = 1000, .seen = 1000, .seed = 7 };
    (void)snprintf(about, sizeof about,
                   "{\"start\": {\"space\": {\"population\": \"logistic:a=5,b=0.7\", \"classes\": "
                   "[\"healthy\", \"cancer\"]}, \"family\": \"linear\", \"options\": "
                   "{\"seed\": %u}}}",
                   seed);
    mel_new_id(row.id);
    (void)snprintf(row.study, sizeof row.study, "%s", MEL_NO_STUDY);
    randombytes_buf(row.token, sizeof row.token);
    mel_error err;
    assert_ok(mel_store_add_participant(w->store, &row, &err), &err);
    memcpy(id, row.id, MEL_ID_TEXT);
}

static void visit(const world *w, const char *id)
{
    mel_participant *participant = NULL;
    mel_error err;
    assert_ok(mel_participant_take(&participant, w->app.cache, id, 0, &err), &err);
    assert_int_equal(participant->seq, 0);
    mel_participant_release(w->app.cache, participant, true);
}

/* Participants hold problems: beyond forty the participant that was idle for longest goes, and comes back
 * from the store. */
static void test_participants_give_up_problems(void **state)
{
    const world *w = *state;
    enum { MOST = 40, EXTRA = 12 };
    char id[MOST + EXTRA][MEL_ID_TEXT];
    for (unsigned i = 0; i < MOST + EXTRA; i++) {
        add_alone(w, id[i], 1000 + i);
        visit(w, id[i]);
    }
    const size_t made = mel_cache_count(w->app.cache).made;
    for (unsigned i = EXTRA + 2; i < MOST + EXTRA; i++) /* the newest are all there */
        visit(w, id[i]);
    assert_int_equal(mel_cache_count(w->app.cache).made, made);
    visit(w, id[0]); /* this one is not */
    assert_int_equal(mel_cache_count(w->app.cache).made, made + 1);
    visit(w, id[0]);
    assert_int_equal(mel_cache_count(w->app.cache).made, made + 1);
}

/* Where memory runs short, a study of many people forgets its own: who was here before them stays. */
static void test_studies_forget_their_own(void **state)
{
    const world *w = *state;
    enum { MANY = 64 };
    char alone[MEL_ID_TEXT], id[MANY][MEL_ID_TEXT];
    add_alone(w, alone, 1);
    visit(w, alone);
    for (unsigned i = 0; i < MANY; i++) {
        add_person(w, id[i], NULL);
        visit(w, id[i]);
    }
    assert_true(mel_cache_forget_idle(w->app.cache));
    assert_true(mel_cache_count(w->app.cache).idle < MANY);
    mel_participant *participant = NULL;
    mel_error err;
    assert_ok(mel_participant_take(&participant, w->app.cache, alone, 0, &err), &err);
    assert_false(participant->fresh);
    mel_participant_release(w->app.cache, participant, true);
    assert_ok(mel_participant_take(&participant, w->app.cache, id[0], 0, &err), &err);
    assert_true(participant->fresh);
    mel_participant_release(w->app.cache, participant, true);
}

static bool monitor_is_complete(json_t **out, const world *w, double seconds)
{
    mel_error err;
    json_decref(*out);
    assert_ok(mel_manage_monitor(out, w->store, w->app.cache, w->study, NULL, seconds, &err), &err);
    return json_is_true(json_object_get(*out, "complete"));
}

/* What was found out about people needs no time any more; who has said more since is looked at again. */
static void test_monitor_remembers(void **state)
{
    const world *w = *state;
    const double none = -1.0, plenty = 60.0;
    mel_error err;
    const mel_rehearsal how = { .participants = 3 };
    json_t *seen = NULL, *again = NULL;
    char id[MEL_ID_TEXT];
    assert_ok(mel_manage_rehearse(NULL, w->store, w->app.cache, w->study, &how, &err), &err);
    assert_false(monitor_is_complete(&seen, w, none));
    assert_int_equal(json_array_size(json_object_get(seen, "live")), 3);
    assert_null(json_object_get(json_array_get(json_object_get(seen, "live"), 0), "answers"));
    assert_true(monitor_is_complete(&seen, w, plenty));
    assert_true(monitor_is_complete(&again, w, none));
    assert_true(json_equal(seen, again));

    mel_open_study *open_study = NULL;
    mel_flow *flow = NULL;
    add_person(w, id, NULL);
    assert_ok(mel_open_study_by_id(&open_study, w->app.cache, w->study, &err), &err);
    assert_ok(mel_flow_new(&flow, open_study->study, open_study->problem, 7, NULL, &err), &err);
    assert_true(monitor_is_complete(&seen, w, plenty));
    append(w, id, flow, 1, consent);
    assert_false(monitor_is_complete(&seen, w, none));
    assert_true(monitor_is_complete(&seen, w, plenty));
    const json_t *one = json_array_get(json_object_get(seen, "live"), 0); /* the store says, of long ago */
    assert_string_equal(json_string_value(json_object_get(one, "page")), "form");
    assert_int_equal(json_integer_value(json_object_get(one, "answers")), 1);
    assert_close(json_number_value(json_object_get(one, "seconds")), 2.0, 0.0);

    /* Deleted people are not remembered. */
    assert_ok(test_erase_one(w->store, id, NULL, 0), &err);
    mel_cache_forget(w->app.cache, id);
    assert_null(mel_cache_recall(w->app.cache, id, NULL));
    assert_true(monitor_is_complete(&seen, w, none));
    assert_true(json_equal(json_object_get(seen, "live"), json_object_get(again, "live")));
    mel_flow_free(flow);
    mel_open_study_free(open_study);
    json_decref(again);
    json_decref(seen);
}

/* Others' work that takes long goes first: nothing is refused, and what is missing comes later. */
static void test_monitor_waits_its_turn(void **state)
{
    const world *w = *state;
    mel_error err;
    const mel_rehearsal how = { .participants = 2 };
    json_t *seen = NULL;
    assert_ok(mel_manage_rehearse(NULL, w->store, w->app.cache, w->study, &how, &err), &err);
    mel_admission_limit(mel_cache_admission(w->app.cache), 4, 0);
    assert_ok(begin_work(w->app.cache, &err), &err);
    assert_false(monitor_is_complete(&seen, w, 60.0));
    assert_int_equal(json_array_size(json_object_get(seen, "live")), 2);
    end_work(w->app.cache);
    assert_true(monitor_is_complete(&seen, w, 60.0));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(seen, "pooled"), "participants")), 2);
    json_decref(seen);
}

typedef struct {
    mel_cache *cache;
    const char *id;
    pthread_mutex_t lock;
    size_t refused;
} press;

static void *take_participant(void *user)
{
    press *p = user;
    mel_participant *participant = NULL;
    const mel_status status = mel_participant_take(&participant, p->cache, p->id, 0, NULL);
    if (status == MEL_OK) {
        mel_participant_release(p->cache, participant, true);
    } else {
        pthread_mutex_lock(&p->lock);
        p->refused += status == MEL_BUSY;
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

/* Half of the workers may wait for participants. */
static void test_one_person_cannot_have_all_workers(void **state)
{
    world *w = *state;
    char id[MEL_ID_TEXT];
    mel_error err;
    mel_participant *participant = NULL;
    pthread_t thread[7];
    add_person(w, id, NULL);
    mel_admission_limit(mel_cache_admission(w->app.cache), 8, 0);
    press p = { .cache = w->app.cache, .id = id };
    pthread_mutex_init(&p.lock, NULL);
    assert_ok(mel_participant_take(&participant, w->app.cache, id, 0, &err), &err);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, take_participant, &p), 0);
    size_t refused = 0;
    while (refused < 3) { /* the other four wait until the participant is free */
        pthread_mutex_lock(&p.lock);
        refused = p.refused;
        pthread_mutex_unlock(&p.lock);
    }
    mel_participant_release(w->app.cache, participant, true);
    for (size_t i = 0; i < 7; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(p.refused, 3);
    pthread_mutex_destroy(&p.lock);
}

/* As many as the largest studies have. */
static void test_memos_of_many(void **state)
{
    enum { MANY = 10000 };
    world *w = *state;
    static char id[MANY][MEL_ID_TEXT];
    json_t *value = json_pack("{s:i}", "answers", 7);
    size_t found = 0;
    for (size_t i = 0; i < MANY; i++) {
        mel_new_id(id[i]);
        mel_cache_remember(w->app.cache, id[i], "now", value);
    }
    for (size_t i = 0; i < MANY; i++) {
        json_t *known = mel_cache_recall(w->app.cache, id[i], "now");
        found += json_equal(known, value) != 0;
        json_decref(known);
    }
    json_decref(value);
    assert_true(found * 100 >= (size_t)MANY * 99);
}

/* What the quotas of uploads and participants are taken from. */
static void test_sums_of_the_store(void **state)
{
    world *w = *state;
    int64_t bytes = -1;
    uint32_t done = 0;
    mel_study_counts counts;
    mel_error err;
    bytes = test_store_bytes(w->store, MEL_UPLOAD);
    assert_int_equal(bytes, 0);
    assert_ok(mel_store_put(w->store, "upload:a", "12345", 5, 0, &err), &err);
    assert_ok(mel_store_put(w->store, "upload:b", "123", 3, mel_now() + 100000, &err), &err);
    assert_ok(mel_store_put(w->store, "other", "1", 1, 0, &err), &err);
    bytes = test_store_bytes(w->store, MEL_UPLOAD);
    assert_int_equal(bytes, 8);
    const mel_rehearsal how = { .participants = 2 };
    assert_ok(mel_manage_rehearse(&done, w->store, w->app.cache, w->study, &how, &err), &err);
    assert_ok(mel_store_counts(&counts, w->store, w->study, &err), &err);
    assert_int_equal(counts.complete, 0);
    assert_int_equal(counts.simulated, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_participants_follow_the_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_caller_at_a_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_heavy_work_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_heavy_work_is_shared_out, set_up, tear_down),
        cmocka_unit_test(test_names_of_clients),
        cmocka_unit_test(test_networks_are_counted),
        cmocka_unit_test_setup_teardown(test_clients_with_many_addresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits_change_under_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_whose_work_a_study_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_laboratory_is_no_client, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_studies_share_the_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_work_waits_for_a_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_waiters_do_not_wake_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_person_cannot_have_all_workers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sums_of_the_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memos_of_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_idle_places_are_forgotten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_participants_give_up_problems, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_studies_forget_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_monitor_remembers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_monitor_waits_its_turn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_studies_are_not_stored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rehearsal_and_monitor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_people_who_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rehearsals_that_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_export, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tokens, set_up, tear_down),
    };
    const int failed = test_both_stores(tests, COUNT(tests));
    test_cleanup();
    return failed;
}
