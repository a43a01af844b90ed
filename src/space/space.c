/* A space as others see it: layouts, gains, the linear step. */
#include "space/space.h"

#include "base/la.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const evidence_names[] = { "labels", "model" };

const char *mel_evidence_name(mel_evidence evidence)
{
    return (size_t)evidence < sizeof evidence_names / sizeof *evidence_names ? evidence_names[evidence]
                                                                             : "unknown";
}

void mel_space_options_init(mel_space_options *opt)
{
    *opt = (mel_space_options){ .struct_size = sizeof *opt,
                                .kind = MEL_CONFUSION,
                                .coordinates = MEL_OFFDIAGONAL,
                                .evidence = MEL_BY_LABELS };
}

void mel_space_free(mel_space *space)
{
    if (space == NULL)
        return;
    free(space->rows.order);
    free(space->rows.slice);
    free(space->rows.group_slice);
    free(space->class_share);
    free(space->own_probability);
    free(space->own_label);
    free(space);
}

const mel_layout *mel_space_layout(const mel_space *space)
{
    return &space->layout;
}

size_t mel_space_size(const mel_space *space)
{
    return space->size;
}

size_t mel_space_rows(const mel_space *space)
{
    return space->population ? 0 : space->n_rows;
}

mel_evidence mel_space_evidence(const mel_space *space)
{
    return space->evidence;
}

const double *mel_space_class_share(const mel_space *space)
{
    return space->class_share;
}

const double *mel_space_prevalence(const mel_space *space)
{
    return space->prevalence;
}

bool mel_space_exact(const mel_space *space)
{
    return space->evidence == MEL_BY_MODEL;
}

void mel_workspace_free(mel_workspace *ws)
{
    free(ws); /* one block */
}

mel_status mel_workspace_new(mel_workspace **out, const mel_space *space, mel_error *err)
{
    const size_t k = space->n_classes, cells = space->n_groups * k * k, line = 64 / sizeof(double);
    const size_t threads = (size_t)space->threads, n_slices = space->rows.group_slice[space->n_groups];
    const size_t per_thread = (mel_block_scratch(k) + k * k + 2 * line) / line * line;
    const size_t sums = mel_slices_at_a_time(n_slices, k * k) * k * k;
    const size_t bytes = sizeof(mel_workspace) + (2 * cells + threads * per_thread + sums) * sizeof(double);
    mel_workspace *ws = *out = mel_alloc(1, bytes + threads * mel_block_rows(k) * sizeof(uint32_t));
    if (ws == NULL)
        return mel_fail_memory(err, "the steps of a space");
    ws->gain = (double *)(ws + 1);
    ws->confusion = ws->gain + cells;
    ws->thread = ws->confusion + cells;
    ws->per_thread = per_thread;
    ws->room = ws->thread + threads * per_thread;
    ws->prediction = (uint32_t *)(ws->room + sums);
    return MEL_OK;
}

/* P(Y = i, G = g) where statistics are rates, 1 where they are confusion entries. */
static double scale_of(const mel_space *space, size_t group, size_t cell)
{
    const size_t k = space->n_classes;
    return space->layout.kind == MEL_RATES ? space->cell_share[group * k + cell / k] : 1.0;
}

void mel_space_read(double *statistics, const mel_space *space, size_t first, size_t n,
                    const double *confusion)
{
    const size_t k = space->n_classes, q = space->group_size;
    for (size_t g = 0; g < n; g++)
        for (size_t c = 0; c < q; c++) {
            const size_t cell = mel_layout_cell(&space->layout, c);
            statistics[g * q + c] = confusion[g * k * k + cell] / scale_of(space, first + g, cell);
        }
}

/* A power of two that makes numbers of very large or very small size moderate, else 1: the rules stay
 * the same and nothing overflows. */
