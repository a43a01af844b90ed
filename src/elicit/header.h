/* The first line of a session file: what is asked about and how. */
#ifndef MEL_ELICIT_HEADER_H
#define MEL_ELICIT_HEADER_H

#include "base/internal.h"
#include "melicit/elicit.h"

#include <jansson.h>

/* layout: of the points; NULL for a planar face, where it is always the same. identity may be NULL. */
mel_status mel_header_make(json_t **out, const mel_session_options *opt, const mel_layout *layout,
                           const mel_identity *identity, mel_error *err);
/* Whether a session with the stored header can go on with this one: MEL_EDATA when it is no header,
 * MEL_ECONFLICT, with the field, when they differ in what decides the questions. Options that stored
 * does not name have their default values, names of earlier versions are understood, and options that such a
 * session does not read (unread, up to NULL) may have been anything: stored is brought up to date. path is
 * for the sentence. */
mel_status mel_header_check(json_t *stored, const json_t *now, const char *const *unread, const char *path,
                            mel_error *err);

#endif
