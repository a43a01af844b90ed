/* A program that gives the value of a classifier: predictions on the validation rows out as a line of JSON, a
 * number back. */
#include "base/buffer.h"
#include "base/team.h"
#include "data/quote.h"
#include "optimise/optimise.h"
#include "optimise/shared.h"
#include "oracle/process.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1 << 30 };

struct mel_judge_command {
    mel_judge_options opt;
    mel_talk talk;
    mel_buffer line;
    size_t n_rows, n_classes;
    const char *const *class_name;
    unsigned long query;
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
    mel_process_end(&j->talk.process, j->broken ? 0.0 : j->opt.grace);
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
    TRY(mel_options_take(&use, sizeof use, opt, "options of a judge", err));
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
    j->talk.progress = use.progress;
    mel_buffer_init(&j->line, MAX_LINE);
    j->talk.process = (mel_process){ .to = -1, .from = -1 };
    const int reason = mel_team_leads() ? mel_process_start(&j->talk.process, program, true) : 0;
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

static mel_status say_failure(mel_judge_command *j, mel_moved moved, mel_error *err)
{
    char how[64];
    if (moved == MEL_MOVED_LATE)
        return mel_fail(err, MEL_EDATA, "the program gave no value within %g seconds", j->opt.timeout);
    (void)mel_process_wait(&j->talk.process, 1.0);
    mel_process_describe(how, sizeof how, &j->talk.process);
    return mel_fail(err, MEL_EDATA, "the program gave no value (%s)", how);
}

static mel_status take_number(double *out, mel_judge_command *j, size_t n, mel_error *err)
{
    char text[MEL_MAX_SAID + 1], *end = text;
    memcpy(text, j->talk.said, n);
    text[n] = '\0';
    *out = mel_to_double(text, &end);
    const bool number = end != text && end[strspn(end, " \t\r")] == '\0';
    mel_talk_used(&j->talk, n);
    if (!number)
        return mel_fail(err, MEL_EDATA, "the program answered %s, expected a number",
                        mel_quote(text, n).text);
    return MEL_OK;
}

static mel_status ask_program(double *out, mel_judge_command *j, const double *chance, mel_error *err)
{
    if (!mel_talk_silent(&j->talk)) /* it would be taken for the answer */
        return mel_fail(err, MEL_EDATA, "the program said %s before it was asked",
                        mel_quote(j->talk.said, j->talk.n_said).text);
    mel_buffer_reset(&j->line);
    mel_buffer_printf(&j->line, "{\"query\": %lu", ++j->query);
    if (j->opt.labels_only)
        add_labels(j, chance);
    else
        add_chances(j, chance);
    if (j->line.status != MEL_OK)
        return mel_fail_memory(err, "a query");
    mel_moved moved = MEL_MOVED;
    size_t n = 0;
    const mel_status status = mel_talk_exchange(&j->talk, &moved, &n, j->line.data, j->line.size,
                                                j->opt.timeout, "waiting for the metric", err);
    if (status != MEL_OK)
        return status;
    return moved == MEL_MOVED ? take_number(out, j, n, err) : say_failure(j, moved, err);
}

/* With several ranks, the first one asks and shares the answer. */
static mel_status ask_once(double *out, mel_judge_command *j, const double *chance, mel_error *err)
{
    struct {
        mel_status status;
        double value;
        mel_error why;
    } said = { 0 };
    if (mel_team_leads())
        said.status = ask_program(&said.value, j, chance, &said.why);
    mel_team_share(&said, sizeof said);
    *out = said.value;
    return said.status == MEL_OK ? MEL_OK : mel_fail(err, said.status, "%s", said.why.text);
}

static mel_status judge(double *out, void *user, const double *chance, mel_error *err)
{
    mel_judge_command *j = user;
    if (j->broken)
        return mel_fail(err, MEL_ESTATE, "the program failed before and is asked no more");
    const mel_status status = ask_once(out, j, chance, err);
    j->broken = status != MEL_OK;
    return status;
}

mel_black_box mel_judge_command_box(mel_judge_command *j)
{
    return (mel_black_box){ .judge = judge, .user = j };
}
