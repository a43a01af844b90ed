/* How fast, how calibrated and how frugal the posterior sampler is, on simulated respondents.
 *
 *     bench_sampler [RUNS [NAME...]]
 *
 * Each row of the table is a setting: dimension, prior, what is assumed of the answers and what is true of
 * them. The coefficient vector w is drawn from the prior; each question is the difference of two points
 * along the widest direction of the posterior that its mean calls a tie. Printed per setting: the
 * time of one answer (CPU, one thread; 50% and 95%), after how many questions 95% of the runs are within each
 * error (l_inf), how often the 95% intervals of the coefficients contained the truth at five checkpoints (20,
 * 40,
 * ..., 100% of the questions), the same for the 95% radius, and the share of answers after which mixing was
 * called poor, how many runs' answers were called contradictory, how many answers the band decided. */
#include "base/la.h"
#include "base/stat.h"
#include "elicit/active/posterior/sphere.h"
#include "elicit/active/select.h"

#include "measure.h"

#include <math.h>

enum { CHECKPOINTS = 5, ERRORS = 3, POWER_STEPS = 60, RUNS = 100 };
static const double errors[ERRORS] = { 0.05, 0.02, 0.01 };

typedef enum { RIGHT, FLIPS, ONE_WRONG, BAND_RANDOM, BAND_WORST, LOGISTIC } respondent;

typedef struct {
    const char *name;
    size_t dimension;
    bool orthant;
    mel_assumption assume;
    respondent answers;
    double size;   /* of the respondent's noise */
    double length; /* of the difference between A and B */
    size_t questions;
} setting;

static const setting settings[] = {
    { "q2", 2, true, { MEL_NOISE_NONE, 0.0 }, RIGHT, 0.0, 1.0, 9 },
    { "q6", 6, true, { MEL_NOISE_NONE, 0.0 }, RIGHT, 0.0, 1.0, 34 },
    { "q12", 12, true, { MEL_NOISE_NONE, 0.0 }, RIGHT, 0.0, 1.0, 68 },
    { "q20", 20, true, { MEL_NOISE_NONE, 0.0 }, RIGHT, 0.0, 1.0, 110 },
    { "q30", 30, true, { MEL_NOISE_NONE, 0.0 }, RIGHT, 0.0, 1.0, 164 },
    { "q90", 90, true, { MEL_NOISE_NONE, 0.0 }, RIGHT, 0.0, 1.0, 470 },
    { "sphere27", 27, false, { MEL_NOISE_NONE, 0.0 }, RIGHT, 0.0, 1.0, 180 },
    { "flip2", 2, true, { MEL_NOISE_FLIP, 0.0 }, FLIPS, 0.1, 1.0, 30 },
    { "flip12", 12, true, { MEL_NOISE_FLIP, 0.0 }, FLIPS, 0.1, 1.0, 160 },
    { "noflip2", 2, true, { MEL_NOISE_FLIP, 0.0 }, RIGHT, 0.0, 1.0, 16 },
    { "noflip6", 6, true, { MEL_NOISE_FLIP, 0.0 }, RIGHT, 0.0, 1.0, 50 },
    { "onewrong2", 2, true, { MEL_NOISE_FLIP, 0.0 }, ONE_WRONG, 8, 1.0, 22 },
    { "onewrong6", 6, true, { MEL_NOISE_FLIP, 0.0 }, ONE_WRONG, 34, 1.0, 56 },
    { "band6", 6, true, { MEL_NOISE_BAND, 0.001 }, BAND_RANDOM, 0.001, 1.0, 40 },
    { "worstband6", 6, true, { MEL_NOISE_BAND, 0.001 }, BAND_WORST, 0.001, 1.0, 40 },
    { "band6ball", 6, true, { MEL_NOISE_BAND, 0.001 }, BAND_RANDOM, 0.001, 0.4, 40 },
    { "worstband6ball", 6, true, { MEL_NOISE_BAND, 0.001 }, BAND_WORST, 0.001, 0.4, 40 },
    { "logistic6", 6, true, { MEL_NOISE_LOGISTIC, 0.0 }, LOGISTIC, 50.0, 0.4, 120 },
};

