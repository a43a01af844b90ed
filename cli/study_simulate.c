/* melicit study rehearse and plan: simulated participants, to try a study and to plan it. */
#include "base/json.h"
#include "files.h"
#include "output.h"
#include "study_desk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

mel_status cli_study_read(char **out, const char *path, mel_error *err)
{
    enum { MOST = 4 << 20 };
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL)
        return cli_fail(err, MEL_EDATA, "%s: cannot be read", path);
    char *text = cli_alloc_zero(MOST + 1, 1);
    const size_t n = fread(text, 1, MOST, file);
    const bool whole = ferror(file) == 0 && feof(file) != 0;
    if (file != stdin)
        (void)fclose(file);
    if (whole && strlen(text) == n) {
        *out = text;
        return MEL_OK;
    }
    free(text);
    return cli_fail(err, MEL_EDATA, "%s: expected a text of at most 4 MB", path);
}

/* A number is a ratio, anything else a metric file. */
static mel_status read_metric(json_t **out, const char *given, mel_error *err)
{
    *out = NULL;
    if (given == NULL)
        return MEL_OK;
    char *end = NULL, *text = NULL;
    const double ratio = mel_to_double(given, &end);
    if (end != given && *end == '\0' && ratio > 0.0 && isfinite(ratio)) {
        *out = cli_json_number(ratio);
        return MEL_OK;
    }
    char *path = NULL;
    mel_status status = cli_find_data(&path, given, err);
    if (status == MEL_OK)
        status = cli_study_read(&text, path, err);
    if (status == MEL_OK) {
        status = mel_json_parse(out, text, strlen(text), err);
        if (status != MEL_OK)
            (void)cli_fail_in(err, status, given);
    }
    free(text);
    free(path);
    return status;
}

mel_status cli_study_rehearse(cli_study_desk *d, mel_error *err)
{
    json_t *metric = NULL;
    uint32_t done = 0;
    mel_status status = read_metric(&metric, d->args->metric, err);
    const mel_rehearsal how = { .participants = (uint32_t)d->args->participants,
                                .metric = metric,
                                .noise = d->args->noise,
                                .seed = d->run->seed };
    if (status == MEL_OK)
        status = mel_manage_rehearse(&done, d->app.store, d->app.cache, d->what, &how, err);
    json_decref(metric);
    if (status != MEL_OK)
        return status;
    cli_put(d->run->result, "participants", cli_json_count(done));
    if (!d->run->json)
        cli_print("%u simulated participant%s went through study %s\n", done, done == 1 ? "" : "s", d->what);
    return MEL_OK;
}

static void print_plan(const json_t *plan)
{
    static const cli_column by_questions[] = { { "questions", 'r', "{questions:%d}" },
                                               { "width", 'r', "{width:%.3g|open}" },
                                               { 0 } },
                            by_people[] = { { "people", 'r', "{people:%d}" },
                                            { "width", 'r', "{width:%.3g|open}" },
                                            { 0 } };
    (void)cli_say(plan, "what each one wants, median of {participants:%d} simulated participants:\n");
    cli_say_rows(json_object_get(plan, "by_questions"), by_questions);
    cli_print("what all want together:\n");
    cli_say_rows(json_object_get(plan, "by_people"), by_people);
    if (!cli_say(plan, "a width of {wanted:%.3g} takes {questions:%d} questions for half of the people\n"))
        (void)cli_say(plan, "so many questions do not give half of the people a width of {wanted:%.3g}\n");
    if (!cli_say(plan, "of all together it takes {people:%d} people\n"))
        cli_print("of all together it takes more people than these\n");
    if (json_integer_value(json_object_get(plan, "dominated")) > 0)
        (void)cli_say(plan, "{dominated:%d} of {asked:%d} questions tell nothing: one system is as good or "
                            "better in every number\n");
    if (json_integer_value(json_object_get(plan, "trivial")) > 0)
        (void)cli_say(plan, "{trivial:%d} of {asked:%d} questions tell hardly anything: the answers before "
                            "them said what would be answered\n");
}

mel_status cli_study_plan(cli_study_desk *d, mel_error *err)
{
    json_t *metric = NULL, *found = NULL;
    mel_status status = read_metric(&metric, d->args->metric, err);
    const mel_plan plan = { .how = { .participants = (uint32_t)d->args->participants,
                                     .metric = metric,
                                     .noise = d->args->noise,
                                     .seed = d->run->seed },
                            .spread = d->args->spread,
                            .width = d->args->width };
    if (status == MEL_OK)
        status = mel_manage_plan(&found, d->app.cache, d->what, &plan, err);
    json_decref(metric);
    if (status != MEL_OK)
        return status;
    if (!d->run->json)
        print_plan(found);
    cli_json_update(d->run->result, found);
    json_decref(found);
    return MEL_OK;
}
