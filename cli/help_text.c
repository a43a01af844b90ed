/* Help for the terminal, and the same tables as JSON. */
#include "help.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

#define OPTION_COLUMN 26 /* where the sentences of options begin */

const char *const cli_about =
    "melicit finds out which classification metric people really want, by asking which of two classifiers "
    "they prefer, and fits, measures and tunes classifiers for it.";

const char *cli_exit_meaning(int code)
{
    static const char *const meaning[] = { "done",
                                           "failed",
                                           "wrong usage",
                                           "bad data: missing, malformed or too large",
                                           "storage: a result could not be written",
                                           "stopped before the end",
                                           "conflict with what is recorded" };
    return code >= 0 && code < (int)(sizeof meaning / sizeof *meaning) ? meaning[code] : NULL;
}

/* Adds to a text that malloc gave. */
static char *extended(char *text, const char *more)
{
    char *longer = cli_format("%s%s", text, more);
    free(text);
    return longer;
}

cli_spelling cli_option_spelling(const cli_option *option)
{
    cli_spelling spelling;
    (void)snprintf(spelling.text, sizeof spelling.text, "--%s%s%s",
                   option->under != NULL ? option->under : "", option->under != NULL ? " " : "",
                   option->name);
    return spelling;
}

char *cli_option_form(const cli_option *option)
{
    const cli_spelling spelling = cli_option_spelling(option);
    const char *gap = option->under != NULL ? "=" : " ";
    if (option->kind == CLI_FLAG)
        return cli_format("%s", spelling.text);
    if (option->kind != CLI_CHOICE)
        return cli_format("%s%s%s", spelling.text, gap, option->argument);
    char *form = cli_format("%s%s", spelling.text, gap);
    for (size_t i = 0; option->choices[i] != NULL; i++) {
        form = extended(form, i != 0 ? "|" : "");
        form = extended(form, option->choices[i]);
    }
    return form;
}

char *cli_option_sentence(const cli_option *option, const void *defaults)
{
    char value[64];
    const bool shown = cli_option_default(value, sizeof value, option, defaults);
    const char *repeat = option->kind == CLI_LIST ? "may be repeated" : "";
    const char *tail = option->required ? "required" : repeat;
    if (shown)
        return cli_format("%s (default: %s)", option->help, value);
    return *tail != '\0' ? cli_format("%s (%s)", option->help, tail) : cli_format("%s", option->help);
}

char *cli_usage(const cli_command *command)
{
    char *usage = cli_format("melicit %s", command->name);
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        for (const cli_option *o = group->options; o->name != NULL; o++)
            if (o->required) {
                char *form = cli_option_form(o);
                usage = extended(usage, " ");
                usage = extended(usage, form);
                free(form);
            }
    if (command->operands != NULL) {
        usage = extended(usage, " ");
        usage = extended(usage, command->operands);
    }
    return extended(usage, " [options]");
}

void cli_help_overview(FILE *stream)
{
    const size_t width = cli_width(stream);
    cli_wrap(stream, cli_about, 0, 0, width);
    (void)fprintf(stream, "\nusage: melicit VERB [options]\n\n");
    const cli_command *first = &cli_help;
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        (void)fprintf(stream, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
        first = i == 0 ? cli_commands[i] : first;
    }
    (void)fprintf(stream, "\n`melicit help VERB` explains a verb and its options. To begin:\n\n  %s\n",
                  first->examples[0].line);
}

static void print_option(const cli_option *option, const void *defaults, size_t width)
{
    char *form = cli_option_form(option);
    char *sentence = cli_option_sentence(option, defaults);
    size_t used = 2 + strlen(form);
    (void)printf("  %s", form);
    if (used + 2 > OPTION_COLUMN) {
        (void)putchar('\n');
        used = 0;
    }
    cli_wrap(stdout, sentence, used, OPTION_COLUMN, width);
    free(form);
    free(sentence);
}

