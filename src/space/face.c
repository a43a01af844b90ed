/* Faces: the public calls, and faces of two classes of the diagonal of a space, whose further classes count
 * in the total only. */
#include "space/face.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>

void mel_face_free(mel_face *face)
{
    if (face == NULL)
        return;
    mel_staircase_release(face->staircase);
    mel_boundary_free(&face->own);
    for (size_t i = 0; i < MEL_FACE_NOTES; i++)
        free(atomic_load(&face->note[i]));
    free(face);
}

mel_status mel_face_noted(const void **out, const mel_face *face, mel_face_note which,
                          mel_face_note_maker *make, uint32_t how, mel_error *err)
{
    _Atomic(void *) *note = &((mel_face *)face)->note[which]; /* the face itself stays as it is */
    void *there = atomic_load(note), *mine = NULL;
    *out = there;
    if (there != NULL)
        return MEL_OK;
    TRY(make(&mine, face, how, err));
    *out = mine;
    if (!atomic_compare_exchange_strong(note, &there, mine)) { /* another thread was faster */
        free(mine);
        *out = there;
    }
    return MEL_OK;
}

mel_status mel_face_from_scores(mel_face **out, size_t n, const double *score, const uint8_t *role,
                                const double *weight, mel_error *err)
{
    *out = NULL;
    MEL_AUTO(mel_face) *face = mel_alloc_zero(1, sizeof *face);
    if (face == NULL)
        return mel_fail_memory(err, "a face");
    TRY(mel_staircase_new(&face->staircase, n, score, role, weight, err));
    face->boundary = &face->staircase->hull;
    *out = face;
    face = NULL;
    return MEL_OK;
}

mel_status mel_face_from_probabilities(mel_face **out, size_t n, const double *probability,
                                       const uint8_t *role, const double *weight, mel_error *err)
{
    *out = NULL;
    MEL_AUTO_MEMORY double *score = mel_alloc(n, sizeof *score);
    if (score == NULL)
        return mel_fail_memory(err, "the scores of a face");
    mel_prefer_large_pages(score, n * sizeof *score);
    for (size_t i = 0; i < n; i++) {
        const double *p = probability + 2 * i;
        score[i] = p[1];
        if (!(fabs(p[0] + p[1] - 1.0) <= 1e-3 && p[0] >= 0.0 && p[1] >= 0.0))
            return mel_fail(err, MEL_EDATA,
                            "row %zu: %g and %g are no probabilities: not negative, adding up to 1", i + 1,
                            p[0], p[1]);
    }
    return mel_face_from_scores(out, n, score, role, weight, err);
}

double mel_face_positives(const mel_face *face)
{
    return face->boundary->positives;
}

double mel_face_negatives(const mel_face *face)
{
    return face->boundary->negatives;
}

mel_point mel_face_centre(const mel_face *face)
{
    return (mel_point){ face->boundary->positives / 2, face->boundary->negatives / 2 };
}

double mel_face_area(const mel_face *face)
{
    return face->boundary->fan[face->boundary->n_edges - 1];
}

size_t mel_face_vertices(const mel_face *face)
{
    return 2 * face->boundary->n_edges;
}

mel_point mel_face_vertex(const mel_face *face, size_t index)
{
    return mel_boundary_corner(face->boundary, index);
}

static mel_rule opposite(mel_rule rule)
{
    rule.inverted = !rule.inverted;
    return rule;
}

/* m as a direction of moderate size; *lower: it was turned round, because it points to the lower half. */
static mel_status read_direction(mel_point *m, bool *lower, double m11, double m00, mel_error *err)
{
    const double size = fmax(fabs(m11), fabs(m00));
    if (!isfinite(m11) || !isfinite(m00) || !(size > 0.0))
        return mel_fail(err, MEL_EINVAL, "(%g, %g) is no direction", m11, m00);
    *lower = m11 <= 0.0 && m00 <= 0.0;
    *m = (mel_point){ m11 / size, m00 / size };
    if (*lower)
        *m = (mel_point){ -m->tp, -m->tn };
    return MEL_OK;
}

mel_status mel_face_support(mel_point *out, const mel_face *face, double m11, double m00, mel_error *err)
{
    mel_point m = { 0.0, 0.0 }, best;
    bool lower = false, tie = false;
    TRY(read_direction(&m, &lower, m11, m00, err));
    const size_t i = mel_boundary_furthest(face->boundary, m, &tie);
    best = face->boundary->vertex[i];
    if (tie)
        best = mel_toward(best, face->boundary->edge[i], 0.5);
    *out = lower ? mel_boundary_reflect(face->boundary, best) : best;
    return MEL_OK;
}

