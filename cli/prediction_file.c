#include "prediction_file.h"

#include "melicit/data.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Would the cell read back as something else without quotes? Blanks at its ends are trimmed; nothing, "?"
 * and "NA" are missing values. */
static bool needs_quotes(const char *text)
{
    const size_t n = strlen(text);
    return n == 0 || text[strcspn(text, ",\"\r\n")] != '\0' || is_blank(text[0]) || is_blank(text[n - 1]) ||
           strcmp(text, "?") == 0 || strcmp(text, "NA") == 0;
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

/* Writes are not checked one by one: the stream remembers a failure. */
static mel_status checked(const prediction_file *file, mel_error *err)
{
    if (ferror(file->out.stream) == 0)
        return MEL_OK;
    return cli_out_failed(&file->out, err);
}

mel_status prediction_file_open(prediction_file *file, const char *path, const prediction_shape *shape,
                                mel_error *err)
{
    *file = (prediction_file){ .csv = shape->csv, .classes = shape->classes };
    const mel_status status = cli_out_open(&file->out, path, err);
    if (status != MEL_OK)
        return status;
    FILE *stream = file->out.stream;
    if (!shape->csv) {
        char header[MEL_NPY_START_BYTES];
        const size_t n = shape->decisions ? mel_npy_start(header, "<i8", shape->rows, NULL)
                                          : mel_npy_start(header, "<f8", shape->rows, &shape->classes);
        (void)fwrite(header, 1, n, stream);
    } else if (shape->decisions) {
        (void)fputs("decision\n", stream);
    } else {
        for (size_t c = 0; c < shape->classes; c++) {
            (void)fputs(c != 0 ? "," : "", stream);
            write_cell(stream, shape->names[c]);
        }
        (void)fputc('\n', stream);
    }
    return checked(file, err);
}

mel_status prediction_file_probabilities(prediction_file *file, const double *probs, mel_error *err)
{
    FILE *stream = file->out.stream;
    for (size_t c = 0; c < file->classes; c++) {
        uint64_t bits;
        memcpy(&bits, &probs[c], sizeof bits);
        if (file->csv)
            (void)fprintf(stream, "%s%.17g", c != 0 ? "," : "", probs[c]);
        else
            write_little_endian(stream, bits);
    }
    if (file->csv)
        (void)fputc('\n', stream);
    return checked(file, err);
}

mel_status prediction_file_decision(prediction_file *file, uint32_t code, const char *name, mel_error *err)
{
    if (file->csv) {
        write_cell(file->out.stream, name);
        (void)fputc('\n', file->out.stream);
    } else {
        write_little_endian(file->out.stream, code);
    }
    return checked(file, err);
}

mel_status prediction_file_commit(prediction_file *file, mel_error *err)
{
    return cli_out_commit(&file->out, err);
}

void prediction_file_abandon(prediction_file *file)
{
    cli_out_abandon(&file->out);
}
