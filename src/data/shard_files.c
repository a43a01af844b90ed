/* The files of a pattern, read by all ranks together: in turns of one file for each, of which they exchange
 * all or, where rows are divided, all but the rows. */
#include "data/shard_files.h"

#include "base/team.h"
#include "data/table_bytes.h"
#include "data/table_reader.h"

#include <stdlib.h>
#include <string.h>

void mel_shard_files_clear(mel_shard_files *from)
{
    free(from->bytes);
    free(from->sizes);
    mel_table_free(from->own);
    from->bytes = NULL;
    from->sizes = NULL;
    from->own = NULL;
}

/* What comes before the bytes of a table: how reading went, and which of the columns with types it has. */
typedef struct {
    mel_status status;
    mel_error why;
    size_t rows;
    bool with_rows;
} head;

static size_t n_found(const mel_read_options *opt)
{
    return opt->overrides_found != NULL ? opt->n_overrides : 0;
}

/* Bytes of an own file, or of the failure to read it; NULL: no memory even for that. */
static char *read_own(size_t *n, mel_table **kept, bool divided, const mel_read_options *opt,
                      const char *file)
{
    mel_table *table = NULL;
    char *packed = NULL, *bytes = NULL;
    size_t size = 0;
    head h = { .status = MEL_OK };
    h.status = mel_read_file(&table, file, opt, &h.why);
    if (h.status == MEL_OK) {
        h.rows = mel_table_rows(table);
        h.with_rows = !divided || table->is_sparse;
        h.status = mel_table_to_bytes(&packed, &size, table, h.with_rows, &h.why);
    }
    if (h.status == MEL_OK && !h.with_rows)
        *kept = table;
    else
        mel_table_free(table);
    const size_t found = n_found(opt) * sizeof *opt->overrides_found;
    *n = sizeof h + found + size;
    bytes = mel_alloc(*n, 1);
    if (bytes != NULL) {
        memcpy(bytes, &h, sizeof h);
        if (found > 0)
            memcpy(bytes + sizeof h, opt->overrides_found, found);
        if (size > 0)
            memcpy(bytes + sizeof h + found, packed, size);
    }
    free(packed);
    return bytes;
}

/* The files from `first` on, one for each rank. */
static mel_status read_round(mel_shard_files *from, size_t first, mel_error *err)
{
    const mel_team *team = mel_team_get();
    const size_t own = first + team->rank;
    size_t n = 0;
    char *bytes = NULL;
    mel_shard_files_clear(from);
    if (own < from->files->n) {
        bytes = read_own(&n, &from->own, from->divided, from->opt, from->files->file[own].name);
        if (bytes == NULL)
            return mel_fail_memory(err, "the rows of several files");
    }
    from->sizes = mel_alloc(team->size, sizeof *from->sizes);
    if (from->sizes != NULL)
        from->bytes = mel_team_collect(from->sizes, bytes, n);
    free(bytes);
    return from->bytes != NULL ? MEL_OK : mel_fail_memory(err, "the rows of several files");
}

static mel_status read_alone(mel_table **out, size_t *rows, const mel_shard_files *from, size_t i,
                             mel_error *err)
{
    const mel_status status = mel_read_file(out, from->files->file[i].name, from->opt, err);
    *rows = status == MEL_OK ? mel_table_rows(*out) : 0;
    return status;
}

mel_status mel_shard_file(mel_table **out, size_t *rows, mel_shard_files *from, size_t i, mel_error *err)
{
    const mel_team *team = mel_team_get();
    if (team->size == 1)
        return read_alone(out, rows, from, i, err);
    const bool begins = i % team->size == 0 || from->bytes == NULL;
    const mel_status status = begins ? read_round(from, i - i % team->size, err) : MEL_OK;
    if (status != MEL_OK || from->bytes == NULL || from->sizes == NULL)
        return status;
    const char *bytes = from->bytes;
    for (size_t r = 0; r < i % team->size; r++)
        bytes += from->sizes[r];
    head h;
    memcpy(&h, bytes, sizeof h);
    bytes += sizeof h;
    if (h.status != MEL_OK)
        return mel_fail(err, h.status, "%s", h.why.text);
    for (size_t c = 0; c < n_found(from->opt); c++) {
        bool found;
        memcpy(&found, bytes + c * sizeof found, sizeof found);
        from->opt->overrides_found[c] = from->opt->overrides_found[c] || found;
    }
    *rows = h.rows;
    from->divided = from->divided && !h.with_rows;
    if (from->own != NULL && i % team->size == team->rank) {
        *out = from->own;
        from->own = NULL;
        return MEL_OK;
    }
    return mel_table_of_bytes(out, bytes + n_found(from->opt) * sizeof(bool), err);
}
