/* What the files of this room know about a space of k classes, and the step that everything is built on.
 *
 * The set of statistics of a space with groups is the product of the sets of its groups: a step can
 * be taken in one group alone, at the cost of its rows. Spaces without groups have one. */
#ifndef MEL_SPACE_SPACE_H
#define MEL_SPACE_SPACE_H

#include "base/internal.h"
#include "melicit/space.h"

/* Where a group is asked for: all of them, one after the other as in the layout. */
#define MEL_ALL_GROUPS SIZE_MAX

/* Memory of one caller's steps, so that a loop of steps allocates nothing. Not for two threads at once. */
typedef struct {
    double *gain;      /* n_groups x k x k */
    double *confusion; /* n_groups x k x k */
    void *own;         /* of the kind of space; one block for free() */
} mel_workspace;

/* What differs between samples and populations. */
typedef struct {
    void (*free)(void *self);
    mel_status (*new_workspace)(void **own, const mel_space *space, mel_error *err);
    /* Confusion entries (shares of the grand total, n x k x k) that the rules with these gains (n x k x k)
     * achieve in the groups first, ..., first + n - 1. */
    void (*confusion)(double *confusion, const mel_space *space, size_t first, size_t n, const double *gain,
                      void *own);
} mel_space_ops;

struct mel_space {
    const mel_space_ops *ops;
    void *self; /* mel_class_rows */
    mel_layout layout;
    mel_evidence evidence;
    int threads;
    size_t n_classes, n_groups; /* n_groups >= 1 */
    size_t n_rows;
    bool population;         /* rows are a grid (population.c), which is the space's own */
    double *own_probability; /* NULL: lent by the caller */
    uint32_t *own_label;
    size_t size, group_size; /* coordinates of all groups and of one */
    double *class_share;     /* k: P(Y = i) */
    double *cell_share;      /* n_groups x k: P(Y = i, G = g) */
    double *prevalence;      /* n_groups x k: P(G = g | Y = i); NULL without groups */
};

/* Room for a space of n_groups >= 1 and its shares; the caller fills in cell_share, the kind's fields and
 * calls mel_space_finish. */
mel_status mel_space_new(mel_space **out, size_t n_classes, size_t n_groups, const mel_space_options *opt,
                         mel_error *err);
/* class_share and prevalence from cell_share. */
void mel_space_finish(mel_space *space);

mel_status mel_workspace_new(mel_workspace **out, const mel_space *space, mel_error *err);
void mel_workspace_free(mel_workspace *ws);

/* The linear step in one group (or MEL_ALL_GROUPS), without checks: direction, statistics and gain (k x k;
 * NULL when it is not wanted) are those of that group alone, or of all. Any number of threads may call it at
 * once with workspaces of their own. A direction of zeros predicts the first class everywhere. */
void mel_space_step(double *statistics, double *gain, const mel_space *space, size_t group,
                    const double *direction, mel_workspace *ws);
/* The same for a rule given by its gains. */
void mel_space_step_rule(double *statistics, const mel_space *space, size_t group, const double *gain,
                         mel_workspace *ws);
/* mel_space_gains for one group (or MEL_ALL_GROUPS). */
void mel_space_step_gains(double *gain, const mel_space *space, size_t group, const double *direction);
/* Statistics from the confusion entries of the groups first, ..., first + n - 1. */
void mel_space_read(double *statistics, const mel_space *space, size_t first, size_t n,
                    const double *confusion);
/* The largest <direction, statistics> is a proven bound on what any classifier can do: the
 * evidence is the one that the rules maximise (MEL_BY_MODEL, populations). */
bool mel_space_exact(const mel_space *space);

#endif
