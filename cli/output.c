/* What the verbs print with: JSON, aligned tables, headings, warnings, and failures. */
#include "output.h"
#include "base/json.h"
#include "data/shared.h"
#include "progress.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
/* ---- text that came from elsewhere ---- */

/* Would a terminal obey the character at s instead of showing it? */
static bool is_control(const unsigned char *s)
{
    return (s[0] < 0x20 && s[0] != '\n') || s[0] == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0);
}

/* Valid UTF-8 in place of whatever text is; control characters except newline become "?". */
static char *made_harmless(const char *text)
{
    char *clean = cli_made(mel_utf8_repaired(text)), *to = clean;
    for (const char *at = clean; *at != '\0'; at++) {
        const bool control = is_control((const unsigned char *)at);
        at += control && (unsigned char)*at == 0xC2; /* two bytes */
        *to++ = control ? '?' : *at;
    }
    *to = '\0';
    return clean;
}

/* ---- JSON ---- */

static json_t *present(json_t *value)
{
    if (value == NULL)
        cli_out_of_memory();
    return value;
}

json_t *cli_json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    char *valid = cli_made(mel_utf8_repaired(text)), *clean = made_harmless(text);
    if (strcmp(valid, text) != 0) /* else it was memory */
        value = json_string(clean);
    free(clean);
    free(valid);
    return present(value);
}

json_t *cli_json_made(char *text)
{
    json_t *value = NULL;
    (void)cli_made(text);
    (void)mel_json_parse(&value, text, strlen(text), NULL);
    free(text);
    return present(value);
}

char *cli_json_written(const json_t *value)
{
    return cli_made(mel_json_text(value, JSON_COMPACT | JSON_REAL_PRECISION(17)));
}

json_t *cli_json_copy(const json_t *value)
{
    return cli_json_made(cli_json_written(value));
}

void cli_json_update(json_t *object, json_t *with)
{
    if (json_object_update(object, with) != 0)
        cli_out_of_memory();
}

json_t *cli_json_number(double value)
{
    return present(isfinite(value) ? json_real(value) : json_null());
}

json_t *cli_json_range(double low, double high)
{
    if (!isfinite(low) || !isfinite(high))
        return json_null();
    json_t *range = json_array();
    cli_push(range, cli_json_number(low));
    cli_push(range, cli_json_number(high));
    return range;
}

json_t *cli_json_count(uint64_t value)
{
    return present(json_integer((json_int_t)value));
}

void cli_put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, present(value)) != 0)
        cli_out_of_memory();
}

void cli_push(json_t *array, json_t *value)
{
    if (json_array_append_new(array, present(value)) != 0)
        cli_out_of_memory();
}

void cli_print_json(const json_t *object)
{
    char *text = cli_made(mel_json_text(object, JSON_INDENT(2)));
    (void)puts(text); /* a failed write is found by cli_close_stdout */
    mel_json_free_text(text);
}

/* ---- for people ---- */

static bool colours(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && (no_color == NULL || *no_color == '\0') &&
           (term == NULL || strcmp(term, "dumb") != 0);
}

void cli_heading(const char *text)
{
    char *clean = made_harmless(text);
    const bool bold = colours(stdout);
    cli_bar_clear();
    (void)printf("%s%s%s\n", bold ? "\033[1m" : "", clean, bold ? "\033[0m" : "");
    free(clean);
}

void cli_print(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = cli_format_list(fmt, args);
    va_end(args);
    char *clean = made_harmless(text);
    cli_bar_clear();
    (void)fputs(clean, stdout);
    free(clean);
    free(text);
}

