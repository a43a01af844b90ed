/* Problems as files describe them: one table of keys gives the reading and writing of descriptions, the
 * options as one types them, and which kinds of input read an option. */
#include "base/buffer.h"
#include "base/json.h"
#include "problem/problem.h"

#include <float.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const mel_problem_kinds[] = { "auto", "confusion", "rates", NULL };
const char *const mel_problem_evidences[] = { "labels", "model", "calibrated", NULL };
const char *const mel_problem_radius_methods[] = { "inscribed", "thesis", NULL };

/* --- the keys ----------------------------------------------------------------------------------- */

/* What a key's value is, and the C type of its field. */
typedef enum {
    TEXT,   /* const char * */
    INPUT,  /* const char *: a file, maybe an upload */
    NUMBER, /* double */
    WHOLE,  /* uint64_t */
    CHOICE, /* int: place in `choices`; the first is the default */
    FLAG,   /* bool */
    LIST,   /* mel_text_list */
    NAMES,  /* TEXT "a,b", or an array that fills a mel_text_list at `list` */
    PAIRS   /* TEXT "old=new,..", or an object that fills two of them */
} key_type;

typedef struct {
    const char *key, *option; /* "read header": given as --read header=VALUE; NULL: there is none */
    key_type type;
    size_t at;       /* of the field in mel_problem_options */
    unsigned reads;  /* kinds of input that read it, any of them; 0: it does not matter */
    unsigned always; /* kinds of input with which it is described at its default as well */
    const char *const *choices;
    size_t list; /* NAMES, PAIRS: where the lists go */
} key_row;

#define AT(field) offsetof(mel_problem_options, field)
#define KEY_UNSAID(key, option, type, field, words)
#define KEY_DESCRIBED(key, option, type, field, words)                                                       \
    { key, "read " option, type, AT(dataset.reading.field), MEL_OF_FILES, 0, words, 0 },
#define READING(said, key, option, type, field, argument, words, only, low, high, help)                      \
    KEY_##said(key, option, type, field, words)
static const key_row keys[] = {
    { "table", "data", INPUT, AT(dataset.data), 0, 0, NULL, 0 },
    { "label", "label", TEXT, AT(dataset.label), MEL_OF_ROWS, MEL_OF_TABLE, NULL, 0 },
    { "group", "group", TEXT, AT(dataset.group), MEL_OF_TABLE | MEL_OF_GROUPS, 0, NULL, 0 },
    { "weights", "weights", TEXT, AT(dataset.weights), MEL_OF_TABLE, 0, NULL, 0 },
    { "probs", "probs", INPUT, AT(probs), 0, 0, NULL, 0 },
    { "labels", "labels", INPUT, AT(labels), MEL_OF_PROBS, 0, NULL, 0 },
    { "groups", "groups", INPUT, AT(groups), MEL_OF_PROBS, 0, NULL, 0 },
    { "population", "population", TEXT, AT(population), 0, 0, NULL, 0 },
    { "ball", "ball", TEXT, AT(ball), 0, 0, NULL, 0 },
    { "candidates", "candidates", INPUT, AT(candidates), 0, 0, NULL, 0 },
    { "prevalence", "prevalence", INPUT, AT(prevalence), MEL_OF_BALL, 0, NULL, 0 },
    { "kind", "thesis kind", CHOICE, AT(kind), MEL_OF_ANY, 0, mel_problem_kinds, 0 },
    { "evidence", "evidence", CHOICE, AT(evidence), MEL_OF_ROWS | MEL_OF_POPULATION, 0, mel_problem_evidences,
      0 },
    { "radius_method", "thesis radius-method", CHOICE, AT(radius_method), MEL_OF_ROWS | MEL_OF_POPULATION, 0,
      mel_problem_radius_methods, 0 },
    { "positive", "positive", TEXT, AT(dataset.naming.positive), MEL_OF_ROWS | MEL_OF_CANDIDATES, 0, NULL,
      0 },
    { "probs_columns", "read columns", TEXT, AT(columns), MEL_OF_PROBS, 0, NULL, 0 },
    { "classes", "classes", NAMES, AT(dataset.naming.classes), MEL_OF_ANY, 0, NULL,
      AT(dataset.naming.names) },
    { "rename", "rename", PAIRS, AT(dataset.naming.rename), MEL_OF_ANY, 0, NULL,
      AT(dataset.naming.old_names) },
    { "skip", "skip", LIST, AT(dataset.skip), MEL_OF_TABLE, 0, NULL, 0 },
    { "l2", "l2", NUMBER, AT(l2), MEL_OF_TABLE, MEL_OF_TABLE, NULL, 0 },
    { "radius", "radius", NUMBER, AT(radius), MEL_OF_ROWS | MEL_OF_POPULATION | MEL_OF_BALL, 0, NULL, 0 },
    { "found_radius", NULL, NUMBER, AT(found_radius), 0, 0, NULL, 0 },
    { "test_share", "test-share", NUMBER, AT(dataset.test_share), MEL_OF_TABLE, MEL_OF_TABLE, NULL, 0 },
    { "smooth", "thesis smooth", FLAG, AT(smooth), MEL_OF_ROWS | MEL_OF_POPULATION | MEL_OF_BALL, 0, NULL,
      0 },
    { "seed", NULL, WHOLE, AT(seed), MEL_OF_TABLE, MEL_OF_TABLE, NULL, 0 },
    MEL_READING_ROWS(READING)
};
/* Ranges of numbers: from 0, which `above` excludes, to `high`, which `below` excludes; or the default. */
static const struct {
    const char *option;
    size_t at;
    double high;
    bool above, below;
} ranges[] = {
    { "l2", AT(l2), DBL_MAX, false, false },
    { "radius", AT(radius), 1.0, true, false },
    { "test-share", AT(dataset.test_share), 1.0, true, true },
};
#undef AT
#define N_KEYS (sizeof keys / sizeof *keys)

