/* What the verbs print with: JSON through jansson, aligned tables, headings, warnings. Text that came
 * out of files is made harmless first: control characters are replaced, broken UTF-8 repaired. */
#ifndef MEL_CLI_OUTPUT_H
#define MEL_CLI_OUTPUT_H

#include "command.h"

#include <stdarg.h>
#include <stdio.h>

/* Memory for the program's own small things. When it runs out the program says so and ends with the
 * exit code of MEL_ENOMEM; the library's allocations are reported like any other failure. */
void *cli_alloc_zero(size_t n, size_t size);
void *cli_regrow(void *block, size_t n, size_t size);
_Noreturn void cli_out_of_memory(void);
MEL_PRINTF(1, 2) char *cli_format(const char *fmt, ...);
MEL_PRINTF(1, 0) char *cli_format_list(const char *fmt, va_list args);
/* A text that the library made, NULL when its memory ran out. */
char *cli_made(char *text);
/* Gives the status, unless it is MEL_ENOMEM. */
mel_status cli_or_exit(mel_status status);
/* Say before anything can fail whether errors are to be printed as JSON. */
void cli_expect_json(bool json);

/* JSON values: text repaired where it is not UTF-8; null for numbers that are not finite. */
json_t *cli_json_text(const char *text);
json_t *cli_json_number(double value);
/* [low, high]; null unless both are finite. */
json_t *cli_json_range(double low, double high);
json_t *cli_json_count(uint64_t value);
/* The value of such a text of JSON, which is freed. */
json_t *cli_json_made(char *text);
/* The exact text of an object or list, for the caller to free(); a copy of one; the members of one in
 * another. These end the program without memory, where jansson's own leave something out. */
char *cli_json_written(const json_t *value);
json_t *cli_json_copy(const json_t *value);
void cli_json_update(json_t *object, json_t *with);
/* Adds value, which is taken over. */
void cli_put(json_t *object, const char *key, json_t *value);
void cli_push(json_t *array, json_t *value);

/* Standard output for people. Colours only on a terminal and without NO_COLOR. */
void cli_heading(const char *text);
MEL_PRINTF(1, 2) void cli_print(const char *fmt, ...);
/* "32,561" */
#define CLI_COUNT_SIZE 32
const char *cli_count(char text[CLI_COUNT_SIZE], uint64_t value);
/* Columns of the terminal behind a stream, 80 when it is none; at most 100, for reading. */
size_t cli_width(FILE *stream);
/* Words wrapped at `width` columns, every line after `indent` blanks; `used` columns of the first line
 * are already taken. Newlines in the text are kept. Ends with a newline. */
void cli_wrap(FILE *stream, const char *text, size_t used, size_t indent, size_t width);
/* Columns that a text takes on a terminal (UTF-8 code points). */
size_t cli_columns(const char *text);

/* A text as one harmless line of at most so many columns, shortened with "..."; freed by the caller. */
char *cli_short(const char *text, size_t columns);

/* A table: align holds 'l' or 'r' per column; a header may have several lines. */
typedef struct cli_table cli_table;
cli_table *cli_table_new(const char *align, const char *const *headers);
MEL_PRINTF(2, 3) void cli_table_cell(cli_table *table, const char *fmt, ...);
/* Prints on standard output, indented, and frees. */
void cli_table_print(cli_table *table);

/* Text made from a result, which so says the same as --json. "{test.auc:%.4f}" in a template is the number at
 * that place: %s a text (%.24s: shortened to so many columns), %d a whole number (%'d: 1,234), %f, %g and %e
 * as in printf, 100*%.1f a hundred times as much, s the ending of a plural, ?yes|no one of two texts; behind
 * a bar stands what is shown where nothing is known, "{width:%.3g|open}". NULL: not all of it is known
 * (missing, or null); for free(). */
char *cli_fill(const json_t *from, const char *template);
/* Prints it; false: not all of it is known. Of several, which end with NULL, those that are known. */
bool cli_say(const json_t *from, const char *template);
void cli_say_lines(const json_t *from, const char *const *templates);
/* A table with a row for each item of a list; a column of which no item knows anything is left out. Columns
 * end with one without a template. */
typedef struct {
    const char *header;
    char align; /* 'l' or 'r' */
    const char *template;
} cli_column;
void cli_say_rows(const json_t *list, const cli_column *columns);

/* A warning: in "warnings" of the result, and on standard error unless --quiet (with --json only when
 * that is a terminal). */
MEL_PRINTF(2, 3) void cli_warn(const cli_run *run, const char *fmt, ...);
/* The warning about probabilities of two classes; takes the AUC and the first class. */
#define CLI_WRONG_WAY                                                                                        \
    "these probabilities rank the classes the wrong way round (AUC %.2f): are they those of \"%s\"?"
/* How something given was taken: in "notes" of the result; without --json also on standard error unless
 * --quiet, at once when that is a terminal, else after a success (cli_print_notes). */
MEL_PRINTF(2, 3) void cli_note(cli_run *run, const char *fmt, ...);
void cli_print_notes(const cli_run *run);
/* How a file was read, for --verbose: a line on standard error, with --json in "read" of the result instead.
 */
void cli_tell_read(const cli_run *run, const char *file, const char *sentence);

/* The sentence of a failure on standard error, or the error object on standard output. `who` is the
 * program or program and verb. */
void cli_report_error(const char *who, bool json, const mel_error *err);
/* Prints the object (without taking it over). */
void cli_print_json(const json_t *object);
/* Everything printed must have arrived: MEL_EIO otherwise, without a sentence when the reader of a
 * pipe has simply gone away. */
mel_status cli_close_stdout(mel_error *err);

/* "0.3,0.55,-1": finite numbers with commas between them, at least one; *out is freed by the caller. */
bool cli_parse_numbers(double **out, size_t *n, const char *text);
/* The value of an option such as --point; refuses (MEL_EINVAL) what are no numbers. */
mel_status cli_parse_vector(double **out, size_t *n, const char *option, const char *text, mel_error *err);

json_t *cli_vector_json(size_t n, const double *value);
/* n_rows arrays of n_columns numbers. */
json_t *cli_matrix_json(size_t n_rows, size_t n_columns, const double *value);
/* "(0.25, 0.31, ...)" with six digits, at most eight numbers; freed by the caller. */
char *cli_vector_text(size_t n, const double *value);

#endif
