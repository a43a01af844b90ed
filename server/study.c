#include "study.h"

#include "base/internal.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PHASES = 100,
    MOST_FIELDS = 60,
    MOST_TEXT = 20000,
    MOST_CODE = 999,
    MOST_QUESTIONS = 1000,
    WHERE_TEXT = 96
};

/* --- what an object may hold -------------------------------------------------------------------- */

typedef enum { TEXT, NUMBER, BOOLEAN, OBJECT, LIST, ANY } kind_of;
typedef struct {
    const char *name;
    kind_of kind;
    bool required;
} field;

static bool is_kind(const json_t *value, kind_of kind)
{
    switch (kind) {
    case TEXT:
        return json_is_string(value) && json_string_length(value) <= MOST_TEXT;
    case NUMBER:
        return json_is_number(value);
    case BOOLEAN:
        return json_is_boolean(value);
    case OBJECT:
        return json_is_object(value);
    case LIST:
        return json_is_array(value);
    case ANY:
        return true;
    }
    return false;
}

static const char *kind_name(kind_of kind)
{
    static const char *const names[] = {
        "a text of at most 20,000 bytes", "a number", "true or false", "an object", "a list", "anything"
    };
    return names[kind];
}

static const field *find_field(const field *fields, const char *name)
{
    while (fields->name != NULL && strcmp(fields->name, name) != 0)
        fields++;
    return fields->name != NULL ? fields : NULL;
}

/* Every member is known and of its kind; the required ones are there. */
static mel_status check_object(const json_t *object, const char *where, const field *fields, mel_error *err)
{
    if (!json_is_object(object))
        return mel_fail(err, MEL_EDATA, "%s: an object is wanted here", where);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        const field *known = find_field(fields, name);
        if (known == NULL)
            return mel_fail(err, MEL_EDATA, "%s.%.40s: there is no such field", where, name);
        if (!is_kind(value, known->kind))
            return mel_fail(err, MEL_EDATA, "%s.%s: %s is wanted here", where, name, kind_name(known->kind));
    }
    for (; fields->name != NULL; fields++)
        if (fields->required && json_object_get(object, fields->name) == NULL)
            return mel_fail(err, MEL_EDATA, "%s.%s: this field is missing", where, fields->name);
    return MEL_OK;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

/* --- phases ------------------------------------------------------------------------------------- */

static const field consent_fields[] = { { "kind", TEXT, true },
                                        { "version", TEXT, true },
                                        { "title", TEXT, true },
                                        { "text", TEXT, true },
                                        { "agree", TEXT, false },
                                        { "refuse", TEXT, false },
                                        { 0 } };
static const field form_fields[] = { { "kind", TEXT, true },   { "name", TEXT, false },
                                     { "title", TEXT, true },  { "text", TEXT, false },
                                     { "fields", LIST, true }, { 0 } };
static const field text_fields[] = {
    { "kind", TEXT, true }, { "title", TEXT, true }, { "text", TEXT, true }, { "view", BOOLEAN, false }, { 0 }
};
static const field training_fields[] = {
    { "kind", TEXT, true }, { "title", TEXT, false }, { "text", TEXT, false }, { "items", LIST, true }, { 0 }
};
static const field guess_fields[] = { { "kind", TEXT, true },    { "title", TEXT, true },
                                      { "text", TEXT, false },   { "low", NUMBER, false },
                                      { "high", NUMBER, false }, { 0 } };
static const field plain_fields[] = {
    { "kind", TEXT, true }, { "title", TEXT, false }, { "text", TEXT, false }, { 0 }
};
static const field evaluation_fields[] = {
    { "kind", TEXT, true }, { "questions", NUMBER, false }, { "radius", NUMBER, false }, { 0 }
};
static const field done_fields[] = { { "kind", TEXT, true },
                                     { "title", TEXT, true },
                                     { "text", TEXT, false },
                                     { "code", BOOLEAN, false },
                                     { 0 } };
/* As mel_phase_kind. */
static const struct {
    const char *name;
    const field *fields;
} kinds[] = {
    { "consent", consent_fields },       { "form", form_fields },    { "text", text_fields },
    { "training", training_fields },     { "guess", guess_fields },  { "elicitation", plain_fields },
    { "evaluation", evaluation_fields }, { "result", plain_fields }, { "done", done_fields },
};

