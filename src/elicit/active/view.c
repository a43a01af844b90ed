#include "elicit/active/view.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How strongly a direction is kept in the cut through the mean, and flat directions apart. */
static const double through_mean = 1e4, least_share = 1e-9;

void mel_view_free(mel_view *view)
{
    free(view->through);
    *view = (mel_view){ 0 };
}

mel_status mel_view_new(mel_view *view, const mel_basis *f, const double *covariance, const double *mean,
                        mel_error *err)
{
    const size_t d = f->dimension, s = f->size;
    *view = (mel_view){ .f = f, .covariance = covariance, .mean = mean };
    view->through = mel_alloc_zero(d * s + s * s + s + d, sizeof(double));
    if (view->through == NULL)
        return mel_fail_memory(err, "the questions");
    view->first = view->through + d * s;
    view->slope = view->first + s * s;
    view->column = view->slope + s;
    return MEL_OK;
}

void mel_view_from(mel_view *view, const double *c)
{
    const mel_basis *f = view->f;
    const size_t d = f->dimension, s = f->size;
    for (size_t j = 0; j < d; j++)
        f->ops->slope(f, c, view->covariance + j * d, view->through + j * s);
    for (size_t i = 0; i < s; i++) {
        for (size_t j = 0; j < d; j++)
            view->column[j] = view->through[j * s + i];
        f->ops->slope(f, c, view->column, view->first + i * s);
    }
    f->ops->slope(f, c, view->mean, view->slope);
}

void mel_view_centre(mel_view *view)
{
    const size_t s = view->f->size;
    const double slope2 = mel_dot(s, view->slope, view->slope);
    double trace = 0.0;
    for (size_t i = 0; i < s; i++)
        trace += view->first[i * s + i];
    view->penalty = slope2 > 0.0 ? through_mean * trace / slope2 : 0.0;
    for (size_t i = 0; i < s; i++) {
        view->first[i * s + i] += least_share * trace;
        mel_axpy(s, view->penalty * view->slope[i], view->slope, view->first + i * s);
    }
    mel_cholesky_raised(s, view->first, least_share);
}

void mel_view_halfway(const mel_view *view, double *x)
{
    const size_t s = view->f->size;
    const double *l = view->first;
    for (size_t i = 0; i < s; i++)
        x[i] = (x[i] - mel_dot(i, l + i * s, x)) / l[i * s + i];
}

void mel_view_back(const mel_view *view, double *x)
{
    const size_t s = view->f->size;
    const double *l = view->first;
    for (size_t i = s; i-- > 0;) {
        x[i] /= l[i * s + i];
        mel_axpy(i, -x[i], l + i * s, x);
    }
}
