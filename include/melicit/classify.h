/* melicit/classify.h: classifiers as rules on class probabilities: the one that is best for a metric, the one
 * that achieves a point, their files, and what they decide about new rows. */
#ifndef MELICIT_CLASSIFY_H
#define MELICIT_CLASSIFY_H

#include "melicit/elicit.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A rule on class probabilities, or a mixture of rules. Only mel_classifier_set_source changes it. */
typedef struct mel_classifier mel_classifier;

/* The classifier that is best for a metric, always one rule. Linear metrics take one linear step of the face
 * or space, fractions Dinkelbach's method on it; smoothed faces: best on the sample. MEL_EINVAL for a ball,
 * for other families and for a metric of other statistics than the domain's. */
MEL_API mel_status mel_classifier_best(mel_classifier **out, const mel_domain *domain,
                                       const mel_metric *metric, mel_error *err);
/* The classifier that achieves a point (numbers in the domain's layout) within delta, which faces do not
 * read: they achieve their points exactly. MEL_EINVAL, with the closest point, when none does. */
MEL_API mel_status mel_classifier_at_point(mel_classifier **out, const mel_domain *domain,
                                           const double *point, double delta, mel_error *err);
MEL_API void mel_classifier_free(mel_classifier *classifier);

/* Names, and where the classifier was found. Everything is copied. */
typedef struct {
    const char *const *class_name; /* NULL: "0", "1", ... */
    const char *const *label;      /* what data files call the classes; NULL: not known */
    const char *const *group_name; /* NULL: "1", "2", ... */
    const char *space;             /* a JSON object that describes the data or population; NULL: none */
} mel_classifier_source;
/* MEL_EDATA for names that are missing, repeated or not UTF-8; the classifier is then as it was. */
MEL_API mel_status mel_classifier_set_source(mel_classifier *classifier, const mel_classifier_source *source,
                                             mel_error *err);

/* What a classifier is made of; lent until it changes. */
typedef struct {
    size_t n_classes, n_groups; /* n_groups 0: it does not look at groups */
    const char *const *class_name;
    const char *const *label;      /* NULL: not known */
    const char *const *group_name; /* n_groups texts */
    const mel_mixture *mixture;    /* thresholds on the probability of the second class, or NULL: ... */
    const mel_blend *blend;        /* ... plug-in rules, or NULL */
    const double *statistics;      /* what it achieves where it was found, in the layout of the domain; NULL:
                                    * it was read from a file */
    double value;                  /* of the metric that it is best for; NaN: none */
} mel_classifier_parts;
MEL_API mel_classifier_parts mel_classifier_get(const mel_classifier *classifier);

/* What the classifier does with n rows of probabilities (n x n_classes); group may be NULL without groups.
 * chance[i][j]: the probability that row i is predicted as j. MEL_EDATA for numbers that are not finite. */
MEL_API mel_status mel_classifier_chances(double *chance, const mel_classifier *classifier, size_t n,
                                          const double *probability, const uint32_t *group, mel_error *err);
/* One prediction per row, drawn: one uniform number per row decides which rule the row gets. */
MEL_API mel_status mel_classifier_decide(uint32_t *prediction, const mel_classifier *classifier, size_t n,
                                         const double *probability, const uint32_t *group, uint64_t seed,
                                         mel_error *err);

/* Classifier files (docs/formats.md). Refusals (MEL_EDATA) say the place,
 * and load says the file. "-" is standard input or output. */
MEL_API mel_status mel_classifier_load(mel_classifier **out, const char *path, mel_error *err);
MEL_API mel_status mel_classifier_save(const mel_classifier *classifier, const char *path, mel_error *err);

#ifdef __cplusplus
}
#endif
#endif
