/* --class-prior and --class-prior-from: shares that the classes are to have. */
#include "apply.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One NAME=SHARE; marks the class as given. */
static mel_status read_one(double *share, bool *given, char *text, const mel_problem *p, mel_error *err)
{
    char *sign = strrchr(text, '='), *end = NULL;
    if (sign == NULL)
        return cli_fail(err, MEL_EINVAL, "--class-prior %s: expected CLASS=SHARE", text);
    *sign = '\0';
    const size_t i = mel_name_place(text, p->n_classes, p->class_name);
    if (i == p->n_classes)
        return cli_fail(err, MEL_EINVAL, "--class-prior: there is no class \"%s\"; there are %s", text,
                        mel_name_list(p->n_classes, p->class_name).text);
    share[i] = mel_to_double(sign + 1, &end) / (*end == '%' ? 100.0 : 1.0);
    if (end == sign + 1 || (*end != '\0' && strcmp(end, "%") != 0) || !(share[i] > 0.0 && share[i] < 1.0))
        return cli_fail(err, MEL_EINVAL,
                        "--class-prior: the share of \"%s\" must be between 0 and 1, not \"%s\"", text,
                        sign + 1);
    if (given[i])
        return cli_fail(err, MEL_EINVAL, "--class-prior: \"%s\" is given twice", text);
    given[i] = true;
    return MEL_OK;
}

/* Classes that are not named keep their proportions among themselves. */
static mel_status share_out(double *share, const bool *given, const double *from, const mel_problem *p,
                            mel_error *err)
{
    double said = 0.0, rest = 0.0;
    bool all = true;
    for (size_t i = 0; i < p->n_classes; i++) {
        said += given[i] ? share[i] : 0.0;
        rest += given[i] ? 0.0 : from[i];
        all = all && given[i];
    }
    if (all ? fabs(said - 1.0) > 1e-6 : !(said < 1.0))
        return cli_fail(err, MEL_EINVAL, "--class-prior: the shares add up to %g", said);
    for (size_t i = 0; i < p->n_classes; i++)
        share[i] = all ? share[i] / said : given[i] ? share[i] : (1.0 - said) * from[i] / rest;
    return MEL_OK;
}

static mel_status read_given(double *share, const char *text, const double *from, const mel_problem *p,
                             mel_error *err)
{
    MEL_AUTO_MEMORY char **item = NULL;
    size_t n = 0;
    MEL_AUTO_MEMORY bool *given = cli_alloc_zero(p->n_classes, sizeof *given);
    TRY(mel_names_split(&item, &n, text, "class-prior", err));
    for (size_t i = 0; i < n; i++)
        TRY(read_one(share, given, item[i], p, err));
    return share_out(share, given, from, p, err);
}

static void say_estimates(const double *likely, const double *matched, double apart, const mel_problem *p,
                          cli_run *run)
{
    for (size_t i = 0; i < p->n_classes && i < 8; i++)
        cli_note(run, "--class-prior-from: %.1f%% are %s (by likelihood; %.1f%% by matching means)",
                 100.0 * likely[i], p->class_name[i], 100.0 * matched[i]);
    if (100.0 * apart > MEL_FAR_APART)
        cli_warn(run,
                 "--class-prior-from: the two estimates of the classes' shares differ by %.2f; the "
                 "probabilities may not mean the same there, so check the shares on some labelled rows or "
                 "give them with --class-prior",
                 apart);
}

static mel_status read_from(double *share, const cli_applied_rule *a, const cli_apply_args *args,
                            cli_run *run, mel_error *err)
{
    const mel_problem *p = a->problem;
    MEL_AUTO_CLEAR(mel_reader) reader = { 0 };
    MEL_AUTO_CLEAR(mel_proba) proba = { 0 };
    MEL_AUTO_CLEAR(mel_adjustment) adjustment = { 0 };
    TRY(cli_reader_init(&reader, &args->space.dataset.reading, run, err));
    TRY(mel_reader_share(&reader, err));
    TRY(mel_proba_read_classes(&proba, args->class_prior_from, &p->classes, &reader.options, err));
    if (proba.n_classes != p->n_classes)
        return cli_fail(err, MEL_EDATA, "%s has probabilities of %zu classes, expected %zu",
                        args->class_prior_from, proba.n_classes, p->n_classes);
    TRY(mel_proba_order(&proba, args->class_prior_from, args->space.columns, &p->classes, err));
    TRY(cli_apply_calibrate(&adjustment, a, false, args, err)); /* groups of these rows are not known */
    const mel_rule_rows rows = {
        .n_rows = p->n_rows, .n_classes = p->n_classes, .probability = p->probability, .label = p->label
    };
    MEL_AUTO_MEMORY double *matched = cli_alloc_zero(p->n_classes, sizeof *matched);
    double apart = 0.0;
    TRY(mel_rule_prior(share, matched, &apart, &rows, proba.n_rows, proba.value, &adjustment, err));
    say_estimates(share, matched, apart, p, run);
    return MEL_OK;
}

/* Shares of the classes among the rows. */
static void count_classes(double *share, const mel_problem *p)
{
    double total = 0.0;
    for (size_t r = 0; r < p->n_rows; r++) {
        const double weight = p->weight != NULL ? p->weight[r] : 1.0;
        share[p->label[r]] += weight;
        total += weight;
    }
    for (size_t i = 0; i < p->n_classes; i++)
        share[i] /= total;
}

mel_status cli_apply_prior(cli_applied_rule *a, const cli_apply_args *args, cli_run *run, mel_error *err)
{
    if (args->class_prior == NULL && args->class_prior_from == NULL)
        return cli_apply_calibrate(&a->adjustment, a, true, args, err);
    if (args->class_prior != NULL && args->class_prior_from != NULL)
        return cli_fail(err, MEL_EINVAL, "--class-prior and --class-prior-from exclude each other");
    const mel_problem *p = a->problem;
    double *from = cli_alloc_zero(p->n_classes, sizeof *from);
    double *share = cli_alloc_zero(p->n_classes, sizeof *share);
    count_classes(from, p);
    mel_status status = args->class_prior != NULL ? read_given(share, args->class_prior, from, p, err)
                                                  : read_from(share, a, args, run, err);
    a->class_share = share;
    if (status == MEL_OK)
        status = cli_apply_calibrate(&a->adjustment, a, true, args, err);
    if (status == MEL_OK && args->space.evidence != MEL_EVIDENCE_CALIBRATED)
        mel_adjustment_shift(&a->adjustment, p->n_classes, from, share);
    free(from);
    return status;
}
