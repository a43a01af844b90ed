/* A session with a file: its lines are replayed into it. */
#include "elicit/header.h"
#include "elicit/session.h"

#include <math.h>

/* Points in a log are compared with the questions that the replay gives: far above rounding, far below
 * what anybody could see. */
static const double same_point = 1e-6;

/* MEL_ECONFLICT with the first coordinate in which a recorded point differs from the one asked about now. */
static mel_status compare_point(const mel_log_line *line, const char *side, const double *before,
                                const double *now, mel_error *err)
{
    for (size_t i = 0; i < line->size; i++)
        if (!(fabs(before[i] - now[i]) <= same_point))
            return mel_fail(err, MEL_ECONFLICT,
                            "question %u was about another pair: %s[%zu] was %.6g, now it would be %.6g: the "
                            "data, the model or the version have changed",
                            line->question, side, i, before[i], now[i]);
    return MEL_OK;
}

static mel_status replay_answer(mel_session *session, const mel_log_line *line, mel_error *err)
{
    if (line->question != session->n_entries + 1)
        return mel_fail(err, MEL_EDATA,
                        "answers question %u, but question %zu comes next: lines are missing or out of order",
                        line->question, session->n_entries + 1);
    mel_status status = mel_session_propose(session, err);
    if (status != MEL_OK)
        return status;
    if (!session->asked && session->end == MEL_END_BUDGET)
        return mel_fail(err, MEL_ECONFLICT, "the file has more answers than the %u questions allowed now",
                        session->options.values.max_questions);
    if (!session->asked)
        return mel_fail(err, MEL_EDATA, "answers question %u, but the session was complete before it",
                        line->question);
    if (line->a != NULL) {
        status = compare_point(line, "a", line->a, session->pending.a, err);
        if (status == MEL_OK)
            status = compare_point(line, "b", line->b, session->pending.b, err);
        if (status != MEL_OK)
            return status;
    }
    return mel_session_accept(session, line->answer, line->seconds, err);
}

static mel_status replay_line(void *user, const mel_log_line *line, mel_error *err)
{
    mel_session *session = user;
    if (!line->undo)
        return replay_answer(session, line, err);
    if (session->n_entries == 0 || line->question != session->n_entries)
        return mel_fail(err, MEL_EDATA, "takes back question %u, but the last answered one is %zu",
                        line->question, session->n_entries);
    mel_engine *fresh = NULL;
    const mel_status status = mel_session_rebuild(&fresh, session, session->n_entries - 1, err);
    if (status == MEL_OK)
        mel_session_adopt(session, fresh, session->n_entries - 1);
    return status;
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
    const char *unread[MEL_MOST_UNREAD];
    mel_options_unread(unread, opt, domain);
    status = mel_header_make(&header, opt, domain->face != NULL ? NULL : &session->layout, identity, err);
    if (status == MEL_OK)
        status = mel_log_open(&session->log, path, identity != NULL && identity->read_only, header, unread,
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
