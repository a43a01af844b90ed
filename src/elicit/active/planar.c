/* Active elicitation of a binary linear metric (cos t, sin t): Bayesian bisection on the angle t.
 * The next question cuts at the posterior median, with the longest chord in that
 * direction: the pair that is easiest to tell apart. It passes through the centre of the face, by symmetry.
 *
 * The answer to a chord of the face cuts the circle of angles at the two angles whose level lines are
 * parallel to the chord. The posterior lives on cells whose borders are these cuts, so hard and flipped
 * answers are exact (the density is constant in a cell); smooth likelihoods (errors by margin, "about the
 * same", a prior) use fine cells and the density at their middles. */
#include "elicit/active/engine.h"

#include "base/stat.h"
#include "elicit/active/posterior/answers.h"
#include "metric/shared.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

static const double half_pi = 1.57079632679489661923;

/* --- the posterior of the angle */

typedef struct {
    double dx, dy; /* A - B */
    double cut[2]; /* angles in [0, 2 pi) where both are worth the same */
    double stake;  /* half of how far A and B are apart */
    mel_answer answer;
} angle_answer;

/* Whose belief: what is believed, and the belief of a more careful reader of the answers, which chooses
 * questions (MEL_CAREFUL_RATE). */
typedef enum { BELIEVED, STAKED, READERS } angle_reader;
typedef struct {
    double low, high;
    double mass[READERS]; /* probability */
} angle_cell;

typedef struct {
    mel_assumption assume;
    const mel_noise_ops *noise;
    size_t n_components; /* of the answers' errors */
    mel_component component[MEL_MOST_COMPONENTS];
    mel_direction direction;
    double prior_angle, prior_strength; /* strength 0: none */
    angle_answer *told;
    size_t n_told, capacity;
    size_t n_choices;  /* A or B */
    angle_cell *cells; /* ascending, within the arc(s) that the direction allows */
    size_t n_cells, cell_capacity;
    double increasing; /* posterior probability of the increasing arc */
    double evidence;   /* as in mel_history */
    bool stale;        /* answers have been told since the cells were weighed */
} angle_grid;

static const double pi = 3.14159265358979323846;

enum { COARSE_CELLS = 512, FINE_CELLS = 1024 };
/* Share of the angle that a band hides, see band_allowance. */
static const double allowed_share = 0.01;

static void grid_clear(angle_grid *grid)
{
    free(grid->told);
    free(grid->cells);
}

static bool any_same(const angle_grid *g)
{
    return g->n_choices < g->n_told;
}

/* As the answers err: all by margin from the first "about the same" on. */
static mel_errs errs_of(const angle_grid *g)
{
    return any_same(g) ? MEL_ERRS_BY_MARGIN : g->noise->errs;
}

static double wrap(double angle)
{
    const double turn = 2.0 * pi;
    const double wrapped = fmod(angle, turn);
    return wrapped < 0.0 ? wrapped + turn : wrapped;
}

static mel_status grid_tell(angle_grid *g, double dx, double dy, mel_answer answer, mel_error *err)
{
    if (g->n_told == g->capacity) {
        const size_t capacity = g->capacity == 0 ? 32 : 2 * g->capacity;
        void *block = g->told;
        if (!mel_grow(&block, capacity, sizeof *g->told))
            return mel_fail_memory(err, "the answers");
        g->told = block;
        g->capacity = capacity;
    }
    if (answer == MEL_ANSWER_SAME && !any_same(g))
        g->n_components = mel_components_blur(g->n_components, g->component);
    const double level = atan2(-dx, dy);
    g->told[g->n_told++] = (angle_answer){ .dx = dx,
                                           .dy = dy,
                                           .cut = { wrap(level), wrap(level + pi) },
                                           .stake = 0.5 * hypot(dx, dy),
                                           .answer = answer };
    g->n_choices += answer != MEL_ANSWER_SAME;
    g->stale = true;
    return MEL_OK;
}

/* --- likelihood --------------------------------------------------------------------------------- */

/* The metric (m11, m00) of an angle. */
static mel_point metric_at(double angle)
{
    return (mel_point){ .tp = cos(angle), .tn = sin(angle) };
}

static double middle_of(const angle_cell *c)
{
    return 0.5 * (c->low + c->high);
}

/* How much better A is than B for a metric. */
static double margin(const angle_answer *t, mel_point metric)
{
    return metric.tp * t->dx + metric.tn * t->dy;
}

static double favour_of(const angle_answer *t, mel_point metric)
{
    return t->answer == MEL_ANSWER_A ? margin(t, metric) : -margin(t, metric);
}