static const field input_fields[] = { { "name", TEXT, true },         { "label", TEXT, true },
                                      { "type", TEXT, true },         { "choices", LIST, false },
                                      { "required", BOOLEAN, false }, { "low", NUMBER, false },
                                      { "high", NUMBER, false },      { 0 } };

static mel_status check_choices(const json_t *choices, const char *where, mel_error *err)
{
    const size_t n = json_array_size(choices);
    if (n < 2 || n > MOST_FIELDS)
        return mel_fail(err, MEL_EDATA, "%s.choices: 2 to %d texts are wanted", where, MOST_FIELDS);
    for (size_t i = 0; i < n; i++)
        if (!json_is_string(json_array_get(choices, i)))
            return mel_fail(err, MEL_EDATA, "%s.choices[%zu]: a text is wanted here", where, i);
    return MEL_OK;
}

static mel_status check_inputs(const json_t *inputs, const char *where, mel_error *err)
{
    if (json_array_size(inputs) > MOST_FIELDS)
        return mel_fail(err, MEL_EDATA, "%s.fields: at most %d are allowed", where, MOST_FIELDS);
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        char at[WHERE_TEXT];
        (void)snprintf(at, sizeof at, "%.40s.fields[%zu]", where, i);
        const json_t *input = json_array_get(inputs, i);
        const mel_status status = check_object(input, at, input_fields, err);
        if (status != MEL_OK)
            return status;
        const char *type = text_of(input, "type");
        const bool choice = strcmp(type, "choice") == 0;
        if (!choice && strcmp(type, "text") != 0 && strcmp(type, "number") != 0 && strcmp(type, "long") != 0)
            return mel_fail(err, MEL_EDATA, "%s.type: '%.40s' is none of text, number, choice, long", at,
                            type);
        for (size_t j = 0; j < i; j++)
            if (strcmp(text_of(json_array_get(inputs, j), "name"), text_of(input, "name")) == 0)
                return mel_fail(err, MEL_EDATA, "%s.name: '%.40s' is there twice", at,
                                text_of(input, "name"));
        if (choice && check_choices(json_object_get(input, "choices"), at, err) != MEL_OK)
            return MEL_EDATA;
    }
    return MEL_OK;
}

static const field item_fields[] = { { "about", TEXT, false },
                                     { "question", TEXT, true },
                                     { "type", TEXT, false },
                                     { "of", OBJECT, true },
                                     { "compare", TEXT, false },
                                     { "explain", TEXT, false },
                                     { 0 } };
static const field of_fields[] = { { "system", TEXT, false },      { "true", NUMBER, false },
                                   { "predicted", NUMBER, false }, { "total", TEXT, false },
                                   { "class", NUMBER, false },     { "rate", BOOLEAN, false },
                                   { "definite", BOOLEAN, false }, { "more", BOOLEAN, false },
                                   { "group", NUMBER, false },     { 0 } };

/* What `of` means: a number that is counted, or the definite question. Classes and groups are numbers from 0;
 * whether they are there, the space says. */
static mel_status check_of(const json_t *of, const char *where, mel_error *err)
{
    static const char *const numbers[] = { "true", "predicted", "class", "group" };
    const char *system = text_of(of, "system"), *total = text_of(of, "total");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *value = json_object_get(of, numbers[i]);
        const double number = json_number_value(value);
        if (value != NULL && (!(number >= 0.0 && number <= MOST_CODE) || number != floor(number)))
            return mel_fail(err, MEL_EDATA, "%s.%s: a whole number from 0 is wanted", where, numbers[i]);
    }
    if (json_object_get(of, "system") != NULL && strcmp(system, "A") != 0 && strcmp(system, "B") != 0)
        return mel_fail(err, MEL_EDATA, "%s.system: '%.40s' is neither A nor B", where, system);
    if (json_is_true(json_object_get(of, "definite")))
        return MEL_OK;
    if (json_object_get(of, "total") == NULL)
        return json_object_get(of, "true") != NULL && json_object_get(of, "predicted") != NULL
                   ? MEL_OK
                   : mel_fail(err, MEL_EDATA,
                              "%s: true and predicted, total and class, or definite is wanted", where);
    if (strcmp(total, "predicted") != 0 && strcmp(total, "true") != 0)
        return mel_fail(err, MEL_EDATA, "%s.total: '%.40s' is neither predicted nor true", where, total);
    return json_object_get(of, "class") != NULL
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s.class: the class of the total is wanted", where);
}

