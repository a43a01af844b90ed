/* The posterior of one angle on cells between the cuts of the answers. */
#include "elicit/active/posterior/grid.h"

#include "base/stat.h"
#include "elicit/active/posterior/answers.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
static const double half_pi = 1.57079632679489661923;

enum { COARSE_CELLS = 512, FINE_CELLS = 1024, MAX_NODES = 64, SCALES = 9 };
/* Of the angle that a band hides, see band_allowance. */
static const double allowed_share = 0.01;

/* One way to explain noise and ties: likelihoods are averaged over these. */
typedef struct {
    double scale, width, log_weight;
} node;

void mel_grid_clear(mel_grid *grid)
{
    free(grid->told);
    free(grid->cells);
}

static double wrap(double angle)
{
    const double turn = 2.0 * pi;
    const double wrapped = fmod(angle, turn);
    return wrapped < 0.0 ? wrapped + turn : wrapped;
}

mel_status mel_grid_tell(mel_grid *g, double dx, double dy, mel_answer answer, mel_error *err)
{
    if (g->n_told == g->capacity) {
        const size_t capacity = g->capacity == 0 ? 32 : 2 * g->capacity;
        void *block = g->told;
        if (!mel_grow(&block, capacity, sizeof *g->told))
            return mel_fail_memory(err, "the answers");
        g->told = block;
        g->capacity = capacity;
    }
    const double level = atan2(-dx, dy);
    g->told[g->n_told++] =
        (mel_grid_answer){ .dx = dx, .dy = dy, .cut = { wrap(level), wrap(level + pi) }, .answer = answer };
    g->n_choices += answer != MEL_ANSWER_SAME;
    g->stale = true;
    return MEL_OK;
}

/* --- likelihood --------------------------------------------------------------------------------- */

static bool any_same(const mel_grid *g)
{
    return g->n_choices < g->n_told;
}

static double log_sum_exp(size_t n, const double *x)
{
    double top = x[0];
    for (size_t i = 1; i < n; i++)
        top = fmax(top, x[i]);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] - top);
    return top + log(sum);
}

/* The metric (m11, m00) of an angle. */
static mel_point metric_at(double angle)
{
    return (mel_point){ .tp = cos(angle), .tn = sin(angle) };
}

static double middle_of(const mel_cell *c)
{
    return 0.5 * (c->low + c->high);
}

/* How much better A is than B for a metric. */
static double margin(const mel_grid_answer *t, mel_point metric)
{
    return metric.tp * t->dx + metric.tn * t->dy;
}

static double favour_of(const mel_grid_answer *t, mel_point metric)
{
    return t->answer == MEL_ANSWER_A ? margin(t, metric) : -margin(t, metric);
}

/* Wrong answers if this were the metric, ties aside. */
static size_t wrong_at(const mel_grid *g, double angle)
{
    const mel_point metric = metric_at(angle);
    size_t wrong = 0;
    for (size_t i = 0; i < g->n_told; i++)
        wrong += g->told[i].answer != MEL_ANSWER_SAME && favour_of(&g->told[i], metric) < 0.0;
    return wrong;
}

/* flips: what the number of wrong answers says, where errors are alike. */
static double log_at_node(const mel_grid *g, double flips, const node *way, mel_point metric)
{
    const bool alike = g->noise->errs == MEL_ERRS_ALIKE, same = any_same(g);
    double sum = flips;
    for (size_t i = 0; i < g->n_told; i++) {
        const mel_grid_answer *t = &g->told[i];
        const double gap = same ? margin(t, metric) / way->width : 0.0;
        if (t->answer == MEL_ANSWER_SAME) {
            sum += fmax(-0.5 * gap * gap, mel_log_impossible);
            continue;
        }
        if (same) /* had they felt the same, the answer would have been "=" */
            sum += log(fmax(-expm1(-0.5 * gap * gap), mel_impossible));
        if (alike)
            continue;
        const double likely = g->noise->probability(way->scale, favour_of(t, metric));
        sum += log(likely > mel_impossible ? likely : mel_impossible);
    }
    return sum;
}

static size_t make_nodes(const mel_grid *g, node *nodes)
{
    const bool learn_scale = g->noise->scale_spread > 0.0 && g->assume.size == 0.0;
    const size_t n_scales = learn_scale ? SCALES : 1, n_widths = any_same(g) ? MEL_WIDTHS : 1;
    size_t n = 0;
    for (size_t i = 0; i < n_scales; i++)
        for (size_t j = 0; j < n_widths; j++) {
            const double z = learn_scale ? -2.5 + 5.0 * (double)i / (SCALES - 1) : 0.0;
            nodes[n++] = (node){
                .scale =
                    learn_scale ? g->noise->scale_median * exp(g->noise->scale_spread * z) : g->assume.size,
                .width = mel_same_width[j],
                .log_weight = -0.5 * z * z,
            };
        }
    return n;
}

