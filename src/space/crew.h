/* Ranks that have different rows of a space: what they gather of each other and, where rank 0 goes on alone,
 * what it asks of the others. */
#ifndef MEL_SPACE_CREW_H
#define MEL_SPACE_CREW_H

#include "space/sample.h"

/* Room for exchanges, where files are divided; freed with mel_crew_close. */
mel_status mel_crew_open(mel_class_rows *rows, mel_error *err);
void mel_crew_close(mel_class_rows *rows);

/* `width` numbers of each row, which `fill` makes of one that is here; all: of all rows, in their order, or
 * NULL where only others want them. */
typedef void mel_row_numbers(double *to, const mel_class_rows *rows, size_t row, const void *user);
void mel_crew_gather(double *all, const mel_class_rows *rows, size_t width, mel_row_numbers *fill,
                     const void *user);
/* Room for the probabilities of all rows, and these: gathered when they are asked for for the first time. */
mel_status mel_crew_whole_room(mel_class_rows *rows, mel_error *err);
void mel_crew_whole(mel_class_rows *rows);
/* Those of all rows of a sample, here or not; lent. */
mel_status mel_crew_probabilities(const double **out, const mel_space *space, mel_error *err);

/* --- rank 0 alone, while the others wait -------------------------------------------------------- */

/* The others do the same from here on, until this rank leaves; nothing where there are none. */
void mel_crew_call(const mel_class_rows *rows, const mel_crew_task *task);
void mel_crew_leave(const mel_class_rows *rows);

/* What the others do. */
mel_status mel_some_rows_give(const mel_space *space, const mel_crew_task *task, mel_error *err);
void mel_space_pair_give(const mel_space *space, const mel_crew_task *task);
mel_status mel_space_swap_give(const mel_space *space, const mel_crew_task *task, mel_error *err);

#endif
