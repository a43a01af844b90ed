/* A space as others see it: layouts, gains, the linear step, mixtures. */
#include "space/space.h"

#include "base/la.h"
#include "space/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const evidence_names[] = { "labels", "model" };
#define N_EVIDENCES (sizeof evidence_names / sizeof *evidence_names)

const char *mel_evidence_name(mel_evidence evidence)
{
    return (size_t)evidence < N_EVIDENCES ? evidence_names[evidence] : "unknown";
}

void mel_space_options_init(mel_space_options *opt)
{
    *opt = (mel_space_options){ .struct_size = sizeof *opt,
                                .kind = MEL_CONFUSION,
                                .coordinates = MEL_OFFDIAGONAL,
                                .evidence = MEL_BY_LABELS };
}

static mel_status read_options(mel_space_options *out, const mel_space_options *opt, mel_error *err)
{
    mel_space_options_init(out);
    const mel_status status = mel_options_take(out, sizeof *out, opt, "space options", err);
    if (status != MEL_OK)
        return status;
    if ((size_t)out->evidence >= N_EVIDENCES)
        return mel_fail(err, MEL_EINVAL, "%d is not a kind of evidence", (int)out->evidence);
    return MEL_OK;
}

mel_status mel_space_new(mel_space **out, size_t n_classes, size_t n_groups, const mel_space_options *opt,
                         mel_error *err)
{
    *out = NULL;
    mel_space_options options;
    mel_status status = read_options(&options, opt, err);
    if (status != MEL_OK)
        return status;
    const mel_layout layout = { options.kind, options.coordinates, n_classes, n_groups > 1 ? n_groups : 0 };
    status = mel_layout_check(&layout, err);
    if (status != MEL_OK)
        return status;
    mel_space *space = mel_alloc_zero(1, sizeof *space);
    if (space == NULL)
        return mel_fail_memory(err, "a space");
    space->layout = layout;
    space->evidence = options.evidence;
    space->threads = mel_thread_count(options.threads);
    space->n_classes = n_classes;
    space->n_groups = n_groups > 1 ? n_groups : 1;
    space->size = mel_layout_size(&layout);
    space->group_size = space->size / space->n_groups;
    space->class_share = mel_alloc_zero(n_classes, sizeof *space->class_share);
    space->cell_share = mel_alloc_zero(space->n_groups * n_classes, sizeof *space->cell_share);
    space->prevalence = n_groups > 1 ? mel_alloc_zero(n_groups * n_classes, sizeof *space->prevalence) : NULL;
    if (space->class_share == NULL || space->cell_share == NULL ||
        (n_groups > 1 && space->prevalence == NULL)) {
        mel_space_free(space);
        return mel_fail_memory(err, "a space");
    }
    *out = space;
    return MEL_OK;
}

void mel_space_finish(mel_space *space)
{
    const size_t k = space->n_classes;
    for (size_t i = 0; i < k; i++) {
        double share = 0.0;
        for (size_t g = 0; g < space->n_groups; g++)
            share += space->cell_share[g * k + i];
        space->class_share[i] = share;
        for (size_t g = 0; space->prevalence != NULL && g < space->n_groups; g++)
            space->prevalence[g * k + i] = space->cell_share[g * k + i] / share;
    }
}

void mel_space_free(mel_space *space)
{
    if (space == NULL)
        return;
    if (space->self != NULL)
        space->ops->free(space->self);
    free(space->class_share);
    free(space->cell_share);
    free(space->prevalence);
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
    if (ws == NULL)
        return;
    free(ws->gain);
    free(ws->confusion);
    free(ws->own);
    free(ws);
}

