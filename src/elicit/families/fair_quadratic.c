/* Fair quadratic metrics, costs (1 - lambda) <a, r> + lambda/2 sum over u < v of (r^u - r^v)' B^uv (r^u -
 * r^v), r = sum tau^g r^g: w = ((1 - lambda) a, lambda B^12 packed, ...), every B positive semidefinite. The
 * prior asks v' B v >= 0 of a few v only, among them all e_i and e_i +- e_j. */
#include "elicit/families/families.h"

#include "base/la.h"

#include <math.h>
#include <string.h>

static const double root_half = 0.70710678118654752440;
/* With two coordinates, directions v at so many angles come close to all there are. */
enum { ANGLES = 12 };

static void row(const mel_basis *f, const double *a, const double *b, double *x)
{
    const size_t q = f->per_group;
    memset(x, 0, q * sizeof *x);
    double *packed = x + q;
    for (size_t u = 0; u < f->groups; u++) {
        const double *au = a + u * q, *bu = b + u * q, *tau = f->prevalence + u * q;
        for (size_t i = 0; i < q; i++)
            x[i] += tau[i] * (bu[i] - au[i]);
        for (size_t v = u + 1; v < f->groups; v++) {
            const double *av = a + v * q, *bv = b + v * q;
            for (size_t i = 0; i < q; i++) {
                const double ai = au[i] - av[i], bi = bu[i] - bv[i];
                *packed++ = 0.5 * (bi * bi - ai * ai);
                for (size_t j = i + 1; j < q; j++)
                    *packed++ = root_half * (bi * (bu[j] - bv[j]) - ai * (au[j] - av[j]));
            }
        }
    }
}

/* out = M (x - y) without room for the difference. */
static void times_difference(size_t q, const double *packed, const double *x, const double *y, double *out,
                             double *minus)
{
    for (size_t i = 0; i < q; i++) {
        const double first = *packed++ * (x[i] - y[i]);
        out[i] -= first;
        minus[i] += first;
        for (size_t j = i + 1; j < q; j++) {
            const double entry = *packed++ * root_half;
            const double at_i = entry * (x[j] - y[j]), at_j = entry * (x[i] - y[i]);
            out[i] -= at_i;
            minus[i] += at_i;
            out[j] -= at_j;
            minus[j] += at_j;
        }
    }
}

static void slope(const mel_basis *f, const double *c, const double *w, double *out)
{
    const size_t q = f->per_group, packed = mel_pack_size(q);
    for (size_t i = 0; i < f->size; i++)
        out[i] = -f->prevalence[i] * w[i % q];
    const double *block = w + q;
    for (size_t u = 0; u < f->groups; u++)
        for (size_t v = u + 1; v < f->groups; v++, block += packed)
            times_difference(q, block, c + u * q, c + v * q, out + u * q, out + v * q);
}

/* Half the sum of the norms of the B. */
static double apart_of(const mel_basis *f, const double *w)
{
    const size_t q = f->per_group, packed = mel_pack_size(q);
    double sum = 0.0;
    for (size_t p = 0; p < f->pairs; p++)
        sum += 0.5 * mel_norm2(packed, w + q + p * packed);
    return sum;
}

static double size(const mel_basis *f, const double *w)
{
    return mel_norm2(f->per_group, w) + apart_of(f, w);
}

/* a at norm 1, the B at half the sum of their norms 1, lambda from the two. */
static void coefficients(const mel_basis *f, const double *w, double *out)
{
    const size_t q = f->per_group, packed = mel_pack_size(q);
    const double mistakes = mel_norm2(q, w), apart = apart_of(f, w);
    for (size_t i = 0; i < q; i++)
        out[i] = mistakes > 0.0 ? w[i] / mistakes : w[i];
    for (size_t p = 0; p < f->pairs; p++)
        mel_unpack(q, w + q + p * packed, out + q + p * q * q);
    mel_scale(f->pairs * q * q, apart > 0.0 ? 1.0 / apart : 1.0, out + q);
    out[f->n_reported - 1] = apart / (apart + mistakes);
}

static mel_status metric(mel_metric **out, const mel_basis *f, const mel_session_options *opt,
                         const double *coefficient, mel_error *err)
{
    return mel_metric_fair_quadratic(out, &f->layout, opt->class_names, opt->group_names, coefficient,
                                     coefficient + f->per_group, coefficient[f->n_reported - 1],
                                     f->class_prevalence, err);
}

static const mel_basis_ops fair_quadratic_ops = {
    .row = row,
    .slope = slope,
    .middle = mel_basis_middle,
    .nudge = mel_basis_nudge,
    .pair = mel_basis_pair,
    .size = size,
    .coefficients = coefficients,
    .metric = metric,
};

/* x e_i + y e_j squared must not be rewarded. */
static void add_direction(mel_basis *f, size_t p, size_t i, double x, size_t j, double y)
{
    const size_t q = f->per_group;
    double *packed = f->cone + f->n_cone++ * f->dimension + q + p * mel_pack_size(q);
    size_t at = 0;
    for (size_t a = 0; a < q; a++)
        for (size_t b = a; b < q; b++, at++)
            packed[at] = a == i && b == i   ? x * x
                         : a == j && b == j ? y * y
                         : a == i && b == j ? x * y / root_half
                                            : 0.0;
}

static void add_directions(mel_basis *f, size_t p)
{
    const size_t q = f->per_group;
    double *start = f->start + q + p * mel_pack_size(q);
    for (size_t i = 0; i < q; i++) {
        *start = 1.0; /* the identity */
        start += q - i;
        for (size_t j = i + 1; q > 2 && j < q; j++) {
            add_direction(f, p, i, 1.0, j, 1.0);
            add_direction(f, p, i, 1.0, j, -1.0);
        }
        if (q > 2)
            add_direction(f, p, i, 1.0, i, 1.0);
    }
    for (size_t i = 0; q == 2 && i < ANGLES; i++) {
        const double angle = 3.14159265358979323846 * (double)i / ANGLES;
        add_direction(f, p, 0, cos(angle), 1, sin(angle));
    }
}

static mel_status basis(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err)
{
    (void)domain;
    const size_t q = f->per_group;
    f->ops = &fair_quadratic_ops;
    f->dimension = q + f->pairs * mel_pack_size(q);
    f->n_reported = q + f->pairs * q * q + 1;
    f->matrices = f->pairs;
    TRY(mel_basis_reserve_cone(f, q + f->pairs * (q * q + ANGLES), err));
    TRY(mel_basis_add_signs(f, opt, -1.0, true, err));
    for (size_t p = 0; p < f->pairs; p++)
        if (opt->direction != MEL_DIRECTION_UNKNOWN)
            add_directions(f, p);
    return MEL_OK;
}

const mel_elicit_ops mel_elicit_fair_quadratic = {
    .where = MEL_ON_GROUPS,
    .needs = "a ball of off-diagonal rates with groups",
    .reads = MEL_READS_PLACES | MEL_READS_DIAGONAL_B | MEL_READS_PAIRS,
    .sloped = true,
    .active = mel_engine_features,
    .search = mel_engine_search_fair,
    .basis = basis,
};
