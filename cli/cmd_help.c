/* melicit help: what the tables say, in the form that is asked for. */
#include "help.h"
#include "output.h"

#include <cblas.h>
#include <nlopt.h>
#include <sodium.h>
#include <stddef.h>
#include <stdlib.h>
#include <zip.h>
#include <zlib.h>

typedef struct {
    bool all;
    int as;
} help_args;

enum { AS_TEXT, AS_MAN, AS_MARKDOWN, AS_SCHEMA = 6 };
static const char *const forms[] = { "text", "man", "markdown", "bash", "zsh", "fish", "schema", NULL };

/* --- the reference of verbs, options and exit codes as Markdown, which make site shows --- */

/* Table cells: a bar would end the cell. */
static void cell(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            (void)fputc('\\', stream);
        (void)fputc(*text, stream);
    }
}

static void print_options(FILE *stream, const cli_group *group, const void *defaults)
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
        print_options(stream, group, (const char *)command->defaults + group->base);
    if (command->notes != NULL)
        (void)fprintf(stream, "\n%s\n", command->notes);
    (void)fputc('\n', stream);
    for (const cli_example *e = command->examples; e->line != NULL; e++)
        (void)fprintf(stream, "    # %s\n    %s\n", e->purpose, e->line);
}

static void print_markdown(FILE *stream)
{
    const void *defaults;
    const cli_group *common = cli_common_group(&defaults);
    (void)fputs("| verb | what it does |\n| --- | --- |\n", stream);
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        (void)fprintf(stream, "| `%s` | %s |\n", cli_commands[i]->name, cli_commands[i]->summary);
    print_options(stream, common, defaults);
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        verb(stream, cli_commands[i]);
    (void)fputs("\n### Exit codes\n\n| code | meaning |\n| --- | --- |\n", stream);
    for (int code = 0; cli_exit_meaning(code) != NULL; code++)
        (void)fprintf(stream, "| %d | %s |\n", code, cli_exit_meaning(code));
}

static const char *verb_name(const void *user, size_t i)
{
    (void)user;
    return cli_commands[i] != NULL ? cli_commands[i]->name : NULL;
}

static mel_status explain(cli_run *run, const char *name, bool all, mel_error *err)
{
    const cli_command *command = cli_find_command(name);
    if (command == NULL) {
        const char *near = mel_nearest(name, verb_name, NULL);
        return cli_fail(err, MEL_EINVAL, "there is no verb \"%s\"%s%s%s", name,
                        near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                        near != NULL ? "\"?" : "");
    }
    if (run->json) {
        json_t *table = cli_help_table(command);
        cli_json_update(run->result, table);
        json_decref(table);
        return MEL_OK;
    }
    cli_help_verb(command, all, false);
    return MEL_OK;
}

static mel_status run_help(cli_run *run, const void *arguments, mel_error *err)
{
    const help_args *args = arguments;
    if (args->as != AS_TEXT && run->n_operands != 0)
        return cli_fail(err, MEL_EINVAL, "--as %s is about all verbs: leave out %s", forms[args->as],
                        run->operand[0]);
    if (args->as != AS_TEXT && run->json)
        return cli_fail(err, MEL_EINVAL, "--json and --as %s exclude each other", forms[args->as]);
    if (args->all && run->n_operands == 0)
        return cli_fail(err, MEL_EINVAL, "--all goes with a verb: melicit help VERB --all");
    if (run->n_operands != 0)
        return explain(run, run->operand[0], args->all, err);
    if (run->json) {
        cli_put(run->result, "about", cli_json_text(cli_about));
        cli_put(run->result, "verbs", cli_help_tables());
    } else if (args->as == AS_MAN) {
        cli_help_man(stdout);
    } else if (args->as == AS_MARKDOWN) {
        print_markdown(stdout);
    } else if (args->as == AS_SCHEMA) {
        json_auto_t *all = cli_schemas();
        cli_print_json(all);
    } else if (args->as != AS_TEXT) {
        cli_help_completion(stdout, forms[args->as]);
    } else {
        cli_help_overview(stdout);
    }
    return MEL_OK;
}

static const cli_option own_options[] = {
    CLI_COMMON(help_args, "all", FLAG, all,
               .help = "VERB: every option, also the rare ones, with notes and all examples"),
    CLI_COMMON(help_args, "as", CHOICE, as, .choices = forms,
               .help = "all verbs: a list, the manual page (roff, for man -l), the reference in Markdown, "
                       "the completion script of a shell, or JSON Schemas of all results and files"),
    { 0 }
};
static const cli_group groups[] = { { "Other forms", own_options, 0 }, { 0 } };
static const cli_example examples[] = {
    { "what the verbs are", "melicit help" },
    { "the common options of one verb", "melicit help train" },
    { "all its options", "melicit help train --all" },
    { "completion in this shell", "eval \"$(melicit help --as bash)\"" },
    { "all tables for another program", "melicit help --json" },
    { 0 },
};
static const help_args usual = { 0 };

const cli_command cli_help = {
    .name = "help",
    .summary = "explain a verb; print the manual page or the shell completion",
    .operands = "[VERB]",
    .max_operands = 1,
    .description =
        "Lists the verbs, or explains one with its common options. `melicit VERB --help` prints the same.",
    .groups = groups,
    .examples = examples,
    .args_size = sizeof(help_args),
    .defaults = &usual,
    .run = run_help,
    .ranks = true,
};

/* --- what was built, with what. No verb, so it is in no list --- */

static void put_line(cli_run *run, json_t *object, const char *key, const char *value)
{
    cli_put(object, key, cli_json_text(value));
    if (!run->json)
        cli_print("  %-10s %s\n", key, value);
}

static mel_status run_version(cli_run *run, const void *arguments, mel_error *err)
{
    (void)arguments;
    (void)err;
    int major, minor, bugfix;
    nlopt_version(&major, &minor, &bugfix);
    char *nlopt = cli_format("%d.%d.%d", major, minor, bugfix);
    json_t *libraries = json_object();
    cli_put(run->result, "version", cli_json_text(mel_version()));
    if (!run->json)
        cli_print("melicit %s\n", mel_version());
#if defined(__clang__)
    put_line(run, run->result, "compiler", "clang " __clang_version__);
#else
    put_line(run, run->result, "compiler", "gcc " __VERSION__);
#endif
    cli_put(run->result, "libraries", libraries);
    put_line(run, libraries, "openblas", openblas_get_config());
    put_line(run, libraries, "nlopt", nlopt);
    put_line(run, libraries, "zlib", zlibVersion());
    put_line(run, libraries, "libzip", zip_libzip_version());
    put_line(run, libraries, "jansson", jansson_version_str());
    put_line(run, libraries, "sodium", sodium_version_string());
    free(nlopt);
    return MEL_OK;
}

static const cli_example version_examples[] = {
    { "for a bug report", "melicit --version" },
    { "for a program", "melicit --version --json" },
    { 0 },
};

const cli_command cli_version = {
    .name = "--version",
    .summary = "the version, the compiler and the libraries in use",
    .description = "Prints the version of melicit, the compiler it was built with, and the versions of the "
                   "libraries it runs on.",
    .examples = version_examples,
    .run = run_version,
    .ranks = true,
};
