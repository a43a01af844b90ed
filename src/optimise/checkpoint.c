/* A run of the optimiser in a file: after a kill the same call goes on with the same bits. */
#include "base/file.h"
#include "base/team.h"
#include "data/shared.h"
#include "optimise/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What comes first in the file; as a whole what a run on the same machine needs. */
typedef struct {
    char format[24];
    char of[MEL_DIGEST_HEX]; /* rows and options */
    uint32_t n_rules;
    size_t queries, bytes;
    mel_optimise_result so_far; /* without a mixture */
} head;
static const char format[24] = "melicit-checkpoint-1";

/* A part of the run that goes into the file as it is. */
typedef struct {
    void *at;
    size_t bytes;
} piece;
enum { PIECES = 6 };

static void list_pieces(piece piece_of[PIECES], const mel_run *r)
{
    const mel_weight_size *size = &r->w.size;
    const size_t shares = size->n_groups * size->k * size->k * size->n_directions;
    const piece all[PIECES] = {
        { r->weight, r->n_rules * r->n_weight * sizeof *r->weight },
        { r->step, r->n_rules * sizeof *r->step },
        { r->sums, r->n_rules * sizeof *r->sums },
        { r->now.train, mel_packed_moments(size) * sizeof *r->now.train },
        { r->now.validation, r->now.validation != NULL ? shares * sizeof *r->now.validation : 0 },
        { r->now.chance,
          r->now.chance != NULL ? r->w.validation->n_rows * size->k * sizeof *r->now.chance : 0 },
    };
    memcpy(piece_of, all, sizeof all);
}

/* Rows are told by their numbers, their sums and the value of the first classifier. */
static void identify(char digest[MEL_DIGEST_HEX], const mel_run *r, double first, size_t n_train)
{
    const mel_optimise_options *opt = &r->w.opt;
    const mel_weight_size *size = &r->w.size;
    char text[512], rows[MEL_DIGEST_HEX];
    mel_digest(r->w.train_total, size->k * size->n_directions * size->n_basis * sizeof *r->w.train_total,
               rows);
    (void)mel_print(text, sizeof text,
                    "%zu %zu %zu %zu %zu %zu %zu %.17g %.17g %d %d %d %d %d %d %d %u %.17g %.17g %d %llu %s",
                    size->k, size->n_basis, size->n_directions, size->n_groups, r->w.n_cells, n_train,
                    r->w.validation->n_rows, first, opt->epsilon, (int)opt->step, (int)opt->shape,
                    (int)opt->probes, (int)opt->scale, opt->known, opt->plug_in, opt->labels_only, opt->draws,
                    opt->rank_tolerance, opt->shift, opt->values, (unsigned long long)opt->seed, rows);
    mel_digest(text, strlen(text), digest);
}

mel_status mel_run_save(const mel_run *r, const mel_optimise_result *so_far, size_t n_train, mel_error *err)
{
    if (r->w.opt.checkpoint == NULL || !mel_team_leads())
        return MEL_OK;
    piece part[PIECES];
    list_pieces(part, r);
    head h = { .n_rules = r->n_rules, .queries = r->w.queries, .bytes = sizeof h, .so_far = *so_far };
    memcpy(h.format, format, sizeof format);
    identify(h.of, r, so_far->start, n_train);
    for (size_t i = 0; i < PIECES; i++)
        h.bytes += part[i].bytes;
    char *bytes = mel_alloc(h.bytes, 1), *at = bytes;
    if (bytes == NULL)
        return mel_fail_memory(err, "a checkpoint");
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    for (size_t i = 0; i < PIECES; i++) {
        if (part[i].bytes > 0)
            memcpy(at, part[i].at, part[i].bytes);
        at += part[i].bytes;
    }
    const mel_status status = mel_file_replace(r->w.opt.checkpoint, bytes, h.bytes, err);
    free(bytes);
    return status;
}

/* The bytes of the file; *n 0: there is none. */
static mel_status read_whole(char **bytes, size_t *n, const char *path, mel_error *err)
{
    *bytes = NULL;
    *n = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return errno == ENOENT ? MEL_OK : mel_fail(err, MEL_EIO, "%s: cannot be read", path);
    struct stat info;
    mel_status status = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode)
                            ? MEL_OK
                            : mel_fail(err, MEL_EIO, "%s: not a file", path);
    if (status == MEL_OK && (*bytes = mel_alloc((size_t)info.st_size, 1)) == NULL)
        status = mel_fail_memory(err, "a checkpoint");
    if (status == MEL_OK)
        *n = fread(*bytes, 1, (size_t)info.st_size, file);
    (void)fclose(file);
    return status;
}

static mel_status take(mel_run *r, mel_optimise_result *so_far, const char *bytes, size_t n, size_t n_train,
                       mel_error *err)
{
    head h;
    char of[MEL_DIGEST_HEX];
    identify(of, r, so_far->start, n_train);
    if (n < sizeof h)
        return mel_fail(err, MEL_EDATA, "%s: not a checkpoint", r->w.opt.checkpoint);
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.format, format, sizeof format) != 0 || h.bytes != n)
        return mel_fail(err, MEL_EDATA, "%s: not a checkpoint", r->w.opt.checkpoint);
    if (memcmp(h.of, of, sizeof of) != 0)
        return mel_fail(
            err, MEL_ECONFLICT,
            "%s: the checkpoint of another run, with other rows or options; remove it to start anew",
            r->w.opt.checkpoint);
    while (r->n_rules < h.n_rules)
        if (mel_run_add_rule(r, 0.0) == NULL)
            return mel_fail_memory(err, "weights");
    piece part[PIECES];
    list_pieces(part, r);
    size_t at = sizeof h;
    for (size_t i = 0; i < PIECES && at + part[i].bytes <= n; at += part[i++].bytes)
        if (part[i].bytes > 0)
            memcpy(part[i].at, bytes + at, part[i].bytes);
    r->w.queries = h.queries;
    *so_far = h.so_far;
    r->now.value = h.so_far.value;
    return at == n ? MEL_OK : mel_fail(err, MEL_EDATA, "%s: not a checkpoint", r->w.opt.checkpoint);
}

mel_status mel_run_load(mel_run *r, mel_optimise_result *so_far, size_t n_train, mel_error *err)
{
    if (r->w.opt.checkpoint == NULL)
        return MEL_OK;
    char *bytes = NULL;
    size_t n = 0;
    mel_status status = mel_team_leads() ? read_whole(&bytes, &n, r->w.opt.checkpoint, err) : MEL_OK;
    if (status == MEL_OK)
        mel_team_share(&n, sizeof n);
    if (status == MEL_OK && !mel_team_leads() && (bytes = mel_alloc(n, 1)) == NULL)
        status = mel_fail_memory(err, "a checkpoint");
    const bool found = status == MEL_OK && bytes != NULL && n > 0;
    if (found)
        mel_team_share(bytes, n);
    if (found)
        status = take(r, so_far, bytes, n, n_train, err);
    free(bytes);
    return status;
}
