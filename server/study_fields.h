/* Which fields an object of a study file may have. */
#ifndef MEL_SERVER_STUDY_FIELDS_H
#define MEL_SERVER_STUDY_FIELDS_H

#include "base/internal.h"

#include <jansson.h>

/* Refuses (MEL_EDATA, beginning with `where`) what is no object, unknown fields, other types and missing
 * ones. fields: names separated by blanks, each followed by its type unless it is a text (":number",
 * ":boolean",
 * ":object", ":list", ":any"), then by "!" when it is required: "kind! title! code:boolean". */
mel_status mel_check_fields(const json_t *object, const char *where, const char *fields, mel_error *err);

#endif
