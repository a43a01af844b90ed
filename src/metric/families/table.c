/* The table of families: what they are called, which layouts they go with, how many numbers they have. */
#include "data/quote.h"
#include "metric/families/families.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) &mel_family_##name,
#define INDEX(name) INDEX_OF_##name,
enum { MEL_FAMILIES(INDEX) N_FAMILIES };
static const mel_family_ops *const families[N_FAMILIES] = { MEL_FAMILIES(ROW) };
enum { LIST_BYTES = 512 };

const mel_family_ops *mel_family_of(mel_family family)
{
    return (unsigned)family < N_FAMILIES ? families[family] : NULL;
}

const mel_family_facts *mel_family_about(mel_family family)
{
    const mel_family_ops *ops = mel_family_of(family);
    return ops != NULL ? &ops->is : NULL;
}

const char *mel_family_name(mel_family family)
{
    const mel_family_ops *ops = mel_family_of(family);
    return ops != NULL ? ops->is.name : "unknown";
}

/* --- as text ------------------------------------------------------------------------------------ */

/* Whether this is the family's name alone (*degree: 0) or, of one with a degree, "name:D". */
static bool is_called(const mel_family_facts *is, const char *text, uint32_t *degree)
{
    const size_t n = strlen(is->name);
    *degree = 0;
    if (strncmp(text, is->name, n) != 0)
        return false;
    if (text[n] == '\0')
        return true;
    if (is->degree > 0 || text[n] != ':' || text[n + 1] < '0' + MEL_MIN_DEGREE ||
        text[n + 1] > '0' + MEL_MAX_DEGREE || text[n + 2] != '\0')
        return false;
    *degree = (uint32_t)(text[n + 1] - '0');
    return true;
}

static mel_status refuse_name(const char *name, mel_error *err)
{
    char list[LIST_BYTES] = "";
    size_t used = 0;
    for (unsigned i = 0; i < N_FAMILIES && used < sizeof list; i++) {
        const mel_family_facts *is = &families[i]->is;
        const int wrote = is->degree > 0
                              ? snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", is->name)
                              : snprintf(list + used, sizeof list - used, "%s%s:D with D from %d to %d",
                                         i > 0 ? ", " : "", is->name, MEL_MIN_DEGREE, MEL_MAX_DEGREE);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return mel_fail(err, MEL_EINVAL, "%s is not a family of metrics: %s", mel_quote_text(name).text, list);
}

/* *degree: as written; 0: none is. */
static mel_status parse(mel_family *out, uint32_t *degree, const char *name, mel_error *err)
{
    for (unsigned i = 0; i < N_FAMILIES; i++)
        if (is_called(&families[i]->is, name, degree)) {
            *out = (mel_family)i;
            return MEL_OK;
        }
    return refuse_name(name, err);
}

mel_status mel_family_parse(mel_family *out, const char *name, mel_error *err)
{
    uint32_t ignored = 0;
    return parse(out, &ignored, name, err);
}

mel_status mel_family_parse_degree(mel_family *out, uint32_t *degree, const char *name, mel_error *err)
{
    mel_family family = (mel_family)0;
    uint32_t written = 0;
    TRY(parse(&family, &written, name, err));
    const mel_family_facts *is = &families[family]->is;
    if (is->degree == 0 && written == 0)
        return mel_fail(err, MEL_EINVAL, "%s: the degree is missing, as in %s:3", is->name, is->name);
    *out = family;
    *degree = written > 0 ? written : is->degree;
    return MEL_OK;
}

void mel_family_print(char text[MEL_FAMILY_TEXT], mel_family family, uint32_t degree)
{
    const mel_family_ops *ops = mel_family_of(family);
    if (ops != NULL && ops->is.degree == 0)
        (void)snprintf(text, MEL_FAMILY_TEXT, "%s:%u", ops->is.name, (unsigned)degree);
    else
        (void)snprintf(text, MEL_FAMILY_TEXT, "%s", mel_family_name(family));
}

/* --- layouts and sizes -------------------------------------------------------------------------- */

mel_status mel_family_check(mel_family family, uint32_t degree, const mel_layout *layout, mel_error *err)
{
    if ((unsigned)family >= N_FAMILIES)
        return mel_fail(err, MEL_EINVAL, "there is no family of metrics %d", (int)family);
    const mel_family_facts *is = &families[family]->is;
    if (is->degree == 0 && (degree < MEL_MIN_DEGREE || degree > MEL_MAX_DEGREE))
        return mel_fail(err, MEL_EINVAL, "%s: degree %u, expected %d to %d", is->name, (unsigned)degree,
                        MEL_MIN_DEGREE, MEL_MAX_DEGREE);
    if (is->diagonal && layout->coordinates != MEL_DIAGONAL)
        return mel_fail(err, MEL_EINVAL, "a metric of the family %s needs diagonal coordinates, not %s",
                        is->name, mel_coordinates_name(layout->coordinates));
    if (is->groups && layout->kind != MEL_RATES)
        return mel_fail(err, MEL_EINVAL, "a metric of the family %s needs rates, not %s statistics", is->name,
                        mel_kind_name(layout->kind));
    if (is->groups && layout->n_groups < 2)
        return mel_fail(err, MEL_EINVAL, "a metric of the family %s needs two groups at least", is->name);
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

mel_status mel_family_coefficients(size_t *out, mel_family family, uint32_t degree, const mel_layout *layout,
                                   mel_error *err)
{
    const size_t n = mel_family_of(family)->coefficients(layout, degree);
    if (n == SIZE_MAX)
        return mel_fail(
            err, MEL_ELIMIT, "a %s metric of %zu classes and %zu statistics has more than %d coefficients",
            mel_family_name(family), layout->n_classes, mel_layout_size(layout), MEL_MOST_COEFFICIENTS);
    *out = n;
    return MEL_OK;
}

size_t mel_family_one_each(const mel_layout *layout, uint32_t degree)
{
    (void)degree;
    return mel_layout_size(layout);
}

size_t mel_family_one_field(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric)
{
    fields[0] = (mel_field){ "a", 0, metric->size, 1, 0, false };
    return 1;
}

size_t mel_metric_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric)
{
    return metric->ops->fields(fields, metric);
}
