/* From the options of melicit elicit to those of a session. */
#include "elicit/shared.h"
#include "elicit_args.h"
#include "oracle/shared.h"
#include "output.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mel_status cli_oracle_of(cli_oracle_kind *out, const char *text, mel_error *err)
{
    if (strcmp(text, "ask") == 0)
        *out = CLI_ASK;
    else if (strncmp(text, "sim:", 4) == 0 && text[4] != '\0')
        *out = CLI_SIMULATED;
    else if (strncmp(text, "cmd:", 4) == 0 && text[4] != '\0')
        *out = CLI_COMMAND;
    else
        return cli_fail(err, MEL_EINVAL, "--oracle %s: expected ask, sim:METRIC.json or cmd:PROGRAM", text);
    return MEL_OK;
}

/* --- family ------------------------------------------------------------------------------------- */

static const char *family_name(const void *user, size_t i)
{
    (void)user;
    const mel_family_facts *family = mel_family_about((mel_family)i);
    return family == NULL ? NULL : family->example != NULL ? family->example : family->name;
}

/* "linear, ..., polynomial:D with D from 2 to 9", for the caller to free(). */
static char *family_list(void)
{
    char *list = cli_format("%s", "");
    const mel_family_facts *family = mel_family_about((mel_family)0);
    for (size_t i = 0; family != NULL; family = mel_family_about((mel_family)++i)) {
        const char *comma = i > 0 ? ", " : "";
        char *longer = family->degree > 0 ? cli_format("%s%s%s", list, comma, family->name)
                                          : cli_format("%s%s%s:D with D from %d to %d", list, comma,
                                                       family->name, MEL_MIN_DEGREE, MEL_MAX_DEGREE);
        free(list);
        list = longer;
    }
    return list;
}

/* Whether the text begins with a family that is written with its degree: only the degree is wrong. */
static bool has_degree(const char *text)
{
    const size_t n = strcspn(text, ":");
    const mel_family_facts *family = mel_family_about((mel_family)0);
    for (size_t i = 0; text[n] == ':' && family != NULL; family = mel_family_about((mel_family)++i))
        if (family->degree == 0 && strlen(family->name) == n && strncmp(text, family->name, n) == 0)
            return true;
    return false;
}

