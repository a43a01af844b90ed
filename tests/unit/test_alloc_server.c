/* Each allocation of a study file, of a participant's way and of the result fails once. */
#include "support/server/place.h"
#include "support/test.h"

#include "server/flow.h"
#include "server/result.h"
#include "server/show.h"

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
    mel_place *place;
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
    mel_status status = mel_flow_new(&flow, w->study, w->place, 1, &err);
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
    const world *w = context;
    mel_flow *flow = NULL;
    json_t *answer = json_pack("{s:s}", "answer", "A"), *result = NULL;
    mel_error err;
    mel_status status = mel_flow_new(&flow, w->study, w->place, 1, &err);
    for (int i = 0; i < 2 && status == MEL_OK; i++)
        status = mel_flow_tell(flow, answer, 1.0, &err);
    if (status == MEL_OK)
        status = mel_result_json(&result, flow, w->study, w->place, &err);
    json_decref(result);
    json_decref(answer);
    mel_flow_free(flow);
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

static void run_on(const char *text, const char *what, mel_status (*work)(void *context))
{
    world w = { 0 };
    mel_error err;
    assert_ok(mel_study_parse(&w.study, text, strlen(text), &err), &err);
    assert_ok(test_make_place(&w.place, NULL, w.study->space, MEL_FAMILY_LINEAR, 1, &err), &err);
    test_each_allocation(what, work, &w);
    w.place->free(w.place);
    mel_study_free(w.study);
}

static void test_way(void **state)
{
    (void)state;
    run_on(test_study_text, "a participant", walk);
}

static void test_result(void **state)
{
    (void)state;
    run_on("{\"format\": \"melicit-study\", \"version\": 1, \"title\": \"t\", \"space\": {\"population\": "
           "\"made up\"}, "
           "\"elicitation\": {\"max_questions\": 2}, \"phases\": [{\"kind\": \"elicitation\"}, {\"kind\": "
           "\"result\"}, "
           "{\"kind\": \"done\", \"title\": \"d\"}]}",
           "a result", find_result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_study),
        cmocka_unit_test(test_way),
        cmocka_unit_test(test_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
