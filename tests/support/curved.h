/* Families whose slopes are affine in the middle, on balls. */
#ifndef MEL_TEST_CURVED_H
#define MEL_TEST_CURVED_H

#include "support/test.h"

#include "elicit/active/family.h"

typedef struct {
    const char *name;
    mel_family family;
    size_t classes, groups;
} test_curved_family;

enum { TEST_CURVED = 4 };
extern const test_curved_family test_curved[TEST_CURVED];

/* For the caller to free; the basis first. */
void test_curved_basis(mel_ball **ball, mel_basis **f, mel_family family, size_t classes, size_t groups,
                       double radius);

#endif
