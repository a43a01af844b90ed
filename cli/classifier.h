/* Classifier files: mixtures of rules on class probabilities, as melicit apply writes and predict reads them.
 */
#ifndef MEL_CLI_CLASSIFIER_H
#define MEL_CLI_CLASSIFIER_H

#include "best.h"
#include "space_args.h"

/* The file of a planar best point, and of a mixture in a space of k classes (value NaN: none). */
json_t *cli_planar_classifier(const cli_space *space, const cli_best *best);
json_t *cli_blend_classifier(const cli_space *space, const mel_blend *blend, const double *statistics,
                             double value);

/* One that was read: thresholds on P(second class), or gains. */
typedef struct {
    size_t n_classes, n_groups; /* n_groups 0: none */
    char **class_name, **group_name;
    cli_classes classes; /* the same names, with what files call the classes */
    bool labels_known;   /* else the names stand for them */
    bool planar;
    mel_mixture mixture; /* planar */
    mel_blend blend;     /* otherwise */
} cli_classifier;
/* Refusals (MEL_EDATA) name the file and the place. */
mel_status cli_classifier_load(cli_classifier *out, const char *path, mel_error *err);
void cli_classifier_clear(cli_classifier *classifier);

/* What the classifier does with n rows of probabilities (n x n_classes; group may be NULL without groups).
 * chance[i][j]: with which probability row i is predicted as j. */
mel_status cli_classifier_chances(double *chance, const cli_classifier *classifier, size_t n,
                                  const double *probability, const uint32_t *group, mel_error *err);
/* One prediction per row, drawn: one uniform number of the generator per row decides which rule it gets. */
mel_status cli_classifier_draw(uint32_t *prediction, const cli_classifier *classifier, size_t n,
                               const double *probability, const uint32_t *group, mel_rng *rng,
                               mel_error *err);

#endif
