/* People whose cost ratios lie around a common one: ln r of each is normal, with mean mu and deviation tau.
 *
 * What the answers of person i tell, L_i(rho), is the posterior of the session divided by its prior, noise
 * averaged out. As a mixture of narrow normal densities around groups of draws, N(rho; m_k, v_k) with the
 * weight 1/prior(m_k), its integral over the population is
 *
 *     integral of L_i(rho) N(rho; mu, tau^2) = sum over k of N(mu; m_k, tau^2 + v_k)/prior(m_k),
 *
 * so that the posterior of (mu, tau) is this product over people times the priors, on a grid. mu has the
 * prior that sessions with people start from, tau half of Student's t with 4 degrees of freedom and scale 1:
 * two people who agree do not prove that everybody does.
 *
 * Where people err in another way than the model thinks likely, they all may be off to the same side, which
 * no number of people averages out. So mu gets a common error besides, shaped like one person's own
 * uncertainty. */
#include "elicit/population.h"

#include "base/fast_exp.h"
#include "base/stat.h"
#include "base/vector.h"
#include "elicit/active/posterior/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 40, MEANS = 121, SPREADS = 20, PASSES = 2, DRAWS = 1000 };
static const double farthest = 20.0; /* of a logarithm */
static const double least_spread = 0.02, most_spread = 6.0;
/* The common error of all people, as a share of the deviation of one person's posterior. */
static const double common_share = 0.5;

/* One person's mixture. */
typedef struct {
    double middle[NODES], variance[NODES], log_weight[NODES];
} person;

typedef struct {
    double mean[MEANS], spread[SPREADS], log_prior_spread[SPREADS];
    double mass[SPREADS][MEANS]; /* logarithms first */
} grid;

double mel_uniform_angle_prior(double rate)
{
    return -log(cosh(rate));
}

static double sign_of(const mel_cloud *cloud)
{
    return cloud->vector[0] + cloud->vector[1] < 0.0 ? -1.0 : 1.0;
}

bool mel_clouds_have_rates(size_t n, const mel_cloud *clouds)
{
    if (clouds[0].size != 2)
        return false;
    const double sign = sign_of(&clouds[0]);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < clouds[i].n; k++) {
            const double *v = clouds[i].vector + 2 * k;
            if (!(v[0] * sign >= 0.0) || !(v[1] * sign >= 0.0) || (v[0] == 0.0 && v[1] == 0.0))
                return false;
        }
    return true;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Groups of neighbouring draws; rate: room for as many as there are. */
static void find_person(person *out, const mel_cloud *cloud, mel_rate_prior *prior, double *rate)
{
    double most = -INFINITY;
    for (size_t k = 0; k < cloud->n; k++) {
        const double x = log(fabs(cloud->vector[2 * k] / cloud->vector[2 * k + 1]));
        rate[k] = fmax(-farthest, fmin(farthest, x));
    }
    qsort(rate, cloud->n, sizeof *rate, ascending);
    for (size_t g = 0; g < NODES; g++) {
        const size_t first = g * cloud->n / NODES, end = (g + 1) * cloud->n / NODES;
        const size_t last = end > first ? end : first + 1; /* of few draws some count twice */
        double sum = 0.0, squares = 0.0;
        for (size_t k = first; k < last; k++)
            sum += rate[k] / (double)(last - first);
        for (size_t k = first; k < last; k++)
            squares += (rate[k] - sum) * (rate[k] - sum) / (double)(last - first);
        out->middle[g] = sum;
        out->variance[g] = squares + 1e-12;
        out->log_weight[g] = -prior(sum);
        most = fmax(most, out->log_weight[g]);
    }
    for (size_t g = 0; g < NODES; g++)
        out->log_weight[g] -= most;
}

/* Adds the logarithm of how likely the person's answers are, at every mean. */
MEL_WIDE static void add_person(double *restrict log_mass, const double *restrict mean,
                                const person *restrict p, double spread)
{
    double sum[MEANS] = { 0.0 };
    for (size_t k = 0; k < NODES; k++) {
        const double variance = spread * spread + p->variance[k], scale = -0.5 / variance;
        const double top = p->log_weight[k] - 0.5 * log(variance);
        for (size_t m = 0; m < MEANS; m++) {
            const double off = mean[m] - p->middle[k];
            sum[m] += mel_fast_exp(top + scale * off * off);
        }
    }
    for (size_t m = 0; m < MEANS; m++)
        log_mass[m] += log(sum[m]);
}

