/* Completion for bash (which does not need the bash-completion package), zsh and fish. */
#include "help.h"

#include <string.h>

static void verb_names(FILE *stream)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        (void)fprintf(stream, "%s%s", i != 0 ? " " : "", cli_commands[i]->name);
}

/* "train) choices='--data --label ...' ;;" */
static void option_arms(FILE *stream)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const void *defaults;
        const cli_group *group;
        (void)fprintf(stream, "    %s) choices='", cli_commands[i]->name);
        if (cli_commands[i] == &cli_help)
            verb_names(stream);
        for (size_t g = 0; (group = cli_group_at(cli_commands[i], g, &defaults)) != NULL; g++)
            for (const cli_option *o = group->options; o->name != NULL; o++)
                if (o->level != MEL_LEVEL_THESIS)
                    (void)fprintf(stream, " --%s", o->name);
        (void)fputs("' ;;\n", stream);
    }
}

static void value_arm(FILE *stream, const cli_command *command, const cli_option *o)
{
    (void)fprintf(stream, "    %s:--%s) ", command->name, o->name);
    if (o->kind == CLI_INPUT || o->kind == CLI_OUTPUT)
        (void)fputs("files=1 ", stream);
    if (o->kind == CLI_CHOICE) {
        (void)fputs("choices='", stream);
        for (size_t c = 0; o->choices[c] != NULL; c++)
            (void)fprintf(stream, "%s%s", c != 0 ? " " : "", o->choices[c]);
        (void)fputs("' ", stream);
    }
    (void)fputs(";;\n", stream);
}

/* "train:--solver) choices='auto newton lbfgs' ;;": what follows an option that takes a value */
static void value_arms(FILE *stream)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const void *defaults;
        const cli_group *group;
        for (size_t g = 0; (group = cli_group_at(cli_commands[i], g, &defaults)) != NULL; g++)
            for (const cli_option *o = group->options; o->name != NULL; o++)
                if (o->kind != CLI_FLAG && o->level != MEL_LEVEL_THESIS)
                    value_arm(stream, cli_commands[i], o);
    }
}

static void bash_completion(FILE *stream)
{
    (void)fputs("# bash completion for melicit; made by `melicit help --completion`\n"
                "_melicit_options() {\n"
                "    case $1 in\n",
                stream);
    option_arms(stream);
    (void)fputs(
        "    esac\n"
        "}\n"
        "_melicit() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} choices='' files=0\n"
        "    # --name=value arrives as three words\n"
        "    if [[ $cur == '=' ]]; then\n"
        "        cur=''\n"
        "    elif [[ $prev == '=' ]]; then\n"
        "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "    fi\n"
        "    if ((COMP_CWORD == 1)); then\n"
        "        prev='melicit'\n"
        "    fi\n"
        "    case ${COMP_WORDS[1]}:$prev in\n"
        "    *:melicit) choices='",
        stream);
    verb_names(stream);
    (void)fputs("' ;;\n", stream);
    value_arms(stream);
    (void)fputs("    *) _melicit_options \"${COMP_WORDS[1]}\" ;;\n"
                "    esac\n"
                "    if ((files)); then\n"
                "        compopt -o filenames 2>/dev/null || :\n"
                "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                "    else\n"
                "        mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$cur\")\n"
                "    fi\n"
                "}\n"
                "complete -F _melicit melicit\n",
                stream);
}

/* A file _melicit in a folder of $fpath: zsh runs it as the function of that name. */
static void zsh_completion(FILE *stream)
{
    (void)fputs("#compdef melicit\n"
                "# zsh completion for melicit; made by `melicit help --completion zsh`\n"
                "_melicit_options() {\n"
                "    case $1 in\n",
                stream);
    option_arms(stream);
    (void)fputs("    esac\n"
                "}\n"
                "local choices='' files=0 prev=${words[CURRENT - 1]}\n"
                "((CURRENT > 2)) || prev=melicit\n"
                "case ${words[2]}:$prev in\n"
                "    *:melicit) choices='",
                stream);
    verb_names(stream);
    (void)fputs("' ;;\n", stream);
    value_arms(stream);
    (void)fputs("    *) _melicit_options \"${words[2]}\" ;;\n"
                "esac\n"
                "if ((files)); then _files; else compadd -- ${=choices}; fi\n",
                stream);
}

/* In single quotes, where fish knows \' and \\. */
static void fish_quoted(FILE *stream, const char *text)
{
    (void)fputc('\'', stream);
    for (const char *c = text; *c != '\0'; c++)
        (void)fprintf(stream, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
    (void)fputc('\'', stream);
}

static void fish_option(FILE *stream, const cli_command *command, const cli_option *o)
{
    (void)fprintf(stream, "complete -c melicit -n '__fish_seen_subcommand_from %s' -l %s ", command->name, o->name);
    if (o->kind == CLI_INPUT || o->kind == CLI_OUTPUT)
        (void)fputs("-r -F ", stream);
    else if (o->kind != CLI_FLAG)
        (void)fputs("-x ", stream);
    if (o->kind == CLI_CHOICE) {
        (void)fputs("-a '", stream);
        for (size_t c = 0; o->choices[c] != NULL; c++)
            (void)fprintf(stream, "%s%s", c != 0 ? " " : "", o->choices[c]);
        (void)fputs("' ", stream);
    }
    (void)fputs("-d ", stream);
    fish_quoted(stream, o->help);
    (void)fputc('\n', stream);
}

static void fish_completion(FILE *stream)
{
    (void)fputs("# fish completion for melicit; made by `melicit help --completion fish`\n"
                "complete -c melicit -f -n '__fish_use_subcommand' -a '",
                stream);
    verb_names(stream);
    (void)fputs("'\n", stream);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const void *defaults;
        const cli_group *group;
        for (size_t g = 0; (group = cli_group_at(cli_commands[i], g, &defaults)) != NULL; g++)
            for (const cli_option *o = group->options; o->name != NULL; o++)
                if (o->level != MEL_LEVEL_THESIS)
                    fish_option(stream, cli_commands[i], o);
    }
}

bool cli_help_completion(FILE *stream, const char *shell)
{
    static const struct {
        const char *shell;
        void (*print)(FILE *);
    } shells[] = { { "bash", bash_completion }, { "zsh", zsh_completion }, { "fish", fish_completion } };
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].shell) == 0) {
            shells[i].print(stream);
            return true;
        }
    return false;
}