mel_status mel_face_support_rule(mel_rule *out, const mel_face *face, double m11, double m00, mel_error *err)
{
    mel_point m = { 0.0, 0.0 };
    bool lower = false, tie = false;
    TRY(read_direction(&m, &lower, m11, m00, err));
    mel_rule best = mel_plug_in_rule(m.tp, m.tn);
    if (!face->population) /* whose scores are true */
        best = face->staircase->rule[mel_boundary_furthest(&face->staircase->hull, m, &tie)];
    *out = lower ? opposite(best) : best;
    return MEL_OK;
}

mel_rule mel_plug_in_rule(double m11, double m00)
{
    if (m11 > 0.0 && m00 < 0.0)
        return (mel_rule){ -INFINITY, false };
    if (m11 < 0.0 && m00 > 0.0)
        return (mel_rule){ INFINITY, false };
    const double size = fmax(fabs(m11), fabs(m00)); /* so that the sum cannot overflow */
    if (!(size > 0.0))
        return (mel_rule){ 0.5, false };
    return (mel_rule){ m00 / size / (m11 / size + m00 / size), m11 < 0.0 || m00 < 0.0 };
}

mel_point mel_face_rule(const mel_face *face, mel_rule rule)
{
    return mel_staircase_rule(face->staircase, rule);
}

void mel_face_sweep(const mel_face *face, size_t n, const double *threshold, double *tp, double *tn)
{
    mel_staircase_sweep(face->staircase, n, threshold, tp, tn);
}

mel_status mel_face_scores(size_t n[2], double **score, double **weight, const mel_face *face, size_t most,
                           mel_error *err)
{
    const mel_staircase *s = face->staircase;
    *score = mel_alloc(s->n[0] + s->n[1], sizeof **score);
    *weight = mel_alloc(s->n[0] + s->n[1], sizeof **weight);
    n[0] = n[1] = 0;
    if (*score == NULL || *weight == NULL) {
        free(*score);
        free(*weight);
        *score = *weight = NULL;
        return mel_fail_memory(err, "the scores of a sample");
    }
    n[0] = mel_staircase_scores(*score, *weight, s, MEL_ROW_NEGATIVE, most);
    n[1] = mel_staircase_scores(*score + n[0], *weight + n[0], s, MEL_ROW_POSITIVE, most);
    return MEL_OK;
}

mel_point mel_face_closest(const mel_face *face, mel_point point)
{
    return mel_boundary_closest(face->boundary, point);
}

bool mel_face_contains(const mel_face *face, mel_point point, double slack)
{
    if (!isfinite(point.tp) || !isfinite(point.tn))
        return false;
    return mel_distance(point, mel_face_closest(face, point)) <= slack;
}

/* Leaves out shares that are nothing but rounding and puts the largest first. */
static mel_mixture tidy(const mel_mixture *mixture)
{
    const double nothing = 1e-13;
    mel_mixture out = { 0 };
    double sum = 0.0;
    for (size_t i = 0; i < mixture->n; i++) {
        const double share = mixture->share[i];
        if (!(share > nothing))
            continue;
        size_t at = out.n++;
        for (; at > 0 && out.share[at - 1] < share; at--) {
            out.share[at] = out.share[at - 1];
            out.rule[at] = out.rule[at - 1];
        }
        out.share[at] = share;
        out.rule[at] = mixture->rule[i];
        sum += share;
    }
    for (size_t i = 0; i < out.n; i++)
        out.share[i] /= sum;
    return out;
}

/* A point of the polygon `hull`, whose upper vertices the rules achieve. */
static mel_mixture mix_corners(const mel_upper_boundary *hull, const mel_rule *rule, mel_point point)
{
    const mel_corner_mix blend = mel_boundary_blend(hull, point);
    mel_mixture mixture = { .n = blend.n };
    for (size_t i = 0; i < blend.n; i++) {
        const size_t v = blend.vertex[i];
        mixture.share[i] = blend.share[i];
        if (v == 0)
            mixture.rule[i] = rule[hull->n_edges];
        else
            mixture.rule[i] = v < hull->n_edges ? opposite(rule[v]) : rule[v - hull->n_edges];
    }
    return tidy(&mixture);
}

