/* Linear programs that grow: maximise <c, z> over A z = b, z >= 0, by the revised simplex method. Columns may
 * be added at any time; the next solve goes on from where the last one ended. */
#ifndef MEL_CLASSIFY_SIMPLEX_H
#define MEL_CLASSIFY_SIMPLEX_H

#include "base/internal.h"

typedef struct mel_simplex mel_simplex;

/* n equations with these right-hand sides. */
mel_status mel_simplex_new(mel_simplex **out, size_t n, const double *b, mel_error *err);
void mel_simplex_free(mel_simplex *lp);

/* A column with n_entries numbers at different rows; *column is its number. */
mel_status mel_simplex_add(size_t *column, mel_simplex *lp, double cost, size_t n_entries, const size_t *row,
                           const double *value, mel_error *err);
/* Two columns that are each other's negative, added one after the other: a number that may have either sign,
 * at a cost for each side. */
void mel_simplex_pair(mel_simplex *lp, size_t first, size_t second);
void mel_simplex_set_cost(mel_simplex *lp, size_t column, double cost);
/* A column that must be 0 from now on. It has to be 0 already, to rounding. */
void mel_simplex_forbid(mel_simplex *lp, size_t column);
/* Puts a column into the basis at a row that has none yet; to begin with, every row needs one. */
void mel_simplex_begin(mel_simplex *lp, size_t row, size_t column);
/* What is left of b at a row by the columns that are in the basis already. */
double mel_simplex_left(const mel_simplex *lp, size_t row);

/* MEL_ENUMERIC when it is unbounded or rounding errors win. */
mel_status mel_simplex_solve(mel_simplex *lp, mel_error *err);
double mel_simplex_value(const mel_simplex *lp, size_t column); /* of the last solution */
double mel_simplex_objective(const mel_simplex *lp);
const double *mel_simplex_prices(const mel_simplex *lp); /* one per equation */

#endif