static mel_status refuse_family(const char *text, mel_error *err)
{
    const char *near = has_degree(text) ? NULL : mel_nearest(text, family_name, NULL);
    char *list = family_list();
    (void)cli_fail(err, MEL_EINVAL, "--family %s: expected one of %s%s%s%s", text, list,
                   near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    free(list);
    return MEL_EINVAL;
}

mel_status cli_family_of(mel_session_options *opt, const elicit_args *args, const json_t *header,
                         mel_error *err)
{
    const char *given = cli_text_of(args, "family");
    if (given != NULL)
        return mel_session_options_set(opt, "family", given, err) == MEL_OK ? MEL_OK
                                                                            : refuse_family(given, err);
    return header != NULL ? cli_header_family(&opt->family, header, err) : MEL_OK;
}

static bool is_assumed(const elicit_args *args)
{
    return strcmp(cli_text_of(args, "assume"), "auto") != 0;
}

/* --- options that bring files or memory --------------------------------------------------------- */

/* The pool of --until rank:POOL; NULL: none. The other words of --until are the library's. */
static const char *ranked_pool(const elicit_args *args)
{
    const char *until = cli_text_of(args, "until");
    return until != NULL && strncmp(until, "rank:", 5) == 0 && until[5] != '\0' ? until + 5 : NULL;
}

static mel_status read_ranked(cli_settings *out, const char *path, const elicit_args *args,
                              const mel_problem *space, const cli_run *run, mel_error *err)
{
    mel_session_options *opt = &out->options;
    const mel_pool_about about = { .layout = *mel_problem_layout(space),
                                   .class_name = (const char *const *)space->classes.name,
                                   .label = (const char *const *)space->classes.label,
                                   .group_name = space->group_name,
                                   .prevalence = space->face != NULL ? mel_face_positives(space->face) : NAN,
                                   .only_if_needed = true };
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    MEL_AUTO_CLEAR(mel_pool) pool = { 0 };
    TRY(cli_reader_init(&reader, &args->space.dataset.reading, run, err));
    TRY(mel_pool_read(&pool, path, &about, &reader.options, err));
    TRY(cli_reader_check(&reader, &args->space.dataset.reading, run, err));

    out->pool = cli_alloc_zero(pool.n * pool.size, sizeof *pool.value);
    memcpy(out->pool, pool.value, pool.n * pool.size * sizeof *pool.value);
    opt->until = MEL_UNTIL_RANK;
    opt->n_pool = pool.n;
    opt->pool = out->pool;
    return MEL_OK;
}

/* A metric of the space's statistics. */
static mel_status load_metric(mel_metric **out, const char *file, const mel_problem *space, cli_run *run,
                              mel_error *err)
{
    const cli_about about = cli_space_about(space, run);
    TRY(cli_load_metric(out, file, err));
    return cli_match_metric(out, file, mel_problem_layout(space), &about, err);
}

/* "METRIC.json:25" */
static mel_status load_prior(cli_settings *out, const char *text, const mel_problem *space, cli_run *run,
                             mel_error *err)
{
    char *file = NULL;
    const mel_status status = mel_prior_parse(&file, &out->options.prior_strength, text, err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "--known prior=%s", text);
    const mel_status loaded = load_metric(&out->prior, file, space, run, err);
    free(file);
    out->options.prior = out->prior;
    return loaded;
}

static mel_status load_known(cli_settings *out, const elicit_args *args, const mel_problem *space,
                             cli_run *run, mel_error *err)
{
    const char *known = cli_text_of(args, "known");
    if (known != NULL && args->known_costs != NULL)
        return cli_fail(err, MEL_EINVAL,
                        "--known METRIC.json and --known costs=METRIC.json: one metric is known, not two");
    const mel_status status =
        load_metric(&out->known, known != NULL ? known : args->known_costs, space, run, err);
    out->options.known = out->known;
    out->options.known_costs_only = args->known_costs != NULL;
    return status;
}

/* --- all of them -------------------------------------------------------------------------------- */

/* What suits who answers and what is asked about. */
static mel_status set_usual(mel_session_options *opt, const elicit_args *args, const mel_problem *space,
                            cli_oracle_kind kind, mel_error *err)
{
    static const mel_answered_by who[] = {
        [CLI_ASK] = MEL_BY_PERSON, [CLI_SIMULATED] = MEL_BY_METRIC, [CLI_COMMAND] = MEL_BY_PROGRAM
    };
    mel_noise noise;
    mel_status status = mel_noise_parse(&noise, args->noise, err);
    if (status != MEL_OK)
        return status;
    status = mel_session_options_suit(opt, &space->domain, who[kind], is_assumed(args) ? NULL : &noise,
                                      (uint32_t)args->votes, err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "--noise %s", args->noise);
    return MEL_OK;
}

/* Options whose values bring files or memory, and --assume with its auto. */
static mel_status set_own(cli_settings *out, const elicit_args *args, const mel_problem *space, cli_run *run,
                          mel_error *err)
{
    const char *signs = cli_text_of(args, "signs"), *prior = cli_text_of(args, "prior");
    mel_status status = MEL_OK;
    if (is_assumed(args))
        status = mel_assumption_parse(&out->options.assume, cli_text_of(args, "assume"), err);
    if (status == MEL_OK && signs != NULL) {
        status = mel_signs_parse(&out->signs, mel_problem_layout(space), signs, err);
        out->options.signs = out->signs;
        if (status != MEL_OK)
            return mel_fail_in(err, status, "--known signs=%s", signs);
    }
    if (status == MEL_OK && ranked_pool(args) != NULL)
        status = read_ranked(out, ranked_pool(args), args, space, run, err);
    if (status == MEL_OK && prior != NULL)
        status = load_prior(out, prior, space, run, err);
    if (status == MEL_OK && (cli_text_of(args, "known") != NULL || args->known_costs != NULL))
        status = load_known(out, args, space, run, err);
    return status;
}

/* An option that was not given stays as it was. One that differs from the session's is refused when that is
 * opened. */
static mel_status overlay(mel_session_options *out, const elicit_args *args, mel_error *err)
{
    size_t n;
    const mel_option *rows = mel_option_table(&n);
    for (size_t i = 0; i < n; i++)
        if (args->given[i] != NULL && rows[i].type <= MEL_OPTION_WORD &&
            (strcmp(rows[i].key, "until") != 0 || ranked_pool(args) == NULL))
            TRY(mel_session_options_set(out, rows[i].key, args->given[i], err));
    return MEL_OK;
}

static void note_strategy(const mel_session_options *opt, const elicit_args *args, cli_run *run)
{
    if (opt->strategy == MEL_STRATEGY_SEARCH && cli_text_of(args, "strategy") == NULL)
        cli_note(run, "only the thesis' search finds %s metrics: this is --strategy search",
                 mel_family_name(opt->family));
}

static mel_status fill(cli_settings *out, const elicit_args *args, const json_t *header,
                       const mel_problem *space, cli_run *run, mel_error *err)
{
    mel_session_options *opt = &out->options;
    cli_oracle_kind kind = CLI_ASK;
    TRY(cli_oracle_of(&kind, args->oracle, err));
    if (header != NULL) {
        TRY(mel_session_options_read(&out->stored, args->session, &space->domain, err));
        *opt = *out->stored;
    }
    TRY(cli_family_of(opt, args, header, err));
    TRY(overlay(opt, args, err)); /* the strategy decides what is usual */
    if (header == NULL) {
        TRY(set_usual(opt, args, space, kind, err));
        TRY(overlay(opt, args, err));
        note_strategy(opt, args, run);
    }
    TRY(set_own(out, args, space, run, err));
    opt->seed = run->seed;
    cli_session_names(opt, space);
    return MEL_OK;
}

mel_status cli_settings_make(cli_settings *out, const elicit_args *args, const json_t *header,
                             const mel_problem *space, cli_run *run, mel_error *err)
{
    *out = (cli_settings){ .stored = NULL };
    mel_session_options_init(&out->options);
    const mel_status status = fill(out, args, header, space, run, err);
    if (status != MEL_OK)
        cli_settings_clear(out);
    return status;
}

void cli_settings_clear(cli_settings *settings)
{
    mel_session_options_free(settings->stored);
    free(settings->signs);
    free(settings->pool);
    mel_metric_free(settings->prior);
    mel_metric_free(settings->known);
    *settings = (cli_settings){ .stored = NULL };
}

/* --- those of a session come from the library's table --- */

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
