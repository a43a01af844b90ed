/* Study files: the whole, which fields an object may have, phases, options, and the study made for a session
 * without one. */
#include "study.h"

#include "json_helpers.h"
#include "languages.h"

#include "base/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- fields ----------------------------------------------------------------------------------------- */

enum { MOST_TEXT = 20000 };

typedef enum { TEXT, NUMBER, BOOLEAN, OBJECT, LIST, ANY } field_type;
static const struct {
    const char *name, *words;
} types[] = { { "text", "a text of at most 20,000 bytes" },
              { "number", "a number" },
              { "boolean", "true or false" },
              { "object", "an object" },
              { "list", "a list" },
              { "any", "anything" } };

static bool has_type(const json_t *value, field_type type)
{
    switch (type) {
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
    case TEXT:
        break;
    }
    return json_is_string(value) && json_string_length(value) <= MOST_TEXT;
}

typedef struct {
    const char *name;
    size_t n; /* bytes of the name */
    field_type type;
    bool required;
} field;

/* Takes the next field off the list; false at its end. */
static bool next_field(field *out, const char **list)
{
    const char *word = *list + strspn(*list, " ");
    const size_t n = strcspn(word, " ");
    if (n == 0)
        return false;
    *list = word + n;
    *out = (field){ .name = word, .n = strcspn(word, ":! "), .required = word[n - 1] == '!' };
    const char *type = word[out->n] == ':' ? word + out->n + 1 : "text";
    while (out->type < ANY && strncmp(type, types[out->type].name, strcspn(type, "! ")) != 0)
        out->type++;
    return true;
}

static bool find_field(field *out, const char *fields, const char *name)
{
    while (next_field(out, &fields))
        if (out->n == strlen(name) && memcmp(out->name, name, out->n) == 0)
            return true;
    return false;
}

mel_status mel_check_fields(const json_t *object, const char *where, const char *fields, mel_error *err)
{
    if (!json_is_object(object))
        return mel_fail(err, MEL_EDATA, "%s: expected an object", where);
    const char *name;
    json_t *value;
    field known;
    json_object_foreach((json_t *)object, name, value)
    {
        if (!find_field(&known, fields, name))
            return mel_fail(err, MEL_EDATA, "%s.%.40s: there is no such field", where, name);
        if (!has_type(value, known.type))
            return mel_fail(err, MEL_EDATA, "%s.%s: expected %s", where, name, types[known.type].words);
    }
    while (next_field(&known, &fields))
        if (known.required && json_object_getn(object, known.name, known.n) == NULL)
            return mel_fail(err, MEL_EDATA, "%s.%.*s: this field is missing", where, (int)known.n,
                            known.name);
    return MEL_OK;
}

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
    return mel_check_fields(
        means, "words.consequences",
        "missed false_alarm found found_plural alarmed alarmed_plural when_missed when_alarmed", err);
}