/* size: of the noise, where errors are alike. A rate to be learned is integrated out. */
static double log_posterior(const mel_grid *g, double size, size_t n_nodes, const node *nodes, double angle)
{
    const bool alike = g->noise->errs == MEL_ERRS_ALIKE;
    const mel_point metric = metric_at(angle);
    const double prior = g->prior_strength * (cos(angle - g->prior_angle) - 1.0);
    const double flips = alike ? g->noise->log_weight(size, wrong_at(g, angle), g->n_choices) : 0.0;
    double terms[MAX_NODES] = { 0.0 };
    for (size_t i = 0; i < n_nodes; i++)
        terms[i] = nodes[i].log_weight + log_at_node(g, flips, &nodes[i], metric);
    return prior + (n_nodes == 1 ? terms[0] : log_sum_exp(n_nodes, terms));
}

/* --- cells -------------------------------------------------------------------------------------- */

static bool piecewise_constant(const mel_grid *g)
{
    return !any_same(g) && !(g->prior_strength > 0.0) && g->noise->errs != MEL_ERRS_BY_MARGIN;
}

static mel_status reserve_cells(mel_grid *g, size_t n, mel_error *err)
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
static size_t place_borders(double *border, const mel_grid *g, double low, double high, size_t fine)
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
static mel_status add_cells(mel_grid *g, double low, double high, size_t fine, mel_error *err)
{
    const size_t most = 2 * g->n_told + fine + 2;
    double *border = mel_alloc(most, sizeof *border);
    if (border == NULL)
        return mel_fail_memory(err, "the cells");
    const mel_status status = reserve_cells(g, g->n_cells + most, err);
    const size_t n = status == MEL_OK ? place_borders(border, g, low, high, fine) : 0;
    for (size_t i = 0; i + 1 < n; i++)
        if (border[i + 1] > border[i])
            g->cells[g->n_cells++] = (mel_cell){ .low = border[i], .high = border[i + 1] };
    free(border);
    return status;
}

