/* The reference of verbs, options and exit codes as Markdown: make site shows it on the page of docs/cli.md.
 */
#include "help.h"
#include "output.h"

#include <stdlib.h>

/* Table cells: a bar would end the cell. */
static void cell(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            (void)fputc('\\', stream);
        (void)fputc(*text, stream);
    }
}

static void options(FILE *stream, const cli_group *group, const void *defaults)
{
    (void)fprintf(stream, "\n**%s**\n\n| option | meaning |\n| --- | --- |\n", group->heading);
    for (const cli_option *o = group->options; o->name != NULL; o++) {
        char *form = cli_option_form(o);
        char *sentence = cli_option_sentence(o, defaults);
        (void)fputs("| `", stream);
        cell(stream, form);
        (void)fputs("` | ", stream);
        cell(stream, sentence);
        (void)fputs(" |\n", stream);
        free(form);
        free(sentence);
    }
}

static void verb(FILE *stream, const cli_command *command)
{
    char *usage = cli_usage(command);
    (void)fprintf(stream, "\n### melicit %s\n\n    %s\n\n%s\n", command->name, usage, command->description);
    free(usage);
    for (const cli_group *group = command->groups; group != NULL && group->heading != NULL; group++)
        options(stream, group, (const char *)command->defaults + group->base);
    if (command->notes != NULL)
        (void)fprintf(stream, "\n%s\n", command->notes);
    (void)fputc('\n', stream);
    for (const cli_example *e = command->examples; e->line != NULL; e++)
        (void)fprintf(stream, "    # %s\n    %s\n", e->purpose, e->line);
}

void cli_help_markdown(FILE *stream)
{
    const void *defaults;
    const cli_group *common = cli_common_group(&defaults);
    (void)fputs("| verb | what it does |\n| --- | --- |\n", stream);
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        (void)fprintf(stream, "| `%s` | %s |\n", cli_commands[i]->name, cli_commands[i]->summary);
    options(stream, common, defaults);
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        verb(stream, cli_commands[i]);
    (void)fputs("\n### Exit codes\n\n| code | meaning |\n| --- | --- |\n", stream);
    for (int code = 0; cli_exit_meaning(code) != NULL; code++)
        (void)fprintf(stream, "| %d | %s |\n", code, cli_exit_meaning(code));
}