static const mel_problem_options defaults = MEL_PROBLEM_DEFAULTS;

static const void *field(const mel_problem_options *opt, size_t at)
{
    return (const char *)opt + at;
}

static const char *text_at(const mel_problem_options *opt, size_t at)
{
    return *(const char *const *)field(opt, at);
}

mel_status mel_problem_check_numbers(const mel_problem_options *opt, mel_error *err)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const double value = *(const double *)field(opt, ranges[i].at), high = ranges[i].high;
        const bool above = ranges[i].above ? value > 0.0 : value >= 0.0;
        const bool below = ranges[i].below ? value < high : value <= high;
        if ((above && below) || value == *(const double *)field(&defaults, ranges[i].at))
            continue;
        return high == DBL_MAX
                   ? mel_fail(err, MEL_EINVAL, "--%s %g: expected a number, 0 or more", ranges[i].option,
                              value)
                   : mel_fail(err, MEL_EINVAL, "--%s %g: expected a number above 0, %s %g", ranges[i].option,
                              value, ranges[i].below ? "below" : "at most", high);
    }
    return MEL_OK;
}

unsigned mel_problem_inputs(const mel_problem_options *opt)
{
    unsigned kinds = 0;
    kinds |= opt->dataset.data != NULL ? MEL_OF_TABLE | MEL_OF_FILES : 0;
    kinds |= opt->probs != NULL ? MEL_OF_PROBS | MEL_OF_FILES : 0;
    kinds |= opt->population != NULL ? MEL_OF_POPULATION : 0;
    kinds |= opt->ball != NULL ? MEL_OF_BALL : 0;
    kinds |= opt->candidates != NULL ? MEL_OF_CANDIDATES | MEL_OF_FILES : 0;
    kinds |= opt->groups != NULL ? MEL_OF_GROUPS : 0;
    kinds |= opt->prevalence != NULL ? MEL_OF_FILES : 0;
    return (kinds & MEL_OF_ANY) != 0 ? kinds : 0;
}

static const char *option_name(const key_row *row)
{
    const char *gap = strchr(row->option, ' ');
    return gap != NULL ? gap + 1 : row->option;
}

unsigned mel_problem_reads(const char *option)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (keys[i].option != NULL && strcmp(option_name(&keys[i]), option) == 0)
            return keys[i].reads;
    return 0;
}