mel_status mel_workspace_new(mel_workspace **out, const mel_space *space, mel_error *err)
{
    *out = NULL;
    mel_workspace *ws = mel_alloc_zero(1, sizeof *ws);
    if (ws == NULL)
        return mel_fail_memory(err, "the steps of a space");
    const size_t cells = space->n_groups * space->n_classes * space->n_classes;
    ws->gain = mel_alloc(cells, sizeof *ws->gain);
    ws->confusion = mel_alloc(cells, sizeof *ws->confusion);
    mel_status status = ws->gain != NULL && ws->confusion != NULL
                            ? space->ops->new_workspace(&ws->own, space, err)
                            : mel_fail_memory(err, "the steps of a space");
    if (status != MEL_OK) {
        mel_workspace_free(ws);
        return status;
    }
    *out = ws;
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
    space->ops->confusion(ws->confusion, space, first, n, gain, ws->own);
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

static mel_status check_gains(size_t n, const double *gain, mel_error *err)
{
    for (size_t c = 0; c < n; c++)
        if (!isfinite(gain[c]))
            return mel_fail(err, MEL_EINVAL, "gain[%zu] is %g, expected a finite number", c, gain[c]);
    return MEL_OK;
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
    mel_workspace *ws = NULL;
    const mel_status status = mel_workspace_new(&ws, space, err);
    if (ws != NULL)
        mel_space_step(statistics, NULL, space, MEL_ALL_GROUPS, direction, ws);
    mel_workspace_free(ws);
    return status;
}

mel_status mel_space_rule(double *statistics, const mel_space *space, const double *gain, mel_error *err)
{
    const mel_status wrong = check_gains(space->n_groups * space->n_classes * space->n_classes, gain, err);
    if (wrong != MEL_OK)
        return wrong;
    mel_workspace *ws = NULL;
    const mel_status status = mel_workspace_new(&ws, space, err);
    if (ws != NULL)
        mel_space_step_rule(statistics, space, MEL_ALL_GROUPS, gain, ws);
    mel_workspace_free(ws);
    return status;
}

void mel_blend_clear(mel_blend *blend)
{
    free(blend->gain);
    free(blend->share);
    *blend = (mel_blend){ 0 };
}

static mel_status check_blend(const mel_space *space, const mel_blend *blend, mel_error *err)
{
    const double rounding = 1e-9;
    const size_t groups = blend->n_groups > 1 ? blend->n_groups : 1;
    if (blend->n_classes != space->n_classes || groups != space->n_groups)
        return mel_fail(err, MEL_EINVAL,
                        "a mixture for %zu classes and %zu groups on a space of %zu classes and %zu groups",
                        blend->n_classes, blend->n_groups, space->n_classes, space->layout.n_groups);
    double sum = 0.0;
    for (size_t r = 0; r < blend->n_rules; r++) {
        if (!(blend->share[r] >= 0.0))
            return mel_fail(err, MEL_EINVAL, "share[%zu] of a mixture is %g", r, blend->share[r]);
        sum += blend->share[r];
    }
    if (!(fabs(sum - 1.0) <= rounding))
        return mel_fail(err, MEL_EINVAL, "the %zu shares of a mixture sum to %.9g, not 1", blend->n_rules,
                        sum);
    return check_gains(blend->n_rules * groups * blend->n_classes * blend->n_classes, blend->gain, err);
}

mel_status mel_space_blend(double *statistics, const mel_space *space, const mel_blend *blend, mel_error *err)
{
    mel_status status = check_blend(space, blend, err);
    if (status != MEL_OK)
        return status;
    const size_t cells = space->n_groups * space->n_classes * space->n_classes;
    double *one = mel_alloc(space->size, sizeof *one);
    mel_workspace *ws = NULL;
    status = one != NULL ? mel_workspace_new(&ws, space, err) : mel_fail_memory(err, "a mixture");
    if (ws != NULL) {
        memset(statistics, 0, space->size * sizeof *statistics);
        for (size_t r = 0; r < blend->n_rules; r++) {
            mel_space_step_rule(one, space, MEL_ALL_GROUPS, blend->gain + r * cells, ws);
            mel_axpy(space->size, blend->share[r], one, statistics);
        }
    }
    mel_workspace_free(ws);
    free(one);
    return status;
}
