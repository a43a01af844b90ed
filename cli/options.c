/* The option tables at work: words become options and settings, and the tables say what each value must be.
 */
#include "dataset.h"
#include "elicit/shared.h"
#include "help.h"
#include "output.h"
#include "ranks.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option common_options[] = {
    CLI_ROW(cli_common, "json", FLAG, json,
            .help = "print exactly one JSON object on standard output, even on failure"),
    CLI_ROW(cli_common, "quiet", FLAG, quiet, .help = "no progress bar and no warnings on standard error"),
    CLI_ROW(cli_common, "verbose", FLAG, verbose,
            .help = "say on standard error, with --json in \"read\", how each file was read (also -v)"),
    CLI_ROW(cli_common, "seed", WHOLE, seed, .argument = "N", .high = 9e18,
            .help = "seed of all random choices; the same seed gives the same output"),
    CLI_ROW(cli_common, "threads", WHOLE, threads, .argument = "N", .high = 1024,
            .help = "threads to use, 0 for all cores; results do not depend on it"),
    CLI_ROW(cli_common, "help", FLAG, help, .help = "show this help (also -h)"),
    { 0 }
};
static const cli_common common_defaults = { .seed = 1 };
static const cli_group common_group = { "Common to every verb", common_options, 0 };

const cli_group *cli_common_group(const void **defaults)
{
    *defaults = &common_defaults;
    return &common_group;
}

const cli_group *cli_group_at(const cli_command *command, size_t i, const void **defaults)
{
    size_t n = 0;
    while (command->groups != NULL && command->groups[n].heading != NULL)
        n++;
    if (i < n) {
        *defaults = (const char *)command->defaults + command->groups[i].base;
        return &command->groups[i];
    }
    const cli_group *common = cli_common_group(defaults);
    return i == n ? common : NULL;
}

/* The default of a session option that is not a text. */
static bool session_default(char *text, size_t size, const mel_option *row)
{
    if (row->type == MEL_OPTION_WORD)
        (void)snprintf(text, size, "%s", row->words[(size_t)row->usual]);
    else
        (void)snprintf(text, size, "%g", row->usual);
    const bool shown = row->usual > 0.0 && !row->varies && row->type != MEL_OPTION_FLAG;
    return shown || (row->type == MEL_OPTION_WORD && !row->varies);
}

bool cli_option_default(char *text, size_t size, const cli_option *option, const void *defaults)
{
    if (option->session != NULL && option->kind != CLI_TEXT)
        return session_default(text, size, option->session);
    const char *field = (const char *)defaults + option->at;
    double number;
    uint64_t whole;
    int choice;
    const char *word;
    switch (option->kind) {
    case CLI_NUMBER:
        memcpy(&number, field, sizeof number);
        (void)snprintf(text, size, "%g", number);
        return number != 0 && number >= option->low && number <= option->high; /* else: not given */
    case CLI_WHOLE:
        memcpy(&whole, field, sizeof whole);
        (void)snprintf(text, size, "%llu", (unsigned long long)whole);
        return whole != 0 && (double)whole >= option->low && (double)whole <= option->high;
    case CLI_CHOICE:
        memcpy(&choice, field, sizeof choice);
        (void)snprintf(text, size, "%s", option->choices[choice]);
        return true;
    case CLI_TEXT:
    case CLI_INPUT:
    case CLI_OUTPUT:
        memcpy(&word, field, sizeof word);
        (void)snprintf(text, size, "%s", word != NULL ? word : "");
        return word != NULL;
    case CLI_FLAG:
    case CLI_LIST:
        break;
    }
    return false;
}

/* An option of the verb being parsed and the field that receives its value. */
typedef struct {
    const cli_option *option;
    char *field;
    unsigned reads;
    bool seen;
} slot;

/* How files are read matters where there are files; the library knows what reads the options of problems. */
static unsigned reads_of(const cli_group *group, const cli_option *option)
{
    return group->options == cli_reading_options ? MEL_OF_FILES
           : group->options == cli_space_options ? mel_problem_reads(option->name)
                                                 : option->reads;
}