static mel_status check_items(const json_t *items, const char *where, mel_error *err)
{
    if (json_array_size(items) == 0 || json_array_size(items) > MOST_FIELDS)
        return mel_fail(err, MEL_EDATA, "%s.items: 1 to %d are wanted", where, MOST_FIELDS);
    for (size_t i = 0; i < json_array_size(items); i++) {
        char at[WHERE_TEXT];
        (void)snprintf(at, sizeof at, "%.40s.items[%zu]", where, i);
        const json_t *item = json_array_get(items, i);
        mel_status status = check_object(item, at, item_fields, err);
        if (status == MEL_OK) {
            char of[WHERE_TEXT + 8];
            (void)snprintf(of, sizeof of, "%.90s.of", at);
            status = check_object(json_object_get(item, "of"), of, of_fields, err);
            if (status == MEL_OK)
                status = check_of(json_object_get(item, "of"), of, err);
        }
        if (status != MEL_OK)
            return status;
    }
    return MEL_OK;
}

static mel_status read_phase(mel_phase *out, const json_t *json, size_t index, mel_error *err)
{
    char where[WHERE_TEXT];
    (void)snprintf(where, sizeof where, "phases[%zu]", index);
    const char *name = text_of(json, "kind");
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(kinds[kind].name, name) != 0)
        kind++;
    if (kind == sizeof kinds / sizeof *kinds)
        return mel_fail(
            err, MEL_EDATA,
            "%s.kind: '%.40s' is none of consent, form, text, training, guess, elicitation, evaluation, "
            "result, done",
            where, name);
    *out = (mel_phase){ .kind = (mel_phase_kind)kind, .json = json };
    const mel_status status = check_object(json, where, kinds[kind].fields, err);
    if (status != MEL_OK)
        return status;
    if (out->kind == MEL_PHASE_FORM)
        return check_inputs(json_object_get(json, "fields"), where, err);
    return out->kind == MEL_PHASE_TRAINING ? check_items(json_object_get(json, "items"), where, err) : MEL_OK;
}

/* Elicitation comes once; what needs its answers after it; done comes last. */
static mel_status check_order(const mel_study *study, mel_error *err)
{
    bool elicited = false;
    for (size_t i = 0; i < study->n_phases; i++) {
        const mel_phase_kind kind = study->phase[i].kind;
        if (kind == MEL_PHASE_ELICITATION && elicited)
            return mel_fail(err, MEL_EDATA, "phases[%zu]: there is one elicitation in a study", i);
        if ((kind == MEL_PHASE_EVALUATION || kind == MEL_PHASE_RESULT) && !elicited)
            return mel_fail(err, MEL_EDATA, "phases[%zu]: %s comes after the elicitation", i,
                            kinds[kind].name);
        if ((kind == MEL_PHASE_DONE) != (i + 1 == study->n_phases))
            return mel_fail(err, MEL_EDATA, "phases[%zu]: a study ends with one phase 'done'", i);
        elicited = elicited || kind == MEL_PHASE_ELICITATION;
    }
    return elicited ? MEL_OK : mel_fail(err, MEL_EDATA, "phases: there is no elicitation");
}

static mel_status read_phases(mel_study *study, const json_t *phases, mel_error *err)
{
    const size_t n = json_array_size(phases);
    if (n == 0 || n > MOST_PHASES)
        return mel_fail(err, MEL_EDATA, "phases: 1 to %d are wanted, not %zu", MOST_PHASES, n);
    study->phase = mel_alloc_zero(n, sizeof *study->phase);
    if (study->phase == NULL)
        return mel_fail_memory(err, "the phases of a study");
    for (; study->n_phases < n; study->n_phases++) {
        const mel_status status = read_phase(&study->phase[study->n_phases],
                                             json_array_get(phases, study->n_phases), study->n_phases, err);
        if (status != MEL_OK)
            return status;
    }
    return check_order(study, err);
}

