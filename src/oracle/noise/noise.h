/* How answers err. A model is one file of this folder and one row of models.h: it says what it is called,
 * when a simulated respondent errs and how likely answers are. Posteriors and questions ask this table, never
 * for a model by name. */
#ifndef MEL_ORACLE_NOISE_H
#define MEL_ORACLE_NOISE_H

#include "base/internal.h"
#include "melicit/oracle.h"
#include "oracle/noise/models.h"

/* Prior of a learned flip rate: Beta(1, 9), mean 0.1. */
#define MEL_FLIP_WRONG 1.0
#define MEL_FLIP_RIGHT 9.0

/* What decides how likely an answer is. */
typedef enum {
    MEL_ERRS_NEVER,    /* all answers are right: each cuts the posterior */
    MEL_ERRS_ALIKE,    /* wrong as often whatever the difference: how many are wrong, not which */
    MEL_ERRS_BY_MARGIN /* the smaller the difference, the more often wrong */
} mel_errs;

/* One way in which a respondent may err, for posteriors that average over several. A pair whose values differ
 * by `margin` and whose exchange rate is `distance` (natural logarithm) away from the respondent's is
 * answered as the sign of z says with probability lapse/2 + (1 - lapse)/(1 + exp(-|z|)), with z =
 * margin/sqrt((relative margin/distance)^2 + absolute^2). */
typedef struct {
    double relative; /* noise of the exchange rate, natural logarithm */
    double absolute; /* noise of the value */
    double lapse;    /* share of answers given without looking */
    double band;     /* above 0: answers about margins up to this may be anything, and the rest is right */
    double weight;   /* prior probability */
} mel_noise_way;
enum { MEL_MOST_WAYS = 48 };
/* Of respondents who see any difference: noise far below what questions can show. */
#define MEL_SHARP 1e-6

/* Margins and sizes are in units of the metric's value; a margin is positive when the answer is right. The
 * scale is the size that is assumed or, where it is learned, drawn. */
typedef struct {
    const char *name;
    const char *forms;    /* how it is written, for messages: "flip:P"; without ':' it has no size */
    const char *assumed;  /* how it is assumed, for help: "flip (rate learned), flip:0.1"; NULL: as `forms` */
    const char *bad_size; /* what a size is that is not from 0 to `most`, for messages */
    mel_errs errs;
    double most;        /* largest size */
    double say_nothing; /* assumed sizes from this on leave nothing to learn */
    bool learns;        /* an assumed size of 0 is learned from the answers */
    /* MEL_ERRS_BY_MARGIN: below the size, answers are coin tosses, above it right; of a simulated respondent
     * those below may all be wrong (mel_noise's adversarial). */
    bool band;
    /* MEL_ERRS_BY_MARGIN: samplers draw one of the ways together with the metric, not a scale. */
    bool by_ways;
    /* Of the probability outside of a 95% interval, what is left outside, for respondents who use the model
     * against us; 1: nothing is to be allowed for. */
    double outside;
    /* Share of wrong answers when guessing how many questions remain; 0: as the posterior knows it. */
    double usual_errors;
    /* Prior of a learned scale: log-normal. A spread of 0: no scale is learned. */
    double scale_median, scale_spread;
    /* Whether a simulated respondent errs at this difference > 0; chance: uniform on [0, 1). */
    bool (*wrong)(const mel_noise *noise, double difference, double chance);
    /* P(answer), unless errors are alike. */
    double (*probability)(double scale, double margin);
    /* MEL_ERRS_BY_MARGIN: log-probability of n answers with the margins shrink * gain * (value + t slope);
     * NULL: from `probability`. */
    double (*log_choices)(size_t n, const double *gain, const double *value, const double *slope, double t,
                          double shrink, double scale);
    /* MEL_ERRS_ALIKE: log-probability of `wrong` of `count` answers being wrong (in one order), up to a
     * constant that depends on count; posterior mean of the share of wrong answers given that. */
    double (*log_weight)(double size, size_t wrong, size_t count);
    double (*rate)(double size, size_t wrong, size_t count);
    /* The ways in which a respondent may err, with weights that sum to 1; size 0 where it is learned. Returns
     * how many. NULL: none are known. */
    size_t (*ways)(mel_noise_way out[MEL_MOST_WAYS], double size);
} mel_noise_ops;

#define DECLARE(name) extern const mel_noise_ops mel_noise_##name;
MEL_MODELS(DECLARE)
#undef DECLARE

/* NULL: there is no such kind. */
const mel_noise_ops *mel_noise_of(mel_noise_kind kind);
/* The model whose name these n characters are; NULL: there is none. */
const mel_noise_ops *mel_noise_by_name(mel_noise_kind *kind, size_t n, const char *name);
mel_status mel_noise_check(const mel_noise *noise, mel_error *err);

/* Least probability of any answer: contradictions must not empty a posterior. */
static const double mel_log_impossible = -27.631021115928547, mel_impossible = 1e-12;

/* Wrong answers may come at any difference. */
static inline bool mel_noise_anywhere(const mel_noise_ops *noise)
{
    return noise->errs != MEL_ERRS_NEVER && !noise->band;
}

/* Answers may be wrong at any difference, by a slip: what blames an early answer stays possible for long. */
static inline bool mel_noise_slips(const mel_noise_ops *noise)
{
    return noise->errs == MEL_ERRS_ALIKE || noise->by_ways;
}

#endif