static void *field_of(const cli_group *group, const cli_option *option, void *args, cli_common *common)
{
    char *base = group == &common_group ? (char *)common : (char *)args + group->base;
    return base + option->at;
}

/* All options of the verb, its own and the common ones, in one array; the caller frees it. */
static slot *make_slots(size_t *n, const cli_command *command, void *args, cli_common *common)
{
    size_t capacity = 0, used = 0;
    slot *slots = NULL;
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        for (const cli_option *o = group->options; o->name != NULL; o++) {
            if (used == capacity) {
                capacity = capacity != 0 ? 2 * capacity : 32;
                slots = cli_regrow(slots, capacity, sizeof *slots);
            }
            slots[used++] =
                (slot){ .option = o, .field = field_of(group, o, args, common), .reads = reads_of(group, o) };
        }
    *n = used;
    return slots;
}

static void set_text(const slot *s, const char *text)
{
    memcpy(s->field, &text, sizeof text);
}

/* "1.6x", for a number of sessions that may be a factor. */
static mel_status set_factor(const slot *s, const char *text, mel_error *err)
{
    mel_session_options tried;
    mel_session_options_init(&tried);
    mel_error why = { 0 };
    const mel_status status = mel_session_options_set(&tried, s->option->session->key, text, &why);
    if (status != MEL_OK)
        return cli_fail(err, status, "--%s", why.text);
    set_text(s, text);
    return MEL_OK;
}

/* Numbers, whole numbers and choices are read by the library. */
static mel_status set_scalar(const slot *s, const char *text, mel_error *err)
{
    const cli_option *o = s->option;
    if (o->session != NULL && o->session->factor && text[strlen(text) - 1] == 'x')
        return set_factor(s, text, err);
    const mel_option row = { .type = o->kind == CLI_NUMBER  ? MEL_OPTION_NUMBER
                                     : o->kind == CLI_WHOLE ? MEL_OPTION_WHOLE
                                                            : MEL_OPTION_WORD,
                             .low = o->low,
                             .high = o->high,
                             .above_low = o->above_low,
                             .below_high = o->below_high,
                             .words = o->choices };
    mel_option_value value = { .whole = 0 };
    const mel_status status = mel_option_parse(&value, &row, text, err);
    if (status != MEL_OK) {
        const mel_error why = *err;
        if (o->session != NULL && o->session->factor)
            (void)cli_fail(err, status, "%s; %sx is a factor of the cost ratio of two classes", why.text,
                           text);
        char *place = cli_format("%s%s%s", cli_option_spelling(o).text, o->under != NULL ? "=" : " ", text);
        (void)cli_fail_in(err, status, place);
        free(place);
        return status;
    }
    const int choice = (int)value.whole;
    if (o->session != NULL)
        set_text(s, text);
    else if (o->kind == CLI_NUMBER)
        memcpy(s->field, &value.number, sizeof value.number);
    else if (o->kind == CLI_WHOLE)
        memcpy(s->field, &value.whole, sizeof value.whole);
    else
        memcpy(s->field, &choice, sizeof choice);
    return MEL_OK;
}

static void set_flag(const slot *s, bool yes)
{
    if (s->option->session != NULL)
        set_text(s, yes ? "true" : "false");
    else
        memcpy(s->field, &yes, sizeof yes);
}

/* NAME=yes or NAME=no, of a setting that needs no value. */
static mel_status set_said_flag(const slot *s, const char *text, mel_error *err)
{
    const bool yes = strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "no") != 0)
        return cli_fail(err, MEL_EINVAL, "%s=%s: expected yes or no", cli_option_spelling(s->option).text,
                        text);
    set_flag(s, yes);
    return MEL_OK;
}

static void append_to_list(const slot *s, const char *text)
{
    mel_text_list list;
    memcpy(&list, s->field, sizeof list);
    list.item = cli_regrow(list.item, list.n + 1, sizeof *list.item);
    list.item[list.n++] = text;
    memcpy(s->field, &list, sizeof list);
}

