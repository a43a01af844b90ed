/* A program that gives the value of a classifier: predictions on the validation rows out as a line of JSON, a
 * number back. */
#include "base/buffer.h"
#include "data/quote.h"
#include "optimise/optimise.h"
#include "optimise/shared.h"
#include "oracle/process.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1 << 30, MAX_ANSWER = 1000 };
/* How often a wish to stop is looked for while the program thinks, in seconds. */
static const double patience = 0.1;

struct mel_judge_command {
    mel_judge_options opt;
    mel_process process;
    mel_buffer line;
    size_t n_rows, n_classes;
    const char *const *class_name;
    unsigned long query;
    char answer[MAX_ANSWER];
    size_t n_answer;
    bool broken;
};

void mel_judge_options_init(mel_judge_options *opt)
{
    *opt = (mel_judge_options){ .struct_size = sizeof *opt, .timeout = 60.0, .grace = 2.0 };
}

void mel_judge_command_end(mel_judge_command *j)
{
    if (j == NULL)
        return;
    mel_process_end(&j->process, j->broken ? 0.0 : j->opt.grace);
    mel_buffer_free(&j->line);
    free(j);
}

mel_status mel_judge_command_start(mel_judge_command **out, const char *program, size_t n_rows,
                                   size_t n_classes, const char *const *class_name,
                                   const mel_judge_options *opt, mel_error *err)
{
    *out = NULL;
    mel_judge_options use;
    mel_judge_options_init(&use);
    const mel_status status = mel_options_take(&use, sizeof use, opt, "options of a judge", err);
    if (status != MEL_OK)
        return status;
    if (program[strspn(program, " \t\r\n")] == '\0')
        return mel_fail(err, MEL_EINVAL, "the program that gives the metric has no name");
    if (!(use.timeout > 0.0) || !isfinite(use.timeout) || !(use.grace >= 0.0) || !isfinite(use.grace))
        return mel_fail(err, MEL_EINVAL, "a program that gives the metric: timeout %g, grace %g seconds",
                        use.timeout, use.grace);
    mel_judge_command *j = mel_alloc_zero(1, sizeof *j);
    if (j == NULL)
        return mel_fail_memory(err, "a judge");
    *j =
        (mel_judge_command){ .opt = use, .n_rows = n_rows, .n_classes = n_classes, .class_name = class_name };
    mel_buffer_init(&j->line, MAX_LINE);
    const int reason = mel_process_start(&j->process, program);
    if (reason != 0) {
        mel_judge_command_end(j);
        return mel_fail(err, reason == ENOMEM ? MEL_ENOMEM : MEL_EIO,
                        "cannot start %s with /bin/sh: error %d", mel_quote_text(program).text, reason);
    }
    *out = j;
    return MEL_OK;
}

/* --- the question ------------------------------------------------------------------------------- */

static void add_text(mel_buffer *line, const char *text)
{
    mel_buffer_puts(line, "\"");
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '"' || *c == '\\')
            mel_buffer_printf(line, "\\%c", *c);
        else if ((unsigned char)*c < 0x20)
            mel_buffer_printf(line, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            mel_buffer_add(line, c, 1);
    mel_buffer_puts(line, "\"");
}

static void add_labels(mel_judge_command *j, const double *chance)
{
    mel_buffer_puts(&j->line, ", \"labels\": [");
    for (size_t i = 0; i < j->n_rows; i++) {
        size_t c = 0;
        while (c + 1 < j->n_classes && chance[i * j->n_classes + c] < 0.5)
            c++;
        mel_buffer_puts(&j->line, i > 0 ? ", " : "");
        add_text(&j->line, j->class_name[c]);
    }
    mel_buffer_puts(&j->line, "]}\n");
}

static void add_chances(mel_judge_command *j, const double *chance)
{
    mel_buffer_puts(&j->line, ", \"classes\": [");
    for (size_t c = 0; c < j->n_classes; c++) {
        mel_buffer_puts(&j->line, c > 0 ? ", " : "");
        add_text(&j->line, j->class_name[c]);
    }
    mel_buffer_puts(&j->line, "], \"chances\": [");
    for (size_t i = 0; i < j->n_rows; i++) {
        mel_buffer_puts(&j->line, i > 0 ? ", [" : "[");
        for (size_t c = 0; c < j->n_classes; c++)
            mel_buffer_printf(&j->line, "%s%.17g", c > 0 ? ", " : "", chance[i * j->n_classes + c]);
        mel_buffer_puts(&j->line, "]");
    }
    mel_buffer_puts(&j->line, "]}\n");
}

