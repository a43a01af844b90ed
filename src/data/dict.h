/* A set of texts, numbered 0, 1, ... in the order in which they were added. Shared by the tables that
 * come from one file, so it counts its holders; once shared it is only read. */
#ifndef MEL_DATA_DICT_H
#define MEL_DATA_DICT_H

#include "base/internal.h"

#include <stdatomic.h>

typedef struct {
    atomic_size_t holders;
    uint32_t n;
    size_t *offset; /* n + 1 of them: text i is text + offset[i], NUL-terminated */
    char *text;
    uint64_t *hash;
    uint32_t *slot; /* open addressing; code + 1, 0 is free */
    size_t n_slots; /* a power of two, or 0 */
    size_t text_capacity, item_capacity;
} mel_dict;

mel_dict *mel_dict_new(void); /* NULL when memory runs out */
mel_dict *mel_dict_share(mel_dict *dict);
void mel_dict_free(mel_dict *dict); /* gives up one hold; NULL is fine */
MEL_CLEANUP(mel_dict)
/* Forgets the texts, keeps the memory. */
void mel_dict_reset(mel_dict *dict);

/* Differs from process to process. */
uint64_t mel_dict_hash(const char *text, size_t n);
/* The code of a text, or MEL_MISSING. */
uint32_t mel_dict_find(const mel_dict *dict, const char *text, size_t n, uint64_t hash);
/* The code of a text that may be new; MEL_MISSING when memory runs out. */
uint32_t mel_dict_add(mel_dict *dict, const char *text, size_t n, uint64_t hash);

static inline const char *mel_dict_text(const mel_dict *dict, size_t code)
{
    return dict->text + dict->offset[code];
}

static inline size_t mel_dict_length(const mel_dict *dict, size_t code)
{
    return dict->offset[code + 1] - dict->offset[code] - 1;
}

#endif
