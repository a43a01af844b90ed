/* A program that answers: one line of JSON out, one letter back. */
#include "oracle/oracle.h"

#include "data/quote.h"
#include "metric/text.h"
#include "oracle/counts.h"
#include "oracle/process.h"
#include "oracle/shared.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1 << 26 };

/* --- a question as a line of JSON ------------------------------------------------------------------- */

static void add_numbers(mel_buffer *out, const double *x, size_t n)
{
    mel_buffer_puts(out, "[");
    for (size_t i = 0; i < n; i++) {
        mel_buffer_puts(out, i > 0 ? ", " : "");
        mel_text_add_number(out, x[i]);
    }
    mel_buffer_puts(out, "]");
}

static void add_side(mel_buffer *out, const char *key, const double *statistics, size_t n,
                     const char *classifier)
{
    mel_buffer_printf(out, ", \"%s\": {\"statistics\": ", key);
    add_numbers(out, statistics, n);
    if (classifier != NULL) {
        mel_buffer_puts(out, ", \"classifier\": ");
        mel_text_add_json_string(out, classifier);
    }
    mel_buffer_puts(out, "}");
}

static void add_layout(mel_buffer *out, const mel_question *question)
{
    const mel_layout *layout = question->layout;
    char number[MEL_NUMBER_NAME];
    mel_buffer_printf(out, ", \"layout\": {\"kind\": \"%s\", \"coordinates\": \"%s\", \"classes\": [",
                      mel_kind_name(layout->kind), mel_coordinates_name(layout->coordinates));
    for (size_t i = 0; i < layout->n_classes; i++) {
        mel_buffer_puts(out, i > 0 ? ", " : "");
        mel_text_add_json_string(out, mel_question_class(number, question, i));
    }
    mel_buffer_puts(out, "], \"groups\": [");
    for (size_t i = 0; layout->n_groups > 1 && i < layout->n_groups; i++) {
        (void)snprintf(number, sizeof number, "%zu", i + 1);
        mel_buffer_puts(out, i > 0 ? ", " : "");
        mel_text_add_json_string(out, question->group_names != NULL ? question->group_names[i] : number);
    }
    mel_buffer_puts(out, "]}");
}

static void add_counts(mel_buffer *out, const char *key, size_t n, const int64_t *count)
{
    mel_buffer_printf(out, "\"%s\": [", key);
    for (size_t i = 0; i < n; i++)
        mel_buffer_printf(out, "%s%lld", i > 0 ? ", " : "", (long long)count[i]);
    mel_buffer_puts(out, "]");
}

/* The whole numbers that a person would see. */
static void add_shown(mel_buffer *out, const mel_question *question)
{
    const size_t n = mel_layout_size(question->layout), k = question->layout->n_classes;
    int64_t *count = mel_alloc(n + k, sizeof *count);
    if (count == NULL) {
        out->status = MEL_ENOMEM;
        return;
    }
    mel_buffer_puts(out, ", \"shown\": {");
    for (int side = 0; side < 2; side++) {
        mel_shown_counts(count, n, side == 0 ? question->a : question->b, question->people);
        add_counts(out, side == 0 ? "a" : "b", n, count);
        mel_buffer_puts(out, ", ");
    }
    mel_buffer_printf(out, "\"people\": %lu, ", (unsigned long)question->people);
    mel_shown_totals(count, question->layout, question->class_share, question->people);
    if (question->layout->coordinates == MEL_BINARY)
        mel_buffer_printf(out, "\"positives\": %lld", (long long)count[1]);
    else
        add_counts(out, "totals", k, count);
    mel_buffer_puts(out, question->imagined ? ", \"imagined\": true}" : "}");
    free(count);
}

static void write_question(mel_buffer *out, const mel_question *question)
{
    const size_t n = mel_layout_size(question->layout);
    mel_buffer_printf(out, "{\"question\": %lu", (unsigned long)question->number);
    if (question->repetition > 0)
        mel_buffer_printf(out, ", \"repetition\": %lu", (unsigned long)question->repetition);
    add_side(out, "a", question->a, n, question->classifier_a);
    add_side(out, "b", question->b, n, question->classifier_b);
    add_layout(out, question);
    if (question->class_share != NULL) {
        mel_buffer_puts(out, ", \"class_share\": ");
        add_numbers(out, question->class_share, question->layout->n_classes);
    }
    if (question->repeated)
        mel_buffer_puts(out, ", \"repeated\": true");
    if (question->people != 0)
        add_shown(out, question);
    mel_buffer_puts(out, "}\n");
}

/* --- the program ------------------------------------------------------------------------------------ */

typedef struct {
    mel_oracle base;
    mel_command_options opt;
    mel_talk talk;
    mel_buffer line;
    bool broken; /* questions and answers are out of step */
} command_oracle;

/* It ended or closed a pipe: says how it went, as far as that can be learned quickly. */
static mel_status ended(command_oracle *self, unsigned long number, mel_error *err)
{
    char how[64];
    (void)mel_process_wait(&self->talk.process, 1.0);
    mel_process_describe(how, sizeof how, &self->talk.process);
    return mel_fail(err, MEL_EDATA, "question %lu: the program gave no answer (%s)", number, how);
}