/* Wrong answers if this were the metric, ties aside. */
static size_t wrong_at(const angle_grid *g, double angle)
{
    const mel_point metric = metric_at(angle);
    size_t wrong = 0;
    for (size_t i = 0; i < g->n_told; i++)
        wrong += g->told[i].answer != MEL_ANSWER_SAME && favour_of(&g->told[i], metric) < 0.0;
    return wrong;
}

/* How likely all answers are of somebody who errs by one component, all averaged. Probabilities are
 * multiplied as far as numbers go. */
static double log_by_margin(const angle_grid *g, mel_point metric)
{
    double top = -INFINITY, sum = 0.0;
    const size_t ties = any_same(g) ? MEL_TIES : 1;
    for (size_t k = 0; k < g->n_components * ties; k++) {
        const mel_component *component = &g->component[k / ties];
        const double tie = any_same(g) ? mel_tie_width[k % ties] : 0.0;
        double log_product = log(component->weight), product = 1.0;
        for (size_t i = 0; i < g->n_told; i++) {
            const angle_answer *t = &g->told[i];
            const double z = favour_of(t, metric) * mel_component_sharpness(component, t->stake);
            product *=
                fmax(mel_impossible, t->answer == MEL_ANSWER_SAME ? mel_component_same(component, z, tie)
                                                                  : mel_component_choice(component, z, tie));
            if (product < 1e-200 || i + 1 == g->n_told) {
                log_product += log(product);
                product = 1.0;
            }
        }
        const double most = fmax(top, log_product);
        sum = sum * exp(top - most) + exp(log_product - most);
        top = most;
    }
    return top + log(sum);
}

/* careful: by somebody who takes more answers for wrong, where errors are alike. */
static double log_posterior(const angle_grid *g, bool careful, double angle)
{
    const mel_point metric = metric_at(angle);
    const double prior = g->prior_strength * (cos(angle - g->prior_angle) - 1.0);
    const mel_component more = g->noise->given(fmax(g->assume.size, MEL_CAREFUL_RATE));
    switch (errs_of(g)) {
    case MEL_ERRS_NEVER:
        return prior + mel_log_impossible * (double)wrong_at(g, angle);
    case MEL_ERRS_ALIKE:
        return prior + mel_components_log_weight(careful ? 1 : g->n_components,
                                                 careful ? &more : g->component, wrong_at(g, angle),
                                                 g->n_choices);
    case MEL_ERRS_BY_MARGIN:
        break;
    }
    return prior + log_by_margin(g, metric);
}

/* --- cells -------------------------------------------------------------------------------------- */

static bool piecewise_constant(const angle_grid *g)
{
    return !(g->prior_strength > 0.0) && errs_of(g) != MEL_ERRS_BY_MARGIN;
}

static mel_status reserve_cells(angle_grid *g, size_t n, mel_error *err)
{
    if (n <= g->cell_capacity)
        return MEL_OK;
    void *block = g->cells;
    if (!mel_grow(&block, 2 * n, sizeof *g->cells))
        return mel_fail_memory(err, "the posterior");
    g->cells = block;
    g->cell_capacity = 2 * n;
    return MEL_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The borders of add_cells, ascending; returns how many. */
static size_t place_borders(double *border, const angle_grid *g, double low, double high, size_t fine)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_told; i++)
        for (size_t j = 0; j < 2; j++)
            if (g->told[i].cut[j] > low && g->told[i].cut[j] < high)
                border[n++] = g->told[i].cut[j];
    for (size_t i = 0; i <= fine; i++)
        border[n++] = low + (high - low) * (double)i / (double)fine;
    qsort(border, n, sizeof *border, compare_doubles);
    return n;
}

/* Cells of [low, high] between the cuts inside it and `fine` further equal steps. */
static mel_status add_cells(angle_grid *g, double low, double high, size_t fine, mel_error *err)
{
    const size_t most = 2 * g->n_told + fine + 2;
    double *border = mel_alloc(most, sizeof *border);
    if (border == NULL)
        return mel_fail_memory(err, "the cells");
    const mel_status status = reserve_cells(g, g->n_cells + most, err);
    const size_t n = status == MEL_OK ? place_borders(border, g, low, high, fine) : 0;
    for (size_t i = 0; i + 1 < n; i++)
        if (border[i + 1] > border[i])
            g->cells[g->n_cells++] = (angle_cell){ .low = border[i], .high = border[i + 1] };
    free(border);
    return status;
}