/* --- options ------------------------------------------------------------------------------------ */

static const field option_fields[] = { { "family", TEXT, false },
                                       { "strategy", TEXT, false },
                                       { "tolerance", NUMBER, false },
                                       { "max_questions", NUMBER, false },
                                       { "assume", TEXT, false },
                                       { "repeat_every", NUMBER, false },
                                       { "simple_questions", BOOLEAN, false },
                                       { "direction", TEXT, false },
                                       { "per_round", NUMBER, false },
                                       { "seed", NUMBER, false },
                                       { 0 } };

static mel_status whole(uint32_t *out, const json_t *object, const char *name, double low, double high,
                        mel_error *err)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return MEL_OK;
    const double number = json_number_value(value);
    if (!(number >= low && number <= high) || number != floor(number))
        return mel_fail(err, MEL_EDATA, "elicitation.%s: a whole number from %.0f to %.0f is wanted", name,
                        low, high);
    *out = (uint32_t)number;
    return MEL_OK;
}

static mel_status read_options(mel_session_options *out, const json_t *json, mel_error *err)
{
    mel_session_options_init(out);
    out->tolerance = 0.02;
    out->max_questions = 20;
    out->assume = (mel_assumption){ .kind = MEL_NOISE_FLIP };
    out->repeat_every = 6;
    out->simple_questions = true;
    if (json == NULL)
        return MEL_OK;
    mel_status status = check_object(json, "elicitation", option_fields, err);
    uint32_t seed = 1;
    if (status == MEL_OK)
        status = whole(&out->max_questions, json, "max_questions", 1, MOST_QUESTIONS, err);
    if (status == MEL_OK)
        status = whole(&out->repeat_every, json, "repeat_every", 0, MOST_QUESTIONS, err);
    if (status == MEL_OK)
        status = whole(&out->per_round, json, "per_round", 2, MOST_QUESTIONS, err);
    if (status == MEL_OK)
        status = whole(&seed, json, "seed", 0, 1e6, err);
    if (status == MEL_OK && json_object_get(json, "family") != NULL)
        status = mel_family_parse_degree(&out->family, &out->degree, text_of(json, "family"), err);
    if (status == MEL_OK && json_object_get(json, "strategy") != NULL)
        status = mel_strategy_parse(&out->strategy, text_of(json, "strategy"), err);
    if (status == MEL_OK && json_object_get(json, "direction") != NULL)
        status = mel_direction_parse(&out->direction, text_of(json, "direction"), err);
    if (status == MEL_OK && json_object_get(json, "assume") != NULL)
        status = mel_assumption_parse(&out->assume, text_of(json, "assume"), err);
    if (status != MEL_OK)
        return status;
    const json_t *tolerance = json_object_get(json, "tolerance"),
                 *simple = json_object_get(json, "simple_questions");
    out->tolerance = tolerance != NULL ? json_number_value(tolerance) : out->tolerance;
    out->simple_questions = simple != NULL ? json_is_true(simple) : out->simple_questions;
    out->seed = seed;
    if (out->strategy == MEL_STRATEGY_SEARCH) {
        out->simple_questions = false;
        out->repeat_every = 0;
    }
    return MEL_OK;
}

/* --- the whole ---------------------------------------------------------------------------------- */

static const field study_fields[] = { { "format", TEXT, true },          { "version", NUMBER, true },
                                      { "title", TEXT, true },           { "space", OBJECT, true },
                                      { "words", OBJECT, false },        { "elicitation", OBJECT, false },
                                      { "show", OBJECT, false },         { "resume", TEXT, false },
                                      { "resume_hours", NUMBER, false }, { "quota", NUMBER, false },
                                      { "prolific", OBJECT, false },     { "phases", LIST, true },
                                      { "about", TEXT, false },          { 0 } };
static const field words_fields[] = { { "task", TEXT, false },
                                      { "person", TEXT, false },
                                      { "people", TEXT, false },
                                      { "mistakes", OBJECT, false },
                                      { 0 } };
static const field show_fields[] = { { "people", NUMBER, false },
                                     { "picture", TEXT, false },
                                     { "rates", BOOLEAN, false },
                                     { "toggles", BOOLEAN, false },
                                     { 0 } };
