#include "support/server/problem.h"

#include "base/internal.h"

#include <stdlib.h>
#include <string.h>

const char test_study_text[] =
    "{\"format\": \"melicit-study\", \"version\": 1, \"title\": \"A test\","
    " \"space\": {\"population\": \"made up\"},"
    " \"words\": {\"people\": \"patients\", \"mistakes\": {\"missed\": \"missed cancer\", \"false_alarm\": "
    "\"false alarm\"}},"
    " \"elicitation\": {\"family\": \"linear\", \"tolerance\": 0.02, \"max_questions\": 12, \"assume\": "
    "\"flip\", \"repeat_every\": 6, \"seed\": 1},"
    " \"show\": {\"people\": 0, \"picture\": \"flow\", \"rates\": false, \"toggles\": true},"
    " \"resume\": \"resume\", \"resume_hours\": 48, \"quota\": 0,"
    " \"phases\": ["
    "{\"kind\": \"consent\", \"version\": \"1\", \"title\": \"Consent\", \"text\": \"May we?\"},"
    "{\"kind\": \"form\", \"title\": \"You\", \"fields\": ["
    "{\"name\": \"age\", \"label\": \"Age\", \"type\": \"number\", \"low\": 18, \"high\": 120, \"required\": "
    "true},"
    "{\"name\": \"job\", \"label\": \"Job\", \"type\": \"choice\", \"choices\": [\"a\", \"b\"]},"
    "{\"name\": \"more\", \"label\": \"More\", \"type\": \"long\"}]},"
    "{\"kind\": \"text\", \"title\": \"Task\", \"text\": \"Two systems\", \"view\": true},"
    "{\"kind\": \"training\", \"title\": \"Try\", \"items\": ["
    "{\"question\": \"How many?\", \"type\": \"number\", \"of\": {\"system\": \"A\", \"true\": 1, "
    "\"predicted\": "
    "0}, \"explain\": \"Look there\"},"
    "{\"question\": \"Which has more?\", \"compare\": \"more\", \"of\": {\"true\": 0, \"predicted\": 1}},"
    "{\"question\": \"Which is better?\", \"of\": {\"definite\": true}}]},"
    "{\"kind\": \"guess\", \"title\": \"Guess\"},"
    "{\"kind\": \"elicitation\"},"
    "{\"kind\": \"evaluation\", \"questions\": 15, \"radius\": 0.1},"
    "{\"kind\": \"result\"},"
    "{\"kind\": \"done\", \"title\": \"Thanks\", \"code\": true}]}";

typedef struct {
    mel_problem problem; /* first: a problem is its owner */
    mel_face *face;
} room;

static void room_free(mel_problem *problem)
{
    room *r = (room *)problem;
    mel_face_free(r->face);
    free(problem->class_share);
    free(problem->typed);
    free(r);
}

static mel_status fill(room *r, mel_error *err)
{
    static const char *const names[] = { "healthy", "cancer" };
    const mel_status status = mel_face_from_logistic(&r->face, 5.0, 0.7, err);
    if (status != MEL_OK)
        return status;
    r->problem.domain.face = r->face;
    r->problem.n_classes = 2;
    r->problem.class_name = names;
    r->problem.digest = "";
    r->problem.typed = mel_strdup("--population logistic:a=5,b=0.7");
    r->problem.class_share = mel_alloc(2, sizeof *r->problem.class_share);
    if (r->problem.class_share == NULL || r->problem.typed == NULL)
        return mel_fail_memory(err, "a problem");
    r->problem.class_share[0] = mel_face_negatives(r->face);
    r->problem.class_share[1] = mel_face_positives(r->face);
    return MEL_OK;
}

mel_status test_make_problem(mel_problem **out, void *user, const json_t *space, mel_family family,
                             uint64_t seed, mel_error *err)
{
    (void)family;
    (void)seed;
    *out = NULL;
    const char *population = json_string_value(json_object_get(space, "population"));
    if (population == NULL || strcmp(population, "made up") != 0)
        return mel_fail(err, MEL_EDATA, "space.population: this one is not known here");
    room *r = mel_alloc_zero(1, sizeof *r);
    if (r == NULL)
        return mel_fail_memory(err, "a problem");
    r->problem.free = room_free;
    const mel_status status = fill(r, err);
    if (status != MEL_OK) {
        room_free(&r->problem);
        return status;
    }
    if (user != NULL)
        ++*(size_t *)user;
    *out = &r->problem;
    return MEL_OK;
}
