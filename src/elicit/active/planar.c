/* Active elicitation of a binary linear metric (cos t, sin t): Bayesian bisection on the angle t
 * (posterior/grid.h). The next question cuts at the posterior median, with the longest chord in that
 * direction: the pair that is easiest to tell apart. It passes through the centre of the face, by symmetry.
 */
#include "elicit/active/engine.h"

#include "elicit/active/posterior/grid.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

static const double half_pi = 1.57079632679489661923;

enum { MOST_DIRECTIONS = 4, DRAWS = 2000 };
/* An unknown direction is asked about until it is this certain, but no more often than MOST_DIRECTIONS. */
static const double direction_certain = 0.975;
/* Without noise the posterior is uniform between the last two cuts: at this share of the tolerance all of it,
 * not just 95%, is within the tolerance of its middle. */
static const double precise_share = 0.95;

typedef struct {
    mel_active base;
    const mel_face *face;
    mel_grid grid;
} planar;

/* --- answers ------------------------------------------------------------------------------------ */

static void row(mel_active *base, const double *a, const double *b, double *out)
{
    (void)base;
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
}

static mel_status hear(mel_active *base, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err)
{
    (void)apart;
    row(base, pair->a, pair->b, base->row);
    return mel_grid_tell(&((planar *)base)->grid, base->row[0], base->row[1], answer, err);
}

/* Of the surer answer: to a question that comes back, either may be. */
static double predict(mel_engine *base, const double *a, const double *b)
{
    const double better = mel_grid_better(&((const planar *)base)->grid, a[0] - b[0], a[1] - b[1]);
    return fmax(better, 1.0 - better);
}

/* --- questions ---------------------------------------------------------------------------------- */

static void put(double *x, mel_point point)
{
    x[0] = point.tp;
    x[1] = point.tn;
}

/* Which side is shown left is a coin toss fixed by the seed and the question's number. */
static void toss_sides(mel_active *base)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, base->opt.seed, base->history.n + base->history.n_skipped);
    mel_toss_sides(2, base->a, base->b, &rng);
}

static bool direction_open(const planar *p)
{
    const double increasing = p->grid.increasing;
    return p->grid.direction == MEL_DIRECTION_UNKNOWN &&
           (p->grid.n_told == 0 ||
            (p->grid.n_told < MOST_DIRECTIONS && fmax(increasing, 1.0 - increasing) < direction_certain));
}

/* Where between 0 and 1 to look after so many questions in a row that were not answered: in the middle, then
 * on both sides of it in turn, farther and farther away. */
static double runner_up(size_t skips)
{
    const size_t round = (skips % 9 + 1) / 2;
    return 0.5 + (skips % 2 == 1 ? -0.1 : 0.1) * (double)round;
}

static mel_status ask_direction(mel_active *base, const mel_face *face, mel_error *err)
{
    const size_t skips = base->avoided.n;
    const double angle = half_pi * runner_up(skips);
    const double x = skips == 0 ? 1.0 : cos(angle), y = skips == 0 ? 1.0 : sin(angle);
    mel_point a = { 0 }, b = { 0 };
    TRY(mel_face_support(&a, face, x, y, err));
    TRY(mel_face_support(&b, face, -x, -y, err));
    put(base->a, a);
    put(base->b, b);
    toss_sides(base);
    return MEL_OK;
}

static mel_status prepare(mel_active *base, bool *asked, mel_error *err)
{
    planar *p = (planar *)base;
    const mel_status status = mel_grid_update(&p->grid, err);
    base->history.evidence = p->grid.evidence;
    if (status != MEL_OK || !direction_open(p))
        return status;
    *asked = true;
    return ask_direction(base, p->face, err);
}

/* Half the width of the 95% interval of the angle. */
static double angle_radius(const planar *p)
{
    double low = 0.0, high = 0.0;
    mel_grid_interval(&p->grid, &low, &high);
    return 0.5 * (high - low);
}

/* 1: as precise as asked for. Cost ratios are cotangents of angles. */
static double excess_of(const planar *p)
{
    double low = 0.0, high = 0.0;
    const double factor = p->base.opt.tolerance_factor;
    if (factor <= 0.0)
        return angle_radius(p) / (precise_share * p->base.opt.tolerance);
    mel_grid_interval(&p->grid, &low, &high);
    const double first = tan(low), last = tan(high);
    return first > 0.0 && last > 0.0 ? log(last / first) / log(factor) : INFINITY;
}

static bool precise(const mel_active *base)
{
    return excess_of((const planar *)base) <= 1.0;
}

static mel_status choose(mel_active *base, mel_rng *rng, mel_error *err)
{
    (void)rng;
    (void)err;
    const planar *p = (const planar *)base;
    const mel_grid *grid = &p->grid;
    mel_point a = { 0 }, b = { 0 };
    const double angle = mel_grid_quantile(grid, MEL_STAKED, runner_up(base->avoided.n));
    const bool splits = angle > mel_grid_low(grid) && angle < mel_grid_high(grid);
    if (!splits || !mel_face_chord(&a, &b, p->face, sin(angle), -cos(angle))) {
        base->end = MEL_END_EXHAUSTED;
        return MEL_OK;
    }
    const double length = hypot(a.tp - b.tp, a.tn - b.tn);
    if (grid->noise->band && (length * angle_radius(p) < 0.5 * grid->assume.size ||
                              mel_grid_lately_in_band(grid) >= MEL_MOST_IN_BAND))
        base->end = MEL_END_NOISE;
    put(base->a, a);
    put(base->b, b);
    toss_sides(base);
    return MEL_OK;
}

