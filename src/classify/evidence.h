/* What rules are found on. */
#ifndef MEL_CLASSIFY_EVIDENCE_H
#define MEL_CLASSIFY_EVIDENCE_H

#include "classify/steps.h"
#include "melicit/classify.h"

/* Rows as the steps see them, with the memory behind, which is that of probability; where neither an
 * adjustment nor costs change those of the rows, they are lent. */
typedef struct {
    mel_step_rows rows;
    double *probability, *weight, *score, *growth;
} mel_rule_evidence;
mel_status mel_rule_evidence_make(mel_rule_evidence *out, const mel_rule_rows *rows,
                                  const mel_rule_options *opt, mel_error *err);
void mel_rule_evidence_clear(mel_rule_evidence *evidence);

/* MEL_EINVAL where an engine has them. */
mel_status mel_rule_rows_here(const mel_rule_rows *rows, mel_error *err);
/* Here, and within their ranges. */
mel_status mel_rule_rows_check(const mel_rule_rows *rows, mel_error *err);
/* Two classes: thresholds are on the model's own probability, as adjusting keeps the order of the rows. */
bool mel_rule_keeps_scores(const mel_rule_rows *rows, const mel_rule_options *opt);
/* Shares of the classes by the labels. */
void mel_rule_class_shares(double *share, const mel_rule_rows *rows);
/* What each row counts when its label is believed: its weight, its cost, and what gives the classes other
 * shares (NULL: they keep their own). growth: room for a number of each class. */
void mel_rule_label_weights(double *weight, const mel_rule_rows *rows, const double *class_share,
                            double *growth);
/* Probabilities of k classes times what each of them costs, adding up to 1 again; returns what they added up
 * to. */
double mel_weigh_costs(double *probability, const double *cost, size_t k);
#endif
