/* People as draws from a population (von Mises-Fisher), by draws of their posteriors.
 *
 * Person i has unit vector w_i with density proportional to exp(kappa mu.w) where its signs are as declared.
 * A posterior that knew no population is a mixture of narrow densities exp(b v.w) around its draws v, as wide
 * as their number allows and drawn together so that the mixture is not wider than the draws. Times the
 * population's density each of them is again of this kind, so that how likely the answers of i are under the
 * population is a sum in closed form, and the draws need not be many near mu. Of a normal distribution of
 * variance 1/kappa around mu, which is what the density is where it is narrow, the share
 * prod Phi(sqrt(kappa) mu_j) has the declared signs.
 *
 * The likeliest mu and kappa come by expectation maximisation; from there a chain (Metropolis) draws from the
 * posterior of both. Its steps in mu have the covariance that the people's mean would have if everybody's
 * errors were normal. The distance of people to the mean, sqrt((D - 1)/kappa), has half of a normal
 * distribution with the deviation 0.5 for its prior: two people who agree do not prove that everybody does.
 */
#include "elicit/population.h"

#include "base/la.h"
#include "base/rng.h"
#include "base/stat.h"
#include "elicit/active/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DRAWS = 512, FEW_DRAWS = 128, STEPS = 60, FEW_STEPS = 15, MIDDLE_STEPS = 10 };
enum {
    KEPT = 500,
    LEAST_STEPS = 1500,
    MOST_STEPS = 6000,
    ALL_STEPS = 60000
};                              /* of the chain, for one person */
enum { LEAST = -4, MOST = 24 }; /* half powers of two between which the concentration is looked for */
static const double settled = 1e-7, most_concentration = 1e5;

static const double usual_distance = 0.5;

void mel_population_clear(mel_population *p)
{
    free(p->mean); /* and all that was made with it */
    *p = (mel_population){ 0 };
}

/* Draws of everybody at unit length, so many of each. */
typedef struct {
    size_t n, size, draws;
    signed char *sign; /* size: -1, 1, or 0, as in all draws */
    double *unit;      /* n x draws x size */
    double *narrow;    /* n: concentration of the density around each draw */
    double *weight;    /* draws: room */
    double *mean;      /* size: room */
} crowd;

/* Where the population's density is highest, and the mean of people's vectors under it; lent. */
typedef struct {
    double *middle, *mean;
} population;

static void to_unit(double *x, size_t size)
{
    const double length = mel_norm2(size, x);
    if (length > 0.0)
        mel_scale(size, 1.0 / length, x);
}

static void crowd_clear(crowd *c)
{
    free(c->sign);
    free(c->unit);
    free(c->narrow);
    free(c->weight);
    free(c->mean);
}

/* The concentration whose mean direction has this length, in so many dimensions (Banerjee et al. 2005). */
static double concentration_of(double length, size_t size)
{
    const double p = (double)size;
    return fmin(most_concentration, length * (p - length * length) / fmax(1e-12, 1.0 - length * length));
}

/* The mean direction's length at this concentration (a bound by Amos, within 1% here). */
static double length_of(double concentration, size_t size)
{
    const double nu = 0.5 * (double)size - 1.0;
    return concentration / (nu + 0.5 + sqrt(concentration * concentration + (nu + 1.5) * (nu + 1.5)));
}

/* Logarithm of the integral of exp(v.w) over the sphere for v of this length, up to a constant: Debye's
 * expansion of the Bessel function. */
static double log_mass(double length, size_t size)
{
    const double nu = 0.5 * (double)size - 1.0, root = sqrt(length * length + nu * nu);
    return root - nu * log(nu + root) - 0.5 * log(root > 0.0 ? root : 1.0);
}

/* The kernel's share of the variance of a person's draws. */
static double width_share(const crowd *c)
{
    return pow((double)c->draws, -2.0 / ((double)c->size + 3.0));
}