mel_status mel_face_achieve(mel_mixture *out, const mel_face *face, mel_point point, mel_error *err)
{
    const double near = 1e-9;
    if (!isfinite(point.tp) || !isfinite(point.tn))
        return mel_fail(err, MEL_EINVAL, "(%g, %g) is no point", point.tp, point.tn);
    const mel_point closest = mel_face_closest(face, point);
    if (!(mel_distance(point, closest) <= near))
        return mel_fail(err, MEL_EINVAL,
                        "no classifier achieves TP %.9g, TN %.9g; the closest is TP %.9g, TN %.9g", point.tp,
                        point.tn, closest.tp, closest.tn);
    *out = mix_corners(&face->staircase->hull, face->staircase->rule, closest);
    return MEL_OK;
}

mel_point mel_face_mixture(const mel_face *face, const mel_mixture *mixture)
{
    mel_point sum = { 0.0, 0.0 };
    for (size_t i = 0; i < mixture->n; i++)
        sum = mel_toward(sum, mel_face_rule(face, mixture->rule[i]), mixture->share[i]);
    return sum;
}

bool mel_face_chord(mel_point *a, mel_point *b, const mel_face *face, double dx, double dy)
{
    return mel_boundary_chord(a, b, face->boundary, mel_face_centre(face), (mel_point){ dx, dy });
}

bool mel_face_chord_at(mel_point *a, mel_point *b, const mel_face *face, mel_point through, double dx,
                       double dy)
{
    return mel_boundary_chord(a, b, face->boundary, mel_boundary_closest(face->boundary, through),
                              (mel_point){ dx, dy });
}

mel_point mel_face_random(const mel_face *face, mel_rng *rng)
{
    return mel_boundary_random(face->boundary, rng);
}

/* --- two classes of a space -------------------------------------------------------------------- */

/* P(first)/(P(first) + P(second)); probabilities a little below 0 count as 0. */
static double pair_score(const double *p, size_t first, size_t second)
{
    const double a = fmax(p[first], 0.0), b = fmax(p[second], 0.0);
    return a + b > 0.0 ? a / (a + b) : 0.5;
}

/* By labels each row is of its class; by the model of either class as far as the model says so, and one more
 * row is what is left. */
static mel_status face_of_pair(mel_face **out, const mel_rows *rows, bool by_model, size_t first,
                               size_t second, mel_error *err)
{
    const size_t n = rows->n_rows, n_points = by_model ? 2 * n + 1 : n;
    MEL_AUTO_MEMORY double *score = mel_alloc(n_points, sizeof *score);
    MEL_AUTO_MEMORY double *weight = mel_alloc(n_points, sizeof *weight);
    MEL_AUTO_MEMORY uint8_t *role = mel_alloc(n_points, sizeof *role);
    double both = 0.0;
    if (score == NULL || weight == NULL || role == NULL)
        return mel_fail_memory(err, "a face of two classes");
    for (size_t r = 0; r < n; r++) {
        const double *p = rows->probability + r * rows->n_classes;
        const double s = pair_score(p, first, second);
        if (!by_model) {
            score[r] = s;
            role[r] = rows->label[r] == first    ? MEL_ROW_POSITIVE
                      : rows->label[r] == second ? MEL_ROW_NEGATIVE
                                                 : MEL_ROW_OTHER;
            continue;
        }
        weight[2 * r] = fmax(p[first], 0.0);
        weight[2 * r + 1] = fmax(p[second], 0.0);
        score[2 * r] = score[2 * r + 1] = s;
        role[2 * r] = MEL_ROW_POSITIVE;
        role[2 * r + 1] = MEL_ROW_NEGATIVE;
        both += weight[2 * r] + weight[2 * r + 1];
    }
    if (by_model) {
        score[2 * n] = 0.5;
        weight[2 * n] = fmax((double)n - both, 0.0);
        role[2 * n] = MEL_ROW_OTHER;
    }
    return mel_face_from_scores(out, n_points, score, role, by_model ? weight : NULL, err);
}

mel_status mel_space_face(mel_face **out, const mel_space *space, size_t first, size_t second, mel_error *err)
{
    *out = NULL;
    if (first >= space->n_classes || second >= space->n_classes || first == second)
        return mel_fail(err, MEL_EINVAL, "the face of classes %zu and %zu of %zu", first + 1, second + 1,
                        space->n_classes);
    if (space->n_groups > 1)
        return mel_fail(err, MEL_EINVAL, "two-class faces are for spaces without groups, this one has %zu",
                        space->n_groups);
    return face_of_pair(out, &space->rows.rows, space->evidence == MEL_BY_MODEL, first, second, err);
}
