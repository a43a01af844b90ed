/* The processes that work on one problem together: one, unless the program was started as several ranks. All
 * of them read the same rows and do the same things with the same numbers, so that each has the whole result;
 * what is divided among them is passes over rows (mel_slices) and the files of `predict`.
 */
#ifndef MEL_BASE_TEAM_H
#define MEL_BASE_TEAM_H

#include "base/internal.h"

typedef struct {
    size_t rank, size;
    size_t *start; /* size + 1, for whoever gathers */
    size_t
        few_rows; /* a pass over fewer takes less time than exchanging its sums: each rank makes it alone */
    /* Bytes start[r] .. start[r + 1] of `all` are those of rank r; afterwards everybody has all of them. All
     * ranks call it, with the same starts. It returns only where every rank is well. */
    void (*gather)(void *user, void *all, const size_t *start);
    void *user;
} mel_team;

/* Set before there are threads; lent until it is set again. NULL: this process alone. */
void mel_team_set(const mel_team *team);
const mel_team *mel_team_get(void);
/* Rank 0 alone writes, asks and talks. */
bool mel_team_leads(void);

/* n things are dealt out in runs: rank r has those from mel_team_first(n, r) up to that of r + 1. */
size_t mel_team_first(size_t n, size_t rank);
/* Each rank has its run of n things of `size` bytes; afterwards everybody has all. */
void mel_team_gather(void *all, size_t n, size_t size);
/* The same where rank r has things first[r] .. first[r + 1]. */
void mel_team_gather_runs(void *all, const size_t *first, size_t size);
/* n bytes of rank 0 become those of all. */
void mel_team_share(void *bytes, size_t n);
/* sizes[r]: how many bytes rank r gives; afterwards everybody has those of all ranks, one after the other, in
 * the new block that is returned. NULL: no memory. */
void *mel_team_collect(size_t *sizes, const void *own, size_t n);
/* Each of n counts becomes its sum over all ranks. false: no memory. */
bool mel_team_count(size_t *count, size_t n);

/* --- sums over slices of rows --------------------------------------------------------------------- */

/* Sums over rows, the one way in which rooms take them: rows are cut into slices by their number (and by the
 * files that they are from) alone, each slice has sums of its own, made by one thread of one process, and the
 * sums are added in the order of the slices. Results have the same bits for any number of threads and
 * processes. */

typedef struct {
    size_t n_slices;
    size_t rows;         /* that all slices are about: few are not worth dividing among ranks */
    size_t size, stride; /* numbers of a slice, and from one slice's to the next one's */
    double *sum;         /* n_slices x stride */
    int threads;
    /* Sets the numbers of a slice, whatever they are before; `thread` is below `threads`. */
    void (*fill)(double *sum, size_t slice, size_t thread, void *user);
    void *user;
} mel_slices;
/* Fills all slices; each rank makes some of them and has all. */
void mel_slices_fill(const mel_slices *slices);
/* Slices 1, 2, .. are added to slice 0, in that order. */
void mel_slices_join(const mel_slices *slices);

#endif
