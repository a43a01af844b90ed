/* A space as the header of a session tells it, and back. */
#include "output.h"
#include "space_parts.h"

#include <stdlib.h>
#include <string.h>

static void put_text(json_t *object, const char *key, const char *text)
{
    if (text != NULL)
        cli_put(object, key, cli_json_text(text));
}

static json_t *list(const cli_list *items)
{
    json_t *array = json_array();
    for (size_t i = 0; i < items->n; i++)
        cli_push(array, cli_json_text(items->item[i]));
    return array;
}

/* What decides about spaces of k classes; at its default it is left out, as in sessions of old. */
static void describe_classes(json_t *object, const cli_space_args *args, const cli_space *space)
{
    put_text(object, "groups", args->groups);
    put_text(object, "ball", args->ball);
    put_text(object, "prevalence", args->prevalence);
    if (args->kind != CLI_KIND_AUTO)
        put_text(object, "kind", cli_kinds[args->kind]);
    if (args->evidence != MEL_BY_LABELS)
        put_text(object, "evidence", cli_evidences[args->evidence]);
    if (args->radius_method != MEL_RADIUS_INSCRIBED)
        put_text(object, "radius_method", cli_radius_methods[args->radius_method]);
    if (args->radius > 0.0)
        cli_put(object, "radius", cli_json_number(args->radius));
    if (space->ball != NULL && space->space != NULL)
        cli_put(object, "found_radius", cli_json_number(mel_ball_radius(space->ball)));
}