/* Draws one person's vectors together around their mean, and says how narrow the density around each is. */
static void smooth_person(crowd *c, size_t person)
{
    double *unit = c->unit + person * c->draws * c->size;
    memset(c->mean, 0, c->size * sizeof *c->mean);
    for (size_t k = 0; k < c->draws; k++)
        mel_axpy(c->size, 1.0 / (double)c->draws, unit + k * c->size, c->mean);
    const double share = width_share(c), kept = sqrt(1.0 - share), length = mel_norm2(c->size, c->mean);
    c->narrow[person] = fmin(most_concentration, fmax(1.0, concentration_of(length, c->size)) / share);
    for (size_t k = 0; k < c->draws; k++) {
        double *v = unit + k * c->size;
        mel_scale(c->size, kept, v);
        mel_axpy(c->size, 1.0 - kept, c->mean, v);
        to_unit(v, c->size);
    }
}

/* Evenly spaced draws: a chain's neighbours are alike. */
static void take_draws(crowd *c, size_t person, const mel_cloud *cloud)
{
    for (size_t k = 0; k < c->draws; k++) {
        double *to = c->unit + (person * c->draws + k) * c->size;
        const double *from = cloud->vector + (k * cloud->n / c->draws) * c->size;
        memcpy(to, from, c->size * sizeof *to);
        to_unit(to, c->size);
    }
    smooth_person(c, person);
}

/* What all draws of everybody have in common was declared, or is as good as that. */
static void find_signs(crowd *c, const mel_cloud *clouds)
{
    for (size_t j = 0; j < c->size; j++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < c->n; i++)
            for (size_t k = 0; k < clouds[i].n; k++) {
                low = fmin(low, clouds[i].vector[k * c->size + j]);
                high = fmax(high, clouds[i].vector[k * c->size + j]);
            }
        c->sign[j] = low == high ? 0 : low >= 0.0 ? 1 : high <= 0.0 ? -1 : 0;
    }
}

static mel_status crowd_make(crowd *c, size_t n, const mel_cloud *clouds, mel_error *err)
{
    c->n = n;
    c->size = clouds[0].size;
    c->draws = MOST_DRAWS;
    for (size_t i = 0; i < n; i++)
        c->draws = clouds[i].n < c->draws ? clouds[i].n : c->draws;
    c->unit = mel_alloc_zero(n * c->draws, c->size * sizeof *c->unit);
    c->narrow = mel_alloc(n, sizeof *c->narrow);
    c->weight = mel_alloc(2 * c->draws, sizeof *c->weight);
    c->mean = mel_alloc(c->size, sizeof *c->mean);
    c->sign = mel_alloc_zero(c->size, sizeof *c->sign);
    if (c->sign == NULL || c->unit == NULL || c->narrow == NULL || c->weight == NULL || c->mean == NULL)
        return mel_fail_memory(err, "draws of several people");
    find_signs(c, clouds);
    for (size_t i = 0; i < n; i++)
        take_draws(c, i, &clouds[i]);
    return MEL_OK;
}

/* The mean of a person's vector under the population (NULL: not wanted), and the logarithm of how likely the
 * answers are under it, up to a constant; every `stride`-th draw counts. */
