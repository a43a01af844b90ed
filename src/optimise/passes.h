/* Sums over training rows that were taken elsewhere, as a run of the optimiser sees them. */
#ifndef MEL_OPTIMISE_PASSES_H
#define MEL_OPTIMISE_PASSES_H

#include "optimise/optimise.h"
#include "optimise/shared.h"

struct mel_passes {
    size_t k;
    bool whole; /* every W_ij, else the diagonal */
    char **class_name, **label;
    bool number_texts;
    bool waits;     /* for sums at: */
    double *wanted; /* weights of one rule */
    size_t n_files; /* of which the sums are; 0: there are none yet */
    char **file;
    size_t *n_rows;
    double *total; /* what mel_packed_totals says of them */
    size_t n;      /* rules with sums */
    double *weight, *sum;
};

/* Numbers of a rule's weights, of totals, and of sums at a rule. */
size_t mel_passes_weights(const mel_passes *passes);
size_t mel_passes_totals(const mel_passes *passes);
size_t mel_passes_sums(const mel_passes *passes);
/* Room for one more rule with its sums; false: no memory. */
bool mel_passes_grow(mel_passes *passes);

/* A run begins: nothing is wanted; and ends: whether it must wait for sums, which the result then says.
 * passes NULL: it has rows. */
void mel_passes_begin(mel_passes *passes);
bool mel_passes_end(mel_optimise_result *out, const mel_passes *passes);
/* The sums at a rule, or of all rows; MEL_ESTATE: they are not there and wanted from now on. */
mel_status mel_passes_at(double *moment, mel_passes *passes, const double *weight, mel_error *err);
mel_status mel_passes_all(double *total, mel_passes *passes, const double *first_weight, mel_error *err);
/* Rows of all files. */
size_t mel_passes_rows(const mel_passes *passes);

#endif
