/* From the options of melicit elicit to those of a session. */
#include "elicit_args.h"
#include "metric_file.h"
#include "numbers.h"
#include "output.h"
#include "pool.h"
#include "session_file.h"

#include "melicit/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A search asks what its procedure asks, however much that is; the active strategy needs about five
 * questions per coefficient without noise, and several times as many with it. */
enum {
    PERSON_QUESTIONS = 20,
    USUAL_REPEATS = 6,
    PROGRAM_QUESTIONS = 200,
    SEARCH_QUESTIONS = 1000000,
    PER_COEFFICIENT = 50
};

const elicit_args cli_elicit_defaults = {
    .space = MEL_PROBLEM_DEFAULTS,
    .tolerance = 0.02,
    .known_p11 = -1.0,
    .oracle = "ask",
    .noise = "none",
    .assume = "auto",
    .repeat_every = UINT64_MAX,
    .votes = 1,
};

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

static mel_status refuse_family(const char *text, mel_error *err)
{
    const bool is_polynomial = strncmp(text, "polynomial:", 11) == 0;
    const char *near = is_polynomial ? NULL : mel_nearest(text, family_name, NULL);
    char *list = family_list();
    (void)cli_fail(err, MEL_EINVAL, "--family %s: expected one of %s%s%s%s", text, list,
                   near != NULL ? "; did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    free(list);
    return MEL_EINVAL;
}

mel_status cli_family_of(mel_family *family, uint32_t *degree, const elicit_args *args, const json_t *header,
                         mel_error *err)
{
    *family = MEL_FAMILY_LINEAR;
    *degree = 3;
    if (args->family != NULL)
        return mel_family_parse_degree(family, degree, args->family, err) == MEL_OK
                   ? MEL_OK
                   : refuse_family(args->family, err);
    if (header == NULL)
        return MEL_OK;
    const char *name = json_string_value(json_object_get(header, "family"));
    if (name == NULL || mel_family_parse(family, name, err) != MEL_OK)
        return cli_fail(err, MEL_EDATA, "the session's header names no family of metrics");
    const json_t *stored = json_object_get(json_object_get(header, "options"), "degree");
    if (json_is_integer(stored) && json_integer_value(stored) > 0 && json_integer_value(stored) < 100)
        *degree = (uint32_t)json_integer_value(stored);
    return MEL_OK;
}

/* --- noise -------------------------------------------------------------------------------------- */

/* People err; a simulated oracle errs as it is told to; both ways the engine should know. */
static mel_status assumption_of(mel_assumption *out, const elicit_args *args, cli_oracle_kind kind,
                                mel_error *err)
{
    const bool given = strcmp(args->assume, "auto") != 0;
    if (given || kind != CLI_SIMULATED)
        return mel_assumption_parse(out, given ? args->assume : "flip", err);
    mel_noise noise;
    const mel_status status = mel_noise_parse(&noise, args->noise, err);
    if (status != MEL_OK)
        return status;
    if (mel_assumption_of(out, &noise, args->votes > 1, NULL) != MEL_OK) /* a majority errs less often */
        return cli_fail(err, MEL_EINVAL,
                        "--noise %s: answers that are wrong every second time say nothing; --assume "
                        "says what to expect instead",
                        args->noise);
    return MEL_OK;
}

/* --- signs -------------------------------------------------------------------------------------- */

/* "-,-,+,?": one for each coordinate of a group. */
static mel_status parse_signs(signed char **out, const char *text, const mel_problem *space, mel_error *err)
{
    mel_layout one = *mel_problem_layout(space);
    one.n_groups = 0;
    const size_t n = mel_layout_size(&one);
    signed char *signs = cli_alloc_zero(n, sizeof *signs);
    const char *at = text;
    bool good = true;
    for (size_t i = 0; good && i < n; i++) {
        good = *at != '\0' && strchr("-+?", *at) != NULL && at[1] == (i + 1 < n ? ',' : '\0');
        signs[i] = (signed char)(*at == '-' ? -1 : *at == '+' ? 1 : 0);
        at += 2;
    }
    *out = signs;
    return good ? MEL_OK
                : cli_fail(err, MEL_EINVAL,
                           "--signs %s: expected %zu signs -, + or ? with commas between them, one per "
                           "coefficient",
                           text, n);
}

/* --- until and prior ---------------------------------------------------------------------------- */

static mel_status parse_until(cli_settings *out, const elicit_args *args, const mel_problem *space,
                              const cli_run *run, mel_error *err)
{
    mel_session_options *opt = &out->options;
    opt->decisions = mel_decisions_usual();
    if (strcmp(args->until, "threshold") == 0) {
        opt->until = MEL_UNTIL_THRESHOLD;
        return MEL_OK;
    }
    if (strncmp(args->until, "rank:", 5) != 0 || args->until[5] == '\0')
        return cli_fail(err, MEL_EINVAL, "--until %s: expected rank:POOL or threshold", args->until);
    const cli_pool_about about = { .layout = *mel_problem_layout(space),
                                   .class_name = (const char *const *)space->classes.name,
                                   .label = (const char *const *)space->classes.label,
                                   .group_name = space->group_name,
                                   .prevalence = space->face != NULL ? mel_face_positives(space->face) : NAN,
                                   .only_if_needed = true };
    mel_reader reader = { 0 };
    cli_pool pool = { 0 };
    mel_status status = cli_reader_init(&reader, &args->space.dataset.reading, run, err);
    if (status == MEL_OK)
        status = cli_pool_read(&pool, args->until + 5, &about, &reader.options, err);
    if (status == MEL_OK)
        status = cli_reader_check(&reader, &args->space.dataset.reading, run, err);
    if (status == MEL_OK) {
        free(out->memory.pool);
        out->memory.pool = cli_alloc_zero(pool.n * pool.size, sizeof *pool.value);
        memcpy(out->memory.pool, pool.value, pool.n * pool.size * sizeof *pool.value);
        opt->until = MEL_UNTIL_RANK;
        opt->n_pool = pool.n;
        opt->pool = out->memory.pool;
    }
    cli_pool_clear(&pool);
    mel_reader_clear(&reader);
    return status;
}

/* "METRIC.json:25" */
static mel_status parse_prior(cli_settings *out, const char *text, const mel_problem *space, cli_run *run,
                              mel_error *err)
{
    const char *colon = strrchr(text, ':');
    double *strength = NULL;
    size_t n = 0;
    const bool good = colon != NULL && colon != text && cli_parse_numbers(&strength, &n, colon + 1) && n == 1;
    const double s = good ? strength[0] : 0.0;
    free(strength);
    if (!(s > 0.0))
        return cli_fail(
            err, MEL_EINVAL,
            "--prior %s: expected METRIC.json:S with S above 0; the metric is thought to be within "
            "about 1/sqrt(S) radians",
            text);
    char *file = cli_format("%.*s", (int)(colon - text), text);
    mel_metric *metric = NULL;
    mel_status status = cli_load_metric(&metric, file, err);
    const cli_about about = cli_space_about(space, run);
    if (status == MEL_OK)
        status = cli_match_metric(&metric, file, mel_problem_layout(space), &about, err);
    free(file);
    if (status != MEL_OK) {
        mel_metric_free(metric);
        return status;
    }
    mel_metric_free(out->memory.prior);
    out->memory.prior = metric;
    out->options.prior = metric;
    out->options.prior_strength = s;
    return MEL_OK;
}

static mel_status load_known(cli_settings *out, const elicit_args *args, const mel_problem *space,
                             cli_run *run, mel_error *err)
{
    if (args->known != NULL && args->known_costs != NULL)
        return cli_fail(err, MEL_EINVAL, "--known and --known-costs: one metric is known, not two");
    const char *file = args->known != NULL ? args->known : args->known_costs;
    mel_metric *metric = NULL;
    mel_status status = cli_load_metric(&metric, file, err);
    const cli_about about = cli_space_about(space, run);
    if (status == MEL_OK)
        status = cli_match_metric(&metric, file, mel_problem_layout(space), &about, err);
    if (status != MEL_OK) {
        mel_metric_free(metric);
        return status;
    }
    mel_metric_free(out->memory.known);
    out->memory.known = metric;
    out->options.known = metric;
    out->options.known_costs_only = args->known_costs != NULL;
    return MEL_OK;
}

/* --- all of them -------------------------------------------------------------------------------- */

/* About how many numbers a metric of the family has: monomials of at most its degree, without the constant
 * where the degree is the family's own. */
static double coefficients(mel_family family, uint32_t degree, const mel_layout *layout)
{
    const mel_family_facts *is = mel_family_about(family);
    const double n = (double)mel_layout_size(layout);
    if (is->ratio)
        return 2.0 * n;
    if (is->groups && is->degree == 1)
        return n * (double)(layout->n_groups > 1 ? layout->n_groups : 1);
    double all = 1.0;
    const uint32_t highest = is->degree > 0 ? is->degree : degree;
    for (uint32_t d = 1; d <= highest; d++)
        all *= (n + d) / d;
    return is->degree > 0 ? all - 1.0 : all;
}

static uint32_t usual_budget(const mel_session_options *opt, const mel_problem *space, bool person)
{
    if (opt->strategy == MEL_STRATEGY_SEARCH)
        return SEARCH_QUESTIONS;
    if (person)
        return PERSON_QUESTIONS;
    const double enough = PER_COEFFICIENT * coefficients(opt->family, opt->degree, mel_problem_layout(space));
    return enough > SEARCH_QUESTIONS    ? SEARCH_QUESTIONS
           : enough > PROGRAM_QUESTIONS ? (uint32_t)enough
                                        : PROGRAM_QUESTIONS;
}

/* An option that was not given stays as it was. One that differs from the session's is refused when that is
 * opened. */
static void overlay(mel_session_options *out, const elicit_args *args, const cli_run *run)
{
    const elicit_args *usual = &cli_elicit_defaults;
    if (args->strategy != usual->strategy)
        out->strategy = (mel_strategy)args->strategy;
    if (args->direction != usual->direction)
        out->direction = (mel_direction)args->direction;
    if (args->boundary != usual->boundary)
        out->boundary = (mel_boundary)args->boundary;
    if (args->lfpm != usual->lfpm)
        out->lfpm = (mel_lfpm)args->lfpm;
    if (args->local != usual->local)
        out->local = (mel_local)args->local;
    if (args->solve != usual->solve)
        out->join = (mel_join)args->solve;
    if (args->inner_radius != 0.0)
        out->inner_radius = args->inner_radius;
    out->diagonal_b = out->diagonal_b || args->diagonal_b;
    out->equal_pairs = out->equal_pairs || args->equal_pairs;
    out->ask_trade_off = out->ask_trade_off || args->ask_trade_off;
    if (args->three_questions || args->per_round != 0)
        out->per_round = args->per_round != 0 ? (uint32_t)args->per_round : 3;
    if (args->cycles != 0)
        out->cycles = (uint32_t)args->cycles;
    out->first_angle_first = out->first_angle_first || args->first_angle_first;
    out->tournament = out->tournament || args->tournament;
    out->simple_questions = out->simple_questions || args->simple_questions;
    if (args->known_p11 >= 0.0)
        out->known_p11 = args->known_p11;
    if (args->tolerance != usual->tolerance)
        out->tolerance = args->tolerance;
    if (args->repeat_every != UINT64_MAX)
        out->repeat_every = (uint32_t)args->repeat_every;
    out->seed = run->seed;
}

static mel_status fill(cli_settings *out, const elicit_args *args, const json_t *header,
                       const mel_problem *space, cli_run *run, mel_error *err)
{
    mel_session_options *opt = &out->options;
    cli_oracle_kind kind = CLI_ASK;
    mel_status status = cli_oracle_of(&kind, args->oracle, err);
    if (status == MEL_OK && header != NULL)
        status = cli_session_options(opt, &out->memory, header, args->session, space, err);
    if (status == MEL_OK)
        status = cli_family_of(&opt->family, &opt->degree, args, header, err);
    if (status == MEL_OK && (header == NULL || strcmp(args->assume, cli_elicit_defaults.assume) != 0))
        status = assumption_of(&opt->assume, args, kind, err);
    if (status == MEL_OK && args->signs != NULL) {
        free(out->memory.signs);
        out->memory.signs = NULL;
        status = parse_signs(&out->memory.signs, args->signs, space, err);
    }
    if (status == MEL_OK && args->until != NULL)
        status = parse_until(out, args, space, run, err);
    if (status == MEL_OK && args->prior != NULL)
        status = parse_prior(out, args->prior, space, run, err);
    if (status == MEL_OK && (args->known != NULL || args->known_costs != NULL))
        status = load_known(out, args, space, run, err);
    if (status != MEL_OK)
        return status;
    if (header == NULL) {
        opt->repeat_every = kind != CLI_SIMULATED ? USUAL_REPEATS : 0;
        opt->simple_questions = kind == CLI_ASK && space->face == NULL && !args->no_simple_questions &&
                                args->strategy == (int)MEL_STRATEGY_ACTIVE;
        opt->tolerance = cli_elicit_defaults.tolerance;
    }
    overlay(opt, args, run);
    if (args->max_questions != 0)
        opt->max_questions = (uint32_t)args->max_questions;
    else if (header == NULL)
        opt->max_questions = usual_budget(opt, space, kind == CLI_ASK);
    opt->signs = out->memory.signs;
    opt->class_names = space->class_name;
    opt->group_names = space->n_groups > 1 ? space->group_name : NULL;
    return MEL_OK;
}

mel_status cli_settings_make(cli_settings *out, const elicit_args *args, const json_t *header,
                             const mel_problem *space, cli_run *run, mel_error *err)
{
    *out = (cli_settings){ .memory = { .signs = NULL } };
    mel_session_options_init(&out->options);
    const mel_status status = fill(out, args, header, space, run, err);
    if (status != MEL_OK)
        cli_settings_clear(out);
    return status;
}

void cli_settings_clear(cli_settings *settings)
{
    cli_session_memory_clear(&settings->memory);
}
