/* JSON objects of which every member is known: those of files that only this program writes. */
#ifndef MEL_DATA_JSON_MEMBERS_H
#define MEL_DATA_JSON_MEMBERS_H

#include "base/internal.h"

#include <jansson.h>

/* MEL_EDATA unless it is an object with exactly these keys (the list ends with NULL). */
mel_status mel_json_members(const json_t *object, const char *const *keys, mel_error *err);
#endif
