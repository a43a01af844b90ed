/* Lists of names and numbers as texts: copying, taking apart, finding the nearest. */
#ifndef MEL_BASE_NAMES_H
#define MEL_BASE_NAMES_H

#include "melicit/base.h"

/* The candidate nearest to a misspelt word by edit distance; NULL when none is near. `candidate` gives name
 * number i or NULL beyond the last. */
const char *mel_nearest(const char *word, const char *(*candidate)(const void *user, size_t i),
                        const void *user);

/* n copies of names, or "first", "first + 1", ... where name is NULL; NULL when memory runs out, which
 * mel_names_free accepts. */
char **mel_names_copy(size_t n, const char *const *name, size_t first);
void mel_names_free(char **name, size_t n);

/* "1,2.5,-3e4" as *n finite decimal numbers, to be freed. MEL_EINVAL for any other text. */
mel_status mel_parse_numbers(double **out, size_t *n, const char *text, mel_error *err);

#endif
