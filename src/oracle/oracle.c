/* What all oracles have in common, and the two thin ones: a caller's function, and a majority. */
#include "oracle/oracle.h"

#include "data/quote.h"
#include "oracle/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *mel_answer_name(mel_answer answer)
{
    switch (answer) {
    case MEL_ANSWER_A:
        return "A";
    case MEL_ANSWER_B:
        return "B";
    case MEL_ANSWER_SAME:
        return "=";
    case MEL_ANSWER_NEITHER:
        return "neither";
    case MEL_ANSWER_SKIP:
        break;
    }
    return "?";
}

mel_status mel_answer_parse(mel_answer *out, const char *text, mel_error *err)
{
    static const mel_answer answers[] = { MEL_ANSWER_A, MEL_ANSWER_B, MEL_ANSWER_SAME, MEL_ANSWER_SKIP,
                                          MEL_ANSWER_NEITHER };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        if (strcmp(text, mel_answer_name(answers[i])) == 0) {
            *out = answers[i];
            return MEL_OK;
        }
    }
    return mel_fail(err, MEL_EINVAL, "%s is not an answer: A, B, =, ? or neither", mel_quote_text(text).text);
}

mel_status mel_question_check(const mel_question *question, mel_error *err)
{
    if (question->layout == NULL || question->a == NULL || question->b == NULL)
        return mel_fail(err, MEL_EINVAL, "question %lu has no layout or no statistics",
                        (unsigned long)question->number);
    const mel_status status = mel_layout_check(question->layout, err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "question %lu", (unsigned long)question->number);
    const size_t n = mel_layout_size(question->layout);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(question->a[i]) || !isfinite(question->b[i]))
            return mel_fail(err, MEL_EINVAL, "question %lu: statistic %zu is %g for A and %g for B",
                            (unsigned long)question->number, i + 1, question->a[i], question->b[i]);
    return MEL_OK;
}

char *mel_question_remark(const mel_question *question)
{
    const bool imagined = question->imagined, again = question->announced;
    if (!imagined && !again)
        return NULL;
    char text[200];
    (void)snprintf(text, sizeof text, "%s%s%s",
                   imagined ? "This one is about an imagined test, better than the one at hand." : "",
                   imagined && again ? " " : "",
                   again ? "We ask once more, to see how sure you are; the sides are swapped." : "");
    return mel_strdup(text);
}

const char *mel_question_class(char number[MEL_NUMBER_NAME], const mel_question *question, size_t class_code)
{
    if (question->class_names != NULL)
        return question->class_names[class_code];
    (void)snprintf(number, MEL_NUMBER_NAME, "%zu", class_code);
    return number;
}

mel_status mel_oracle_ask(mel_reply *reply, mel_oracle *oracle, const mel_question *question, mel_error *err)
{
    TRY(mel_question_check(question, err));
    mel_reply got = MEL_REPLY_QUIT;
    TRY(oracle->answer(&got, oracle, question, err));
    if (got == MEL_REPLY_NEITHER && !question->neither)
        return mel_fail(err, MEL_EINVAL,
                        "question %lu: the answer neither is taken only where it was allowed",
                        (unsigned long)question->number);
    if (got < MEL_REPLY_A || got > MEL_REPLY_NEITHER)
        return mel_fail(err, MEL_EINVAL, "question %lu: %d is not a reply", (unsigned long)question->number,
                        (int)got);
    *reply = got;
    return MEL_OK;
}

void mel_oracle_free(mel_oracle *oracle)
{
    if (oracle != NULL)
        oracle->destroy(oracle);
}

typedef struct {
    mel_oracle base;
    mel_oracle_fn answer;
    void *user;
    mel_release_fn release;
} callback_oracle;

static mel_status ask_callback(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    const callback_oracle *self = user;
    return self->answer(reply, self->user, question, err);
}

static void free_callback(mel_oracle *oracle)
{
    callback_oracle *self = (callback_oracle *)oracle;
    if (self->release != NULL)
        self->release(self->user);
    free(self);
}

mel_status mel_oracle_callback(mel_oracle **out, mel_oracle_fn answer, void *user, mel_release_fn release,
                               mel_error *err)
{
    *out = NULL;
    callback_oracle *self = answer != NULL ? mel_alloc_zero(1, sizeof *self) : NULL;
    if (self == NULL) {
        if (release != NULL)
            release(user);
        return answer == NULL ? mel_fail(err, MEL_EINVAL, "an oracle needs a function that answers")
                              : mel_fail_memory(err, "an oracle");
    }
    *self = (callback_oracle){ { ask_callback, free_callback }, answer, user, release };
    *out = &self->base;
    return MEL_OK;
}

typedef struct {
    mel_oracle base;
    mel_oracle *inner;
    uint32_t votes;
} majority_oracle;

typedef struct {
    uint32_t a, b, same, neither;
} tally;

/* Those who cannot say have no vote, unless nobody can. */
static mel_reply winner(tally t)
{
    if (t.a + t.b + t.same == 0)
        return t.neither > 0 ? MEL_REPLY_NEITHER : MEL_REPLY_SKIP;
    if (t.same > t.a && t.same > t.b)
        return MEL_REPLY_SAME;
    if (t.a == t.b)
        return MEL_REPLY_SAME;
    return t.a > t.b ? MEL_REPLY_A : MEL_REPLY_B;
}

/* Whether `left` further votes can still change the winner: more than half of all agree. */
static bool settled(tally t, uint32_t votes)
{
    const uint32_t half = votes / 2;
    return t.a > half || t.b > half || t.same > half;
}

static mel_status ask_majority(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    majority_oracle *self = user;
    tally t = { 0 };
    for (uint32_t i = 0; i < self->votes && !settled(t, self->votes); i++) {
        mel_question again = *question;
        again.repetition = question->repetition * self->votes + i;
        mel_reply vote = MEL_REPLY_QUIT;
        const mel_status status = mel_oracle_ask(&vote, self->inner, &again, err);
        if (status != MEL_OK)
            return status;
        if (vote == MEL_REPLY_UNDO || vote == MEL_REPLY_QUIT) {
            *reply = vote;
            return MEL_OK;
        }
        t.a += vote == MEL_REPLY_A;
        t.b += vote == MEL_REPLY_B;
        t.same += vote == MEL_REPLY_SAME;
        t.neither += vote == MEL_REPLY_NEITHER;
    }
    *reply = winner(t);
    return MEL_OK;
}

static void free_majority(mel_oracle *oracle)
{
    majority_oracle *self = (majority_oracle *)oracle;
    mel_oracle_free(self->inner);
    free(self);
}

mel_status mel_oracle_majority(mel_oracle **out, mel_oracle *inner, uint32_t votes, mel_error *err)
{
    *out = NULL;
    const bool odd = votes % 2 == 1;
    majority_oracle *self = odd && inner != NULL ? mel_alloc_zero(1, sizeof *self) : NULL;
    if (self == NULL) {
        mel_oracle_free(inner);
        if (inner == NULL)
            return mel_fail(err, MEL_EINVAL, "a majority needs an oracle that votes");
        return odd ? mel_fail_memory(err, "an oracle")
                   : mel_fail(err, MEL_EINVAL, "%lu votes: a majority needs an odd number",
                              (unsigned long)votes);
    }
    *self = (majority_oracle){ { ask_majority, free_majority }, inner, votes };
    *out = &self->base;
    return MEL_OK;
}
