/* melicit/engine.h: rows of this process, for engines whose rows are spread over several (mel_row_engine).
 *
 * A program that has rows in many places holds each part with mel_rows_hold. Its engine sends a pass to all
 * of them, calls mel_rows_pass there, and adds up what comes back, always in the same order. */
#ifndef MELICIT_ENGINE_H
#define MELICIT_ENGINE_H

#include "melicit/optimise.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mel_held_rows mel_held_rows;
/* Checks a part of the rows and holds it for passes. MEL_EDATA with the row for what is out of range. Parts
 * need not have rows of every class or group. */
MEL_API mel_status mel_rows_hold(mel_held_rows **out, const mel_rows *rows, int threads, mel_error *err);
MEL_API void mel_held_rows_free(mel_held_rows *held);
/* Answers a pass over these rows: out has room for pass->n_out sums. MEL_EINVAL for a pass that is not about
 * such rows. Not for two threads at once. */
MEL_API mel_status mel_rows_pass(double *out, mel_held_rows *held, const mel_pass *pass, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
