/* A procedure of the thesis and the engine around it: that keeps the answers, runs the procedure over them
 * and hands out the question at which it stops. How many questions there will be is known from the start. */
#ifndef MEL_ELICIT_SEARCH_PROCEDURE_H
#define MEL_ELICIT_SEARCH_PROCEDURE_H

#include "elicit/engine.h"

/* --- how a procedure asks: an ordinary function that calls mel_prefer as if the oracle answered at once;
 * past the end of the recorded answers it writes its question down and returns all the way out. Replaying is
 * calling it again; the points of questions that have answers are not needed. */

typedef enum { MEL_PENDING = -1, MEL_SECOND = 0, MEL_FIRST = 1 } mel_preference;

typedef struct {
    size_t dimension; /* numbers in a statistics vector */
    const mel_answer *answers;
    size_t n_answers, used;
    double *a, *b; /* the pending question, dimension numbers each; owned by the caller */
} mel_replay;

/* Whether the first point of the procedure's next question is preferred to the second: 1[phi(a) > phi(b)].
 * "About the same" counts as not preferred, as in the thesis' oracle. MEL_PENDING: there is no answer yet,
 * and the caller writes the points into replay->a and replay->b. */
mel_preference mel_prefer(mel_replay *replay);

/* --- the common step of all searches: an interval of one parameter of the boundary is halved by comparing
 * five points of it, until it is narrow enough (subroutine ShrinkInterval of the thesis). */

/* An interval of the parameter (radians, or the share m of a weight); its middle is the estimate. */
typedef struct {
    double low, high;
} mel_arc;

static inline double mel_arc_middle(mel_arc arc)
{
    return 0.5 * (arc.low + arc.high);
}

/* Whether halving a range has led to one of its ends: what is looked for may lie beyond it. */
bool mel_arc_at_end(mel_arc arc, mel_arc range);
/* How often an arc is halved until it is no wider than the tolerance. */
uint32_t mel_arc_rounds(mel_arc arc, double tolerance);

typedef struct {
    mel_replay *replay;
    double tolerance;
    uint32_t per_round; /* 4: all questions; 3: without the last; 2: without the first and the last */
    bool minimise;      /* look for the worst point: responses inverted */
    /* Writes the question "is the point at `to` better than the one at `from`?" into replay->a and replay->b.
     */
    void (*pose)(void *context, double from, double to);
    void *context;
} mel_arc_search;
/* Halves *arc until it is narrow enough (true) or a question has no answer yet (false). */
bool mel_arc_narrow(mel_arc *arc, const mel_arc_search *search);

/* --- the engine */

enum { MEL_COMPARED = 3 };

typedef struct mel_procedure mel_procedure;
struct mel_procedure {
    mel_engine base;
    /* Runs over the recorded answers from the first one, to its end (pending: false) or to the first question
     * without an answer (true), whose points are then in replay.a and replay.b. */
    mel_status (*run)(mel_procedure *procedure, mel_error *err);
    /* As mel_engine_ops.result, after a run over all answers; the summary's signs are known. */
    mel_status (*result)(mel_procedure *procedure, mel_metric **metric, mel_summary *summary, mel_error *err);
    /* What achieves the points of a pending question, in words; NULL: not known. */
    mel_status (*note)(mel_procedure *procedure, mel_pair *pair, mel_error *err);
    /* Frees what is the search's own; NULL: nothing. */
    void (*clear)(mel_procedure *procedure);
    uint32_t total; /* questions from start to end */
    bool pending;
    /* Known after a run to its end. at_end: the best point was sought up to an end of its range, so the
     * metric may lie beyond it. pressed: the same for the worst point, where linear-fractional metrics such
     * as F1 belong, or no slope was found with the signs declared: they may be wrong. */
    bool at_end, pressed;
    mel_replay replay;
    mel_answer *answers;
    size_t capacity;
    bool settled; /* has run over all answers */
    /* The last pairs that were told without having been asked for: those of a log. */
    size_t n_recorded;
    double *recorded; /* MEL_COMPARED x 2 points, by the answer's number */
};

/* The functions above must be set. Room for points of `dimension` numbers. */
mel_status mel_procedure_init(mel_procedure *procedure, size_t dimension, mel_error *err);
/* The engine, or, where making it failed, the procedure (NULL, too) freed. */
mel_status mel_procedure_ready(mel_engine **out, mel_procedure *procedure, mel_status status);

/* --- from last intervals to a linear metric with an interval for every coefficient */

/* low and high bound each of n non-negative numbers (high may be infinite); afterwards they bound its share
 * of their sum. */
void mel_bounds_normalise(size_t n, double *low, double *high);
/* a and its intervals become those of -a. */
void mel_bounds_negate(size_t n, double *a, double *low, double *high);
/* Half of the widest one. */
double mel_bounds_radius(size_t n, const double *low, const double *high);
/* A utility <a, s> with these intervals; low NULL: without. */
mel_status mel_bounds_metric(mel_metric **out, mel_family family, const mel_layout *layout,
                             const char *const *class_names, const double *a, const double *low,
                             const double *high, mel_error *err);

#endif