static mel_status set_value(slot *s, const char *text, mel_error *err)
{
    const cli_option *o = s->option;
    if (o->kind == CLI_FLAG && text == NULL) {
        set_flag(s, true);
        s->seen = true;
        return MEL_OK;
    }
    if (s->seen && o->kind != CLI_LIST)
        return cli_fail(err, MEL_EINVAL, "%s is given twice", cli_option_spelling(o).text);
    if (text == NULL || *text == '\0')
        return cli_fail(err, MEL_EINVAL, "%s: the value is empty", cli_option_spelling(o).text);
    if (o->kind == CLI_INPUT && strcmp(text, "-") == 0 && cli_ranks_many())
        return cli_fail(err, MEL_EINVAL, "--%s -: of several ranks one has standard input; give a file",
                        o->name);
    s->seen = true;
    if (o->kind == CLI_FLAG)
        return set_said_flag(s, text, err);
    if (o->kind == CLI_NUMBER || o->kind == CLI_WHOLE || o->kind == CLI_CHOICE)
        return set_scalar(s, text, err);
    if (o->kind == CLI_LIST)
        append_to_list(s, text);
    else
        set_text(s, text);
    return MEL_OK;
}

typedef struct {
    const slot *slots;
    size_t n;
} slot_list;

static const char *slot_name(const void *user, size_t i)
{
    const slot_list *list = user;
    return i < list->n ? list->slots[i].option->name : NULL;
}

/* Options of earlier versions. */
static const struct {
    const char *name, *instead;
} removed[] = { { "memory", "NPY files are mapped, and the kernel's page cache does the rest" },
                { "scores", "give rows: --probs and --labels, also with patterns" },
                { "count-scores", "patterns of --probs and --labels are read into one list of rows" },
                { "moments", "give rows: --probs or --predictions with --labels, also with patterns" },
                { "iterate", "give training rows, also with patterns and as several ranks (docs/scale.md)" },
                { "joint", "a rule looks at groups or not: melicit apply --use-group yes or no" },
                { "checkpoint", "a run begins anew; several ranks make it shorter (docs/scale.md)" },
                { 0 } };

/* A word that names nothing: unknown, a setting without the option that it is given to, or the
 * beginning of several names. */
static mel_status refuse_option(const slot *slots, size_t n, const char *verb, const char *word,
                                mel_error *err)
{
    char name[64], list[200] = "";
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    size_t matches = 0;
    for (size_t i = 0; i < n; i++)
        if (slots[i].option->under == NULL && strncmp(slots[i].option->name, name, strlen(name)) == 0) {
            const size_t used = strlen(list);
            (void)snprintf(list + used, sizeof list - used, "%s--%s", matches++ != 0 ? ", " : "",
                           slots[i].option->name);
        }
    for (size_t i = 0; removed[i].name != NULL; i++)
        if (strcmp(removed[i].name, name) == 0)
            return cli_fail(err, MEL_EINVAL, "there is no option --%s any more: %s", name,
                            removed[i].instead);
    for (size_t i = 0; i < n; i++)
        if (slots[i].option->under != NULL && strcmp(slots[i].option->name, name) == 0) {
            char *form = cli_option_form(slots[i].option);
            (void)cli_fail(err, MEL_EINVAL, "--%s is written %s", name, form);
            free(form);
            return MEL_EINVAL;
        }
    if (matches > 1)
        return cli_fail(err, MEL_EINVAL, "--%s could be any of %s", name, list);
    const slot_list all = { slots, n };
    const char *near = mel_nearest(name, slot_name, &all);
    for (size_t i = 0; near != NULL && i < n; i++)
        if (slots[i].option->name == near)
            return cli_fail(err, MEL_EINVAL, "there is no option --%s; did you mean %s?", name,
                            cli_option_spelling(slots[i].option).text);
    return cli_fail(err, MEL_EINVAL, "there is no option --%s; `melicit %s --help` lists the options", name,
                    verb);
}

