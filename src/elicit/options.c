/* Which options of a session go together, and the session's own copy of them. */
#include "elicit/options.h"

#include "elicit/assumption.h"
#include "elicit/families/families.h"
#include "elicit/option_value.h"
#include "metric/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For searches on a sphere: neighbours that are t apart differ in direction by t, which rounding leaves known
 * to about 2e-16/t. */
static const double least_tolerance = 1e-7;

/* --- which family is for which domain ----------------------------------------------------------- */

const mel_layout *mel_domain_layout(const mel_domain *domain)
{
    if (domain->face != NULL)
        return &mel_binary_layout;
    if (domain->pool != NULL)
        return &domain->pool->layout;
    return domain->space != NULL ? mel_space_layout(domain->space) : mel_ball_layout(domain->ball);
}

bool mel_asks_exchange(const mel_session_options *opt, const mel_domain *domain)
{
    return domain->face != NULL && opt->strategy == MEL_STRATEGY_ACTIVE && opt->family == MEL_FAMILY_LINEAR &&
           opt->direction != MEL_DIRECTION_UNKNOWN && opt->questions != MEL_QUESTIONS_FAR;
}

bool mel_asks_near_best(const mel_session_options *opt, const mel_domain *domain)
{
    const bool wanted = opt->until == MEL_UNTIL_RULE || opt->questions == MEL_QUESTIONS_REALISTIC;
    return opt->strategy == MEL_STRATEGY_ACTIVE && wanted && mel_elicit_of(opt->family)->near_best &&
           (domain->space != NULL || domain->frontier != NULL);
}

static unsigned place_of(const mel_domain *domain)
{
    const mel_layout *layout = mel_domain_layout(domain);
    const bool diagonal = layout->coordinates == MEL_DIAGONAL, groups = layout->n_groups > 1;
    if (domain->face != NULL)
        return MEL_ON_FACE;
    if (domain->space != NULL)
        return diagonal && !groups ? MEL_ON_SPACE : 0;
    if (groups)
        return diagonal ? 0 : MEL_ON_GROUPS;
    return diagonal ? MEL_ON_DIAGONAL_BALL : MEL_ON_BALL;
}

static void print_place(char *text, size_t n, const mel_domain *domain)
{
    const mel_layout *layout = mel_domain_layout(domain);
    const char *what = layout->coordinates == MEL_DIAGONAL ? "diagonal"
                       : layout->coordinates == MEL_BINARY ? "binary"
                                                           : "off-diagonal";
    if (domain->face != NULL)
        (void)snprintf(text, n, "a planar face");
    else if (domain->pool != NULL)
        (void)snprintf(text, n, "%zu given classifiers", domain->pool->n);
    else if (layout->n_groups > 1)
        (void)snprintf(text, n, "a %s of %s statistics with %zu groups",
                       domain->space != NULL ? "space" : "ball", what, layout->n_groups);
    else
        (void)snprintf(text, n, "a %s of %s statistics", domain->space != NULL ? "space" : "ball", what);
}

/* Given classifiers are compared as they are: pairs cannot be made to suit a procedure or to be simple. */
static mel_status check_candidates(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (mel_elicit_of(opt->family)->basis == NULL || mel_elicit_of(opt->family)->paired)
        return mel_fail(err, MEL_EINVAL,
                        "given classifiers are asked about in search of metrics that are linear in known "
                        "features; %s metrics are not",
                        mel_family_name(opt->family));
    if (opt->strategy == MEL_STRATEGY_SEARCH)
        return mel_fail(
            err, MEL_EINVAL,
            "a search asks about pairs of its own making; given classifiers are asked about by the "
            "active strategy");
    if (opt->simple_questions)
        return mel_fail(err, MEL_EINVAL,
                        "simple_questions: given classifiers differ in whatever numbers they differ in");
    if (opt->questions != MEL_QUESTIONS_FAR)
        return mel_fail(
            err, MEL_EINVAL,
            "questions %s: given classifiers are asked about as they are; no other pairs are made",
            mel_option_find("questions")->words[opt->questions]);
    if (opt->tolerance_factor != 0.0)
        return mel_fail(
            err, MEL_EINVAL,
            "tolerance %gx: sessions about given classifiers end by their order or by a tolerance "
            "of all weights",
            opt->tolerance_factor);
    return domain->pool->n >= 2
               ? MEL_OK
               : mel_fail(err, MEL_EINVAL, "questions compare at least 2 classifiers, not %zu",
                          domain->pool->n);
}