/* What a reader believes of the cells, as masses that sum to 1. */
static void weigh_under(angle_grid *g, angle_reader reader)
{
    double top = -INFINITY;
    for (size_t i = 0; i < g->n_cells; i++) {
        angle_cell *c = &g->cells[i];
        c->mass[reader] = log_posterior(g, reader == STAKED, middle_of(c)) + log(c->high - c->low);
        top = fmax(top, c->mass[reader]);
    }
    mel_sum total = { 0 };
    for (size_t i = 0; i < g->n_cells; i++) {
        double *mass = &g->cells[i].mass[reader];
        *mass = exp(*mass - top);
        mel_sum_add(&total, *mass);
    }
    for (size_t i = 0; i < g->n_cells; i++)
        g->cells[i].mass[reader] /= mel_sum_value(&total);
}

static void weigh_cells(angle_grid *g)
{
    const bool alike = errs_of(g) == MEL_ERRS_ALIKE;
    weigh_under(g, BELIEVED);
    if (alike)
        weigh_under(g, STAKED);
    for (size_t i = 0; i < g->n_cells && !alike; i++)
        g->cells[i].mass[STAKED] = g->cells[i].mass[BELIEVED];
}

/* Answers A and B under flips, by the prior of the angle, against coin tosses; the cells must cover all that
 * the direction allows. By the chain rule the order of the answers does not matter. */
static mel_status find_evidence(angle_grid *g, mel_error *err)
{
    const size_t n = g->n_choices, parts = g->n_components;
    if (g->noise->errs != MEL_ERRS_ALIKE)
        return MEL_OK;
    double *prior = mel_alloc_zero(n + 1, sizeof *prior); /* of metrics that so many answers contradict */
    if (prior == NULL)
        return mel_fail_memory(err, "the evidence");
    double all = 0.0, sum = 0.0, top = -INFINITY, nearest = -1.0;
    for (size_t i = 0; i < g->n_cells; i++)
        nearest = fmax(nearest, cos(middle_of(&g->cells[i]) - g->prior_angle));
    for (size_t i = 0; i < g->n_cells; i++) {
        const angle_cell *c = &g->cells[i];
        /* Next to the likeliest cell: a strong prior of the other direction would make all of them nil. */
        const double mass =
            (c->high - c->low) * exp(g->prior_strength * (cos(middle_of(c) - g->prior_angle) - nearest));
        prior[wrong_at(g, middle_of(c))] += mass;
        all += mass;
    }
    for (size_t k = 0; k <= n; k++)
        if (prior[k] > 0.0)
            top = fmax(top, mel_components_log_weight(parts, g->component, k, n));
    for (size_t k = 0; k <= n; k++)
        sum += prior[k] * exp(mel_components_log_weight(parts, g->component, k, n) - top);
    free(prior);
    g->evidence = top + log(sum / all) + (double)n * log(2.0);
    return MEL_OK;
}

static double grid_low(const angle_grid *g)
{
    return g->cells[0].low;
}

static double grid_high(const angle_grid *g)
{
    return g->cells[g->n_cells - 1].high;
}

/* The angle below which the share q of a reader's belief is. */
static double grid_quantile(const angle_grid *g, angle_reader reader, double q)
{
    double below = 0.0;
    for (size_t i = 0; i < g->n_cells; i++) {
        const angle_cell *c = &g->cells[i];
        const double mass = c->mass[reader];
        if (below + mass >= q && mass > 0.0)
            return c->low + (c->high - c->low) * fmin(1.0, fmax(0.0, (q - below) / mass));
        below += mass;
    }
    return grid_high(g);
}

static mel_status cover_arcs(angle_grid *g, size_t fine, mel_error *err)
{
    g->n_cells = 0;
    if (g->direction != MEL_DECREASING)
        TRY(add_cells(g, 0.0, half_pi, fine, err));
    if (g->direction != MEL_INCREASING)
        TRY(add_cells(g, pi, pi + half_pi, fine, err));
    return MEL_OK;
}

static bool is_increasing(const angle_cell *c)
{
    return c->high <= half_pi + 1e-12;
}

