/* How precise a session was after each of its answers. */
#include "elicit/shared.h"
#include "outcome/outcome.h"

#include <math.h>
#include <stdlib.h>

static mel_status radius_now(double *out, mel_session *session, mel_error *err)
{
    mel_metric *metric = NULL;
    mel_summary summary;
    const mel_status status = mel_session_result(&metric, &summary, session, err);
    if (status == MEL_OK)
        *out = summary.radius;
    mel_metric_free(metric);
    return status;
}

/* Answers again from the beginning: the same answers give the same questions. */
static mel_status replay(double *radius, mel_session *again, const mel_session *session, mel_error *err)
{
    mel_status status = radius_now(&radius[0], again, err);
    for (uint32_t i = 0; i < mel_session_answers(session) && status == MEL_OK; i++) {
        const mel_question *question = NULL;
        bool done = false;
        status = mel_session_ask(&question, &done, again, err);
        if (status == MEL_OK && done)
            return mel_fail(err, MEL_ESTATE, "the session ends after %u answers when replayed", i);
        if (status == MEL_OK)
            status =
                mel_session_tell(again, question->number, mel_session_record(session, i).answer, NAN, err);
        if (status == MEL_OK)
            status = radius_now(&radius[i + 1], again, err);
    }
    return status;
}

mel_status mel_outcome_radii(double **out, size_t *n, const mel_session *session, mel_error *err)
{
    const mel_session_options *opt = mel_session_get_options(session);
    const size_t most = (size_t)mel_session_answers(session) + 1;
    mel_session *again = NULL;
    *out = NULL;
    *n = 0;
    if (opt->strategy != MEL_STRATEGY_ACTIVE)
        return MEL_OK;
    double *radius = mel_alloc(most, sizeof *radius);
    if (radius == NULL)
        return mel_fail_memory(err, "the radius after each question");
    mel_status status = mel_session_new(&again, mel_session_domain(session), opt, err);
    if (status == MEL_OK)
        status = replay(radius, again, session, err);
    mel_session_free(again);
    if (status != MEL_OK) {
        free(radius);
        return status;
    }
    *out = radius;
    *n = most;
    for (size_t i = 0; i < most; i++)
        if (!(radius[i] > 0.0) || !isfinite(radius[i]))
            *n = 0;
    return MEL_OK;
}
