/* Best rules on random small problems: what they achieve is what they are said to achieve, and nothing is
 * better. */
#include "base/layout.h"
#include "classify/shared.h"
#include "classify/solve.h"
#include "data/quote.h"
#include "metric/shared.h"
#include "model/shared.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 24,
    MOST_CLASSES = 4,
    MOST_GROUPS = 3,
    MOST_CELLS = MOST_GROUPS * MOST_CLASSES * MOST_CLASSES
};

typedef struct {
    size_t n, k, m;
    double probability[MOST_ROWS * MOST_GROUPS * MOST_CLASSES];
    uint32_t label[MOST_ROWS], group[MOST_ROWS];
    double mass[MOST_GROUPS * MOST_CLASSES]; /* by the model */
} problem;

/* How much a row is of group g and class i (cell g k + i), by the model. */
static double evidence_at(const problem *p, size_t r, size_t cell)
{
    const size_t first = p->group[r] * p->k;
    return cell >= first && cell < first + p->k ? p->probability[r * p->k + cell - first] : 0.0;
}

static problem random_problem(mel_rng *rng, size_t n, size_t k, size_t m)
{
    problem p = { .n = n, .k = k, .m = m };
    for (size_t r = 0; r < n; r++) {
        double sum = 0.0;
        p.group[r] = (uint32_t)(r % m);
        p.label[r] = (uint32_t)(r / m % k);
        for (size_t i = 0; i < k; i++)
            sum += p.probability[r * k + i] = exp(1.5 * mel_rng_normal(rng));
        for (size_t i = 0; i < k; i++)
            p.probability[r * k + i] /= sum;
        for (size_t c = 0; c < m * k; c++)
            p.mass[c] += evidence_at(&p, r, c) / (double)n;
    }
    return p;
}

static mel_rule_rows rows_of(const problem *p)
{
    return (mel_rule_rows){ .n_rows = p->n,
                            .n_classes = p->k,
                            .n_groups = p->m > 1 ? p->m : 0,
                            .probability = p->probability,
                            .label = p->label,
                            .group = p->m > 1 ? p->group : NULL };
}

/* What chances of decisions achieve by the model: groups x k x k. */
static void achieve(double *x, const problem *p, const double *chance)
{
    memset(x, 0, p->m * p->k * p->k * sizeof *x);
    for (size_t r = 0; r < p->n; r++)
        for (size_t c = 0; c < p->m * p->k; c++)
            for (size_t j = 0; j < p->k; j++)
                x[c * p->k + j] += evidence_at(p, r, c) * chance[r * p->k + j] / (double)p->n;
}

/* What decision j about a row comes to with these gains. */
static double gain_at(const problem *p, size_t r, size_t j, const double *gain)
{
    double sum = 0.0;
    for (size_t c = 0; c < p->m * p->k; c++)
        sum += evidence_at(p, r, c) * gain[c * p->k + j];
    return sum;
}

/* The most that any classifier gains with these gains: row by row. */
static double best_gain(const problem *p, const double *gain)
{
    double sum = 0.0;
    for (size_t r = 0; r < p->n; r++) {
        double most = -INFINITY;
        for (size_t j = 0; j < p->k; j++)
            most = fmax(most, gain_at(p, r, j, gain));
        sum += most / (double)p->n;
    }
    return sum;
}

/* --- metrics ------------------------------------------------------------------------------------ */

static mel_layout layout_of(const problem *p)
{
    return (mel_layout){ MEL_RATES, MEL_OFFDIAGONAL, p->k, p->m > 1 ? p->m : 0 };
}

static void random_numbers(double *out, size_t n, bool positive, mel_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        out[i] = positive ? mel_rng_uniform(rng) : mel_rng_normal(rng);
}

/* A symmetric matrix: F F' / n, or F + F'. */
static void random_matrix(double *out, size_t n, bool definite, mel_rng *rng)
{
    double f[36 * 36];
    random_numbers(f, n * n, false, rng);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (size_t l = 0; l < n; l++)
                sum += f[i * n + l] * f[j * n + l] / (double)n;
            out[i * n + j] = definite ? sum : f[i * n + j] + f[j * n + i];
        }
}

static mel_metric *linear_metric(const problem *p, mel_rng *rng)
{
    const mel_layout layout = layout_of(p);
    double a[MOST_CELLS];
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    random_numbers(a, mel_layout_size(&layout), false, rng);
    assert_ok(mel_metric_linear(&metric, MEL_FAMILY_LINEAR, &layout, NULL, MEL_COST, a, &err), &err);
    return metric;
}

