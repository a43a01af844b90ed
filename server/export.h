/* A study as a file for other programs, in one consistent snapshot. However large it is, it takes little
 * memory: it is written to a file without a name. */
#ifndef MEL_SERVER_EXPORT_H
#define MEL_SERVER_EXPORT_H

#include "store.h"

#include "base/buffer.h"

typedef enum { MEL_EXPORT_CSV, MEL_EXPORT_JSONL, MEL_EXPORT_SQLITE } mel_export_format;
/* "csv", "jsonl", "sqlite". */
mel_status mel_export_parse(mel_export_format *out, const char *name, mel_error *err);
/* The file, at its beginning, for the caller to close(), and its bytes. MEL_EINVAL when there is no such
 * study. It ends early when the budget of the thread is spent. */
mel_status mel_export(int *file, size_t *n, mel_store *store, const char *study, mel_export_format format,
                      mel_error *err);
/* A cell of CSV with its comma, or with the end of the line; a formula gets an apostrophe before it. */
void mel_csv_cell(mel_buffer *out, const char *text, bool last);

#endif