static bool is_default(const key_row *row, const mel_problem_options *opt)
{
    const void *here = field(opt, row->at), *usual = field(&defaults, row->at);
    const char *text, *other;
    switch (row->type) {
    case TEXT:
    case INPUT:
        text = text_at(opt, row->at);
        other = text_at(&defaults, row->at);
        return text == NULL || (other != NULL && strcmp(text, other) == 0);
    case NAMES:
    case PAIRS:
        return text_at(opt, row->at) == NULL && ((const mel_text_list *)field(opt, row->list))->n == 0;
    case NUMBER:
        return *(const double *)here == *(const double *)usual;
    case WHOLE:
        return *(const uint64_t *)here == *(const uint64_t *)usual;
    case CHOICE:
        return *(const int *)here == 0;
    case FLAG:
        return !*(const bool *)here;
    case LIST:
        break;
    }
    return ((const mel_text_list *)here)->n == 0;
}

mel_status mel_choices_check(const mel_problem_options *opt, mel_error *err)
{
    for (size_t i = 0; i < N_KEYS; i++) {
        if (keys[i].type != CHOICE)
            continue;
        const int choice = *(const int *)field(opt, keys[i].at);
        int known = 0;
        while (keys[i].choices[known] != NULL)
            known++;
        if (choice < 0 || choice >= known)
            return mel_fail(err, MEL_EINVAL, "%s %d is not known; expected 0 to %d", keys[i].key, choice,
                            known - 1);
    }
    return MEL_OK;
}

/* --- reading ------------------------------------------------------------------------------------ */

/* "data" is what study files and people call a table. */
static const key_row *find_key(const char *name)
{
    const char *key = strcmp(name, "data") == 0 ? "table" : name;
    for (size_t i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].key, key) == 0)
            return &keys[i];
    return NULL;
}

const char *mel_problem_file_key(size_t i)
{
    if (i == 0)
        return "data"; /* as find_key takes it */
    for (size_t k = 0; k < N_KEYS; k++)
        if (keys[k].type == INPUT && --i == 0)
            return keys[k].key;
    return NULL;
}

static mel_status refuse_type(const char *key, const char *expected, mel_error *err)
{
    return mel_fail(err, MEL_EDATA, "space.%.40s: expected %s", key, expected);
}

static mel_status read_choice(int *out, const key_row *row, const char *text, mel_error *err)
{
    for (*out = 0; row->choices[*out] != NULL; ++*out)
        if (strcmp(row->choices[*out], text) == 0)
            return MEL_OK;
    return mel_fail(err, MEL_EDATA, "space.%s: \"%.40s\" is not known", row->key, text);
}

/* Texts of an array; their pointers go to *next. */
static mel_status read_list(mel_text_list *out, const char ***next, const char *key, const json_t *array,
                            mel_error *err)
{
    *out = (mel_text_list){ .item = *next, .n = json_array_size(array) };
    for (size_t i = 0; i < out->n; i++) {
        out->item[i] = json_string_value(json_array_get(array, i));
        if (out->item[i] == NULL)
            return refuse_type(key, "texts only", err);
    }
    *next += out->n;
    return MEL_OK;
}

/* {"old": "new", ..} */
static mel_status read_pairs(mel_text_list out[2], const char ***next, const char *key, json_t *object,
                             mel_error *err)
{
    const size_t n = json_object_size(object);
    out[0] = (mel_text_list){ .item = *next, .n = n };
    out[1] = (mel_text_list){ .item = *next + n, .n = n };
    size_t i = 0;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at), i++) {
        out[0].item[i] = json_object_iter_key(at);
        out[1].item[i] = json_string_value(json_object_iter_value(at));
        if (out[1].item[i] == NULL)
            return refuse_type(key, "texts only", err);
    }
    *next += 2 * n;
    return MEL_OK;
}

