/* Whether rows, black box and options of an optimisation go together. */
#include "optimise/optimise.h"
#include "optimise/shared.h"

#include <math.h>

mel_status mel_optimise_check_rows(const char *what, const mel_weight_rows *rows, size_t k, size_t n_basis,
                                   mel_error *err)
{
    if (rows->n_rows == 0)
        return mel_fail(err, MEL_EDATA, "there are no %s rows", what);
    for (size_t i = 0; i < rows->n_rows; i++) {
        for (size_t j = 0; j < k && rows->probability != NULL; j++) /* else checked when they were read */
            if (!isfinite(rows->probability[i * k + j]))
                return mel_fail(err, MEL_EDATA, "%s row %zu: the probability %g is not finite", what, i + 1,
                                rows->probability[i * k + j]);
        for (size_t l = 0; rows->basis != NULL && l < n_basis; l++)
            if (!(rows->basis[i * n_basis + l] >= 0.0 && rows->basis[i * n_basis + l] <= 1.0))
                return mel_fail(err, MEL_EDATA,
                                "%s row %zu: basis function %zu is %g, expected a number from 0 to 1", what,
                                i + 1, l + 1, rows->basis[i * n_basis + l]);
        if (rows->label != NULL && rows->label[i] >= k)
            return mel_fail(err, MEL_EDATA, "%s row %zu: class %lu of %zu", what, i + 1,
                            (unsigned long)rows->label[i], k);
    }
    return MEL_OK;
}

static mel_status check_options(const mel_optimise_options *opt, const mel_black_box *box, size_t n_basis,
                                mel_error *err)
{
    if (!(opt->epsilon > 0.0 && opt->epsilon <= 1.0))
        return mel_fail(err, MEL_EINVAL, "epsilon is %g, expected a number above 0, at most 1", opt->epsilon);
    if (opt->iterations == 0 || opt->draws == 0)
        return mel_fail(err, MEL_EINVAL, "expected at least one iteration and one draw");
    if (opt->known && (box->value == NULL || box->gradient == NULL))
        return mel_fail(err, MEL_EINVAL, "the gradient of this metric is not known");
    if (opt->labels_only && box->judge == NULL)
        return mel_fail(err, MEL_EINVAL, "hard decisions are for metrics that judge decisions");
    if ((box->value == NULL) == (box->judge == NULL))
        return mel_fail(err, MEL_EINVAL, "a black box either values confusion entries or judges decisions");
    if (opt->shift != 0.0 && opt->shape == MEL_WEIGHT_WHOLE)
        return mel_fail(err, MEL_EINVAL, "a shifted system is for weights of the diagonal");
    return n_basis > 0 ? MEL_OK : mel_fail(err, MEL_EINVAL, "expected at least one basis function");
}

static mel_status check_train(size_t k, size_t n_basis, const mel_weight_rows *train,
                              const mel_optimise_options *opt, mel_error *err)
{
    mel_status status = MEL_OK;
    if (opt->engine != NULL && train->n_rows > 0)
        return mel_fail(err, MEL_EINVAL, "training rows here, and an engine that has them elsewhere");
    if (opt->engine != NULL)
        return n_basis == 1 ? MEL_OK
                            : mel_fail(err, MEL_EINVAL,
                                       "basis functions need the training rows in one place: an engine only "
                                       "adds up");
    if (train->n_rows > 0 && train->probability == NULL)
        status = mel_fail(err, MEL_EINVAL, "expected probabilities of the training rows");
    if (status == MEL_OK)
        status = mel_optimise_check_rows("training", train, k, n_basis, err);
    return status != MEL_OK || train->label != NULL
               ? status
               : mel_fail(err, MEL_EINVAL, "expected labels of the rows");
}

mel_status mel_optimise_check(size_t k, size_t n_basis, const mel_weight_rows *train,
                              const mel_weight_rows *validation, const mel_black_box *box,
                              const mel_optimise_options *opt, mel_error *err)
{
    TRY(check_options(opt, box, n_basis, err));
    if (opt->engine != NULL && opt->probes == MEL_PROBE_CONSTRAINED)
        return mel_fail(err, MEL_EINVAL, "constrained probes need the training rows in one place");
    TRY(check_train(k, n_basis, train, opt, err));
    if (validation->n_rows > 0 && validation->probability == NULL)
        return mel_fail(err, MEL_EINVAL, "expected probabilities of the validation rows");
    TRY(mel_optimise_check_rows("validation", validation, k, n_basis, err));
    if (validation->label == NULL && box->judge == NULL)
        return mel_fail(err, MEL_EINVAL, "expected labels of the rows");
    for (size_t i = 0; box->group != NULL && i < validation->n_rows; i++)
        if (box->group[i] >= box->n_groups)
            return mel_fail(err, MEL_EDATA, "validation row %zu: group %lu of %zu", i + 1,
                            (unsigned long)box->group[i], box->n_groups);
    return MEL_OK;
}
