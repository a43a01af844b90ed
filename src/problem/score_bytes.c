/* Counted scores between ranks: names as texts with their ends, numbers in as many bytes of seven digits as
 * they take, cells by how far they are from the one before. Most cells are three bytes. */
#include "base/buffer.h"
#include "problem/score_counts.h"

#include <stdlib.h>
#include <string.h>

static void put_number(mel_buffer *out, uint64_t number)
{
    unsigned char byte[10];
    size_t n = 0;
    for (; number >= 128; number >>= 7)
        byte[n++] = (unsigned char)(number | 128);
    byte[n++] = (unsigned char)number;
    mel_buffer_add(out, byte, n);
}

static void put_names(mel_buffer *out, size_t n, char *const *name)
{
    for (size_t i = 0; i < n; i++)
        mel_buffer_add(out, name[i], strlen(name[i]) + 1);
}

mel_status mel_score_counts_pack(char **bytes, size_t *n, const mel_score_counts *c, mel_error *err)
{
    mel_buffer out;
    uint64_t before = 0;
    mel_buffer_init(&out, SIZE_MAX / 2);
    put_number(&out, c->n_groups);
    put_number(&out, c->n_files);
    put_number(&out, c->n);
    put_names(&out, 2, c->class_name);
    put_names(&out, c->n_groups, c->group_name);
    put_names(&out, c->n_files, c->file);
    for (size_t i = 0; i < c->n; i++) {
        put_number(&out, c->cell[i].key - before);
        put_number(&out, c->cell[i].rows[0]);
        put_number(&out, c->cell[i].rows[1]);
        before = c->cell[i].key;
    }
    *n = out.size;
    *bytes = mel_buffer_take(&out);
    return *bytes != NULL ? MEL_OK : mel_fail_memory(err, "the scores of other ranks");
}

static uint64_t take_number(const char **at)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        const unsigned char byte = (unsigned char)*(*at)++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
}

/* n texts, lent by the bytes; NULL: no memory. */
static const char **take_names(const char **at, size_t n)
{
    const char **name = mel_alloc(n, sizeof *name);
    for (size_t i = 0; i < n && name != NULL; i++) {
        name[i] = *at;
        *at += strlen(*at) + 1;
    }
    return name;
}

static void take_cells(mel_score_counts *c, size_t n, const char *at)
{
    uint64_t key = 0;
    for (; c->n < n; c->n++) {
        mel_count_cell *cell = &c->cell[c->n];
        key += take_number(&at);
        cell->key = key;
        cell->rows[0] = take_number(&at);
        cell->rows[1] = take_number(&at);
    }
}

mel_status mel_score_counts_unpack(mel_score_counts **out, const char *bytes, mel_error *err)
{
    const char *at = bytes;
    const size_t n_groups = (size_t)take_number(&at), n_files = (size_t)take_number(&at),
                 n = (size_t)take_number(&at);
    const char **name = take_names(&at, 2 + n_groups + n_files);
    mel_score_counts *c = name != NULL ? mel_score_counts_new(name, n_groups, name + 2) : NULL;
    mel_status status = c != NULL ? MEL_OK : mel_fail_memory(err, "the scores of other ranks");
    for (size_t i = 0; i < n_files && status == MEL_OK; i++)
        status = mel_score_counts_add_file(c, name[2 + n_groups + i], err);
    if (status == MEL_OK && (c->cell = mel_alloc(n, sizeof *c->cell)) == NULL)
        status = mel_fail_memory(err, "the scores of other ranks");
    if (status == MEL_OK)
        take_cells(c, n, at);
    free(name);
    *out = status == MEL_OK ? c : NULL;
    if (status != MEL_OK)
        mel_score_counts_free(c);
    return status;
}