static double person_mean(double *out, crowd *c, size_t person, const double *common, double concentration,
                          size_t stride)
{
    const double *unit = c->unit + person * c->draws * c->size, narrow = c->narrow[person];
    double *weight = c->weight, *length = c->weight + c->draws, most = -INFINITY, sum = 0.0, toward = 0.0;
    for (size_t k = 0; k < c->draws; k += stride) {
        const double cosine = mel_dot(c->size, common, unit + k * c->size);
        length[k] = sqrt(fmax(0.0, narrow * narrow + concentration * concentration +
                                       2.0 * narrow * concentration * cosine));
        weight[k] = log_mass(length[k], c->size);
        most = fmax(most, weight[k]);
    }
    for (size_t k = 0; k < c->draws; k += stride)
        sum += weight[k] = exp(weight[k] - most);
    const double likelihood = most + log(sum) - log_mass(concentration, c->size);
    if (out == NULL)
        return likelihood;
    memset(out, 0, c->size * sizeof *out);
    for (size_t k = 0; k < c->draws; k += stride) {
        const double w = weight[k];
        const double scaled = length[k] > 0.0 ? w * length_of(length[k], c->size) / length[k] : 0.0;
        toward += scaled * concentration;
        mel_axpy(c->size, scaled * narrow, unit + k * c->size, out);
    }
    mel_axpy(c->size, toward, common, out);
    mel_scale(c->size, 1.0 / sum, out);
    return likelihood;
}

/* Inverse Mills ratio: by how many standard deviations the mean of a normal distribution moves when what is
 * below 0 is cut off; at: its mean in these. */
static double cut_off(double at)
{
    const double density = exp(-0.5 * at * at) / sqrt(2.0 * acos(-1.0));
    return at > -8.0 ? density / mel_normal_cdf(at) : -at;
}

/* Logarithm of the share of the population's density that has the declared signs. */
static double log_share(const double *middle, double concentration, const crowd *c)
{
    double sum = 0.0;
    for (size_t j = 0; j < c->size; j++)
        if (c->sign[j] != 0)
            sum += log(mel_normal_cdf(sqrt(concentration) * c->sign[j] * middle[j]));
    return sum;
}

/* The likeliest middle of the density when people's vectors have this mean; from what is there, on the side
 * of the declared signs. work: size numbers. */
static void find_middle(double *middle, const double *mean, double concentration, double *work,
                        const crowd *c)
{
    const double root = sqrt(concentration);
    for (size_t step = 0; step < MIDDLE_STEPS; step++) {
        for (size_t j = 0; j < c->size; j++) {
            const double sign = c->sign[j];
            work[j] = mean[j] - sign / root * (sign != 0.0 ? cut_off(root * sign * middle[j]) : 0.0);
            work[j] = sign * work[j] < 0.0 ? 0.0 : work[j];
        }
        const double length = mel_norm2(c->size, work);
        if (!(length > 0.0))
            return;
        mel_scale(c->size, 0.5, middle);
        mel_axpy(c->size, 0.5 / length, work, middle);
        mel_scale(c->size, 1.0 / mel_norm2(c->size, middle), middle);
    }
}

/* The middle of these people at a concentration, by expectation maximisation from what is there, and the mean
 * of their vectors; how likely all answers are. work: size numbers. */
static double settle(population *p, double concentration, double *work, crowd *c, size_t steps, size_t stride)
{
    double likelihood = 0.0, moved = INFINITY;
    for (size_t step = 0; step < steps && moved > settled; step++) {
        likelihood = -(double)c->n * log_share(p->middle, concentration, c);
        moved = 0.0;
        memcpy(work, p->mean, c->size * sizeof *work);
        memset(p->mean, 0, c->size * sizeof *p->mean);
        for (size_t i = 0; i < c->n; i++) {
            likelihood += person_mean(c->mean, c, i, p->middle, concentration, stride);
            mel_axpy(c->size, 1.0 / (double)c->n, c->mean, p->mean);
        }
        for (size_t j = 0; j < c->size; j++)
            moved = fmax(moved, fabs(work[j] - p->mean[j]));
        find_middle(p->middle, p->mean, concentration, work, c);
    }
    return likelihood;
}

/* Log prior density of the logarithm of the concentration. */
static double log_prior(double concentration, size_t size)
{
    const double distance = sqrt(((double)size - 1.0) / concentration);
    return log(distance) - 0.5 * pow(distance / usual_distance, 2.0);
}

/* The concentration of the highest density: the best of several, and the top of the parabola through it and
 * its neighbours. */
