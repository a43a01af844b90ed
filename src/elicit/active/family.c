/* Families that are linear in known features: making one, signs, pairs in the ball. */
#include "elicit/families/families.h"

#include "base/la.h"
#include "elicit/assumption.h"
#include "elicit/options.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double root_two = 1.41421356237309504880;
/* Points stay this share inside the ball: sums of squares are rounded. */
static const double inside = 1.0 - 1e-12;
/* How far out middles are, as shares of the radius: curvature shows near the edge, where pairs are short.
 * Noise that hides small differences asks for longer ones. */
static const double innermost = 0.9, outermost = 0.97, innermost_noisy = 0.3, outermost_noisy = 0.8;

/* --- making one ----------------------------------------------------------------------------------- */

void mel_basis_free(mel_basis *f)
{
    if (f == NULL)
        return;
    if (f->ops != NULL && f->ops->free != NULL)
        f->ops->free(f);
    free(f->prevalence);
    free(f->cone);
    free(f->start);
    free(f->unit);
    free(f);
}

void mel_basis_free_own(mel_basis *f)
{
    free(f->own);
}

/* The true class that coordinate i of a group is about. */
static size_t class_of(const mel_layout *layout, size_t i)
{
    switch (layout->coordinates) {
    case MEL_BINARY:
        return 1 - i;
    case MEL_OFFDIAGONAL:
        return i / (layout->n_classes - 1);
    case MEL_DIAGONAL:
        break;
    }
    return i;
}

static mel_status read_domain(mel_basis *f, const mel_domain *domain, mel_error *err)
{
    const mel_ball *ball = domain->ball;
    f->layout = *mel_domain_layout(domain);
    f->groups = f->layout.n_groups > 1 ? f->layout.n_groups : 1;
    f->size = mel_layout_size(&f->layout);
    f->per_group = f->size / f->groups;
    f->pairs = f->groups * (f->groups - 1) / 2;
    f->prevalence = mel_alloc(f->size, sizeof(double));
    if (f->prevalence == NULL)
        return mel_fail_memory(err, "the family");
    const double *share = domain->pool != NULL    ? domain->prevalence
                          : ball != NULL          ? mel_ball_prevalence(ball)
                          : domain->space != NULL ? mel_space_prevalence(domain->space)
                                                  : NULL;
    f->class_prevalence = share;
    for (size_t g = 0; g < f->groups; g++)
        for (size_t i = 0; i < f->per_group; i++)
            f->prevalence[g * f->per_group + i] =
                share == NULL ? 1.0 / (double)f->groups
                              : share[g * f->layout.n_classes + class_of(&f->layout, i)];
    if (ball != NULL) {
        f->centre = mel_ball_centre(ball);
        f->radius = mel_ball_radius(ball);
    }
    return MEL_OK;
}

static mel_status check_domain(const mel_basis *f, const mel_domain *domain, mel_family family,
                               mel_error *err)
{
    const mel_family_facts *is = mel_family_about(family);
    const mel_elicit_ops *ops = mel_elicit_of(family);
    if (is == NULL || ops == NULL || ops->basis == NULL || (ops->paired && domain->face == NULL))
        return mel_fail(err, MEL_EINVAL, "%s metrics are not linear in known features",
                        mel_family_name(family));
    if (domain->ball == NULL && domain->pool == NULL && domain->face == NULL &&
        (ops->where & MEL_ON_SPACE) == 0)
        return mel_fail(err, MEL_EINVAL, "%s metrics are asked about on a ball", is->name);
    if (is->diagonal && f->layout.coordinates != MEL_DIAGONAL)
        return mel_fail(err, MEL_EINVAL, "%s metrics need diagonal statistics, not %s ones", is->name,
                        mel_coordinates_name(f->layout.coordinates));
    if (is->groups != (f->groups > 1))
        return mel_fail(err, MEL_EINVAL, "%s metrics and %zu groups cannot be combined", is->name,
                        f->layout.n_groups);
    return MEL_OK;
}

