/* The phases of a study file: which there are, what each may say, and in which order they come. */
#include "study.h"
#include "study_fields.h"

#include "base/internal.h"
#include "json_helpers.h"

#include <math.h>
#include <stdio.h>

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
    const mel_status status = mel_check_fields(input, where, input_fields, err);
    if (status != MEL_OK)
        return status;
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
    mel_status status = mel_check_fields(item, where, item_fields, err);
    if (status == MEL_OK)
        status = mel_check_fields(of, of_where, of_fields, err);
    return status == MEL_OK ? check_of(of, of_where, err) : status;
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
    mel_status status = MEL_OK;
    for (size_t i = 0; i < json_array_size(list) && status == MEL_OK; i++) {
        char at[WHERE_TEXT];
        (void)snprintf(at, sizeof at, "%.40s.%s[%zu]", where, key, i);
        status = check(list, i, at, err);
    }
    return status;
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
    const mel_status status = mel_check_fields(json, where, kinds[kind].fields, err);
    if (status != MEL_OK)
        return status;
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

mel_status mel_study_read_phases(mel_study *study, const json_t *phases, mel_error *err)
{
    const size_t n = json_array_size(phases);
    if (n == 0 || n > MOST_PHASES)
        return mel_fail(err, MEL_EDATA, "phases: expected 1 to %d, not %zu", MOST_PHASES, n);
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
