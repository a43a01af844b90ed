/* Well-known measures of rates and of differences between groups. */
#include "data/quote.h"
#include "metric/measure.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    bool groups, binary; /* compares groups; needs two classes */
    bool shares;         /* needs the classes' shares */
} named[] = {
    [MEL_RATES_Q_MEAN] = { "q-mean", false, false, false },
    [MEL_RATES_DISTRIBUTION_MATCHING] = { "distribution-matching", false, false, true },
    [MEL_RATES_PSD_Q] = { "psd-q", false, false, true },
    [MEL_RATES_EQUALISED_ODDS] = { "equalised-odds", true, false, false },
    [MEL_RATES_EQUAL_OPPORTUNITY] = { "equal-opportunity", true, true, false },
    [MEL_RATES_NEGATIVE_BALANCE] = { "negative-balance", true, true, false },
    [MEL_RATES_ERROR_RATE_BALANCE] = { "error-rate-balance", true, true, false },
    [MEL_RATES_DEMOGRAPHIC_PARITY] = { "demographic-parity", true, false, true },
};
static const char *const gap_names[] = {
    [MEL_GAP_SQUARED] = "squared", [MEL_GAP_ABSOLUTE] = "absolute", [MEL_GAP_LARGEST] = "largest"
};
enum {
    N_NAMED = sizeof named / sizeof *named,
    N_GAPS = sizeof gap_names / sizeof *gap_names,
    NAME_BYTES = 64
};
static const double share_tolerance = 2e-3; /* shares rounded to three digits are still shares */

/* With the spelling with s. */
static bool plain_name(char plain[NAME_BYTES], const char *name)
{
    static const char american[] = "equalized-";
    if (!mel_plain_name(plain, NAME_BYTES, name))
        return false;
    if (strncmp(plain, american, sizeof american - 1) == 0)
        plain[sizeof "equali" - 1] = 's';
    return true;
}

mel_status mel_named_rates_parse(mel_named_rates *out, mel_gap *gap, const char *name, mel_error *err)
{
    char plain[NAME_BYTES];
    unsigned metric = N_NAMED, kind = MEL_GAP_SQUARED;
    if (plain_name(plain, name)) {
        char *colon = strchr(plain, ':');
        if (colon != NULL) {
            *colon = '\0';
            for (kind = 0; kind < N_GAPS && strcmp(colon + 1, gap_names[kind]) != 0;)
                kind++;
        }
        for (metric = 0; metric < N_NAMED && strcmp(plain, named[metric].name) != 0;)
            metric++;
    }
    if (metric == N_NAMED || kind == N_GAPS)
        return mel_fail(err, MEL_EINVAL,
                        "%s is not a measure of rates known by name: q-mean, distribution-matching, "
                        "equalised-odds, equal-opportunity, negative-balance, error-rate-balance, "
                        "demographic-parity, each with :squared, :absolute or :largest; psd-q",
                        mel_quote_text(name).text);
    *out = (mel_named_rates)metric;
    *gap = (mel_gap)kind;
    return MEL_OK;
}

static size_t n_groups(const mel_group_rates *r)
{
    return r->layout.n_groups > 1 ? r->layout.n_groups : 1;
}

/* R^g_ij; of diagonal coordinates with more than two classes only R_ii. */
static double rate(const mel_group_rates *r, size_t g, size_t i, size_t j)
{
    const size_t k = r->layout.n_classes;
    const double *x = r->rates + g * (mel_layout_size(&r->layout) / n_groups(r));
    if (r->layout.coordinates != MEL_OFFDIAGONAL) {
        const double right = x[r->layout.coordinates == MEL_BINARY ? 1 - i : i];
        return i == j ? right : 1.0 - right;
    }
    if (i != j)
        return x[i * (k - 1) + (j < i ? j : j - 1)];
    double wrong = 0.0;
    for (size_t c = 0; c + 1 < k; c++)
        wrong += x[i * (k - 1) + c];
    return 1.0 - wrong;
}

/* P(prediction j | G=g). */
static double prediction_share(const mel_group_rates *r, size_t g, size_t j)
{
    const size_t k = r->layout.n_classes;
    double sum = 0.0;
    for (size_t i = 0; i < k; i++)
        sum += r->shares[g * k + i] * rate(r, g, i, j);
    return sum;
}

