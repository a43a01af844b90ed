/* A session and its file: the lines of a file are replayed into it, and it is written as the text of one. */
#include "base/buffer.h"
#include "base/json.h"
#include "elicit/header.h"
#include "elicit/session.h"
#include "elicit/shared.h"

#include <math.h>

enum { MOST_TEXT = 1 << 26 };

static mel_status replay_answer(mel_session *session, const mel_log_line *line, mel_error *err)
{
    if (line->question != session->n_entries + 1)
        return mel_fail(err, MEL_EDATA,
                        "answers question %u, but question %zu comes next: lines are missing or out of order",
                        line->question, session->n_entries + 1);
    return mel_session_replay(session, &line->said, err);
}

static mel_status replay_line(void *user, const mel_log_line *line, mel_error *err)
{
    mel_session *session = user;
    const mel_status wanted = mel_report_progress(&session->domain.progress, "replaying answers", 0.0, err);
    if (wanted != MEL_OK)
        return wanted;
    if (!line->undo)
        return replay_answer(session, line, err);
    if (session->n_entries == 0 || line->question != session->n_entries)
        return mel_fail(err, MEL_EDATA, "takes back question %u, but the last answered one is %zu",
                        line->question, session->n_entries);
    mel_engine *fresh = NULL;
    TRY(mel_session_rebuild(&fresh, session, session->n_entries - 1, err));
    mel_session_adopt(session, fresh, session->n_entries - 1);
    return MEL_OK;
}

mel_status mel_session_open(mel_session **out, const mel_domain *domain, const mel_session_options *opt,
                            const mel_identity *identity, const char *path, mel_error *err)
{
    *out = NULL;
    mel_session *session = NULL;
    mel_status status = mel_session_new(&session, domain, opt, err);
    if (status != MEL_OK)
        return status;
    json_t *header = NULL;
    status = mel_header_make(&header, &session->options.values,
                             domain->face != NULL ? NULL : &session->layout, identity, err);
    if (status == MEL_OK)
        status = mel_log_open(&session->log, path, identity != NULL && identity->read_only, header,
                              session->size, replay_line, session, err);
    json_decref(header);
    if (status != MEL_OK) {
        mel_session_free(session);
        return status;
    }
    *out = session;
    return MEL_OK;
}

bool mel_session_repaired(const mel_session *session)
{
    return session->log != NULL && mel_log_repaired(session->log);
}

/* --- a session as the text of a file ------------------------------------------------------------ */

/* Takes the object over; without memory the buffer fails. */
static void add_line(mel_buffer *text, json_t *object)
{
    char *line = object != NULL ? mel_json_text(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    if (line != NULL)
        mel_buffer_printf(text, "%s\n", line);
    else
        text->status = MEL_ENOMEM;
    mel_json_free_text(line);
}

mel_log_line mel_session_log_line(const mel_session *session, size_t index)
{
    return (mel_log_line){ .question = (uint32_t)index + 1,
                           .said = mel_session_record(session, (uint32_t)index),
                           .size = session->size,
                           .layout = &session->layout,
                           .class_share = mel_session_class_share(session),
                           .pool = session->domain.pool };
}

static json_t *line_of(const mel_session *session, uint32_t index, bool timed)
{
    mel_log_line line = mel_session_log_line(session, index);
    if (!timed)
        line.said.seconds = NAN;
    return mel_log_line_json(&line, NULL);
}

static mel_status take_text(char **out, mel_buffer *text, mel_error *err)
{
    *out = mel_buffer_take(text);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "the session's file");
}

mel_status mel_session_to_text(char **out, const mel_session *session, const mel_identity *identity,
                               mel_error *err)
{
    *out = NULL;
    json_t *header = NULL;
    const mel_status status =
        mel_header_make(&header, mel_session_get_options(session),
                        session->domain.face != NULL ? NULL : &session->layout, identity, err);
    if (status != MEL_OK)
        return status;
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_line(&text, header);
    for (uint32_t i = 0; i < mel_session_answers(session); i++)
        add_line(&text, line_of(session, i, true));
    return take_text(out, &text, err);
}

mel_status mel_session_line(char **out, const mel_session *session, uint32_t index, mel_error *err)
{
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_line(&text, line_of(session, index, false));
    return take_text(out, &text, err);
}

/* --- what a file says --------------------------------------------------------------------------- */

mel_status mel_session_header(char **out, const char *path, mel_error *err)
{
    json_t *header = NULL;
    uint32_t answers = 0;
    *out = NULL;
    TRY(mel_log_peek(&header, &answers, path, err));
    mel_buffer text;
    mel_buffer_init(&text, MOST_TEXT);
    add_line(&text, header);
    return take_text(out, &text, err);
}

mel_status mel_session_options_read(mel_session_options **out, const char *path, const mel_domain *domain,
                                    mel_error *err)
{
    json_t *header = NULL;
    uint32_t answers = 0;
    *out = NULL;
    mel_status status = mel_log_peek(&header, &answers, path, err);
    if (status != MEL_OK)
        return status;
    mel_kept_options *kept = mel_alloc_zero(1, sizeof *kept);
    if (kept == NULL)
        status = mel_fail_memory(err, "the session's options");
    else
        status = mel_header_options(kept, header, mel_domain_layout(domain), err);
    json_decref(header);
    if (status != MEL_OK) {
        mel_session_options_free(kept != NULL ? &kept->values : NULL);
        return status == MEL_ENOMEM ? status : mel_fail_in(err, status, "%s", path);
    }
    if (kept->values.max_questions < answers) /* the budget was raised later on */
        kept->values.max_questions = answers;
    *out = &kept->values;
    return MEL_OK;
}
