/* The option tables of melicit elicit: those of a session come from the library's table. */
#include "elicit_args.h"

#include "oracle/shared.h"

#include <assert.h>
#include <float.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

elicit_args cli_elicit_defaults = {
    .space = MEL_PROBLEM_DEFAULTS,
    .oracle = "ask",
    .noise = "none",
    .votes = 1,
};
cli_option cli_session_options[MEL_SECTIONS][CLI_MOST_SESSION_OPTIONS];

/* Help that names the models of wrong answers; filled by cli_elicit_fill. */
enum { MOST_HELP = 600 };
static char noise_help[MOST_HELP];

/* What the program says in words of its own. */
static const cli_option known_costs = {
    .name = "costs",
    .under = "known",
    .argument = "METRIC.json",
    .kind = CLI_TEXT,
    .at = offsetof(elicit_args, known_costs),
    .help = "fair: the costs of mistakes are as in this metric, and the rest is asked about",
};

/* A word with an argument is more than a word: --until rank:POOL. */
static cli_kind kind_of(const mel_option *row)
{
    switch (row->type) {
    case MEL_OPTION_NUMBER:
        return CLI_NUMBER;
    case MEL_OPTION_WHOLE:
        return CLI_WHOLE;
    case MEL_OPTION_FLAG:
        return CLI_FLAG;
    case MEL_OPTION_WORD:
        return row->argument == NULL ? CLI_CHOICE : CLI_TEXT;
    default:
        return CLI_TEXT;
    }
}

/* "per-round" for "per_round", "p11" for "known_p11", which --known takes. */
static const char *name_of(const mel_option *row, size_t i)
{
    static char names[CLI_MOST_SESSION_OPTIONS][32];
    const size_t said = row->under != NULL && strncmp(row->key, "known_", 6) == 0 ? 6 : 0;
    (void)snprintf(names[i], sizeof names[i], "%s", row->key + said);
    for (char *at = names[i]; (at = strchr(at, '_')) != NULL;)
        *at = '-';
    return names[i];
}

const char **cli_given(elicit_args *args, const char *key)
{
    size_t n, i = 0;
    const mel_option *rows = mel_option_table(&n);
    while (i + 1 < n && strcmp(rows[i].key, key) != 0)
        i++;
    return &args->given[i];
}

/* "HELP: a, b, c" */
static const char *with_list(char *text, const char *help, const char *(*listed)(size_t i))
{
    size_t used = (size_t)snprintf(text, MOST_HELP, "%s", help);
    const char *one = NULL;
    for (size_t i = 0; (one = listed(i)) != NULL && used < MOST_HELP; i++)
        used += (size_t)snprintf(text + used, MOST_HELP - used, "%s%s", i == 0 ? ": " : ", ", one);
    assert(used < MOST_HELP);
    return text;
}

void cli_elicit_fill(void)
{
    static char helps[CLI_MOST_SESSION_OPTIONS][MOST_HELP];
    size_t n, used[MEL_SECTIONS] = { 0 };
    (void)with_list(noise_help, "how a simulated oracle errs", mel_noise_form);
    const mel_option *rows = mel_option_table(&n);
    assert(n + 1 < CLI_MOST_SESSION_OPTIONS);
    for (size_t i = 0; i < n; i++)
        if (rows[i].help != NULL)
            cli_session_options[rows[i].section][used[rows[i].section]++] = (cli_option){
                .name = name_of(&rows[i], i),
                .argument = rows[i].argument,
                .help =
                    rows[i].listed != NULL ? with_list(helps[i], rows[i].help, rows[i].listed) : rows[i].help,
                .choices = rows[i].words,
                .low = rows[i].low,
                .high = rows[i].high,
                .above_low = rows[i].above_low,
                .below_high = rows[i].below_high,
                .kind = kind_of(&rows[i]),
                .level = rows[i].level,
                .under = rows[i].under,
                .at = offsetof(elicit_args, given) + i * sizeof(char *),
                .session = &rows[i],
            };
    cli_session_options[MEL_SECTION_STRUCTURE][used[MEL_SECTION_STRUCTURE]] = known_costs;
    *cli_given(&cli_elicit_defaults, "assume") = "auto";
}

const cli_option cli_oracle_options[] = {
    CLI_COMMON(elicit_args, "oracle", TEXT, oracle, .argument = "WHO",
               .help = "who answers: ask (you, here), sim:METRIC.json (a metric), cmd:PROGRAM (a program "
                       "that reads a JSON line per question and answers A, B, = or, when it can't say, ?)"),
    CLI_ROW(elicit_args, "comparisons", INPUT, comparisons, .argument = "VOTES.csv",
            .help = "answers that exist already about the classifiers of --candidates: columns a, b (or "
                    "model_a, model_b) with their names and winner (a name, a, b, tie or ?); no question is "
                    "asked unless --oracle says who answers"),
    CLI_ROW(elicit_args, "noise", TEXT, noise, .argument = "NOISE", .help = noise_help),
    CLI_ROW(elicit_args, "votes", WHOLE, votes, .argument = "N", .low = 1, .high = 9999,
            .help = "put every question N times (odd) and take the majority"),
    CLI_ROW(elicit_args, "timeout", NUMBER, timeout, .argument = "SECONDS", .high = DBL_MAX,
            .help = "cmd: give up when an answer takes longer; 0 waits for ever"),
    CLI_ROW(elicit_args, "missed", TEXT, missed, .under = "call", .argument = "TEXT",
            .help = "what to call a missed positive, e.g. \"missed cancer\", or with its plural \"missed "
                    "cancer|missed cancers\""),
    CLI_ROW(elicit_args, "false-alarm", TEXT, false_alarm, .under = "call", .argument = "TEXT",
            .help = "what to call a false positive, likewise"),
    CLI_ROW(elicit_args, "show", FLAG, show, .under = "ask",
            .help = "print every question with its answer, as a person would see it"),
    { 0 }
};

const cli_option cli_elicit_file_options[] = {
    CLI_COMMON(elicit_args, "session", TEXT, session, .argument = "FILE.jsonl",
               .help = "keep the answers here, synced one by one; an existing session continues where it "
                       "stopped, and needs no space options"),
    CLI_COMMON(elicit_args, "out", OUTPUT, out, .argument = "METRIC.json",
               .help = "store the metric for score, apply and rank"),
    CLI_COMMON(elicit_args, "report", OUTPUT, report, .argument = "FILE.html",
               .help = "write a report that one can read and print"),
    CLI_ROW(elicit_args, "log-questions", OUTPUT, log_questions, .argument = "FILE.jsonl",
            .help = "write every question with both points and its answer"),
    CLI_ROW(
        elicit_args, "respondents", LIST, pool, .argument = "FILE.jsonl",
        .help =
            "ask nothing: read the sessions of several respondents (further files may follow) and print the "
            "mean of the people whom they stand for, each one's own metric, and how much they disagree"),
    { 0 }
};
