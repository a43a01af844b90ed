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

typedef mel_status mel_engine_maker(mel_engine **out, const mel_domain *domain,
                                    const mel_session_options *opt, mel_error *err);
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

/* Searches that several families have. */
mel_engine_maker mel_search_face_or_ball, mel_search_faces, mel_search_curve, mel_search_fair;

#endif