/* What is typed for an option: its name, or that of the option which takes it as a setting. */
static const char *typed_name(const cli_option *option)
{
    return option->under != NULL ? option->under : option->name;
}

static bool is_option(const cli_command *command, const char *name, size_t length)
{
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        for (const cli_option *o = group->options; o->name != NULL; o++)
            if (strlen(typed_name(o)) == length && strncmp(typed_name(o), name, length) == 0)
                return true;
    return false;
}

/* The name that a word of so many characters means: itself, or the only one that begins so. NULL: none. An
 * option of another verb is no abbreviation here: --label is not --labels. */
static const char *find_name(const slot *slots, size_t n, const char *word, size_t length)
{
    const char *found = NULL;
    bool several = false;
    for (size_t i = 0; i < n; i++) {
        const char *name = typed_name(slots[i].option);
        if (strncmp(name, word, length) != 0)
            continue;
        if (strlen(name) == length)
            return name;
        several = several || (found != NULL && strcmp(found, name) != 0);
        found = name;
    }
    for (size_t c = 0; found != NULL && cli_commands[c] != NULL; c++)
        if (is_option(cli_commands[c], word, length))
            return NULL;
    return several ? NULL : found;
}

static mel_status refuse_without_value(const cli_option *option, mel_error *err)
{
    char *form = cli_option_form(option);
    (void)cli_fail(err, MEL_EINVAL, "%s needs a value: %s", cli_option_spelling(option).text, form);
    free(form);
    return MEL_EINVAL;
}

/* The setting whose name a text begins with, up to =, a comma or the end. */
static slot *find_setting(slot *slots, size_t n, const char *topic, const char *text)
{
    const size_t length = strcspn(text, "=,");
    for (size_t i = 0; i < n; i++) {
        const cli_option *o = slots[i].option;
        if (o->under != NULL && strcmp(o->under, topic) == 0 && strlen(o->name) == length &&
            strncmp(o->name, text, length) == 0)
            return &slots[i];
    }
    return NULL;
}

static mel_status refuse_setting(const slot *slots, size_t n, const char *topic, const char *text,
                                 mel_error *err)
{
    char list[400] = "";
    for (size_t i = 0; i < n; i++)
        if (slots[i].option->under != NULL && strcmp(slots[i].option->under, topic) == 0) {
            const size_t used = strlen(list);
            (void)snprintf(list + used, sizeof list - used, "%s%s", used != 0 ? ", " : "",
                           slots[i].option->name);
        }
    return cli_fail(err, MEL_EINVAL, "--%s %s: there is no such setting here; there are %s", topic, text,
                    list);
}

/* Where the setting's text ends: at a comma that another setting follows, so that values may hold commas. */
static const char *setting_end(slot *slots, size_t n, const char *topic, const char *text)
{
    const char *end = text;
    while (*end != '\0' && !(*end == ',' && find_setting(slots, n, topic, end + 1) != NULL))
        end++;
    return end;
}

/* --read NAME=VALUE,...; a flag needs no value. Other text is the value of the option itself, if it has one
 * (--limits FILE). */
static mel_status take_settings(cli_parsed *out, slot *slots, size_t n, const char *topic, const char *text,
                                mel_error *err)
{
    if (find_setting(slots, n, topic, text) == NULL)
        for (size_t i = 0; i < n; i++)
            if (slots[i].option->under == NULL && strcmp(slots[i].option->name, topic) == 0)
                return set_value(&slots[i], text, err);
    while (*text != '\0') {
        slot *found = find_setting(slots, n, topic, text);
        if (found == NULL)
            return refuse_setting(slots, n, topic, text, err);
        const char *end = setting_end(slots, n, topic, text);
        const char *value = text + strlen(found->option->name);
        char *kept = NULL;
        if (*value == '=') {
            out->kept = cli_regrow(out->kept, out->n_kept + 1, sizeof *out->kept);
            kept = out->kept[out->n_kept++] = cli_format("%.*s", (int)(end - value - 1), value + 1);
        }
        if (kept == NULL && found->option->kind != CLI_FLAG)
            return refuse_without_value(found->option, err);
        TRY(set_value(found, kept, err));
        text = end + (*end == ',');
    }
    return MEL_OK;
}

