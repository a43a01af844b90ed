/* JSON objects of which every member is known: those of files that only this program writes. */
#ifndef MEL_DATA_JSON_MEMBERS_H
#define MEL_DATA_JSON_MEMBERS_H

#include "base/internal.h"

#include <jansson.h>

/* MEL_EDATA unless it is an object with exactly these keys (the list ends with NULL). */
mel_status mel_json_members(const json_t *object, const char *const *keys, mel_error *err);
/* The texts of a list, all different, lent by it; the list itself is for free(). No list: none. NULL: they
 * are not, or memory ran out. */
const char **mel_json_names(size_t *n, const json_t *list);

#endif
