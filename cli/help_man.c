/* The manual page melicit(1), in the man macros that groff and mandoc both know. */
#include "help.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

/* A piece of text: roff's own characters escaped, hyphens kept as typed (options can be copied). */
static void escaped(FILE *stream, const char *text)
{
    bool line_start = true;
    for (; *text != '\0'; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            (void)fputs("\\&", stream);
        if (*text == '\\')
            (void)fputs("\\e", stream);
        else if (*text == '-')
            (void)fputs("\\-", stream);
        else
            (void)fputc(*text, stream);
        line_start = *text == '\n';
    }
}

/* Paragraphs: an empty line becomes .PP. */
static void paragraphs(FILE *stream, const char *text)
{
    const char *gap;
    while ((gap = strstr(text, "\n\n")) != NULL) {
        char *one = cli_format("%.*s", (int)(gap - text), text);
        escaped(stream, one);
        (void)fputs("\n.PP\n", stream);
        free(one);
        text = gap + 2;
    }
    escaped(stream, text);
    (void)fputc('\n', stream);
}

static void option(FILE *stream, const cli_option *o, const void *defaults)
{
    char *form = cli_option_form(o);
    char *sentence = cli_option_sentence(o, defaults);
    const size_t name = strlen(cli_option_spelling(o).text);
    char *word = cli_format("%.*s", (int)name, form);
    (void)fputs(".TP\n\\fB", stream);
    escaped(stream, word);
    (void)fputs("\\fR\\fI", stream);
    escaped(stream, form + name);
    (void)fputs("\\fR\n", stream);
    escaped(stream, sentence);
    (void)fputc('\n', stream);
    free(word);
    free(form);
    free(sentence);
}

static void examples(FILE *stream, const cli_command *command)
{
    for (const cli_example *e = command->examples; e->line != NULL; e++) {
        (void)fputs(".PP\n", stream);
        escaped(stream, e->purpose);
        (void)fputs(":\n.PP\n.nf\n.RS 4\n", stream);
        escaped(stream, e->line);
        (void)fputs("\n.RE\n.fi\n", stream);
    }
}

static void verb(FILE *stream, const cli_command *command)
{
    (void)fprintf(stream, ".SH \"MELICIT ");
    for (const char *c = command->name; *c != '\0'; c++)
        (void)fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, stream);
    (void)fputs("\"\n", stream);
    char *usage = cli_usage(command);
    (void)fputs("\\fB", stream);
    escaped(stream, usage);
    (void)fputs("\\fR\n.PP\n", stream);
    free(usage);
    paragraphs(stream, command->description);
    for (const cli_group *group = command->groups; group != NULL && group->heading != NULL; group++) {
        (void)fputs(".SS \"", stream);
        escaped(stream, group->heading);
        (void)fputs("\"\n", stream);
        for (const cli_option *o = group->options; o->name != NULL; o++)
            option(stream, o, (const char *)command->defaults + group->base);
    }
    if (command->notes != NULL) {
        (void)fputs(".SS Notes\n", stream);
        paragraphs(stream, command->notes);
    }
    (void)fputs(".SS Examples\n", stream);
    examples(stream, command);
}

static void common(FILE *stream)
{
    const void *defaults;
    const cli_group *group = cli_common_group(&defaults);
    (void)fputs(".SH \"COMMON OPTIONS\"\n", stream);
    for (const cli_option *o = group->options; o->name != NULL; o++)
        option(stream, o, defaults);
}

static void ending(FILE *stream)
{
    (void)fputs(".SH \"EXIT STATUS\"\n", stream);
    for (int code = 0; cli_exit_meaning(code) != NULL; code++) {
        (void)fprintf(stream, ".TP\n%d\n", code);
        escaped(stream, cli_exit_meaning(code));
        (void)fputc('\n', stream);
    }
    (void)fputs(".SH ENVIRONMENT\n"
                ".TP\nMELICIT_DATA\nA folder with further data sets, searched after the bundled ones.\n"
                ".TP\nMELICIT_RANK_ROWS\nUnder mpirun: passes over fewer rows are not divided among ranks.\n"
                ".TP\nNO_COLOR\nWhen set, no colours on terminals.\n",
                stream);
}

void cli_help_man(FILE *stream)
{
    (void)fprintf(stream, ".TH MELICIT 1 \"\" \"melicit %s\" \"User Commands\"\n", mel_version());
    (void)fputs(".SH NAME\nmelicit \\- elicit classification metrics, train and apply classifiers\n"
                ".SH SYNOPSIS\n\\fBmelicit\\fR \\fIverb\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n",
                stream);
    paragraphs(stream, cli_about);
    (void)fputs(".SH VERBS\n", stream);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        (void)fprintf(stream, ".TP\n\\fB%s\\fR\n", cli_commands[i]->name);
        escaped(stream, cli_commands[i]->summary);
        (void)fputc('\n', stream);
    }
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        verb(stream, cli_commands[i]);
    common(stream);
    ending(stream);
}
