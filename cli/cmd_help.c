/* melicit help: what the tables say, in the form that is asked for. */
#include "base/names.h"
#include "command.h"
#include "help.h"
#include "output.h"

#include <stddef.h>

typedef struct {
    bool all;
    int as;
} help_args;

enum { AS_TEXT, AS_MAN, AS_MARKDOWN };
static const char *const forms[] = { "text", "man", "markdown", "bash", "zsh", "fish", NULL };

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
        cli_help_markdown(stdout);
    } else if (args->as != AS_TEXT) {
        cli_help_completion(stdout, forms[args->as]);
    } else {
        cli_help_overview(stdout);
    }
    return MEL_OK;
}

static const cli_option options[] = {
    CLI_COMMON(help_args, "all", FLAG, all,
               .help = "VERB: every option, also the rare ones, with notes and all examples"),
    CLI_COMMON(help_args, "as", CHOICE, as, .choices = forms,
               .help = "all verbs: a list, the manual page (roff, for man -l), the reference in Markdown, or "
                       "the completion script of a shell"),
    { 0 }
};
static const cli_group groups[] = { { "Other forms", options, 0 }, { 0 } };
static const cli_example examples[] = {
    { "what the verbs are", "melicit help" },
    { "the common options of one verb", "melicit help train" },
    { "all its options", "melicit help train --all" },
    { "completion in this shell", "eval \"$(melicit help --as bash)\"" },
    { "all tables for another program", "melicit help --json" },
    { 0 },
};
static const help_args defaults = { 0 };

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
    .defaults = &defaults,
    .run = run_help,
    .ranks = true,
};
