/* Each allocation of a study file, of a participant's way, of the result, of links and of a plan fails once.
 */
#include "support/server/problem.h"
#include "support/server/store.h"

#include "base/json.h"
#include "server/flow.h"
#include "server/manage.h"
#include "server/result.h"
#include "server/server.h"

#include <stdlib.h>
#include <string.h>

static mel_status parse_study(void *context)
{
    mel_study *study = NULL;
    const mel_status status = mel_study_parse(&study, context, strlen(context), NULL);
    mel_study_free(study);
    return status;
}

typedef struct {
    mel_study *study;
    mel_problem *problem;
} world;

/* Whoever is asked says A; pages are made on the way. */
static mel_status walk(void *context)
{
    const world *w = context;
    static const char *const values[] = { "{\"agreed\": true, \"version\": \"1\"}",
                                          "{\"age\": 30}",
                                          "{}",
                                          "{\"answer\": \"A\"}",
                                          "{\"answer\": \"A\"}",
                                          "{\"answer\": \"B\"}" };
    mel_flow *flow = NULL;
    mel_error err;
    mel_status status = mel_flow_new(&flow, w->study, w->problem, 1, NULL, &err);
    for (size_t i = 0; i < COUNT(values) && status == MEL_OK; i++) {
        json_t *value = json_loads(values[i], 0, NULL), *page = NULL;
        status = mel_flow_page(&page, flow, &err);
        if (status == MEL_OK)
            status = mel_flow_tell(flow, value, 1.0, &err);
        json_decref(page);
        json_decref(value);
    }
    mel_flow_free(flow);
    return status;
}

static mel_status find_result(void *context)
{
    json_t *result = NULL;
    mel_error err;
    const mel_status status = mel_result_json(&result, context, &err);
    json_decref(result);
    return status;
}

static void test_study(void **state)
{
    (void)state;
    char text[4096];
    assert_true(strlen(test_study_text) < sizeof text);
    memcpy(text, test_study_text, strlen(test_study_text) + 1);
    test_each_allocation("a study file", parse_study, text);
}

static world make_world(const char *text)
{
    world w = { 0 };
    mel_error err;
    assert_ok(mel_study_parse(&w.study, text, strlen(text), &err), &err);
    assert_ok(test_make_problem(&w.problem, w.study, &err), &err);
    return w;
}

static void free_world(world *w)
{
    mel_problem_free(w->problem);
    mel_study_free(w->study);
}

static void test_way(void **state)
{
    (void)state;
    world w = make_world(test_study_text);
    test_each_allocation("a participant", walk, &w);
    free_world(&w);
}

static const char short_study[] =
    "{\"format\": \"melicit-study\", \"version\": 1, \"title\": \"t\", "
    "\"space\": {\"population\": \"logistic:a=5,b=0.7\", \"classes\": [\"healthy\", \"cancer\"]}, "
    "\"elicitation\": {\"max_questions\": 2}, \"phases\": [{\"kind\": "
    "\"elicitation\"}, {\"kind\": \"result\"}, "
    "{\"kind\": \"done\", \"title\": \"d\"}]}";