/* A difference of one kind. Largest ones are combined by the caller. */
static double size_of(double difference, mel_gap gap)
{
    return gap == MEL_GAP_SQUARED ? difference * difference : fabs(difference);
}

/* Errors without groups: added up, or the largest one. */
static double combine(double sum, double term, mel_gap gap)
{
    return gap == MEL_GAP_LARGEST ? fmax(sum, term) : sum + term;
}

static double weight(const mel_group_rates *r, size_t i)
{
    return r->weights != NULL ? r->weights[i] : 1.0;
}

static double q_mean(const mel_group_rates *r, mel_gap gap)
{
    const size_t k = r->layout.n_classes;
    double sum = 0.0, all = 0.0;
    for (size_t i = 0; i < k; i++) {
        sum = combine(sum, weight(r, i) * size_of(1.0 - rate(r, 0, i, i), gap), gap);
        all += weight(r, i);
    }
    return gap == MEL_GAP_LARGEST ? sum : sum / all;
}

static double distribution_matching(const mel_group_rates *r, mel_gap gap)
{
    const double *target = r->target != NULL ? r->target : r->shares;
    double sum = 0.0;
    for (size_t j = 0; j < r->layout.n_classes; j++)
        sum = combine(sum, size_of(prediction_share(r, 0, j) - target[j], gap), gap);
    return sum;
}

/* d'Qd, d the shares of predictions less their target. */
static double psd_q(const mel_group_rates *r)
{
    const size_t k = r->layout.n_classes;
    const double *target = r->target != NULL ? r->target : r->shares;
    double sum = 0.0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            sum += r->weights[i * k + j] * (prediction_share(r, 0, i) - target[i]) *
                   (prediction_share(r, 0, j) - target[j]);
    return sum;
}

/* What groups are compared by: a rate or a share of predictions. */
static double quantity(const mel_group_rates *r, size_t g, size_t i, size_t j, bool share)
{
    return share ? prediction_share(r, g, j) : rate(r, g, i, j);
}

/* One quantity over all pairs of groups: summed sizes, or max - min. */
static double spread(const mel_group_rates *r, mel_gap gap, size_t i, size_t j, bool share)
{
    const size_t m = n_groups(r);
    double sum = 0.0;
    for (size_t u = 0; u < m; u++)
        for (size_t v = u + 1; v < m; v++)
            sum = combine(sum, size_of(quantity(r, u, i, j, share) - quantity(r, v, i, j, share), gap), gap);
    return sum;
}

static double equalised_odds(const mel_group_rates *r, mel_gap gap)
{
    const size_t k = r->layout.n_classes;
    double sum = 0.0;
    size_t at = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            if (i != j)
                sum = combine(sum, weight(r, at++) * spread(r, gap, i, j, false), gap);
    return sum;
}

static double demographic_parity(const mel_group_rates *r, mel_gap gap)
{
    double sum = 0.0;
    for (size_t j = 0; j < r->layout.n_classes; j++)
        sum = combine(sum, spread(r, gap, 0, j, true), gap);
    return gap == MEL_GAP_LARGEST ? sum : sum / 2.0;
}

static mel_status check_shares(const double *shares, size_t k, const char *what, mel_error *err)
{
    double sum = 0.0;
    for (size_t i = 0; i < k; i++) {
        if (!(shares[i] >= 0.0 && shares[i] <= 1.0))
            return mel_fail(err, MEL_EINVAL, "%s of class %zu: %g is not from 0 to 1", what, i + 1,
                            shares[i]);
        sum += shares[i];
    }
    if (fabs(sum - 1.0) > share_tolerance)
        return mel_fail(err, MEL_EINVAL, "%ss sum to %g, not 1", what, sum);
    return MEL_OK;
}

static mel_status check_weights(mel_named_rates metric, const mel_group_rates *r, mel_error *err)
{
    const bool odds = metric == MEL_RATES_EQUALISED_ODDS;
    if (metric == MEL_RATES_PSD_Q)
        return r->weights != NULL ? MEL_OK : mel_fail(err, MEL_EINVAL, "psd-q needs its matrix");
    if (r->weights == NULL)
        return MEL_OK;
    if (!odds && metric != MEL_RATES_Q_MEAN)
        return mel_fail(err, MEL_EINVAL, "%s has no weights; q-mean and equalised-odds have",
                        named[metric].name);
    const size_t k = r->layout.n_classes, n = odds ? k * (k - 1) : k;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (!(r->weights[i] >= 0.0 && isfinite(r->weights[i])))
            return mel_fail(err, MEL_EINVAL, "weight %zu of %s is %g, not 0 or more", i + 1,
                            named[metric].name, r->weights[i]);
        sum += r->weights[i];
    }
    return sum > 0.0 ? MEL_OK : mel_fail(err, MEL_EINVAL, "all weights of %s are 0", named[metric].name);
}