static mel_metric *fractional_metric(const problem *p, mel_rng *rng)
{
    const mel_layout layout = layout_of(p);
    double a[MOST_CELLS], b[MOST_CELLS];
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    random_numbers(a, mel_layout_size(&layout), false, rng);
    random_numbers(b, mel_layout_size(&layout), true, rng);
    assert_ok(mel_metric_fractional(&metric, MEL_FAMILY_LINEAR_FRACTIONAL, &layout, NULL, MEL_COST, a, 0.2, b,
                                    0.3, &err),
              &err);
    return metric;
}

static mel_metric *quadratic_metric(const problem *p, bool definite, mel_rng *rng)
{
    const mel_layout layout = layout_of(p);
    const size_t n = mel_layout_size(&layout);
    double a[MOST_CELLS], b[36 * 36];
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    random_numbers(a, n, true, rng);
    random_matrix(b, n, definite, rng);
    assert_ok(mel_metric_quadratic(&metric, &layout, NULL, MEL_COST, a, b, &err), &err);
    return metric;
}

static mel_metric *fair_metric(const problem *p, bool quadratic, mel_rng *rng)
{
    const mel_layout layout = layout_of(p);
    const size_t q = p->k * (p->k - 1), pairs = mel_group_pairs(p->m);
    double a[MOST_CELLS], b[3 * 12 * 12], share[MOST_GROUPS * MOST_CLASSES];
    mel_metric *metric = NULL;
    mel_error err = { 0 };
    random_numbers(a, q, true, rng);
    random_numbers(b, pairs * q, true, rng);
    for (size_t i = 0; i < pairs && quadratic; i++)
        random_matrix(b + i * q * q, q, true, rng);
    for (size_t i = 0; i < p->k; i++) {
        double all = 0.0;
        for (size_t g = 0; g < p->m; g++)
            all += p->mass[g * p->k + i];
        for (size_t g = 0; g < p->m; g++)
            share[g * p->k + i] = p->mass[g * p->k + i] / all;
    }
    const double lambda = 0.2 + 0.6 * mel_rng_uniform(rng);
    assert_ok(quadratic ? mel_metric_fair_quadratic(&metric, &layout, NULL, NULL, a, b, lambda, share, &err)
                        : mel_metric_fair_linear(&metric, &layout, NULL, NULL, a, b, lambda, share, &err),
              &err);
    return metric;
}

/* --- checks ------------------------------------------------------------------------------------- */

typedef struct {
    mel_rule_report report;
    mel_classifier *classifier;
    mel_measure *measure;
    double sign, x[MOST_CELLS];
} found;

static void found_clear(found *f)
{
    mel_rule_report_clear(&f->report);
    mel_classifier_free(f->classifier);
    mel_measure_free(f->measure);
}

/* What a measure looks at: x, or its sums over groups, which go into room. */
static const double *seen_of(double *room, const problem *p, const mel_measure *measure, const double *x)
{
    const size_t cells = mel_measure_cells(measure);
    if (cells == p->m * p->k * p->k)
        return x;
    memset(room, 0, cells * sizeof *room);
    for (size_t c = 0; c < p->m * p->k * p->k; c++)
        room[c % cells] += x[c];
    return room;
}

/* Its slope by x. */
static void slope_at(double *slope, const problem *p, const found *f)
{
    double room[MOST_CELLS];
    const size_t cells = mel_measure_cells(f->measure);
    mel_error err = { 0 };
    assert_ok(mel_measure_gradient(slope, f->measure, seen_of(room, p, f->measure, f->x), &err), &err);
    for (size_t c = cells; c < p->m * p->k * p->k; c++)
        slope[c] = slope[c - cells];
}

/* Without groups there is nothing of every group. */
static mel_quoted name_for(const problem *p, const char *name)
{
    mel_quoted out = { "" };
    (void)snprintf(out.text, sizeof out.text, "%.*s", (int)(p->m > 1 ? strlen(name) : strcspn(name, ":")),
                   name);
    return out;
}

