/* The population softmax:p1,..,pk: where decisions change, and the integrals between. */
#include "space/softmax.h"

#include "base/la.h"
#include "base/stat.h"
#include "space/expsum.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 4, MOST_CLASSES = 100 };

struct mel_softmax {
    size_t n_classes, n_panels;
    double *slope;                     /* n_classes */
    double node[NODES], weight[NODES]; /* Gauss-Legendre on [-1, 1] */
    /* (n_panels + 1) x n_classes: integrals up to a panel's start, and from there to 1. */
    double *before, *after;
    size_t n_exponents; /* different slopes */
    double *exponent;   /* of the terms of scores: minus the slopes, ascending */
    size_t *term;       /* n_classes: the term that a class belongs to */
};

void mel_softmax_free(mel_softmax *p)
{
    if (p == NULL)
        return;
    free(p->slope);
    free(p->before);
    free(p->after);
    free(p->exponent);
    free(p->term);
    free(p);
}

/* --- quadrature --------------------------------------------------------------------------------- */

/* Zeros of the Legendre polynomial of degree NODES by Newton's method. */
static void gauss_legendre(double *node, double *weight)
{
    const double pi = 3.14159265358979323846;
    for (size_t i = 0; i < NODES; i++) {
        double x = -cos(pi * ((double)i + 0.75) / (NODES + 0.5)), slope = 0.0;
        for (int step = 0; step < 10; step++) {
            double last = 1.0, here = x;
            for (int d = 2; d <= NODES; d++) {
                const double next = ((2 * d - 1) * x * here - (d - 1) * last) / d;
                last = here;
                here = next;
            }
            slope = NODES * (x * here - last) / (x * x - 1.0);
            x -= here / slope;
        }
        node[i] = x;
        weight[i] = 2.0 / ((1.0 - x * x) * slope * slope);
    }
}

/* total[i] += integral of P(Y=i|x)/2 over [a, b], within a panel. */
static void add_integrals(const mel_softmax *p, double a, double b, double *total, double *share)
{
    const size_t k = p->n_classes;
    for (size_t s = 0; s < NODES; s++) {
        const double x = a + (b - a) * (0.5 + 0.5 * p->node[s]);
        double top = -INFINITY, sum = 0.0;
        for (size_t i = 0; i < k; i++)
            top = fmax(top, -p->slope[i] * x);
        for (size_t i = 0; i < k; i++) {
            share[i] = exp(-p->slope[i] * x - top);
            sum += share[i];
        }
        const double part = p->weight[s] * (b - a) / 4.0 / sum;
        for (size_t i = 0; i < k; i++)
            total[i] += part * share[i];
    }
}

/* The same for one class. */
static double integral(const mel_softmax *p, size_t class, double a, double b)
{
    double total = 0.0;
    for (size_t s = 0; s < NODES; s++) {
        const double x = a + (b - a) * (0.5 + 0.5 * p->node[s]);
        double sum = 0.0;
        for (size_t i = 0; i < p->n_classes; i++)
            sum += exp((p->slope[class] - p->slope[i]) * x);
        total += p->weight[s] * (b - a) / 4.0 / sum;
    }
    return total;
}

static double panel_start(const mel_softmax *p, size_t panel)
{
    return panel == p->n_panels ? 1.0 : -1.0 + 2.0 * (double)panel / (double)p->n_panels;
}

static size_t panel_of(const mel_softmax *p, double x)
{
    const double at = (x + 1.0) / 2.0 * (double)p->n_panels;
    const size_t panel = at > 0.0 ? (size_t)at : 0;
    return panel < p->n_panels ? panel : p->n_panels - 1;
}

double mel_softmax_below(const mel_softmax *p, size_t class, double x)
{
    const size_t panel = panel_of(p, x);
    return p->before[panel * p->n_classes + class] + integral(p, class, panel_start(p, panel), x);
}

double mel_softmax_above(const mel_softmax *p, size_t class, double x)
{
    const size_t panel = panel_of(p, x);
    return integral(p, class, x, panel_start(p, panel + 1)) + p->after[(panel + 1) * p->n_classes + class];
}

/* below[i] = mel_softmax_below(i, x) for all classes at once; share is borrowed. */
static void all_below(const mel_softmax *p, double x, double *below, double *share)
{
    const size_t k = p->n_classes, panel = x < 1.0 ? panel_of(p, x) : p->n_panels;
    memcpy(below, p->before + panel * k, k * sizeof *below);
    if (x > panel_start(p, panel))
        add_integrals(p, panel_start(p, panel), x, below, share);
}

static void fill_panels(mel_softmax *p, double *share)
{
    const size_t k = p->n_classes;
    for (size_t s = 0; s < p->n_panels; s++)
        add_integrals(p, panel_start(p, s), panel_start(p, s + 1), p->after + s * k, share);
    for (size_t i = 0; i < k; i++) {
        mel_sum before = { 0 }, after = { 0 };
        for (size_t s = 0; s < p->n_panels; s++) {
            mel_sum_add(&before, p->after[s * k + i]);
            p->before[(s + 1) * k + i] = mel_sum_value(&before);
        }
        for (size_t s = p->n_panels; s-- > 0;) {
            mel_sum_add(&after, p->after[s * k + i]);
            p->after[s * k + i] = mel_sum_value(&after);
        }
    }
}

