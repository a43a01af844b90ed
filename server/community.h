/* Where a participant's session starts, in a study that learns from others. */
#ifndef MEL_SERVER_COMMUNITY_H
#define MEL_SERVER_COMMUNITY_H

#include "cache.h"

/* What a new participant's session starts from, of the "community" of those who are through
 * (docs/http-api.md): {"metric", "strength", "people"}, a new reference; NULL: nothing yet. */
json_t *mel_prior_json(const json_t *community);
/* It as the session takes it: the metric is for the caller to free. */
mel_status mel_prior_read(mel_metric **metric, double *strength, const json_t *prior, mel_error *err);

#endif
