/* An order of classifiers and how sure it is: other rows could have been tested, and a metric may be known
 * within intervals only. */
#include "base/rng.h"
#include "base/stat.h"
#include "classify/certainty.h"
#include "metric/measure.h"
#include "rank/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_DRAWS = 1000000,
    MOST_COMPARED = 2000, /* classifiers: each has a value under every draw */
    MOST_PARTS = 2000,    /* of the rows, which draws give weights */
    LEAST_PARTS = 50
};
static const double most_work = 1e9;  /* sums of parts, numbers added up by all draws */
static const double rarely = 1e-3;    /* how much what no draw shows weighs beside a draw, to begin with */
static const double most_drawn = 1e5; /* entries of matrices that are drawn each for itself */

struct mel_ranking {
    mel_ranking_info info;
    size_t *order, *place;
    double *value, *best, *next;
    mel_certainty *certainty;
    mel_rank_samples samples; /* values NULL: none */
    double *drawn, *weight;   /* what `samples` borrows */
    mel_error why;
};

/* What is at hand while a ranking is made. */
typedef struct {
    mel_ranking *r;
    mel_ranking_options opt;
    mel_certainty_options sure;
    size_t cells, n_samples;
    double *counted;      /* owned: matrices of decisions */
    const double *counts; /* n x cells, numbers of rows or shares; NULL: only statistics are known */
    double *metrics;      /* owned: drawn within intervals, n_samples of them */
    size_t n_parts;       /* of the rows */
    double *part;         /* n_parts x n x cells: the matrices of each part */
    double *matrix;       /* n x cells: of a draw */
    mel_rng rng;
} work;

static void work_clear(work *w)
{
    mel_ranking_free(w->r);
    free(w->counted);
    free(w->metrics);
    free(w->part);
    free(w->matrix);
}

void mel_ranking_options_init(mel_ranking_options *opt)
{
    *opt = (mel_ranking_options){ .struct_size = sizeof *opt, .draws = 1000, .seed = 1 };
}

void mel_ranking_free(mel_ranking *r)
{
    if (r == NULL)
        return;
    free(r->order);
    free(r->place);
    free(r->value);
    free(r->best);
    free(r->next);
    free(r->certainty);
    free(r->drawn);
    free(r->weight);
    free(r);
}

mel_ranking_info mel_ranking_about(const mel_ranking *r)
{
    return r->info;
}

/* --- values and order --------------------------------------------------------------------------- */

static mel_status check(const mel_ranking_options *opt, mel_error *err)
{
    if (opt->struct_size != sizeof *opt)
        return mel_fail(err, MEL_EINVAL, "options of a ranking that mel_ranking_options_init did not make");
    if (opt->n == 0 || opt->measure == NULL)
        return mel_fail(err, MEL_EINVAL, "a ranking needs a measure and at least one classifier");
    if (opt->draws < 1 || opt->draws > MOST_DRAWS)
        return mel_fail(err, MEL_EINVAL, "%zu draws; expected 1 to %d", opt->draws, MOST_DRAWS);
    const int given = (opt->n_rows > 0) + (opt->counts != NULL) + (opt->statistics != NULL);
    if (given != 1)
        return mel_fail(err, MEL_EINVAL, "a ranking needs decisions, matrices or statistics: one of them");
    if (opt->measure->metric == NULL && (opt->statistics != NULL || opt->n_metrics > 0))
        return mel_fail(err, MEL_EINVAL, "%s has no statistics and no coefficients", opt->measure->name);
    return MEL_OK;
}

/* Where a row counts in the matrix of a classifier. */
static size_t cell_of(const work *w, size_t i, size_t row)
{
    const size_t k = w->opt.measure->k;
    const size_t group = w->cells > k * k ? w->opt.group[row] : 0;
    return (group * k + w->opt.truth[row]) * k + w->opt.decided[i][row];
}

static mel_status check_codes(const work *w, mel_error *err)
{
    const size_t k = w->opt.measure->k, m = w->cells / (k * k);
    if (m > 1 && w->opt.group == NULL)
        return mel_fail(err, MEL_EINVAL, "%s compares groups; each row needs one", w->opt.measure->name);
    for (size_t row = 0; row < w->opt.n_rows; row++) {
        bool good = w->opt.truth[row] < k && (m == 1 || w->opt.group[row] < m);
        for (size_t i = 0; i < w->opt.n && good; i++)
            good = w->opt.decided[i][row] < k;
        if (!good)
            return mel_fail(err, MEL_EINVAL, "row %zu: a code that is no class or group", row + 1);
    }
    return MEL_OK;
}