/* --- the answer --------------------------------------------------------------------------------- */

/* A whole line at the front of j->answer, of n characters; it waits until then. */
static mel_moved read_line(mel_judge_command *j, size_t *n, double deadline)
{
    for (;;) {
        const char *newline = memchr(j->answer, '\n', j->n_answer);
        *n = newline != NULL ? (size_t)(newline - j->answer) : j->n_answer;
        if (newline != NULL || j->n_answer == sizeof j->answer)
            return MEL_MOVED;
        size_t got = 0;
        const mel_moved moved = mel_process_read(&j->process, j->answer + j->n_answer,
                                                 sizeof j->answer - j->n_answer, &got, deadline);
        if (moved == MEL_MOVED_END && j->n_answer > 0) /* the last line may lack its newline */
            return MEL_MOVED;
        if (moved != MEL_MOVED)
            return moved;
        j->n_answer += got;
    }
}

/* The same, with a look at the wish to stop now and then. */
static mel_status await_line(mel_judge_command *j, mel_moved *moved, size_t *n, mel_error *err)
{
    const double deadline = mel_clock() + j->opt.timeout;
    mel_status status = MEL_OK;
    do {
        const double now = mel_clock();
        *moved = read_line(j, n, now + patience < deadline ? now + patience : deadline);
        if (*moved == MEL_MOVED_LATE)
            status = mel_report_progress(&j->opt.progress, "waiting for the metric", 0.0, err);
    } while (status == MEL_OK && *moved == MEL_MOVED_LATE && mel_clock() < deadline);
    return status;
}

static mel_status say_failure(mel_judge_command *j, mel_moved moved, mel_error *err)
{
    char how[64];
    if (moved == MEL_MOVED_LATE)
        return mel_fail(err, MEL_EDATA, "the program gave no value within %g seconds", j->opt.timeout);
    (void)mel_process_wait(&j->process, 1.0);
    mel_process_describe(how, sizeof how, &j->process);
    return mel_fail(err, MEL_EDATA, "the program gave no value (%s)", how);
}

static mel_status take_number(double *out, mel_judge_command *j, size_t n, mel_error *err)
{
    char text[MAX_ANSWER + 1], *end = text;
    memcpy(text, j->answer, n);
    text[n] = '\0';
    *out = strtod(text, &end);
    const bool number = end != text && end[strspn(end, " \t\r")] == '\0';
    const size_t used = n < j->n_answer ? n + 1 : n;
    j->n_answer -= used;
    memmove(j->answer, j->answer + used, j->n_answer);
    if (!number)
        return mel_fail(err, MEL_EDATA, "the program answered %s, expected a number",
                        mel_quote(text, n).text);
    return MEL_OK;
}

/* Anything said before the query would be taken for the answer to it. */
static mel_status check_silence(mel_judge_command *j, mel_error *err)
{
    size_t got = 0;
    if (j->n_answer == 0 &&
        mel_process_read(&j->process, j->answer, sizeof j->answer, &got, mel_clock()) == MEL_MOVED)
        j->n_answer = got;
    return j->n_answer == 0 ? MEL_OK
                            : mel_fail(err, MEL_EDATA, "the program said %s before it was asked",
                                       mel_quote(j->answer, j->n_answer).text);
}

static mel_status ask(double *out, mel_judge_command *j, const double *chance, mel_error *err)
{
    mel_status status = check_silence(j, err);
    if (status != MEL_OK)
        return status;
    mel_buffer_reset(&j->line);
    mel_buffer_printf(&j->line, "{\"query\": %lu", ++j->query);
    if (j->opt.labels_only)
        add_labels(j, chance);
    else
        add_chances(j, chance);
    if (j->line.status != MEL_OK)
        return mel_fail_memory(err, "a query");
    size_t n = 0;
    mel_moved moved =
        mel_process_write(&j->process, j->line.data, j->line.size, mel_clock() + j->opt.timeout);
    if (moved == MEL_MOVED)
        status = await_line(j, &moved, &n, err);
    if (status != MEL_OK)
        return status;
    return moved == MEL_MOVED ? take_number(out, j, n, err) : say_failure(j, moved, err);
}

static mel_status judge(double *out, void *user, const double *chance, mel_error *err)
{
    mel_judge_command *j = user;
    if (j->broken)
        return mel_fail(err, MEL_ESTATE, "the program failed before and is asked no more");
    const mel_status status = ask(out, j, chance, err);
    j->broken = status != MEL_OK;
    return status;
}

mel_black_box mel_judge_command_box(mel_judge_command *j)
{
    return (mel_black_box){ .judge = judge, .user = j };
}