static mel_status check_kind(mel_named_rates metric, const mel_group_rates *r, mel_error *err)
{
    const mel_layout *layout = &r->layout;
    const char *name = named[metric].name;
    if (layout->kind != MEL_RATES)
        return mel_fail(err, MEL_EINVAL, "%s is a measure of rates, not of %s statistics", name,
                        mel_kind_name(layout->kind));
    if (layout->coordinates == MEL_DIAGONAL && layout->n_classes > 2 && metric != MEL_RATES_Q_MEAN)
        return mel_fail(err, MEL_EINVAL, "%s needs off-diagonal rates of %zu classes", name,
                        layout->n_classes);
    if (named[metric].binary && layout->n_classes != 2)
        return mel_fail(err, MEL_EINVAL, "%s is defined for two classes, not %zu", name, layout->n_classes);
    if (named[metric].groups != (n_groups(r) > 1))
        return mel_fail(err, MEL_EINVAL, "%s is defined %s groups, not for %zu", name,
                        named[metric].groups ? "for two or more" : "without", n_groups(r));
    if (named[metric].shares && r->shares == NULL)
        return mel_fail(err, MEL_EINVAL, "%s needs the shares of the classes", name);
    return MEL_OK;
}

static mel_status check(mel_named_rates metric, mel_gap gap, const mel_group_rates *r, mel_error *err)
{
    if ((unsigned)metric >= N_NAMED || (unsigned)gap >= N_GAPS)
        return mel_fail(err, MEL_EINVAL, "there is no named measure of rates %d, %d", (int)metric, (int)gap);
    mel_status status = mel_layout_check(&r->layout, err);
    if (status == MEL_OK)
        status = check_kind(metric, r, err);
    const size_t k = r->layout.n_classes, size = mel_layout_size(&r->layout);
    for (size_t i = 0; status == MEL_OK && i < size; i++)
        if (!(r->rates[i] >= 0.0 && r->rates[i] <= 1.0))
            status = mel_fail(err, MEL_EINVAL, "rate %zu is %g, not from 0 to 1", i + 1, r->rates[i]);
    for (size_t g = 0; status == MEL_OK && named[metric].shares && g < n_groups(r); g++)
        status = check_shares(r->shares + g * k, k, "the share", err);
    if (status == MEL_OK && !named[metric].groups && named[metric].shares && r->target != NULL)
        status = check_shares(r->target, k, "the target share", err);
    return status == MEL_OK ? check_weights(metric, r, err) : status;
}

mel_status mel_named_rates_value(double *out, mel_named_rates metric, mel_gap gap,
                                 const mel_group_rates *rates, mel_error *err)
{
    const mel_status status = check(metric, gap, rates, err);
    if (status != MEL_OK)
        return status;
    switch (metric) {
    case MEL_RATES_Q_MEAN:
        *out = q_mean(rates, gap);
        break;
    case MEL_RATES_DISTRIBUTION_MATCHING:
        *out = distribution_matching(rates, gap);
        break;
    case MEL_RATES_PSD_Q:
        *out = psd_q(rates);
        break;
    case MEL_RATES_EQUALISED_ODDS:
        *out = equalised_odds(rates, gap);
        break;
    case MEL_RATES_EQUAL_OPPORTUNITY:
        *out = spread(rates, gap, 1, 0, false);
        break;
    case MEL_RATES_NEGATIVE_BALANCE:
        *out = spread(rates, gap, 0, 1, false);
        break;
    case MEL_RATES_ERROR_RATE_BALANCE:
        *out = 0.5 * (spread(rates, gap, 1, 0, false) + spread(rates, gap, 0, 1, false));
        break;
    case MEL_RATES_DEMOGRAPHIC_PARITY:
        *out = demographic_parity(rates, gap);
        break;
    }
    return MEL_OK;
}
