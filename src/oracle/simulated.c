/* A metric that answers, with or without mistakes. */
#include "oracle/oracle.h"

#include "metric/shared.h"
#include "oracle/noise/noise.h"
#include "oracle/shared.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    mel_oracle base;
    mel_metric *metric;
    mel_simulated_options opt;
} simulated_oracle;

bool mel_noise_errs(const mel_noise *noise, uint64_t seed, const mel_question *question, double difference)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, seed, (uint64_t)question->number << 32 | question->repetition);
    return mel_noise_wrong(noise, difference, mel_rng_uniform(&rng));
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
    const bool wrong = mel_noise_errs(&self->opt.noise, self->opt.seed, question, fabs(difference));
    *reply = (difference > 0.0) != wrong ? MEL_REPLY_A : MEL_REPLY_B;
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
        status = mel_noise_check(&use.noise, err);
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
