/* Names and lists of them, as the files of this room take them apart. */
#ifndef MEL_PROBLEM_NAMES_H
#define MEL_PROBLEM_NAMES_H

#include "base/internal.h"
#include "melicit/problem.h"

/* Refuses empty and repeated names as part of "--option text". */
mel_status mel_names_check(size_t n, const char *const *name, const char *option, const char *text,
                           mel_error *err);
/* *text becomes a copy; false, and *text stays, when memory runs out. */
bool mel_text_replace(char **text, const char *by);

/* Classes that no file has labels for: they keep their order, and `name` (NULL: "0", "1", ...) stand for
 * labels. */
mel_status mel_classes_invent(mel_classes *out, size_t n, const char *const *name, const mel_naming *naming,
                              const char *what, mel_error *err);
/* Whether the naming renames or orders: `positive` alone does neither. */
bool mel_naming_given(const mel_naming *naming);

#endif
