/* What the labels of the rows say about a rule that was found by probabilities, and whether chance explains
 * the difference: labels are drawn from the probabilities, and what a rule achieves is counted again. */
#include "base/la.h"
#include "base/stat.h"
#include "classify/certainty.h"
#include "classify/goal.h"
#include "classify/steps.h"
#include "model/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With fewer than ENOUGH_DRAWS the normal distribution stands for the draws. */
enum { MOST_DRAWS = 399, ENOUGH_DRAWS = 199, LEAST_DRAWS = 30, LABEL_STREAM = 4 };
/* Rows times columns and decisions of all draws. */
static const double most_work = 1e7;
/* With more rows than FEW_ROWS, rows that are decided alike are drawn together where possible. */
enum { FEW_ROWS = 5000, MOST_STRATA = 64, MOST_COLUMNS = 64 };
/* Fewer rows of a class that are decided alike are drawn by Poisson's distribution. */
static const double rare = 50.0;
/* Differences below are rounding. */
static const double rounding = 1e-9;
/* How often some number is surprising where all is well. */
static const double false_alarms = 0.05;
/* Rows with the same probability of which more stand together are drawn by the normal distribution. */
static const double many = 100.0;

void mel_rule_labels_clear(mel_rule_labels *labels)
{
    free(labels->limit);
    *labels = (mel_rule_labels){ 0 };
}

typedef struct {
    mel_trust_work of;
    const mel_rule_report *report;
    mel_rule_evidence evidence; /* of rows, whatever they cost */
    size_t columns, n_numbers;
    double *chance;           /* rows x decisions */
    double *count_room;       /* of mel_trust_count */
    double *growth;           /* of each class */
    double *odds;             /* of each column, of one row */
    double *by_cost, *by_row; /* groups x classes x decisions */
    double *room;
    double *drawn;                  /* draws x numbers: the value, then each limit */
    size_t n_strata;                /* rows of a group that are decided alike; 0: rows are drawn one by one */
    size_t first[MOST_STRATA];      /* a row of each */
    double *mean, *spread, *normal; /* by stratum: of what each column weighs; columns x columns */
} asking;

static void asking_clear(asking *a)
{
    mel_trust_work_clear(&a->of);
    mel_rule_evidence_clear(&a->evidence);
    free(a->chance);
    free(a->mean);
}

/* --- numbers of rows with labels ------------------------------------------------------------------ */

/* The value and each limit. */
static void put_numbers(double *out, asking *a)
{
    const mel_trust_work *w = &a->of;
    const mel_shares shares = { w->m, w->k, w->d, a->by_row };
    out[0] = mel_trust_value(w, a->by_cost, a->room);
    for (size_t l = 0; l < w->rule.n_limits; l++)
        out[1 + l] = mel_limit_achieved(&w->rule.limit[l], &shares);
}

static mel_status count_labels(double *out, asking *a, mel_error *err)
{
    mel_trust_work *w = &a->of;
    mel_rule_rows plain = *w->rows;
    plain.row_cost = NULL;
    mel_trust_count(a->by_row, NULL, w, &plain, a->chance, a->count_room);
    mel_trust_count(a->by_cost, NULL, w, w->rows, a->chance, a->count_room);
    if (w->d > w->k)
        TRY(mel_trust_price_of_referring(&w->refer, w, a->by_cost, a->room, err));
    put_numbers(out, a);
    return MEL_OK;
}

/* --- labels drawn from the probabilities ----------------------------------------------------------- */

/* How many of n rows are of a column with this probability. */
static double draw_number(double n, double p, mel_rng *rng)
{
    if (n > many)
        return fmin(fmax(n * p + sqrt(n * p * (1.0 - p)) * mel_rng_normal(rng), 0.0), n);
    double sum = 0.0;
    for (double i = 0.0; i < n; i += 1.0)
        sum += mel_rng_uniform(rng) < p;
    return sum;
}

/* What one of the rows that r stands for weighs if it is of a column. */
static double weight_of(const asking *a, size_t r, size_t column)
{
    const mel_rule_rows *rows = a->of.rows;
    return (rows->weight != NULL ? rows->weight[r] : 1.0) * a->growth[column % a->of.k] /
           (rows->count != NULL ? rows->count[r] : 1.0);
}

