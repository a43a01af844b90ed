/* The files of a pattern in turns of one for each rank. */
#include "predict_files.h"

#include "base/team.h"
#include "data/shared.h"
#include "dataset.h"
#include "output.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* What a rank tells the others of its file, before what reading it had to say. */
typedef struct {
    predict_file file;
    mel_status status;
    mel_error why;
} head;

typedef struct {
    const predict_files *files;
    predict_file *all;
    predict_file first;    /* the first file */
    size_t *sizes;         /* one for each rank */
    size_t *start;         /* rows before the file of each rank */
    mel_kept_notices told; /* by this rank: a head, then notices */
} turns;

/* Columns of probabilities without names are in another order than those with names may be. */
static mel_status check_alike(const turns *t, const predict_file *file, size_t at, mel_error *err)
{
    const char *name = t->files->name(t->files->user, at), *first = t->files->name(t->files->user, 0);
    if (file->named != t->first.named)
        return cli_fail(err, MEL_EDATA, "%s: %s a header, and %s %s; header=yes or no says it for all files",
                        name, file->named ? "has" : "has not", first, file->named ? "has not" : "has");
    if (file->columns == t->first.columns)
        return MEL_OK;
    return cli_fail(err, MEL_EDATA, "%s has %zu column%s, and %s has %zu", name, file->columns,
                    file->columns == 1 ? "" : "s", first, t->first.columns);
}

/* What rank r tells of file `at`. */
static mel_status take_head(turns *t, const char *bytes, size_t r, size_t at, mel_error *err)
{
    head h;
    memcpy(&h, bytes, sizeof h);
    const mel_notice notice = cli_resources(t->files->run).notice;
    mel_kept_notices_say(bytes + sizeof h, t->sizes[r] - sizeof h, &notice);
    if (h.status != MEL_OK)
        return cli_fail(err, h.status, "%s", h.why.text);
    if (at == 0)
        t->first = h.file;
    t->start[r + 1] = t->start[r] + h.file.rows;
    t->all->rows += h.file.rows;
    t->all->unseen += h.file.unseen;
    t->all->imputed += h.file.imputed;
    return check_alike(t, &h.file, at, err);
}

/* Reads an own file, if there is one from `first` on, and hears of the others. */
static mel_status read_turn(turns *t, size_t first, mel_error *err)
{
    const mel_team *team = mel_team_get();
    const predict_files *files = t->files;
    const size_t own = first + team->rank;
    t->told.n = 0;
    if (own < files->n) {
        head h = { .status = MEL_OK };
        mel_kept_notices_add(&t->told, &h, sizeof h);
        h.status = files->read(&h.file, files->user, own, mel_notice_to_keep(&t->told), &h.why);
        if (t->told.lost)
            cli_out_of_memory();
        memcpy(t->told.bytes, &h, sizeof h);
    }
    char *told = mel_team_collect(t->sizes, t->told.bytes, t->told.n);
    if (told == NULL)
        cli_out_of_memory();
    mel_status status = MEL_OK;
    const char *at = told;
    for (size_t r = 0; r < team->size && status == MEL_OK; at += t->sizes[r++]) {
        t->start[r + 1] = t->start[r];
        if (t->sizes[r] > 0)
            status = take_head(t, at, r, first + r, err);
    }
    free(told);
    return status;
}

/* Everybody says it of their own file, and rank 0 writes. */
static mel_status say_turn(const turns *t, mel_error *err)
{
    const mel_team *team = mel_team_get();
    const predict_files *files = t->files;
    const size_t rows = t->start[team->size] - t->start[0], before = t->start[team->rank];
    MEL_AUTO_MEMORY char *said = cli_alloc_zero(rows, files->row_bytes);
    MEL_AUTO_MEMORY size_t *first = cli_alloc_zero(team->size + 1, sizeof *first);
    for (size_t r = 0; r <= team->size; r++)
        first[r] = t->start[r] - t->start[0];
    if (first[team->rank + 1] > first[team->rank])
        TRY(files->say(said + first[team->rank] * files->row_bytes, files->user, before, err));

    mel_team_gather_runs(said, first, files->row_bytes);
    TRY(mel_team_leads() ? files->write(files->user, said, rows, err) : MEL_OK);
    return MEL_OK;
}

static mel_status predict_whole(predict_file *all, const predict_files *files, mel_error *err)
{
    mel_status status = files->read(all, files->user, 0, cli_resources(files->run).notice, err);
    if (status == MEL_OK)
        status = files->begin(files->user, err);
    if (status != MEL_OK || !mel_team_leads())
        return status;
    void *said = cli_alloc_zero(all->rows, files->row_bytes);
    status = files->say(said, files->user, 0, err);
    if (status == MEL_OK)
        status = files->write(files->user, said, all->rows, err);
    free(said);
    return status;
}

mel_status cli_predict_files(predict_file *all, const predict_files *files, mel_error *err)
{
    const mel_team *team = mel_team_get();
    turns t = { .files = files,
                .all = all,
                .sizes = cli_alloc_zero(team->size, sizeof *t.sizes),
                .start = cli_alloc_zero(team->size + 1, sizeof *t.start) };
    *all = (predict_file){ 0 };
    mel_status status = files->n == 0 ? predict_whole(all, files, err) : MEL_OK;
    for (size_t first = 0; first < files->n && status == MEL_OK; first += team->size) {
        status = read_turn(&t, first, err);
        if (status == MEL_OK && first == 0)
            status = files->begin(files->user, err);
        if (status == MEL_OK)
            status = say_turn(&t, err);
        t.start[0] = t.start[team->size];
        if (status == MEL_OK)
            status = cli_check_stop(err);
    }
    free(t.sizes);
    free(t.start);
    mel_kept_notices_clear(&t.told);
    return status;
}
