#include "session_file.h"
#include "files.h"
#include "output.h"
#include "session_paths.h"

#include "melicit/rank.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_HEADER = 1 << 20 };

mel_status cli_session_header(json_t **out, const char *path, mel_error *err)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return cli_fail(err, MEL_EDATA, "%s: %s; a new session needs --data, --probs, --population or --ball",
                        path, strerror(errno));
    char *line = cli_alloc_zero(MAX_HEADER, 1);
    const bool read = fgets(line, MAX_HEADER, file) != NULL;
    fclose(file);
    json_error_t bad;
    json_t *header = read ? json_loads(line, JSON_REJECT_DUPLICATES, &bad) : NULL;
    free(line);
    const char *format = json_string_value(json_object_get(header, "format"));
    if (format == NULL || strcmp(format, "melicit-session") != 0) {
        json_decref(header);
        return cli_fail(err, MEL_EDATA, "%s, line 1: not the header of a session", path);
    }
    cli_paths_from_session(json_object_get(header, "space"), path);
    *out = header;
    return MEL_OK;
}

/* Answers that stand in a session file: whole lines after the header, without those taken back. */
static uint32_t count_answers(const char *path)
{
    static const char undo[] = "{\"undo\"";
    FILE *file = fopen(path, "rb");
    char start[sizeof undo - 1];
    size_t at = 0, lines = 0, answers = 0;
    for (int c = file != NULL ? getc(file) : EOF; c != EOF; c = getc(file)) {
        if (c != '\n') {
            if (at < sizeof start)
                start[at] = (char)c;
            at++;
            continue;
        }
        const bool back = at >= sizeof start && memcmp(start, undo, sizeof start) == 0;
        if (lines++ > 0)
            answers = !back ? answers + 1 : answers > 0 ? answers - 1 : 0;
        at = 0;
    }
    if (file != NULL)
        (void)fclose(file);
    return answers < UINT32_MAX ? (uint32_t)answers : UINT32_MAX;
}

static const char *word(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static uint64_t whole(const json_t *object, const char *key, uint64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? (uint64_t)json_integer_value(value)
                                                                    : otherwise;
}

/* [-1, 0, 1, ...]; freed by the caller. */
static signed char *read_signs(const json_t *array, const mel_problem *space)
{
    mel_layout one = *mel_problem_layout(space);
    one.n_groups = 0;
    const size_t n = mel_layout_size(&one);
    if (!json_is_array(array) || json_array_size(array) != n)
        return NULL;
    signed char *signs = cli_alloc_zero(n, sizeof *signs);
    for (size_t i = 0; i < n; i++) {
        const json_int_t sign = json_integer_value(json_array_get(array, i));
        signs[i] = (signed char)((sign > 0) - (sign < 0));
    }
    return signs;
}

static mel_status read_words(mel_session_options *out, const json_t *header, mel_error *err)
{
    const json_t *options = json_object_get(header, "options");
    mel_status status = mel_family_parse(&out->family, word(header, "family"), err);
    if (status == MEL_OK)
        status = mel_strategy_parse(&out->strategy, word(header, "strategy"), err);
    if (status == MEL_OK)
        status = mel_direction_parse(&out->direction, word(options, "direction"), err);
    if (status == MEL_OK)
        status = mel_boundary_parse(&out->boundary, word(options, "boundary"), err);
    if (status == MEL_OK)
        status = mel_lfpm_parse(&out->lfpm, word(options, "lfpm"), err);
    if (status == MEL_OK)
        status = mel_assumption_parse(&out->assume, word(options, "assume"), err);
    return status == MEL_OK ? MEL_OK : cli_fail_in(err, MEL_EDATA, "the session's header");
}

void cli_session_memory_clear(cli_session_memory *memory)
{
    free(memory->signs);
    free(memory->pool);
    mel_metric_free(memory->prior);
    mel_metric_free(memory->known);
    *memory = (cli_session_memory){ .signs = NULL };
}

/* [[..], ..]: the classifiers whose order the session is about. */
static mel_status read_pool(mel_session_options *out, cli_session_memory *memory, const json_t *rows,
                            size_t size, mel_error *err)
{
    const size_t n = json_array_size(rows);
    memory->pool = cli_alloc_zero(n * size, sizeof *memory->pool);
    for (size_t i = 0; i < n * size; i++) {
        const json_t *row = json_array_get(rows, i / size), *value = json_array_get(row, i % size);
        if (json_array_size(row) != size || !json_is_number(value))
            return cli_fail(err, MEL_EDATA, "the session's header: pool[%zu] is not %zu numbers", i / size,
                            size);
        memory->pool[i] = json_number_value(value);
    }
    out->pool = memory->pool;
    out->n_pool = n;
    return MEL_OK;
}

static mel_status read_metric(mel_metric **out, const json_t *object, const char *name, mel_error *err)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const char *bytes = text != NULL ? text : "null";
    const mel_status status = mel_metric_load_memory(out, bytes, strlen(bytes), name, err);
    free(text);
    return status;
}

