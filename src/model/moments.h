/* Sums over the rows of files, kept file by file: of whatever kind, they are merged and stored in one way. */
#ifndef MEL_MODEL_MOMENTS_H
#define MEL_MODEL_MOMENTS_H

#include "base/digest.h"
#include "model/shared.h"

/* Sums over the rows of one file, for each group one after the other:
 * - training: the log-loss, the gradient (features, then the intercept, for each output), and for a >= b and
 *   each pair of classes what mel_objective_curvature says;
 * - decisions: classes x decisions by the labels, then by the probabilities;
 * - passes: what mel_packed_totals and mel_packed_sums (optimise) say. */
typedef struct {
    char *file;
    size_t n_rows;
    double weight;   /* of all rows */
    size_t n_groups; /* decisions; 0: none */
    char **group_name;
    double *sum;
} mel_moments_part;

struct mel_moments {
    mel_moments_kind kind;
    size_t n_classes;
    size_t n_columns;        /* training: features; decisions: decisions; passes: directions */
    char **class_name;       /* NULL in training, where the model knows them */
    char at[MEL_DIGEST_HEX]; /* of what the sums were taken at */
    size_t n;
    mel_moments_part *part; /* by name of the file */
};

/* Without files; NULL when memory runs out. class_name may be NULL. */
mel_moments *mel_moments_new(mel_moments_kind kind, size_t n_classes, size_t n_columns,
                             const char *const *class_name);
/* Numbers of a part, for each group; 0: too many, or not of this kind. */
size_t mel_moments_size(mel_moments_kind kind, size_t n_classes, size_t n_columns);
/* Those of one part with all its groups. */
size_t mel_moments_numbers(const mel_moments *moments, const mel_moments_part *part);
/* A part without sums, which are 0; false: no memory, and the part is to be cleared all the same. */
bool mel_moments_part_new(mel_moments_part *out, const mel_moments *like, const char *file, size_t n_rows,
                          size_t n_groups, const char *const *group_name);
/* One more, at its place. The part is taken over, or cleared. MEL_EDATA for a file that is there already. */
mel_status mel_moments_add(mel_moments *moments, mel_moments_part *part, mel_error *err);
void mel_moments_part_clear(mel_moments_part *part);
/* Refuses moments of another kind. */
mel_status mel_moments_expect(const mel_moments *moments, mel_moments_kind kind, mel_error *err);
/* The moments, or the reason why there are none: then they are freed. */
mel_status mel_moments_finish(mel_moments **out, mel_moments *moments, mel_status status);

/* What kinds are called in files and in sentences. */
typedef struct {
    const char *name;    /* "kind" of a file */
    const char *columns; /* the key of n_columns */
    const char *of;      /* "sums for training" */
    const char *at;      /* what they are taken at, several of them: "models" */
} mel_moments_words;
extern const mel_moments_words mel_moments_kinds[MEL_MOMENTS_KINDS];

#endif