typedef struct {
    const setting *set;
    size_t runs;
    double *time;   /* runs x questions: CPU milliseconds */
    double *error;  /* questions x runs */
    double in_band; /* mean over the runs, after the last question */
    size_t covered[CHECKPOINTS], within[CHECKPOINTS], poor, contradicted;
    double effective[CHECKPOINTS], reduction[CHECKPOINTS];
} result;

static double cpu_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *array(size_t n)
{
    double *x = calloc(n > 0 ? n : 1, sizeof *x);
    if (x == NULL)
        die("memory");
    return x;
}

/* x: the leading eigenvector of the covariance among the directions orthogonal to the mean. */
static void choose(double *x, const mel_samples *s, mel_rng *rng)
{
    const size_t d = s->dimension;
    double *next = array(d);
    mel_rng_sphere(rng, d, x);
    for (int step = 0; step < POWER_STEPS; step++) {
        mel_axpy(d, -mel_dot(d, x, s->mean), s->mean, x);
        for (size_t a = 0; a < d; a++)
            next[a] = mel_dot(d, s->covariance + a * d, x);
        memcpy(x, next, d * sizeof *x);
        mel_scale(d, 1.0 / mel_norm2(d, x), x);
    }
    mel_axpy(d, -mel_dot(d, x, s->mean), s->mean, x);
    mel_scale(d, 1.0 / mel_norm2(d, x), x);
    free(next);
}

static mel_answer respond(const setting *set, double margin, size_t question, size_t wrong_at, mel_rng *rng)
{
    const double toss = mel_rng_uniform(rng);
    bool a = margin > 0.0;
    switch (set->answers) {
    case RIGHT:
        break;
    case FLIPS:
        a = (toss < set->size) != a;
        break;
    case ONE_WRONG:
        a = (question == wrong_at) != a;
        break;
    case BAND_RANDOM:
        a = fabs(margin) <= set->size ? toss < 0.5 : a;
        break;
    case BAND_WORST:
        a = (fabs(margin) <= set->size) != a;
        break;
    case LOGISTIC:
        a = toss < 1.0 / (1.0 + exp(-set->size * margin));
        break;
    }
    return a ? MEL_ANSWER_A : MEL_ANSWER_B;
}

static void check(result *out, size_t point, const mel_samples *s, const double *truth, double error)
{
    const size_t n = s->count, d = s->dimension;
    double *column = array(n), *far = array(n);
    const double level = mel_samples_level(s, 0.975);
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < n; i++) {
            column[i] = s->w[i * d + j];
            far[i] = fmax(far[i], fabs(column[i] - s->centre[j]));
        }
        const double low = mel_quantile_select(n, column, 1.0 - level);
        out->covered[point] += truth[j] >= low && truth[j] <= mel_quantile_select(n, column, level);
    }
    out->within[point] += error <= mel_quantile_select(n, far, mel_samples_level(s, 0.95));
    out->effective[point] += s->effective / (double)out->runs;
    out->reduction[point] += s->scale_reduction / (double)out->runs;
    free(column);
    free(far);
}

static double distance(const mel_samples *s, const double *truth)
{
    double most = 0.0;
    for (size_t j = 0; j < s->dimension; j++)
        most = fmax(most, fabs(s->centre[j] - truth[j]));
    return most;
}

static mel_sampler *make(const setting *set, uint64_t seed)
{
    const size_t d = set->dimension;
    double *cone = array(d * d), *start = array(d);
    for (size_t i = 0; i < d; i++) {
        cone[i * d + i] = 1.0;
        start[i] = 1.0;
    }
    const mel_sampler_options opt = {
        .dimension = d,
        .n_cone = set->orthant ? d : 0,
        .cone = cone,
        .start = start,
        .assume = set->assume,
        .seed = seed,
    };
    mel_sampler *sampler = NULL;
    mel_error err = { 0 };
    if (mel_sampler_new(&sampler, &opt, &err) != MEL_OK)
        die(err.text);
    free(cone);
    free(start);
    return sampler;
}

