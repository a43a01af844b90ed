/* What suits a session: the problem that a family needs, and options by who answers and what is asked about.
 */
#include "elicit/assumption.h"
#include "elicit/families/families.h"
#include "elicit/options.h"
#include "elicit/shared.h"

/* A search asks what its procedure asks, however much that is; the active strategy needs about five
 * questions per coefficient without noise, and several times as many with it. */
enum { PERSON_QUESTIONS = 20, PROGRAM_QUESTIONS = 200, SEARCH_QUESTIONS = 1000000, PER_COEFFICIENT = 50 };

/* About how many numbers a metric of the family has: monomials of at most its degree, without the constant
 * where the degree is the family's own. */
static double coefficients(mel_family family, uint32_t degree, const mel_layout *layout)
{
    const mel_family_facts *is = mel_family_about(family);
    const double n = (double)mel_layout_size(layout);
    if (is->ratio)
        return 2.0 * n;
    if (is->groups && is->degree == 1)
        return n * (double)(layout->n_groups > 1 ? layout->n_groups : 1);
    double all = 1.0;
    const uint32_t highest = is->degree > 0 ? is->degree : degree;
    for (uint32_t d = 1; d <= highest; d++)
        all *= (n + d) / d;
    return is->degree > 0 ? all - 1.0 : all;
}

static uint32_t questions_for(const mel_session_options *opt, const mel_domain *domain, mel_answered_by who)
{
    if (opt->strategy == MEL_STRATEGY_SEARCH)
        return SEARCH_QUESTIONS;
    if (who == MEL_BY_PERSON)
        return PERSON_QUESTIONS;
    const double enough =
        domain != NULL ? PER_COEFFICIENT * coefficients(opt->family, opt->degree, mel_domain_layout(domain))
                       : 0.0;
    return enough > SEARCH_QUESTIONS    ? SEARCH_QUESTIONS
           : enough > PROGRAM_QUESTIONS ? (uint32_t)enough
                                        : PROGRAM_QUESTIONS;
}

mel_status mel_session_options_suit(mel_session_options *opt, const mel_domain *domain, mel_answered_by who,
                                    const mel_noise *noise, uint32_t votes, mel_error *err)
{
    const bool given = domain != NULL && domain->pool != NULL;
    const bool makes_simple = domain == NULL || (domain->face == NULL && !given);
    if (mel_elicit_of(opt->family)->active == NULL)
        opt->strategy = MEL_STRATEGY_SEARCH;
    opt->max_questions = questions_for(opt, domain, who);
    if (opt->strategy == MEL_STRATEGY_SEARCH)
        return MEL_OK;
    if (who != MEL_BY_METRIC) {
        opt->repeat_every = 6;
        opt->assume = (mel_assumption){ .kind = MEL_NOISE_PERSON };
        opt->questions = MEL_QUESTIONS_REALISTIC;
        opt->tolerance_factor = MEL_USUAL_FACTOR;
        opt->until = MEL_UNTIL_AUTO;
    }
    opt->simple_questions = who == MEL_BY_PERSON && makes_simple;
    if (given) { /* as realistic as they are */
        opt->until = MEL_UNTIL_RANK;
        opt->questions = MEL_QUESTIONS_FAR;
        opt->tolerance_factor = 0.0;
    }
    return who == MEL_BY_METRIC && noise != NULL ? mel_assumption_of(&opt->assume, noise, votes > 1, err)
                                                 : MEL_OK;
}

mel_problem_want mel_want_of_family(mel_family family)
{
    const mel_family_facts *is = mel_family_about(family);
    const mel_elicit_ops *ops = mel_elicit_of(family);
    return (mel_problem_want){ .planar = is->planar,
                               .rates = is->rates,
                               .grouped = is->groups,
                               .needs_groups = is->groups,
                               .candidates = ops->basis != NULL && !ops->paired,
                               .ball = !is->diagonal,
                               .coordinates = is->diagonal ? MEL_DIAGONAL : MEL_OFFDIAGONAL,
                               .whom = is->name };
}