mel_status mel_basis_new(mel_basis **out, const mel_domain *domain, const mel_session_options *opt,
                         mel_error *err)
{
    *out = NULL;
    mel_basis *f = mel_alloc_zero(1, sizeof *f);
    if (f == NULL)
        return mel_fail_memory(err, "the family");
    mel_status status = read_domain(f, domain, err);
    const bool blurred = mel_assumed(&opt->assume)->errs == MEL_ERRS_BY_MARGIN;
    f->inner = f->radius * (blurred ? innermost_noisy : innermost);
    f->outer = f->radius * (blurred ? outermost_noisy : outermost);
    if (status == MEL_OK)
        status = check_domain(f, domain, opt->family, err);
    if (status == MEL_OK)
        status = mel_elicit_of(opt->family)->basis(f, domain, opt, err);
    if (status == MEL_OK)
        status = mel_basis_restrict(&f, opt, err);
    if (status == MEL_OK && f->n_judged == 0)
        f->n_judged = f->dimension;
    if (status != MEL_OK) {
        mel_basis_free(f);
        return status;
    }
    *out = f;
    return MEL_OK;
}

double mel_basis_norm(const mel_basis *f, const double *w)
{
    if (!f->l1)
        return mel_norm2(f->dimension, w);
    double sum = 0.0;
    for (size_t i = 0; i < f->dimension; i++)
        sum += fabs(w[i]);
    return sum;
}

double mel_basis_gain(const mel_basis *f, const double *w, const double *a, const double *b)
{
    if (f->ops->gain != NULL)
        return f->ops->gain(f, w, a, b);
    const double length = mel_norm2(f->dimension, w),
                 size = f->ops->size == NULL ? length : f->ops->size(f, w);
    return size > 0.0 ? length / size : 1.0;
}

/* --- prior ---------------------------------------------------------------------------------------- */

/* +1 or -1: whether more of the layout's coordinates is better for a metric that rewards right decisions. */
static double sense_of(const mel_basis *f)
{
    return f->layout.coordinates == MEL_OFFDIAGONAL ? -1.0 : 1.0;
}

mel_status mel_basis_reserve_cone(mel_basis *f, size_t n, mel_error *err)
{
    f->cone = mel_alloc_zero(n * f->dimension, sizeof(double));
    f->start = mel_alloc_zero(f->dimension, sizeof(double));
    return f->cone != NULL && f->start != NULL ? MEL_OK : mel_fail_memory(err, "the prior");
}

void mel_basis_add_sign(mel_basis *f, size_t i, double sign)
{
    f->cone[f->n_cone++ * f->dimension + i] = sign;
    f->start[i] = sign;
}

mel_status mel_basis_add_signs(mel_basis *f, const mel_session_options *opt, double turn, bool by_direction,
                               mel_error *err)
{
    for (size_t i = 0; i < f->per_group; i++) {
        double sign = 0.0;
        if (opt->signs != NULL)
            sign = (double)opt->signs[i];
        else if (by_direction && opt->direction != MEL_DIRECTION_UNKNOWN)
            sign = opt->direction == MEL_INCREASING ? sense_of(f) : -sense_of(f);
        if (fabs(sign) > 1.0)
            return mel_fail(err, MEL_EINVAL, "sign %zu is %g, not -1, 0 or 1", i + 1, sign);
        if (sign != 0.0)
            mel_basis_add_sign(f, i, turn * sign);
    }
    return MEL_OK;
}

void mel_basis_difference(const mel_basis *f, const double *a, const double *b, double *x)
{
    for (size_t i = 0; i < f->size; i++)
        x[i] = a[i] - b[i];
}

void mel_basis_same_slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    (void)c;
    memcpy(out, w, f->size * sizeof *out);
}

/* --- pairs in the ball ---------------------------------------------------------------------------- */

double mel_basis_reach(const mel_basis *f, const double *c, const double *delta)
{
    const size_t q = f->per_group;
    double reach = INFINITY;
    for (size_t g = 0; g < f->groups; g++) {
        double along = 0.0, length2 = 0.0, out2 = 0.0;
        for (size_t i = 0; i < q; i++) {
            const double from = c[g * q + i] - f->centre[i], step = delta[g * q + i];
            along += from * step;
            length2 += step * step;
            out2 += from * from;
        }
        if (length2 == 0.0)
            continue;
        const double room = fmax(inside * f->radius * f->radius - out2, 0.0);
        const double b = fabs(along);
        reach = fmin(reach, room / (b + sqrt(b * b + length2 * room)));
    }
    return reach;
}

