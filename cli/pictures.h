/* The drawings of --plot. */
#ifndef MEL_CLI_PICTURES_H
#define MEL_CLI_PICTURES_H

#include "apply.h"
#include "command.h"
#include "melicit/rank.h"

/* On a planar face: what is achievable with lines of equal cost, the rule's place on the ROC curve and, for a
 * metric that has an exchange rate between the two mistakes, net benefit and cost curve with the rate and its
 * interval. */
mel_status cli_apply_plot(const char *path, const mel_problem *space, const mel_metric *metric,
                          const mel_classifier *classifier, mel_error *err);
/* The same of a rule on rows of two classes, without groups: the face is that of the labels. */
mel_status cli_apply_plot_rule(const char *path, const cli_applied_rule *a, mel_error *err);
/* The ROC curve of every group, by the labels, and where the group's rule operates. */
mel_status cli_apply_roc(const char *path, const cli_applied_rule *a, mel_error *err);

/* The planar face, or the two-class faces of a space without groups, side by side. */
mel_status cli_space_plot(const mel_problem *space, const char *path, mel_error *err);

/* The first forty of an order with their intervals; what: the axis. */
mel_status cli_rank_plot(const char *path, const mel_ranking_info *info, const char *const *name,
                         const char *what, mel_error *err);

#endif
