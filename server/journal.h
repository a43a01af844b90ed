/* Files that say what was asked of the server: one line of JSON per request, without tokens, queries, answers
 * or bodies, and per participant who was erased. */
#ifndef MEL_SERVER_JOURNAL_H
#define MEL_SERVER_JOURNAL_H

#include "melicit/base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mel_journal mel_journal;
/* Appends to the file, which is made where it is missing; path, which must outlive it, NULL: *out is NULL,
 * and nothing is kept. */
mel_status mel_journal_open(mel_journal **out, const char *path, mel_error *err);
/* Goes on in the file that has the name now: the one before was moved away. On failure all is as it was. */
mel_status mel_journal_reopen(mel_journal *journal, mel_error *err);
void mel_journal_close(mel_journal *journal);
/* Adds a line (taken over), whole even when several processes write; NULL journals take everything. False: it
 * could not be written. What it is about goes on; the next line that can be written says how many were lost,
 * and since when. */
bool mel_journal_add(mel_journal *journal, json_t *line);
/* How many lines could not be written since the last one that could. */
uint64_t mel_journal_lost(mel_journal *journal);
/* Says that a participant is about to be erased, and who wants it, so that a backup can be cleaned. */
bool mel_journal_erased(mel_journal *journal, const char *study, const char *participant, const char *by);

#endif
