/* The closest point of a convex set that is known only through its linear step: Wolfe's minimum-norm-point
 * method, also called fully corrective Frank-Wolfe.
 *
 * A corral is a simplex of points of the set ("atoms"). It is moved to the closest point of its own hull, and
 * grows by what the linear step finds beyond. */
#ifndef MEL_SPACE_MINNORM_H
#define MEL_SPACE_MINNORM_H

#include "base/internal.h"

#include <stdatomic.h>

/* Lets long work be stopped from within: whoever takes steps on whichever thread asks now and then. */
typedef struct {
    const mel_progress *progress;
    const char *what;
    double share;       /* that is done; written between the parallel parts of the work */
    uint64_t every;     /* steps of a set from one question to the next */
    atomic_bool wanted; /* once true the results of the work are worth nothing */
    atomic_bool asking; /* a thread is at it */
} mel_halt;

/* Reports a share and asks. MEL_ESTOPPED when the work is to be stopped. */
mel_status mel_halt_report(mel_halt *halt, double share, mel_error *err);

/* A bounded convex set in `dim` coordinates. Its origin should be well inside. */
typedef struct {
    size_t dim;
    size_t n_tag; /* numbers that come with an atom and say how to achieve it */
    void *self;
    /* The point of the set that is furthest in a direction (not zero), and its tag. */
    void (*step)(void *self, double *atom, double *tag, const double *direction);
    /* Tries harder than the step does to find a point that is further in the direction than `level`, given
     * that the step comes to `base`. False when none was found; *best: how far the search came. NULL: the
     * step is exactly optimal. */
    bool (*search)(void *self, double *atom, double *tag, const double *direction, double base, double level,
                   double *best);
    uint64_t steps; /* taken; counted by mel_set_step */
    mel_halt *halt; /* asked by mel_set_step; NULL: nobody may stop it. Lent */
} mel_set;

void mel_set_step(mel_set *set, double *atom, double *tag, const double *direction);
bool mel_set_halted(const mel_set *set);

/* Atoms in general position, at most dim + 1, whose shares (>= 0, sum 1) blend to `closest`. */
typedef struct {
    size_t dim, n_tag, n;
    double scale;    /* of the additional coordinate that keeps shares summing to 1 */
    double *atom;    /* room for (dim + 2) x dim */
    double *tag;     /* (dim + 2) x n_tag */
    double *share;   /* dim + 2 */
    double *closest; /* dim: sum of share x atom */
    /* (dim + 2) x (dim + 2): upper triangular R with R'R the Gram matrix of the atoms with `scale` as an
     * additional coordinate; row-major. */
    double *factor;
    double *work;
} mel_corral;

mel_status mel_corral_new(mel_corral **out, size_t dim, size_t n_tag, mel_error *err);
void mel_corral_free(mel_corral *corral);
void mel_corral_clear(mel_corral *corral);
/* Adds an atom with share 0 (the first one with share 1). False, without adding it, when it lies in the plane
 * of the others up to rounding. */
bool mel_corral_add(mel_corral *corral, const double *atom, const double *tag);
/* Moves the shares so that `closest` is the point of the hull of the atoms closest to the target; atoms
 * that are not needed are dropped. n >= 1. Returns the distance. */
double mel_corral_approach(mel_corral *corral, const double *target);

/* How the distance of a target from a set is to be found. */
typedef struct {
    double near;     /* stop when the distance is not larger */
    double precise;  /* or when it is known to this share of itself */
    uint64_t budget; /* or after so many steps */
} mel_approach;

typedef struct {
    bool close;        /* distance <= near */
    double distance;   /* of corral->closest from the target */
    double support;    /* not close: of the set in the direction, as far as the step says */
    double *direction; /* dim, the caller's: from corral->closest to the target, of unit length */
} mel_approached;

/* Brings a corral (empty, or of an earlier target) to the point of a set that is closest to the target.
 * `search` of the set is not used. spare: dim + n_tag numbers. */
void mel_set_approach(mel_approached *found, mel_set *set, mel_corral *corral, const double *target,
                      const mel_approach *how, double *spare);

/* How far a set goes from its origin along a ray. */
typedef struct {
    const double *ray; /* of unit length */
    double inside;     /* radius of a ball around the origin that is surely in the set; 0: none is known */
    double near;       /* stop when the end is this close to the set */
    double precise;    /* or closer than this share of the ray's length */
    double wanted;     /* or when so much is surely in the set */
    uint64_t budget;   /* or after so many steps */
} mel_ray;

typedef struct {
    double longest; /* the set does not go further, as far as its step says */
    double error;   /* distance of that end from a point that was found */
    /* So much of the ray is in the set: the end pulled back into the hull of that point and of the ball
     * inside. */
    double sure;
    double width;   /* support in the direction of `normal` */
    double *normal; /* dim, the caller's: of unit length, what shows `longest` */
} mel_stretch;

/* The corral may be empty or of an earlier target. spare: 3 dim + n_tag numbers. */
void mel_set_stretch(mel_stretch *found, mel_set *set, mel_corral *corral, const mel_ray *how, double *spare);

#endif