/* Cells of the more probable arc only, once the direction has been asked about. */
static void keep_arc(angle_grid *g)
{
    g->increasing = 0.0;
    for (size_t i = 0; i < g->n_cells; i++)
        if (is_increasing(&g->cells[i]))
            g->increasing += g->cells[i].mass[BELIEVED];
    const bool rewards = g->increasing >= 0.5 - 1e-9; /* undecided: right decisions count as better */
    double share[READERS] = { 0.0 };
    size_t kept = 0;
    for (size_t i = 0; i < g->n_cells; i++) {
        if (is_increasing(&g->cells[i]) != rewards)
            continue;
        g->cells[kept++] = g->cells[i];
        for (size_t reader = 0; reader < READERS; reader++)
            share[reader] += g->cells[i].mass[reader];
    }
    g->n_cells = kept;
    for (size_t i = 0; i < kept; i++)
        for (size_t reader = 0; reader < READERS; reader++)
            g->cells[i].mass[reader] /= share[reader];
}

/* Smooth likelihoods: a second, finer cover of the part that holds all but a sliver of the mass. */
static mel_status refine(angle_grid *g, mel_error *err)
{
    const double low = grid_quantile(g, BELIEVED, 1e-9), high = grid_quantile(g, BELIEVED, 1.0 - 1e-9);
    const double slack = 2.0 * half_pi / COARSE_CELLS;
    const double first = grid_low(g), last = grid_high(g);
    g->n_cells = 0;
    const mel_status status =
        add_cells(g, fmax(first, low - slack), fmin(last, high + slack), FINE_CELLS, err);
    if (status == MEL_OK)
        weigh_cells(g);
    return status;
}

static mel_status grid_update(angle_grid *g, mel_error *err)
{
    if (!g->stale)
        return MEL_OK;
    const bool exact = piecewise_constant(g);
    mel_status status = cover_arcs(g, exact ? 1 : COARSE_CELLS, err);
    if (status == MEL_OK)
        status = find_evidence(g, err);
    if (status != MEL_OK)
        return status;
    weigh_cells(g);
    keep_arc(g);
    if (!exact)
        status = refine(g, err);
    g->stale = status != MEL_OK;
    return status;
}

/* --- what is believed --------------------------------------------------------------------------- */

static double grid_better(const angle_grid *g, double dx, double dy)
{
    const angle_answer pair = { .dx = dx, .dy = dy };
    double better = 0.0;
    for (size_t i = 0; i < g->n_cells; i++)
        if (margin(&pair, metric_at(middle_of(&g->cells[i]))) > 0.0)
            better += g->cells[i].mass[BELIEVED];
    return better;
}

static double grid_error_rate(const angle_grid *g)
{
    if (g->noise->errs != MEL_ERRS_ALIKE)
        return NAN;
    double mean = 0.0;
    for (size_t i = 0; i < g->n_cells; i++)
        mean += g->cells[i].mass[BELIEVED] * mel_components_rate(g->n_components, g->component,
                                                                 wrong_at(g, middle_of(&g->cells[i])),
                                                                 g->n_choices);
    return mean;
}

static size_t grid_lately_in_band(const angle_grid *g)
{
    const mel_point metric = metric_at(grid_quantile(g, BELIEVED, 0.5));
    size_t inside = 0;
    for (size_t i = g->n_told > MEL_LATELY ? g->n_told - MEL_LATELY : 0; i < g->n_told; i++)
        inside += fabs(margin(&g->told[i], metric)) < g->assume.size;
    return inside;
}

/* How far a respondent who is always wrong inside of the band may have pushed the posterior, which
 * takes a coin toss for granted there: a share of the angle that the band hides in the question
 * that shows most. Early, when the band is small next to what is not known yet, the model's `outside` makes
 * up for it. */
static double band_allowance(const angle_grid *g)
{
    if (!g->noise->band || grid_lately_in_band(g) == 0)
        return 0.0;
    double longest = 0.0;
    for (size_t i = 0; i < g->n_told; i++)
        longest = fmax(longest, 2.0 * g->told[i].stake);
    return longest > 0.0 ? allowed_share * g->assume.size / longest : 0.0;
}

static void grid_interval(const angle_grid *g, double *low, double *high)
{
    const double allowance = band_allowance(g), outside = 0.025 * g->noise->outside;
    *low = fmax(grid_quantile(g, BELIEVED, outside) - allowance, grid_low(g));
    *high = fmin(grid_quantile(g, BELIEVED, 1.0 - outside) + allowance, grid_high(g));
}

/* --- the engine */

enum { MOST_DIRECTIONS = 4 };
/* An unknown direction is asked about until it is this certain, but no more often than MOST_DIRECTIONS. */
static const double direction_certain = 0.975;
/* Without noise the posterior is uniform between the last two cuts: at this share of the tolerance all of it,
 * not just 95%, is within the tolerance of its middle. */
static const double precise_share = 0.95;