/* Rows of a class that are decided as r is. */
static void add_label(asking *a, size_t r, size_t class_code, double weight)
{
    const mel_trust_work *w = &a->of;
    const mel_rule_rows *rows = w->rows;
    const size_t group = w->m > 1 ? rows->group[r] : 0;
    const double cost = rows->row_cost != NULL ? rows->row_cost[r * w->k + class_code] : 1.0;
    const size_t first = (group * w->k + class_code) * w->d;
    for (size_t j = 0; j < w->d; j++) {
        const double chance = a->chance[r * w->d + j];
        a->by_row[first + j] += weight * chance;
        a->by_cost[first + j] += weight * cost * chance;
    }
}

/* What is likely of the rows as they are: probabilities are those where the classes have other shares. */
static void find_odds(asking *a, size_t r)
{
    const double *p = a->evidence.rows.probability + r * a->columns;
    double sum = 0.0;
    for (size_t c = 0; c < a->columns; c++)
        sum += a->odds[c] = p[c] / a->growth[c % a->of.k];
    for (size_t c = 0; c < a->columns; c++)
        a->odds[c] /= sum;
}

static void draw_row(asking *a, size_t r, mel_rng *rng)
{
    const mel_rule_rows *rows = a->of.rows;
    const double count = rows->count != NULL ? rows->count[r] : 1.0;
    find_odds(a, r);
    double left = count, rest = 1.0;
    for (size_t c = 0; c < a->columns && left > 0.0; c++) {
        const bool last = c + 1 == a->columns;
        const double own = last || rest <= 0.0 ? left : draw_number(left, fmin(a->odds[c] / rest, 1.0), rng);
        if (own > 0.0)
            add_label(a, r, c, own * weight_of(a, r, c));
        left -= own;
        rest -= a->odds[c];
    }
}

/* --- rows that are decided alike ------------------------------------------------------------------- */

/* Finds the stratum of a row, or makes it; MOST_STRATA: there are too many. */
static size_t stratum_of(asking *a, size_t r)
{
    const mel_trust_work *w = &a->of;
    const bool apart = w->m > 1;
    size_t s = 0;
    while (s < a->n_strata &&
           (memcmp(a->chance + r * w->d, a->chance + a->first[s] * w->d, w->d * sizeof *a->chance) != 0 ||
            (apart && w->rows->group[r] != w->rows->group[a->first[s]])))
        s++;
    if (s == a->n_strata && s < MOST_STRATA)
        a->first[a->n_strata++] = r;
    return s;
}

/* Mean and covariance of what the rows of each stratum weigh by column. False: there are too many strata. */
static bool find_strata(asking *a)
{
    const mel_rule_rows *rows = a->of.rows;
    const size_t n = a->columns;
    for (size_t r = 0; r < rows->n_rows; r++) {
        const size_t s = stratum_of(a, r);
        if (s == MOST_STRATA)
            return false;
        const double count = rows->count != NULL ? rows->count[r] : 1.0;
        double *mean = a->mean + s * n, *spread = a->spread + s * n * n;
        find_odds(a, r);
        for (size_t i = 0; i < n; i++) {
            const double weight = weight_of(a, r, i);
            mean[i] += count * weight * a->odds[i];
            for (size_t j = 0; j <= i; j++)
                spread[i * n + j] +=
                    count * weight * weight_of(a, r, j) * a->odds[i] * ((i == j ? 1.0 : 0.0) - a->odds[j]);
        }
    }
    return true;
}

static mel_status make_strata(asking *a, mel_error *err)
{
    const mel_rule_rows *rows = a->of.rows;
    const size_t n = a->columns;
    if (rows->n_rows <= FEW_ROWS || n > MOST_COLUMNS || rows->row_cost != NULL)
        return MEL_OK;
    const mel_part parts[] = { { (size_t)MOST_STRATA * n, { &a->mean } },
                               { (size_t)MOST_STRATA * n * n, { &a->spread } },
                               { n, { &a->normal } } };
    if (!mel_parts_new(MEL_PARTS(parts)))
        return mel_fail_memory(err, "what the labels say");
    if (!find_strata(a))
        a->n_strata = 0;
    for (size_t s = 0; s < a->n_strata; s++)
        mel_cholesky_raised(n, a->spread + s * n * n, 1e-9);
    return MEL_OK;
}