static mel_status read_value(mel_problem_options *out, const char ***next, const key_row *row, json_t *value,
                             mel_error *err)
{
    char *start = (char *)out;
    void *to = start + row->at, *lists = start + row->list;
    const char *text = json_string_value(value);
    switch (row->type) {
    case NUMBER:
        if (!json_is_number(value))
            return refuse_type(row->key, "a number", err);
        *(double *)to = json_number_value(value);
        return MEL_OK;
    case WHOLE:
        if (!json_is_integer(value))
            return refuse_type(row->key, "a whole number", err);
        *(uint64_t *)to = (uint64_t)json_integer_value(value);
        return MEL_OK;
    case FLAG:
        if (!json_is_boolean(value))
            return refuse_type(row->key, "true or false", err);
        *(bool *)to = json_is_true(value);
        return MEL_OK;
    case LIST:
        return json_is_array(value) ? read_list(to, next, row->key, value, err)
                                    : refuse_type(row->key, "a list of texts", err);
    case CHOICE:
        return text != NULL ? read_choice(to, row, text, err) : refuse_type(row->key, "a text", err);
    case NAMES:
        if (json_is_array(value))
            return read_list(lists, next, row->key, value, err);
        break;
    case PAIRS:
        if (json_is_object(value))
            return read_pairs(lists, next, row->key, value, err);
        break;
    case TEXT:
    case INPUT:
        break;
    }
    *(const char **)to = text;
    return text != NULL ? MEL_OK : refuse_type(row->key, "a text", err);
}

/* Room for the pointers of all lists. */
static const char **new_pointers(json_t *description)
{
    size_t n = 1;
    const char *key;
    json_t *value;
    json_object_foreach(description, key, value)
    {
        n += json_array_size(value) + 2 * json_object_size(value);
    }
    return mel_alloc_zero(n, sizeof(const char *));
}

static mel_status check_read(const mel_problem_options *opt, json_t *description, mel_error *err)
{
    const unsigned given = mel_problem_inputs(opt);
    for (void *at = json_object_iter(description); at != NULL && given != 0;
         at = json_object_iter_next(description, at)) {
        const key_row *row = find_key(json_object_iter_key(at));
        if (row->reads != 0 && (row->reads & given) == 0)
            return mel_fail(err, MEL_EDATA,
                            "space.%s: nothing here reads it; it goes with another kind of space", row->key);
    }
    return MEL_OK;
}

static mel_status read_fields(mel_problem_options *out, json_t *description, mel_error *err)
{
    const char **next = out->held = new_pointers(description);
    TRY(MEL_NEED(next, "the description of a problem", err));
    for (void *at = json_object_iter(description); at != NULL; at = json_object_iter_next(description, at)) {
        const char *key = json_object_iter_key(at);
        const key_row *row = find_key(key);
        if (row == NULL)
            return mel_fail(err, MEL_EDATA, "space.%.40s: there is no such field", key);
        if (row->type == INPUT && text_at(out, row->at) != NULL)
            return mel_fail(err, MEL_EDATA, "space.%s: the table is given twice", key);
        TRY(read_value(out, &next, row, json_object_iter_value(at), err));
    }
    return check_read(out, description, err);
}

mel_status mel_problem_from_json(mel_problem_options *out, const char *description, mel_error *err)
{
    json_t *object = NULL;
    mel_problem_options_init(out);
    const mel_status parsed = mel_json_parse(&object, description, strlen(description), err);
    if (parsed == MEL_ENOMEM)
        return parsed;
    out->parsed = object;
    const mel_status status =
        json_is_object(object)
            ? read_fields(out, object, err)
            : mel_fail(err, MEL_EDATA, "space: expected an object that says what questions are about");
    if (status != MEL_OK)
        mel_problem_options_clear(out);
    return status;
}

/* --- writing ------------------------------------------------------------------------------------ */

/* Texts of files and command lines may not be UTF-8. */
static json_t *text_json(const char *text)
{
    char *clean = mel_utf8_repaired(text);
    json_t *value = clean != NULL ? json_string(clean) : NULL;
    free(clean);
    return value;
}

