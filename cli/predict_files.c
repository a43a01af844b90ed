/* The files of a pattern in turns of one for each rank. */
#include "base/team.h"
#include "output.h"
#include "predict.h"
#include "progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* --- probabilities and decisions, row by row --- */

/* Could the cell read back as something else without quotes: as several, or as a missing one? */
static bool needs_quotes(const char *text)
{
    return text[strcspn(text, ",;|\t \"\r\n")] != '\0' || mel_is_missing_word(text);
}

static void write_cell(FILE *stream, const char *text)
{
    if (!needs_quotes(text)) {
        (void)fputs(text, stream);
        return;
    }
    (void)fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)fputc('"', stream);
        (void)fputc(*text, stream);
    }
    (void)fputc('"', stream);
}

static void write_little_endian(FILE *stream, uint64_t bits)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(bits >> (8 * i));
    (void)fwrite(bytes, 1, sizeof bytes, stream);
}

static FILE *stream_of(const prediction_file *file)
{
    return file->waiting != NULL ? file->waiting : file->out.stream;
}

/* Writes are not checked one by one: the stream remembers a failure. */
static mel_status checked(const prediction_file *file, mel_error *err)
{
    return ferror(stream_of(file)) == 0 ? MEL_OK : cli_out_failed(&file->out, err);
}

/* CSV columns are in the order of the classes, NPY columns in that of the sorted labels. */
static mel_status find_order(prediction_file *file, const prediction_shape *shape, mel_error *err)
{
    file->order = cli_alloc_zero(shape->classes, sizeof *file->order);
    for (size_t c = 0; c < shape->classes; c++)
        file->order[c] = c;
    if (shape->csv)
        return MEL_OK;
    TRY(mel_sort_class_names(file->order, shape->classes, shape->labels, shape->number_texts, err));
    file->value = cli_alloc_zero(shape->classes, sizeof *file->value);
    return mel_class_values(file->value, &file->whole, shape->classes, shape->labels, err);
}

/* An NPY file begins with the number of its rows. */
static void write_start(const prediction_file *file)
{
    char header[MEL_NPY_START_BYTES];
    const char *item = file->decisions && file->whole ? "<i8" : "<f8";
    const size_t n = mel_npy_start(header, item, file->rows, file->decisions ? NULL : &file->classes);
    (void)fwrite(header, 1, n, file->out.stream);
}

static void write_header(const prediction_file *file, const prediction_shape *shape)
{
    FILE *stream = file->out.stream;
    if (!shape->csv) {
        if (file->waiting == NULL)
            write_start(file);
    } else if (shape->decisions) {
        write_cell(stream, shape->column != NULL ? shape->column : "decision");
        (void)fputc('\n', stream);
    } else {
        for (size_t c = 0; c < shape->classes; c++) {
            (void)fputs(c != 0 ? "," : "", stream);
            write_cell(stream, shape->names[c]);
        }
        (void)fputc('\n', stream);
    }
}

mel_status prediction_file_open(prediction_file *file, const char *path, const prediction_shape *shape,
                                mel_error *err)
{
    *file = (prediction_file){ .csv = shape->csv, .decisions = shape->decisions, .classes = shape->classes };
    file->names = mel_names_copy(shape->classes, shape->names, 0);
    if (file->names == NULL)
        return cli_fail(err, MEL_ENOMEM, "not enough memory for the names of the classes");
    TRY(find_order(file, shape, err));
    TRY(cli_out_open(&file->out, path, err));
    const bool waits = !shape->csv && file->out.temporary == NULL;
    file->waiting = waits ? tmpfile() : NULL;
    if (waits && file->waiting == NULL)
        return cli_fail(err, MEL_EIO, "cannot make a temporary file: %s", strerror(errno));
    write_header(file, shape);
    return checked(file, err);
}

static void write_double(FILE *stream, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    write_little_endian(stream, bits);
}

mel_status prediction_file_probabilities(prediction_file *file, const double *probs, mel_error *err)
{
    FILE *stream = stream_of(file);
    file->rows++;
    for (size_t c = 0; c < file->classes; c++) {
        if (file->csv)
            (void)fprintf(stream, "%s%.17g", c != 0 ? "," : "", probs[c]);
        else
            write_double(stream, probs[file->order[c]]);
    }
    if (file->csv)
        (void)fputc('\n', stream);
    return checked(file, err);
}

mel_status prediction_file_decision(prediction_file *file, uint32_t code, mel_error *err)
{
    FILE *stream = stream_of(file);
    file->rows++;
    if (file->csv) {
        write_cell(stream, file->names[code]);
        (void)fputc('\n', stream);
    } else if (file->whole) {
        write_little_endian(stream, (uint64_t)(int64_t)file->value[code]);
    } else {
        write_double(stream, file->value[code]);
    }
    return checked(file, err);
}

/* The number of rows is known by now. */
static mel_status finish_start(const prediction_file *file, mel_error *err)
{
    FILE *rows = file->waiting;
    if (rows == NULL && fseek(file->out.stream, 0, SEEK_SET) != 0)
        return cli_out_failed(&file->out, err);
    write_start(file);
    if (rows == NULL)
        return checked(file, err);
    return fflush(rows) == 0 && lseek(fileno(rows), 0, SEEK_SET) == 0
               ? cli_out_copy(&file->out, fileno(rows), err)
               : cli_out_failed(&file->out, err);
}

mel_status prediction_file_commit(prediction_file *file, mel_error *err)
{
    TRY(file->csv ? MEL_OK : finish_start(file, err));
    return cli_out_commit(&file->out, err);
}

void prediction_file_abandon(prediction_file *file)
{
    if (file->waiting != NULL)
        (void)fclose(file->waiting);
    cli_out_clear(&file->out);
    mel_names_free(file->names, file->classes);
    free(file->order);
    free(file->value);
    *file = (prediction_file){ 0 };
}
