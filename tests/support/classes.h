/* Random samples of class probabilities with labels and groups, and what a direct count says about them. */
#ifndef MEL_TEST_CLASSES_H
#define MEL_TEST_CLASSES_H

#include "base/rng.h"
#include "support/test.h"

typedef struct {
    mel_rows sample; /* points into the arrays below */
    double *probability;
    uint32_t *label, *group;
} test_classes;

/* Probabilities are softmaxes of normal scores times `sharpness`, labels are drawn from them and so are true
 * to the model; every group has rows of every class (n >= k max(1, m)). levels > 0: scores are rounded to so
 * many values, so that there are ties. */
void test_classes_make(test_classes *out, mel_rng *rng, size_t n, size_t k, size_t m, double sharpness,
                       unsigned levels);
void test_classes_clear(test_classes *classes);
/* Statistics of decision (n x k) by a loop over the rows, straight from the definitions. */
void test_classes_statistics(double *out, const test_classes *classes, const mel_space_options *opt,
                             const double *decision);
/* decision[r][j] = 1 for the class that plug-in gains choose, the smallest of those that tie. */
void test_classes_decide(double *decision, const test_classes *classes, const double *gain);
/* What any randomised classifier achieves on the rows of a space, by a loop over them; and a mixture of
 * rules. */
void test_space_decisions(double *out, const mel_space *space, const double *decision);
void test_space_blend(double *out, const mel_space *space, const mel_blend *blend);
mel_space *test_classes_space(const test_classes *classes, const mel_space_options *opt);
/* Options with every field. */
mel_space_options test_space_options(mel_statistics_kind kind, mel_coordinates coordinates,
                                     mel_evidence evidence, int threads);

/* A sample to be made and what is measured on it, a row of a test's table. */
typedef struct {
    size_t k, m, n; /* classes, groups, rows */
    mel_statistics_kind kind;
    mel_coordinates coordinates;
    mel_evidence evidence;
    double sharpness;
} test_setting;
/* Says which one it is, makes the sample and its space, on one thread. */
mel_space *test_setting_open(test_classes *classes, const test_setting *set, mel_rng *rng);

#endif
