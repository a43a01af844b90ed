/* Files that say what was asked of the server: one line of JSON per request, without tokens, queries, answers
 * or bodies, and per participant who was erased. */
#ifndef MEL_SERVER_JOURNAL_H
#define MEL_SERVER_JOURNAL_H

#include "melicit/base.h"

#include <jansson.h>

typedef struct mel_journal mel_journal;
/* Appends to the file, which is made where it is missing; path NULL: *out is NULL, and nothing is kept. */
mel_status mel_journal_open(mel_journal **out, const char *path, mel_error *err);
void mel_journal_close(mel_journal *journal);
/* Adds a line (taken over), whole even when several processes write; NULL journals take everything. */
void mel_journal_add(mel_journal *journal, json_t *line);
/* Says that a participant was erased, and who wanted it, so that a backup can be cleaned. */
void mel_journal_erased(mel_journal *journal, const char *study, const char *participant, const char *by);

#endif
