/* The thesis' way: slopes of the metric around the current mixture by binary searches, then Frank-Wolfe
 * steps. */
#include "optimise/comparisons.h"

#include <math.h>
#include <string.h>

double *mel_slopes_grow(mel_comparisons *s, double step)
{
    const size_t each = s->m * s->k;
    if (s->n_rules == s->capacity) {
        const size_t more = s->capacity == 0 ? 16 : 2 * s->capacity;
        if (!mel_grow((void **)&s->weight, more * each, sizeof *s->weight) ||
            !mel_grow((void **)&s->step_to, more, sizeof *s->step_to))
            return NULL;
        s->capacity = more;
    }
    s->step_to[s->n_rules] = step;
    return s->weight + s->n_rules++ * each;
}

/* The current mixture with a little of the rule that, in one group, decides between class 0 and class j by
 * weights (cos, sin) of an angle and leaves other groups as they are. */
static void probe_angle(double *confusion, const mel_comparisons *s, size_t pair, double angle)
{
    const size_t k = s->k, group = pair / (k - 1), j = pair % (k - 1) + 1;
    const double radius = s->opt.radius, each = radius / (double)s->rows.n_rows;
    memcpy(confusion, s->confusion, mel_compare_cells(s) * sizeof *confusion);
    for (size_t c = group * k * k; c < (group + 1) * k * k; c++)
        confusion[c] *= 1.0 - radius;
    for (size_t i = 0; i < s->rows.n_rows; i++) {
        const double *p = s->rows.probability + i * k;
        if (mel_compare_group(s, i) == group)
            confusion[(group * k + s->rows.label[i]) * k + (sin(angle) * p[j] > cos(angle) * p[0] ? j : 0)] +=
                each;
    }
}

void mel_slopes_ask(mel_comparisons *s)
{
    const double mid = 0.5 * (s->low[s->pair] + s->high[s->pair]), width = s->high[s->pair] - s->low[s->pair];
    double apart = 0.25 * width;
    for (int doubling = 0; doubling < MEL_DOUBLINGS && apart < 2.0; doubling++, apart *= 2.0) {
        probe_angle(s->side[0], s, s->pair, fmin(mid + apart, 2.0 * atan(1.0)));
        probe_angle(s->side[1], s, s->pair, fmax(mid - apart, 0.0));
        if (memcmp(s->side[0], s->side[1], mel_compare_cells(s) * sizeof **s->side) != 0)
            break;
    }
    mel_compare_open(s);
}

/* All slopes of this round are known: a step to the rule that is best for them. */
static mel_status frank_wolfe(mel_comparisons *s, mel_error *err)
{
    const double step = 2.0 / (s->moves + 3.0);
    double *gain = mel_slopes_grow(s, step);
    if (gain == NULL)
        return mel_fail_memory(err, "a mixture");
    for (size_t g = 0; g < s->m; g++) {
        gain[g * s->k] = 1.0;
        for (size_t j = 1; j < s->k; j++) {
            const size_t pair = g * (s->k - 1) + j - 1;
            gain[g * s->k + j] = tan(0.5 * (s->low[pair] + s->high[pair]));
            s->low[pair] = 0.0;
            s->high[pair] = 2.0 * atan(1.0);
        }
    }
    for (size_t c = 0; c < mel_compare_cells(s); c++)
        s->confusion[c] *= 1.0 - step;
    mel_compare_add_rule(s->confusion, s, gain, step);
    s->moves++;
    s->pair = s->bit = 0;
    return MEL_OK;
}

mel_status mel_slopes_tell(mel_comparisons *s, mel_answer answer, mel_error *err)
{
    const double low = s->low[s->pair], high = s->high[s->pair], mid = 0.5 * (low + high);
    if (answer == MEL_ANSWER_A) {
        s->low[s->pair] = mid;
    } else if (answer == MEL_ANSWER_B) {
        s->high[s->pair] = mid;
    } else {
        s->low[s->pair] = 0.5 * (low + mid);
        s->high[s->pair] = 0.5 * (mid + high);
    }
    if (++s->bit < s->opt.bits)
        return MEL_OK;
    s->bit = 0;
    return ++s->pair < s->n_free ? MEL_OK : frank_wolfe(s, err);
}