const char *cli_count(char text[CLI_COUNT_SIZE], uint64_t value)
{
    char digits[CLI_COUNT_SIZE];
    const int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

size_t cli_width(FILE *stream)
{
    struct winsize size;
    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col < 40 ? 40 : size.ws_col > 100 ? 100 : size.ws_col;
}

size_t cli_columns(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static void blanks(FILE *stream, size_t n)
{
    (void)fprintf(stream, "%*s", (int)n, "");
}

void cli_wrap(FILE *stream, const char *text, size_t used, size_t indent, size_t width)
{
    size_t column = used;
    while (*text != '\0') {
        if (*text == '\n' || *text == ' ') {
            if (*text == '\n') {
                (void)fputc('\n', stream);
                column = 0;
            }
            text++;
            continue;
        }
        const size_t length = strcspn(text, " \n");
        char *word = cli_format("%.*s", (int)length, text);
        const size_t wide = cli_columns(word);
        if (column > indent && column + 1 + wide > width) {
            (void)fputc('\n', stream);
            column = 0;
        }
        if (column < indent) {
            blanks(stream, indent - column);
            column = indent;
        } else if (column > indent) {
            (void)fputc(' ', stream);
            column++;
        }
        (void)fputs(word, stream);
        column += wide;
        text += length;
        free(word);
    }
    (void)fputc('\n', stream);
}

char *cli_short(const char *text, size_t columns)
{
    char *line = made_harmless(text);
    for (char *c = line; *c != '\0'; c++)
        if (*c == '\n')
            *c = '?';
    if (cli_columns(line) <= columns)
        return line;
    size_t bytes = 0;
    for (size_t n = 0; n < columns - 3; n++)
        do
            bytes++;
        while ((line[bytes] & 0xC0) == 0x80); /* a character's first byte and those that continue it */
    char *cut = cli_format("%.*s...", (int)bytes, line);
    free(line);
    return cut;
}

/* ---- tables ---- */

struct cli_table {
    const char *align;
    const char *const *headers;
    size_t n_columns, n_cells, capacity;
    char **cell;
};

cli_table *cli_table_new(const char *align, const char *const *headers)
{
    cli_table *table = cli_alloc_zero(1, sizeof *table);
    table->align = align;
    table->headers = headers;
    table->n_columns = strlen(align);
    return table;
}

void cli_table_cell(cli_table *table, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = cli_format_list(fmt, args);
    va_end(args);
    if (table->n_cells == table->capacity) {
        table->capacity = table->capacity != 0 ? 2 * table->capacity : 64;
        table->cell = cli_regrow(table->cell, table->capacity, sizeof *table->cell);
    }
    table->cell[table->n_cells++] = made_harmless(text);
    free(text);
}

/* Line number `line` of a text, as a fresh string; "" beyond the last. */
static char *line_of(const char *text, size_t line)
{
    for (; line > 0 && *text != '\0'; line--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return cli_format("%.*s", (int)strcspn(text, "\n"), text);
}

static size_t count_lines(const char *text)
{
    size_t n = 1;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

static void print_cell(const cli_table *table, size_t column, size_t width, const char *text)
{
    const size_t gap = column == 0 ? 2 : 3; /* the table's indent, the space between columns */
    const size_t pad = width - cli_columns(text);
    const bool last = column + 1 == table->n_columns;
    if (table->align[column] == 'r')
        (void)printf("%*s%s", (int)(gap + pad), "", text);
    else
        (void)printf("%*s%s%*s", (int)gap, "", text, last ? 0 : (int)pad, "");
    if (last)
        (void)putchar('\n');
}

static size_t column_width(const cli_table *table, size_t column)
{
    size_t width = 0;
    for (size_t line = 0; line < count_lines(table->headers[column]); line++) {
        char *text = line_of(table->headers[column], line);
        const size_t wide = cli_columns(text);
        width = wide > width ? wide : width;
        free(text);
    }
    for (size_t i = column; i < table->n_cells; i += table->n_columns) {
        const size_t wide = cli_columns(table->cell[i]);
        width = wide > width ? wide : width;
    }
    return width;
}

static void print_headers(const cli_table *table, const size_t *width)
{
    size_t lines = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        const size_t n = count_lines(table->headers[c]);
        lines = n > lines ? n : lines;
    }
    const bool dim = colours(stdout);
    for (size_t line = 0; line < lines; line++) {
        if (dim)
            (void)fputs("\033[2m", stdout);
        for (size_t c = 0; c < table->n_columns; c++) {
            char *text = line_of(table->headers[c], line);
            print_cell(table, c, width[c], text);
            free(text);
        }
        if (dim)
            (void)fputs("\033[0m", stdout);
    }
}

void cli_table_print(cli_table *table)
{
    size_t *width = cli_alloc_zero(table->n_columns, sizeof *width);
    for (size_t c = 0; c < table->n_columns; c++)
        width[c] = column_width(table, c);
    cli_bar_clear();
    print_headers(table, width);
    for (size_t i = 0, c = 0; i < table->n_cells; i++) {
        print_cell(table, c, width[c], table->cell[i]);
        free(table->cell[i]);
        c = c + 1 < table->n_columns ? c + 1 : 0;
    }
    free(width);
    free(table->cell);
    free(table);
}

/* ---- standard error, and the end ---- */

static void say(const char *who, const char *text)
{
    char *clean = made_harmless(text);
    cli_bar_clear();
    (void)fflush(stdout); /* both may go to one file, in the order in which they were said */
    (void)fprintf(stderr, "%s%s\n", who, clean);
    free(clean);
}

/* One more text in a list of the result. */
static void list_text(const cli_run *run, const char *key, const char *text)
{
    json_t *list = json_object_get(run->result, key);
    if (list == NULL) {
        list = json_array();
        cli_put(run->result, key, list);
    }
    cli_push(list, cli_json_text(text));
}

void cli_warn(const cli_run *run, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = cli_format_list(fmt, args);
    va_end(args);
    list_text(run, "warnings", text);
    if (!run->quiet && (!run->json || isatty(STDERR_FILENO)))
        say("melicit: warning: ", text);
    free(text);
}

void cli_tell_read(const cli_run *run, const char *file, const char *sentence)
{
    char *text = cli_format("%s: %s", file, sentence);
    if (run->json)
        list_text(run, "read", text);
    else
        say("melicit: ", text);
    free(text);
}

void cli_note(cli_run *run, const char *fmt, ...)
{
    if (run->result == NULL) /* nobody listens */
        return;
    va_list args;
    va_start(args, fmt);
    char *text = cli_format_list(fmt, args);
    va_end(args);
    list_text(run, "notes", text);
    if (!run->quiet && !run->json && isatty(STDERR_FILENO))
        say("melicit: ", text);
    free(text);
}

void cli_print_notes(const cli_run *run)
{
    const json_t *list = json_object_get(run->result, "notes");
    const bool silent = run->quiet || run->json || isatty(STDERR_FILENO) != 0;
    for (size_t i = 0; !silent && i < json_array_size(list); i++)
        say("melicit: ", json_string_value(json_array_get(list, i)));
}

void cli_report_error(const char *who, bool json, const mel_error *err)
{
    const char *text = err->text[0] != '\0' ? err->text : mel_status_text(err->code);
    if (!json) {
        char *prefix = cli_format("%s: ", who);
        say(prefix, text);
        free(prefix);
        return;
    }
    json_t *inner = present(json_object()), *outer = present(json_object());
    cli_put(inner, "code", cli_json_text(mel_status_name(err->code)));
    cli_put(inner, "message", cli_json_text(text));
    cli_put(outer, "error", inner);
    cli_print_json(outer);
    json_decref(outer);
}

mel_status cli_close_stdout(mel_error *err)
{
    errno = 0;
    const bool failed = ferror(stdout) != 0;
    bool flushed = fflush(stdout) == 0;
    if (failed && flushed) /* what failed is dropped and its errno gone: a further byte tells why */
        flushed = putchar('\n') != EOF && fflush(stdout) == 0;
    const int reason = errno;
    const bool closed = fclose(stdout) == 0;
    if (!failed && flushed && closed)
        return MEL_OK;
    *err = (mel_error){ .code = MEL_EIO };
    if (reason != EPIPE)
        (void)cli_fail(err, MEL_EIO, "cannot write to standard output: %s",
                       reason != 0 ? strerror(reason) : "a write failed");
    return MEL_EIO;
}

/* --- numbers ---------------------------------------------------------------------------------------------
 */

enum { MOST_SHOWN = 8 };

bool cli_parse_numbers(double **out, size_t *n, const char *text)
{
    return cli_or_exit(mel_parse_numbers(out, n, text, NULL)) == MEL_OK;
}

mel_status cli_parse_vector(double **out, size_t *n, const char *option, const char *text, mel_error *err)
{
    return cli_parse_numbers(out, n, text)
               ? MEL_OK
               : cli_fail(err, MEL_EINVAL, "--%s %s: expected numbers with commas between them", option,
                          text);
}

json_t *cli_vector_json(size_t n, const double *value)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        cli_push(array, cli_json_number(value[i]));
    return array;
}

json_t *cli_matrix_json(size_t n_rows, size_t n_columns, const double *value)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n_rows; i++)
        cli_push(array, cli_vector_json(n_columns, value + i * n_columns));
    return array;
}

char *cli_vector_text(size_t n, const double *value)
{
    char *text = cli_format("(");
    for (size_t i = 0; i < n && i < MOST_SHOWN; i++) {
        char *longer = cli_format("%s%s%.6g", text, i == 0 ? "" : ", ", value[i]);
        free(text);
        text = longer;
    }
    char *closed = cli_format("%s%s)", text, n > MOST_SHOWN ? ", ..." : "");
    free(text);
    return closed;
}