static void simulate(result *out, size_t run)
{
    const setting *set = out->set;
    const size_t d = set->dimension, questions = set->questions;
    mel_rng rng;
    mel_rng_seed_stream(&rng, 20, run);
    double *truth = array(d), *x = array(d);
    mel_rng_sphere(&rng, d, truth);
    for (size_t j = 0; set->orthant && j < d; j++)
        truth[j] = fabs(truth[j]);
    const size_t wrong_at = set->answers == ONE_WRONG ? mel_rng_below(&rng, (uint64_t)set->size) : 0;
    mel_sampler *sampler = make(set, run);
    const mel_samples *s = mel_sampler_samples(sampler);
    for (size_t q = 0; q < questions; q++) {
        choose(x, s, &rng);
        mel_scale(d, set->length, x);
        const mel_answer answer = respond(set, mel_dot(d, x, truth), q, wrong_at, &rng);
        mel_error err = { 0 };
        const double start = cpu_seconds();
        if (mel_sampler_tell(sampler, x, 1.0, answer, &err) != MEL_OK)
            die(err.text);
        out->time[run * questions + q] = 1e3 * (cpu_seconds() - start);
        const double error = distance(s, truth);
        out->error[q * out->runs + run] = error;
        out->poor += s->scale_reduction > MEL_POOR_MIXING;
        for (size_t c = 0; c < CHECKPOINTS; c++)
            if (q + 1 == (c + 1) * questions / CHECKPOINTS)
                check(out, c, s, truth, error);
    }
    out->contradicted += s->contradicted;
    out->in_band += (double)s->in_band / (double)out->runs;
    mel_sampler_free(sampler);
    free(truth);
    free(x);
}

static void print(result *out)
{
    const setting *set = out->set;
    const size_t all = out->runs * set->questions;
    mel_sort(all, out->time);
    printf("%-14s ms %.2f / %.2f / max %.1f  questions", set->name, mel_quantile_sorted(all, out->time, 0.5),
           mel_quantile_sorted(all, out->time, 0.95), out->time[all - 1]);
    for (size_t e = 0; e < ERRORS; e++) {
        size_t q = 0;
        for (size_t i = 0; i < set->questions; i++)
            if (mel_quantile_sort(out->runs, out->error + i * out->runs, 0.95) > errors[e])
                q = i + 1;
        if (q < set->questions)
            printf(" %zu", q + 1);
        else
            printf(" -");
    }
    printf("  covered");
    for (size_t c = 0; c < CHECKPOINTS; c++)
        printf(" %.3f", (double)out->covered[c] / (double)(out->runs * set->dimension));
    printf("  radius");
    for (size_t c = 0; c < CHECKPOINTS; c++)
        printf(" %.2f", (double)out->within[c] / (double)out->runs);
    printf("  effective");
    for (size_t c = 0; c < CHECKPOINTS; c++)
        printf(" %.0f", out->effective[c]);
    printf("  reduction %.3f  poor %.3f  contradicted %zu  in band %.1f\n", out->reduction[CHECKPOINTS - 1],
           (double)out->poor / (double)all, out->contradicted, out->in_band);
    (void)fflush(stdout);
}

static void bench(const setting *set, size_t runs)
{
    result out = { .set = set, .runs = runs };
    out.time = array(runs * set->questions);
    out.error = array(runs * set->questions);
    for (size_t run = 0; run < runs; run++)
        simulate(&out, run);
    print(&out);
    free(out.time);
    free(out.error);
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    const size_t runs = argc > 1 ? strtoul(argv[1], NULL, 10) : RUNS;
    if (runs == 0)
        die("usage: bench_sampler [RUNS [NAME...]]");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (wanted(settings[i].name, argc, argv))
            bench(&settings[i], runs);
    return 0;
}