static mel_status count_decisions(work *w, mel_error *err)
{
    w->counts = w->opt.counts;
    if (w->opt.n_rows == 0)
        return MEL_OK;
    TRY(check_codes(w, err));
    w->counted = mel_alloc_zero(w->opt.n, w->cells * sizeof *w->counted);
    if (w->counted == NULL)
        return mel_fail_memory(err, "confusion matrices");
    for (size_t i = 0; i < w->opt.n; i++)
        for (size_t row = 0; row < w->opt.n_rows; row++)
            w->counted[i * w->cells + cell_of(w, i, row)] += 1.0;
    w->counts = w->counted;
    return MEL_OK;
}

/* The value of classifier i by the measure as it is; matrix: in place of its own. */
static mel_status value_of(double *out, const work *w, size_t i, const double *matrix, mel_error *err)
{
    const mel_metric *metric = w->opt.measure->metric;
    if (matrix != NULL)
        return mel_measure_value(out, w->opt.measure, matrix, err);
    return mel_metric_value(out, metric, w->opt.statistics + i * mel_layout_size(mel_metric_layout(metric)),
                            err);
}

static const double *matrix_of(const work *w, const double *matrices, size_t i)
{
    return matrices != NULL ? matrices + i * w->cells : NULL;
}

static mel_status find_order(work *w, mel_error *err)
{
    mel_ranking *r = w->r;
    for (size_t i = 0; i < w->opt.n; i++) {
        const mel_status status = value_of(&r->value[i], w, i, matrix_of(w, w->counts, i), err);
        if (status != MEL_OK && w->opt.name != NULL)
            return mel_fail_in(err, status, "%s", w->opt.name[i]);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "classifier %zu", i + 1);
    }
    return mel_rank_order(r->order, r->place, w->opt.n, r->value, w->r->samples.orientation, err);
}

/* --- each value, and each next to the one behind it ----------------------------------------------- */

static mel_status find_certainties(work *w, mel_error *err)
{
    for (size_t i = 0; i < w->opt.n; i++)
        TRY(mel_certainty_of(&w->r->certainty[i], w->opt.measure, w->counts + i * w->cells, &w->sure, err));
    return MEL_OK;
}

/* On the same rows: by group, true class, what each of the two decides. */
static void count_pair(double *pair, const work *w, size_t a, size_t b)
{
    const size_t k = w->opt.measure->k;
    memset(pair, 0, w->cells * k * sizeof *pair);
    for (size_t row = 0; row < w->opt.n_rows; row++)
        pair[cell_of(w, a, row) * k + w->opt.decided[b][row]] += 1.0;
}

static mel_status compare_neighbours(work *w, mel_error *err)
{
    const size_t k = w->opt.measure->k;
    MEL_AUTO_MEMORY double *pair = mel_alloc(w->cells, k * sizeof *pair);
    if (pair == NULL)
        return mel_fail_memory(err, "comparisons of classifiers");
    for (size_t i = 0; i + 1 < w->opt.n; i++) {
        const size_t a = w->r->order[i], b = w->r->order[i + 1];
        mel_contest got = { 0 };
        if (w->opt.n_rows > 0) {
            count_pair(pair, w, a, b);
            TRY(mel_certainty_compare(&got, w->opt.measure, pair, &w->sure, err));
        } else {
            TRY(mel_certainty_compare_apart(&got, w->opt.measure, w->counts + a * w->cells,
                                            w->counts + b * w->cells, &w->sure, err));
        }
        w->r->next[i] = got.better;
    }
    return MEL_OK;
}

/* --- all values together: draws of rows and metric ------------------------------------------------ */

/* Rows are put into parts at random; draws give each part a weight. Sums over rows then vary as if rows were
 * drawn: exactly so where each row is a part, else with covariances that are right on average. */
static mel_status divide_rows(work *w, mel_error *err)
{
    const size_t all = w->opt.n * w->cells;
    const double room = most_work / ((double)w->n_samples * (double)all);
    size_t most = room < MOST_PARTS ? (size_t)room : MOST_PARTS;
    most = most < LEAST_PARTS ? LEAST_PARTS : most;
    w->n_parts = w->opt.n_rows < most ? w->opt.n_rows : most;
    w->part = mel_alloc_zero(w->n_parts, all * sizeof *w->part);
    if (w->part == NULL)
        return mel_fail_memory(err, "parts of the rows");
    for (size_t row = 0; row < w->opt.n_rows; row++) {
        const size_t part = w->n_parts == w->opt.n_rows ? row : (size_t)mel_rng_below(&w->rng, w->n_parts);
        for (size_t i = 0; i < w->opt.n; i++)
            w->part[part * all + i * w->cells + cell_of(w, i, row)] += 1.0;
    }
    return MEL_OK;
}

