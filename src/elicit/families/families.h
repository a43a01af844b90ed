/* How sessions look for the metrics of each family: what questions can be about, which strategies there are.
 * The rows are those of metric/families/rows.h; a family's part is the mel_elicit_ops called mel_elicit_NAME
 * of a file in this folder. */
#ifndef MEL_ELICIT_FAMILIES_H
#define MEL_ELICIT_FAMILIES_H

#include "elicit/active/family.h"
#include "elicit/engine.h"
#include "metric/families/rows.h"

/* What questions can be about, besides MEL_ON_FACE and MEL_ON_SPACE: a ball without groups is of off-diagonal
 * (MEL_ON_BALL) or of diagonal statistics. */
enum { MEL_ON_DIAGONAL_BALL = 8, MEL_ON_GROUPS = 16 };
/* Options that only some families read: slopes at several places; a diagonal matrix; pairs of groups and
 * their trade-off; a degree; a known numerator. */
enum {
    MEL_READS_PLACES = 1,
    MEL_READS_DIAGONAL_B = 2,
    MEL_READS_PAIRS = 4,
    MEL_READS_DEGREE = 8,
    MEL_READS_RATIO = 16
};

typedef struct {
    unsigned where;    /* MEL_ON_... */
    const char *needs; /* the same in words, for refusals */
    unsigned reads;    /* MEL_READS_... */
    bool sloped;       /* a declared direction tells the sign of every slope of the metric */
    bool paired;       /* linear in features of pairs, on faces: not for given classifiers */
    bool near_best;    /* classifiers near the best one are known, so that people can be asked about those */
    /* The strategies; NULL: there is none of the kind. */
    mel_engine_maker *active, *search;
    /* Sets up the features in which metrics are linear (mel_engine_features); NULL: there are none. */
    mel_status (*basis)(mel_basis *f, const mel_domain *domain, const mel_session_options *opt,
                        mel_error *err);
} mel_elicit_ops;

#define DECLARE(name) extern const mel_elicit_ops mel_elicit_##name;
MEL_FAMILIES(DECLARE)
#undef DECLARE

/* NULL: there is no such family. */
const mel_elicit_ops *mel_elicit_of(mel_family family);

/* The terms of polynomials, as both strategies number them (polynomial.c). */
/* All ascending tuples of `order` coordinates out of q, in lexicographic order, as monomials from `at` on:
 * into index (rows of `degree` numbers, of which the first `order` count), orders, and weight, the root of
 * how often the entry is in its symmetric tensor. Returns the next place. */
size_t mel_monomials_add(size_t q, uint32_t degree, uint32_t order, size_t at, size_t *index,
                         uint32_t *orders, double *weight);

#endif
