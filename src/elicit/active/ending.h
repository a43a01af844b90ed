/* When an engine that samples has nothing left to ask. */
#ifndef MEL_ACTIVE_ENDING_H
#define MEL_ACTIVE_ENDING_H

#include "elicit/active/ask/pair.h"

/* Whether the radius that will be reported is as small as asked for, and samples mix well enough for that to
 * be trusted. */
bool mel_is_precise(double radius, const mel_session_options *opt, const mel_samples *samples);
/* What the best question there is amounts to: MEL_END_NOT_YET when it is worth asking, MEL_END_NOISE when the
 * noise leaves nothing to learn from it, MEL_END_EXHAUSTED when no pair tells more. */
mel_end mel_end_of(const mel_session_options *opt, const mel_samples *samples, const mel_outlook *best);

#endif
