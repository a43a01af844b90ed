/* The set of statistics of one group of a space, as the methods of minnorm.h see it: around the centre. */
#ifndef MEL_SPACE_FEASIBLE_H
#define MEL_SPACE_FEASIBLE_H

#include "space/minnorm.h"
#include "space/space.h"

/* Looks for plug-in rules that do better on the labels than the rule of the linear step. Of so many rows
 * (3e8 / k (k + 1)) that a run would end before it has looked at a single one, it looks for none. */
typedef struct mel_rule_search mel_rule_search;

/* Of a sample measured by labels. */
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
    const double *known; /* n_known x group_size; lent */
} mel_group_set;

/* tags: atoms come with their gains. search: for spaces that are not exact, with the set's search. The set
 * is to be freed with mel_group_set_clear also after a failure. */
mel_status mel_group_set_init(mel_group_set *out, const mel_space *space, size_t group, size_t column,
                              bool tags, bool search, mel_error *err);
void mel_group_set_clear(mel_group_set *set);
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

#endif
