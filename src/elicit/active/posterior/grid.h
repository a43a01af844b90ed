/* The posterior of the angle t of a binary linear metric (cos t, sin t).
 *
 * The answer to a chord of the face cuts the circle of angles at the two angles whose level lines are
 * parallel to the chord. The posterior lives on cells whose borders are these cuts, so hard and flipped
 * answers are exact (the density is constant in a cell); smooth likelihoods (errors by margin, "about the
 * same", a prior) use fine cells and the density at their middles. */
#ifndef MEL_ACTIVE_GRID_H
#define MEL_ACTIVE_GRID_H

#include "elicit/assumption.h"

typedef struct {
    double dx, dy; /* A - B */
    double cut[2]; /* angles in [0, 2 pi) where both are worth the same */
    double stake;  /* half of how far A and B are apart */
    mel_answer answer;
} mel_grid_answer;

/* Whose belief: what is believed, and the belief of a more careful reader of the answers, which chooses
 * questions (MEL_CAREFUL_RATE). */
typedef enum { MEL_BELIEVED, MEL_STAKED, MEL_READERS } mel_grid_reader;
typedef struct {
    double low, high;
    double mass[MEL_READERS]; /* probability */
} mel_cell;

typedef struct {
    mel_assumption assume;
    const mel_noise_ops *noise;
    size_t n_components; /* of the answers' errors */
    mel_component component[MEL_MOST_COMPONENTS];
    mel_direction direction;
    double prior_angle, prior_strength; /* strength 0: none */
    mel_grid_answer *told;
    size_t n_told, capacity;
    size_t n_choices; /* A or B */
    mel_cell *cells;  /* ascending, within the arc(s) that the direction allows */
    size_t n_cells, cell_capacity;
    double increasing; /* posterior probability of the increasing arc */
    double evidence;   /* as in mel_history */
    bool stale;        /* answers have been told since the cells were weighed */
} mel_grid;

/* Everything before `told` is the caller's to set. */
void mel_grid_clear(mel_grid *grid); /* of a zeroed one too */
mel_status mel_grid_tell(mel_grid *grid, double dx, double dy, mel_answer answer, mel_error *err);
/* Brings the cells up to date with the answers, before anything below: only when somebody looks, so that
 * replaying a session weighs them once. */
mel_status mel_grid_update(mel_grid *grid, mel_error *err);

/* The angle below which the share q of a reader's belief is, and the ends of all angles. */
double mel_grid_quantile(const mel_grid *grid, mel_grid_reader reader, double q);
double mel_grid_low(const mel_grid *grid);
double mel_grid_high(const mel_grid *grid);
/* P(A is better) of a pair with this difference. */
double mel_grid_better(const mel_grid *grid, double dx, double dy);
double mel_grid_error_rate(const mel_grid *grid); /* NaN unless errors are alike */
/* Of the latest answers, up to MEL_LATELY, those whose differences the median sees inside of the band. */
size_t mel_grid_lately_in_band(const mel_grid *grid);
/* The 95% interval of the angle. */
void mel_grid_interval(const mel_grid *grid, double *low, double *high);

#endif