static mel_status check_parts(const json_t *file, mel_error *err)
{
    static const struct {
        const char *name, *fields;
    } parts[] = { { "words", "task scenario gravest person people mistakes:object consequences:object" },
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

/* --- phases ----------------------------------------------------------------------------------------- */

enum { MOST_PHASES = 100, MOST_FIELDS = 60, MOST_CODE = 999, WHERE_TEXT = 96 };

/* By mel_phase_kind. */
static const struct {
    const char *name, *fields;
} kinds[] = {
    { "consent", "kind! version! title! text! agree refuse" },
    { "form", "kind! name title! text fields:list!" },
    { "text", "kind! title! text! view:boolean" },
    { "training", "kind! title text items:list!" },
    { "guess", "kind! title! text low:number high:number" },
    { "elicitation", "kind! title text" },
    { "evaluation", "kind! questions:number radius:number" },
    { "result", "kind! title text" },
    { "done", "kind! title! text code:boolean" },
};
static const char input_fields[] = "name! label! type! choices:list required:boolean low:number high:number";
static const char item_fields[] = "about question! type of:object! compare explain";
static const char of_fields[] = "system true:number predicted:number total class:number rate:boolean "
                                "definite:boolean more:boolean group:number";

const char *mel_phase_name(mel_phase_kind kind)
{
    return kinds[kind].name;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = mel_json_string(object, key);
    return text != NULL ? text : "";
}

/* --- forms -------------------------------------------------------------------------------------- */

static mel_status check_choices(const json_t *choices, const char *where, mel_error *err)
{
    const size_t n = json_array_size(choices);
    if (n < 2 || n > MOST_FIELDS)
        return mel_fail(err, MEL_EDATA, "%s.choices: expected 2 to %d texts", where, MOST_FIELDS);
    for (size_t i = 0; i < n; i++)
        if (!json_is_string(json_array_get(choices, i)))
            return mel_fail(err, MEL_EDATA, "%s.choices[%zu]: expected a text", where, i);
    return MEL_OK;
}

static mel_status check_input(const json_t *inputs, size_t i, const char *where, mel_error *err)
{
    const json_t *input = json_array_get(inputs, i);
    TRY(mel_check_fields(input, where, input_fields, err));
    const char *type = text_of(input, "type"), *name = text_of(input, "name");
    const bool choice = strcmp(type, "choice") == 0;
    if (!choice && strcmp(type, "text") != 0 && strcmp(type, "number") != 0 && strcmp(type, "long") != 0)
        return mel_fail(err, MEL_EDATA, "%s.type: expected text, number, choice or long, not '%.40s'", where,
                        type);
    for (size_t j = 0; j < i; j++)
        if (strcmp(text_of(json_array_get(inputs, j), "name"), name) == 0)
            return mel_fail(err, MEL_EDATA, "%s.name: '%.40s' is given twice", where, name);
    return choice ? check_choices(json_object_get(input, "choices"), where, err) : MEL_OK;
}

/* --- training ----------------------------------------------------------------------------------- */

/* What `of` means: a number that is counted, or the definite question. Classes and groups are numbers from 0;
 * only the problem says which of them there are. */
static mel_status check_of(const json_t *of, const char *where, mel_error *err)
{
    static const char *const numbers[] = { "true", "predicted", "class", "group" };
    const char *system = text_of(of, "system"), *total = text_of(of, "total");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double number = mel_json_number(of, numbers[i], 0.0);
        if (!(number >= 0.0 && number <= MOST_CODE) || number != floor(number))
            return mel_fail(err, MEL_EDATA, "%s.%s: expected a whole number from 0", where, numbers[i]);
    }
    if (json_object_get(of, "system") != NULL && strcmp(system, "A") != 0 && strcmp(system, "B") != 0)
        return mel_fail(err, MEL_EDATA, "%s.system: '%.40s' is neither A nor B", where, system);
    if (mel_json_is_true(of, "definite"))
        return MEL_OK;
    if (json_object_get(of, "total") == NULL)
        return json_object_get(of, "true") != NULL && json_object_get(of, "predicted") != NULL
                   ? MEL_OK
                   : mel_fail(err, MEL_EDATA, "%s: expected true and predicted, total and class, or definite",
                              where);
    if (strcmp(total, "predicted") != 0 && strcmp(total, "true") != 0)
        return mel_fail(err, MEL_EDATA, "%s.total: '%.40s' is neither predicted nor true", where, total);
    return json_object_get(of, "class") != NULL
               ? MEL_OK
               : mel_fail(err, MEL_EDATA, "%s.class: expected the class of the total", where);
}

static mel_status check_item(const json_t *items, size_t i, const char *where, mel_error *err)
{
    const json_t *item = json_array_get(items, i), *of = json_object_get(item, "of");
    char of_where[WHERE_TEXT + 8];
    (void)snprintf(of_where, sizeof of_where, "%.90s.of", where);
    TRY(mel_check_fields(item, where, item_fields, err));
    TRY(mel_check_fields(of, of_where, of_fields, err));
    return check_of(of, of_where, err);
}

/* --- all of them -------------------------------------------------------------------------------- */

/* Checks every entry of the list under `key`, which refusals name ("phases[2].fields[0]"). */
static mel_status check_list(const json_t *json, const char *key, size_t least, const char *where,
                             mel_status (*check)(const json_t *list, size_t i, const char *where,
                                                 mel_error *err),
                             mel_error *err)
{
    const json_t *list = json_object_get(json, key);
    if (json_array_size(list) < least || json_array_size(list) > MOST_FIELDS)
        return mel_fail(err, MEL_EDATA, "%s.%s: expected %zu to %d", where, key, least, MOST_FIELDS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char at[WHERE_TEXT];
        (void)snprintf(at, sizeof at, "%.40s.%s[%zu]", where, key, i);
        TRY(check(list, i, at, err));
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
        return mel_fail(err, MEL_EDATA,
                        "%s.kind: expected consent, form, text, training, guess, elicitation, evaluation, "
                        "result or done, "
                        "not '%.40s'",
                        where, name);
    *out = (mel_phase){ .kind = (mel_phase_kind)kind, .json = json };
    TRY(mel_check_fields(json, where, kinds[kind].fields, err));
    return out->kind == MEL_PHASE_FORM       ? check_list(json, "fields", 0, where, check_input, err)
           : out->kind == MEL_PHASE_TRAINING ? check_list(json, "items", 1, where, check_item, err)
                                             : MEL_OK;
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
        return mel_fail(err, MEL_EDATA, "phases: expected 1 to %d, not %zu", MOST_PHASES, n);
    study->phase = mel_alloc_zero(n, sizeof *study->phase);
    if (study->phase == NULL)
        return mel_fail_memory(err, "the phases of a study");
    for (; study->n_phases < n; study->n_phases++)
        TRY(read_phase(&study->phase[study->n_phases], json_array_get(phases, study->n_phases),
                       study->n_phases, err));
    return check_order(study, err);
}

/* --- the whole ---------------------------------------------------------------------------------- */

MEL_CLEANUP(mel_study)

static mel_status read_study(mel_study *study, mel_error *err)
{
    const json_t *file = study->file;
    TRY(mel_check_fields(file, "study",
                         "format! version:number! title! language space:object! words:object "
                         "elicitation:object show:object resume resume_hours:number retention_days:number "
                         "quota:number prolific:object phases:list! about learn_from_others:boolean",
                         err));
    const char *format = mel_json_string(file, "format");
    if (strcmp(format, "melicit-study") != 0)
        return mel_fail(err, MEL_EDATA, "format: expected \"melicit-study\", not \"%.40s\"", format);
    if (mel_json_number(file, "version", 0.0) != 1.0)
        return mel_fail(err, MEL_EDATA, "version: this program reads study files of version 1");
    study->title = mel_json_string(file, "title");
    study->language = mel_json_string(file, "language");
    if (study->language != NULL && !mel_language_is_known(study->language))
        return mel_fail(err, MEL_EDATA, "language: expected en, de, fr or es, not \"%.40s\"",
                        study->language);
    study->space = json_object_get(file, "space");
    study->words = json_object_get(file, "words");
    study->show = json_object_get(file, "show");
    TRY(check_parts(file, err));
    TRY(check_names(study->space, err));
    TRY(mel_study_options(&study->options, study, NULL, err));
    TRY(read_policy(study, file, err));
    return read_phases(study, json_object_get(file, "phases"), err);
}

mel_status mel_study_take(mel_study **out, json_t *file, mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_study) *study = mel_alloc_zero(1, sizeof *study);
    if (study == NULL) {
        json_decref(file);
        return mel_fail_memory(err, "a study");
    }
    study->file = file;
    TRY(read_study(study, err));
    *out = study;
    study = NULL;
    return MEL_OK;
}

mel_status mel_study_parse(mel_study **out, const char *text, size_t n, mel_error *err)
{
    *out = NULL;
    json_t *file = NULL;
    TRY(mel_json_parse(&file, text, n, err));
    return mel_study_take(out, file, err);
}

void mel_study_free(mel_study *study)
{
    if (study == NULL)
        return;
    json_decref(study->file);
    free(study->phase);
    free(study);
}

mel_status mel_study_check_new(const mel_study *study, mel_error *err)
{
    return json_is_true(json_object_get(study->space, "smooth"))
               ? mel_fail(err, MEL_EDATA,
                          "space.smooth: questions would be about another test than the result; leave it out")
               : MEL_OK;
}

/* What a participant's own session is about. */
static const char *title_of(const json_t *start)
{
    const char *task = mel_json_string(json_object_get(start, "words"), "task");
    return task != NULL && *task != '\0' ? task : "Which mistakes matter more?";
}

mel_status mel_study_for_session(mel_study **out, const json_t *start, mel_error *err)
{
    *out = NULL;
    static const char *const also[] = { "words", "show" };
    TRY(mel_check_fields(start, "session", "space:object! words:object family options:object show:object",
                         err));
    json_t *options = json_object_get(start, "options") != NULL
                          ? json_deep_copy(json_object_get(start, "options"))
                          : json_object();
    if (json_object_get(start, "family") != NULL)
        (void)json_object_set(options, "family", json_object_get(start, "family"));
    json_t *file = json_pack("{s:s, s:i, s:s, s:O, s:o, s:[{s:s}, {s:s}, {s:s, s:s, s:b}]}", "format",
                             "melicit-study", "version", 1, "title", title_of(start), "space",
                             json_object_get(start, "space"), "elicitation", options, "phases", "kind",
                             "elicitation", "kind", "result", "kind", "done", "title", "Done", "code", 0);
    if (file == NULL || !mel_json_copy(file, start, also, 2)) {
        json_decref(file);
        return mel_fail_memory(err, "a session");
    }
    TRY(mel_study_take(out, file, err));
    (*out)->own = true;
    return MEL_OK;
}