static mel_status check_family(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const mel_elicit_ops *family = mel_elicit_of(opt->family);
    if (family == NULL)
        return mel_fail(err, MEL_EINVAL, "family %d does not exist", (int)opt->family);
    if (domain->pool != NULL)
        return check_candidates(opt, domain, err);
    if ((family->where & place_of(domain)) != 0)
        return MEL_OK;
    char place[96];
    print_place(place, sizeof place, domain);
    return mel_fail(err, MEL_EINVAL, "family %s needs %s, not %s", mel_family_name(opt->family),
                    family->needs, place);
}

/* --- every option by its row -------------------------------------------------------------------- */

bool mel_option_in_family(const mel_option *row, mel_family family)
{
    return row->families == 0 || (row->families & mel_elicit_of(family)->reads) != 0;
}

/* Whether a session of this strategy and family reads the option on the domain. */
static bool is_read(const mel_option *row, const mel_session_options *opt, const mel_domain *domain)
{
    const unsigned where = domain->face != NULL    ? MEL_ON_FACE
                           : domain->space != NULL ? MEL_ON_SPACE
                                                   : MEL_ON_BALL;
    return (row->strategies == 0 || (row->strategies & (1U << opt->strategy)) != 0) &&
           (row->domains == 0 || (row->domains & where) != 0) && mel_option_in_family(row, opt->family);
}

/* None is silently ignored. */
static mel_status refuse_unread(const mel_option *row, const mel_session_options *opt,
                                const mel_domain *domain, mel_error *err)
{
    char name[MEL_OPTION_NAME], place[96];
    const char *word = row->type == MEL_OPTION_WORD ? row->words[mel_option_get(opt, row).whole] : "";
    mel_option_name(name, row);
    print_place(place, sizeof place, domain);
    return mel_fail(err, MEL_EINVAL,
                    "%s%s%s is for %s; here %s looks for %s metrics on %s, which does not know it", name,
                    word[0] != '\0' ? " " : "", word, row->readers,
                    opt->strategy == MEL_STRATEGY_SEARCH ? "a search" : "the active strategy",
                    mel_family_name(opt->family), place);
}

static mel_status check_rows(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    size_t n;
    const mel_option *rows = mel_option_table(&n);
    for (size_t i = 0; i < n; i++) {
        const bool ignored = rows[i].readers == NULL && !is_read(&rows[i], opt, domain);
        const mel_status status = ignored ? MEL_OK : mel_option_check(opt, &rows[i], err);
        if (status != MEL_OK)
            return status;
    }
    for (size_t i = 0; i < n; i++)
        if (rows[i].readers != NULL && mel_option_is_set(opt, &rows[i]) && !is_read(&rows[i], opt, domain))
            return refuse_unread(&rows[i], opt, domain, err);
    if (!mel_assumption_is_valid(&opt->assume))
        return mel_fail(err, MEL_EINVAL, "assume: noise of kind %d cannot have size %g",
                        (int)opt->assume.kind, opt->assume.size);
    return MEL_OK;
}

/* --- what goes together ------------------------------------------------------------------------- */

size_t mel_sign_count(const mel_layout *layout)
{
    mel_layout one = *layout;
    one.n_groups = 0;
    return mel_layout_size(&one);
}

static mel_status check_signs(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (opt->signs == NULL)
        return MEL_OK;
    const size_t n = mel_sign_count(mel_domain_layout(domain));
    for (size_t i = 0; i < n; i++)
        if (opt->signs[i] < -1 || opt->signs[i] > 1)
            return mel_fail(err, MEL_EINVAL, "sign %zu is %d; there are -1, 1 and, for unknown, 0", i + 1,
                            (int)opt->signs[i]);
    return MEL_OK;
}

