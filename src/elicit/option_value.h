/* Values of a session's options by the rows of their table: in the struct, as text, as JSON. */
#ifndef MEL_ELICIT_OPTION_VALUE_H
#define MEL_ELICIT_OPTION_VALUE_H

#include "base/internal.h"
#include "elicit/shared.h"

#include <jansson.h>

/* NULL: there is none. */
const mel_option *mel_option_find(const char *key);
/* Whether mel_option_value holds all of it: numbers, words and flags. */
static inline bool mel_option_is_scalar(const mel_option *row)
{
    return row->type <= MEL_OPTION_WORD;
}

/* Scalars. */
mel_option_value mel_option_usual(const mel_option *row);
mel_option_value mel_option_get(const mel_session_options *opt, const mel_option *row);
void mel_option_put(mel_session_options *opt, const mel_option *row, mel_option_value value);
/* Whether the value is in the row's range, or not set where that is its default. */
bool mel_option_holds(const mel_option *row, mel_option_value value);
/* NULL: no memory. */
json_t *mel_option_to_json(const mel_option *row, mel_option_value value);

/* Any row: whether it has another value than its default. */
bool mel_option_is_set(const mel_session_options *opt, const mel_option *row);
/* MEL_EINVAL begins with the option's name as the program has it ("per-round 5: expected ...") and says what
 * is expected. */
mel_status mel_option_check(const mel_session_options *opt, const mel_option *row, mel_error *err);
/* Sets an option that lends no memory; MEL_EINVAL says what is expected. */
mel_status mel_option_from_json(mel_session_options *opt, const mel_option *row, const json_t *json,
                                mel_error *err);

enum { MEL_OPTION_NAME = 32, MEL_OPTION_EXPECTS = 200 };
/* "per-round" */
void mel_option_name(char name[MEL_OPTION_NAME], const mel_option *row);

#endif