typedef struct {
    mel_active base;
    const mel_face *face;
    angle_grid grid;
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
    return grid_tell(&((planar *)base)->grid, base->row[0], base->row[1], answer, err);
}

/* Probability of the likelier answer: a repeated question may have either. */
static double predict(mel_engine *base, const double *a, const double *b)
{
    const double better = grid_better(&((const planar *)base)->grid, a[0] - b[0], a[1] - b[1]);
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
    const mel_status status = grid_update(&p->grid, err);
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
    grid_interval(&p->grid, &low, &high);
    return 0.5 * (high - low);
}

/* 1: as precise as asked for. Cost ratios are cotangents of angles. */
static double excess_of(const planar *p)
{
    double low = 0.0, high = 0.0;
    const double factor = p->base.opt.tolerance_factor;
    if (factor <= 0.0)
        return angle_radius(p) / (precise_share * p->base.opt.tolerance);
    grid_interval(&p->grid, &low, &high);
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
    const angle_grid *grid = &p->grid;
    mel_point a = { 0 }, b = { 0 };
    const double angle = grid_quantile(grid, STAKED, runner_up(base->avoided.n));
    const bool splits = angle > grid_low(grid) && angle < grid_high(grid);
    if (!splits || !mel_face_chord(&a, &b, p->face, sin(angle), -cos(angle))) {
        base->end = MEL_END_EXHAUSTED;
        return MEL_OK;
    }
    const double length = hypot(a.tp - b.tp, a.tn - b.tn);
    if (grid->noise->band &&
        (length * angle_radius(p) < 0.5 * grid->assume.size || grid_lately_in_band(grid) >= MEL_MOST_IN_BAND))
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
    TRY(grid_update(&p->grid, err));
    summary->error_rate = grid_error_rate(&p->grid);
    summary->evidence = mel_reported_evidence(p->grid.evidence, &p->base.opt);
    double low = 0.0, high = 0.0;
    grid_interval(&p->grid, &low, &high);
    return mel_linear_result(metric, summary, &p->base.opt, grid_quantile(&p->grid, BELIEVED, 0.5), low, high,
                             err);
}

static mel_status posterior(mel_engine *engine, size_t n, double *angle, double *density, mel_error *err)
{
    angle_grid *g = &((planar *)engine)->grid;
    if (n < 2)
        return mel_fail(err, MEL_EINVAL, "a density needs at least two angles, not %zu", n);
    TRY(grid_update(g, err));
    const double low = grid_quantile(g, BELIEVED, 1e-4), high = grid_quantile(g, BELIEVED, 1.0 - 1e-4);
    const double pad = 0.15 * (high - low);
    const double first = fmax(grid_low(g), low - pad), last = fmin(grid_high(g), high + pad);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        angle[i] = first + (last - first) * (double)i / (double)(n - 1);
        while (at + 1 < g->n_cells && g->cells[at].high < angle[i])
            at++;
        density[i] = g->cells[at].mass[BELIEVED] / (g->cells[at].high - g->cells[at].low);
    }
    return MEL_OK;
}

static double angle_at(const mel_active *base, double q)
{
    return grid_quantile(&((const planar *)base)->grid, BELIEVED, q);
}

static mel_status draws(mel_engine *engine, size_t *n, size_t *n_coefficients, double **values,
                        mel_error *err)
{
    planar *p = (planar *)engine;
    TRY(grid_update(&p->grid, err));
    return mel_active_angle_draws(n, n_coefficients, values, &p->base, angle_at, err);
}

static uint32_t expected(mel_engine *engine)
{
    planar *p = (planar *)engine;
    if (grid_update(&p->grid, NULL) != MEL_OK)
        return 0;
    const double excess = fmin(excess_of(p), 1e6);
    const double bits = mel_bits_per_answer(p->grid.noise, grid_error_rate(&p->grid));
    const double left = excess > 1.0 ? ceil(log2(excess) / bits) : 0.0;
    return (uint32_t)left + (direction_open(p) ? 1 : 0);
}

static void clear(mel_active *base)
{
    grid_clear(&((planar *)base)->grid);
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
    p->grid = (angle_grid){
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
    return grid_update(&p->grid, err);
}

mel_status mel_engine_planar(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                             mel_error *err)
{
    mel_active *e = NULL;
    const mel_status status = mel_active_new(&e, sizeof(planar), &planar_engine, &planar_ops, opt, err);
    return mel_active_ready(out, e, status == MEL_OK ? set_up((planar *)e, domain->face, err) : status);
}
