/* Convex sets that are known only through their linear step: the closest point, how far a ray goes, and the
 * set of statistics of one group of a space as such a set. */
#ifndef MEL_SPACE_FEASIBLE_H
#define MEL_SPACE_FEASIBLE_H

#include "space/space.h"

#include <stdatomic.h>

/* Wolfe's minimum-norm-point method, also called fully corrective Frank-Wolfe: a corral is a simplex of
 * points of the set ("atoms"). It is moved to the closest point of its own hull, and grows by what the linear
 * step finds beyond. */

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

/* --- rules measured on all rows of a group (hull.c) -------------------------------------------------- */

/* What some rules achieve for sure: the hull of what they achieve with their predictions exchanged in any way
 * (again plug-in rules: the columns of their gains exchanged) and of the constant rules. A step in it reads
 * no rows. */
typedef struct mel_hull mel_hull;
/* The hull of the constant rules of one group, with room for `room` more. */
mel_status mel_hull_new(mel_hull **out, const mel_space *space, size_t group, size_t room, mel_error *err);
void mel_hull_free(mel_hull *hull);
/* Adds what a rule achieves in the group (k x k confusion entries). There is room. */
void mel_hull_add(mel_hull *hull, const double *confusion);
/* The confusion entries of the best rule in it for these gains (k x k). spare: mel_hull_spare bytes. */
void mel_hull_best(double *confusion, const mel_hull *hull, const double *gain, void *spare);
size_t mel_hull_spare(const mel_hull *hull);

/* --- the set of one group, around the centre --------------------------------------------------------- */

/* Looks for plug-in rules that do better on the labels than the rule of the linear step. Of so many rows
 * (3e8 / k (k + 1)) that a run would end before it has looked at a single one, it looks for none. */
typedef struct mel_rule_search mel_rule_search;

/* For a sample measured by labels. */
mel_status mel_rule_search_new(mel_rule_search **out, const mel_space *space, size_t group, mel_error *err);
void mel_rule_search_free(mel_rule_search *search);
/* A rule with sum of value[true class][prediction] over the rows of the group, divided by the rows of the
 * space, above `level`: its gains. `base` is what the rule with gains `value` achieves. False when none was
 * found. *best: the largest sum that was seen. The same call finds the same rule. */
bool mel_rule_search_run(mel_rule_search *search, double *gain, const double *value, double base,
                         double level, double *best);
/* Only a climb from the gains `value`, in one column (SIZE_MAX: in all): the sum that it reaches (-infinity:
 * it looks for none), and the gains. */
double mel_rule_search_climb(mel_rule_search *search, double *gain, const double *value, size_t column);
/* Different rules that runs have looked at, saturating. */
uint32_t mel_rule_search_tried(const mel_rule_search *search);

/* Where a set is looked at: in all coordinates, or only in the directions whose gains are one column, those
 * of predictions of one class (off-diagonal coordinates; k dimensions). */
#define MEL_ALL_COLUMNS SIZE_MAX

typedef struct {
    mel_set set; /* atoms are relative to the centre; tags are gains */
    const mel_space *space;
    size_t group, column;
    mel_workspace *ws;
    mel_rule_search *search; /* NULL unless wanted and useful */
    bool thorough;           /* the search takes its time */
    double *centre;          /* group_size */
    double *direction, *statistics;
    double *gain, *value; /* k x k */
    size_t n_known; /* statistics, relative to the centre, that are known besides: a step finds them too */
    const double *known;  /* n_known x group_size; lent */
    const mel_hull *hull; /* steps are taken in it; NULL: on the rows */
    void *hull_spare;
} mel_group_set;

/* hull: NULL for the rows of the group. tags: atoms come with their gains. search: for spaces that are not
 * exact, with the set's search. The set is to be freed with mel_group_set_clear also after a failure. */
mel_status mel_group_set_init(mel_group_set *out, const mel_space *space, size_t group, const mel_hull *hull,
                              size_t column, bool tags, bool search, mel_error *err);
void mel_group_set_clear(mel_group_set *set);
/* set->statistics and set->gain: of the rule that is furthest in a direction of the group. */
void mel_group_set_step(mel_group_set *set, const double *direction);
/* Steps that take about a millisecond together: so many go by between two questions whether to stop. */
uint64_t mel_steps_unasked(const mel_space *space);
/* The direction in coordinates of the group (unit length stays) for one of the set. */
void mel_group_set_direction(double *out, const mel_group_set *set, const double *direction);

/* What is surely in the set of a group, in closed form: decisions that are linear in the probabilities are
 * mixtures of plug-in rules. */
typedef struct {
    const mel_space *space;
    double radius;   /* of a ball around the centre; 0: none is known */
    double *inverse; /* k x k; NULL: nothing is known */
} mel_sure;

/* To be freed with mel_sure_clear also after a failure. */
mel_status mel_sure_init(mel_sure *out, const mel_space *space, size_t group, mel_error *err);
void mel_sure_clear(mel_sure *sure);
/* How far from the centre along a direction (of unit length, group_size numbers). spare: 2 k x k numbers. */
double mel_sure_stretch(const mel_sure *sure, const double *direction, double *spare);

/* --- rays from the centre ---------------------------------------------------------------------------- */

typedef struct {
    mel_group_set set; /* without tags */
    mel_corral *corral;
    double *ray, *normal; /* as many numbers as the set has dimensions */
    double *spare;        /* as mel_set_stretch wants it */
} mel_ray_caster;

/* hull, column, search: as mel_group_set_init takes them. To be freed with mel_ray_caster_clear also after a
 * failure. */
mel_status mel_ray_caster_init(mel_ray_caster *out, const mel_space *space, size_t group,
                               const mel_hull *hull, size_t column, bool search, mel_error *err);
void mel_ray_caster_clear(mel_ray_caster *caster);

#endif
