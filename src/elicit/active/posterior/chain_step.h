/* What chain.c and chain_step.c share. */
#ifndef MEL_ACTIVE_CHAIN_STEP_H
#define MEL_ACTIVE_CHAIN_STEP_H

#include "elicit/active/posterior/chain.h"

/* The chain moves by t along axis j; what the step along axis `next` needs is known afterwards. */
void mel_chain_shift(mel_chain *chain, size_t j, size_t next, double t);
void mel_chain_count_wrong(mel_chain *chain);
/* Whether the density varies between the planes. */
bool mel_chain_is_smooth(const mel_chain *chain);
/* One step along an axis. */
void mel_chain_step(mel_chain *chain, size_t axis);
/* Draws what is learned of the noise, given where the chain is. */
void mel_chain_draw_noise(mel_chain *chain);

#endif
