/* The classifier that is best for a metric: a rule on a planar face, gains in a space of k classes. */
#ifndef MEL_CLI_BEST_H
#define MEL_CLI_BEST_H

#include "melicit/metric.h"
#include "melicit/space.h"

#include "command.h"

/* The point of the face that is best for a metric of (TP, TN), the rule or mixture that achieves it, and
 * its value. */
typedef struct {
    mel_point point;
    mel_mixture mixture;
    double value;
} cli_best;
mel_status cli_best_point(cli_best *out, const mel_face *face, const mel_metric *metric, mel_error *err);

/* The same in a space of k classes. */
typedef struct {
    double *statistics;
    mel_blend blend;
    double value; /* NaN where there is no metric */
} cli_best_blend;
/* Linear metrics by one linear step, fractions by Dinkelbach's method on it; MEL_EINVAL for other families.
 */
mel_status cli_best_in_space(cli_best_blend *out, const mel_space *space, const mel_metric *metric,
                             mel_error *err);
void cli_best_blend_clear(cli_best_blend *best);
/* Whether the family is one that cli_best_in_space knows. */
bool cli_has_best(mel_family family);

/* [{"threshold": x, "inverted": false, "share": 1}, ...] */
json_t *cli_mixture_json(const mel_mixture *mixture);
/* [{"gain": [[..], ..], "share": 1}, ...]; with groups a matrix for each */
json_t *cli_blend_json(const mel_blend *blend);
json_t *cli_point_json(mel_point point);
/* "predict cancer when its probability is at least 0.26", "always predict cancer"; freed by the caller. */
char *cli_rule_words(mel_rule rule, const char *positive);

/* A metric file, or the name of a bundled one. */
mel_status cli_load_metric(mel_metric **out, const char *given, mel_error *err);
/* Copies of a metric's names, for cli_names_free; of groups NULL where it has none. */
char **cli_metric_classes(const mel_metric *metric);
char **cli_metric_groups(const mel_metric *metric);

/* The classes and groups that statistics are about, in their order. */
typedef struct {
    const char *const *name;  /* of the classes; NULL: nobody has named them */
    const char *const *label; /* what the files call them, or NULL */
    const char *const *group; /* names of the groups; NULL: nobody has named them, or there are none */
} cli_about;
/* MEL_EDATA unless the metric is about such statistics; `given` is its file. Its classes and groups are
 * matched by name, and it is put into that order where it has another; names that are not the same are
 * refused with the options that say which is which. Nobody's names, and the names "negative" and "positive"
 * of two classes, match by place. */
mel_status cli_match_metric(mel_metric **metric, const char *given, const mel_layout *layout,
                            const cli_about *about, mel_error *err);

#endif