static mel_status read_prior(mel_session_options *out, cli_session_memory *memory, const json_t *prior,
                             mel_error *err)
{
    const mel_status status =
        read_metric(&memory->prior, json_object_get(prior, "metric"), "the session's prior", err);
    out->prior = memory->prior;
    out->prior_strength = json_number_value(json_object_get(prior, "strength"));
    return status;
}

/* What the session is for, and what was thought likely before it. */
static mel_status read_purpose(mel_session_options *out, cli_session_memory *memory, const json_t *options,
                               const mel_problem *space, mel_error *err)
{
    const json_t *until = json_object_get(options, "until"), *prior = json_object_get(options, "prior");
    mel_status status = MEL_OK;
    out->decisions = mel_decisions_usual();
    if (until != NULL)
        status = mel_until_parse(&out->until, word(options, "until"), err);
    if (status == MEL_OK && out->until == MEL_UNTIL_RANK)
        status = read_pool(out, memory, json_object_get(options, "pool"),
                           mel_layout_size(mel_problem_layout(space)), err);
    if (status == MEL_OK && prior != NULL)
        status = read_prior(out, memory, prior, err);
    return status;
}

/* The searches of slopes; each only where it is not as usual. */
static mel_status read_places(mel_session_options *out, cli_session_memory *memory, const json_t *options,
                              mel_error *err)
{
    const json_t *known = json_object_get(options, "known");
    mel_status status = MEL_OK;
    if (json_object_get(options, "local") != NULL)
        status = mel_local_parse(&out->local, word(options, "local"), err);
    if (status == MEL_OK && json_object_get(options, "solve") != NULL)
        status = mel_join_parse(&out->join, word(options, "solve"), err);
    if (status != MEL_OK)
        return cli_fail_in(err, MEL_EDATA, "the session's header");
    out->inner_radius = json_number_value(json_object_get(options, "inner_radius"));
    out->diagonal_b = json_is_true(json_object_get(options, "diagonal_b"));
    out->equal_pairs = json_is_true(json_object_get(options, "equal_pairs"));
    out->ask_trade_off = json_is_true(json_object_get(options, "ask_trade_off"));
    out->known_costs_only = json_is_true(json_object_get(options, "known_costs_only"));
    if (known == NULL)
        return MEL_OK;
    status = read_metric(&memory->known, known, "the session's known metric", err);
    out->known = memory->known;
    return status;
}

mel_status cli_session_options(mel_session_options *out, cli_session_memory *memory, const json_t *header,
                               const char *path, const mel_problem *space, mel_error *err)
{
    *memory = (cli_session_memory){ .signs = NULL };
    mel_session_options_init(out);
    const json_t *options = json_object_get(header, "options");
    mel_status status = read_words(out, header, err);
    if (status == MEL_OK)
        status = read_places(out, memory, options, err);
    if (status != MEL_OK)
        return status;
    out->tolerance = json_number_value(json_object_get(options, "tolerance"));
    const uint32_t answers = count_answers(path); /* the budget may have been raised later on */
    out->max_questions = (uint32_t)whole(options, "max_questions", out->max_questions);
    if (out->max_questions < answers)
        out->max_questions = answers;
    out->degree = (uint32_t)whole(options, "degree", out->degree);
    out->repeat_every = (uint32_t)whole(options, "repeat_every", 0);
    out->per_round = json_is_true(json_object_get(options, "three_questions")) /* its name once */
                         ? 3
                         : (uint32_t)whole(options, "per_round", out->per_round);
    out->cycles = (uint32_t)whole(options, "cycles", out->cycles);
    out->first_angle_first = json_is_true(json_object_get(options, "first_angle_first"));
    out->tournament = json_is_true(json_object_get(options, "tournament"));
    out->simple_questions = json_is_true(json_object_get(options, "simple_questions"));
    const json_t *p11 = json_object_get(options, "known_p11");
    out->known_p11 = json_is_number(p11) ? json_number_value(p11) : NAN;
    out->seed = whole(header, "seed", 1);
    out->class_names = space->class_name;
    out->group_names = space->n_groups > 1 ? space->group_name : NULL;
    memory->signs = read_signs(json_object_get(options, "signs"), space);
    out->signs = memory->signs;
    mel_session_options_settle(out, &space->domain); /* once, headers kept options that nothing reads */
    return read_purpose(out, memory, options, space, err);
}

