/* Probabilities and decisions, row by row. */
#include "prediction_file.h"

#include "base/names.h"
#include "data/shared.h"
#include "output.h"
#include "problem/shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
