/* What a new participant's session starts from, in a study that learns from others. */
#include "community.h"

#include "json_helpers.h"

#include "base/internal.h"

#include <string.h>

enum { LEAST_LEARNED = 10 }; /* people before a new one starts from what they want */

json_t *mel_prior_json(const json_t *community)
{
    json_t *prior = json_object_get(community, "prior");
    return mel_json_number(prior, "people", 0.0) < LEAST_LEARNED ? NULL : json_incref(prior);
}

mel_status mel_prior_read(mel_metric **metric, double *strength, const json_t *prior, mel_error *err)
{
    *metric = NULL;
    *strength = mel_json_number(prior, "strength", 0.0);
    char *text = mel_json_exact(json_object_get(prior, "metric"));
    if (text == NULL)
        return mel_fail_memory(err, "what others want");
    const mel_status status = mel_metric_load_memory(metric, text, strlen(text), "what others want", err);
    mel_json_free_text(text);
    return status;
}
