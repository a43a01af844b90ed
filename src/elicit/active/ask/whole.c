/* Rounds classifiers to whole numbers of people. */
#include "elicit/active/ask/whole.h"

#include <math.h>

static size_t class_of(const mel_basis *f, size_t i)
{
    return mel_layout_cell(&f->layout, i % f->per_group) / f->layout.n_classes;
}

/* By how many people the numbers of the class that has number i, in its group, are more than it has. */
static int64_t surplus(const mel_whole *whole, const double *x, size_t i)
{
    const mel_basis *f = whole->f;
    const size_t class = class_of(f, i), first = i - i % f->per_group;
    int64_t sum = -whole->most[class];
    for (size_t j = first; j < first + f->per_group; j++)
        if (class_of(f, j) == class)
            sum += llround(x[j] * (double)whole->people);
    return sum;
}

/* Rounding may have made each number of a class greater; those that are there give way, one by one. */
static void make_fit(const mel_whole *whole, double *x)
{
    for (size_t i = 0; i < whole->f->size; i++) {
        const double here = round(x[i] * (double)whole->people);
        const double over = fmin(here, (double)surplus(whole, x, i));
        if (over > 0.0)
            x[i] = (here - over) / (double)whole->people;
    }
}

void mel_whole_point(const mel_whole *whole, double *x)
{
    for (size_t i = 0; i < whole->f->size; i++)
        x[i] = round(x[i] * whole->scale[i] * (double)whole->people) / (double)whole->people;
    make_fit(whole, x);
}

void mel_whole_change(const mel_whole *whole, double *x, const double *base)
{
    const mel_basis *f = whole->f;
    mel_whole_point(whole, x);
    for (size_t i = 0; i < f->size; i++)
        if (round(fabs(x[i] - base[i]) * (double)whole->people) < MEL_LEAST_APART)
            x[i] = base[i];
    for (size_t i = 0; i < f->size; i++) {
        const size_t first = i - i % f->per_group, class = class_of(f, i);
        const bool too_many = surplus(whole, x, i) > 0;
        for (size_t j = first; too_many && j < first + f->per_group; j++)
            if (class_of(f, j) == class)
                x[j] = base[j];
    }
}
