/* Completion for bash, complete in itself: it does not need the bash-completion package. */
#include "help.h"

static void verb_names(FILE *stream)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        (void)fprintf(stream, "%s%s", i != 0 ? " " : "", cli_commands[i]->name);
}

/* "train) words='--data --label ...' ;;" */
static void option_arms(FILE *stream)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const void *defaults;
        const cli_group *group;
        (void)fprintf(stream, "    %s) words='", cli_commands[i]->name);
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
        (void)fputs("words='", stream);
        for (size_t c = 0; o->choices[c] != NULL; c++)
            (void)fprintf(stream, "%s%s", c != 0 ? " " : "", o->choices[c]);
        (void)fputs("' ", stream);
    }
    (void)fputs(";;\n", stream);
}

/* "train:--solver) words='auto newton lbfgs' ;;": what follows an option that takes a value */
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

void cli_help_completion(FILE *stream)
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
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words='' files=0\n"
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
        "    *:melicit) words='",
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
                "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                "    fi\n"
                "}\n"
                "complete -F _melicit melicit\n",
                stream);
}
