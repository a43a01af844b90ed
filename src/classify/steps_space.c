/* Linear steps of a space. */
#include "classify/steps.h"

#include "space/space.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const mel_space *space;
    mel_workspace *ws;
} space_steps;

static void free_space(void *self)
{
    space_steps *s = self;
    mel_workspace_free(s->ws);
    free(s);
}

static void measure(double *shares, mel_steps *steps, size_t block, const double *rule)
{
    const space_steps *s = steps->self;
    mel_space_confusion(shares, s->space, block, 1, rule, s->ws);
}

static void step(double *shares, double *rule, mel_steps *steps, size_t block, const double *gain)
{
    memcpy(rule, gain, mel_steps_rule_size(steps) * sizeof *rule);
    measure(shares, steps, block, rule);
}

static const mel_steps_ops ops = { free_space, step, measure };

mel_status mel_steps_space(mel_steps **out, const mel_space *space, mel_error *err)
{
    *out = NULL;
    space_steps *s = mel_alloc_zero(1, sizeof *s);
    if (s == NULL)
        return mel_fail_memory(err, "the steps of a rule");
    s->space = space;
    mel_status status = mel_workspace_new(&s->ws, space, err);
    if (status != MEL_OK) {
        free_space(s);
        return status;
    }
    const mel_steps shape = { .n_groups = space->n_groups,
                              .n_classes = space->n_classes,
                              .n_decisions = space->n_classes,
                              .n_blocks = space->n_groups,
                              .n_evidence = space->n_classes,
                              .exact = mel_space_exact(space) };
    status = mel_steps_new(out, &ops, s, &shape, err);
    if (status == MEL_OK)
        memcpy((*out)->mass, space->cell_share,
               space->n_groups * space->n_classes * sizeof *space->cell_share);
    return status;
}
