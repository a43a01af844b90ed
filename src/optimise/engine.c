/* Passes over rows of this process, whoever asks for them. */
#include "melicit/engine.h"

#include "classify/steps.h"
#include "model/objective.h"
#include "optimise/optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the last passes were prepared with is kept: searches ask for many of one kind. */
struct mel_held_rows {
    mel_rows rows;
    int threads;
    mel_steps *steps; /* for decisions of this shape */
    double shape[MEL_DECIDE_BLOCK];
    mel_packed *packed; /* for moments of this size */
    mel_weight_size size;
};

void mel_held_rows_free(mel_held_rows *held)
{
    if (held == NULL)
        return;
    mel_steps_free(held->steps);
    mel_packed_free(held->packed);
    free(held);
}

mel_status mel_rows_hold(mel_held_rows **out, const mel_rows *rows, int threads, mel_error *err)
{
    *out = NULL;
    if (rows->n_classes < 2 || rows->label == NULL || (rows->n_groups > 1 && rows->group == NULL))
        return mel_fail(err, MEL_EINVAL,
                        "rows need labels of two or more classes, and groups where there are some");
    const mel_rule_rows checked = { .n_rows = rows->n_rows,
                                    .n_classes = rows->n_classes,
                                    .n_groups = rows->n_groups > 1 ? rows->n_groups : 0,
                                    .probability = rows->probability,
                                    .label = rows->label,
                                    .group = rows->group };
    if (rows->probability != NULL && rows->n_rows > 0)
        TRY(mel_rule_rows_check(&checked, err));
    if (rows->x != NULL && rows->x->n_rows != rows->n_rows)
        return mel_fail(err, MEL_EINVAL, "features of %zu rows, labels of %zu", rows->x->n_rows,
                        rows->n_rows);
    if (rows->x != NULL && rows->n_rows > 0)
        TRY(mel_model_check_rows(rows->x, rows->label, rows->weight, err));
    mel_held_rows *held = mel_alloc_zero(1, sizeof *held);
    if (held == NULL)
        return mel_fail_memory(err, "rows");
    held->rows = *rows;
    held->threads = threads;
    *out = held;
    return MEL_OK;
}

static mel_status answer_decisions(double *out, mel_held_rows *held, const mel_pass *pass, mel_error *err)
{
    const mel_rows *rows = &held->rows;
    const double *in = pass->in;
    const bool whole = pass->n_in > MEL_DECIDE_HEAD;
    const size_t own_groups = rows->n_groups > 1 ? rows->n_groups : 1;
    /* A question about everybody is one about one group. */
    const size_t groups = whole && in[MEL_DECIDE_GROUPS] == 1.0 ? 1 : own_groups;
    const size_t k = whole ? (size_t)in[MEL_DECIDE_CLASSES] : 0,
                 d = whole ? (size_t)in[MEL_DECIDE_DECISIONS] : 0;
    const bool one_block = whole && in[MEL_DECIDE_ONE_BLOCK] != 0.0;
    const size_t blocks = one_block ? 1 : groups, block = whole ? (size_t)in[MEL_DECIDE_BLOCK] : 0;
    if (k != rows->n_classes || (d != k && d != k + 1) || (size_t)in[MEL_DECIDE_GROUPS] != groups ||
        block >= blocks || pass->n_in != MEL_DECIDE_HEAD + k * d || pass->n_out != groups / blocks * k * d)
        return mel_fail(err, MEL_EINVAL, "a pass about decisions on other classes or groups");
    bool same_shape = held->steps != NULL;
    for (size_t i = 0; i < MEL_DECIDE_BLOCK && same_shape; i++)
        same_shape = held->shape[i] == in[i];
    if (!same_shape) {
        const mel_step_rows own = { .n_rows = rows->n_rows,
                                    .n_classes = k,
                                    .n_groups = groups,
                                    .probability = rows->probability,
                                    .label = rows->label,
                                    .group = groups > 1 ? rows->group : NULL,
                                    .evidence = in[MEL_DECIDE_EVIDENCE] == MEL_BY_MODEL ? MEL_BY_MODEL
                                                                                        : MEL_BY_LABELS,
                                    .one_block = one_block,
                                    .refer = d > k,
                                    .threads = held->threads };
        mel_steps_free(held->steps);
        held->steps = NULL;
        TRY(mel_steps_rows(&held->steps, &own, err));
        memcpy(held->shape, in, sizeof held->shape);
    }
    mel_steps_pass(out, held->steps, block, in + MEL_DECIDE_HEAD);
    return MEL_OK;
}

static mel_status answer_moments(double *out, mel_held_rows *held, const mel_pass *pass, mel_error *err)
{
    const mel_rows *rows = &held->rows;
    mel_weight_size size;
    if (!mel_packed_shape(&size, pass) || size.k != rows->n_classes)
        return mel_fail(err, MEL_EINVAL, "a pass about moments of other classes");
    size.threads = held->threads;
    if (held->packed == NULL || held->size.n_directions != size.n_directions ||
        held->size.whole != size.whole) {
        const mel_weight_rows train = { .n_rows = rows->n_rows,
                                        .probability = rows->probability,
                                        .label = rows->label };
        mel_packed_free(held->packed);
        held->packed = NULL;
        TRY(mel_packed_new(&held->packed, &size, &train, err));
        held->size = size;
    }
    return mel_packed_answer(out, held->packed, pass, err);
}

mel_status mel_rows_pass(double *out, mel_held_rows *held, const mel_pass *pass, mel_error *err)
{
    const mel_rows *rows = &held->rows;
    const bool trains = pass->kind == MEL_PASS_FACTS || pass->kind == MEL_PASS_LOSS;
    if (trains ? rows->x == NULL : rows->probability == NULL)
        return mel_fail(err, MEL_EINVAL,
                        trains ? "rows without features to train on" : "rows without probabilities");
    if (trains && pass->n_in > 0 && pass->in[0] != (double)rows->n_classes)
        return mel_fail(err, MEL_EINVAL, "a pass about %g classes over rows of %zu", pass->in[0],
                        rows->n_classes);
    if (rows->n_rows == 0) { /* a part that nothing is in */
        memset(out, 0, pass->n_out * sizeof *out);
        return MEL_OK;
    }
    switch (pass->kind) {
    case MEL_PASS_FACTS:
    case MEL_PASS_LOSS:
        return mel_model_pass(out, pass, rows->x, rows->label, rows->weight, held->threads, err);
    case MEL_PASS_DECISIONS:
        return answer_decisions(out, held, pass, err);
    case MEL_PASS_MOMENTS:
        return answer_moments(out, held, pass, err);
    }
    return mel_fail(err, MEL_EINVAL, "%d is not a kind of pass", (int)pass->kind);
}