static void draw_matrices(work *w)
{
    const size_t all = w->opt.n * w->cells;
    if (w->opt.n_rows == 0) {
        for (size_t i = 0; i < w->opt.n; i++)
            mel_draw_shares(w->matrix + i * w->cells, w->cells, w->counts + i * w->cells, &w->rng);
        return;
    }
    memset(w->matrix, 0, all * sizeof *w->matrix);
    for (size_t p = 0; p < w->n_parts; p++) {
        const double weight = mel_rng_gamma(&w->rng, 1.0), *part = w->part + p * all;
        for (size_t c = 0; c < all; c++)
            w->matrix[c] += weight * part[c];
    }
}

static mel_status draw_values(work *w, mel_error *err)
{
    const bool varies = w->opt.n_metrics > 0, rows = w->r->certainty != NULL;
    MEL_AUTO_CLEAR(mel_lent_metric) lent = { 0 };
    TRY(mel_metric_lend(&lent, w->opt.measure, err));
    for (size_t s = 0; s < w->n_samples; s++) {
        if (varies)
            TRY(mel_measure_set_coefficients(
                w->opt.measure, w->opt.metrics + s * mel_metric_coefficients(w->opt.measure->metric), err));
        if (rows)
            draw_matrices(w);
        for (size_t i = 0; i < w->opt.n; i++)
            TRY(value_of(&w->r->drawn[s * w->opt.n + i], w, i, matrix_of(w, rows ? w->matrix : w->counts, i),
                         err));
    }
    return MEL_OK;
}

/* The order with one of the values and the next smaller one exchanged, and the order as it is: what
 * comparisons think possible, though no draw shows it. Equals stay equals. */
static void add_swaps(work *w)
{
    const size_t n = w->opt.n;
    const double *value = w->r->value;
    mel_rank_samples *to = &w->r->samples;
    for (size_t s = 0; s < to->n_samples; s++)
        w->r->weight[s] = 1.0;
    for (size_t i = 0; i < n; i++, to->n_samples++) {
        const size_t a = w->r->order[i], b = w->r->order[i + 1 < n ? i + 1 : i];
        for (size_t j = 0; j < n; j++) {
            const bool is_a = mel_rank_compare(value[j], value[a], MEL_UTILITY) == 0;
            const bool is_b = mel_rank_compare(value[j], value[b], MEL_UTILITY) == 0;
            w->r->drawn[to->n_samples * n + j] = is_a ? value[b] : is_b ? value[a] : value[j];
        }
        w->r->weight[to->n_samples] = rarely;
    }
}

static mel_status sum_up(work *w, mel_error *err)
{
    mel_ranking *r = w->r;
    const size_t n = w->opt.n;
    MEL_AUTO_MEMORY mel_placed_surely *sure = mel_alloc(n, sizeof *sure);
    if (sure == NULL)
        return mel_fail_memory(err, "the order of a pool");
    if (r->certainty != NULL) {
        add_swaps(w);
        r->samples.weight = r->weight;
        TRY(mel_rank_reconcile(r->weight, &r->samples, r->order, r->next, err));
    }
    TRY(mel_rank_weigh(sure, &r->info.order_probability, &r->samples, r->order, err));
    for (size_t i = 0; i < n; i++) {
        r->best[r->order[i]] = sure[i].first;
        if (r->certainty == NULL && i + 1 < n)
            r->next[i] = sure[i].beats_next;
    }
    r->info.best = r->best;
    r->info.beats_next = n > 1 ? r->next : NULL;
    return MEL_OK;
}

/* So many draws: of the metric where a session has them, else as many as are asked for. */
static mel_status find_metrics(work *w, mel_error *err)
{
    const mel_metric *metric = w->opt.measure->metric;
    w->n_samples = w->opt.n_metrics > 0 && !w->opt.known ? w->opt.n_metrics : w->opt.draws;
    if (w->opt.known)
        w->opt.n_metrics = 0;
    if (metric == NULL || w->opt.known || w->opt.n_metrics > 0)
        return MEL_OK;
    w->metrics = mel_alloc(w->n_samples, mel_metric_coefficients(metric) * sizeof *w->metrics);
    if (w->metrics == NULL)
        return mel_fail_memory(err, "metrics within intervals");
    if (mel_metric_draws(w->metrics, metric, w->n_samples, w->opt.seed))
        w->opt.n_metrics = w->n_samples;
    w->opt.metrics = w->metrics;
    return MEL_OK;
}