mel_status mel_basis_pair(mel_basis *f, const double *c, const double *delta, double *a, double *b,
                          bool *found, mel_error *err)
{
    (void)err;
    const double t = mel_basis_reach(f, c, delta);
    *found = t > 0.0 && isfinite(t);
    for (size_t i = 0; i < f->size && *found; i++) {
        a[i] = c[i] + t * delta[i];
        b[i] = c[i] - t * delta[i];
    }
    return MEL_OK;
}

mel_status mel_basis_pair_central(mel_basis *f, const double *c, const double *delta, double *a, double *b,
                                  bool *found, mel_error *err)
{
    (void)c;
    for (size_t i = 0; i < f->size; i++)
        b[i] = f->centre[i % f->per_group];
    const double t = mel_basis_reach(f, b, delta);
    (void)err;
    *found = t > 0.0 && isfinite(t);
    for (size_t i = 0; i < f->size && *found; i++) {
        a[i] = b[i] + t * delta[i];
        b[i] -= t * delta[i];
    }
    return MEL_OK;
}

/* Pulls a group's point back to the shell where middles are. */
static void keep_group_in_shell(const mel_basis *f, double *point)
{
    const size_t q = f->per_group;
    double out2 = 0.0;
    for (size_t i = 0; i < q; i++)
        out2 += (point[i] - f->centre[i]) * (point[i] - f->centre[i]);
    const double out = sqrt(out2);
    if (!(out > 0.0))
        return;
    const double wanted = fmin(fmax(out, f->inner), f->outer);
    for (size_t i = 0; i < q; i++)
        point[i] = f->centre[i] + (point[i] - f->centre[i]) * (wanted / out);
}

void mel_basis_middle(const mel_basis *f, mel_rng *rng, double *c)
{
    const size_t q = f->per_group;
    for (size_t g = 0; g < f->groups; g++) {
        const double out = f->inner + (f->outer - f->inner) * mel_rng_uniform(rng);
        mel_rng_sphere(rng, q, c + g * q);
        for (size_t i = 0; i < q; i++)
            c[g * q + i] = f->centre[i] + out * c[g * q + i];
    }
}

void mel_basis_nudge(const mel_basis *f, mel_rng *rng, double step, const double *from, double *c)
{
    const size_t q = f->per_group;
    const double each = step * f->radius / sqrt((double)q);
    for (size_t i = 0; i < f->size; i++)
        c[i] = from[i] + each * mel_rng_normal(rng);
    for (size_t g = 0; g < f->groups; g++)
        keep_group_in_shell(f, c + g * f->per_group);
}

/* --- symmetric matrices --------------------------------------------------------------------------- */

void mel_pack(size_t q, const double *matrix, double *packed)
{
    for (size_t i = 0; i < q; i++) {
        *packed++ = matrix[i * q + i];
        for (size_t j = i + 1; j < q; j++)
            *packed++ = root_two * matrix[i * q + j];
    }
}

void mel_unpack(size_t q, const double *packed, double *matrix)
{
    for (size_t i = 0; i < q; i++) {
        matrix[i * q + i] = *packed++;
        for (size_t j = i + 1; j < q; j++)
            matrix[i * q + j] = matrix[j * q + i] = *packed++ / root_two;
    }
}

void mel_pack_times(size_t q, const double *packed, const double *u, double *out)
{
    memset(out, 0, q * sizeof *out);
    for (size_t i = 0; i < q; i++) {
        out[i] += *packed++ * u[i];
        for (size_t j = i + 1; j < q; j++) {
            const double entry = *packed++ / root_two;
            out[i] += entry * u[j];
            out[j] += entry * u[i];
        }
    }
}

/* --- from a metric back to its vector ------------------------------------------------------------------ */

