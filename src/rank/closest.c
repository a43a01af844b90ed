/* The well-known metrics that come closest to one on a face. */
#include "rank/rank.h"
#include "space/shared.h"

#include <stdlib.h>

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

mel_status mel_closest_metrics(mel_neighbour *out, size_t n_out, size_t *n_found, const mel_metric *metric,
                               const mel_face *face, mel_error *err)
{
    const size_t n = MEL_CLOSEST_PAIRS;
    *n_found = 0;
    double *points = mel_closest_pairs(face);
    if (points == NULL)
        return mel_fail_memory(err, "random pairs");
    const mel_status status = mel_metric_neighbours(out, n_out, n_found, metric, mel_face_positives(face), n,
                                                    points, points + 2 * n, err);
    free(points);
    return status;
}
