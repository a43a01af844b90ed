/* Which row a decision is about: its number in the file, and what the file calls it. */
#ifndef MEL_SERVER_DECIDE_IDS_H
#define MEL_SERVER_DECIDE_IDS_H

#include "base/buffer.h"
#include "melicit/data.h"

#include <jansson.h>

typedef struct {
    const mel_table *table;
    size_t column; /* SIZE_MAX: rows have numbers only */
} mel_ids;
/* The column that body["id"] names, else one in which no two rows are alike: called id, or of texts. table:
 * the file, or NULL. A refusal (MEL_EINVAL) is about the field "id". */
mel_status mel_ids_find(mel_ids *out, const mel_table *table, const json_t *body, mel_error *err);
/* The first cells of the header, and of row `row` of the file, counted from 1. */
void mel_ids_write_head(mel_buffer *out, const mel_ids *ids);
void mel_ids_write(mel_buffer *out, const mel_ids *ids, size_t row);

#endif
