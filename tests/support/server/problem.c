/* The problem of a study without a server: a logistic population. */
#include "support/server/problem.h"

#include "base/internal.h"

#include <string.h>

const char test_study_text[] =
    "{\"format\": \"melicit-study\", \"version\": 1, \"title\": \"A test\","
    " \"space\": {\"population\": \"logistic:a=5,b=0.7\", \"classes\": [\"healthy\", \"cancer\"]},"
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

mel_status test_make_problem(mel_problem **out, const mel_study *study, mel_error *err)
{
    *out = NULL;
    mel_problem_options opt;
    char *space = json_dumps(study->space, JSON_COMPACT | JSON_REAL_PRECISION(17));
    mel_status status =
        space != NULL ? mel_problem_from_json(&opt, space, err) : mel_fail_memory(err, "the data of a study");
    free(space);
    if (status != MEL_OK)
        return status;
    static const char logistic[] = "logistic:";
    const mel_problem_want want = mel_want_of_family(study->options.family);
    const bool population =
        opt.population != NULL && strncmp(opt.population, logistic, sizeof logistic - 1) == 0;
    status = population || opt.candidates != NULL
                 ? mel_problem_make(out, &opt, &want, err)
                 : mel_fail(err, MEL_EDATA, "space.population: expected a logistic one");
    mel_problem_options_clear(&opt);
    return status;
}