static double draw_poisson(double mean, mel_rng *rng)
{
    double n = 0.0;
    for (double least = exp(-mean), product = mel_rng_uniform(rng); product > least; n += 1.0)
        product *= mel_rng_uniform(rng);
    return n;
}

/* Rows of equal weight and two columns, one of which is rare. */
static bool draw_rare(asking *a, size_t s, mel_rng *rng)
{
    const double *mean = a->mean + s * a->columns;
    const size_t few = mean[0] < mean[1] ? 0U : 1U;
    if (a->columns != 2 || a->of.rows->weight != NULL || a->of.rule.class_share != NULL || mean[few] >= rare)
        return false;
    const double all = mean[0] + mean[1], drawn = fmin(draw_poisson(mean[few], rng), all);
    add_label(a, a->first[s], few, drawn);
    add_label(a, a->first[s], 1 - few, all - drawn);
    return true;
}

static void draw_stratum(asking *a, size_t s, mel_rng *rng)
{
    const size_t n = a->columns;
    const double *mean = a->mean + s * n, *factor = a->spread + s * n * n;
    if (draw_rare(a, s, rng))
        return;
    for (size_t i = 0; i < n; i++)
        a->normal[i] = mel_rng_normal(rng);
    for (size_t i = 0; i < n; i++) {
        double weight = mean[i];
        for (size_t j = 0; j <= i; j++)
            weight += factor[i * n + j] * a->normal[j];
        add_label(a, a->first[s], i, fmax(weight, 0.0));
    }
}

/* --- all draws ------------------------------------------------------------------------------------- */

static size_t draws_of(const asking *a)
{
    if (a->n_strata > 0)
        return MOST_DRAWS;
    const double each = (double)a->of.rows->n_rows * (double)(a->columns + a->of.d);
    return (size_t)fmin(fmax(most_work / each, (double)LEAST_DRAWS), (double)MOST_DRAWS);
}

static void draw_labels(asking *a, size_t draws)
{
    mel_rng rng;
    mel_rng_seed_stream(&rng, a->of.rule.seed, LABEL_STREAM);
    for (size_t b = 0; b < draws; b++) {
        memset(a->by_row, 0, a->of.cells * sizeof *a->by_row);
        memset(a->by_cost, 0, a->of.cells * sizeof *a->by_cost);
        for (size_t s = 0; s < a->n_strata; s++)
            draw_stratum(a, s, &rng);
        for (size_t r = 0; a->n_strata == 0 && r < a->of.rows->n_rows; r++)
            draw_row(a, r, &rng);
        put_numbers(a->drawn + b * a->n_numbers, a);
    }
}

/* How often draws of a number are as far from what is expected as what the labels say. */
static double chance_of(const asking *a, size_t number, size_t draws, double expected, double counted)
{
    const double far = fabs(counted - expected);
    double farther = 0.0, n = 0.0, mean = 0.0, square = 0.0;
    for (size_t b = 0; b < draws; b++) {
        const double drawn = a->drawn[b * a->n_numbers + number];
        if (!isfinite(drawn))
            continue;
        n += 1.0;
        farther += fabs(drawn - expected) >= far - rounding;
        mean += drawn;
        square += (drawn - expected) * (drawn - expected);
    }
    if (!isfinite(far) || n < (double)LEAST_DRAWS / 2.0)
        return NAN;
    mean /= n;
    if (n >= (double)ENOUGH_DRAWS || far <= rounding)
        return (1.0 + farther) / (n + 1.0);
    const double bias = mean - expected, deviation = sqrt(fmax(square / n - bias * bias, 0.0));
    const double away = fabs(counted - mean);
    return deviation > 0.0 ? 2.0 * mel_normal_cdf(-away / deviation) : away > rounding ? 0.0 : 1.0;
}