/* Finds the rule and checks that its file decides as the report says. */
static found find(const problem *p, const mel_metric *metric, const char *named, const mel_rule_options *opt)
{
    const mel_quoted plain = name_for(p, named != NULL ? named : "");
    const char *name = named != NULL ? plain.text : NULL;
    double room[MOST_CELLS];
    found f = { 0 };
    mel_error err = { 0 };
    const mel_rule_rows rows = rows_of(p);
    double chance[MOST_ROWS * MOST_CLASSES], value = 0.0;
    char *text = NULL;
    mel_classifier *read = NULL;
    assert_ok(mel_rule_find(&f.classifier, &f.report, &rows, metric, name, opt, &err), &err);
    assert_ok(metric != NULL ? mel_measure_metric(&f.measure, metric, p->k, p->m, &err)
                             : mel_measure_together(&f.measure, name, p->k, p->m, &err),
              &err);
    f.sign = mel_measure_orientation(f.measure) == MEL_COST ? -1.0 : 1.0;
    assert_ok(mel_classifier_to_json(&text, f.classifier, &err), &err);
    assert_ok(mel_classifier_from_json(&read, text, strlen(text), &err), &err);
    assert_ok(mel_classifier_chances(
                  chance, read,
                  &(mel_undecided){ .n = p->n, .probability = p->probability, .group = p->group }, &err),
              &err);
    achieve(f.x, p, chance);
    for (size_t c = 0; c < p->m * p->k * p->k; c++)
        assert_close(f.x[c], f.report.shares[c], 1e-9);
    assert_ok(mel_measure_value(&value, f.measure, seen_of(room, p, f.measure, f.x), &err), &err);
    assert_close(value, f.report.value, 1e-8 * (1.0 + fabs(value)));
    mel_classifier_free(read);
    free(text);
    return f;
}

/* No classifier does better: along the slope at x none gains more than the gap. */
static void check_slope(const problem *p, const found *f, double slack)
{
    double slope[MOST_CELLS], here = 0.0;
    slope_at(slope, p, f);
    for (size_t c = 0; c < p->m * p->k * p->k; c++) {
        slope[c] *= f->sign;
        here += slope[c] * f->x[c];
    }
    assert_true(best_gain(p, slope) - here <= fabs(f->report.bound - f->report.value) + slack);
}

static mel_rule_options mixtures(void)
{
    mel_rule_options opt;
    mel_rule_options_init(&opt);
    opt.form = MEL_RULE_MIXTURE;
    opt.threads = 1;
    return opt;
}

/* One rule instead of the mixture is a classifier like others, and not better. */
static void check_single(const problem *p, const mel_metric *metric, const char *name, const found *mixture)
{
    mel_rule_options opt = mixtures();
    opt.form = MEL_RULE_THRESHOLD;
    found one = find(p, metric, name, &opt);
    assert_false(one.report.mixed);
    assert_true(one.sign * one.report.value <= mixture->sign * mixture->report.bound + 1e-9);
    assert_close(one.report.optimum, mixture->report.optimum, 1e-9);
    found_clear(&one);
}

static size_t classes_of(size_t turn)
{
    return 2 + turn % 3;
}

static size_t groups_of(size_t turn)
{
    return 1 + turn / 3 % 3;
}

static size_t repeats(void)
{
    return test_repeats(200, 36, 9);
}

typedef mel_metric *maker(const problem *p, mel_rng *rng);

/* Smooth and pseudo-concave measures: the slope proves it. */
static void check_family(maker *make, const char *name, size_t least_groups, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    const mel_rule_options opt = mixtures();
    for (size_t turn = 0; turn < repeats(); turn++) {
        const size_t m = groups_of(turn) > least_groups ? groups_of(turn) : least_groups;
        const problem p = random_problem(&rng, MOST_ROWS, classes_of(turn), m);
        mel_metric *metric = make != NULL ? make(&p, &rng) : NULL;
        found f = find(&p, metric, name, &opt);
        assert_true(f.report.certified);
        assert_true(fabs(f.report.bound - f.report.value) <= 1e-6);
        check_slope(&p, &f, 1e-7);
        check_single(&p, metric, name, &f);
        found_clear(&f);
        mel_metric_free(metric);
    }
}

static mel_metric *psd_metric(const problem *p, mel_rng *rng)
{
    return quadratic_metric(p, true, rng);
}

static mel_metric *fair_quadratic_metric(const problem *p, mel_rng *rng)
{
    return fair_metric(p, true, rng);
}

static mel_metric *fair_linear_metric(const problem *p, mel_rng *rng)
{
    return fair_metric(p, false, rng);
}

static void test_linear(void **state)
{
    (void)state;
    check_family(linear_metric, NULL, 1, 1);
    check_family(NULL, "balanced-accuracy:every-group", 1, 2);
    check_family(NULL, "balanced-accuracy", 2, 31);
}

static void test_fractional(void **state)
{
    (void)state;
    check_family(fractional_metric, NULL, 1, 3);
}

static void test_concave(void **state)
{
    (void)state;
    check_family(NULL, "g-mean:every-group", 1, 4);
    check_family(NULL, "g-mean", 2, 32);
    check_family(NULL, "q-mean:every-group", 1, 5);
    check_family(NULL, "q-mean", 2, 33);
    check_family(psd_metric, NULL, 1, 6);
    check_family(fair_quadratic_metric, NULL, 2, 7);
}

/* --- kinks and limits, against the program over all rows ------------------------------------------ */

