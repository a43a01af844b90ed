/* Words of the model file that writing and reading share; README.md shows a whole file. */
#ifndef MEL_MODEL_MODEL_JSON_H
#define MEL_MODEL_MODEL_JSON_H

#define MEL_MODEL_FORMAT "melicit-model"
enum { MEL_MODEL_VERSION = 1 };

/* In the order of mel_fit_reason and mel_solver. */
static const char *const mel_reason_words[] = { "converged", "stalled", "budget" };
static const char *const mel_solver_words[] = { "auto", "newton", "lbfgs" };

#endif
