/* Links that show somebody's result to others, read-only, and let them answer the same questions. */
#include "app.h"

#include "json_helpers.h"
#include "manage.h"
#include "result.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* No study has such an id: what proves a link of ours is no personal link of a study. */
#define SHARED "shared result"

/* Whether the proof is that of the participant's link; then whose row it is, for the caller to clear. False
 * with the answer set. */
static bool find_shared(mel_participant_row *row, mel_call *call, const char *id, const char *proof)
{
    char right[MEL_LINK_TEXT];
    *row = (mel_participant_row){ .label = NULL };
    if (id != NULL && proof != NULL && strlen(id) < MEL_ID_TEXT) {
        mel_link_of(right, SHARED, id, call->app);
        const bool good = strlen(proof) == strlen(right) && sodium_memcmp(proof, right, strlen(right)) == 0;
        const mel_status status =
            good ? mel_store_participant(row, call->app->store, id, &call->err) : MEL_EINVAL;
        if (status == MEL_OK && strcmp(row->study, MEL_NO_STUDY) == 0)
            return true;
        if (status == MEL_OK)
            mel_participant_row_clear(row);
        if (status != MEL_OK && status != MEL_EINVAL) {
            mel_call_finish(call, status, NULL);
            return false;
        }
    }
    mel_call_wrong_token(call, "wrong-link", "this link shows no result, or the result was deleted");
    return false;
}

void mel_api_share(mel_call *call)
{
    json_t *body = mel_call_own_body(call, call->cookie);
    mel_participant *participant = body != NULL ? mel_call_take_for_result(call) : NULL;
    if (participant != NULL) {
        char proof[MEL_LINK_TEXT], path[MEL_ID_TEXT + MEL_LINK_TEXT + 8];
        const bool own = mel_is_own(participant);
        mel_link_of(proof, SHARED, participant->row.id, call->app);
        (void)snprintf(path, sizeof path, "/r/%s/%s", participant->row.id, proof);
        mel_participant_release(call->app->cache, participant, true);
        if (own)
            mel_call_json(call, json_pack("{s:s}", "path", path));
        else
            mel_call_error(call, 403, "not-now", "results of studies are not shared", NULL);
    }
    json_decref(body);
}

/* The link gives no rows away. */
static bool is_private(const json_t *about)
{
    const char *upload[MEL_SPACE_FILES];
    return mel_own_uploads(upload, about) > 0;
}

static mel_status shared_json(json_t **out, mel_participant *participant, mel_error *err)
{
    json_t *result = NULL;
    if (strcmp(mel_flow_where(participant->flow), "result") != 0)
        return mel_fail(err, MEL_EINVAL, "there is no result yet: the questions are not answered");
    const mel_status status = mel_result_json(&result, participant->flow, err);
    if (status != MEL_OK)
        return status;
    const mel_study *study = mel_flow_study(participant->flow);
    json_t *about = mel_stored_json(participant->row.about);
    *out = json_pack("{s:o, s:O?, s:b}", "result", result, "words", (json_t *)study->words, "askable",
                     !is_private(about));
    json_decref(about);
    return *out != NULL ? MEL_OK : mel_fail_memory(err, "a result");
}

void mel_api_shared(mel_call *call)
{
    mel_participant_row row;
    if (!find_shared(&row, call, call->rest[0], call->rest[1]))
        return;
    memcpy(call->participant, row.id, sizeof row.id);
    call->seen = row.seen;
    mel_participant_row_clear(&row);
    mel_participant *participant = mel_call_take(call);
    json_t *out = NULL;
    MEL_HELD(held);
    mel_status status = participant != NULL
                            ? mel_cache_begin_flow(&held, call->app->cache, participant->open_study,
                                                   MEL_WORK_RESULT, &call->err)
                            : call->err.code;
    if (status == MEL_OK && participant != NULL)
        status = shared_json(&out, participant, &call->err);
    mel_call_finish(call, status, out);
    mel_participant_release(call->app->cache, participant, true);
}

json_t *mel_share_start(mel_call *call, json_t *body)
{
    const json_t *like = json_object_get(body, "like");
    if (like == NULL)
        return body;
    mel_participant_row row;
    json_t *start = NULL;
    if (json_object_size(body) != 1)
        mel_call_error(call, 400, "bad-request", "like: what is asked is that of the link, nothing else",
                       NULL);
    else if (find_shared(&row, call, mel_json_string(like, "id"), mel_json_string(like, "proof"))) {
        json_t *about = row.about != NULL ? mel_stored_json(row.about) : NULL;
        const bool private = is_private(about);
        start = private ? NULL : json_incref(json_object_get(about, "start"));
        json_decref(about);
        mel_participant_row_clear(&row);
        if (private)
            mel_call_error(call, 403, "not-now",
                           "these questions are about a file that somebody uploaded; ask them for the file",
                           NULL);
        else if (start == NULL)
            mel_call_error(call, 503, "memory", "the questions of the link cannot be read now", NULL);
    }
    json_decref(body);
    return start;
}
