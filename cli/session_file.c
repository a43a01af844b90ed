#include "session_file.h"
#include "files.h"
#include "output.h"

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
        return cli_fail(err, MEL_EDATA, "%s: %s; a new session needs --data, --probs or --population", path,
                        strerror(errno));
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
    *out = header;
    return MEL_OK;
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

mel_status cli_session_options(mel_session_options *out, const json_t *header, const cli_space *space,
                               mel_error *err)
{
    mel_session_options_init(out);
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
    if (status != MEL_OK)
        return cli_fail_in(err, MEL_EDATA, "the session's header");
    out->tolerance = json_number_value(json_object_get(options, "tolerance"));
    out->max_questions = (uint32_t)whole(options, "max_questions", out->max_questions);
    out->repeat_every = (uint32_t)whole(options, "repeat_every", 0);
    out->three_questions = json_is_true(json_object_get(options, "three_questions"));
    const json_t *p11 = json_object_get(options, "known_p11");
    out->known_p11 = json_is_number(p11) ? json_number_value(p11) : NAN;
    out->seed = whole(header, "seed", 1);
    out->class_names = (const char *const *)space->name;
    return MEL_OK;
}

mel_status cli_session_open(mel_session **out, const cli_space *space, const mel_session_options *opt,
                            const char *path, bool read_only, mel_error *err)
{
    char *description = json_dumps(space->description, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (description == NULL)
        return cli_fail(err, MEL_ENOMEM, "not enough memory for the session's header");
    const mel_identity identity = {
        .space_json = description,
        .digest = space->digest[0] != '\0' ? space->digest : NULL,
        .read_only = read_only,
    };
    const mel_status status = mel_session_open(out, space->face, opt, &identity, path, err);
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

mel_status cli_session_report(mel_session *session, const cli_space *space, mel_report_options *opt,
                              const char *path, mel_error *err)
{
    char *typed = cli_space_typed(space->description);
    const char *table = json_string_value(json_object_get(space->description, "table"));
    char *data =
        table != NULL
            ? cli_format("%s: part of the rows trained a logistic regression, the others measured it.", table)
            : NULL;
    opt->space_options = typed;
    opt->rows = space->n_rows;
    opt->data = data;
    char *html = NULL;
    mel_status status = mel_report_session(&html, session, opt, err);
    if (status == MEL_OK)
        status = write_text(path, html, err);
    free(html);
    free(data);
    free(typed);
    return status;
}
