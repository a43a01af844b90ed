/* The posterior of one angle on cells between the cuts of the answers. */
#include "elicit/active/posterior/grid.h"

#include "base/stat.h"
#include "elicit/active/posterior/answers.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
static const double half_pi = 1.57079632679489661923;

enum { COARSE_CELLS = 512, FINE_CELLS = 1024 };
/* Of the angle that a band hides, see band_allowance. */
static const double allowed_share = 0.01;

void mel_grid_clear(mel_grid *grid)
{
    free(grid->told);
    free(grid->cells);
}

static bool any_same(const mel_grid *g)
{
    return g->n_choices < g->n_told;
}

/* As the answers err: all by margin from the first "about the same" on. */
static mel_errs errs_of(const mel_grid *g)
{
    return any_same(g) ? MEL_ERRS_BY_MARGIN : g->noise->errs;
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
    if (answer == MEL_ANSWER_SAME && !any_same(g))
        g->n_components = mel_components_blur(g->n_components, g->component);
    const double level = atan2(-dx, dy);
    g->told[g->n_told++] = (mel_grid_answer){ .dx = dx,
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

/* How likely all answers are of somebody who errs by one component, all averaged. Probabilities are
 * multiplied as far as numbers go. */
static double log_by_margin(const mel_grid *g, mel_point metric)
{
    double top = -INFINITY, sum = 0.0;
    const size_t ties = any_same(g) ? MEL_TIES : 1;
    for (size_t k = 0; k < g->n_components * ties; k++) {
        const mel_component *component = &g->component[k / ties];
        const double tie = any_same(g) ? mel_tie_width[k % ties] : 0.0;
        double log_product = log(component->weight), product = 1.0;
        for (size_t i = 0; i < g->n_told; i++) {
            const mel_grid_answer *t = &g->told[i];
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
static double log_posterior(const mel_grid *g, bool careful, double angle)
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

static bool piecewise_constant(const mel_grid *g)
{
    return !(g->prior_strength > 0.0) && errs_of(g) != MEL_ERRS_BY_MARGIN;
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

/* What a reader believes of the cells, as masses that sum to 1. */
static void weigh_under(mel_grid *g, mel_grid_reader reader)
{
    double top = -INFINITY;
    for (size_t i = 0; i < g->n_cells; i++) {
        mel_cell *c = &g->cells[i];
        c->mass[reader] = log_posterior(g, reader == MEL_STAKED, middle_of(c)) + log(c->high - c->low);
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
    const bool alike = errs_of(g) == MEL_ERRS_ALIKE;
    weigh_under(g, MEL_BELIEVED);
    if (alike)
        weigh_under(g, MEL_STAKED);
    for (size_t i = 0; i < g->n_cells && !alike; i++)
        g->cells[i].mass[MEL_STAKED] = g->cells[i].mass[MEL_BELIEVED];
}

/* Answers A and B under flips, by the prior of the angle, against coin tosses; the cells must cover all that
 * the direction allows. By the chain rule the order of the answers does not matter. */
static mel_status find_evidence(mel_grid *g, mel_error *err)
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
        const mel_cell *c = &g->cells[i];
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
        mean += g->cells[i].mass[MEL_BELIEVED] * mel_components_rate(g->n_components, g->component,
                                                                     wrong_at(g, middle_of(&g->cells[i])),
                                                                     g->n_choices);
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
        longest = fmax(longest, 2.0 * g->told[i].stake);
    return longest > 0.0 ? allowed_share * g->assume.size / longest : 0.0;
}

void mel_grid_interval(const mel_grid *g, double *low, double *high)
{
    const double allowance = band_allowance(g), outside = 0.025 * g->noise->outside;
    *low = fmax(mel_grid_quantile(g, MEL_BELIEVED, outside) - allowance, mel_grid_low(g));
    *high = fmin(mel_grid_quantile(g, MEL_BELIEVED, 1.0 - outside) + allowance, mel_grid_high(g));
}