/* --- making it ---------------------------------------------------------------------------------- */

static mel_status check_slopes(size_t n_classes, const double *slope, mel_error *err)
{
    const double steepest = 700.0; /* exp(700) is finite */
    bool differ = false;
    if (n_classes < 2 || n_classes > MOST_CLASSES)
        return mel_fail(err, MEL_EINVAL, "a softmax population of %zu classes, expected 2 to %d", n_classes,
                        MOST_CLASSES);
    for (size_t i = 0; i < n_classes; i++) {
        if (!(fabs(slope[i]) <= steepest))
            return mel_fail(err, MEL_EINVAL, "softmax population: slope %zu is %g, expected -%g to %g", i + 1,
                            slope[i], steepest, steepest);
        differ = differ || slope[i] != slope[0];
    }
    if (!differ)
        return mel_fail(err, MEL_EINVAL, "softmax population: all slopes are %g, so x says nothing",
                        slope[0]);
    return MEL_OK;
}

static void fill_exponents(mel_softmax *p)
{
    for (size_t i = 0; i < p->n_classes; i++) {
        const double exponent = -p->slope[i];
        size_t at = p->n_exponents;
        while (at > 0 && p->exponent[at - 1] > exponent)
            at--;
        if (at > 0 && p->exponent[at - 1] == exponent)
            continue;
        memmove(p->exponent + at + 1, p->exponent + at, (p->n_exponents - at) * sizeof *p->exponent);
        p->exponent[at] = exponent;
        p->n_exponents++;
    }
    for (size_t i = 0; i < p->n_classes; i++)
        for (size_t t = 0; t < p->n_exponents; t++)
            if (p->exponent[t] == -p->slope[i])
                p->term[i] = t;
}

mel_status mel_softmax_new(mel_softmax **out, size_t n_classes, const double *slope, mel_error *err)
{
    /* Within pi/(range of slopes) of the real axis the integrands are analytic: on panels of this
     * many inverse ranges four nodes leave a relative error of about 100^-8. */
    const double longest = 0.12;
    *out = NULL;
    const mel_status status = check_slopes(n_classes, slope, err);
    if (status != MEL_OK)
        return status;
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n_classes; i++) {
        least = fmin(least, slope[i]);
        most = fmax(most, slope[i]);
    }
    mel_softmax *p = mel_alloc_zero(1, sizeof *p);
    if (p == NULL)
        return mel_fail_memory(err, "a population");
    p->n_classes = n_classes;
    p->n_panels = (size_t)ceil(2.0 * (most - least) / longest);
    p->n_panels = p->n_panels > 0 ? p->n_panels : 1;
    p->slope = mel_alloc(n_classes, sizeof *p->slope);
    p->exponent = mel_alloc(n_classes, sizeof *p->exponent);
    p->term = mel_alloc(n_classes, sizeof *p->term);
    p->before = mel_alloc_zero((p->n_panels + 1) * n_classes, sizeof *p->before);
    p->after = mel_alloc_zero((p->n_panels + 1) * n_classes, sizeof *p->after);
    if (p->slope == NULL || p->exponent == NULL || p->term == NULL || p->before == NULL || p->after == NULL) {
        mel_softmax_free(p);
        return mel_fail_memory(err, "a population");
    }
    memcpy(p->slope, slope, n_classes * sizeof *slope);
    fill_exponents(p);
    gauss_legendre(p->node, p->weight);
    double share[MOST_CLASSES];
    fill_panels(p, share);
    *out = p;
    return MEL_OK;
}

mel_status mel_softmax_copy(mel_softmax **out, const mel_softmax *p, bool turned, mel_error *err)
{
    double slope[MOST_CLASSES];
    for (size_t i = 0; i < p->n_classes; i++)
        slope[i] = turned ? -p->slope[i] : p->slope[i];
    return mel_softmax_new(out, p->n_classes, slope, err);
}

double mel_softmax_slope(const mel_softmax *p, size_t class)
{
    return p->slope[class];
}

/* --- decisions ---------------------------------------------------------------------------------- */

/* A stretch of x, from the end of the one before, on which one class is predicted. */
typedef struct {
    double end;
    size_t winner;
} stretch;

typedef struct {
    stretch *old, *new; /* the best of the classes so far, and with one more */
    double *gain;       /* n_exponents x k: gains of classes with the same slope together */
    double *difference; /* n_exponents */
    double *zero;       /* n_exponents */
    double *share, *below, *last;
    double *terms; /* for mel_expsum_zeros */
} scratch;