/* The pool whose order ends a session: its own candidates unless another pool is given. */
static mel_status check_pool(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (domain->pool != NULL && opt->n_pool == 0)
        return MEL_OK;
    const size_t size = mel_layout_size(mel_domain_layout(domain));
    if (opt->n_pool == 0)
        return mel_fail(err, MEL_EINVAL,
                        "until rank: there are no classifiers to be put in order; rank:POOL names them");
    if (opt->n_pool < 2 || opt->pool == NULL)
        return mel_fail(err, MEL_EINVAL, "until rank: a pool of %zu classifiers has no order", opt->n_pool);
    if (opt->n_pool > MEL_MOST_POOL_NUMBERS / size)
        return mel_fail(err, MEL_EINVAL,
                        "until rank: a pool of %zu classifiers is too large; %zu are allowed", opt->n_pool,
                        MEL_MOST_POOL_NUMBERS / size);
    for (size_t i = 0; i < opt->n_pool * size; i++)
        if (!isfinite(opt->pool[i]))
            return mel_fail(err, MEL_EINVAL, "until rank: statistic %zu of classifier %zu is %g",
                            i % size + 1, i / size + 1, opt->pool[i]);
    return MEL_OK;
}

mel_standing *mel_standing_of(const mel_session_options *opt)
{
    const mel_decisions *by = opt->decisions;
    if (by == NULL || opt->until == MEL_UNTIL_TOLERANCE || opt->until == MEL_UNTIL_DECISION)
        return NULL;
    return opt->until == MEL_UNTIL_RANK ? by->rank : opt->until == MEL_UNTIL_RULE ? by->rule : by->threshold;
}

/* Questions near the best are about the rule; the table tells when that is settled. asked: far ones are not
 * meant. */
static bool judges_rule(const mel_session_options *opt, const mel_domain *domain, bool asked)
{
    mel_session_options then = *opt;
    then.until = asked ? MEL_UNTIL_RULE : MEL_UNTIL_TOLERANCE;
    return domain->face == NULL && mel_asks_near_best(&then, domain) && mel_family_about(opt->family)->sum &&
           opt->decisions != NULL && opt->decisions->rule != NULL;
}

static bool has_usual_tolerance(const mel_session_options *opt)
{
    return opt->tolerance == mel_option_usual(mel_option_find("tolerance")).number &&
           opt->tolerance_factor == MEL_USUAL_FACTOR;
}

mel_status mel_options_resolve(mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const mel_until asked = opt->until;
    if (asked != MEL_UNTIL_DECISION && asked != MEL_UNTIL_RATIO && asked != MEL_UNTIL_AUTO)
        return MEL_OK;
    const bool exchange = mel_asks_exchange(opt, domain);
    const bool rule = judges_rule(opt, domain, asked == MEL_UNTIL_DECISION);
    const mel_until decision = exchange ? MEL_UNTIL_DECISION : rule ? MEL_UNTIL_RULE : MEL_UNTIL_TOLERANCE;
    opt->until = MEL_UNTIL_TOLERANCE;
    if (asked == MEL_UNTIL_RATIO)
        return exchange && opt->tolerance_factor > 0.0
                   ? MEL_OK
                   : mel_fail(err, MEL_EINVAL,
                              "until ratio is for linear metrics of two classes with realistic or imagined "
                              "questions and a tolerance that is a factor, such as 1.6x");
    if (asked == MEL_UNTIL_DECISION || has_usual_tolerance(opt))
        opt->until = decision;
    if (asked == MEL_UNTIL_DECISION && decision == MEL_UNTIL_TOLERANCE)
        return mel_fail(err, MEL_EINVAL,
                        "until decision is for linear metrics with realistic questions about classifiers "
                        "that are known: data, probabilities or a population");
    return MEL_OK;
}

