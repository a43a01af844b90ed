/* Options of a session: which of them go together, and the session's own copy. */
#ifndef MEL_ELICIT_OPTIONS_H
#define MEL_ELICIT_OPTIONS_H

#include "base/internal.h"
#include "melicit/elicit.h"

/* MEL_EINVAL with a sentence for values out of range and for families that the domain is not for. */
mel_status mel_options_check(const mel_session_options *opt, const mel_domain *domain, mel_error *err);

/* Puts what it means for these options in the place of until decision, ratio and auto. MEL_EINVAL where the
 * decision or the ratio was asked for, but cannot be judged. */
mel_status mel_options_resolve(mel_session_options *opt, const mel_domain *domain, mel_error *err);

/* Whether the family is one of those that read the option. */
bool mel_option_in_family(const mel_option *row, mel_family family);

/* Whether the questions are about exchange rates, not far. */
bool mel_asks_exchange(const mel_session_options *opt, const mel_domain *domain);
/* Whether they are about classifiers of more than two classes that are near the best. */
bool mel_asks_near_best(const mel_session_options *opt, const mel_domain *domain);

/* To which people are asked for the cost ratio, from end to end of its interval. */
#define MEL_USUAL_FACTOR 1.6

/* Layout of the domain's points; exactly one member of the domain is set. */
const mel_layout *mel_domain_layout(const mel_domain *domain);
/* How many signs there are: coefficients of a, those of one group. */
size_t mel_sign_count(const mel_layout *layout);

/* A copy of options that lends nothing: values points into the rest. */
typedef struct {
    mel_session_options values;
    size_t n_classes, n_groups;
    char **class_names, **group_names;
    signed char *signs;
    double *pool;
    mel_metric *prior, *known;
} mel_kept_options;
/* On failure, too, kept is for mel_options_drop. */
mel_status mel_options_keep(mel_kept_options *kept, const mel_session_options *opt, const mel_layout *layout,
                            mel_error *err);
void mel_options_drop(mel_kept_options *kept);

/* What tells whether the decision of a session stands; NULL: nothing was given that could. */
typedef mel_status mel_standing(double *probability, const mel_belief *now, mel_error *err);
mel_standing *mel_standing_of(const mel_session_options *opt);

#endif
