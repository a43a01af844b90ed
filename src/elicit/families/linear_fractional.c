/* Linear-fractional metrics: the posterior of their level lines on a face, of a bivector elsewhere. */
#include "elicit/families/families.h"

static mel_status active(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                         mel_error *err)
{
    return domain->face != NULL ? mel_engine_fractional(out, domain->face, opt, err)
                                : mel_engine_bivector(out, domain, opt, err);
}

const mel_elicit_ops mel_elicit_linear_fractional = {
    .where = MEL_ON_FACE | MEL_ON_BALL,
    .needs = "a planar face or a ball of off-diagonal statistics",
    .reads = MEL_READS_RATIO,
    .sloped = true,
    .active = active,
    .search = mel_search_face_or_ball,
};

const mel_elicit_ops mel_elicit_diagonal_linear_fractional = {
    .where = MEL_ON_SPACE,
    .needs = "a space of k classes with diagonal statistics",
    .reads = MEL_READS_RATIO,
    .sloped = true,
    .active = mel_engine_bivector,
    .search = mel_search_faces,
};
