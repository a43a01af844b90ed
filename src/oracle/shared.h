/* What other rooms and the program use of this room beyond melicit/oracle.h; not exported. */
#ifndef MEL_ORACLE_SHARED_H
#define MEL_ORACLE_SHARED_H

#include "melicit/oracle.h"

#include <stdio.h>

/* The text that mel_noise_parse reads; n bytes suffice with MEL_NOISE_TEXT. */
#define MEL_NOISE_TEXT 64
void mel_noise_print(char *text, size_t n, const mel_noise *noise);
/* Whether a simulated respondent errs about a question whose values differ by `difference` (0 or more): by
 * the seed, the question's number and its repetition alone. */
bool mel_noise_errs(const mel_noise *noise, uint64_t seed, const mel_question *question, double difference);

/* The most frequent of `votes` (odd) answers of inner; A and B in equal number are "about the
 * same". Stops asking once the outcome is settled. Takes inner over, on failure too. */
mel_status mel_oracle_majority(mel_oracle **out, mel_oracle *inner, uint32_t votes, mel_error *err);

typedef struct {
    size_t struct_size;
    double timeout; /* seconds to wait for one answer; 0 (default): for ever, there may be a person behind */
    /* Seconds the program has to end once its input is closed, before it (or the shell that runs it,
     * unless it starts with exec) is killed; 5. */
    double grace;
    mel_progress progress; /* asked now and then while waiting: nonzero gives up with MEL_ESTOPPED */
} mel_command_options;
void mel_command_options_init(mel_command_options *opt);
/* Starts `program` once with /bin/sh -c; writes one JSON line per question to its standard input and
 * reads one line, A, B, = or ? (blanks around it and case ignored), from its standard output; its
 * standard error is ours. MEL_EDATA with what was received when it says anything else, talks before it
 * is asked, ends, or does not answer in time; after that it is asked no more (MEL_ESTATE). */
mel_status mel_oracle_command(mel_oracle **out, const char *program, const mel_command_options *opt,
                              mel_error *err);

/* How a question is shown as text. */
typedef struct {
    size_t struct_size;
    /* Counts are out of this many; 0 (default): 100, 1,000 or 10,000, the first that tells the two apart
     * well. */
    uint32_t people;
    int width;        /* columns; 80; at least 40 */
    bool utf8;        /* block bars and real dashes instead of # and - */
    bool colour;      /* ANSI colours */
    bool sizes;       /* class sizes next to the class names; true */
    bool classifiers; /* what achieves each side, above it; false: people rarely care */
    /* Names of the two mistakes of a binary question, singular ("missed cancer", "false alarm"); NULL:
     * from the class names. */
    const char *missed, *false_alarm;
    const char *missed_plural, *false_alarms; /* the same in the plural; NULL: "missed cancer cases" */
} mel_show_options;
void mel_show_options_init(mel_show_options *opt);
/* The question as lines of text, for the caller to free(). */
mel_status mel_question_show(char **out, const mel_question *question, const mel_show_options *opt,
                             mel_error *err);

typedef struct {
    size_t struct_size;
    FILE *in, *out; /* stdin, stdout; lent, must outlive the oracle */
    mel_show_options show;
} mel_terminal_options;
/* Width, UTF-8 and colour as the environment and `out` suggest (COLUMNS or the window's size, LC_ALL,
 * LC_CTYPE, LANG, NO_COLOR, TERM). */
void mel_terminal_options_init(mel_terminal_options *opt);
/* Asks a person. When `in` is a terminal one key answers (a, 1, left; b, 2, right; =; s can't
 * say; u undo; q or Ctrl-C quit; ? explain) and the terminal is as before whenever the call returns or a
 * signal ends the process; otherwise a line does. End of input is quit. */
mel_status mel_oracle_terminal(mel_oracle **out, const mel_terminal_options *opt, mel_error *err);

/* How the models of wrong answers are written, and how they are assumed, i from 0 up; NULL after the last. */
const char *mel_noise_form(size_t i);
const char *mel_noise_assumed_form(size_t i);

#endif
