/* What other rooms and the program use of this room beyond melicit/classify.h; not exported. */
#ifndef MEL_CLASSIFY_SHARED_H
#define MEL_CLASSIFY_SHARED_H

#include "base/internal.h"
#include "melicit/certainty.h"
#include "melicit/classify.h"
#include "melicit/trust.h"
#include "metric/shared.h"

/* Whether mel_classifier_best finds the best classifier for metrics of this family exactly and at once:
 * linear, linear-fractional, diagonal, monotone. */
bool mel_classifier_has_best(mel_family family);
/* Whether the text of a limit compares groups or names one; MEL_EINVAL where it is no limit. */
mel_status mel_limit_names_groups(bool *out, const char *text, mel_error *err);
/* Rule number `rule` as a command: "predict cancer when its probability is at least 0.26", "always predict
 * cancer"; for the caller to free(). */
mel_status mel_classifier_words(char **out, const mel_classifier *classifier, size_t rule, mel_error *err);
/* How it was found, a JSON object for its file ("found"). */
mel_status mel_classifier_set_found(mel_classifier *classifier, const char *json, mel_error *err);
/* A classifier file as a text, for the caller to free(), and back. */
mel_status mel_classifier_to_json(char **out, const mel_classifier *classifier, mel_error *err);
mel_status mel_classifier_from_json(mel_classifier **out, const char *text, size_t size, mel_error *err);
/* "rules" of a classifier file alone, for any mixture of plug-in rules. */
mel_status mel_blend_to_json(char **out, const mel_blend *blend, mel_error *err);

/* --- basis functions ---------------------------------------------------------------------------- */

/* Without functions; the calls below add some. On failure the basis is as it was. */
mel_status mel_weight_basis_new(mel_weight_basis **out, mel_error *err);
void mel_weight_basis_free(mel_weight_basis *basis);
/* 1 everywhere. */
mel_status mel_weight_basis_add_default(mel_weight_basis *basis, mel_error *err);
/* One function per column: its value, which must be from 0 to 1. */
mel_status mel_weight_basis_add_columns(mel_weight_basis *basis, size_t n, const char *const *name,
                                        mel_error *err);
/* k hard clusters found by k-means (k-means++ start, Lloyd's iterations) on the rows: function l is 1 for the
 * rows that are nearest to centre l. */
mel_status mel_weight_basis_add_kmeans(mel_weight_basis *basis, const mel_feature_rows *rows, size_t k,
                                       uint64_t seed, mel_error *err);
/* One function per class (or group) c: the mean over the rows of that class of
 * exp(-||x - x_l||^2 / (2 width^2)) or, unless squared, exp(-||x - x_l|| / (2 width^2)) as in the thesis. */
mel_status mel_weight_basis_add_rbf(mel_weight_basis *basis, const mel_feature_rows *centres,
                                    const uint32_t *of, size_t n_classes, double width, bool squared,
                                    mel_error *err);
size_t mel_weight_basis_size(const mel_weight_basis *basis);
/* value: n_rows x mel_weight_basis_size. Columns are found by name; MEL_EDATA for a missing one and, with the
 * row, for values outside [0, 1]. rows may be NULL, with n_rows, when no function reads features. */
mel_status mel_weight_basis_values(double *value, const mel_weight_basis *basis, const mel_feature_rows *rows,
                                   size_t n_rows, mel_error *err);
/* Whether it reads features; one function, 1 everywhere, does not. */
bool mel_weight_basis_reads_features(const mel_weight_basis *basis);
/* Names of the features that it reads, in no order; a name may come twice. */
size_t mel_weight_basis_columns(const mel_weight_basis *basis);
const char *mel_weight_basis_column(const mel_weight_basis *basis, size_t i);
/* What function l is called: "default", the column's name, "kmeans 3", "rbf 2"; lent. */
const char *mel_weight_basis_name(const mel_weight_basis *basis, size_t l);

/* mel_weight_basis_values for rows that are the centres of radial functions: a row does not count as a centre
 * of itself, which would tell its class. */
mel_status mel_weight_basis_values_of_centres(double *value, const mel_weight_basis *basis,
                                              const mel_feature_rows *rows, size_t n_rows, mel_error *err);

/* chance[i][j]: the probability that a mixture predicts row i as j. basis: values of its functions. */
mel_status mel_weighted_chances(double *chance, const mel_blend *mixture, size_t n, const double *probability,
                                const double *basis, mel_error *err);
/* The class that is predicted most often is predicted always, the smallest of those that tie. */
void mel_weighted_majority(double *chance, size_t k);

#endif
