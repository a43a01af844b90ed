/* A metric that answers, with or without mistakes. */
#include "oracle/oracle.h"

#include "data/number.h"
#include "data/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    mel_oracle base;
    mel_metric *metric;
    mel_simulated_options opt;
} simulated_oracle;

static const char *const noise_names[] = {
    [MEL_NOISE_NONE] = "none",
    [MEL_NOISE_BAND] = "band",
    [MEL_NOISE_LOGISTIC] = "logistic",
    [MEL_NOISE_FLIP] = "flip",
};
enum { N_NOISES = sizeof noise_names / sizeof *noise_names };

static mel_status check_noise(const mel_noise *noise, mel_error *err)
{
    if ((unsigned)noise->kind >= N_NOISES)
        return mel_fail(err, MEL_EINVAL, "noise: there is no kind %d", (int)noise->kind);
    if (noise->kind == MEL_NOISE_FLIP && !(noise->size >= 0.0 && noise->size <= 1.0))
        return mel_fail(err, MEL_EINVAL, "noise flip:%g: not a probability", noise->size);
    if (noise->kind != MEL_NOISE_NONE && !(noise->size >= 0.0 && isfinite(noise->size)))
        return mel_fail(err, MEL_EINVAL, "noise %s:%g: not a finite number from 0 up",
                        noise_names[noise->kind], noise->size);
    if (noise->adversarial && noise->kind != MEL_NOISE_BAND)
        return mel_fail(err, MEL_EINVAL, "noise %s: only a band can be adversarial",
                        noise_names[noise->kind]);
    return MEL_OK;
}

mel_status mel_noise_parse(mel_noise *out, const char *text, mel_error *err)
{
    static const char adversarial[] = ",adversarial";
    const size_t n = strcspn(text, ":");
    for (unsigned i = 0; i < N_NOISES; i++) {
        if (strlen(noise_names[i]) != n || memcmp(text, noise_names[i], n) != 0)
            continue;
        mel_noise noise = { (mel_noise_kind)i, 0.0, false };
        if (noise.kind == MEL_NOISE_NONE && text[n] != '\0')
            break;
        if (noise.kind != MEL_NOISE_NONE) {
            const char *number = text + n + (text[n] == ':');
            const char *comma = strchr(number, ',');
            noise.adversarial = comma != NULL && strcmp(comma, adversarial) == 0;
            const size_t digits = noise.adversarial ? (size_t)(comma - number) : strlen(number);
            if (mel_number_parse(number, digits, &noise.size) != MEL_NUMBER_FINITE)
                break;
        }
        const mel_status status = check_noise(&noise, err);
        if (status == MEL_OK)
            *out = noise;
        return status;
    }
    return mel_fail(err, MEL_EINVAL,
                    "%s is not a kind of noise: none, band:EPS, band:EPS,adversarial, logistic:SCALE, flip:P",
                    mel_show_text(text).text);
}

void mel_noise_print(char *text, size_t n, const mel_noise *noise)
{
    char number[MEL_NUMBER_TEXT];
    mel_number_print(number, noise->size);
    if (noise->kind == MEL_NOISE_NONE || (unsigned)noise->kind >= N_NOISES)
        (void)snprintf(text, n, "none");
    else
        (void)snprintf(text, n, "%s:%s%s", noise_names[noise->kind], number,
                       noise->adversarial ? ",adversarial" : "");
}

/* Whether the answer to a question whose values differ by |difference| comes out wrong. */
static bool errs(const mel_simulated_options *opt, const mel_question *question, double difference)
{
    if (opt->noise.kind == MEL_NOISE_NONE)
        return false;
    const double size = opt->noise.size;
    mel_rng rng;
    mel_rng_seed_stream(&rng, opt->seed, (uint64_t)question->number << 32 | question->repetition);
    const double u = mel_rng_uniform(&rng);
    switch (opt->noise.kind) {
    case MEL_NOISE_BAND:
        return difference < size && (opt->noise.adversarial || u < 0.5);
    case MEL_NOISE_LOGISTIC:
        return u < 1.0 / (1.0 + exp(size * difference));
    case MEL_NOISE_FLIP:
        return u < size;
    case MEL_NOISE_NONE:
        break;
    }
    return false;
}

static mel_status ask_simulated(mel_reply *reply, void *user, const mel_question *question, mel_error *err)
{
    const simulated_oracle *self = user;
    if (!mel_layout_equal(question->layout, mel_metric_layout(self->metric)))
        return mel_fail(err, MEL_EINVAL, "question %lu and the simulated metric have different layouts",
                        (unsigned long)question->number);
    double difference = 0.0;
    const mel_status status = mel_metric_compare(&difference, self->metric, question->a, question->b, err);
    if (status != MEL_OK)
        return mel_fail_in(err, status, "question %lu", (unsigned long)question->number);
    if (self->opt.ties == MEL_TIE_SAME && fabs(difference) <= self->opt.tie_width) {
        *reply = MEL_REPLY_SAME;
        return MEL_OK;
    }
    const bool prefers_a = difference > 0.0;
    *reply = prefers_a != errs(&self->opt, question, fabs(difference)) ? MEL_REPLY_A : MEL_REPLY_B;
    return MEL_OK;
}

static void free_simulated(mel_oracle *oracle)
{
    simulated_oracle *self = (simulated_oracle *)oracle;
    mel_metric_free(self->metric);
    free(self);
}

void mel_simulated_options_init(mel_simulated_options *opt)
{
    *opt = (mel_simulated_options){ .struct_size = sizeof *opt, .seed = 1 };
}

mel_status mel_oracle_simulated(mel_oracle **out, const mel_metric *metric, const mel_simulated_options *opt,
                                mel_error *err)
{
    *out = NULL;
    mel_simulated_options use;
    mel_simulated_options_init(&use);
    mel_status status = mel_options_take(&use, sizeof use, opt, "simulation options", err);
    if (status == MEL_OK)
        status = check_noise(&use.noise, err);
    if (status != MEL_OK)
        return status;
    if (use.ties != MEL_TIE_SECOND && use.ties != MEL_TIE_SAME)
        return mel_fail(err, MEL_EINVAL, "ties: there is no rule %d", (int)use.ties);
    if (!(use.tie_width >= 0.0) || !isfinite(use.tie_width))
        return mel_fail(err, MEL_EINVAL, "ties: the width %g is not a finite number from 0 up",
                        use.tie_width);
    simulated_oracle *self = mel_alloc_zero(1, sizeof *self);
    if (self == NULL)
        return mel_fail_memory(err, "an oracle");
    self->base = (mel_oracle){ ask_simulated, free_simulated };
    self->opt = use;
    status = mel_metric_copy(&self->metric, metric, err);
    if (status != MEL_OK) {
        free_simulated(&self->base);
        return status;
    }
    *out = &self->base;
    return MEL_OK;
}
