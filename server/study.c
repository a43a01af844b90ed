/* Study files as a whole, their options, and the study made for a session without one. */
#include "study.h"
#include "study_fields.h"

#include "base/internal.h"
#include "json_helpers.h"

#include <math.h>
#include <stdlib.h>

/* --- options ------------------------------------------------------------------------------------ */

mel_status mel_study_options(mel_session_options *out, const mel_study *study, const mel_domain *domain,
                             mel_error *err)
{
    const json_t *json = json_object_get(study->file, "elicitation");
    mel_session_options_init(out);
    char *text = json != NULL ? mel_json_exact(json) : NULL;
    if (text == NULL && json != NULL)
        return mel_fail_memory(err, "the options of a study");
    mel_error why = { .code = MEL_OK };
    /* Twice: what suits people depends on the strategy, and what the file says counts. */
    mel_status status = text != NULL ? mel_session_options_from_json(out, text, &why) : MEL_OK;
    if (status == MEL_OK)
        status = mel_session_options_suit(out, domain, MEL_BY_PERSON, NULL, 1, &why);
    if (out->max_questions > MEL_MOST_QUESTIONS)
        out->max_questions = MEL_MOST_QUESTIONS; /* a search */
    if (status == MEL_OK && text != NULL)
        status = mel_session_options_from_json(out, text, &why);
    mel_json_free_text(text);
    if (status != MEL_OK)
        return mel_fail(err, status == MEL_EINVAL ? MEL_EDATA : status, "elicitation.%s", why.text);
    if (out->max_questions > MEL_MOST_QUESTIONS)
        return mel_fail(err, MEL_EDATA, "elicitation.max_questions: a study asks at most %d questions",
                        MEL_MOST_QUESTIONS);
    if (out->people == 0) /* what is shown is what is asked about */
        out->people = (uint32_t)mel_json_number(json_object_get(study->file, "show"), "people", 0.0);
    return MEL_OK;
}

/* Names of classes are part of every question. */
static mel_status check_names(const json_t *space, mel_error *err)
{
    enum { MOST = 120 }; /* bytes */
    const json_t *classes = json_object_get(space, "classes");
    for (size_t i = 0; i < json_array_size(classes); i++)
        if (json_string_length(json_array_get(classes, i)) > MOST)
            return mel_fail(err, MEL_EDATA, "space.classes: a name has at most %d bytes", MOST);
    return MEL_OK;
}

/* --- the whole ---------------------------------------------------------------------------------- */

/* What is said of one and of several comes in pairs: a question may be about either. */
static mel_status check_consequences(const json_t *words, mel_error *err)
{
    static const char *const pairs[][2] = { { "found", "found_plural" }, { "alarmed", "alarmed_plural" } };
    const json_t *means = json_object_get(words, "consequences");
    if (means == NULL)
        return MEL_OK;
    for (size_t i = 0; i < 2; i++) {
        const char *one = mel_json_string(means, pairs[i][0]), *many = mel_json_string(means, pairs[i][1]);
        if ((one == NULL) != (many == NULL))
            return mel_fail(err, MEL_EDATA, "words.consequences.%s: expected beside %s",
                            pairs[i][one == NULL ? 0 : 1], pairs[i][one == NULL ? 1 : 0]);
    }
    return mel_check_fields(means, "words.consequences",
                            "missed false_alarm found found_plural alarmed alarmed_plural", err);
}

static mel_status check_parts(const json_t *file, mel_error *err)
{
    static const struct {
        const char *name, *fields;
    } parts[] = { { "words", "task person people mistakes:object consequences:object" },
                  { "show", "people:number picture rates:boolean toggles:boolean" },
                  { "prolific", "completion_url" } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(file, parts[i].name);
        const mel_status status =
            part != NULL ? mel_check_fields(part, parts[i].name, parts[i].fields, err) : MEL_OK;
        if (status != MEL_OK)
            return status;
    }
    const mel_status status = check_consequences(json_object_get(file, "words"), err);
    if (status != MEL_OK)
        return status;
    const double people = mel_json_number(json_object_get(file, "show"), "people", 0.0);
    if (people != 0.0 && people != 100.0 && people != 1000.0 && people != 10000.0)
        return mel_fail(err, MEL_EDATA,
                        "show.people: expected 0 (as many as are needed), 100, 1000 or 10000");
    const char *url = mel_json_string(json_object_get(file, "prolific"), "completion_url");
    if (url != NULL && strncmp(url, "https://", 8) != 0)
        return mel_fail(err, MEL_EDATA,
                        "prolific.completion_url: expected an address that begins with https://");
    return MEL_OK;
}