/* The w whose rows give the metric's own differences at enough pairs of points: the same for every family, so
 * that none has to invert what it reports. */

/* Largest part of the differences that a metric of the family leaves unexplained, by rounding. */
static const double most_unexplained = 1e-6;

/* Least squares round differently on different processors, and questions must not depend on that. */
static const double grain = 1073741824.0;

typedef struct {
    size_t pairs;
    double *row, *difference; /* pairs x D, pairs; both overwritten by the solver */
    double *whole;            /* pairs: differences as they were */
    double *point;            /* two of them */
    double *w;                /* D */
} fit;

static mel_status make_fit(fit *t, const mel_basis *f, mel_error *err)
{
    const size_t pairs = t->pairs = 2 * f->dimension + 8;
    t->w = mel_alloc_zero(f->dimension, sizeof *t->w);
    t->row = mel_alloc_zero(pairs * (f->dimension + 2) + 2 * f->size, sizeof *t->row);
    if (t->w == NULL || t->row == NULL) {
        (void)mel_fail_memory(err, "the prior");
        return MEL_ENOMEM;
    }
    t->difference = t->row + pairs * f->dimension;
    t->whole = t->difference + pairs;
    t->point = t->whole + pairs;
    return MEL_OK;
}

/* Points are anywhere between 0 and 1: what the metric is in the formula, not what can be achieved. */
static mel_status take_pair(fit *t, size_t i, const mel_basis *f, const mel_metric *metric, mel_rng *rng,
                            mel_error *err)
{
    for (size_t j = 0; j < 2 * f->size; j++)
        t->point[j] = mel_rng_uniform(rng);
    f->ops->row(f, t->point, t->point + f->size, t->row + i * f->dimension);
    return mel_metric_compare(&t->whole[i], metric, t->point, t->point + f->size, err);
}

static double unexplained(const fit *t, const mel_basis *f, mel_rng *rng)
{
    double left = 0.0, all = 0.0;
    double *row = t->row; /* free again */
    for (size_t i = 0; i < t->pairs; i++) {
        for (size_t j = 0; j < 2 * f->size; j++)
            t->point[j] = mel_rng_uniform(rng);
        f->ops->row(f, t->point, t->point + f->size, row);
        const double miss = t->whole[i] - mel_dot(f->dimension, row, t->w);
        left += miss * miss;
        all += t->whole[i] * t->whole[i];
    }
    return all > 0.0 ? sqrt(left / all) : INFINITY;
}

static mel_status solve(fit *t, const mel_basis *f, const mel_metric *metric, mel_error *err)
{
    const size_t d = f->dimension;
    mel_rng rng, again;
    mel_rng_seed(&rng, 1);
    again = rng;
    for (size_t i = 0; i < t->pairs; i++)
        TRY(take_pair(t, i, f, metric, &rng, err));
    memcpy(t->difference, t->whole, t->pairs * sizeof *t->whole);
    size_t rank = 0;
    TRY(mel_least_squares(t->pairs, d, t->row, d, t->difference, 0.0, t->w, &rank, err));
    if (!(unexplained(t, f, &again) <= most_unexplained))
        return mel_fail(err, MEL_EINVAL,
                        "the prior metric finds all classifiers equally good, weighs groups by other shares "
                        "than here, or does not have "
                        "the structure that is known");
    TRY(mel_normalise(d, t->w, err));
    for (size_t i = 0; i < d; i++)
        t->w[i] = nearbyint(t->w[i] * grain) / grain;
    return MEL_OK;
}

mel_status mel_basis_vector(double **out, const mel_basis *f, const mel_session_options *opt,
                            const mel_metric *metric, mel_error *err)
{
    *out = NULL;
    fit t = { 0 };
    mel_status status = make_fit(&t, f, err);
    if (status == MEL_OK)
        status =
            f->ops->vector != NULL ? f->ops->vector(t.w, f, opt, metric, err) : solve(&t, f, metric, err);
    free(t.row); /* and all that was made with it */
    if (status == MEL_OK)
        *out = t.w;
    else
        free(t.w);
    return status;
}