static mel_status find_samples(work *w, mel_error *err)
{
    const size_t n = w->opt.n;
    w->r->drawn = mel_alloc(w->n_samples + n, n * sizeof *w->r->drawn);
    w->r->weight = mel_alloc(w->n_samples + n, sizeof *w->r->weight);
    w->matrix = mel_alloc(n, w->cells * sizeof *w->matrix);
    w->r->samples.values = w->r->drawn;
    w->r->samples.n_samples = w->n_samples;
    if (w->r->drawn == NULL || w->r->weight == NULL || w->matrix == NULL)
        return mel_fail_memory(err, "draws of values");
    mel_rng_seed_stream(&w->rng, w->opt.seed, 1);
    if (w->r->certainty != NULL && w->opt.n_rows > 0)
        TRY(divide_rows(w, err));
    TRY(draw_values(w, err));
    return sum_up(w, err);
}

/* --- together ------------------------------------------------------------------------------------- */

static mel_status find_how_sure(work *w, mel_error *err)
{
    mel_ranking *r = w->r;
    const bool rows = w->counts != NULL && !w->opt.shares;
    TRY(find_metrics(w, err));
    r->info.metric_varies = w->opt.n_metrics > 0;
    if (rows) {
        r->certainty = mel_alloc(w->opt.n, sizeof *r->certainty);
        if (r->certainty == NULL)
            return mel_fail_memory(err, "how sure values are");
        TRY(find_certainties(w, err));
        r->info.certainty = r->certainty;
    }
    if (w->opt.n > MOST_COMPARED || (!rows && w->opt.n_metrics == 0))
        return MEL_OK;
    if (rows)
        TRY(compare_neighbours(w, err));
    if (rows && w->opt.n_rows == 0 && (double)w->opt.n * (double)w->cells > most_drawn) {
        r->info.beats_next = r->next;
        return MEL_OK;
    }
    return find_samples(w, err);
}

/* A draw may be no metric (a denominator that vanishes), or a measure not be defined for other rows: then
 * nothing is said about how sure the order is. */
static mel_status add_how_sure(work *w, mel_error *err)
{
    mel_ranking *r = w->r;
    mel_error why = { 0 };
    const mel_status status = find_how_sure(w, &why);
    if (status != MEL_ENUMERIC && status != MEL_EINVAL && status != MEL_EDATA)
        return status == MEL_OK ? MEL_OK : mel_fail(err, status, "%s", why.text);
    r->why = why;
    r->info.unsure = r->why.text;
    r->info.certainty = NULL;
    r->info.best = r->info.beats_next = NULL;
    r->info.order_probability = (double)NAN;
    return MEL_OK;
}

static mel_status make(work *w, mel_error *err)
{
    mel_ranking *r = w->r;
    const size_t n = w->opt.n;
    r->order = mel_alloc(n, sizeof *r->order);
    r->place = mel_alloc(n, sizeof *r->place);
    r->value = mel_alloc(n, sizeof *r->value);
    r->best = mel_alloc(n, sizeof *r->best);
    r->next = mel_alloc(n, sizeof *r->next);
    if (r->order == NULL || r->place == NULL || r->value == NULL || r->best == NULL || r->next == NULL)
        return mel_fail_memory(err, "a ranking");
    r->samples.n = n;
    r->samples.orientation = mel_measure_orientation(w->opt.measure);
    r->info = (mel_ranking_info){
        .n = n, .order = r->order, .place = r->place, .value = r->value, .order_probability = (double)NAN
    };
    TRY(count_decisions(w, err));
    TRY(find_order(w, err));
    return add_how_sure(w, err);
}

mel_status mel_ranking_make(mel_ranking **out, const mel_ranking_options *opt, mel_error *err)
{
    *out = NULL;
    TRY(check(opt, err));
    MEL_AUTO_CLEAR(work) w = { .opt = *opt, .cells = mel_measure_cells(opt->measure) };
    mel_certainty_options_init(&w.sure);
    w.sure.seed = opt->seed;
    w.sure.n_metrics = opt->n_metrics;
    w.sure.metrics = opt->metrics;
    w.sure.known = opt->known;
    w.r = mel_alloc_zero(1, sizeof *w.r);
    if (w.r == NULL)
        return mel_fail_memory(err, "a ranking");
    TRY(make(&w, err));
    *out = w.r;
    w.r = NULL;
    return MEL_OK;
}

static mel_status check_known(const mel_ranking *r, mel_error *err)
{
    return r->info.best != NULL
               ? MEL_OK
               : mel_fail(err, MEL_ESTATE, "it is not known how sure this order is%s%s",
                          r->info.unsure != NULL ? ": " : "", r->info.unsure != NULL ? r->info.unsure : "");
}

mel_status mel_ranking_beats(double *beats, const mel_ranking *r, mel_error *err)
{
    TRY(check_known(r, err));
    return mel_rank_beats(beats, &r->samples, err);
}

mel_status mel_ranking_places(double *places, const mel_ranking *r, mel_error *err)
{
    TRY(check_known(r, err));
    return mel_rank_places(places, &r->samples, err);
}