static double width_at(const double *x, size_t n, size_t i)
{
    return 0.5 * (x[i + 1 < n ? i + 1 : i] - x[i > 0 ? i - 1 : i]);
}

/* Means that are dense around the centre, and how probable each is with each spread. */
static void weigh(grid *g, double centre, double scale, size_t n, const person *people)
{
    const double reach = asinh((farthest + fabs(centre)) / scale);
    double most = -INFINITY, sum = 0.0;
    for (size_t m = 0; m < MEANS; m++)
        g->mean[m] = centre + scale * sinh(reach * (2.0 * (double)m / (MEANS - 1) - 1.0));
    for (size_t t = 0; t < SPREADS; t++) {
        for (size_t m = 0; m < MEANS; m++)
            g->mass[t][m] = g->log_prior_spread[t] + mel_exchange_log_prior(g->mean[m]) +
                            log(width_at(g->mean, MEANS, m));
        for (size_t i = 0; i < n; i++)
            add_person(g->mass[t], g->mean, &people[i], g->spread[t]);
        for (size_t m = 0; m < MEANS; m++)
            most = fmax(most, g->mass[t][m]);
    }
    for (size_t t = 0; t < SPREADS; t++)
        for (size_t m = 0; m < MEANS; m++)
            sum += g->mass[t][m] = exp(g->mass[t][m] - most);
    for (size_t t = 0; t < SPREADS; t++)
        for (size_t m = 0; m < MEANS; m++)
            g->mass[t][m] /= sum;
}

/* The value below which the share q is, of values with these probabilities, each evenly around it. */
static double quantile_of(const double *value, const double *mass, size_t n, double q)
{
    double below = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (below + mass[i] >= q && mass[i] > 0.0) {
            const double low = i > 0 ? 0.5 * (value[i - 1] + value[i]) : value[i];
            const double high = i + 1 < n ? 0.5 * (value[i] + value[i + 1]) : value[i];
            return low + (high - low) * fmin(1.0, fmax(0.0, (q - below) / mass[i]));
        }
        below += mass[i];
    }
    return value[n - 1];
}

static void set_spreads(grid *g)
{
    for (size_t t = 0; t < SPREADS; t++)
        g->spread[t] = least_spread * pow(most_spread / least_spread, (double)t / (SPREADS - 1));
    for (size_t t = 0; t < SPREADS; t++)
        g->log_prior_spread[t] =
            log(width_at(g->spread, SPREADS, t)) - 2.5 * log1p(0.25 * g->spread[t] * g->spread[t]);
}

/* The angle's deviation is that of the farther side: a prior for one person more must not shut anybody out.
 */
static double strength_of(double rate, double deviation)
{
    const double middle = atan(exp(-rate));
    const double above = fabs(atan(exp(-rate + 2.0 * deviation)) - middle),
                 below = fabs(atan(exp(-rate - 2.0 * deviation)) - middle);
    return fmin(1e5, pow(0.5 * fmax(above, below), -2.0));
}

static void put_rate(double *out, double rate, double sign)
{
    const double angle = atan(exp(-rate));
    out[0] = sign * cos(angle);
    out[1] = sign * sin(angle);
}

typedef struct {
    double mean[MEANS], spread[SPREADS];
} margins;

static void find_margins(margins *m, const grid *g)
{
    *m = (margins){ .mean = { 0.0 } };
    for (size_t t = 0; t < SPREADS; t++)
        for (size_t i = 0; i < MEANS; i++) {
            m->mean[i] += g->mass[t][i];
            m->spread[t] += g->mass[t][i];
        }
}

/* The quartiles of a person's own posterior are so far apart. */
static double own_width(const person *p)
{
    return p->middle[3 * NODES / 4] - p->middle[NODES / 4] + 1e-4;
}

/* What all people's errors have in common, shaped like the posterior of one person around its median: that of
 * everybody on average, the most precise counting most. */
static void find_common_error(person *out, size_t n, const person *people)
{
    double precision = 0.0;
    *out = (person){ .middle = { 0.0 } };
    for (size_t i = 0; i < n; i++) {
        const double weight = pow(own_width(&people[i]), -2.0);
        const double median = 0.5 * (people[i].middle[NODES / 2 - 1] + people[i].middle[NODES / 2]);
        precision += weight;
        for (size_t k = 0; k < NODES; k++) {
            out->middle[k] += weight * common_share * (people[i].middle[k] - median);
            out->variance[k] += weight * common_share * common_share * people[i].variance[k];
        }
    }
    for (size_t k = 0; k < NODES; k++) {
        out->middle[k] /= precision;
        out->variance[k] = out->variance[k] / precision + 1e-12;
    }
}

