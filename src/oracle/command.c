/* A program that answers: one line of JSON out, one letter back. */
#include "oracle/oracle.h"
#include "oracle/talk.h"

#include "data/quote.h"
#include "oracle/shared.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1 << 26 };

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
    mel_question_json(&self->line, question);
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