/* A linear program with a column for every row and decision. */
typedef struct {
    const problem *p;
    mel_simplex *lp;
    size_t n; /* equations so far: those of the rows come first */
    double rhs[MOST_ROWS + 256];
    double cost[MOST_CELLS];
    double a[256][MOST_CELLS]; /* of further equations */
    size_t n_extra;
} row_program;

static void add_equation(row_program *r, double rhs)
{
    memset(r->a[r->n_extra], 0, sizeof r->a[0]);
    r->rhs[r->p->n + r->n_extra++] = rhs;
}

/* Builds it; the caller adds the columns that are not rows. */
static void begin_program(row_program *r)
{
    const problem *p = r->p;
    mel_error err = { 0 };
    size_t first[MOST_ROWS] = { 0 };
    for (size_t i = 0; i < p->n; i++)
        r->rhs[i] = 1.0;
    assert_ok(mel_simplex_new(&r->lp, p->n + r->n_extra, r->rhs, &err), &err);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->k; j++) {
            size_t row[257], column = 0;
            double entry[257];
            const double cost = gain_at(p, i, j, r->cost) / (double)p->n;
            for (size_t e = 0; e < r->n_extra; e++) {
                row[e] = p->n + e;
                entry[e] = gain_at(p, i, j, r->a[e]) / (double)p->n;
            }
            row[r->n_extra] = i;
            entry[r->n_extra] = 1.0;
            assert_ok(mel_simplex_add(&column, r->lp, cost, r->n_extra + 1, row, entry, &err), &err);
            if (j == 0)
                first[i] = column;
        }
    for (size_t i = 0; i < p->n; i++)
        mel_simplex_begin(r->lp, i, first[i]);
}

static size_t add_column(row_program *r, size_t e, double value, double cost)
{
    const size_t row = r->p->n + e;
    size_t column = 0;
    mel_error err = { 0 };
    assert_ok(mel_simplex_add(&column, r->lp, cost, 1, &row, &value, &err), &err);
    return column;
}

static double fair_linear_optimum(const problem *p, const mel_metric *metric)
{
    const size_t k = p->k, q = k * (k - 1);
    const mel_layout layout = layout_of(p);
    const double lambda = mel_metric_lambda(metric), *share = mel_metric_prevalence(metric);
    row_program *r = calloc(1, sizeof *r);
    double weight[256] = { 0 };
    mel_error err = { 0 };
    assert_non_null(r);
    r->p = p;
    for (size_t c = 0; c < q; c++) {
        const size_t cell = mel_layout_cell(&layout, c), i = cell / k;
        for (size_t u = 0; u < p->m; u++)
            r->cost[u * k * k + cell] = -(1.0 - lambda) * mel_metric_numerator(metric, NULL)[c] *
                                        share[u * k + i] / p->mass[u * k + i];
        for (size_t u = 0; u < p->m; u++)
            for (size_t v = u + 1; v < p->m; v++) {
                weight[r->n_extra] = lambda * mel_metric_pair(metric, u, v)[c];
                add_equation(r, 0.0);
                r->a[r->n_extra - 1][u * k * k + cell] = 1.0 / p->mass[u * k + i];
                r->a[r->n_extra - 1][v * k * k + cell] = -1.0 / p->mass[v * k + i];
            }
    }
    begin_program(r);
    for (size_t e = 0; e < r->n_extra; e++) {
        const double left = mel_simplex_left(r->lp, p->n + e);
        const size_t up = add_column(r, e, 1.0, -weight[e]), down = add_column(r, e, -1.0, -weight[e]);
        mel_simplex_begin(r->lp, p->n + e, left >= 0.0 ? up : down);
    }
    assert_ok(mel_simplex_solve(r->lp, &err), &err);
    const double value = mel_simplex_objective(r->lp);
    mel_simplex_free(r->lp);
    free(r);
    return value;
}

static void check_fair_linear(uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    const mel_rule_options opt = mixtures();
    for (size_t turn = 0; turn < repeats(); turn++) {
        const problem p = random_problem(&rng, MOST_ROWS, classes_of(turn), 2 + turn / 3 % 2);
        mel_metric *metric = fair_linear_metric(&p, &rng);
        found f = find(&p, metric, NULL, &opt);
        assert_true(f.report.certified);
        assert_true(fabs(f.report.bound - f.report.value) <= 1e-6);
        assert_close(-f.report.value, fair_linear_optimum(&p, metric), 1e-6);
        check_single(&p, metric, NULL, &f);
        found_clear(&f);
        mel_metric_free(metric);
    }
}

static void test_fair_linear(void **state)
{
    (void)state;
    check_fair_linear(8);
}

