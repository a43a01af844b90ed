/* Completion for bash (which does not need the bash-completion package), zsh and fish. */
#include "help.h"

#include <string.h>

static void verb_names(FILE *stream)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        (void)fprintf(stream, "%s%s", i != 0 ? " " : "", cli_commands[i]->name);
}

/* Whether the option is the first of its topic in the verb: the topic is listed once. */
static bool begins_topic(const cli_command *command, const cli_option *option)
{
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        for (const cli_option *o = group->options; o->name != NULL; o++)
            if (o == option || (o->under != NULL && strcmp(o->under, option->under) == 0))
                return o == option;
    return false;
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
                if (o->under == NULL || begins_topic(cli_commands[i], o))
                    (void)fprintf(stream, " --%s", o->under != NULL ? o->under : o->name);
        (void)fputs("' ;;\n", stream);
    }
}

static void value_arm(FILE *stream, const cli_command *command, const cli_option *o)
{
    (void)fprintf(stream, "    %s:%s%s) ", command->name, o->under == NULL ? "--" : "", o->name);
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

/* The settings of a topic: "delimiter= header=auto header=yes strict", for bash, where the value of a setting
 * is a word of its own, "delimiter= header= strict". */
static void settings(FILE *stream, const cli_command *command, const char *topic, bool with_values)
{
    const void *defaults;
    const cli_group *group;
    for (size_t g = 0; (group = cli_group_at(command, g, &defaults)) != NULL; g++)
        for (const cli_option *o = group->options; o->name != NULL; o++) {
            if (o->under == NULL || strcmp(o->under, topic) != 0)
                continue;
            if (o->kind != CLI_CHOICE || !with_values)
                (void)fprintf(stream, "%s%s ", o->name, o->kind != CLI_FLAG ? "=" : "");
            else
                for (size_t c = 0; o->choices[c] != NULL; c++)
                    (void)fprintf(stream, "%s=%s ", o->name, o->choices[c]);
        }
}

static void topic_arm(FILE *stream, const cli_command *command, const char *topic, bool with_values)
{
    (void)fprintf(stream, "    %s:--%s) choices='", command->name, topic);
    settings(stream, command, topic, with_values);
    (void)fputs("' ;;\n", stream);
}

/* "train:--evidence) choices='labels model calibrated' ;;": what follows an option that takes a value */
static void value_arms(FILE *stream, bool bash)
{
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const void *defaults;
        const cli_group *group;
        for (size_t g = 0; (group = cli_group_at(cli_commands[i], g, &defaults)) != NULL; g++)
            for (const cli_option *o = group->options; o->name != NULL; o++) {
                if (o->under != NULL && begins_topic(cli_commands[i], o))
                    topic_arm(stream, cli_commands[i], o->under, !bash);
                if (o->kind != CLI_FLAG && (bash || o->under == NULL))
                    value_arm(stream, cli_commands[i], o);
            }
    }
}

static void bash_completion(FILE *stream)
{
    (void)fputs("# bash completion for melicit; made by `melicit help --as bash`\n"
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
    value_arms(stream, true);
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
                "# zsh completion for melicit; made by `melicit help --as zsh`\n"
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
    value_arms(stream, false);
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
    (void)fprintf(stream, "complete -c melicit -n '__fish_seen_subcommand_from %s' -l %s ", command->name,
                  o->name);
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

static void fish_topic(FILE *stream, const cli_command *command, const char *topic)
{
    (void)fprintf(stream, "complete -c melicit -n '__fish_seen_subcommand_from %s' -l %s -x -a '",
                  command->name, topic);
    settings(stream, command, topic, true);
    (void)fputs("'\n", stream);
}

static void fish_completion(FILE *stream)
{
    (void)fputs("# fish completion for melicit; made by `melicit help --as fish`\n"
                "complete -c melicit -f -n '__fish_use_subcommand' -a '",
                stream);
    verb_names(stream);
    (void)fputs("'\n", stream);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const void *defaults;
        const cli_group *group;
        for (size_t g = 0; (group = cli_group_at(cli_commands[i], g, &defaults)) != NULL; g++)
            for (const cli_option *o = group->options; o->name != NULL; o++)
                if (o->under == NULL)
                    fish_option(stream, cli_commands[i], o);
                else if (begins_topic(cli_commands[i], o))
                    fish_topic(stream, cli_commands[i], o->under);
    }
}

void cli_help_completion(FILE *stream, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash_completion(stream);
    else if (strcmp(shell, "zsh") == 0)
        zsh_completion(stream);
    else
        fish_completion(stream);
}
