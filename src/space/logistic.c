/* The population logistic:a,b in closed form. */
#include "space/logistic.h"

#include "space/softmax.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

double mel_softplus(double x)
{
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double mel_sigmoid(double x)
{
    if (x >= 0.0)
        return 1.0 / (1.0 + exp(-x));
    const double e = exp(x);
    return e / (1.0 + e);
}

double mel_softplus_gap(double x, double d)
{
    if (d <= 1.0)
        return log1p(expm1(d) * mel_sigmoid(x));
    if (x >= 0.0) /* both terms near their argument: what remains is the difference of small corrections */
        return d - (mel_softplus(-x) - mel_softplus(-x - d));
    return mel_softplus(x + d) - mel_softplus(x);
}

mel_status mel_logistic_init(mel_logistic *out, double a, double b, mel_error *err)
{
    const double largest = 1e300, least = 1e-200;
    if (!(fabs(a) <= largest) || !(fabs(b) <= largest))
        return mel_fail(err, MEL_EINVAL, "population logistic:a=%g,b=%g: expected numbers up to 1e300", a, b);
    /* The sign of a only turns x round; the least slopes are indistinguishable from none. */
    *out = (mel_logistic){ .a = fabs(a) >= least ? fabs(a) : 0.0, .b = b };
    out->positives = mel_logistic_at(out, 1.0).tp;
    out->negatives = mel_logistic_at(out, -1.0).tn;
    if (!(out->positives >= DBL_MIN) || !(out->negatives >= DBL_MIN))
        return mel_fail(err, MEL_EINVAL, "population logistic:a=%g,b=%g has no %s", a, b,
                        out->positives >= DBL_MIN ? "negatives" : "positives");
    return MEL_OK;
}

mel_point mel_logistic_at(const mel_logistic *p, double cut)
{
    if (p->measure != NULL)
        return (mel_point){ mel_softmax_below(p->measure, p->first, cut),
                            mel_softmax_above(p->measure, p->second, cut) };
    if (p->a == 0.0)
        return (mel_point){ mel_sigmoid(-p->b) * (1.0 + cut) / 2.0, mel_sigmoid(p->b) * (1.0 - cut) / 2.0 };
    const double u = p->a * cut + p->b;
    return (mel_point){ mel_softplus_gap(-u, p->a * (1.0 + cut)) / p->a / 2.0,
                        mel_softplus_gap(u, p->a * (1.0 - cut)) / p->a / 2.0 };
}

double mel_logistic_score(const mel_logistic *p, double cut)
{
    return mel_sigmoid(-(p->a * cut + p->b));
}

static double cut_of_logit(const mel_logistic *p, double u)
{
    if (p->a == 0.0)
        return u >= p->b ? 1.0 : -1.0;
    return fmax(-1.0, fmin(1.0, (u - p->b) / p->a));
}

double mel_logistic_cut(const mel_logistic *p, double threshold)
{
    if (p->a == 0.0)
        return mel_logistic_score(p, 0.0) >= threshold ? 1.0 : -1.0;
    if (!(threshold < 1.0))
        return -1.0;
    return threshold > 0.0 ? cut_of_logit(p, log1p(-threshold) - log(threshold)) : 1.0;
}

double mel_logistic_furthest(const mel_logistic *p, mel_point m)
{
    if (!(m.tp > 0.0))
        return -1.0;
    return m.tn > 0.0 ? cut_of_logit(p, log(m.tp) - log(m.tn)) : 1.0;
}

/* Halves [-1, 1]: the cut below which `ahead` no longer holds. */
static double bisect(const mel_logistic *p, mel_point q,
                     bool (*ahead)(const mel_logistic *, mel_point, double))
{
    enum { HALVINGS = 100 };
    double low = -1.0, high = 1.0;
    for (int i = 0; i < HALVINGS; i++) {
        const double mid = low + (high - low) / 2.0;
        if (!(mid > low && mid < high))
            break;
        if (ahead(p, q, mid))
            high = mid;
        else
            low = mid;
    }
    return high;
}

/* Whether q lies ahead of the boundary's point at a cut, seen along the boundary towards (0, negatives). As
 * with edges (mel_boundary_nearest_upper), the tangent turns by at most a right angle. */
static bool lies_ahead(const mel_logistic *p, mel_point q, double cut)
{
    const double score = mel_logistic_score(p, cut);
    const mel_point tangent = { -score, 1.0 - score };
    return mel_inner(mel_minus(q, mel_logistic_at(p, cut)), tangent) > 0.0;
}

double mel_logistic_nearest(const mel_logistic *p, mel_point q)
{
    if (lies_ahead(p, q, -1.0))
        return -1.0;
    return bisect(p, q, lies_ahead);
}

static bool lies_left(const mel_logistic *p, mel_point q, double cut)
{
    return mel_logistic_at(p, cut).tp >= q.tp;
}

static bool under(const mel_logistic *p, mel_point q)
{
    return q.tn <= mel_logistic_at(p, bisect(p, q, lies_left)).tn;
}

bool mel_logistic_holds(const mel_logistic *p, mel_point q)
{
    const mel_point mirrored = { p->positives - q.tp, p->negatives - q.tn };
    return q.tp >= 0.0 && q.tn >= 0.0 && mirrored.tp >= 0.0 && mirrored.tn >= 0.0 && under(p, q) &&
           under(p, mirrored);
}

/* Thresholds and their points, in rising order of the threshold. */
typedef struct {
    const mel_logistic *population;
    double *threshold;
    mel_point *point;
    size_t n, capacity;
    bool failed;
} outline;

static void outline_add(outline *o, double threshold, mel_point point)
{
    if (o->n == o->capacity && !o->failed) {
        const size_t capacity = o->capacity < 256 ? 256 : 2 * o->capacity;
        void *thresholds = o->threshold, *points = o->point;
        o->failed = !mel_grow(&thresholds, capacity, sizeof *o->threshold);
        o->threshold = thresholds;
        o->failed = o->failed || !mel_grow(&points, capacity, sizeof *o->point);
        o->point = points;
        o->capacity = o->failed ? o->n : capacity;
    }
    if (o->failed)
        return;
    o->threshold[o->n] = threshold;
    o->point[o->n++] = point;
}

/* The point at logit u, by way of the threshold that a rule can have. */
static mel_point point_at(const mel_logistic *p, double u, double *threshold)
{
    *threshold = mel_sigmoid(-u);
    return mel_logistic_at(p, mel_logistic_cut(p, *threshold));
}

/* Adds points between two logits (falling, neither included) until the boundary is straight enough. */
static void outline_between(outline *o, double u, mel_point from, double v, mel_point to, int depth)
{
    const double coarse = 2e-9;
    const mel_logistic *p = o->population;
    double threshold = 0.0;
    const double mid = u + (v - u) / 2.0;
    const mel_point point = point_at(p, mid, &threshold);
    const mel_point chord = { (to.tp - from.tp) / p->positives, (to.tn - from.tn) / p->negatives };
    const mel_point arc = { (point.tp - from.tp) / p->positives, (point.tn - from.tn) / p->negatives };
    if (depth == 0 || !(fabs(mel_cross(chord, arc)) > coarse * hypot(chord.tp, chord.tn)))
        return;
    outline_between(o, u, from, mid, point, depth - 1);
    outline_add(o, threshold, point);
    outline_between(o, mid, point, v, to, depth - 1);
}

/* The boundary bends where the logit is moderate, or where it is least extreme. */
static void bent_range(const mel_logistic *p, double *high, double *low)
{
    const double extreme = 60.0;
    *low = fmax(p->b - p->a, -extreme);
    *high = fmin(p->b + p->a, extreme);
    if (*low > *high && p->b > 0.0) {
        *low = p->b - p->a;
        *high = fmin(p->b + p->a, *low + extreme);
    } else if (*low > *high) {
        *high = p->b + p->a;
        *low = fmax(p->b - p->a, *high - extreme);
    }
}

static void outline_all(outline *o)
{
    const double longest = 0.25; /* logits change the boundary's direction on a scale of 1 */
    enum { DEEPEST = 24 };
    const mel_logistic *p = o->population;
    outline_add(o, -INFINITY, (mel_point){ p->positives, 0.0 });
    if (p->a > 0.0) {
        double high = 0.0, low = 0.0, threshold = 0.0;
        bent_range(p, &high, &low);
        const double pieces = ceil((high - low) / longest);
        mel_point last = point_at(p, high, &threshold);
        outline_add(o, threshold, last);
        double u = high;
        for (int i = 1; i <= (int)pieces; i++) {
            const double v = high - (high - low) * (i / pieces);
            const mel_point next = point_at(p, v, &threshold);
            outline_between(o, u, last, v, next, DEEPEST);
            outline_add(o, threshold, next);
            last = next;
            u = v;
        }
    }
    outline_add(o, INFINITY, (mel_point){ 0.0, p->negatives });
}

mel_status mel_logistic_boundary(mel_upper_boundary *out, mel_rule **rule, const mel_logistic *p,
                                 mel_error *err)
{
    *out = (mel_upper_boundary){ 0 };
    outline o = { .population = p };
    outline_all(&o);
    size_t *kept = o.failed ? NULL : mel_alloc(o.n, sizeof *kept);
    mel_rule *rules = o.failed || rule == NULL ? NULL : mel_alloc(o.n, sizeof *rules);
    mel_status status = MEL_OK;
    if (kept == NULL || (rule != NULL && rules == NULL))
        status = mel_fail_memory(err, "the boundary of a population");
    else
        status = mel_boundary_through(out, o.n, o.point, kept, err);
    if (status == MEL_OK && kept != NULL && rules != NULL) {
        for (size_t i = 0; i <= out->n_edges; i++)
            rules[i] = (mel_rule){ o.threshold[kept[i]], false };
        *rule = rules;
    } else
        free(rules);
    free(kept);
    free(o.threshold);
    free(o.point);
    return status;
}
