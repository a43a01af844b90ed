/* What a set of basis functions is made of, and rules whose gains depend on them. */
#ifndef MEL_CLASSIFY_BASIS_H
#define MEL_CLASSIFY_BASIS_H

#include "base/internal.h"
#include "base/json.h"
#include "classify/shared.h"

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

MEL_CLEANUP(mel_weight_basis)

/* Takes the part over; what is left of it is to be cleared. */
mel_status mel_basis_add_part(mel_weight_basis *basis, mel_basis_part *part, mel_error *err);
void mel_basis_part_clear(mel_basis_part *part);
/* --- basis_file.c: "basis" of a classifier file -------------------------------------------------- */

json_t *mel_basis_to_json(const mel_weight_basis *basis);
mel_status mel_basis_from_json(mel_weight_basis **out, const json_t *list, mel_error *err);

/* --- rules whose gains depend on basis functions -------------------------------------------------- */

/* The class with the largest score; rows that no basis function reaches get their most probable class. gain:
 * n_basis x k x k; score is scratch for k numbers. */
uint32_t mel_weighted_class(size_t k, size_t n_basis, const double *gain, bool diagonal,
                            const double *probability, const double *phi, double *score);
bool mel_weighted_diagonal(size_t k, size_t n_basis, const double *gain);
/* Basis values of a row where there are none: one function, 1. */
const double *mel_weight_basis_row(const double *basis, size_t n_basis, size_t row);
/* Weights of the diagonal (n_basis x k) as gains (n_basis x k x k). */
void mel_weights_to_gains(double *gain, size_t k, size_t n_basis, const double *weight);

#endif
