/* People as draws from a population (von Mises-Fisher), fitted to draws of their posteriors.
 *
 * Person i has unit vector w_i with density proportional to exp(kappa mu.w) where its signs are as declared.
 * A posterior that knew no population is a mixture of narrow densities exp(b v.w) around its draws v, as wide
 * as their number allows and drawn together so that the mixture is not wider than the draws. Times the
 * population's density each of them is again of this kind, so that the mean of w_i under the population is a
 * weighted sum, and the draws need not be many near mu. The sum of all people's means gives the next mu
 * (expectation maximisation), once what the declared signs cut off is allowed for: of a normal distribution
 * of variance 1/kappa around mu, which is what the density is where it is narrow, the share
 * prod Phi(sqrt(kappa) mu_j) has them. Of several kappas the likeliest is taken; its prior, 1/sqrt(kappa),
 * keeps two people who agree from proving that everybody does. */
#include "elicit/hierarchy.h"

#include "base/la.h"
#include "base/rng.h"
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DRAWS = 512, FEW_DRAWS = 128, STEPS = 60, FEW_STEPS = 15, MIDDLE_STEPS = 10, AGAIN = 40 };
enum { LEAST = -4, MOST = 24 }; /* half powers of two between which the concentration is looked for */
static const double settled = 1e-7, most_concentration = 1e5;

void mel_hierarchy_clear(mel_hierarchy *h)
{
    free(h->common); /* and all that was made with it */
    free(h->person);
    *h = (mel_hierarchy){ 0 };
}

/* Draws of everybody at unit length, so many of each. */
typedef struct {
    size_t n, size, draws;
    const signed char *sign; /* size */
    double *unit;            /* n x draws x size */
    double *narrow;          /* n: concentration of the density around each draw */
    double *weight;          /* draws: room */
    double *mean;            /* size: room */
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

/* Of the variance of a person's draws, the part that the density around each makes. */
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
    if (c->unit == NULL || c->narrow == NULL || c->weight == NULL || c->mean == NULL)
        return mel_fail_memory(err, "draws of several people");
    for (size_t i = 0; i < n; i++)
        take_draws(c, i, &clouds[i]);
    return MEL_OK;
}

/* The mean of a person's vector under the population, and the logarithm of how likely the answers are under
 * it, up to a constant; every `stride`-th draw counts. */
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
    memset(out, 0, c->size * sizeof *out);
    for (size_t k = 0; k < c->draws; k += stride) {
        const double w = exp(weight[k] - most);
        const double scaled = length[k] > 0.0 ? w * length_of(length[k], c->size) / length[k] : 0.0;
        sum += w;
        toward += scaled * concentration;
        mel_axpy(c->size, scaled * narrow, unit + k * c->size, out);
    }
    mel_axpy(c->size, toward, common, out);
    mel_scale(c->size, 1.0 / sum, out);
    return most + log(sum) - log_mass(concentration, c->size);
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
static double settle(population *p, double concentration, double *work, crowd *c, const size_t *who,
                     size_t steps, size_t stride)
{
    double likelihood = 0.0, moved = INFINITY;
    for (size_t step = 0; step < steps && moved > settled; step++) {
        likelihood = -(double)c->n * log_share(p->middle, concentration, c);
        moved = 0.0;
        memcpy(work, p->mean, c->size * sizeof *work);
        memset(p->mean, 0, c->size * sizeof *p->mean);
        for (size_t i = 0; i < c->n; i++) {
            likelihood += person_mean(c->mean, c, who[i], p->middle, concentration, stride);
            mel_axpy(c->size, 1.0 / (double)c->n, c->mean, p->mean);
        }
        for (size_t j = 0; j < c->size; j++)
            moved = fmax(moved, fabs(work[j] - p->mean[j]));
        find_middle(p->middle, p->mean, concentration, work, c);
    }
    return likelihood;
}

/* The concentration of the highest density: the best of several, and the top of the parabola through it and
 * its neighbours. */