/* Adds it to means with these probabilities. */
static void add_error(double *of_mean, const double *mean, const person *error)
{
    double out[MEANS] = { 0.0 };
    for (size_t m = 0; m < MEANS; m++)
        for (size_t k = 0; k < NODES && of_mean[m] > 1e-9; k++) {
            const double wide = width_at(mean, MEANS, m),
                         scale = -0.5 / (error->variance[k] + wide * wide / 12.0);
            double kernel[MEANS], sum = 0.0;
            for (size_t x = 0; x < MEANS; x++) {
                const double off = mean[x] - mean[m] - error->middle[k];
                sum += kernel[x] = mel_fast_exp(scale * off * off) * width_at(mean, MEANS, x);
            }
            for (size_t x = 0; x < MEANS; x++)
                out[x] += of_mean[m] / NODES * kernel[x] / sum;
        }
    memcpy(of_mean, out, sizeof out);
}

static void take(mel_population *out, const grid *g, size_t n, const person *people, double sign)
{
    margins m;
    find_margins(&m, g);
    person error;
    find_common_error(&error, n, people);
    add_error(m.mean, g->mean, &error);
    const double rate = quantile_of(g->mean, m.mean, MEANS, 0.5);
    put_rate(out->mean, rate, sign);
    put_rate(out->likely, rate, sign);
    for (size_t i = 0; i < DRAWS; i++)
        put_rate(out->draw + 2 * i, quantile_of(g->mean, m.mean, MEANS, ((double)i + 0.5) / DRAWS), sign);
    out->spread = quantile_of(g->spread, m.spread, SPREADS, 0.5);
    out->spread_low = quantile_of(g->spread, m.spread, SPREADS, 0.025);
    out->spread_high = quantile_of(g->spread, m.spread, SPREADS, 0.975);
    out->strength = strength_of(rate, out->spread * sqrt(1.0 + 1.0 / (double)n));
}

/* The centre and the scale of the means that are dense: by everybody's middle and quartiles. */
static void find_dense(double *centre, double *scale, size_t n, const person *people)
{
    double precision = 1e-6, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double weight = pow(own_width(&people[i]), -2.0);
        precision += weight;
        sum += weight * people[i].middle[NODES / 2];
    }
    *centre = sum / precision;
    *scale = 1.0 / sqrt(precision);
}

/* Means are dense where everybody's middles put them, then where they were found. */
static void fit(grid *g, size_t n, const person *people)
{
    double centre = 0.0, scale = 1.0;
    find_dense(&centre, &scale, n, people);
    for (int pass = 0; pass < PASSES; pass++) {
        margins m;
        weigh(g, centre, 0.25 * scale, n, people);
        find_margins(&m, g);
        centre = quantile_of(g->mean, m.mean, MEANS, 0.5);
        scale =
            fmax(1e-5, quantile_of(g->mean, m.mean, MEANS, 0.75) - quantile_of(g->mean, m.mean, MEANS, 0.25));
    }
}

mel_status mel_population_of_rates(mel_population *out, size_t n, const mel_cloud *clouds,
                                   mel_rate_prior *const *prior, mel_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = clouds[i].n > most ? clouds[i].n : most;
    person *people = mel_alloc(n, sizeof *people);
    double *rate = mel_alloc(most, sizeof *rate);
    grid *g = mel_alloc_zero(1, sizeof *g);
    *out = (mel_population){ .size = 2, .n_draws = DRAWS };
    out->mean = mel_alloc_zero(4 + 2 * (size_t)DRAWS, sizeof *out->mean);
    const bool room = people != NULL && rate != NULL && g != NULL && out->mean != NULL;
    if (room) {
        out->likely = out->mean + 2;
        out->draw = out->mean + 4;
        set_spreads(g);
        for (size_t i = 0; i < n; i++)
            find_person(&people[i], &clouds[i], prior[i], rate);
        fit(g, n, people);
        take(out, g, n, people, sign_of(&clouds[0]));
    } else {
        mel_population_clear(out);
    }
    free(people);
    free(rate);
    free(g);
    return room ? MEL_OK : mel_fail_memory(err, "a population of people");
}
