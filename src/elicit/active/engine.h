/* The frame of every active engine: what was told, which question comes back, the next question until it is
 * answered, when nothing is left to ask, what is reported. An engine (planar.c, features.c,
 * bivector_engine.c) adds a posterior and a way to choose questions, as mel_active_ops. */
#ifndef MEL_ACTIVE_ENGINE_H
#define MEL_ACTIVE_ENGINE_H

#include "elicit/active/ask/pair.h"
#include "elicit/engine.h"

/* A question that is expected to tell less, in bits, is not worth asking. */
#define MEL_LEAST_INFORMATION 0.005

/* What was told so far, pair by pair. */
typedef struct {
    size_t size;         /* numbers in a point */
    size_t n, n_skipped; /* questions answered, and put aside with "can't say" */
    size_t capacity;
    size_t n_repeats; /* of these: questions that came back */
    bool *again;      /* n: a repetition, repeated already, or not to be repeated */
    double *points;   /* n x 2 x size: A, then B */
    bool repeated;    /* the last one was a repetition */
    /* Log of how much likelier the answers A and B were, each by what was believed before it, than coin
     * tosses. Questions that tell most are those whose answer is a coin toss by what is believed: only
     * others, repetitions above all, can speak for or against somebody who answers at random. */
    double evidence;
} mel_history;

/* Probability that an engine's next answer is A. */
typedef double (*mel_prediction)(mel_engine *engine, const double *a, const double *b);

typedef struct mel_active mel_active;

typedef struct {
    /* Brings the engine up to date; *asked: a question of its own comes first, which it has written down,
     * or the end is known. NULL: nothing to do. */
    mel_status (*prepare)(mel_active *e, bool *asked, mel_error *err);
    /* Whether all is known well enough; NULL: the radius and the samples say so. */
    bool (*precise)(const mel_active *e);
    /* The best question into a and b, and whether it is worth asking into end. */
    mel_status (*choose)(mel_active *e, mel_rng *rng, mel_error *err);
    mel_prediction predict;
    /* The row of a pair: two with nearly the same row are the same question (mel_avoided). */
    void (*row)(mel_active *e, const double *a, const double *b, double *row);
    /* Takes in an answer that is not put aside. *apart: it is about something else than the posterior, and
     * neither speaks for or against the respondent nor comes back. Called right after `predict` of the pair.
     */
    mel_status (*hear)(mel_active *e, const mel_pair *pair, mel_answer answer, bool *apart, mel_error *err);
    /* A question was put aside; NULL: nothing to do. */
    void (*put_aside)(mel_active *e, const mel_pair *pair);
    /* In which whole numbers A and B are shown; NULL: in none. */
    void (*show)(const mel_active *e, mel_pair *pair);
    /* What achieves A and B, in words; NULL: not known. */
    void (*note)(const mel_active *e, mel_pair *pair);
    const mel_samples *(*samples)(const mel_active *e);
    /* The reported numbers of one vector of the cloud, n_reported of them; and the metric of such numbers.
     * NULL: as `basis` says. */
    mel_status (*coefficients)(const mel_active *e, const double *w, double *out, mel_error *err);
    mel_status (*metric)(mel_metric **out, const mel_active *e, const double *coefficient, mel_error *err);
    uint32_t (*expected)(const mel_active *e); /* questions that remain; NULL: as `numbers` says */
    void (*clear)(mel_active *e);              /* of what is the engine's own */
    bool finds_evidence;                       /* history.evidence is the engine's to set */
} mel_active_ops;

/* First member of every active engine. */
struct mel_active {
    mel_engine base;
    const mel_active_ops *ops;
    mel_session_options opt;
    mel_basis *basis; /* the features that metrics are linear in; NULL: the engine knows its family itself */
    mel_history history;
    mel_avoided avoided; /* questions put aside since the last answer */
    double radius, first_radius;
    double numbers;      /* unknown ones, for guessing how many questions remain */
    bool repeats_next;   /* the engine wants an earlier question to come back now, if one can */
    uint32_t most_left;  /* questions that there can still be; 0: any number */
    size_t n_reported;   /* coefficients of the metric */
    bool coordinatewise; /* every reported number is a positive multiple of one of w */
    /* The posterior as it is reported: samples->count vectors and their middle; lent by the engine, which
     * sets them after every answer. */
    const double *w, *middle;
    double *row; /* work */
    /* The next question, when it is known. */
    bool asked, repeated;
    double *a, *b;
    mel_end end;
};

/* Whether questions may come back at all. */
bool mel_active_may_repeat(const mel_active *e);
/* The functions of an engine that leaves all to the frame, and those that any does. */
extern const mel_engine_ops mel_active_engine;
mel_status mel_active_next(mel_engine *base, mel_pair *pair, mel_end *end, mel_error *err);
mel_status mel_active_tell(mel_engine *base, const mel_pair *pair, mel_answer answer, mel_error *err);
void mel_active_show(const mel_engine *base, mel_pair *pair);
void mel_active_free(mel_engine *base);

/* A zeroed engine of `bytes`; opt is copied, and what it lends is there until mel_active_ready. */
mel_status mel_active_new(mel_active **out, size_t bytes, const mel_engine_ops *engine,
                          const mel_active_ops *ops, const mel_session_options *opt, mel_error *err);
/* Sets the basis and what it says about the numbers that are sought. */
mel_status mel_active_linear(mel_active *e, const mel_domain *domain, mel_error *err);
/* Room for points of `size` numbers and rows of `dimension`. */
mel_status mel_active_room(mel_active *e, size_t size, size_t dimension, mel_error *err);
/* Hands the engine over, its posterior and radius being set; or frees it when its making failed. */
mel_status mel_active_ready(mel_engine **out, mel_active *e, mel_status status);

/* Whether the best question there is is worth asking: MEL_END_NOT_YET; MEL_END_NOISE when the noise leaves
 * nothing to learn from it, MEL_END_EXHAUSTED when no pair is informative any more. */
mel_end mel_end_of(const mel_session_options *opt, const mel_samples *samples, const mel_outlook *best);

/* For summaries: NaN where flips are not what is assumed. */
double mel_reported_evidence(double evidence, const mel_session_options *opt);
/* Which side is A is a coin toss. */
void mel_toss_sides(size_t size, double *a, double *b, mel_rng *rng);

/* Draws of the metrics (cos t, sin t) at evenly spaced quantiles of the angle t, which is as good as random
 * and better spread. */
typedef double mel_angle_quantile(const mel_active *e, double q);
mel_status mel_active_angle_draws(size_t *n, size_t *n_coefficients, double **values, const mel_active *e,
                                  mel_angle_quantile *angle, mel_error *err);

/* Bits that an answer carries at most; error_rate: share of wrong answers, NaN when none are expected. */
double mel_bits_per_answer(const mel_noise_ops *noise, double error_rate);

#endif
