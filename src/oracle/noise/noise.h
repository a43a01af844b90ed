/* How answers err. A model is a list of components, each a way in which a respondent may err, with how likely
 * it is; it is one file of this folder and one row of models.h. Simulated respondents, posteriors and what is
 * said of consistency read the same components by the same likelihood (component.c), and never ask which
 * model it is. */
#ifndef MEL_ORACLE_NOISE_H
#define MEL_ORACLE_NOISE_H

#include "base/internal.h"
#include "melicit/oracle.h"
#include "oracle/noise/models.h"

/* --- components */

/* A pair whose values differ by `margin` and in which a difference of 1 in the logarithm of the exchange rate
 * makes the difference `stake` is answered as the sign of z says with probability lapse/2 + (1 - lapse)/(1 +
 * exp(-|z|)), with z = margin/sqrt((relative stake)^2 + absolute^2). */
typedef struct {
    double relative; /* noise of the exchange rate, natural logarithm */
    double absolute; /* noise of the value */
    double lapse;    /* share of answers given without looking */
    double band;     /* above 0: answers about margins up to this are coin tosses, all others right */
    double weight;   /* prior probability */
} mel_component;
enum { MEL_MOST_COMPONENTS = 48 };
/* Absolute noise of respondents who see any difference: far below what questions can show. */
#define MEL_SHARP 1e-6

/* Half-widths of "about the same" in units of z (Rao and Kupper's model), equally likely once somebody
 * answered so. */
enum { MEL_TIES = 3 };
extern const double mel_tie_width[MEL_TIES];

/* What margins are multiplied by to give z. */
double mel_component_sharpness(const mel_component *component, double stake);
/* P(this choice), z positive where it is right, and P("about the same"); tie: the half-width, 0 before
 * anybody answered so. */
double mel_component_choice(const mel_component *component, double z, double tie);
double mel_component_same(const mel_component *component, double z, double tie);
/* Log-probability of n choices with z = shrink * gain * (value + t slope), and of n answers "about the same".
 */
double mel_component_log_choices(const mel_component *component, double tie, size_t n, const double *gain,
                                 const double *value, const double *slope, double t, double shrink);
double mel_component_log_same(const mel_component *component, double tie, size_t n, const double *gain,
                              const double *value, const double *slope, double t, double shrink);

/* For components that err alike at any margin: log-probability of `wrong` of `count` answers being wrong (in
 * one order), and the posterior mean of the share of wrong answers given that. */
double mel_components_log_weight(size_t n, const mel_component *component, size_t wrong, size_t count);
double mel_components_rate(size_t n, const mel_component *component, size_t wrong, size_t count);
/* The components of somebody who has called a pair about the same, and so does not see differences of any
 * size: those who did may not see differences of one size or another. Returns how many. */
size_t mel_components_blur(size_t n, mel_component component[MEL_MOST_COMPONENTS]);
/* One of them, as likely as its weight. */
size_t mel_component_draw(size_t n, const mel_component *component, mel_rng *rng);

/* --- models */

/* What decides how likely an answer is. */
typedef enum {
    MEL_ERRS_NEVER,    /* all answers are right: each cuts the posterior */
    MEL_ERRS_ALIKE,    /* wrong as often whatever the difference: how many are wrong, not which */
    MEL_ERRS_BY_MARGIN /* the smaller the difference, the more often wrong */
} mel_errs;

typedef struct {
    const char *name;
    const char *forms;    /* how it is written, for messages: "flip:P"; without ':' it has no size */
    const char *assumed;  /* how it is assumed, for help: "flip (rate learned), flip:0.1"; NULL: as `forms` */
    const char *bad_size; /* what a size is that is not from 0 to `most`, for messages */
    mel_errs errs;        /* as the components do */
    bool slips;         /* answers may be wrong at any difference: what blames an early one stays possible */
    bool band;          /* coin tosses below the size; of a simulated respondent all may be wrong */
    bool sharper;       /* in many dimensions some may see far smaller differences than the components say */
    double most;        /* largest size */
    double say_nothing; /* assumed sizes from this on leave nothing to learn */
    double usual_size;  /* where one is needed and none is given */
    double allowance;   /* share of lapses that is allowed for where the size is assumed, at least */
    /* The share of the probability outside a 95% interval that stays outside, for respondents who use the
     * model against us; 1: no allowance. */
    double outside;
    /* Share of wrong answers when guessing how many questions remain; 0: as the posterior knows it. */
    double usual_errors;
    mel_component (*given)(double size); /* of a respondent with this size; its weight is 1 */
    /* The components when the size is unknown, with weights that sum to 1; returns how many. NULL: the size
     * is never learned. */
    size_t (*learned)(mel_component out[MEL_MOST_COMPONENTS]);
} mel_noise_ops;

#define DECLARE(name) extern const mel_noise_ops mel_noise_##name;
MEL_MODELS(DECLARE)
#undef DECLARE

/* NULL: there is no such kind. */
const mel_noise_ops *mel_noise_of(mel_noise_kind kind);
/* The model whose name these n characters are; NULL: there is none. */
const mel_noise_ops *mel_noise_by_name(mel_noise_kind *kind, size_t n, const char *name);
mel_status mel_noise_check(const mel_noise *noise, mel_error *err);
/* Whether a simulated respondent errs at this difference > 0; chance: uniform on [0, 1). */
bool mel_noise_wrong(const mel_noise *noise, double difference, double chance);
/* What an assumption means: size 0 is learned where the model does. Returns how many components. */
size_t mel_noise_components(mel_component out[MEL_MOST_COMPONENTS], const mel_noise_ops *model, double size);

/* Least probability of any answer: contradictions must not empty a posterior. */
static const double mel_log_impossible = -27.631021115928547, mel_impossible = 1e-12;

/* Wrong answers may come at any difference. */
static inline bool mel_noise_anywhere(const mel_noise_ops *noise)
{
    return noise->errs != MEL_ERRS_NEVER && !noise->band;
}

#endif