/* max t with every recall at least t; begins at t = 0, where "always the first class" is feasible. */
static double min_recall_optimum(const problem *p, bool every_group)
{
    const size_t k = p->k, recalls = every_group ? p->m * k : k;
    row_program *r = calloc(1, sizeof *r);
    size_t row[MOST_CELLS], column = 0;
    double entry[MOST_CELLS];
    mel_error err = { 0 };
    assert_non_null(r);
    r->p = p;
    for (size_t c = 0; c < recalls; c++) {
        double mass = 0.0;
        add_equation(r, 0.0);
        for (size_t u = c; u < p->m * k; u += recalls)
            mass += p->mass[u];
        for (size_t u = c; u < p->m * k; u += recalls)
            r->a[c][u * k + u % k] = -1.0 / mass;
        row[c] = p->n + c;
        entry[c] = 1.0;
    }
    begin_program(r);
    for (size_t c = 0; c < recalls; c++)
        mel_simplex_begin(r->lp, p->n + c, add_column(r, c, 1.0, 0.0));
    assert_ok(mel_simplex_add(&column, r->lp, 1.0, recalls, row, entry, &err), &err);
    assert_ok(mel_simplex_solve(r->lp, &err), &err);
    const double value = mel_simplex_value(r->lp, column);
    mel_simplex_free(r->lp);
    free(r);
    return value;
}

static void check_min_recall(size_t least_groups, bool every_group, uint64_t seed)
{
    const char *name = every_group ? "min-recall:every-group" : "min-recall";
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    const mel_rule_options opt = mixtures();
    for (size_t turn = 0; turn < repeats(); turn++) {
        const size_t m = groups_of(turn) > least_groups ? groups_of(turn) : least_groups;
        const problem p = random_problem(&rng, MOST_ROWS, classes_of(turn), m);
        found f = find(&p, NULL, name, &opt);
        assert_true(f.report.certified);
        assert_true(fabs(f.report.bound - f.report.value) <= 1e-6);
        assert_close(f.report.value, min_recall_optimum(&p, every_group), 1e-6);
        check_single(&p, NULL, name, &f);
        found_clear(&f);
    }
}

static void test_min_recall(void **state)
{
    (void)state;
    check_min_recall(1, true, 9);
    check_min_recall(2, false, 35);
}

/* Accuracy with at most this share called the last class and at least so much recall of the first. */
static double limited_optimum(const problem *p, double most, double least)
{
    const size_t k = p->k;
    row_program *r = calloc(1, sizeof *r);
    double mass = 0.0;
    mel_error err = { 0 };
    assert_non_null(r);
    r->p = p;
    for (size_t g = 0; g < p->m; g++)
        mass += p->mass[g * k];
    add_equation(r, most);
    add_equation(r, -least);
    for (size_t c = 0; c < p->m * k; c++) {
        r->cost[c * k + c % k] = 1.0;
        r->a[0][c * k + k - 1] = 1.0;
        r->a[1][c * k] = c % k == 0 ? -1.0 / mass : 0.0;
    }
    begin_program(r); /* always the first class: nothing is called the last, all of the first is found */
    mel_simplex_begin(r->lp, p->n, add_column(r, 0, 1.0, 0.0));
    mel_simplex_begin(r->lp, p->n + 1, add_column(r, 1, 1.0, 0.0));
    assert_ok(mel_simplex_solve(r->lp, &err), &err);
    const double value = mel_simplex_objective(r->lp);
    mel_simplex_free(r->lp);
    free(r);
    return value;
}

static void check_limits(size_t least_groups, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    for (size_t turn = 0; turn < repeats(); turn++) {
        const size_t m = groups_of(turn) > least_groups ? groups_of(turn) : least_groups;
        const problem p = random_problem(&rng, MOST_ROWS, classes_of(turn), m);
        const double most = 0.5 * mel_rng_uniform(&rng) / (double)p.k,
                     least = 0.5 + 0.4 * mel_rng_uniform(&rng);
        const mel_limit limit[] = {
            { .kind = MEL_LIMIT_SHARE, .bound = most, .class_code = p.k - 1, .group = SIZE_MAX },
            { .kind = MEL_LIMIT_RECALL, .at_least = true, .bound = least, .group = SIZE_MAX },
        };
        mel_rule_options opt = mixtures();
        opt.limit = limit;
        opt.n_limits = 2;
        found f = find(&p, NULL, "accuracy", &opt);
        assert_true(f.report.achieved[0] <= most + 1e-9 && f.report.achieved[1] >= least - 1e-9);
        assert_true(f.report.certified);
        assert_close(f.report.value, limited_optimum(&p, most, least), 1e-6);
        opt.form = MEL_RULE_BEST;
        found one = find(&p, NULL, "accuracy", &opt);
        assert_true(one.report.achieved[0] <= most + 1e-8 && one.report.achieved[1] >= least - 1e-8);
        assert_true(one.report.value <= f.report.value + 1e-7);
        found_clear(&one);
        found_clear(&f);
    }
}

