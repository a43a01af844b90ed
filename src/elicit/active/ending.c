#include "elicit/active/ending.h"

#include "elicit/active/history.h"

bool mel_is_precise(double radius, const mel_session_options *opt, const mel_samples *samples)
{
    return radius <= opt->tolerance && samples->scale_reduction <= MEL_POOR_MIXING;
}

mel_end mel_end_of(const mel_session_options *opt, const mel_samples *samples, const mel_outlook *best)
{
    const bool hidden = samples->noise->band && (best->margin < MEL_LEAST_OF_BAND * opt->assume.size ||
                                                 samples->lately_in_band >= MEL_MOST_IN_BAND);
    if (!hidden && best->information >= MEL_LEAST_INFORMATION)
        return MEL_END_NOT_YET;
    return samples->noise->errs == MEL_ERRS_NEVER ? MEL_END_EXHAUSTED : MEL_END_NOISE;
}