static mel_status read_policy(mel_study *study, const json_t *file, mel_error *err)
{
    static const char *const words[] = { "resume", "restart", "block" };
    const char *resume = mel_json_string(file, "resume");
    size_t i = 0;
    while (i < 3 && resume != NULL && strcmp(words[i], resume) != 0)
        i++;
    if (i == 3)
        return mel_fail(err, MEL_EDATA, "resume: expected resume, restart or block, not '%.40s'", resume);
    study->resume = (mel_resume)i;
    study->resume_hours = mel_json_number(file, "resume_hours", 48.0);
    const double quota = mel_json_number(file, "quota", 0.0);
    if (!(study->resume_hours > 0.0) || !(quota >= 0.0 && quota <= 1e6) || quota != floor(quota))
        return mel_fail(err, MEL_EDATA,
                        "quota and resume_hours: expected a whole number from 0, and hours above 0");
    study->quota = (uint32_t)quota;
    study->learns = mel_json_is_true(file, "learn_from_others");
    const mel_family_facts *is = mel_family_about(study->options.family);
    if (study->learns && (!is->sum || is->groups || study->options.strategy != MEL_STRATEGY_ACTIVE))
        return mel_fail(err, MEL_EDATA,
                        "learn_from_others: only weighted sums of mistakes that the active strategy finds "
                        "(family linear or diagonal-linear) are learned from others");
    const double days = mel_json_number(file, "retention_days", 1.0);
    return days > 0.0 && days <= 36500.0
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "retention_days: expected a number of days above 0, at most 36500");
}

static mel_status read_study(mel_study *study, mel_error *err)
{
    const json_t *file = study->file;
    mel_status status =
        mel_check_fields(file, "study",
                         "format! version:number! title! space:object! words:object "
                         "elicitation:object show:object resume resume_hours:number retention_days:number "
                         "quota:number prolific:object phases:list! about learn_from_others:boolean",
                         err);
    if (status != MEL_OK)
        return status;
    const char *format = mel_json_string(file, "format");
    if (strcmp(format, "melicit-study") != 0)
        return mel_fail(err, MEL_EDATA, "format: expected \"melicit-study\", not \"%.40s\"", format);
    if (mel_json_number(file, "version", 0.0) != 1.0)
        return mel_fail(err, MEL_EDATA, "version: this program reads study files of version 1");
    study->title = mel_json_string(file, "title");
    study->space = json_object_get(file, "space");
    study->words = json_object_get(file, "words");
    study->show = json_object_get(file, "show");
    status = check_parts(file, err);
    if (status == MEL_OK)
        status = check_names(study->space, err);
    if (status == MEL_OK)
        status = mel_study_options(&study->options, study, NULL, err);
    if (status == MEL_OK)
        status = read_policy(study, file, err);
    return status == MEL_OK ? mel_study_read_phases(study, json_object_get(file, "phases"), err) : status;
}

mel_status mel_study_take(mel_study **out, json_t *file, mel_error *err)
{
    *out = NULL;
    mel_study *study = mel_alloc_zero(1, sizeof *study);
    if (study == NULL) {
        json_decref(file);
        return mel_fail_memory(err, "a study");
    }
    study->file = file;
    const mel_status status = read_study(study, err);
    if (status == MEL_OK)
        *out = study;
    else
        mel_study_free(study);
    return status;
}

mel_status mel_study_parse(mel_study **out, const char *text, size_t n, mel_error *err)
{
    *out = NULL;
    json_t *file = NULL;
    const mel_status status = mel_json_parse(&file, text, n, err);
    return status == MEL_OK ? mel_study_take(out, file, err) : status;
}

void mel_study_free(mel_study *study)
{
    if (study == NULL)
        return;
    json_decref(study->file);
    free(study->phase);
    free(study);
}

mel_status mel_study_for_session(mel_study **out, const json_t *start, mel_error *err)
{
    *out = NULL;
    static const char *const also[] = { "words", "show" };
    const mel_status status = mel_check_fields(
        start, "session", "space:object! words:object family options:object show:object", err);
    if (status != MEL_OK)
        return status;
    json_t *options = json_object_get(start, "options") != NULL
                          ? json_deep_copy(json_object_get(start, "options"))
                          : json_object();
    if (json_object_get(start, "family") != NULL)
        (void)json_object_set(options, "family", json_object_get(start, "family"));
    json_t *file = json_pack("{s:s, s:i, s:s, s:O, s:o, s:[{s:s}, {s:s}, {s:s, s:s, s:b}]}", "format",
                             "melicit-study", "version", 1, "title", "Your own metric", "space",
                             json_object_get(start, "space"), "elicitation", options, "phases", "kind",
                             "elicitation", "kind", "result", "kind", "done", "title", "Done", "code", 0);
    if (file == NULL || !mel_json_copy(file, start, also, 2)) {
        json_decref(file);
        return mel_fail_memory(err, "a session");
    }
    const mel_status taken = mel_study_take(out, file, err);
    if (*out != NULL)
        (*out)->own = true;
    return taken;
}