static double find_concentration(population *p, crowd *c, const size_t *who, double *work)
{
    double score[MOST - LEAST + 1];
    const size_t stride = 1 + c->draws / (FEW_DRAWS + 1), n = MOST - LEAST + 1;
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        const double exponent = 0.5 * ((double)LEAST + (double)i);
        score[i] = settle(p, exp2(exponent), work, c, who, FEW_STEPS, stride) - 0.5 * log(2.0) * exponent;
        best = score[i] > score[best] ? i : best;
    }
    double at = (double)best;
    if (best > 0 && best + 1 < n) {
        const double bend = score[best - 1] - 2.0 * score[best] + score[best + 1];
        at += bend < 0.0 ? 0.5 * (score[best - 1] - score[best + 1]) / bend : 0.0;
    }
    return exp2(0.5 * (LEAST + at));
}

/* What people's own uncertainty, of their answers alone, adds to the variance of their mean. */
static double own_variance(const crowd *c, size_t j)
{
    double sum = 0.0;
    for (size_t i = 0; i < c->n; i++) {
        const double *x = c->unit + i * c->draws * c->size + j;
        double mean = 0.0, squares = 0.0;
        for (size_t k = 0; k < c->draws; k++)
            mean += x[k * c->size] / (double)c->draws;
        for (size_t k = 0; k < c->draws; k++)
            squares += pow(x[k * c->size] - mean, 2.0) / (double)c->draws;
        sum += squares / (1.0 - width_share(c));
    }
    return sum / ((double)c->n * (double)c->n);
}

/* How far the mean moves when other people of the same population had come, drawn with replacement, and when
 * the same had answered otherwise: people who agree are not known exactly. */
static void find_deviation(mel_hierarchy *h, const population *found, crowd *c, size_t *who, double *work)
{
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    population other = { work + c->size, work + 2 * c->size };
    for (size_t b = 0; b < AGAIN; b++) {
        for (size_t i = 0; i < c->n; i++)
            who[i] = (size_t)mel_rng_below(&rng, c->n);
        memcpy(other.middle, found->middle, c->size * sizeof *other.middle);
        memcpy(other.mean, found->mean, c->size * sizeof *other.mean);
        (void)settle(&other, h->concentration, work, c, who, FEW_STEPS, 1 + c->draws / (FEW_DRAWS + 1));
        to_unit(other.mean, c->size);
        for (size_t j = 0; j < c->size; j++)
            h->deviation[j] += pow(other.mean[j] - h->common[j], 2.0) / AGAIN;
    }
    for (size_t j = 0; j < c->size; j++)
        h->deviation[j] = sqrt(h->deviation[j] + own_variance(c, j));
}

static void fit(mel_hierarchy *h, crowd *c, size_t *who, double *work)
{
    population p = { h->middle, h->common };
    for (size_t i = 0; i < c->n; i++)
        who[i] = i;
    /* From the middle of everybody's own. */
    for (size_t k = 0; k < c->n * c->draws; k++)
        mel_axpy(c->size, 1.0, c->unit + k * c->size, p.middle);
    to_unit(p.middle, c->size);
    h->concentration = find_concentration(&p, c, who, work);
    (void)settle(&p, h->concentration, work, c, who, STEPS, 1);
    const double length = mel_norm2(c->size, p.mean);
    h->spread = sqrt(fmax(0.0, 1.0 - length * length));
    for (size_t i = 0; i < c->n; i++) {
        (void)person_mean(h->person + i * c->size, c, i, p.middle, h->concentration, 1);
        to_unit(h->person + i * c->size, c->size);
    }
    to_unit(h->common, c->size);
    find_deviation(h, &p, c, who, work);
}

mel_status mel_hierarchy_fit(mel_hierarchy *out, size_t n, const mel_cloud *clouds, const signed char *sign,
                             mel_error *err)
{
    crowd c = { .sign = sign };
    *out = (mel_hierarchy){ .n = n, .size = clouds[0].size };
    out->common = mel_alloc_zero(3 * out->size, sizeof *out->common);
    out->person = mel_alloc_zero(n, out->size * sizeof *out->person);
    size_t *who = mel_alloc(n, sizeof *who);
    double *work = mel_alloc(3 * out->size, sizeof *work);
    const bool room = out->common != NULL && out->person != NULL && who != NULL && work != NULL;
    const mel_status status =
        room ? crowd_make(&c, n, clouds, err) : mel_fail_memory(err, "a population of people");
    if (status == MEL_OK) {
        out->middle = out->common + out->size;
        out->deviation = out->middle + out->size;
        fit(out, &c, who, work);
    } else {
        mel_hierarchy_clear(out);
    }
    crowd_clear(&c);
    free(who);
    free(work);
    return status;
}