static json_t *list_json(const mel_text_list *list)
{
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < list->n; i++)
        if (json_array_append_new(array, text_json(list->item[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* Names as the command line gives them: "a,b" for a list, "old=new,.." for pairs. */
static json_t *joined_json(const mel_text_list *first, const mel_text_list *second)
{
    mel_buffer joined;
    mel_buffer_init(&joined, SIZE_MAX);
    for (size_t i = 0; i < first->n; i++)
        mel_buffer_printf(&joined, "%s%s%s%s", i > 0 ? "," : "", first->item[i], second != NULL ? "=" : "",
                          second != NULL ? second->item[i] : "");
    char *text = mel_buffer_take(&joined);
    json_t *value = text != NULL ? text_json(text) : NULL;
    free(text);
    return value;
}

static json_t *value_json(const key_row *row, const mel_problem_options *opt)
{
    const void *from = field(opt, row->at);
    const mel_text_list *lists = field(opt, row->list);
    char memory[MEL_UPLOAD_NAME];
    switch (row->type) {
    case NUMBER:
        return json_real(*(const double *)from);
    case WHOLE:
        return json_integer((json_int_t) * (const uint64_t *)from);
    case FLAG:
        return json_true();
    case LIST:
        return list_json(from);
    case CHOICE:
        return json_string(row->choices[*(const int *)from]);
    case INPUT:
        return text_json(mel_input_name(memory, row->option, text_at(opt, row->at), &opt->resources));
    case NAMES:
    case PAIRS:
        if (text_at(opt, row->at) == NULL)
            return joined_json(lists, row->type == PAIRS ? lists + 1 : NULL);
        break;
    case TEXT:
        break;
    }
    return text_json(text_at(opt, row->at));
}

static bool describe(json_t *object, const mel_problem_options *opt)
{
    const unsigned given = mel_problem_inputs(opt);
    for (size_t i = 0; i < N_KEYS; i++) {
        const key_row *row = &keys[i];
        const bool read = row->reads == 0 || (row->reads & given) != 0;
        if (read && ((row->always & given) != 0 || !is_default(row, opt)) &&
            json_object_set_new(object, row->key, value_json(row, opt)) != 0)
            return false;
    }
    return true;
}

/* As one word of a shell. */
static void add_word(mel_buffer *typed, const char *text)
{
    if (text[0] != '\0' && strpbrk(text, " \t\n;&|<>$'\"()*?[]{}~#!`\\") == NULL) {
        mel_buffer_puts(typed, text);
        return;
    }
    mel_buffer_puts(typed, "'");
    for (const char *at = text; *at != '\0'; at++)
        if (*at == '\'')
            mel_buffer_puts(typed, "'\\''");
        else
            mel_buffer_add(typed, at, 1);
    mel_buffer_puts(typed, "'");
}

static void add_option(mel_buffer *typed, const char *option, const json_t *value)
{
    const char *gap = strchr(option, ' ') != NULL ? "=" : " ";
    mel_buffer_printf(typed, "%s--%s", typed->size > 0 ? " " : "", option);
    if (json_is_number(value))
        mel_buffer_printf(typed, "%s%.12g", gap, json_number_value(value));
    if (!json_is_string(value))
        return;
    mel_buffer_puts(typed, gap);
    add_word(typed, json_string_value(value));
}

/* What is not at its default, as the description says it. */
static char *typed_options(const json_t *description, const mel_problem_options *opt)
{
    mel_buffer typed;
    mel_buffer_init(&typed, SIZE_MAX);
    mel_buffer_puts(&typed, "");
    for (size_t i = 0; i < N_KEYS; i++) {
        const json_t *value = json_object_get(description, keys[i].key);
        if (value == NULL || keys[i].option == NULL || is_default(&keys[i], opt))
            continue;
        for (size_t j = 0; j < json_array_size(value); j++)
            add_option(&typed, keys[i].option, json_array_get(value, j));
        if (!json_is_array(value))
            add_option(&typed, keys[i].option, value);
    }
    return mel_buffer_take(&typed);
}

mel_status mel_problem_describe(mel_problem *problem, const mel_problem_options *opt, mel_error *err)
{
    mel_problem_options told = *opt;
    const bool found = problem->ball != NULL && problem->space != NULL;
    told.found_radius = found ? mel_ball_radius(problem->ball) : 0.0;
    mel_naming *naming = &told.dataset.naming;
    const bool followed = naming->n_preferred == 2 && problem->classes.place[1] == 0;
    if (followed && naming->positive == NULL && naming->classes == NULL && naming->names.n == 0)
        naming->positive = problem->classes.label[1];
    json_t *description = json_object();
    if (description != NULL && describe(description, &told)) {
        problem->description = mel_json_text(description, JSON_COMPACT | JSON_REAL_PRECISION(17));
        problem->typed = typed_options(description, &told);
    }
    json_decref(description);
    return problem->description != NULL && problem->typed != NULL
               ? MEL_OK
               : mel_fail_memory(err, "the description of a problem");
}