/* What a reader believes of the cells who takes the noise to have this size, as masses that sum to 1. */
static void weigh_under(mel_grid *g, mel_grid_reader reader, double size)
{
    node nodes[MAX_NODES];
    const size_t n_nodes = make_nodes(g, nodes);
    double top = -INFINITY;
    for (size_t i = 0; i < g->n_cells; i++) {
        mel_cell *c = &g->cells[i];
        c->mass[reader] = log_posterior(g, size, n_nodes, nodes, middle_of(c)) + log(c->high - c->low);
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

static void weigh_cells(mel_grid *g)
{
    weigh_under(g, MEL_BELIEVED, g->assume.size);
    if (g->noise->errs == MEL_ERRS_ALIKE)
        weigh_under(g, MEL_STAKED, fmax(g->assume.size, MEL_CAREFUL_RATE));
    for (size_t i = 0; i < g->n_cells && g->noise->errs != MEL_ERRS_ALIKE; i++)
        g->cells[i].mass[MEL_STAKED] = g->cells[i].mass[MEL_BELIEVED];
}

/* Answers A and B under flips, by the prior of the angle, against coin tosses; the cells must cover all that
 * the direction allows. By the chain rule the order of the answers does not matter. */
static mel_status find_evidence(mel_grid *g, mel_error *err)
{
    const double size = g->assume.size;
    const size_t n = g->n_choices;
    if (g->noise->errs != MEL_ERRS_ALIKE)
        return MEL_OK;
    double *prior = mel_alloc_zero(n + 1, sizeof *prior); /* of metrics that so many answers contradict */
    if (prior == NULL)
        return mel_fail_memory(err, "the evidence");
    double all = 0.0, sum = 0.0, top = -INFINITY, nearest = -1.0;
    for (size_t i = 0; i < g->n_cells; i++)
        nearest = fmax(nearest, cos(middle_of(&g->cells[i]) - g->prior_angle));
    for (size_t i = 0; i < g->n_cells; i++) {
        const mel_cell *c = &g->cells[i];
        /* Next to the likeliest cell: a strong prior of the other direction would make all of them nil. */
        const double mass =
            (c->high - c->low) * exp(g->prior_strength * (cos(middle_of(c) - g->prior_angle) - nearest));
        prior[wrong_at(g, middle_of(c))] += mass;
        all += mass;
    }
    for (size_t k = 0; k <= n; k++)
        if (prior[k] > 0.0)
            top = fmax(top, g->noise->log_weight(size, k, n));
    for (size_t k = 0; k <= n; k++)
        sum += prior[k] * exp(g->noise->log_weight(size, k, n) - top);
    free(prior);
    g->evidence = top + log(sum / all) - g->noise->log_weight(size, 0, 0) + (double)n * log(2.0);
    return MEL_OK;
}

static mel_status cover_arcs(mel_grid *g, size_t fine, mel_error *err)
{
    g->n_cells = 0;
    if (g->direction != MEL_DECREASING)
        TRY(add_cells(g, 0.0, half_pi, fine, err));
    if (g->direction != MEL_INCREASING)
        TRY(add_cells(g, pi, pi + half_pi, fine, err));
    return MEL_OK;
}

static bool is_increasing(const mel_cell *c)
{
    return c->high <= half_pi + 1e-12;
}

/* Cells of the more probable arc only, once the direction has been asked about. */
static void keep_arc(mel_grid *g)
{
    g->increasing = 0.0;
    for (size_t i = 0; i < g->n_cells; i++)
        if (is_increasing(&g->cells[i]))
            g->increasing += g->cells[i].mass[MEL_BELIEVED];
    const bool rewards = g->increasing >= 0.5 - 1e-9; /* undecided: right decisions count as better */
    double share[MEL_READERS] = { 0.0 };
    size_t kept = 0;
    for (size_t i = 0; i < g->n_cells; i++) {
        if (is_increasing(&g->cells[i]) != rewards)
            continue;
        g->cells[kept++] = g->cells[i];
        for (size_t reader = 0; reader < MEL_READERS; reader++)
            share[reader] += g->cells[i].mass[reader];
    }
    g->n_cells = kept;
    for (size_t i = 0; i < kept; i++)
        for (size_t reader = 0; reader < MEL_READERS; reader++)
            g->cells[i].mass[reader] /= share[reader];
}

/* Smooth likelihoods: a second, finer cover of the part that holds all but a sliver of the mass. */
static mel_status refine(mel_grid *g, mel_error *err)
{
    const double low = mel_grid_quantile(g, MEL_BELIEVED, 1e-9),
                 high = mel_grid_quantile(g, MEL_BELIEVED, 1.0 - 1e-9);
    const double slack = 2.0 * half_pi / COARSE_CELLS;
    const double first = mel_grid_low(g), last = mel_grid_high(g);
    g->n_cells = 0;
    const mel_status status =
        add_cells(g, fmax(first, low - slack), fmin(last, high + slack), FINE_CELLS, err);
    if (status == MEL_OK)
        weigh_cells(g);
    return status;
}

mel_status mel_grid_update(mel_grid *g, mel_error *err)
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

double mel_grid_quantile(const mel_grid *g, mel_grid_reader reader, double q)
{
    double below = 0.0;
    for (size_t i = 0; i < g->n_cells; i++) {
        const mel_cell *c = &g->cells[i];
        const double mass = c->mass[reader];
        if (below + mass >= q && mass > 0.0)
            return c->low + (c->high - c->low) * fmin(1.0, fmax(0.0, (q - below) / mass));
        below += mass;
    }
    return mel_grid_high(g);
}

double mel_grid_low(const mel_grid *g)
{
    return g->cells[0].low;
}

double mel_grid_high(const mel_grid *g)
{
    return g->cells[g->n_cells - 1].high;
}

double mel_grid_better(const mel_grid *g, double dx, double dy)
{
    const mel_grid_answer pair = { .dx = dx, .dy = dy };
    double better = 0.0;
    for (size_t i = 0; i < g->n_cells; i++)
        if (margin(&pair, metric_at(middle_of(&g->cells[i]))) > 0.0)
            better += g->cells[i].mass[MEL_BELIEVED];
    return better;
}

double mel_grid_error_rate(const mel_grid *g)
{
    if (g->noise->errs != MEL_ERRS_ALIKE)
        return NAN;
    double mean = 0.0;
    for (size_t i = 0; i < g->n_cells; i++)
        mean += g->cells[i].mass[MEL_BELIEVED] *
                g->noise->rate(g->assume.size, wrong_at(g, middle_of(&g->cells[i])), g->n_choices);
    return mean;
}

size_t mel_grid_lately_in_band(const mel_grid *g)
{
    const mel_point metric = metric_at(mel_grid_quantile(g, MEL_BELIEVED, 0.5));
    size_t inside = 0;
    for (size_t i = g->n_told > MEL_LATELY ? g->n_told - MEL_LATELY : 0; i < g->n_told; i++)
        inside += fabs(margin(&g->told[i], metric)) < g->assume.size;
    return inside;
}

/* How far a respondent who is always wrong inside of the band may have pushed the posterior, which
 * takes a coin toss for granted there: a share of the angle that the band hides in the question
 * that shows most. Early, when the band is small next to what is not known yet, the model's `outside` makes
 * up for it. */
static double band_allowance(const mel_grid *g)
{
    if (!g->noise->band || mel_grid_lately_in_band(g) == 0)
        return 0.0;
    double longest = 0.0;
    for (size_t i = 0; i < g->n_told; i++)
        longest = fmax(longest, hypot(g->told[i].dx, g->told[i].dy));
    return longest > 0.0 ? allowed_share * g->assume.size / longest : 0.0;
}

void mel_grid_interval(const mel_grid *g, double *low, double *high)
{
    const double allowance = band_allowance(g), outside = 0.025 * g->noise->outside;
    *low = fmax(mel_grid_quantile(g, MEL_BELIEVED, outside) - allowance, mel_grid_low(g));
    *high = fmin(mel_grid_quantile(g, MEL_BELIEVED, 1.0 - outside) + allowance, mel_grid_high(g));
}