/* --name, with its value in the same word or the next one; *at is the last word that was taken. */
static mel_status take_option(cli_parsed *out, slot *slots, size_t n, const char *verb, int argc, char **argv,
                              int *at, mel_error *err)
{
    const char *word = argv[*at] + 2;
    const size_t length = strcspn(word, "=");
    const char *name = find_name(slots, n, word, length),
               *value = word[length] == '=' ? word + length + 1 : NULL;
    slot *own = NULL;
    bool settings = false;
    for (size_t i = 0; name != NULL && i < n; i++) {
        settings = settings || (slots[i].option->under != NULL && strcmp(slots[i].option->under, name) == 0);
        own = slots[i].option->under == NULL && strcmp(slots[i].option->name, name) == 0 ? &slots[i] : own;
    }
    if (name == NULL)
        return refuse_option(slots, n, verb, word, err);
    if (!settings && own->option->kind == CLI_FLAG)
        return value == NULL ? set_value(own, NULL, err)
                             : cli_fail(err, MEL_EINVAL, "--%s takes no value", name);
    if (value == NULL && *at + 1 < argc)
        value = argv[++*at];
    if (value == NULL)
        return settings ? cli_fail(err, MEL_EINVAL, "--%s needs a value: --%s NAME=VALUE", name, name)
                        : refuse_without_value(own->option, err);
    return settings ? take_settings(out, slots, n, name, value, err) : set_value(own, value, err);
}

/* -h and -v, also together. */
static mel_status take_letters(cli_parsed *out, const char *letters, mel_error *err)
{
    for (; *letters != '\0'; letters++) {
        if (*letters != 'h' && *letters != 'v')
            return cli_fail(err, MEL_EINVAL, "there is no option -%c; options are words, as in --help",
                            isprint((unsigned char)*letters) ? *letters : '?');
        *(*letters == 'h' ? &out->common.help : &out->common.verbose) = true;
    }
    return MEL_OK;
}

static mel_status take_words(cli_parsed *out, slot *slots, size_t n, const char *verb, int argc, char **argv,
                             mel_error *err)
{
    bool options = true; /* until "--" */
    out->operand = cli_alloc_zero((size_t)argc, sizeof *out->operand);
    for (int i = 1; i < argc; i++) {
        if (!options || argv[i][0] != '-' || argv[i][1] == '\0')
            out->operand[out->n_operands++] = argv[i];
        else if (argv[i][1] != '-')
            TRY(take_letters(out, argv[i] + 1, err));
        else if (argv[i][2] == '\0')
            options = false;
        else
            TRY(take_option(out, slots, n, verb, argc, argv, &i, err));
    }
    return MEL_OK;
}

static mel_status check_required(const slot *slots, size_t n, mel_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (slots[i].option->required && !slots[i].seen) {
            char *form = cli_option_form(slots[i].option);
            (void)cli_fail(err, MEL_EINVAL, "%s is required", form);
            free(form);
            return MEL_EINVAL;
        }
    return MEL_OK;
}

/* "--data, --probs or --ball"; freed by the caller. */
static char *input_words(unsigned kinds)
{
    static const char *const names[] = { "--data",
                                         "--probs",
                                         "--population",
                                         "--ball",
                                         "--groups",
                                         "a file of rows",
                                         "--point or --thesis direction",
                                         "--session",
                                         "--candidates" };
    char *text = cli_format("%s", "");
    for (size_t i = 0, left = kinds; i < sizeof names / sizeof *names; i++, left /= 2) {
        if ((left & 1) == 0)
            continue;
        char *longer = cli_format("%s%s%s", text,
                                  text[0] == '\0' ? ""
                                  : left / 2 == 0 ? " or "
                                                  : ", ",
                                  names[i]);
        free(text);
        text = longer;
    }
    return text;
}

