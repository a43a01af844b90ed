/* Whether the best rule can still change. */
#include "classify/classify.h"
#include "metric/shared.h"
#include "space/shared.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>

/* Points that differ by less are those of the same rule. */
static const double same = 1e-12;
/* Draws that the best rule of k classes is compared on: each takes a pass over the data. */
enum { MOST_DRAWS = 40, MOST_LOSING = 8 };
/* A rule stands that loses at most this share of what the best rule adds to the best trivial one. */
static const double negligible = 0.01;

static bool near(mel_point a, mel_point b)
{
    return fabs(a.tp - b.tp) <= same && fabs(a.tn - b.tn) <= same;
}

mel_status mel_classifier_settled(double *probability, const mel_belief *now, mel_error *err)
{
    const double *m = mel_metric_numerator(now->metric, NULL);
    const size_t width = mel_metric_coefficients(now->metric);
    mel_point best, here;
    TRY(mel_face_support(&best, now->domain->face, m[0], m[1], err));
    size_t standing = 0;
    for (size_t s = 0; s < now->n_draws; s++) {
        const double *draw = now->draw + s * width;
        TRY(mel_face_support(&here, now->domain->face, draw[0], draw[1], err));
        standing += near(best, here);
    }
    *probability = (double)standing / (double)now->n_draws;
    return MEL_OK;
}

/* --- k classes ------------------------------------------------------------------------------------ */

typedef struct {
    const mel_space *space;
    size_t size;
    double sign;                         /* -1: the metric is a cost */
    double *best, *here, *way, *trivial; /* size; trivial: n_classes x size */
} rules;

static mel_status find_trivial(rules *r, mel_error *err)
{
    const mel_layout *layout = mel_space_layout(r->space);
    const size_t k = layout->n_classes, n = k * k * (layout->n_groups > 1 ? layout->n_groups : 1);
    MEL_AUTO_MEMORY double *gain = mel_alloc(n, sizeof *gain);
    if (gain == NULL)
        return mel_fail_memory(err, "the best rule");
    for (size_t j = 0; j < k; j++) {
        for (size_t i = 0; i < n; i++)
            gain[i] = i % k == j ? 1.0 : 0.0;
        TRY(mel_space_rule(r->trivial + j * r->size, r->space, gain, err));
    }
    return MEL_OK;
}

static mel_status best_for(double *out, const rules *r, const double *weight, mel_error *err)
{
    for (size_t i = 0; i < r->size; i++)
        r->way[i] = r->sign * weight[i];
    return mel_space_linear(out, r->space, r->way, err);
}

/* Whether the rule at hand loses next to nothing by the metric of these weights. */
static mel_status loses_little(bool *out, const rules *r, const double *weight, mel_error *err)
{
    TRY(best_for(r->here, r, weight, err));
    const double most = mel_dot(r->size, r->way, r->here);
    double plain = -INFINITY;
    for (size_t j = 0; j < mel_space_layout(r->space)->n_classes; j++)
        plain = fmax(plain, mel_dot(r->size, r->way, r->trivial + j * r->size));
    *out = most - mel_dot(r->size, r->way, r->best) <= negligible * fmax(most - plain, 0.0) + same;
    return MEL_OK;
}

static mel_status count_standing(size_t *standing, size_t *asked, const rules *r, const mel_belief *now,
                                 mel_error *err)
{
    const size_t width = mel_metric_coefficients(now->metric);
    const size_t n = now->n_draws < MOST_DRAWS ? now->n_draws : MOST_DRAWS;
    TRY(best_for(r->best, r, mel_metric_numerator(now->metric, NULL), err));
    *standing = 0;
    *asked = n;
    /* With so many that lose it is far from settled: those that were not looked at count as losing, too. */
    for (size_t s = 0; s < n && s < *standing + MOST_LOSING; s++) {
        bool stands = false;
        TRY(loses_little(&stands, r, now->draw + s * now->n_draws / n * width, err));
        *standing += stands;
    }
    return MEL_OK;
}

mel_status mel_classifier_rule_settled(double *probability, const mel_belief *now, mel_error *err)
{
    const mel_domain *domain = now->domain;
    rules r = { .space = domain->ball != NULL ? domain->frontier : domain->space,
                .sign = mel_metric_orientation(now->metric) == MEL_COST ? -1.0 : 1.0 };
    if (r.space == NULL)
        return mel_fail(err, MEL_EINVAL, "until rule: no classifiers are known here");
    r.size = mel_space_size(r.space);
    const mel_part parts[] = { { r.size, { &r.best, &r.here, &r.way } },
                               { r.size * mel_space_layout(r.space)->n_classes, { &r.trivial } } };
    size_t standing = 0, asked = 1;
    mel_status status = mel_parts_new(MEL_PARTS(parts)) ? MEL_OK : mel_fail_memory(err, "the best rule");
    if (status == MEL_OK)
        status = find_trivial(&r, err);
    if (status == MEL_OK)
        status = count_standing(&standing, &asked, &r, now, err);
    *probability = (double)standing / (double)asked;
    free(r.best); /* and all that was made with it */
    return status;
}