/* The options of one group at the level that the help is about, under the group's heading. */
static void print_group(const cli_group *group, const void *defaults, bool all, size_t width)
{
    bool begun = false;
    for (const cli_option *o = group->options; o->name != NULL; o++) {
        if (!all && o->level != MEL_LEVEL_COMMON && !o->required)
            continue;
        if (!begun) {
            (void)putchar('\n');
            cli_heading(group->heading);
        }
        begun = true;
        print_option(o, defaults, width);
    }
}

static size_t count_options(const cli_command *command)
{
    size_t n = 0;
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        for (const cli_option *o = group->options; o->name != NULL; o++)
            n++;
    return n;
}

static void print_verb(const cli_command *command, bool all)
{
    enum { FEW_EXAMPLES = 2 };
    const size_t width = cli_width(stdout);
    char *usage = cli_usage(command);
    (void)printf("usage: %s\n\n", usage);
    free(usage);
    cli_wrap(stdout, command->description, 0, 0, width);
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        print_group(group, defaults, all, width);
    if (all && command->notes != NULL) {
        (void)putchar('\n');
        cli_heading("Notes");
        cli_wrap(stdout, command->notes, 0, 2, width);
    }
    (void)putchar('\n');
    cli_heading("Examples");
    for (const cli_example *e = command->examples; e->line != NULL; e++)
        if (all || e - command->examples < FEW_EXAMPLES)
            (void)printf("  # %s\n  %s\n", e->purpose, e->line);
    if (!all)
        (void)printf("\n`melicit help %s --all` lists all %zu options%s.\n", command->name,
                     count_options(command), command->notes != NULL ? ", notes and more examples" : "");
}

void cli_help_verb(const cli_command *command, bool all, bool json)
{
    if (!json) {
        print_verb(command, all);
        return;
    }
    json_t *table = cli_help_table(command);
    cli_print_json(table);
    json_decref(table);
}

static json_t *option_as_json(const cli_option *option, const cli_group *group, const void *defaults)
{
    static const char *const kinds[] = { "flag",   "text",  "input",  "output",
                                         "number", "whole", "choice", "list" };
    static const char *const levels[] = { "more", "common" };
    json_t *object = json_object();
    char value[64];
    cli_put(object, "name", cli_json_text(option->name));
    cli_put(object, "group", cli_json_text(group->heading));
    cli_put(object, "kind", cli_json_text(kinds[option->kind]));
    cli_put(object, "level", cli_json_text(levels[option->level]));
    if (option->under != NULL)
        cli_put(object, "under", cli_json_text(option->under));
    cli_put(object, "required", json_boolean(option->required));
    if (cli_option_default(value, sizeof value, option, defaults))
        cli_put(object, "default", cli_json_text(value));
    if (option->kind == CLI_NUMBER || option->kind == CLI_WHOLE) {
        cli_put(object, "low", cli_json_number(option->low));
        cli_put(object, "high", cli_json_number(option->high));
    }
    if (option->kind == CLI_CHOICE) {
        json_t *choices = json_array();
        for (size_t i = 0; option->choices[i] != NULL; i++)
            cli_push(choices, cli_json_text(option->choices[i]));
        cli_put(object, "choices", choices);
    }
    cli_put(object, "help", cli_json_text(option->help));
    return object;
}

json_t *cli_help_table(const cli_command *command)
{
    json_t *verb = json_object(), *options = json_array(), *examples = json_array();
    char *usage = cli_usage(command);
    cli_put(verb, "name", cli_json_text(command->name));
    cli_put(verb, "summary", cli_json_text(command->summary));
    cli_put(verb, "usage", cli_json_text(usage));
    free(usage);
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        for (const cli_option *o = group->options; o->name != NULL; o++)
            cli_push(options, option_as_json(o, group, defaults));
    for (const cli_example *e = command->examples; e->line != NULL; e++)
        cli_push(examples, cli_json_text(e->line));
    cli_put(verb, "options", options);
    cli_put(verb, "examples", examples);
    return verb;
}

json_t *cli_help_tables(void)
{
    json_t *verbs = json_array();
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        cli_push(verbs, cli_help_table(cli_commands[i]));
    return verbs;
}
