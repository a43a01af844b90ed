/* Class probabilities of more rows than memory holds: read in blocks, kept on disk. */
#include "data/npy_rows.h"
#include "problem/shared.h"

/* Blocks are so small that they are memory like any other. */
enum { BLOCK_BYTES = 1 << 18 };

typedef struct {
    mel_proba *out;
    mel_rescaled found;
    const char *path, *columns;
    const mel_classes *classes;
} storing;

static mel_status store_block(void *user, const mel_table *table, mel_error *err)
{
    storing *s = user;
    mel_proba block = { 0 };
    mel_status status = mel_proba_block(&block, &s->found, table, err);
    if (status == MEL_OK)
        status = mel_proba_order(&block, s->path, s->columns, s->classes, err);
    if (status == MEL_OK)
        status = mel_disk_add(s->out->stored, block.value,
                              block.n_rows * block.n_classes * sizeof *block.value, err);
    s->out->n_rows += block.n_rows;
    mel_proba_clear(&block);
    return status;
}

mel_status mel_proba_store(bool *stored, mel_proba *out, const char *path, const char *columns,
                           const mel_classes *classes, const mel_read_options *read, mel_error *err)
{
    const size_t k = classes->n;
    mel_proba proba = { .n_classes = k, .n_columns = k };
    storing s = { .out = &proba, .path = path, .columns = columns, .classes = classes };
    const mel_row_taker taker = { k, BLOCK_BYTES, store_block, &s };
    mel_status status = mel_disk_new(&proba.stored, err);
    if (status == MEL_OK)
        status = mel_read_pattern_rows(stored, path, read, &taker, err);
    if (status == MEL_OK && *stored)
        status = mel_disk_finish(proba.stored, err);
    if (status == MEL_OK && *stored)
        status = mel_proba_say_rescaled(&proba, &s.found, path, MEL_FORMAT_NPY,
                                        read->shards->start[read->shards->n], read->shards->here != NULL,
                                        read, err);
    if (status != MEL_OK || !*stored) {
        mel_proba_clear(&proba);
        return status;
    }
    *out = proba;
    return MEL_OK;
}
