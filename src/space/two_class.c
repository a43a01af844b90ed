/* Two-class faces of the diagonal of a space: planar faces whose further classes count in the total only. */
#include "space/face.h"
#include "space/sample.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>

/* P(first)/(P(first) + P(second)); probabilities a little below 0 count as 0. */
static double pair_score(const double *p, size_t first, size_t second)
{
    const double a = fmax(p[first], 0.0), b = fmax(p[second], 0.0);
    return a + b > 0.0 ? a / (a + b) : 0.5;
}

/* Scores and roles of a face's rows, and their weights where these are not all 1. */
typedef struct {
    double *score, *weight;
    uint8_t *role;
} pair_rows;

static void free_pair(pair_rows *pair)
{
    free(pair->score);
    free(pair->weight);
    free(pair->role);
}

static mel_status face_by_labels(mel_face **out, const mel_sample *rows, size_t first, size_t second,
                                 mel_error *err)
{
    const size_t n = rows->n_rows;
    pair_rows pair = { .score = mel_alloc(n, sizeof *pair.score), .role = mel_alloc(n, sizeof *pair.role) };
    mel_status status = MEL_OK;
    if (pair.score == NULL || pair.role == NULL)
        status = mel_fail_memory(err, "a face of two classes");
    else {
        for (size_t r = 0; r < n; r++) {
            pair.score[r] = pair_score(rows->probability + r * rows->n_classes, first, second);
            pair.role[r] = rows->label[r] == first    ? MEL_ROW_POSITIVE
                           : rows->label[r] == second ? MEL_ROW_NEGATIVE
                                                      : MEL_ROW_OTHER;
        }
        status = mel_face_from_scores(out, n, pair.score, pair.role, NULL, err);
    }
    free_pair(&pair);
    return status;
}

/* Every row is of either class as far as the model says so, and one more row is what is left. */
static mel_status face_by_model(mel_face **out, const mel_sample *rows, size_t first, size_t second,
                                mel_error *err)
{
    const size_t n = rows->n_rows, most = 2 * n + 1;
    pair_rows pair = { .score = mel_alloc(most, sizeof *pair.score),
                       .weight = mel_alloc(most, sizeof *pair.weight),
                       .role = mel_alloc(most, sizeof *pair.role) };
    mel_status status = MEL_OK;
    if (pair.score == NULL || pair.weight == NULL || pair.role == NULL)
        status = mel_fail_memory(err, "a face of two classes");
    else {
        double both = 0.0;
        for (size_t r = 0; r < n; r++) {
            const double *p = rows->probability + r * rows->n_classes;
            pair.weight[2 * r] = fmax(p[first], 0.0);
            pair.weight[2 * r + 1] = fmax(p[second], 0.0);
            pair.score[2 * r] = pair.score[2 * r + 1] = pair_score(pair.weight + 2 * r, 0, 1);
            pair.role[2 * r] = MEL_ROW_POSITIVE;
            pair.role[2 * r + 1] = MEL_ROW_NEGATIVE;
            both += pair.weight[2 * r] + pair.weight[2 * r + 1];
        }
        pair.score[2 * n] = 0.5;
        pair.weight[2 * n] = fmax((double)n - both, 0.0);
        pair.role[2 * n] = MEL_ROW_OTHER;
        status = mel_face_from_scores(out, most, pair.score, pair.role, pair.weight, err);
    }
    free_pair(&pair);
    return status;
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
    const mel_sample *rows = &((const mel_class_rows *)space->self)->rows;
    return space->evidence == MEL_BY_LABELS ? face_by_labels(out, rows, first, second, err)
                                            : face_by_model(out, rows, first, second, err);
}