/* What the given input does not read is refused rather than ignored. */
static mel_status check_inputs(const slot *slots, size_t n, unsigned given, mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!slots[i].seen || slots[i].reads == 0 || (slots[i].reads & given) != 0)
            continue;
        char *needs = input_words(slots[i].reads);
        (void)cli_fail(err, MEL_EINVAL, "%s goes with %s%s", cli_option_spelling(slots[i].option).text, needs,
                       (given & CLI_OF_SESSION) != 0 ? "; the session has its own"
                                                     : "; nothing here reads it");
        free(needs);
        return MEL_EINVAL;
    }
    return MEL_OK;
}

/* `melicit train t.csv` means --data t.csv: one word without dashes, where neither that option nor a list
 * that further words would belong to was given. */
static mel_status take_bare_word(cli_parsed *out, slot *slots, size_t n, const cli_command *command,
                                 mel_error *err)
{
    if (command->bare == NULL || out->n_operands != 1 ||
        (command->inputs != NULL && command->inputs(out->args) != 0))
        return MEL_OK;
    const char *end = strrchr(out->operand[0], '.');
    if (end != NULL && strcmp(end, ".jsonl") == 0 && strcmp(command->bare, "data") == 0)
        return MEL_OK; /* a session */
    for (size_t i = 0; i < n; i++)
        if (command->list != NULL && slots[i].seen && strcmp(slots[i].option->name, command->list) == 0)
            return MEL_OK;
    for (size_t i = 0; i < n; i++)
        if (strcmp(slots[i].option->name, command->bare) == 0 && !slots[i].seen) {
            out->n_operands = 0;
            return set_value(&slots[i], out->operand[0], err);
        }
    return MEL_OK;
}

static mel_status parse_into(cli_parsed *out, slot *slots, size_t n, const cli_command *command, int argc,
                             char **argv, mel_error *err)
{
    TRY(take_words(out, slots, n, command->name, argc, argv, err));
    for (size_t i = 0; i < n; i++)
        if (slots[i].seen && strcmp(slots[i].option->name, "seed") == 0)
            out->common.has_seed = true;
    if (out->common.help)
        return MEL_OK;
    TRY(take_bare_word(out, slots, n, command, err));
    if (out->n_operands > command->max_operands)
        return cli_fail(err, MEL_EINVAL, "\"%s\" is not an option", out->operand[command->max_operands]);
    TRY(check_required(slots, n, err));
    const unsigned given = command->inputs != NULL ? command->inputs(out->args) : 0;
    return given != 0 ? check_inputs(slots, n, given, err) : MEL_OK;
}

mel_status cli_parse(cli_parsed *out, const cli_command *command, int argc, char **argv, mel_error *err)
{
    *out = (cli_parsed){ .common = common_defaults };
    out->args = cli_alloc_zero(1, command->args_size);
    if (command->args_size != 0)
        memcpy(out->args, command->defaults, command->args_size);
    size_t n;
    slot *slots = make_slots(&n, command, out->args, &out->common);
    const mel_status status = parse_into(out, slots, n, command, argc, argv, err);
    free(slots);
    return status;
}

void cli_parsed_clear(cli_parsed *parsed, const cli_command *command)
{
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; parsed->args != NULL && (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        for (const cli_option *o = group->options; o->name != NULL; o++)
            if (o->kind == CLI_LIST) {
                mel_text_list list;
                memcpy(&list, field_of(group, o, parsed->args, &parsed->common), sizeof list);
                free(list.item);
            }
    for (size_t i = 0; i < parsed->n_kept; i++)
        free(parsed->kept[i]);
    free(parsed->kept);
    free(parsed->operand);
    free(parsed->args);
    *parsed = (cli_parsed){ 0 };
}