json_t *cli_space_describe(const cli_space_args *args, const cli_space *space)
{
    json_t *object = json_object();
    const cli_dataset_args *dataset = &args->dataset;
    put_text(object, "population", args->population);
    put_text(object, "probs", args->probs);
    put_text(object, "labels", args->labels);
    put_text(object, "probs_columns", args->columns);
    const bool followed = dataset->naming.preferred.n == 2 && space->classes.place[1] == 0;
    put_text(object, "positive",
             dataset->naming.positive == NULL && dataset->naming.classes == NULL && followed
                 ? space->classes.label[1]
                 : dataset->naming.positive);
    put_text(object, "classes", dataset->naming.classes);
    put_text(object, "rename", dataset->naming.rename);
    describe_classes(object, args, space);
    if (args->smooth)
        cli_put(object, "smooth", json_true());
    if (args->population == NULL)
        cli_reading_describe(object, &dataset->reading);
    if (args->probs != NULL && strcmp(dataset->label, "label") != 0)
        put_text(object, "label", dataset->label);
    put_text(object, "group", dataset->group);
    if (dataset->data == NULL)
        return object;
    put_text(object, "table", dataset->data);
    put_text(object, "label", dataset->label);
    put_text(object, "weights", dataset->weights);
    if (dataset->skip.n > 0)
        cli_put(object, "skip", list(&dataset->skip));
    if (dataset->reading.columns.n > 0)
        cli_put(object, "columns", list(&dataset->reading.columns));
    cli_put(object, "l2", cli_json_number(args->l2));
    cli_put(object, "test_share", cli_json_number(dataset->test_share));
    return object;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void read_list(cli_list *out, const char ***next, const json_t *array)
{
    out->item = *next;
    out->n = json_array_size(array);
    for (size_t i = 0; i < out->n; i++) {
        const char *text = json_string_value(json_array_get(array, i));
        *(*next)++ = text != NULL ? text : "";
    }
}

/* {"old": "new", ..} */
static void read_pairs(cli_naming *out, const char ***next, json_t *object)
{
    const size_t n = json_object_size(object);
    const char *key;
    json_t *value;
    out->old = (cli_list){ .item = *next, .n = n };
    out->fresh = (cli_list){ .item = *next + n, .n = n };
    size_t i = 0;
    json_object_foreach(object, key, value)
    {
        const char *text = json_string_value(value);
        out->old.item[i] = key;
        out->fresh.item[i++] = text != NULL ? text : "";
    }
    *next += 2 * n;
}

static double number_of(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* The place of a text in a list that ends with NULL; 0 when it is not there. */
static int place_of(const json_t *object, const char *key, const char *const *list)
{
    const char *text = text_of(object, key);
    for (int i = 0; text != NULL && list[i] != NULL; i++)
        if (strcmp(list[i], text) == 0)
            return i;
    return 0;
}

static void read_classes(cli_space_args *out, const json_t *description)
{
    out->groups = text_of(description, "groups");
    out->ball = text_of(description, "ball");
    out->prevalence = text_of(description, "prevalence");
    out->kind = place_of(description, "kind", cli_kinds);
    out->evidence = place_of(description, "evidence", cli_evidences);
    out->radius_method = place_of(description, "radius_method", cli_radius_methods);
    out->radius = number_of(description, "radius", 0.0);
    out->found_radius = number_of(description, "found_radius", 0.0);
}

mel_status cli_space_args_from_json(cli_space_args *out, const char ***held, const json_t *description,
                                    mel_error *err)
{
    static const cli_space_args defaults = CLI_SPACE_DEFAULTS;
    *out = defaults;
    out->told = true;
    *held = NULL;
    if (!json_is_object(description))
        return cli_fail(err, MEL_EDATA, "the session does not say what space it is about");
    cli_dataset_args *dataset = &out->dataset;
    out->population = text_of(description, "population");
    out->probs = text_of(description, "probs");
    out->labels = text_of(description, "labels");
    out->columns = text_of(description, "probs_columns");
    out->smooth = json_is_true(json_object_get(description, "smooth"));
    read_classes(out, description);
    dataset->naming.positive = text_of(description, "positive");
    dataset->naming.classes = text_of(description, "classes");
    dataset->naming.rename = text_of(description, "rename");
    dataset->data = text_of(description, "table");
    dataset->group = text_of(description, "group");
    dataset->weights = text_of(description, "weights");
    if (text_of(description, "label") != NULL)
        dataset->label = text_of(description, "label");
    out->l2 = number_of(description, "l2", out->l2);
    dataset->test_share = number_of(description, "test_share", dataset->test_share);
    const json_t *skip = json_object_get(description, "skip"),
                 *columns = json_object_get(description, "columns");
    const json_t *names = json_object_get(description, "classes"); /* a list where they may hold commas */
    json_t *rename = json_object_get(description, "rename");       /* likewise {"old": "new", ..} */
    *held = cli_alloc_zero(json_array_size(skip) + json_array_size(columns) + json_array_size(names) +
                               2 * json_object_size(rename) + 1,
                           sizeof **held);
    const char **next = *held;
    read_list(&dataset->skip, &next, skip);
    read_list(&dataset->reading.columns, &next, columns);
    read_list(&dataset->naming.names, &next, names);
    read_pairs(&dataset->naming, &next, rename);
    return cli_reading_restore(&dataset->reading, description, err);
}

/* As one word of a shell; freed by the caller. */
static char *quoted(const char *text)
{
    if (text[0] != '\0' && strpbrk(text, " \t\n;&|<>$'\"()*?[]{}~#!`\\") == NULL)
        return cli_format("%s", text);
    char *word = cli_format("'");
    for (const char *at = text; *at != '\0'; at++) {
        char *longer = *at == '\'' ? cli_format("%s'\\''", word) : cli_format("%s%c", word, *at);
        free(word);
        word = longer;
    }
    char *closed = cli_format("%s'", word);
    free(word);
    return closed;
}

static char *add_option(char *typed, const char *option, const char *value)
{
    char *word = value != NULL ? quoted(value) : NULL;
    char *longer = cli_format("%s%s--%s%s%s", typed, typed[0] != '\0' ? " " : "", option,
                              word != NULL ? " " : "", word != NULL ? word : "");
    free(word);
    free(typed);
    return longer;
}

/* A number that is not the default. */
static char *add_number(char *typed, const char *option, const json_t *value, double usual)
{
    if (!json_is_number(value) || json_number_value(value) == usual)
        return typed;
    char text[32];
    (void)snprintf(text, sizeof text, "%.12g", json_number_value(value));
    return add_option(typed, option, text);
}

char *cli_space_typed(const json_t *description)
{
    static const struct {
        const char *key, *option;
    } texts[] = { { "table", "data" },
                  { "label", "label" },
                  { "group", "group" },
                  { "weights", "weights" },
                  { "probs", "probs" },
                  { "labels", "labels" },
                  { "groups", "groups" },
                  { "population", "population" },
                  { "ball", "ball" },
                  { "prevalence", "prevalence" },
                  { "kind", "kind" },
                  { "evidence", "evidence" },
                  { "radius_method", "radius-method" },
                  { "positive", "positive" },
                  { "probs_columns", "columns" },
                  { "classes", "classes" },
                  { "rename", "rename" },
                  { "delimiter", "delimiter" },
                  { "decimal", "decimal" },
                  { "header", "header" },
                  { "encoding", "encoding" },
                  { "member", "member" } };
    char *typed = cli_format("%s", "");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = text_of(description, texts[i].key);
        if (text != NULL && (strcmp(texts[i].key, "label") != 0 || strcmp(text, "label") != 0))
            typed = add_option(typed, texts[i].option, text);
    }
    const json_t *skip = json_object_get(description, "skip");
    for (size_t i = 0; i < json_array_size(skip); i++)
        typed = add_option(typed, "skip", json_string_value(json_array_get(skip, i)));
    typed = add_number(typed, "l2", json_object_get(description, "l2"), 1.0);
    typed = add_number(typed, "radius", json_object_get(description, "radius"), 0.0);
    typed = add_number(typed, "test-share", json_object_get(description, "test_share"), 0.5);
    if (json_is_true(json_object_get(description, "smooth")))
        typed = add_option(typed, "smooth", NULL);
    if (json_is_true(json_object_get(description, "zero_based")))
        typed = add_option(typed, "zero-based", NULL);
    return typed;
}
