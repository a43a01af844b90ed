/* What questions are about, made by the program from the `space` of a study file. Shared by all participants
 * of a study; nothing in it changes. */
#ifndef MEL_SERVER_PROBLEM_H
#define MEL_SERVER_PROBLEM_H

#include "melicit/elicit.h"

#include <jansson.h>

typedef struct mel_problem mel_problem;
struct mel_problem {
    mel_domain domain;
    const mel_face *measured; /* where domain.face was smoothed: the face before; else NULL */
    size_t n_classes, n_groups;
    const char *const *class_name; /* n_classes; of two the second is positive */
    const char *const *group_name; /* n_groups; NULL without groups */
    double *class_share;           /* n_classes; NULL: unknown */
    uint64_t rows;                 /* number of rows that it was measured on; 0: a model population */
    const char *digest;            /* of the data; "" where there is none */
    char *typed;                   /* the options as one would type them, for reports */
    json_t *description;           /* for the header of a session file; may be NULL */
    void *own;
    void (*free)(mel_problem *problem);
};

/* user: the maker's own. The family decides what questions are about. */
typedef mel_status (*mel_problem_maker)(mel_problem **out, void *user, const json_t *space, mel_family family,
                                        uint64_t seed, mel_error *err);

#endif