static mel_status failed(command_oracle *self, mel_moved moved, unsigned long number, mel_error *err)
{
    if (moved == MEL_MOVED_LATE)
        return mel_fail(err, MEL_EDATA, "question %lu: no answer from the program within %g seconds", number,
                        self->opt.timeout);
    if (moved == MEL_MOVED_END)
        return ended(self, number, err);
    return mel_fail(err, MEL_EIO, "question %lu: cannot talk to the program", number);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static mel_status understand(mel_reply *reply, const char *line, size_t n, unsigned long number,
                             mel_error *err)
{
    size_t first = 0, last = n;
    while (first < last && is_blank(line[first]))
        first++;
    while (last > first && is_blank(line[last - 1]))
        last--;
    const char c = last - first == 1 ? line[first] : '\0';
    if (c == 'A' || c == 'a')
        *reply = MEL_REPLY_A;
    else if (c == 'B' || c == 'b')
        *reply = MEL_REPLY_B;
    else if (c == '=')
        *reply = MEL_REPLY_SAME;
    else if (c == '?')
        *reply = MEL_REPLY_SKIP;
    else if (last - first == 7 && memcmp(line + first, "neither", 7) == 0)
        *reply = MEL_REPLY_NEITHER;
    else
        return mel_fail(err, MEL_EDATA, "question %lu: the program answered %s; A, B, = or ? was expected",
                        number, mel_quote(line, n).text);
    return MEL_OK;
}

static mel_status exchange(mel_reply *reply, command_oracle *self, const mel_question *question,
                           mel_error *err)
{
    const unsigned long number = question->number;
    mel_talk *talk = &self->talk;
    if (!mel_talk_silent(talk)) /* it would be taken for the answer */
        return mel_fail(err, MEL_EDATA, "the program said %s before question %lu was asked",
                        mel_quote(talk->said, talk->n_said).text, number);
    mel_buffer_reset(&self->line);
    write_question(&self->line, question);
    if (self->line.status != MEL_OK)
        return mel_fail_memory(err, "a question");
    mel_moved moved = MEL_MOVED;
    size_t n = 0;
    mel_status status = mel_talk_exchange(talk, &moved, &n, self->line.data, self->line.size,
                                          self->opt.timeout, "waiting for the answer", err);
    if (status != MEL_OK)
        return status;
    if (moved != MEL_MOVED)
        return failed(self, moved, number, err);
    status = understand(reply, talk->said, n, number, err);
    mel_talk_used(talk, n);
    return status;
}

static mel_status ask_command(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    command_oracle *self = user;
    if (self->broken)
        return mel_fail(err, MEL_ESTATE, "question %lu: the program failed before and is asked no more",
                        (unsigned long)question->number);
    const mel_status status = exchange(reply, self, question, err);
    self->broken = status != MEL_OK && status != MEL_ENOMEM;
    return status;
}

static void free_command(mel_oracle *oracle)
{
    command_oracle *self = (command_oracle *)oracle;
    mel_process_end(&self->talk.process, self->talk.stopped ? 0.0 : self->opt.grace);
    mel_buffer_free(&self->line);
    free(self);
}

void mel_command_options_init(mel_command_options *opt)
{
    *opt = (mel_command_options){ .struct_size = sizeof *opt, .timeout = 0.0, .grace = 5.0 };
}

mel_status mel_oracle_command(mel_oracle **out, const char *program, const mel_command_options *opt,
                              mel_error *err)
{
    *out = NULL;
    mel_command_options use;
    mel_command_options_init(&use);
    mel_status status = mel_options_take(&use, sizeof use, opt, "program options", err);
    if (status != MEL_OK)
        return status;
    if (program[strspn(program, " \t\r\n")] == '\0')
        return mel_fail(err, MEL_EINVAL, "the program that is to answer has no name");
    if (!(use.timeout >= 0.0) || !isfinite(use.timeout) || !(use.grace >= 0.0) || !isfinite(use.grace))
        return mel_fail(err, MEL_EINVAL, "a program that answers: timeout %g, grace %g seconds", use.timeout,
                        use.grace);
    command_oracle *self = mel_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return mel_fail_memory(err, "an oracle");
    self->base = (mel_oracle){ ask_command, free_command };
    self->opt = use;
    self->talk.progress = use.progress;
    mel_buffer_init(&self->line, MAX_LINE);
    const int reason = mel_process_start(&self->talk.process, program, !mel_process_has_terminal());
    if (reason != 0) {
        char text[128];
        if (strerror_r(reason, text, sizeof text) != 0)
            (void)snprintf(text, sizeof text, "error %d", reason);
        free_command(&self->base);
        return mel_fail(err, reason == ENOMEM ? MEL_ENOMEM : MEL_EIO, "cannot start %s with /bin/sh: %s",
                        mel_quote_text(program).text, text);
    }
    *out = &self->base;
    return MEL_OK;
}