static void test_result(void **state)
{
    (void)state;
    world w = make_world(short_study);
    json_t *answer = json_pack("{s:s}", "answer", "A");
    mel_flow *flow = NULL;
    mel_error err;
    assert_ok(mel_flow_new(&flow, w.study, w.problem, 1, NULL, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(mel_flow_tell(flow, answer, 1.0, &err), &err);
    json_decref(answer);
    test_each_allocation("a result", find_result, flow);
    mel_flow_free(flow);
    free_world(&w);
}

/* All of it or nothing, whatever jansson makes of a lack of memory. */
static mel_status write_json(void *context)
{
    static const char wanted[] = "{\"a\":[1,2.5],\"answer\":\"a text that is longer than what there was room "
                                 "for\",\"zero\":{\"x\":null}}";
    char *text = mel_json_text(context, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (text == NULL)
        return MEL_ENOMEM;
    assert_string_equal(text, wanted);
    mel_json_free_text(text);
    return MEL_OK;
}

static void test_writing(void **state)
{
    (void)state;
    json_t *value = json_pack("{s:{s:n}, s:s, s:[i, f]}", "zero", "x", "answer",
                              "a text that is longer than what there was room for", "a", 1, 2.5);
    test_each_allocation("JSON", write_json, value);
    json_decref(value);
}

/* --- with a store ------------------------------------------------------------------------------- */

typedef struct {
    mel_app app;
    char study[MEL_ID_TEXT];
    json_t *labels;
} open_study;

static void set_up_study(open_study *h, const char *text)
{
    mel_error err;
    mel_store *store = test_store_open(test_store_file("alloc.db"));
    h->labels = json_pack("[s, s]", "p01", "p02");
    assert_ok(mel_app_init(&h->app, store, NULL, &err), &err);
    assert_ok(mel_manage_create(h->study, store, h->app.cache, text, &err), &err);
}

static void tear_down_study(open_study *h)
{
    mel_store *store = h->app.store;
    json_decref(h->labels);
    mel_app_clear(&h->app);
    mel_store_close(store);
    test_cleanup();
}

static mel_status make_links(void *context)
{
    const open_study *h = context;
    bool wanted = false;
    mel_status status = mel_links_note(&h->app, h->study, h->labels, NULL);
    if (status == MEL_OK)
        status = mel_links_needed(&wanted, &h->app, h->study, "p03", false, NULL);
    char *query = NULL;
    if (status == MEL_OK)
        status = mel_link_query(&query, h->study, "p 01", &h->app, NULL);
    if (status == MEL_OK && query == NULL)
        status = MEL_ENOMEM;
    assert_true(wanted || status != MEL_OK);
    free(query);
    return status;
}

static void test_links(void **state)
{
    (void)state;
    open_study h;
    set_up_study(&h, short_study);
    assert_int_equal(make_links(&h),
                     MEL_OK); /* the store's connections and statements are there from now on */
    test_each_allocation("links", make_links, &h);
    assert_int_equal(make_links(&h), MEL_OK);
    tear_down_study(&h);
}

/* A question each: what is known is computed anew for every allocation that fails. */
static const char one_question[] =
    "{\"format\": \"melicit-study\", \"version\": 1, \"title\": \"t\", "
    "\"space\": {\"population\": \"logistic:a=5,b=0.7\", \"classes\": [\"healthy\", \"cancer\"]}, "
    "\"elicitation\": {\"max_questions\": 1, \"questions\": \"far\", \"assume\": \"none\"}, "
    "\"phases\": [{\"kind\": \"elicitation\"}, {\"kind\": \"done\", \"title\": \"d\"}]}";

static mel_status plan_study(void *context)
{
    const open_study *h = context;
    json_t *ratio = json_integer(7), *found = NULL;
    mel_error err;
    const mel_plan plan = { .how = { .participants = 2, .metric = ratio, .noise = "flip:0.1", .seed = 1 },
                            .spread = 0.3,
                            .width = 2.0 };
    mel_status status = ratio == NULL ? MEL_ENOMEM : MEL_OK;
    if (status == MEL_OK)
        status = mel_manage_plan(&found, h->app.cache, h->study, &plan, &err);
    assert_true((found != NULL) == (status == MEL_OK));
    json_decref(found);
    json_decref(ratio);
    return status;
}

static void test_plan(void **state)
{
    (void)state;
    open_study h;
    set_up_study(&h, one_question);
    assert_int_equal(plan_study(&h), MEL_OK);
    test_each_allocation("a plan", plan_study, &h);
    tear_down_study(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_study),   cmocka_unit_test(test_way),   cmocka_unit_test(test_result),
        cmocka_unit_test(test_writing), cmocka_unit_test(test_links), cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
