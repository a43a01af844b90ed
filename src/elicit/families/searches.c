/* The searches that several families have, each on what its questions are about. */
#include "elicit/families/families.h"

mel_status mel_search_face_or_ball(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                                   mel_error *err)
{
    return domain->face != NULL ? mel_engine_search(out, domain->face, opt, err)
                                : mel_engine_search_ball(out, domain->ball, opt, err);
}

mel_status mel_search_faces(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                            mel_error *err)
{
    return mel_engine_search_faces(out, domain->space, opt, err);
}

mel_status mel_search_curve(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                            mel_error *err)
{
    return mel_engine_search_curve(out, domain->ball, opt, err);
}

mel_status mel_search_fair(mel_engine **out, const mel_domain *domain, const mel_session_options *opt,
                           mel_error *err)
{
    return mel_engine_search_fair(out, domain->ball, opt, err);
}