static mel_status check_until(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (opt->until == MEL_UNTIL_THRESHOLD && (domain->face == NULL || !mel_family_about(opt->family)->sum))
        return mel_fail(err, MEL_EINVAL,
                        "until threshold is for linear metrics of two classes, where one threshold is best");
    const bool classifiers = domain->space != NULL || domain->frontier != NULL;
    if (opt->until == MEL_UNTIL_RULE &&
        (!classifiers || domain->face != NULL || !mel_family_about(opt->family)->sum))
        return mel_fail(
            err, MEL_EINVAL,
            "until rule is for linear metrics of k classes, with data, probabilities or a population "
            "whose classifiers are known; of two classes, until threshold");
    const mel_status status = opt->until == MEL_UNTIL_RANK ? check_pool(opt, domain, err) : MEL_OK;
    const bool by_engine = opt->until == MEL_UNTIL_TOLERANCE || opt->until == MEL_UNTIL_DECISION;
    if (status == MEL_OK && !by_engine && mel_standing_of(opt) == NULL)
        return mel_fail(err, MEL_EINVAL, "until %s: the options name no decisions that could tell",
                        mel_option_find("until")->words[opt->until]);
    return status;
}

static mel_status check_metric(const char *which, const mel_metric *metric, const mel_session_options *opt,
                               const mel_domain *domain, mel_error *err)
{
    if (mel_metric_family(metric) != opt->family)
        return mel_fail(err, MEL_EINVAL, "the %s metric is a %s metric, the session looks for a %s one",
                        which, mel_family_name(mel_metric_family(metric)), mel_family_name(opt->family));
    if (!mel_layout_equal(mel_metric_layout(metric), mel_domain_layout(domain)))
        return mel_fail(err, MEL_EINVAL,
                        "the %s metric is about other statistics (kind, coordinates, classes or groups)",
                        which);
    return MEL_OK;
}

static mel_status check_prior(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const mel_metric *prior = opt->prior;
    if (prior == NULL)
        return opt->prior_strength == 0.0
                   ? MEL_OK
                   : mel_fail(err, MEL_EINVAL, "a prior of strength %g without a metric",
                              opt->prior_strength);
    if (!(opt->prior_strength > 0.0))
        return mel_fail(err, MEL_EINVAL, "a prior of strength %g: expected a number above 0",
                        opt->prior_strength);
    TRY(check_metric("prior", prior, opt, domain, err));
    if (mel_family_about(opt->family)->degree == 0 && mel_metric_degree(prior) != opt->degree)
        return mel_fail(err, MEL_EINVAL, "the prior metric has the degree %u, not %u",
                        mel_metric_degree(prior), opt->degree);
    return MEL_OK;
}

/* Questions that fall back on far ones fall back on the plain tolerance. */
static mel_status check_factor(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const bool linear = domain->face != NULL && opt->family == MEL_FAMILY_LINEAR;
    if (opt->tolerance_factor == 0.0 || linear || opt->questions != MEL_QUESTIONS_FAR)
        return MEL_OK;
    return mel_fail(err, MEL_EINVAL,
                    "tolerance %gx: a factor of the cost ratio is for linear metrics of two classes",
                    opt->tolerance_factor);
}

/* --- searches of slopes at several places ------------------------------------------------------- */

static mel_status check_known(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    if (opt->known == NULL)
        return opt->known_costs_only ? mel_fail(err, MEL_EINVAL, "known costs without a metric") : MEL_OK;
    return check_metric("known", opt->known, opt, domain, err);
}

static mel_status check_slopes(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const bool places = (mel_elicit_of(opt->family)->reads & MEL_READS_PLACES) != 0;
    if (places && opt->strategy == MEL_STRATEGY_SEARCH && opt->tolerance < least_tolerance)
        return mel_fail(err, MEL_EINVAL, "tolerance %g: below %g rounding would decide the search",
                        opt->tolerance, least_tolerance);
    return check_known(opt, domain, err);
}

mel_status mel_options_check(const mel_session_options *opt, const mel_domain *domain, mel_error *err)
{
    const int given =
        (domain->face != NULL) + (domain->space != NULL) + (domain->ball != NULL) + (domain->pool != NULL);
    if (given != 1)
        return mel_fail(err, MEL_EINVAL,
                        "a session is about a face, a space, a ball or a pool: one of them, not %d", given);
    TRY(check_family(opt, domain, err));
    TRY(check_rows(opt, domain, err));
    TRY(check_until(opt, domain, err));
    TRY(check_prior(opt, domain, err));
    TRY(check_factor(opt, domain, err));
    TRY(check_slopes(opt, domain, err));
    return check_signs(opt, domain, err);
}

