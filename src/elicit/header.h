/* The first line of a session file: what is asked about and how. */
#ifndef MEL_ELICIT_HEADER_H
#define MEL_ELICIT_HEADER_H

#include "elicit/options.h"

#include <jansson.h>

/* layout: of the points; NULL for a planar face, where it is always the same. identity may be NULL. */
mel_status mel_header_make(json_t **out, const mel_session_options *opt, const mel_layout *layout,
                           const mel_identity *identity, mel_error *err);
/* MEL_EDATA when stored is no header; path is for the sentence. */
mel_status mel_header_check_format(const json_t *stored, const char *path, mel_error *err);
/* The same for the format of `now`, and MEL_ECONFLICT, with the field, when they differ in what decides the
 * questions. */
mel_status mel_header_check(const json_t *stored, const json_t *now, const char *path, mel_error *err);
/* The options that the header was made from; those that it does not name have their defaults. layout: of the
 * points. On failure, too, out, which was empty, is for mel_options_drop. */
mel_status mel_header_options(mel_kept_options *out, const json_t *header, const mel_layout *layout,
                              mel_error *err);

#endif
