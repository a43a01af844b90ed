/* The population that some sessions are from: what each answer tells, by the session's own model of answers,
 * and the coordinates in which people vary. */
#include "elicit/population.h"

#include "base/la.h"
#include "elicit/active/posterior/exchange.h"
#include "elicit/options.h"

#include <stdlib.h>
#include <string.h>

/* Coordinates with less than this share of the largest second moment are rounding. */
static const double negligible = 1e-12;

mel_status mel_session_hear_again(mel_session **out, const mel_session *session, const mel_metric *prior,
                                  double strength, mel_error *err)
{
    mel_session_options opt = session->options.values;
    opt.prior = prior;
    opt.prior_strength = strength;
    TRY(mel_session_new(out, &session->domain, &opt, err));
    for (size_t k = 0; k < session->n_entries; k++) {
        const mel_record record = mel_session_record(session, (uint32_t)k);
        const mel_status status = mel_session_accept(*out, &record, err);
        if (status != MEL_OK)
            return mel_fail_in(err, status, "question %zu", k + 1);
    }
    return MEL_OK;
}

/* Draws of what the answers alone tell: heard again, where the session began with a prior metric. */
static mel_status draw_alone(mel_cloud *cloud, mel_session *session, const mel_metric *metric, mel_error *err)
{
    if (session->options.values.prior == NULL)
        return mel_cloud_make(cloud, session, metric, true, err);
    mel_session *alone = NULL;
    mel_status status = mel_session_hear_again(&alone, session, NULL, 0.0, err);
    if (status == MEL_OK)
        status = mel_cloud_make(cloud, alone, metric, true, err);
    mel_session_free(alone);
    return status;
}

/* --- coordinates -------------------------------------------------------------------------------- */

/* The sum of v v' over everybody's draws at unit length. */
static void add_moments(double *moment, size_t n, const mel_cloud *clouds)
{
    const size_t d = clouds[0].size;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < clouds[i].n; k++) {
            const double *v = clouds[i].vector + k * d, length = mel_norm2(d, v);
            for (size_t a = 0; a < d && length > 0.0; a++)
                mel_axpy(a + 1, v[a] / length / length, v, moment + a * d);
        }
}

/* Where something about metrics is fixed their vectors span fewer dimensions: an orthonormal basis of these,
 * as rows; NULL: they span all. */
static mel_status find_span(double **out, size_t *n_kept, size_t n, const mel_cloud *clouds, mel_error *err)
{
    const size_t d = clouds[0].size;
    double *moment = mel_alloc_zero(d * (d + 1), sizeof *moment), *basis = NULL;
    if (moment == NULL)
        return mel_fail_memory(err, "draws of several people");
    double *value = moment + d * d;
    add_moments(moment, n, clouds);
    mel_status status = mel_eigen(d, moment, d, value, err);
    size_t first = 0;
    while (status == MEL_OK && first + 1 < d && value[first] <= negligible * value[d - 1])
        first++;
    *n_kept = d - first;
    if (status == MEL_OK && first > 0) {
        basis = mel_alloc(*n_kept * d, sizeof *basis);
        if (basis == NULL)
            status = mel_fail_memory(err, "draws of several people");
        for (size_t r = 0; r < *n_kept && basis != NULL; r++)
            for (size_t j = 0; j < d; j++)
                basis[r * d + j] = moment[j * d + first + r];
    }
    free(moment);
    *out = basis;
    return status;
}

/* In place: shorter ones fit. */
static void narrow(mel_cloud *cloud, const double *basis, size_t kept, double *work)
{
    const size_t d = cloud->size;
    for (size_t k = 0; k < cloud->n; k++) {
        for (size_t r = 0; r < kept; r++)
            work[r] = mel_dot(d, basis + r * d, cloud->vector + k * d);
        memcpy(cloud->vector + k * kept, work, kept * sizeof *work);
    }
    cloud->size = kept;
}

static mel_status widen(mel_population *p, const double *basis, size_t size, mel_error *err)
{
    const size_t rows = 2 + p->n_draws, kept = p->size;
    double *wide = mel_alloc_zero(rows * size, sizeof *wide);
    if (wide == NULL)
        return mel_fail_memory(err, "a population of people");
    for (size_t k = 0; k < rows; k++) { /* mean, likely, draws */
        const double *from = k == 0 ? p->mean : k == 1 ? p->likely : p->draw + (k - 2) * kept;
        for (size_t r = 0; r < kept; r++)
            mel_axpy(size, from[r], basis + r * size, wide + k * size);
    }
    free(p->mean);
    p->mean = wide;
    p->likely = wide + size;
    p->draw = wide + 2 * size;
    p->size = size;
    return MEL_OK;
}

static mel_status fit_on_sphere(mel_population *out, size_t n, mel_cloud *clouds, mel_error *err)
{
    const size_t size = clouds[0].size;
    double *basis = NULL;
    size_t kept = size;
    TRY(find_span(&basis, &kept, n, clouds, err));
    double *work = mel_alloc(kept, sizeof *work);
    for (size_t i = 0; i < n && basis != NULL && work != NULL; i++)
        narrow(&clouds[i], basis, kept, work);
    mel_status status = work != NULL ? mel_population_on_sphere(out, n, clouds, err)
                                     : mel_fail_memory(err, "draws of several people");
    if (status == MEL_OK && basis != NULL)
        status = widen(out, basis, size, err);
    free(work);
    free(basis);
    return status;
}

static mel_status fit_rates(mel_population *out, size_t n, const mel_cloud *clouds,
                            mel_session *const *sessions, mel_error *err)
{
    mel_rate_prior **prior = mel_alloc(n, sizeof(void *)); /* pointers to functions */
    if (prior == NULL)
        return mel_fail_memory(err, "a population of people");
    for (size_t i = 0; i < n; i++) {
        const bool rates = mel_asks_exchange(&sessions[i]->options.values, &sessions[i]->domain);
        prior[i] = rates ? mel_exchange_log_prior : mel_uniform_angle_prior;
    }
    const mel_status status = mel_population_of_rates(out, n, clouds, prior, err);
    free(prior);
    return status;
}

mel_status mel_population_of_sessions(mel_population *out, bool *rates, size_t n,
                                      mel_session *const *sessions, const mel_respondent *own, mel_error *err)
{
    *out = (mel_population){ 0 };
    mel_cloud *clouds = mel_alloc_zero(n, sizeof *clouds);
    if (clouds == NULL)
        return mel_fail_memory(err, "draws of several people");
    mel_status status = MEL_OK;
    for (size_t i = 0; i < n && status == MEL_OK; i++) {
        status = draw_alone(&clouds[i], sessions[i], own[i].metric, err);
        if (status != MEL_OK)
            status = mel_fail_in(err, status, "session %zu", i + 1);
        else if (clouds[i].size != clouds[0].size)
            status =
                mel_fail(err, MEL_EINVAL, "session %zu is about other statistics than the first one", i + 1);
    }
    *rates = status == MEL_OK && mel_clouds_have_rates(n, clouds);
    if (status == MEL_OK)
        status = *rates ? fit_rates(out, n, clouds, sessions, err) : fit_on_sphere(out, n, clouds, err);
    if (status != MEL_OK)
        mel_population_clear(out);
    mel_clouds_free(n, clouds);
    return status;
}
