/* Assumptions about wrong answers: their words, and what follows from a simulated respondent's noise. */
#include "elicit/assumption.h"
#include "elicit/shared.h"
#include "oracle/shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

mel_assumption mel_assumed_flips(void)
{
    return (mel_assumption){ .kind = MEL_NOISE_FLIP };
}

mel_assumption mel_assumption_settled(mel_assumption assumption)
{
    const bool nothing = mel_assumed(&assumption)->band && assumption.size == 0.0;
    return nothing ? (mel_assumption){ .kind = MEL_NOISE_NONE } : assumption;
}

bool mel_assumption_is_none(const mel_assumption *assumption)
{
    return assumption->kind == MEL_NOISE_NONE;
}

bool mel_assumption_is_valid(const mel_assumption *assumption)
{
    const mel_noise_ops *noise = mel_noise_of(assumption->kind);
    return noise != NULL && assumption->size >= 0.0 && isfinite(assumption->size) &&
           assumption->size < noise->say_nothing;
}

size_t mel_answers_needed(const mel_assumption *assumption)
{
    return mel_noise_anywhere(mel_assumed(assumption)) ? 2 : 1;
}

mel_status mel_assumption_of(mel_assumption *out, const mel_noise *noise, bool learn, mel_error *err)
{
    const mel_noise_ops *model = mel_noise_of(noise->kind);
    if (model == NULL || noise->size >= model->say_nothing)
        return mel_fail(err, MEL_EINVAL,
                        "answers that are wrong every second time say nothing; assume says what to expect "
                        "instead");
    const bool tossed = model->errs == MEL_ERRS_BY_MARGIN && !model->band; /* at size 0 */
    *out =
        (mel_assumption){ .kind = noise->kind, .size = learn && model->learned != NULL ? 0.0 : noise->size };
    if (noise->size == 0.0 && !tossed)
        *out = (mel_assumption){ .kind = MEL_NOISE_NONE };
    return MEL_OK;
}

mel_status mel_assumption_parse(mel_assumption *out, const char *text, mel_error *err)
{
    mel_noise noise = { .size = 0.0 };
    const mel_noise_ops *model = mel_noise_by_name(&noise.kind, strlen(text), text);
    if (model == NULL || model->learned == NULL) {
        const mel_status status = mel_noise_parse(&noise, text, err);
        if (status != MEL_OK)
            return status;
        if (noise.size >= mel_noise_of(noise.kind)->say_nothing)
            return mel_fail(err, MEL_EINVAL, "'%.60s': answers that are wrong every second time say nothing",
                            text);
    }
    *out = (mel_assumption){ .kind = noise.kind, .size = noise.size };
    return MEL_OK;
}

void mel_assumption_print(char *text, size_t n, const mel_assumption *assumption)
{
    const mel_noise_ops *model = mel_noise_of(assumption->kind);
    const mel_noise noise = { .kind = assumption->kind, .size = assumption->size };
    if (model != NULL && model->learned != NULL && assumption->size == 0.0)
        (void)snprintf(text, n, "%s", model->name);
    else
        mel_noise_print(text, n, &noise);
}