/* --- the session's own copy --------------------------------------------------------------------- */

static void drop_names(size_t n, char **names)
{
    for (size_t i = 0; names != NULL && i < n; i++)
        free(names[i]);
    free(names);
}

void mel_options_drop(mel_kept_options *kept)
{
    drop_names(kept->n_classes, kept->class_names);
    drop_names(kept->n_groups, kept->group_names);
    free(kept->signs);
    free(kept->pool);
    mel_metric_free(kept->prior);
    mel_metric_free(kept->known);
    *kept = (mel_kept_options){ .n_classes = 0 };
}

void mel_session_options_free(mel_session_options *opt)
{
    mel_kept_options *kept = (mel_kept_options *)opt; /* its first member */
    if (kept == NULL)
        return;
    mel_options_drop(kept);
    free(kept);
}

/* NULL when there are none. */
static bool keep_names(char ***out, size_t n, const char *const *names)
{
    if (names == NULL)
        return true;
    char **copy = mel_alloc_zero(n, sizeof *copy);
    *out = copy;
    bool all = copy != NULL;
    for (size_t i = 0; i < n && all; i++) {
        copy[i] = mel_strdup(names[i]);
        all = copy[i] != NULL;
    }
    return all;
}

/* A copy, or NULL of NULL. */
static mel_status keep_metric(mel_metric **kept, const mel_metric **value, const mel_metric *lent,
                              mel_error *err)
{
    if (lent == NULL)
        return MEL_OK;
    TRY(mel_metric_copy(kept, lent, err));
    *value = *kept;
    return MEL_OK;
}

/* The pool, the prior and the known metric. */
static mel_status keep_purpose(mel_kept_options *kept, const mel_session_options *opt,
                               const mel_layout *layout, mel_error *err)
{
    if (opt->until == MEL_UNTIL_RANK && opt->pool != NULL) {
        const size_t n = opt->n_pool * mel_layout_size(layout);
        kept->pool = mel_alloc(n, sizeof *kept->pool);
        if (kept->pool == NULL)
            return mel_fail_memory(err, "the pool");
        memcpy(kept->pool, opt->pool, n * sizeof *kept->pool);
    }
    kept->values.n_pool = kept->pool != NULL ? opt->n_pool : 0;
    kept->values.pool = kept->pool;
    TRY(keep_metric(&kept->prior, &kept->values.prior, opt->prior, err));
    return keep_metric(&kept->known, &kept->values.known, opt->known, err);
}

mel_status mel_options_keep(mel_kept_options *kept, const mel_session_options *opt, const mel_layout *layout,
                            mel_error *err)
{
    *kept =
        (mel_kept_options){ .values = *opt, .n_classes = layout->n_classes, .n_groups = layout->n_groups };
    kept->values.class_names = NULL;
    kept->values.group_names = NULL;
    kept->values.signs = NULL;
    kept->values.pool = NULL;
    kept->values.prior = NULL;
    kept->values.known = NULL;
    if (!keep_names(&kept->class_names, kept->n_classes, opt->class_names))
        return mel_fail_memory(err, "the class names");
    if (layout->n_groups > 1 && !keep_names(&kept->group_names, kept->n_groups, opt->group_names))
        return mel_fail_memory(err, "the group names");
    kept->values.class_names = (const char *const *)kept->class_names;
    kept->values.group_names = (const char *const *)kept->group_names;
    const mel_status status = keep_purpose(kept, opt, layout, err);
    if (status != MEL_OK || opt->signs == NULL)
        return status;
    const size_t n = mel_sign_count(layout);
    kept->signs = mel_alloc(n, sizeof *kept->signs);
    if (kept->signs == NULL)
        return mel_fail_memory(err, "the signs");
    memcpy(kept->signs, opt->signs, n * sizeof *kept->signs);
    kept->values.signs = kept->signs;
    return MEL_OK;
}
