/* The families by name: what they are called, where they live, how many numbers they have. */
#include "data/quote.h"
#include "metric/families/families.h"

#include <stdio.h>
#include <string.h>

static const char *const family_names[] = {
    [MEL_FAMILY_LINEAR] = "linear",
    [MEL_FAMILY_LINEAR_FRACTIONAL] = "linear-fractional",
    [MEL_FAMILY_DIAGONAL_LINEAR] = "diagonal-linear",
    [MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL] = "diagonal-linear-fractional",
    [MEL_FAMILY_MONOTONE] = "monotone",
    [MEL_FAMILY_FAIR_LINEAR] = "fair-linear",
    [MEL_FAMILY_QUADRATIC] = "quadratic",
    [MEL_FAMILY_FAIR_QUADRATIC] = "fair-quadratic",
    [MEL_FAMILY_POLYNOMIAL] = "polynomial",
};
enum { N_FAMILIES = sizeof family_names / sizeof *family_names };

const char *mel_family_name(mel_family family)
{
    return (unsigned)family < N_FAMILIES ? family_names[family] : "unknown";
}

static const char polynomial_prefix[] = "polynomial:";

/* The digit behind "polynomial:", or 0. */
static uint32_t degree_of(const char *name)
{
    const size_t n = sizeof polynomial_prefix - 1;
    if (strncmp(name, polynomial_prefix, n) != 0 || name[n] == '\0' || name[n + 1] != '\0')
        return 0;
    const char digit = name[n];
    return digit >= '0' + MEL_MIN_DEGREE && digit <= '0' + MEL_MAX_DEGREE ? (uint32_t)(digit - '0') : 0;
}

mel_status mel_family_parse(mel_family *out, const char *name, mel_error *err)
{
    for (unsigned i = 0; i < N_FAMILIES; i++) {
        if (strcmp(name, family_names[i]) == 0) {
            *out = (mel_family)i;
            return MEL_OK;
        }
    }
    if (degree_of(name) > 0) {
        *out = MEL_FAMILY_POLYNOMIAL;
        return MEL_OK;
    }
    return mel_fail(err, MEL_EINVAL,
                    "%s is not a family of metrics: linear, linear-fractional, diagonal-linear, "
                    "diagonal-linear-fractional, monotone, fair-linear, quadratic, fair-quadratic, "
                    "polynomial:D with D from %d to %d",
                    mel_quote_text(name).text, MEL_MIN_DEGREE, MEL_MAX_DEGREE);
}

mel_status mel_family_parse_degree(mel_family *out, uint32_t *degree, const char *name, mel_error *err)
{
    mel_family family = MEL_FAMILY_LINEAR;
    const mel_status status = mel_family_parse(&family, name, err);
    if (status != MEL_OK)
        return status;
    const uint32_t found = degree_of(name);
    if (family == MEL_FAMILY_POLYNOMIAL && found == 0)
        return mel_fail(err, MEL_EINVAL, "polynomial: the degree is missing, as in polynomial:3");
    *out = family;
    *degree = found > 0 ? found : mel_family_degree(family);
    return MEL_OK;
}

uint32_t mel_family_degree(mel_family family)
{
    return family == MEL_FAMILY_QUADRATIC || family == MEL_FAMILY_FAIR_QUADRATIC ? 2 : 1;
}

void mel_family_print(char text[MEL_FAMILY_TEXT], mel_family family, uint32_t degree)
{
    if (family == MEL_FAMILY_POLYNOMIAL)
        (void)snprintf(text, MEL_FAMILY_TEXT, "%s%u", polynomial_prefix, (unsigned)degree);
    else
        (void)snprintf(text, MEL_FAMILY_TEXT, "%s", mel_family_name(family));
}

mel_status mel_family_check(mel_family family, uint32_t degree, const mel_layout *layout, mel_error *err)
{
    if ((unsigned)family >= N_FAMILIES)
        return mel_fail(err, MEL_EINVAL, "there is no family of metrics %d", (int)family);
    if (family == MEL_FAMILY_POLYNOMIAL && (degree < MEL_MIN_DEGREE || degree > MEL_MAX_DEGREE))
        return mel_fail(err, MEL_EINVAL, "polynomial: degree %u, expected %d to %d", (unsigned)degree,
                        MEL_MIN_DEGREE, MEL_MAX_DEGREE);
    const bool diagonal = family == MEL_FAMILY_DIAGONAL_LINEAR || family == MEL_FAMILY_MONOTONE ||
                          family == MEL_FAMILY_DIAGONAL_LINEAR_FRACTIONAL;
    if (diagonal && layout->coordinates != MEL_DIAGONAL)
        return mel_fail(err, MEL_EINVAL, "a metric of the family %s needs diagonal coordinates, not %s",
                        mel_family_name(family), mel_coordinates_name(layout->coordinates));
    if (mel_family_is_fair(family) && layout->kind != MEL_RATES)
        return mel_fail(err, MEL_EINVAL, "a metric of the family %s needs rates, not %s statistics",
                        mel_family_name(family), mel_kind_name(layout->kind));
    if (mel_family_is_fair(family) && layout->n_groups < 2)
        return mel_fail(err, MEL_EINVAL, "a metric of the family %s needs two groups at least",
                        mel_family_name(family));
    return MEL_OK;
}

size_t mel_tensor_size(size_t base, uint32_t exponent)
{
    size_t size = 1;
    for (uint32_t i = 0; i < exponent; i++) {
        if (size > 1 && base > MEL_MOST_COEFFICIENTS / size)
            return SIZE_MAX;
        size *= base;
    }
    return size;
}

/* Entries of a .. of the highest degree; SIZE_MAX when they are too many. */
static size_t all_tensors(size_t size, uint32_t degree)
{
    size_t sum = 0;
    for (uint32_t d = 1; d <= degree; d++) {
        const size_t n = mel_tensor_size(size, d);
        if (n > MEL_MOST_COEFFICIENTS - sum)
            return SIZE_MAX;
        sum += n;
    }
    return sum;
}

static size_t fair_coefficients(mel_family family, const mel_layout *layout)
{
    const size_t q = mel_layout_size(layout) / layout->n_groups;
    const size_t block = family == MEL_FAMILY_FAIR_QUADRATIC ? mel_tensor_size(q, 2) : q;
    const size_t pairs = mel_group_pairs(layout->n_groups);
    return block > MEL_MOST_COEFFICIENTS / pairs ? SIZE_MAX : q + pairs * block + 1;
}

mel_status mel_family_coefficients(size_t *out, mel_family family, uint32_t degree, const mel_layout *layout,
                                   mel_error *err)
{
    const size_t size = mel_layout_size(layout);
    size_t n = size;
    if (mel_family_is_fractional(family))
        n = 2 * size + 2;
    else if (mel_family_is_tensor(family))
        n = all_tensors(size, degree);
    else if (mel_family_is_fair(family))
        n = fair_coefficients(family, layout);
    if (n == SIZE_MAX)
        return mel_fail(err, MEL_ELIMIT,
                        "a %s metric of %zu classes and %zu statistics has more than %d coefficients",
                        mel_family_name(family), layout->n_classes, size, MEL_MOST_COEFFICIENTS);
    *out = n;
    return MEL_OK;
}

const mel_family_rules *mel_rules_of(mel_family family)
{
    if (mel_family_is_fractional(family))
        return &mel_fractional_rules;
    if (mel_family_is_tensor(family))
        return &mel_tensor_rules;
    return mel_family_is_fair(family) ? &mel_fair_rules : &mel_linear_rules;
}
