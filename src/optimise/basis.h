/* What a set of basis functions is made of, for the files that compute and store them. */
#ifndef MEL_OPTIMISE_BASIS_H
#define MEL_OPTIMISE_BASIS_H

#include "optimise/optimise.h"

typedef enum { MEL_BASIS_DEFAULT, MEL_BASIS_COLUMNS, MEL_BASIS_KMEANS, MEL_BASIS_RBF } mel_basis_kind;

/* Functions of one kind that were added together. */
typedef struct {
    mel_basis_kind kind;
    size_t n_functions;
    size_t n_columns;
    char **column;    /* names of the features that it reads */
    size_t n_centres; /* kmeans: one per function; rbf: those of function 0 first */
    size_t *centres;  /* rbf: how many each function has */
    double *centre;   /* n_centres x n_columns */
    double width;
    bool squared;
} mel_basis_part;

struct mel_weight_basis {
    size_t n_parts, n_functions;
    mel_basis_part *part;
    char **name; /* of each function */
};

/* Takes the part over, on failure too. */
mel_status mel_basis_add_part(mel_weight_basis *basis, mel_basis_part *part, mel_error *err);
void mel_basis_part_clear(mel_basis_part *part);
/* Copies of names; false without memory, and what was copied is in *out then too (n entries, NULL at the
 * end). */
bool mel_basis_copy_names(char ***out, size_t n, const char *const *name);

#endif