static void test_limits(void **state)
{
    (void)state;
    check_limits(1, 10);
}

/* A smooth goal under limits is no better than its bound, and the slope proves it within the limits' prices.
 */
static void test_smooth_limits(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 11);
    for (size_t turn = 0; turn < repeats(); turn++) {
        const problem p = random_problem(&rng, MOST_ROWS, classes_of(turn), groups_of(turn));
        const mel_rule_options free_of = mixtures();
        found without = find(&p, NULL, "g-mean", &free_of);
        double flagged = 0.0;
        for (size_t c = 0; c < p.m * p.k; c++)
            flagged += without.x[c * p.k + p.k - 1];
        const mel_limit limit = {
            .kind = MEL_LIMIT_SHARE, .bound = 0.7 * flagged, .class_code = p.k - 1, .group = SIZE_MAX
        };
        mel_rule_options opt = mixtures();
        opt.limit = &limit;
        opt.n_limits = 1;
        found f = find(&p, NULL, "g-mean", &opt);
        assert_true(f.report.achieved[0] <= limit.bound + 1e-9);
        assert_true(f.report.value <= without.report.value + 1e-9);
        assert_true(f.report.bound - f.report.value <= 1e-6);
        /* Lagrange: with the limit's price taken off, nothing gains more than the gap. */
        double slope[MOST_CELLS], here = 0.0;
        slope_at(slope, &p, &f);
        for (size_t c = 0; c < p.m * p.k * p.k; c++) {
            slope[c] -= c % p.k == p.k - 1 ? f.report.price[0] : 0.0;
            here += slope[c] * f.x[c];
        }
        assert_true(best_gain(&p, slope) - here <= 1e-4);
        found_clear(&f);
        found_clear(&without);
    }
}

/* --- local optima, against every classifier without a coin ---------------------------------------- */

/* The best of all k^n deterministic classifiers. */
static double best_of_all(const problem *p, const mel_measure *measure, double sign)
{
    double best = -INFINITY, x[MOST_CELLS], room[MOST_CELLS], value = 0.0;
    size_t choice[MOST_ROWS] = { 0 }, at = 0;
    while (at < p->n) {
        double chance[MOST_ROWS * MOST_CLASSES] = { 0 };
        for (size_t r = 0; r < p->n; r++)
            chance[r * p->k + choice[r]] = 1.0;
        achieve(x, p, chance);
        if (mel_measure_value(&value, measure, seen_of(room, p, measure, x), NULL) == MEL_OK)
            best = fmax(best, sign * value);
        for (at = 0; at < p->n && ++choice[at] == p->k; at++)
            choice[at] = 0;
    }
    return best;
}

static void check_local(maker *make, const char *name, uint64_t seed)
{
    mel_rng rng;
    mel_rng_seed(&rng, seed);
    const mel_rule_options opt = mixtures();
    size_t missed = 0, n = test_repeats(200, 20, 4);
    for (size_t turn = 0; turn < n; turn++) {
        const size_t k = 2 + turn % 2, m = 1 + turn / 2 % 2;
        const problem p = random_problem(&rng, k == 2 ? 10 : 7, k, k == 2 ? m : 1);
        mel_metric *metric = make != NULL ? make(&p, &rng) : NULL;
        found f = find(&p, metric, name, &opt);
        const double best = best_of_all(&p, f.measure, f.sign);
        missed += f.sign * f.report.value < best - 1e-6;
        found_clear(&f);
        mel_metric_free(metric);
    }
    print_message("  %s: %zu of %zu below the best classifier without a coin\n",
                  name != NULL ? name : "indefinite", missed, n);
    assert_true(20 * missed <= n);
}

static mel_metric *indefinite_metric(const problem *p, mel_rng *rng)
{
    return quadratic_metric(p, false, rng);
}

static void test_local(void **state)
{
    (void)state;
    check_local(NULL, "macro-f1:every-group", 12);
    check_local(NULL, "macro-f1", 37);
    check_local(NULL, "mcc", 13);
    check_local(indefinite_metric, NULL, 14);
}

/* --- mixtures without coins ------------------------------------------------------------------------ */

enum { MANY_ROWS = 3000, MANY_GROUPS = 4 };
typedef struct {
    double probability[3 * MANY_ROWS];
    uint32_t label[MANY_ROWS], group[MANY_ROWS];
} many;

