/* What the files of this room know about a space of k classes, and the step that everything is built on.
 *
 * The set of statistics of a space with groups is the product of the sets of its groups: a step can
 * be taken in one group alone, at the cost of its rows. Spaces without groups have one. */
#ifndef MEL_SPACE_SPACE_H
#define MEL_SPACE_SPACE_H

#include "space/shared.h"

/* Where a group is asked for: all of them, one after the other as in the layout. */
#define MEL_ALL_GROUPS SIZE_MAX

/* Memory of one caller's steps, so that a loop of steps allocates nothing. Not for two threads at once. */
typedef struct {
    double *gain;         /* n_groups x k x k */
    double *confusion;    /* n_groups x k x k */
    double *thread;       /* of each thread a block of scores and the sums of a chunk, */
    size_t per_thread;    /* so many numbers, */
    uint32_t *prediction; /* and mel_block_rows predictions */
    double *room;         /* k x k sums of slices; by labels: counts, below 2^53 and so exact */
} mel_workspace;

/* Rows of one group that one thread adds up; how rows are cut into slices depends on their number alone. */
typedef struct {
    size_t group;
    size_t first, n; /* positions in the order of groups */
} mel_slice;

typedef struct {
    mel_rows rows;   /* lent */
    uint32_t *order; /* positions of rows by group; NULL without groups: as they are */
    mel_slice *slice;
    size_t *group_slice; /* n_groups + 1: the slices of group g are group_slice[g]..group_slice[g + 1] */
} mel_class_rows;

struct mel_space {
    mel_class_rows rows;
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

mel_status mel_workspace_new(mel_workspace **out, const mel_space *space, mel_error *err);
void mel_workspace_free(mel_workspace *ws);
MEL_CLEANUP(mel_workspace)

/* Confusion entries (shares of the grand total, n x k x k) that the rules with these gains (n x k x k)
 * achieve in the groups first, ..., first + n - 1. */
void mel_space_confusion(double *confusion, const mel_space *space, size_t first, size_t n,
                         const double *gain, mel_workspace *ws);
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

/* --- sums over rows (sample.c) ----------------------------------------------------------------------- */

/* Sums over slices, `size` numbers of each, which are added to those of its group in the order of slices. */
typedef struct {
    const mel_slice *slice;
    size_t n, size;
    int threads;
    /* Sets the numbers of a slice; `thread` is below `threads`. */
    void (*fill)(double *sum, const mel_slice *slice, size_t thread, void *user);
    void *user;
} mel_slice_sums;

/* Slices whose sums are in memory at a time. */
size_t mel_slices_at_a_time(size_t n, size_t size);
/* out: `size` numbers of each group from `first_group` on, zeros before. room: `size` for each slice that is
 * summed up at a time. */
void mel_slices_sum(double *out, size_t first_group, const mel_class_rows *rows, const mel_slice_sums *sums,
                    double *room);

/* --- plug-in predictions of rows (predict.c) --------------------------------------------------------- */

/* Rows of a block, so that their probabilities stay in the nearest memory; a multiple of the lanes. */
size_t mel_block_rows(size_t n_classes);
/* Doubles that mel_predict_block borrows. */
size_t mel_block_scratch(size_t n_classes);
/* Predictions (room for mel_block_rows) of 1 <= n <= mel_block_rows rows: probability[0..n) when order is
 * NULL, else the rows order[0..n). Each row's scores are added up in the order of the classes, whatever block
 * the row is in; a diagonal gain (mel_gain_diagonal) spares the sums and gives the same. */
void mel_predict_block(uint32_t *prediction, size_t n, size_t n_classes, const double *probability,
                       const uint32_t *order, const double *gain, bool diagonal, double *scratch);

/* Whether nothing is gained off the diagonal. */
bool mel_gain_diagonal(size_t n_classes, const double *gain);

/* Rows by group and, within a group, in their own order: order[start[g]..start[g + 1]) are those of group g.
 * start has n_groups + 1 entries. MEL_EDATA for groups out of range, MEL_ELIMIT beyond 2^32 rows. */
mel_status mel_order_by_group(uint32_t *order, size_t *start, size_t n, size_t n_groups,
                              const uint32_t *group, mel_error *err);

/* --- balls (ball.c) ---------------------------------------------------------------------------------- */

struct mel_ball {
    mel_layout layout;
    size_t size, group_size;
    double radius;
    double *centre;      /* group_size */
    double *class_share; /* k; NULL: unknown */
    double *prevalence;  /* n_groups x k; NULL without groups */
};

/* Copies everything; class_share and prevalence may be NULL. Nothing is checked. */
mel_status mel_ball_make(mel_ball **out, const mel_layout *layout, double radius, const double *centre,
                         const double *class_share, const double *prevalence, mel_error *err);

#endif
