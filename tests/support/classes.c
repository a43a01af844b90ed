/* Random samples of class probabilities with labels and groups, and what a direct count says about them. */
#include "support/classes.h"
#include "base/layout.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *need(size_t n, size_t size)
{
    void *block = calloc(n > 0 ? n : 1, size);
    if (block == NULL)
        abort();
    return block;
}

static void draw_row(double *p, mel_rng *rng, size_t k, double sharpness, unsigned levels)
{
    double sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        double score = mel_rng_normal(rng);
        if (levels > 0)
            score = floor(score * levels / 2.0) / (levels / 2.0);
        p[i] = exp(sharpness * score);
        sum += p[i];
    }
    for (size_t i = 0; i < k; i++)
        p[i] /= sum;
}

static uint32_t draw_label(const double *p, mel_rng *rng, size_t k)
{
    double u = mel_rng_uniform(rng);
    size_t i = 0;
    for (; i + 1 < k && u >= p[i]; i++)
        u -= p[i];
    return (uint32_t)i;
}

void test_classes_make(test_classes *out, mel_rng *rng, size_t n, size_t k, size_t m, double sharpness,
                       unsigned levels)
{
    const size_t groups = m > 1 ? m : 1;
    *out = (test_classes){ .probability = need(n * k, sizeof(double)),
                           .label = need(n, sizeof(uint32_t)),
                           .group = need(n, sizeof(uint32_t)) };
    for (size_t r = 0; r < n; r++) {
        double *p = out->probability + r * k;
        draw_row(p, rng, k, sharpness, levels);
        out->label[r] = r < groups * k ? (uint32_t)(r % k) : draw_label(p, rng, k);
        out->group[r] = r < groups * k ? (uint32_t)(r / k) : (uint32_t)mel_rng_below(rng, groups);
    }
    out->sample = (mel_rows){ .n_rows = n,
                              .n_classes = k,
                              .n_groups = m,
                              .probability = out->probability,
                              .label = out->label,
                              .group = m > 0 ? out->group : NULL };
}

void test_classes_clear(test_classes *classes)
{
    free(classes->probability);
    free(classes->label);
    free(classes->group);
    *classes = (test_classes){ 0 };
}

/* Sums of decisions (n_groups x k x k) and of classes (n_groups x k), shares of the grand total. */
static void add_up(double *confusion, double *cell, const test_classes *c, mel_evidence evidence,
                   const double *decision)
{
    const size_t k = c->sample.n_classes, n = c->sample.n_rows;
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < k; i++) {
            const double is = evidence == MEL_BY_MODEL ? c->probability[r * k + i] : c->label[r] == i;
            cell[c->group[r] * k + i] += is / (double)n;
            for (size_t j = 0; j < k; j++)
                confusion[(c->group[r] * k + i) * k + j] += is * decision[r * k + j] / (double)n;
        }
}

void test_classes_statistics(double *out, const test_classes *c, const mel_space_options *opt,
                             const double *decision)
{
    const size_t k = c->sample.n_classes, groups = c->sample.n_groups > 1 ? c->sample.n_groups : 1;
    double *confusion = need(groups * k * k, sizeof(double)), *cell = need(groups * k, sizeof(double));
    add_up(confusion, cell, c, opt->evidence, decision);
    for (size_t g = 0; g < groups; g++) {
        if (opt->coordinates == MEL_BINARY) {
            const double *own = confusion + g * 4;
            const bool rates = opt->kind == MEL_RATES;
            *out++ = own[3] / (rates ? cell[g * 2 + 1] : 1.0);
            *out++ = own[0] / (rates ? cell[g * 2] : 1.0);
            continue;
        }
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j < k; j++)
                if ((i == j) == (opt->coordinates == MEL_DIAGONAL))
                    *out++ =
                        confusion[(g * k + i) * k + j] / (opt->kind == MEL_RATES ? cell[g * k + i] : 1.0);
    }
    free(confusion);
    free(cell);
}

void test_classes_decide(double *decision, const test_classes *c, const double *gain)
{
    const size_t k = c->sample.n_classes;
    for (size_t r = 0; r < c->sample.n_rows; r++) {
        const double *own = gain + c->group[r] * k * k;
        size_t best = 0;
        double most = -INFINITY;
        for (size_t j = 0; j < k; j++) {
            double score = 0.0;
            for (size_t i = 0; i < k; i++)
                score += own[i * k + j] * c->probability[r * k + i];
            if (score > most) {
                most = score;
                best = j;
            }
            decision[r * k + j] = 0.0;
        }
        decision[r * k + best] = 1.0;
    }
}

void test_space_decisions(double *out, const mel_space *space, const double *decision)
{
    const mel_rows *rows = &space->rows.rows;
    const size_t k = space->n_classes;
    double *confusion = calloc(space->n_groups * k * k, sizeof *confusion);
    for (size_t r = 0; r < space->n_rows; r++)
        for (size_t i = 0; i < k; i++) {
            const double weight = space->evidence == MEL_BY_MODEL ? rows->probability[r * k + i]
                                                                  : (double)(rows->label[r] == i);
            const size_t group = rows->group != NULL ? rows->group[r] : 0;
            for (size_t j = 0; j < k; j++)
                confusion[(group * k + i) * k + j] += weight * decision[r * k + j];
        }
    for (size_t c = 0; c < space->n_groups * k * k; c++)
        confusion[c] /= (double)space->n_rows;
    mel_space_read(out, space, 0, space->n_groups, confusion);
    free(confusion);
}

void test_space_blend(double *out, const mel_space *space, const mel_blend *blend)
{
    const size_t size = mel_space_size(space), cells = space->n_groups * space->n_classes * space->n_classes;
    double *one = calloc(size, sizeof *one);
    memset(out, 0, size * sizeof *out);
    for (size_t r = 0; r < blend->n_rules; r++) {
        assert_ok(mel_space_rule(one, space, blend->gain + r * cells, NULL), NULL);
        for (size_t c = 0; c < size; c++)
            out[c] += blend->share[r] * one[c];
    }
    free(one);
}

mel_space *test_classes_space(const test_classes *c, const mel_space_options *opt)
{
    mel_space *space = NULL;
    mel_error err;
    assert_ok(mel_space_from_sample(&space, &c->sample, opt, &err), &err);
    return space;
}

mel_space_options test_space_options(mel_statistics_kind kind, mel_coordinates coordinates,
                                     mel_evidence evidence, int threads)
{
    mel_space_options opt;
    mel_space_options_init(&opt);
    opt.kind = kind;
    opt.coordinates = coordinates;
    opt.evidence = evidence;
    opt.threads = threads;
    return opt;
}

mel_space *test_setting_open(test_classes *classes, const test_setting *set, mel_rng *rng)
{
    print_message("  %zu classes, %zu groups, %s, %s, %s\n", set->k, set->m, mel_kind_name(set->kind),
                  mel_coordinates_name(set->coordinates), mel_evidence_name(set->evidence));
    test_classes_make(classes, rng, set->n, set->k, set->m, set->sharpness, 0);
    const mel_space_options opt = test_space_options(set->kind, set->coordinates, set->evidence, 1);
    return test_classes_space(classes, &opt);
}