static double moderating(size_t n, const double *x)
{
    const double largest = mel_norm_inf(n, x), moderate = 0x1p300;
    if (largest == 0.0 || !isfinite(largest) || (largest < moderate && largest > 1.0 / moderate))
        return 1.0;
    return scalbn(1.0, -ilogb(largest) > 1000 ? 1000 : -ilogb(largest));
}

static void group_range(const mel_space *space, size_t group, size_t *first, size_t *n)
{
    *first = group == MEL_ALL_GROUPS ? 0 : group;
    *n = group == MEL_ALL_GROUPS ? space->n_groups : 1;
}

void mel_space_step_gains(double *gain, const mel_space *space, size_t group, const double *direction)
{
    const size_t cells = space->n_classes * space->n_classes, q = space->group_size;
    size_t first = 0, n = 0;
    group_range(space, group, &first, &n);
    const double moderate = moderating(n * q, direction);
    memset(gain, 0, n * cells * sizeof *gain);
    for (size_t g = 0; g < n; g++)
        for (size_t c = 0; c < q; c++) {
            const size_t cell = mel_layout_cell(&space->layout, c);
            gain[g * cells + cell] = direction[g * q + c] * moderate / scale_of(space, first + g, cell);
        }
}

void mel_space_step_rule(double *statistics, const mel_space *space, size_t group, const double *gain,
                         mel_workspace *ws)
{
    size_t first = 0, n = 0;
    group_range(space, group, &first, &n);
    mel_space_confusion(ws->confusion, space, first, n, gain, ws);
    mel_space_read(statistics, space, first, n, ws->confusion);
}

void mel_space_step(double *statistics, double *gain, const mel_space *space, size_t group,
                    const double *direction, mel_workspace *ws)
{
    double *to = gain != NULL ? gain : ws->gain;
    mel_space_step_gains(to, space, group, direction);
    mel_space_step_rule(statistics, space, group, to, ws);
}

void mel_space_centre(double *out, const mel_space *space)
{
    const size_t k = space->n_classes, q = space->group_size;
    for (size_t g = 0; g < space->n_groups; g++)
        for (size_t c = 0; c < q; c++) {
            const size_t cell = mel_layout_cell(&space->layout, c);
            const double share = space->cell_share[g * k + cell / k];
            out[g * q + c] = (space->layout.kind == MEL_RATES ? 1.0 : share) / (double)k;
        }
}

void mel_space_gains(double *gain, const mel_space *space, const double *direction)
{
    mel_space_step_gains(gain, space, MEL_ALL_GROUPS, direction);
}

mel_status mel_space_linear(double *statistics, const mel_space *space, const double *direction,
                            mel_error *err)
{
    bool zero = true;
    for (size_t c = 0; c < space->size; c++) {
        if (!isfinite(direction[c]))
            return mel_fail(err, MEL_EINVAL, "direction[%zu] is %g, expected a finite number", c,
                            direction[c]);
        zero = zero && direction[c] == 0.0;
    }
    if (zero)
        return mel_fail(err, MEL_EINVAL, "a direction of zeros: every classifier is best");
    MEL_AUTO(mel_workspace) *ws = NULL;
    TRY(mel_workspace_new(&ws, space, err));
    mel_space_step(statistics, NULL, space, MEL_ALL_GROUPS, direction, ws);
    return MEL_OK;
}

mel_status mel_space_rule(double *statistics, const mel_space *space, const double *gain, mel_error *err)
{
    const size_t n = space->n_groups * space->n_classes * space->n_classes;
    MEL_AUTO(mel_workspace) *ws = NULL;
    for (size_t c = 0; c < n; c++)
        if (!isfinite(gain[c]))
            return mel_fail(err, MEL_EINVAL, "gain[%zu] is %g, expected a finite number", c, gain[c]);
    TRY(mel_workspace_new(&ws, space, err));
    mel_space_step_rule(statistics, space, MEL_ALL_GROUPS, gain, ws);
    return MEL_OK;
}

void mel_blend_clear(mel_blend *blend)
{
    free(blend->gain);
    free(blend->share);
    *blend = (mel_blend){ 0 };
}
