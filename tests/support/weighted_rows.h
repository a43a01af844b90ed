/* Random rows with probabilities and basis functions, for black-box optimisation. */
#ifndef MEL_TEST_WEIGHTED_ROWS_H
#define MEL_TEST_WEIGHTED_ROWS_H

#include "optimise/shared.h"

#define TRAIN ((size_t)90)
#define VALIDATION ((size_t)60)
#define K ((size_t)3)
#define L ((size_t)2)

typedef struct {
    double train_probability[TRAIN * K], validation_probability[VALIDATION * K];
    double train_basis[TRAIN * L], validation_basis[VALIDATION * L];
    uint32_t train_label[TRAIN], validation_label[VALIDATION], group[VALIDATION];
} problem;

problem make_problem(uint64_t seed);
mel_weight_rows train_of(const problem *p);
mel_weight_rows validation_of(const problem *p);
mel_measure *measure_named(const char *name, size_t k, size_t n_groups);

#endif
