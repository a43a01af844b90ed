/* What a session drives: something that proposes questions and turns answers into a metric. The
 * engine is a pure function of its options, the domain and the answers told so far. */
#ifndef MEL_ELICIT_ENGINE_H
#define MEL_ELICIT_ENGINE_H

#include "base/internal.h"
#include "melicit/elicit.h"

/* A question before it is shown: A and B in the session's layout, in room of the caller's (the session's),
 * where an engine writes them. Notes are what achieves A and B, in words, for engines that know: room for
 * MEL_NOTE_TEXT characters each, empty when next is called, or NULL when nobody wants them. */
enum { MEL_NOTE_TEXT = 160 };
typedef struct {
    double *a, *b;
    char *note_a, *note_b;
    bool repeated;
    uint32_t people; /* A and B are whole numbers out of so many; 0: they are not */
    bool imagined;   /* of a test that does not exist */
} mel_pair;
/* The mixture of rules that achieves a point of a face, as a note: "1: positive when score >= 0.31" (1 is its
 * share); empty when the point is not on the face. yes and no name the two classes of a face of several
 * classes ("0.7: cat when its share of both >= 0.4, else dog; 0.3: always dog"); NULL: two classes. */
void mel_note_point(char *note, const mel_face *face, mel_point point, const char *yes, const char *no);
/* The name of the classifier with these statistics, as a note: of several the first. */
void mel_note_candidate(char *note, const mel_pool *pool, const double *point);

typedef struct mel_engine mel_engine;
typedef struct {
    /* The next question; *end says why there is none. Called again without a tell, gives the same. */
    mel_status (*next)(mel_engine *engine, mel_pair *pair, mel_end *end, mel_error *err);
    /* The pair need not be the one that `next` proposes: a log may come from another machine.
     * MEL_ANSWER_SKIP changes nothing in what is believed, but the next question is another one. */
    mel_status (*tell)(mel_engine *engine, const mel_pair *pair, mel_answer answer, mel_error *err);
    /* The metric as known now; fills radius, error_rate and angles of the summary. On failure, too, a metric
     * that was made is for the caller to free. */
    mel_status (*result)(mel_engine *engine, mel_metric **metric, mel_summary *summary, mel_error *err);
    /* NULL: it has none of a single angle. */
    mel_status (*posterior)(mel_engine *engine, size_t n, double *angle, double *density, mel_error *err);
    /* mel_session_draws; NULL: the engine knows no probabilities. */
    mel_status (*draws)(mel_engine *engine, size_t *n, size_t *n_coefficients, double **values,
                        mel_error *err);
    /* About how many questions remain. */
    uint32_t (*expected)(mel_engine *engine);
    /* Whether the best setting for the metric is settled (MEL_UNTIL_DECISION); NULL: the engine does not
     * judge that. */
    bool (*settled)(const mel_engine *engine);
    /* Sets people and imagined of a pair that is asked about now; NULL: neither. */
    void (*show)(const mel_engine *engine, mel_pair *pair);
    void (*free)(mel_engine *engine);
} mel_engine_ops;
struct mel_engine {
    const mel_engine_ops *ops;
};

/* Each copies what it needs of opt; the members of the domain are lent. */
typedef mel_status mel_engine_maker(mel_engine **out, const mel_domain *domain,
                                    const mel_session_options *opt, mel_error *err);
/* Active: linear metrics on a face; the same by pairs that people can take seriously (opt->questions); every
 * family that is linear in known features, on a ball, on a face (linear-fractional) or on two-class faces
 * (diagonal linear); linear-fractional metrics on a ball, diagonal ones on two-class faces; every family that
 * is linear in known features, asked about pairs of given classifiers. */
extern mel_engine_maker mel_engine_planar, mel_engine_exchange, mel_engine_features, mel_engine_bivector,
    mel_engine_candidates;
/* Searches: Algorithms 3.1 and 3.2 on a face, 4.1 and 4.3 on two-class faces, 4.2 and 4.5 on a ball; 6.1 and
 * section 6.6, quadratic and polynomial metrics from slopes at several places of a ball; 5.1, 5.2, D.2 and
 * D.3, fair linear and fair quadratic metrics. */
extern mel_engine_maker mel_engine_search, mel_engine_search_faces, mel_engine_search_ball,
    mel_engine_search_curve, mel_engine_search_fair;

/* The layout of every question on a planar face: (TP, TN) as shares. */
extern const mel_layout mel_binary_layout;

/* A linear metric (cos angle, sin angle) with the interval [low, high] of its angle, which lies within
 * one quadrant; fills radius and angles of the summary. */
mel_status mel_linear_result(mel_metric **metric, mel_summary *summary, const mel_session_options *opt,
                             double angle, double low, double high, mel_error *err);

#endif
