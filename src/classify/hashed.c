/* Rules without coins that keep limits: a row more or less may miss one that the mixture keeps, so stricter
 * ones are tried, and then one rule for each group. */
#include "classify/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6 };
static const double meets = 1e-9;     /* limits that are missed by less hold */
static const double stricter = 1.5;   /* times what was missed */
static const double strictest = 0.25; /* of a limit from above */

static double missed(const mel_rule_report *report, const mel_rule_options *opt, size_t i)
{
    const double over = report->achieved[i] - opt->limit[i].bound;
    return fmax(0.0, opt->limit[i].at_least ? -over : over);
}

static double missed_most(const mel_rule_report *report, const mel_rule_options *opt)
{
    double most = 0.0;
    for (size_t i = 0; i < opt->n_limits; i++)
        most = fmax(most, missed(report, opt, i));
    return most;
}

/* Limits that the rule misses become stricter. */
static void tighten(mel_limit *limit, const mel_rule_report *report, const mel_rule_options *opt)
{
    for (size_t i = 0; i < opt->n_limits; i++) {
        const double by = stricter * missed(report, opt, i);
        limit[i].bound += limit[i].at_least ? by : -by;
        if (!limit[i].at_least)
            limit[i].bound = fmax(limit[i].bound, strictest * opt->limit[i].bound);
    }
}

/* Proofs and prices are about the limits as they were. */
static void take(mel_classifier **c, mel_rule_report *report, mel_classifier *other, mel_rule_report *of)
{
    double *price = report->price;
    const mel_rule_report before = *report;
    mel_classifier_free(*c);
    *c = other;
    report->price = of->price;
    of->price = price;
    mel_rule_report_clear(report);
    *report = *of;
    report->optimum = before.optimum;
    report->bound = before.bound;
    report->certified = before.certified;
    report->starts = before.starts;
    report->steps = before.steps;
}

/* The rule takes the place of *c if it misses limits less; last: what it misses, to be tightened. */
static mel_status try_other(mel_classifier **c, mel_rule_report *report, mel_limit *limit,
                            const mel_rule_rows *rows, const mel_metric *metric, const char *name,
                            const mel_rule_options *opt, const mel_rule_options *other, mel_error *err)
{
    mel_classifier *found = NULL;
    mel_rule_report of = { 0 };
    mel_error why = { 0 };
    const mel_status status = mel_rule_find_once(&found, &of, rows, metric, name, other, &why);
    if (status != MEL_OK)
        return status == MEL_ENOMEM || status == MEL_ESTOPPED ? mel_fail(err, status, "%s", why.text)
                                                              : MEL_OK;
    tighten(limit, &of, opt);
    if (missed_most(&of, opt) < missed_most(report, opt) && of.violation == 0.0) {
        take(c, report, found, &of);
        return MEL_OK;
    }
    mel_classifier_free(found);
    mel_rule_report_clear(&of);
    return MEL_OK;
}

mel_status mel_rule_keep_limits(mel_classifier **c, mel_rule_report *report, const mel_rule_rows *rows,
                                const mel_metric *metric, const char *name, const mel_rule_options *opt,
                                mel_error *err)
{
    mel_status status = MEL_OK;
    if (report->violation > 0.0 || missed_most(report, opt) <= meets)
        return MEL_OK;
    mel_limit *limit = mel_alloc(opt->n_limits, sizeof *limit);
    if (limit == NULL)
        return mel_fail_memory(err, "limits");
    memcpy(limit, opt->limit, opt->n_limits * sizeof *limit);
    tighten(limit, report, opt);
    mel_rule_options other = *opt;
    other.limit = limit;
    for (size_t round = 0; round < ROUNDS && status == MEL_OK && missed_most(report, opt) > meets; round++)
        status = try_other(c, report, limit, rows, metric, name, opt, &other, err);
    other.limit = opt->limit;
    other.form = MEL_RULE_THRESHOLD;
    if (status == MEL_OK && missed_most(report, opt) > meets)
        status = try_other(c, report, limit, rows, metric, name, opt, &other, err);
    free(limit);
    return status;
}