static many *make_many(size_t k, mel_rng *rng)
{
    many *all = calloc(1, sizeof *all);
    assert_non_null(all);
    for (size_t r = 0; r < MANY_ROWS; r++) {
        double sum = 0.0, left = mel_rng_uniform(rng);
        for (size_t i = 0; i < k; i++)
            sum += all->probability[r * k + i] =
                exp(1.2 * mel_rng_normal(rng) + 0.3 * (double)(i * (r % MANY_GROUPS)));
        all->group[r] = (uint32_t)(r % MANY_GROUPS);
        for (size_t i = 0; i < k; i++) {
            left -= all->probability[r * k + i] /= sum;
            all->label[r] += left > 0.0 && i + 1 < k;
        }
    }
    return all;
}

/* --- other class shares -------------------------------------------------------------------------- */

/* Rows that count as often as they will be met are calibrated: on average the probabilities are the new
 * shares, and the shares at hand are as good as none. */
static void test_calibrated_shares(void **state)
{
    (void)state;
    static const double shares[][3] = { { 0.1, 0.3, 0.6 }, { 0.5, 0.45, 0.05 } };
    mel_rng rng;
    mel_rng_seed(&rng, 31);
    many *all = make_many(3, &rng);
    const mel_rule_rows rows = {
        .n_rows = MANY_ROWS, .n_classes = 3, .probability = all->probability, .label = all->label
    };
    double own[3] = { 0 }, *seen = malloc(sizeof(double) * 3 * MANY_ROWS);
    mel_adjustment plain = { 0 }, a = { 0 };
    mel_error err = { 0 };
    assert_non_null(seen);
    for (size_t r = 0; r < MANY_ROWS; r++)
        own[all->label[r]] += 1.0 / MANY_ROWS;
    mel_rule_options opt;
    mel_rule_options_init(&opt);
    assert_ok(mel_rule_calibrate(&plain, &rows, NULL, "accuracy", &opt, &err), &err);
    opt.class_share = own;
    assert_ok(mel_rule_calibrate(&a, &rows, NULL, "accuracy", &opt, &err), &err);
    for (size_t i = 0; i < 3; i++)
        assert_close(a.offset[i], plain.offset[i], 1e-9);
    mel_adjustment_clear(&a);
    for (size_t s = 0; s < COUNT(shares); s++) {
        double mean[3] = { 0 };
        opt.class_share = shares[s];
        assert_ok(mel_rule_calibrate(&a, &rows, NULL, "accuracy", &opt, &err), &err);
        mel_adjust(seen, &a, MANY_ROWS, all->probability, NULL);
        for (size_t r = 0; r < (size_t)3 * MANY_ROWS; r++)
            mean[r % 3] += seen[r] * shares[s][all->label[r / 3]] / own[all->label[r / 3]] / MANY_ROWS;
        for (size_t i = 0; i < 3; i++)
            assert_close(mean[i], shares[s][i], 0.003);
        mel_adjustment_clear(&a);
    }
    mel_adjustment_clear(&plain);
    free(seen);
    free(all);
}

/* A missed case that costs 4 among shares 1 : 9 is as 4 : 9 of cases that cost the same: the threshold is the
 * same too, with a model that no curve makes right. */
static void test_calibrated_costs(void **state)
{
    (void)state;
    enum { ROWS = 800 };
    static const double met[] = { 0.9, 0.1 }, as[] = { 9.0 / 13.0, 4.0 / 13.0 };
    static const struct {
        const char *name;
        const double *share;
    } ways[] = { { "weighted-accuracy:4", met }, { "accuracy", as } };
    double p[2 * ROWS], threshold[2] = { 0.0, 0.0 }, curve[2] = { 0.0, 0.0 };
    uint32_t label[ROWS];
    mel_rng rng;
    mel_rng_seed(&rng, 37);
    for (size_t r = 0; r < ROWS; r++) {
        const double z = mel_rng_normal(&rng), u = mel_rng_uniform(&rng);
        p[2 * r + 1] = 1.0 / (1.0 + exp(-3.0 * z));
        p[2 * r] = 1.0 - p[2 * r + 1];
        label[r] = u < (z < 0.5 ? 0.1 : z < 1.0 ? 0.5 : 0.8);
    }
    const mel_rule_rows rows = { .n_rows = ROWS, .n_classes = 2, .probability = p, .label = label };
    for (size_t w = 0; w < COUNT(ways); w++) {
        mel_rule_options opt;
        mel_adjustment adjustment = { 0 };
        mel_classifier *c = NULL;
        mel_error err = { 0 };
        mel_rule_options_init(&opt);
        opt.class_share = ways[w].share;
        assert_ok(mel_rule_calibrate(&adjustment, &rows, NULL, ways[w].name, &opt, &err), &err);
        opt.adjustment = &adjustment;
        curve[w] = adjustment.sharpness[1];
        assert_ok(mel_rule_find(&c, NULL, &rows, NULL, ways[w].name, &opt, &err), &err);
        threshold[w] = mel_classifier_get(c).mixture->rule[0].threshold;
        mel_classifier_free(c);
        mel_adjustment_clear(&adjustment);
    }
    assert_true(threshold[0] > 0.05 && threshold[0] < 0.99);
    assert_close(threshold[0], threshold[1], 1e-6);
    assert_close(curve[0], curve[1], 1e-6);
}

