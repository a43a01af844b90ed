/* Languages of what participants read: English, and those of the catalogue. */
#ifndef MEL_SERVER_LANGUAGES_H
#define MEL_SERVER_LANGUAGES_H

#include "melicit/base.h"

/* Before anybody asks; once more does nothing. */
mel_status mel_languages_load(mel_error *err);
bool mel_language_is_known(const char *name);
/* NULL: English, or unknown. */
const mel_language *mel_language_called(const char *name);
/* The known language that an Accept-Language header (or NULL) prefers: "de". */
const char *mel_language_accepted(const char *accept);

#endif