static double find_concentration(population *p, crowd *c, double *work)
{
    double score[MOST - LEAST + 1];
    const size_t stride = 1 + c->draws / (FEW_DRAWS + 1), n = MOST - LEAST + 1;
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        const double exponent = 0.5 * ((double)LEAST + (double)i);
        score[i] = settle(p, exp2(exponent), work, c, FEW_STEPS, stride) + log_prior(exp2(exponent), c->size);
        best = score[i] > score[best] ? i : best;
    }
    double at = (double)best;
    if (best > 0 && best + 1 < n) {
        const double bend = score[best - 1] - 2.0 * score[best] + score[best + 1];
        at += bend < 0.0 ? 0.5 * (score[best - 1] - score[best + 1]) / bend : 0.0;
    }
    return exp2(0.5 * (LEAST + at));
}

/* --- the posterior ------------------------------------------------------------------------------ */

/* A state of the chain. */
typedef struct {
    double *middle;
    double log_concentration, likelihood;
} state;

static double likelihood_of(const state *s, crowd *c, size_t stride)
{
    const double concentration = exp(s->log_concentration);
    if (concentration < exp2(0.5 * LEAST) || concentration > most_concentration)
        return -INFINITY;
    for (size_t j = 0; j < c->size; j++) /* beyond, people would be a spike at zero */
        if (c->sign[j] * s->middle[j] < 0.0)
            return -INFINITY;
    double sum = log_prior(concentration, c->size) - (double)c->n * log_share(s->middle, concentration, c);
    for (size_t i = 0; i < c->n; i++)
        sum += person_mean(NULL, c, i, s->middle, concentration, stride);
    return sum;
}

/* The mean of a normal distribution around the middle without what the signs cut off, at unit length. */
static void mean_of(double *out, const double *middle, double concentration, const crowd *c)
{
    const double root = sqrt(concentration);
    for (size_t j = 0; j < c->size; j++) {
        const double sign = c->sign[j];
        out[j] = middle[j] + (sign != 0.0 ? sign / root * cut_off(root * sign * middle[j]) : 0.0);
    }
    to_unit(out, c->size);
}

/* The lower factor of the covariance of people's mean if everybody's errors were normal. */
static void find_steps(double *factor, const crowd *c, double concentration)
{
    const size_t d = c->size;
    memset(factor, 0, d * d * sizeof *factor);
    for (size_t i = 0; i < c->n; i++) {
        const double *unit = c->unit + i * c->draws * d;
        memset(c->mean, 0, d * sizeof *c->mean);
        for (size_t k = 0; k < c->draws; k++)
            mel_axpy(d, 1.0 / (double)c->draws, unit + k * d, c->mean);
        for (size_t k = 0; k < c->draws; k++)
            for (size_t a = 0; a < d; a++)
                for (size_t b = 0; b <= a; b++)
                    factor[a * d + b] += (unit[k * d + a] - c->mean[a]) * (unit[k * d + b] - c->mean[b]) /
                                         (double)c->draws / (double)(c->n * c->n);
    }
    for (size_t a = 0; a < d; a++)
        factor[a * d + a] += 1.0 / (concentration * (double)c->n);
    mel_cholesky_raised(d, factor, 1e-9);
}

/* Moves the middle by a random step of this size, or the concentration. */
static void propose(state *to, const state *from, const crowd *c, const double *factor, double size,
                    bool middle, double *normal, mel_rng *rng)
{
    const size_t d = c->size;
    memcpy(to->middle, from->middle, d * sizeof *to->middle);
    to->log_concentration = from->log_concentration;
    if (!middle) {
        to->log_concentration += 0.8 * mel_rng_normal(rng);
        return;
    }
    for (size_t j = 0; j < d; j++)
        normal[j] = mel_rng_normal(rng);
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++)
            to->middle[a] += size * factor[a * d + b] * normal[b];
    to_unit(to->middle, d);
}

