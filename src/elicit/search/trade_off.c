/* The search for the trade-off of a fair metric alone. */
#include "elicit/search/fair.h"

#include "base/la.h"
#include "metric/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Gradients whose directions differ by less say nothing. */
static const double parallel = 1e-9;

mel_status mel_trade_off_init(mel_trade_off *trade, size_t q, mel_error *err)
{
    *trade = (mel_trade_off){ .q = q, .arc = { 0.0, 1.0 } };
    trade->room = mel_alloc_zero(3 * q, sizeof *trade->room);
    if (trade->room == NULL)
        return mel_fail_memory(err, "the search for the trade-off");
    trade->mistakes = trade->room;
    trade->apart = trade->mistakes + q;
    trade->middle = trade->apart + q;
    return MEL_OK;
}

void mel_trade_off_clear(mel_trade_off *trade)
{
    free(trade->room);
}

/* --- which group --------------------------------------------------------------------------------- */

/* How well two gradients can be told apart: the sine of their angle, less where one outweighs the other. */
static double contrast(size_t q, const double *x, const double *y)
{
    const double nx = mel_norm2(q, x), ny = mel_norm2(q, y);
    if (!(nx > 0.0) || !(ny > 0.0))
        return 0.0;
    const double cosine = mel_dot(q, x, y) / (nx * ny);
    return sqrt(fmax(1.0 - cosine * cosine, 0.0)) * fmin(nx / ny, ny / nx);
}

void mel_trade_off_gradients(double *mistakes, double *apart, const mel_trade_off_scene *scene, size_t group,
                             size_t axis)
{
    const size_t q = scene->q, block = scene->quadratic ? q * q : q;
    const double step = scene->radius - scene->inner;
    for (size_t i = 0; i < q; i++) {
        mistakes[i] = scene->tau[group * q + i] * scene->weights[i];
        apart[i] = 0.0;
    }
    for (size_t v = 0; v < scene->groups; v++) {
        if (v == group)
            continue;
        const size_t pair = mel_group_pair(scene->groups, v < group ? v : group, v < group ? group : v);
        const double *weights = scene->weights + q + pair * block;
        for (size_t i = 0; i < q; i++)
            apart[i] += scene->quadratic ? step * weights[i * q + axis] : weights[i];
    }
}

bool mel_trade_off_choose(mel_trade_off *trade, const mel_trade_off_scene *scene)
{
    const size_t q = scene->q, axes = scene->quadratic ? q : 1;
    double best = -1.0;
    for (size_t group = 0; group < scene->groups; group++)
        for (size_t axis = 0; axis < axes; axis++) {
            mel_trade_off_gradients(trade->mistakes, trade->apart, scene, group, axis);
            const double told = contrast(q, trade->mistakes, trade->apart);
            if (told > best) {
                best = told;
                trade->group = group;
                trade->axis = axis;
            }
        }
    mel_trade_off_gradients(trade->mistakes, trade->apart, scene, trade->group, trade->axis);
    memcpy(trade->middle, scene->centre, q * sizeof *trade->middle);
    if (scene->quadratic) {
        trade->radius = scene->inner;
        trade->middle[trade->axis] += scene->radius - scene->inner;
        return best > parallel;
    }
    /* The largest sphere in the ball all of whose points are above the centre. */
    trade->radius = scene->radius / (1.0 + sqrt((double)q));
    for (size_t i = 0; i < q; i++)
        trade->middle[i] += trade->radius;
    return best > parallel;
}

/* --- directions ---------------------------------------------------------------------------------- */

void mel_trade_off_direction(double *direction, const mel_trade_off *trade, double lambda)
{
    for (size_t i = 0; i < trade->q; i++)
        direction[i] = -((1.0 - lambda) * trade->mistakes[i] + lambda * trade->apart[i]);
    const double norm = mel_norm2(trade->q, direction);
    mel_scale(trade->q, norm > 0.0 ? 1.0 / norm : 0.0, direction);
}

double mel_trade_off_of(const mel_trade_off *trade, const double *mistakes, const double *apart)
{
    /* The way of the best point, up to its length: (apart - mistakes) without its share along the slope. */
    const size_t q = trade->q;
    const double lambda = mel_arc_middle(trade->arc);
    double along = 0.0, squares = 0.0;
    for (size_t i = 0; i < q; i++) {
        const double slope = (1.0 - lambda) * trade->mistakes[i] + lambda * trade->apart[i];
        along += slope * (trade->apart[i] - trade->mistakes[i]);
        squares += slope * slope;
    }
    double at_mistakes = 0.0, at_apart = 0.0;
    for (size_t i = 0; i < q && squares > 0.0; i++) {
        const double slope = (1.0 - lambda) * trade->mistakes[i] + lambda * trade->apart[i];
        const double way = trade->apart[i] - trade->mistakes[i] - slope * along / squares;
        at_mistakes += way * mistakes[i];
        at_apart += way * apart[i];
    }
    const double change = at_mistakes - at_apart;
    const double found = change != 0.0 ? at_mistakes / change : lambda;
    return isfinite(found) ? fmin(fmax(found, 0.0), 1.0) : lambda;
}