/* --- results ------------------------------------------------------------------------------------ */

static mel_status result(mel_engine *engine, mel_metric **metric, mel_summary *summary, mel_error *err)
{
    planar *p = (planar *)engine;
    TRY(mel_grid_update(&p->grid, err));
    summary->error_rate = mel_grid_error_rate(&p->grid);
    summary->evidence = mel_reported_evidence(p->grid.evidence, &p->base.opt);
    double low = 0.0, high = 0.0;
    mel_grid_interval(&p->grid, &low, &high);
    return mel_linear_result(metric, summary, &p->base.opt, mel_grid_quantile(&p->grid, MEL_BELIEVED, 0.5),
                             low, high, err);
}

static mel_status posterior(mel_engine *engine, size_t n, double *angle, double *density, mel_error *err)
{
    mel_grid *g = &((planar *)engine)->grid;
    if (n < 2)
        return mel_fail(err, MEL_EINVAL, "a density needs at least two angles, not %zu", n);
    TRY(mel_grid_update(g, err));
    const double low = mel_grid_quantile(g, MEL_BELIEVED, 1e-4),
                 high = mel_grid_quantile(g, MEL_BELIEVED, 1.0 - 1e-4);
    const double pad = 0.15 * (high - low);
    const double first = fmax(mel_grid_low(g), low - pad), last = fmin(mel_grid_high(g), high + pad);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        angle[i] = first + (last - first) * (double)i / (double)(n - 1);
        while (at + 1 < g->n_cells && g->cells[at].high < angle[i])
            at++;
        density[i] = g->cells[at].mass[MEL_BELIEVED] / (g->cells[at].high - g->cells[at].low);
    }
    return MEL_OK;
}

/* At evenly spaced quantiles, which is as good as random and better spread. */
static mel_status draws(mel_engine *engine, size_t *n, size_t *n_coefficients, double **values,
                        mel_error *err)
{
    mel_grid *g = &((planar *)engine)->grid;
    TRY(mel_grid_update(g, err));
    double *draw = mel_alloc(DRAWS, 2 * sizeof *draw);
    if (draw == NULL)
        return mel_fail_memory(err, "draws of the posterior");
    double below = 0.0; /* probability below the cell at hand */
    size_t at = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        const double q = ((double)i + 0.5) / DRAWS;
        const mel_cell *c = &g->cells[at];
        while (at + 1 < g->n_cells && (below + c->mass[MEL_BELIEVED] < q || !(c->mass[MEL_BELIEVED] > 0.0))) {
            below += c->mass[MEL_BELIEVED];
            c = &g->cells[++at];
        }
        const double mass = c->mass[MEL_BELIEVED];
        const double within = mass > 0.0 ? fmin(1.0, fmax(0.0, (q - below) / mass)) : 1.0;
        const double angle = c->low + within * (c->high - c->low);
        draw[2 * i] = cos(angle);
        draw[2 * i + 1] = sin(angle);
    }
    *n = DRAWS;
    *n_coefficients = 2;
    *values = draw;
    return MEL_OK;
}

static uint32_t expected(mel_engine *engine)
{
    planar *p = (planar *)engine;
    if (mel_grid_update(&p->grid, NULL) != MEL_OK)
        return 0;
    const double excess = fmin(excess_of(p), 1e6);
    const double bits = mel_bits_per_answer(p->grid.noise, mel_grid_error_rate(&p->grid));
    const double left = excess > 1.0 ? ceil(log2(excess) / bits) : 0.0;
    return (uint32_t)left + (direction_open(p) ? 1 : 0);
}

static void clear(mel_active *base)
{
    mel_grid_clear(&((planar *)base)->grid);
}

static const mel_active_ops planar_ops = {
    .prepare = prepare,
    .precise = precise,
    .choose = choose,
    .predict = predict,
    .row = row,
    .hear = hear,
    .clear = clear,
    .finds_evidence = true,
};
static const mel_engine_ops planar_engine = {
    .next = mel_active_next,
    .tell = mel_active_tell,
    .result = result,
    .posterior = posterior,
    .draws = draws,
    .expected = expected,
    .free = mel_active_free,
};

static mel_status set_up(planar *p, const mel_face *face, mel_error *err)
{
    const mel_session_options *opt = &p->base.opt;
    p->face = face;
    p->grid = (mel_grid){
        .assume = opt->assume,
        .noise = mel_assumed(&opt->assume),
        .direction = opt->direction,
        .prior_strength = opt->prior_strength,
        .stale = true,
    };
    p->grid.n_components = mel_noise_components(p->grid.component, p->grid.noise, opt->assume.size);
    if (opt->prior != NULL) {
        const double *weight = mel_metric_numerator(opt->prior, NULL);
        const double sign = mel_metric_orientation(opt->prior) == MEL_COST ? -1.0 : 1.0;
        p->grid.prior_angle = atan2(sign * weight[1], sign * weight[0]);
    }
    TRY(mel_active_room(&p->base, 2, 2, err));
    return mel_grid_update(&p->grid, err);
}

mel_status mel_engine_planar(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                             mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status = mel_active_new(&e, sizeof(planar), &planar_engine, &planar_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((planar *)e, domain->face, err) : status);
}
