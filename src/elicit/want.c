/* What a family of metrics needs of a problem. */
#include "elicit/families/families.h"
#include "elicit/shared.h"

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
