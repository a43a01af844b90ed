/* The files that options name: on the disk, or uploads and frames in memory. */
#ifndef MEL_PROBLEM_FILES_H
#define MEL_PROBLEM_FILES_H

#include "base/internal.h"
#include "problem/shared.h"

typedef struct {
    char *path;  /* of the file; of an upload what to call it: "data.csv" */
    void *bytes; /* of an upload; NULL: it is on the disk */
    size_t n;
    char *frame; /* the name of a frame in memory, which `resources` has; NULL: it is none */
    const mel_resources *resources;
} mel_input;
/* `key` says what the file is for: "data", "probs", "labels", "groups". Folders are searched for data only.
 */
mel_status mel_input_find(mel_input *out, const char *key, const char *given, const mel_resources *resources,
                          mel_error *err);
void mel_input_clear(mel_input *input);
mel_status mel_input_read(mel_table **out, const mel_input *input, const mel_read_options *opt,
                          mel_error *err);
/* A table whose header, if any, has some of these n names. */
mel_status mel_input_read_named(mel_table **out, const mel_input *input, size_t n, const char *const *name,
                                const mel_read_options *opt, mel_error *err);
/* "" for standard input. */
mel_status mel_input_digest(char digest[MEL_DIGEST_HEX], const mel_input *input, mel_error *err);

/* mel_dataset_read that also gives the file that was found, to be cleared on failure too. */
mel_status mel_dataset_read_with(mel_dataset *out, mel_input *input, const mel_dataset_options *opt,
                                 const mel_resources *resources, mel_error *err);

/* What a file is called in refusals and descriptions: as given, uploads and frames by their key. NULL stays.
 */
enum { MEL_UPLOAD_NAME = 16 };
const char *mel_input_name(char memory[MEL_UPLOAD_NAME], const char *key, const char *given,
                           const mel_resources *resources);

#endif
