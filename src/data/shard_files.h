/* The files of a pattern, one after the other, read by all ranks together. */
#ifndef MEL_DATA_SHARD_FILES_H
#define MEL_DATA_SHARD_FILES_H

#include "data/shared.h"
#include "data/table.h"

/* Cleared by the caller with 0 before the first file. */
typedef struct {
    const mel_matches *files;
    const mel_read_options *opt;
    bool divided;   /* rows stay with the rank that read them; cleared where files are sparse */
    char *bytes;    /* of the current round, one file for each rank */
    size_t *sizes;  /* of each rank's */
    mel_table *own; /* divided: this rank's file of the round */
} mel_shard_files;

/* File i, of which all ranks ask in order, from 0 on: every so often each reads one, and they exchange them,
 * where rows are divided without their rows. rows: how many the file has. What went wrong with a file is what
 * went wrong for all. */
mel_status mel_shard_file(mel_table **out, size_t *rows, mel_shard_files *from, size_t i, mel_error *err);
void mel_shard_files_clear(mel_shard_files *from);

#endif
