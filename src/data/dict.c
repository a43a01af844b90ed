/* Sets of texts with a code for each, shared between tables. */
#include "data/dict.h"

#include "melicit/data.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 16, FIRST_ITEMS = 8, FIRST_TEXT = 64 };

mel_dict *mel_dict_new(void)
{
    mel_dict *dict = mel_alloc_zero(1, sizeof *dict);
    if (dict != NULL)
        atomic_init(&dict->holders, 1);
    return dict;
}

mel_dict *mel_dict_share(mel_dict *dict)
{
    atomic_fetch_add(&dict->holders, 1);
    return dict;
}

void mel_dict_free(mel_dict *dict)
{
    if (dict == NULL || atomic_fetch_sub(&dict->holders, 1) != 1)
        return;
    free(dict->offset);
    free(dict->text);
    free(dict->hash);
    free(dict->slot);
    free(dict);
}

void mel_dict_reset(mel_dict *dict)
{
    if (dict->n == 0)
        return;
    dict->n = 0;
    memset(dict->slot, 0, dict->n_slots * sizeof *dict->slot);
}

static uint64_t load_bytes(const char *p, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n);
    return word;
}

/* One key for all dictionaries of the process, as hashes go from one to another. Nobody outside knows it: a
 * file cannot be made to put all its texts into one place, which would take time that grows with their
 * square. */
static unsigned char hash_key[crypto_shorthash_KEYBYTES];
static pthread_once_t hash_key_once = PTHREAD_ONCE_INIT;

static void make_hash_key(void)
{
    randombytes_buf(hash_key, sizeof hash_key);
}

uint64_t mel_dict_hash(const char *text, size_t n)
{
    unsigned char bytes[crypto_shorthash_BYTES];
    uint64_t hash;
    _Static_assert(sizeof hash == sizeof bytes, "SipHash gives 64 bits");
    (void)pthread_once(&hash_key_once, make_hash_key);
    crypto_shorthash(bytes, (const unsigned char *)text, n, hash_key);
    memcpy(&hash, bytes, sizeof hash);
    return hash;
}

/* The end of a text is read with an overlap rather than byte by byte: texts are short. */
static bool same_text(const char *a, const char *b, size_t n)
{
    if (n > 16)
        return memcmp(a, b, n) == 0;
    if (n >= 8)
        return load_bytes(a, 8) == load_bytes(b, 8) && load_bytes(a + n - 8, 8) == load_bytes(b + n - 8, 8);
    if (n >= 4)
        return load_bytes(a, 4) == load_bytes(b, 4) && load_bytes(a + n - 4, 4) == load_bytes(b + n - 4, 4);
    return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

uint32_t mel_dict_find(const mel_dict *dict, const char *text, size_t n, uint64_t hash)
{
    if (dict->n_slots == 0)
        return MEL_MISSING;
    const size_t mask = dict->n_slots - 1;
    for (size_t i = (size_t)hash & mask; dict->slot[i] != 0; i = (i + 1) & mask) {
        const uint32_t code = dict->slot[i] - 1;
        if (dict->hash[code] == hash && mel_dict_length(dict, code) == n &&
            same_text(mel_dict_text(dict, code), text, n))
            return code;
    }
    return MEL_MISSING;
}

static void place(mel_dict *dict, uint32_t code)
{
    const size_t mask = dict->n_slots - 1;
    size_t i = (size_t)dict->hash[code] & mask;
    while (dict->slot[i] != 0)
        i = (i + 1) & mask;
    dict->slot[i] = code + 1;
}

/* At most half of the slots are ever taken. */
static bool grow_slots(mel_dict *dict)
{
    const size_t n_slots = dict->n_slots == 0 ? FIRST_SLOTS : 2 * dict->n_slots;
    uint32_t *slot = mel_alloc_zero(n_slots, sizeof *slot);
    if (slot == NULL)
        return false;
    free(dict->slot);
    dict->slot = slot;
    dict->n_slots = n_slots;
    for (uint32_t code = 0; code < dict->n; code++)
        place(dict, code);
    return true;
}

static bool grow_items(mel_dict *dict)
{
    const size_t capacity = dict->item_capacity == 0 ? FIRST_ITEMS : 2 * dict->item_capacity;
    if (!MEL_GROW(dict->offset, capacity + 1) || !MEL_GROW(dict->hash, capacity))
        return false;
    dict->item_capacity = capacity;
    return true;
}

static bool grow_text(mel_dict *dict, size_t need)
{
    size_t capacity = dict->text_capacity == 0 ? FIRST_TEXT : dict->text_capacity;
    while (capacity < need)
        capacity = capacity > SIZE_MAX / 2 ? need : 2 * capacity;
    if (!MEL_GROW(dict->text, capacity))
        return false;
    dict->text_capacity = capacity;
    return true;
}

uint32_t mel_dict_add(mel_dict *dict, const char *text, size_t n, uint64_t hash)
{
    const uint32_t known = mel_dict_find(dict, text, n, hash);
    if (known != MEL_MISSING)
        return known;
    if (dict->n >= MEL_MISSING - 1)
        return MEL_MISSING;
    if (2 * ((size_t)dict->n + 1) > dict->n_slots && !grow_slots(dict))
        return MEL_MISSING;
    if (dict->n == dict->item_capacity && !grow_items(dict))
        return MEL_MISSING;
    const size_t start = dict->n == 0 ? 0 : dict->offset[dict->n];
    if (start + n + 1 > dict->text_capacity && !grow_text(dict, start + n + 1))
        return MEL_MISSING;
    memcpy(dict->text + start, text, n);
    dict->text[start + n] = '\0';
    dict->offset[dict->n] = start;
    dict->offset[dict->n + 1] = start + n + 1;
    dict->hash[dict->n] = hash;
    place(dict, dict->n);
    return dict->n++;
}