mel_status cli_session_refuse_data(mel_error *err, mel_status status, const char *path)
{
    char *why = cli_format("%s", err->text);
    (void)cli_fail(err, status,
                   "%s is about data that cannot be read: %s; if it was moved, say where it is (--data, ...)",
                   path, why);
    free(why);
    return status;
}

void cli_opened_clear(cli_opened *opened)
{
    mel_session_free(opened->session);
    mel_problem_free(opened->space);
    json_decref(opened->header);
    *opened = (cli_opened){ .header = NULL };
}

mel_status cli_opened_make(cli_opened *out, const char *path, const mel_problem_options *given, cli_run *run,
                           mel_error *err)
{
    *out = (cli_opened){ .header = NULL };
    mel_status status = cli_session_header(&out->header, path, err);
    if (status != MEL_OK)
        return status;
    const json_t *seed = json_object_get(out->header, "seed");
    if (json_is_integer(seed)) /* the split of the data depends on it */
        run->seed = (uint64_t)json_integer_value(seed);
    mel_problem_options from_file, other = MEL_PROBLEM_DEFAULTS;
    status = mel_problem_from_json(&from_file, json_object_get(out->header, "space"), err);
    if (given != NULL) {
        other = *given;
        other.found_radius = from_file.found_radius;
    }
    mel_family family = MEL_FAMILY_LINEAR;
    if (status == MEL_OK)
        status = mel_family_parse(&family, word(out->header, "family"), err);
    const mel_problem_want want = mel_want_of_family(family);
    const bool replaced = given != NULL && mel_problem_inputs(given) != 0;
    if (status == MEL_OK)
        status = cli_space_make(&out->space, replaced ? &other : &from_file, &want, run, err);
    mel_problem_options_clear(&from_file);
    if (status == MEL_EDATA && !replaced)
        return cli_session_refuse_data(err, status, path);
    mel_session_options opt;
    cli_session_memory memory = { 0 };
    if (status == MEL_OK)
        status = cli_session_options(&opt, &memory, out->header, path, out->space, err);
    if (status == MEL_OK)
        status = cli_session_open(&out->session, out->space, &opt, path, true, err);
    cli_session_memory_clear(&memory);
    return status;
}

mel_status cli_session_open(mel_session **out, const mel_problem *space, const mel_session_options *opt,
                            const char *path, bool read_only, mel_error *err)
{
    json_t *object = cli_paths_for_session(space->description, path);
    char *description = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(object);
    if (description == NULL)
        return cli_fail(err, MEL_ENOMEM, "not enough memory for the session's header");
    const mel_identity identity = {
        .space_json = description,
        .digest = space->digest[0] != '\0' ? space->digest : NULL,
        .read_only = read_only,
    };
    const mel_status status = mel_session_open(out, &space->domain, opt, &identity, path, err);
    free(description);
    return status;
}

static mel_status write_text(const char *path, const char *text, mel_error *err)
{
    cli_out out;
    mel_status status = cli_out_open(&out, path, err);
    if (status != MEL_OK)
        return status;
    if (fputs(text, out.stream) == EOF) {
        status = cli_out_failed(&out, err);
        cli_out_abandon(&out);
        return status;
    }
    return cli_out_commit(&out, err);
}

mel_status cli_session_report(mel_session *session, const mel_problem *space, mel_report_options *opt,
                              const char *path, mel_error *err)
{
    const char *table = json_string_value(json_object_get(space->description, "table"));
    char *data =
        table != NULL
            ? cli_format("%s: part of the rows trained a logistic regression, the others measured it.", table)
            : NULL;
    opt->space_options = space->typed;
    opt->data = data;
    char *html = NULL;
    mel_status status = mel_report_session(&html, session, opt, err);
    if (status == MEL_OK)
        status = write_text(path, html, err);
    free(html);
    free(data);
    return status;
}
