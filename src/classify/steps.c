/* What all kinds of linear steps share. */
#include "classify/steps.h"

#include "space/space.h"

#include <stdlib.h>
#include <string.h>

void mel_steps_free(mel_steps *steps)
{
    if (steps == NULL)
        return;
    if (steps->self != NULL)
        steps->ops->free(steps->self);
    free(steps->mass);
    free(steps);
}

mel_status mel_steps_new(mel_steps **out, const mel_steps_ops *ops, void *self, const mel_steps *shape,
                         mel_error *err)
{
    *out = NULL;
    mel_steps *steps = mel_alloc_zero(1, sizeof *steps);
    double *mass = mel_alloc_zero(mel_steps_size(shape) / shape->n_decisions, sizeof *mass);
    if (steps == NULL || mass == NULL) {
        free(steps);
        free(mass);
        ops->free(self);
        return mel_fail_memory(err, "the steps of a rule");
    }
    *steps = *shape;
    steps->ops = ops;
    steps->self = self;
    steps->mass = mass;
    *out = steps;
    return MEL_OK;
}

void mel_steps_constant(double *shares, double *rule, const mel_steps *steps, size_t block, size_t j)
{
    const size_t d = steps->n_decisions, rows = mel_steps_block_size(steps) / d;
    memset(shares, 0, rows * d * sizeof *shares);
    memset(rule, 0, mel_steps_rule_size(steps) * sizeof *rule);
    for (size_t r = 0; r < rows; r++)
        shares[r * d + j] = steps->mass[block * rows + r];
    for (size_t e = 0; e < steps->n_evidence; e++)
        rule[e * d + j] = 1.0;
}

mel_status mel_steps_of_rows(mel_steps **out, const mel_step_rows *rows, mel_error *err)
{
    return rows->n_classes == 2 && !rows->refer && rows->engine == NULL ? mel_steps_sorted(out, rows, err)
                                                                        : mel_steps_rows(out, rows, err);
}

mel_status mel_steps_of_space(mel_steps **out, const mel_space *space, mel_error *err)
{
    const mel_class_rows *of = &space->rows;
    const mel_step_rows rows = { .n_rows = space->n_rows,
                                 .n_classes = space->n_classes,
                                 .n_groups = space->n_groups,
                                 .probability = of->rows.probability,
                                 .label = of->rows.label,
                                 .group = of->rows.group,
                                 .evidence = space->evidence,
                                 .threads = space->threads };
    return mel_steps_of_rows(out, &rows, err);
}

/* How many steps it will take is not known: the share only says that it goes on. */
mel_status mel_steps_report(mel_steps *steps, mel_error *err)
{
    const double taken = (double)steps->taken;
    if (steps->failure.code != MEL_OK)
        return mel_fail(err, steps->failure.code, "%s", steps->failure.text);
    return mel_report_now_and_then(&steps->progress, &steps->asked, "looking for the best rule",
                                   taken / (taken + 50.0), err);
}
