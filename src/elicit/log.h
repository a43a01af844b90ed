/* The session file: JSON Lines, a header and then a line per answer or undo, each synced before the
 * call returns. Reading repairs a last line that a crash cut off and refuses anything else. */
#ifndef MEL_ELICIT_LOG_H
#define MEL_ELICIT_LOG_H

#include "base/internal.h"
#include "melicit/elicit.h"

#include <jansson.h>

typedef struct mel_log mel_log;

/* What a line says. */
typedef struct {
    bool undo;
    uint32_t question; /* 1-based */
    mel_record said;   /* its points are lent; not of an undo */
    /* For writing only. */
    size_t size; /* numbers in a point */
    const mel_layout *layout;
    const double *class_share; /* NULL: unknown */
    const mel_pool *pool;      /* whose classifiers a and b are, for their names; NULL: none */
} mel_log_line;

/* Called per line while an existing file is read, in order; a failure ends the reading. */
typedef mel_status (*mel_log_reader)(void *user, const mel_log_line *line, mel_error *err);

/* Creates the file with this header, or compares the existing header with it and reads the lines.
 * Locked against other processes while open; read_only: no lock, and the file stays as it is. header is
 * lent, and its "format" is that of the file; size is that of every point: others are refused (MEL_EDATA). */
mel_status mel_log_open(mel_log **out, const char *path, bool read_only, const json_t *header, size_t size,
                        mel_log_reader reader, void *user, mel_error *err);
/* The header of a file, for the caller to release, and how many answers stand in it; nothing is locked. */
mel_status mel_log_peek(json_t **header, uint32_t *answers, const char *path, mel_error *err);
mel_status mel_log_append(mel_log *log, const mel_log_line *line, mel_error *err);
/* The object that a line is; when: the time of an answer as text, or NULL. NULL without memory. */
json_t *mel_log_line_json(const mel_log_line *line, const char *when);
bool mel_log_repaired(const mel_log *log);
void mel_log_close(mel_log *log);

#endif
