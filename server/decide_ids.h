/* Which row a decision is about: its number in the file, and what the file calls it. */
#ifndef MEL_SERVER_DECIDE_IDS_H
#define MEL_SERVER_DECIDE_IDS_H

#include "app.h"

#include "base/buffer.h"

#include <jansson.h>

/* The upload whose rows decisions are about. */
typedef struct {
    const char *upload;
    const mel_table *table;
} mel_named_rows;

typedef struct {
    const mel_table *table;
    mel_table *again; /* the table, read once more for its ids; NULL: it has them */
    size_t column;    /* of texts; SIZE_MAX: rows have numbers only */
    bool numbers;     /* the texts are numbers: none is a formula, -7 neither */
} mel_ids;
/* The column that body["id"] names, else one in which no two rows are alike: called id, or of texts. What it
 * holds is written as the file has it: 007 is not 7. named: or NULL. A refusal (MEL_EINVAL) is about the
 * field "id". For mel_ids_clear, also after a failure. */
mel_status mel_ids_find(mel_ids *out, mel_call *call, const mel_named_rows *named, const json_t *body);
void mel_ids_clear(mel_ids *ids);
/* The columns of numbers that are to be read as texts in order to find ids: the one of this name, else those
 * that are called id. For free(out->column); the names are the table's. */
mel_status mel_ids_as_texts(mel_columns_as *out, const mel_table *table, const char *name, mel_error *err);
/* The column of texts or whole numbers that the same search finds in `texts`, the table with these columns
 * read as texts: what tells rows apart and nothing else. NULL: none. */
const char *mel_ids_name(const mel_table *table, const mel_table *texts);
/* The first cells of the header, and of row `row` of the file, counted from 1. */
void mel_ids_write_head(mel_buffer *out, const mel_ids *ids);
void mel_ids_write(mel_buffer *out, const mel_ids *ids, size_t row);

#endif
