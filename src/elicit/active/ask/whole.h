/* Classifiers as whole numbers of people, as many of each class as there are. */
#ifndef MEL_ACTIVE_WHOLE_H
#define MEL_ACTIVE_WHOLE_H

#include "elicit/active/family.h"

/* People by which two classifiers must differ in some number. */
enum { MEL_LEAST_APART = 3 };

typedef struct {
    const mel_basis *f;
    uint32_t people;
    int64_t *most; /* classes: people of each, in every group */
    double *scale; /* size: what was found on some rows, times this, is true of all */
} mel_whole;

void mel_whole_point(const mel_whole *whole, double *x);
/* Numbers of a change that are hardly other than its base's are the base's, and so are all of a class that
 * would then have more people than there are. The base is in whole numbers. */
void mel_whole_change(const mel_whole *whole, double *x, const double *base);

#endif