/* A mixture that is best for a name is best for the metric of that name: weights behind it count. */
static void test_weighted_differences(void **state)
{
    (void)state;
    static const char *const names[] = { "equalised-odds:absolute:1,9", "equalised-odds:absolute:9,1",
                                         "error-rate-balance:absolute" };
    static const char *const classes[] = { "no", "yes" }, *const groups[] = { "a", "b" };
    mel_rng rng;
    mel_rng_seed(&rng, 51);
    mel_rule_options opt = mixtures();
    mel_limit limit[2];
    mel_error err = { 0 };
    assert_ok(mel_limit_parse(&limit[0], "share[yes][a]=0.7", true, 2, classes, 2, groups, &err), &err);
    assert_ok(mel_limit_parse(&limit[1], "share[yes][b]=0.3", false, 2, classes, 2, groups, &err), &err);
    opt.n_limits = 2;
    opt.limit = limit;
    for (size_t turn = 0; turn < 5 * COUNT(names); turn++) {
        const char *name = names[turn % COUNT(names)];
        const problem p = random_problem(&rng, MOST_ROWS, 2, 2);
        const mel_rule_rows rows = rows_of(&p);
        const mel_people people = { .n_classes = 2, .n_groups = 2 };
        mel_metric *metric = NULL;
        mel_classifier *c[2] = { NULL, NULL };
        mel_rule_report report[2] = { { .value = 0 }, { .value = 0 } };
        assert_ok(mel_metric_of_name(&metric, name, &people, &err), &err);
        assert_ok(mel_rule_find(&c[0], &report[0], &rows, metric, NULL, &opt, &err), &err);
        assert_ok(mel_rule_find(&c[1], &report[1], &rows, NULL, name, &opt, &err), &err);
        assert_close(report[1].value, report[0].value, 1e-6);
        for (size_t i = 0; i < 2; i++) {
            mel_classifier_free(c[i]);
            mel_rule_report_clear(&report[i]);
        }
        mel_metric_free(metric);
    }
}

/* --- stopping ------------------------------------------------------------------------------------- */

static int stop(void *user, const char *what, double share)
{
    (void)what;
    assert_true(share >= 0.0 && share <= 1.0);
    ++*(size_t *)user;
    return 1;
}

static void test_stopping(void **state)
{
    (void)state;
    static const char *const names[] = { "accuracy",   "f1",  "g-mean",
                                         "min-recall", "mcc", "equalised-odds:largest" };
    mel_rng rng;
    mel_rng_seed(&rng, 15);
    const problem p = random_problem(&rng, 24, 2, 2);
    const mel_rule_rows rows = rows_of(&p);
    size_t called = 0;
    mel_rule_options opt;
    mel_rule_options_init(&opt);
    opt.progress = (mel_progress){ stop, &called };
    for (size_t i = 0; i < COUNT(names); i++) {
        mel_classifier *none = NULL;
        mel_rule_report report = { 0 };
        mel_error err = { 0 };
        assert_int_equal(mel_rule_find(&none, &report, &rows, NULL, names[i], &opt, &err), MEL_ESTOPPED);
        assert_null(none);
        assert_int_equal(called, i + 1);
        assert_non_null(strstr(err.text, "stopped on request"));
    }
    mel_adjustment adjustment = { 0 };
    assert_int_equal(
        mel_adjustment_fit(
            &adjustment,
            &(mel_rows){ .n_rows = p.n, .n_classes = p.k, .probability = p.probability, .label = p.label },
            (double)p.n, NULL, &opt.progress, NULL),
        MEL_ESTOPPED);
    assert_null(adjustment.offset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),           cmocka_unit_test(test_fractional),
        cmocka_unit_test(test_concave),          cmocka_unit_test(test_fair_linear),
        cmocka_unit_test(test_min_recall),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_smooth_limits),    cmocka_unit_test(test_local),
        cmocka_unit_test(test_stopping),         cmocka_unit_test(test_calibrated_shares),
        cmocka_unit_test(test_calibrated_costs), cmocka_unit_test(test_weighted_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