/* --- both ----------------------------------------------------------------------------------------- */

static mel_status make_room(asking *a, mel_error *err)
{
    const mel_trust_work *w = &a->of;
    const size_t seen = mel_measure_cells(w->measure);
    a->columns = w->k;
    a->n_numbers = 1 + w->rule.n_limits;
    const mel_part parts[] = { { w->rows->n_rows * w->d, { &a->chance } },
                               { mel_trust_count_room(w->rows), { &a->count_room } },
                               { w->k, { &a->growth, &a->odds } },
                               { w->cells, { &a->by_cost, &a->by_row } },
                               { seen > w->cells ? seen : w->cells, { &a->room } },
                               { MOST_DRAWS * a->n_numbers, { &a->drawn } } };
    return mel_parts_new(MEL_PARTS(parts)) ? MEL_OK : mel_fail_memory(err, "what the labels say");
}

/* How often chance alone would make such differences. */
static mel_status find_chances(mel_rule_labels *out, asking *a, mel_error *err)
{
    const mel_trust_work *w = &a->of;
    mel_rule_rows plain = *w->rows;
    plain.row_cost = NULL;
    TRY(mel_rule_evidence_make(&a->evidence, &plain, &w->rule, err));
    for (size_t i = 0; i < w->k; i++)
        a->growth[i] = w->rule.class_share != NULL ? a->evidence.growth[i] : 1.0;
    TRY(make_strata(a, err));
    const size_t draws = draws_of(a);
    draw_labels(a, draws);
    for (size_t i = 0; i < a->n_numbers; i++) {
        mel_label_check *one = i == 0 ? &out->value : &out->limit[i - 1];
        const double expected = i == 0 ? a->report->value : a->report->achieved[i - 1];
        one->chance = chance_of(a, i, draws, expected, one->value);
        one->surprising = one->chance < false_alarms / (double)a->n_numbers;
        out->doubtful = out->doubtful || one->surprising;
    }
    return MEL_OK;
}

static mel_status find_auc(mel_rule_labels *out, const mel_rule_rows *rows, mel_error *err)
{
    mel_separation is = { 0 };
    double number[2] = { 0.0, 0.0 };
    if (rows->n_classes != 2)
        return MEL_OK;
    const mel_status status = mel_separation_counted(&is, number, rows->n_rows, rows->probability,
                                                     rows->label, rows->count, 0.0, err);
    out->auc = status == MEL_OK ? is.auc : (double)NAN;
    out->wrong_way = status == MEL_OK && is.wrong_way;
    return status;
}

static mel_status ask_labels(mel_rule_labels *out, asking *a, mel_error *err)
{
    const size_t n = a->of.rule.n_limits;
    TRY(make_room(a, err));
    TRY(mel_trust_chances(a->chance, a->of.found, a->of.rows, err));
    TRY(count_labels(a->drawn, a, err)); /* the value, then the limits */
    out->limit = mel_alloc(n + 1, sizeof *out->limit);
    if (out->limit == NULL)
        return mel_fail_memory(err, "what the labels say");
    out->n_limits = n;
    out->value.value = a->drawn[0];
    for (size_t l = 0; l < n; l++)
        out->limit[l] = (mel_label_check){ .value = a->drawn[1 + l], .chance = NAN };
    if (a->of.rule.evidence == MEL_BY_MODEL)
        TRY(find_chances(out, a, err));
    return find_auc(out, a->of.rows, err);
}

mel_status mel_rule_ask_labels(mel_rule_labels *out, const mel_classifier *found,
                               const mel_rule_report *report, const mel_rule_rows *rows,
                               const mel_metric *metric, const char *name, const mel_rule_options *rule,
                               mel_error *err)
{
    MEL_AUTO_CLEAR(asking) a = { .report = report };
    *out = (mel_rule_labels){ .auc = NAN, .value = { .value = NAN, .chance = NAN } };
    TRY(mel_trust_begin(&a.of, found, rows, metric, name, rule, err));
    const mel_status status = ask_labels(out, &a, err);
    if (status != MEL_OK)
        mel_rule_labels_clear(out);
    return status;
}