/* A sixth of the steps are not kept: in these the size of the steps is found. spread: room for KEPT numbers.
 */
static void run_chain(mel_population *out, crowd *c, double *room, double *spread)
{
    const size_t d = c->size, stride = 1 + c->draws / (FEW_DRAWS + 1);
    const size_t wanted = ALL_STEPS / c->n, first = LEAST_STEPS / 6;
    const size_t steps = wanted < LEAST_STEPS ? LEAST_STEPS : wanted > MOST_STEPS ? MOST_STEPS : wanted;
    double *factor = room, *normal = room + d * d, size = 2.0 / sqrt((double)d);
    state now = { .middle = normal + d, .log_concentration = log(out->strength) };
    state next = { .middle = normal + 2 * d };
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    find_steps(factor, c, out->strength);
    memcpy(now.middle, out->likely, d * sizeof *now.middle);
    now.likelihood = likelihood_of(&now, c, stride);
    for (size_t step = 0, kept = 0; step < first + steps; step++) {
        const bool middle = step % 3 != 0;
        propose(&next, &now, c, factor, size, middle, normal, &rng);
        next.likelihood = likelihood_of(&next, c, stride);
        const bool accepted = log(1.0 - mel_rng_uniform(&rng)) < next.likelihood - now.likelihood;
        if (step < first && middle)
            size *= accepted ? 1.12 : 0.96; /* a quarter is accepted in the end */
        if (accepted) {
            const state old = now;
            now = next;
            next = old;
        }
        if (step >= first && (step - first) * KEPT / steps >= kept && kept < KEPT) {
            mean_of(out->draw + kept * d, now.middle, exp(now.log_concentration), c);
            spread[kept++] = acos(length_of(exp(now.log_concentration), d));
        }
    }
}

static void fit(mel_population *out, crowd *c, double *room)
{
    double *work = room;
    population p = { out->likely, out->mean };
    double spread[KEPT] = { 0.0 };
    /* From the middle of everybody's own. */
    for (size_t k = 0; k < c->n * c->draws; k++)
        mel_axpy(c->size, 1.0, c->unit + k * c->size, p.middle);
    to_unit(p.middle, c->size);
    out->strength = find_concentration(&p, c, work);
    (void)settle(&p, out->strength, work, c, STEPS, 1);
    run_chain(out, c, room, spread);
    memset(out->mean, 0, c->size * sizeof *out->mean);
    for (size_t k = 0; k < KEPT; k++)
        mel_axpy(c->size, 1.0, out->draw + k * c->size, out->mean);
    to_unit(out->mean, c->size);
    out->spread_low = mel_quantile_select(KEPT, spread, 0.025);
    out->spread = mel_quantile_select(KEPT, spread, 0.5);
    out->spread_high = mel_quantile_select(KEPT, spread, 0.975);
}

static mel_status population_room(mel_population *out, size_t size, mel_error *err)
{
    *out = (mel_population){ .size = size, .n_draws = KEPT };
    out->mean = mel_alloc_zero((2 + KEPT) * size, sizeof *out->mean);
    if (out->mean == NULL)
        return mel_fail_memory(err, "a population of people");
    out->likely = out->mean + size;
    out->draw = out->likely + size;
    return MEL_OK;
}

mel_status mel_population_on_sphere(mel_population *out, size_t n, const mel_cloud *clouds, mel_error *err)
{
    const size_t size = clouds[0].size;
    crowd c = { 0 };
    TRY(population_room(out, size, err));
    double *room = mel_alloc(size * (size + 3), sizeof *room);
    const mel_status status =
        room != NULL ? crowd_make(&c, n, clouds, err) : mel_fail_memory(err, "a population of people");
    if (status == MEL_OK)
        fit(out, &c, room);
    else
        mel_population_clear(out);
    crowd_clear(&c);
    free(room);
    return status;
}