static const field prolific_fields[] = { { "completion_url", TEXT, false }, { 0 } };

static mel_status check_parts(const json_t *file, mel_error *err)
{
    static const struct {
        const char *name;
        const field *fields;
    } parts[] = { { "words", words_fields }, { "show", show_fields }, { "prolific", prolific_fields } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(file, parts[i].name);
        const mel_status status =
            part != NULL ? check_object(part, parts[i].name, parts[i].fields, err) : MEL_OK;
        if (status != MEL_OK)
            return status;
    }
    const double people = json_number_value(json_object_get(json_object_get(file, "show"), "people"));
    if (people != 0.0 && people != 100.0 && people != 1000.0 && people != 10000.0)
        return mel_fail(err, MEL_EDATA,
                        "show.people: 0 (as many as are needed), 100, 1000 or 10000 is wanted");
    const json_t *url = json_object_get(json_object_get(file, "prolific"), "completion_url");
    if (url != NULL && strncmp(json_string_value(url), "https://", 8) != 0)
        return mel_fail(err, MEL_EDATA,
                        "prolific.completion_url: an address that begins with https:// is wanted");
    return MEL_OK;
}

static mel_status read_policy(mel_study *study, const json_t *file, mel_error *err)
{
    static const char *const words[] = { "resume", "restart", "block" };
    const char *resume = json_object_get(file, "resume") != NULL ? text_of(file, "resume") : words[0];
    size_t i = 0;
    while (i < 3 && strcmp(words[i], resume) != 0)
        i++;
    if (i == 3)
        return mel_fail(err, MEL_EDATA, "resume: '%.40s' is none of resume, restart, block", resume);
    study->resume = (mel_resume)i;
    const json_t *hours = json_object_get(file, "resume_hours");
    study->resume_hours = hours != NULL ? json_number_value(hours) : 48.0;
    const double quota = json_number_value(json_object_get(file, "quota"));
    if (!(study->resume_hours > 0.0) || !(quota >= 0.0 && quota <= 1e6) || quota != floor(quota))
        return mel_fail(err, MEL_EDATA,
                        "quota and resume_hours: a whole number from 0, and hours above 0 are wanted");
    study->quota = (uint32_t)quota;
    return MEL_OK;
}

static mel_status read_study(mel_study *study, mel_error *err)
{
    const json_t *file = study->file;
    mel_status status = check_object(file, "study", study_fields, err);
    if (status != MEL_OK)
        return status;
    if (strcmp(text_of(file, "format"), "melicit-study") != 0)
        return mel_fail(err, MEL_EDATA, "format: \"melicit-study\" is wanted, not \"%.40s\"",
                        text_of(file, "format"));
    if (json_number_value(json_object_get(file, "version")) != 1.0)
        return mel_fail(err, MEL_EDATA, "version: study files of version 1 are understood, not of this one");
    study->title = text_of(file, "title");
    study->space = json_object_get(file, "space");
    study->words = json_object_get(file, "words");
    study->show = json_object_get(file, "show");
    status = check_parts(file, err);
    if (status == MEL_OK)
        status = read_options(&study->options, json_object_get(file, "elicitation"), err);
    if (status == MEL_OK)
        status = read_policy(study, file, err);
    return status == MEL_OK ? read_phases(study, json_object_get(file, "phases"), err) : status;
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

static const field alone_fields[] = { { "space", OBJECT, true }, { "words", OBJECT, false },
                                      { "family", TEXT, false }, { "options", OBJECT, false },
                                      { "show", OBJECT, false }, { 0 } };

mel_status mel_study_alone(mel_study **out, const json_t *start, mel_error *err)
{
    *out = NULL;
    const mel_status status = check_object(start, "session", alone_fields, err);
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
    bool good = file != NULL;
    static const char *const also[] = { "words", "show" };
    for (size_t i = 0; i < 2 && good; i++)
        if (json_object_get(start, also[i]) != NULL)
            good = json_object_set(file, also[i], json_object_get(start, also[i])) == 0;
    if (!good) {
        json_decref(file);
        return mel_fail_memory(err, "a session");
    }
    return mel_study_take(out, file, err);
}
