/* The well-known metrics that come closest to one on a face. */
#include "rank/rank.h"
#include "space/shared.h"

#include <stdlib.h>
#include <string.h>

double *mel_closest_pairs(const mel_face *face)
{
    const size_t n = MEL_CLOSEST_PAIRS;
    double *points = mel_alloc(4 * n, sizeof *points);
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (size_t i = 0; points != NULL && i < 2 * n; i++) {
        const mel_point at = mel_face_random(face, &rng); /* a first one, its second, the next first one */
        double *to = points + 2 * (i / 2 + i % 2 * n);
        to[0] = at.tp;
        to[1] = at.tn;
    }
    return points;
}

/* The pairs, and how the well-known metrics order them. */
typedef struct {
    double points[4 * MEL_CLOSEST_PAIRS];
    int8_t order[MEL_FIXED_NEIGHBOURS * MEL_CLOSEST_PAIRS];
} ordered_pairs;

static mel_status make_pairs(void **out, const mel_face *face, uint32_t how, mel_error *err)
{
    (void)how;
    *out = NULL;
    const size_t n = MEL_CLOSEST_PAIRS;
    MEL_AUTO_MEMORY ordered_pairs *pairs = mel_alloc(1, sizeof *pairs);
    MEL_AUTO_MEMORY double *points = mel_closest_pairs(face);
    if (pairs == NULL || points == NULL)
        return mel_fail_memory(err, "random pairs");
    memcpy(pairs->points, points, sizeof pairs->points);
    TRY(mel_neighbours_order(pairs->order, mel_face_positives(face), n, pairs->points, pairs->points + 2 * n,
                             err));
    *out = pairs;
    pairs = NULL;
    return MEL_OK;
}

mel_status mel_closest_metrics(mel_neighbour *out, size_t n_out, size_t *n_found, const mel_metric *metric,
                               const mel_face *face, mel_error *err)
{
    const void *noted = NULL;
    *n_found = 0;
    TRY(mel_face_noted(&noted, face, MEL_FACE_PAIRS, make_pairs, 0, err));
    const ordered_pairs *pairs = noted;
    return mel_metric_neighbours(out, n_out, n_found, metric, mel_face_positives(face), MEL_CLOSEST_PAIRS,
                                 pairs->points, pairs->points + 2 * (size_t)MEL_CLOSEST_PAIRS, pairs->order,
                                 err);
}