/* No pair of scores crosses more often than n_exponents - 1 times. */
static size_t most_stretches(const mel_softmax *p)
{
    return 1 + (p->n_exponents - 1) * p->n_classes * (p->n_classes - 1) / 2;
}

static mel_status new_scratch(void **own, const mel_space *space, mel_error *err)
{
    const mel_softmax *p = space->self;
    const size_t k = p->n_classes, m = p->n_exponents, most = most_stretches(p);
    const size_t doubles = m * k + 2 * m + 3 * k + mel_expsum_scratch(m);
    scratch *s = mel_alloc(1, sizeof *s + 2 * most * sizeof(stretch) + doubles * sizeof(double));
    if (s == NULL)
        return mel_fail_memory(err, "the steps of a space");
    s->old = (stretch *)(s + 1);
    s->new = s->old + most;
    s->gain = (double *)(s->new + most);
    s->difference = s->gain + m * k;
    s->zero = s->difference + m;
    s->share = s->zero + m;
    s->below = s->share + k;
    s->last = s->below + k;
    s->terms = s->last + k;
    *own = s;
    return MEL_OK;
}

/* Whether the difference of two scores is above 0. */
static bool above(const mel_softmax *p, const double *difference, double x)
{
    const size_t m = p->n_exponents;
    const double top = x > 0.0 ? p->exponent[m - 1] * x : p->exponent[0] * x;
    double sum = 0.0;
    for (size_t t = 0; t < m; t++)
        if (difference[t] != 0.0)
            sum += difference[t] * exp(p->exponent[t] * x - top);
    return sum > 0.0;
}

static size_t append(stretch *list, size_t n, double end, size_t winner)
{
    if (n > 0 && list[n - 1].winner == winner)
        n--;
    list[n] = (stretch){ end, winner };
    return n + 1;
}

/* Lets class j compete with the n stretches of s->old; the new number of stretches. */
static size_t compete(const mel_softmax *p, scratch *s, size_t n, size_t j)
{
    const size_t k = p->n_classes, m = p->n_exponents;
    size_t n_new = 0;
    double start = -1.0;
    for (size_t at = 0; at < n; at++) {
        const stretch now = s->old[at];
        for (size_t t = 0; t < m; t++)
            s->difference[t] = s->gain[t * k + j] - s->gain[t * k + now.winner];
        const size_t zeros =
            mel_expsum_zeros(s->zero, m, p->exponent, s->difference, start, now.end, s->terms);
        for (size_t z = 0; z <= zeros; z++) {
            const double end = z < zeros ? s->zero[z] : now.end;
            const bool better = above(p, s->difference, start + (end - start) / 2.0);
            n_new = append(s->new, n_new, end, better ? j : now.winner);
            start = end;
        }
    }
    stretch *spare = s->old;
    s->old = s->new;
    s->new = spare;
    return n_new;
}

static void softmax_confusion(double *confusion, const mel_space *space, size_t first, size_t n,
                              const double *gain, void *own)
{
    (void)first, (void)n; /* one group */
    const mel_softmax *p = space->self;
    scratch local = *(scratch *)own, *s = &local;
    const size_t k = p->n_classes;
    const double largest = mel_norm_inf(k * k, gain);
    const int exponent =
        largest > 0.0 ? ilogb(largest) : 0; /* so that differences neither overflow nor vanish */
    memset(s->gain, 0, p->n_exponents * k * sizeof *s->gain);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            s->gain[p->term[i] * k + j] += scalbn(gain[i * k + j], -exponent);
    size_t stretches = append(s->old, 0, 1.0, 0);
    for (size_t j = 1; j < k; j++)
        stretches = compete(p, s, stretches, j);
    memset(confusion, 0, k * k * sizeof *confusion);
    memset(s->last, 0, k * sizeof *s->last);
    for (size_t at = 0; at < stretches; at++) {
        all_below(p, s->old[at].end, s->below, s->share);
        for (size_t i = 0; i < k; i++) {
            confusion[i * k + s->old[at].winner] += fmax(s->below[i] - s->last[i], 0.0);
            s->last[i] = s->below[i];
        }
    }
}

static void free_softmax(void *self)
{
    mel_softmax_free(self);
}

static const mel_space_ops softmax_ops = { free_softmax, new_scratch, softmax_confusion };

mel_status mel_space_from_softmax(mel_space **out, size_t n_classes, const double *slope,
                                  const mel_space_options *opt, mel_error *err)
{
    *out = NULL;
    mel_softmax *p = NULL;
    mel_status status = mel_softmax_new(&p, n_classes, slope, err);
    if (p == NULL)
        return status;
    mel_space *space = NULL;
    status = mel_space_new(&space, n_classes, 0, opt, err);
    if (space == NULL) {
        mel_softmax_free(p);
        return status;
    }
    space->ops = &softmax_ops;
    space->self = p;
    memcpy(space->cell_share, p->before + p->n_panels * n_classes, n_classes * sizeof *space->cell_share);
    mel_space_finish(space);
    *out = space;
    return MEL_OK;
}
