/* Training where no process sees all rows: sums over the rows of a file, and a Newton step on merged ones. */
#include "model/moments.h"
#include "model/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t sums_of(const mel_model *model)
{
    return mel_moments_size(MEL_MOMENTS_TRAINING, model->n_classes, model->n_features);
}

/* --- sums at a model ---------------------------------------------------------------------------- */

/* What the coefficients are, for those who merge. */
static mel_status digest_model(char digest[MEL_DIGEST_HEX], const mel_model *model, mel_error *err)
{
    const size_t p = (model->n_features + 1) * model->n_outputs;
    double *theta = mel_alloc(p, sizeof *theta);
    if (theta == NULL)
        return mel_fail_memory(err, "the coefficients");
    mel_model_theta(model, theta);
    mel_digest(theta, p * sizeof *theta, digest);
    free(theta);
    return MEL_OK;
}

/* Between the sums of an objective and those of a file. */
static void copy_sums(mel_objective *obj, double *sum, bool into_objective)
{
    const size_t k = obj->n_classes, d = obj->n_features + 1, pairs = k * (k - 1) / 2;
    for (size_t i = 0; i < 1 + d * obj->n_outputs; i++) {
        double *of =
            i == 0 ? obj->sum : &obj->sum[1 + (i - 1) / obj->n_outputs * obj->ld + (i - 1) % obj->n_outputs];
        if (into_objective)
            *of += sum[i];
        else
            sum[i] = *of;
    }
    sum += 1 + d * obj->n_outputs;
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b <= a; b++)
            for (size_t pair = 0; pair < pairs; pair++, sum++) {
                double *of = mel_objective_curvature(obj, a, b, pair);
                if (into_objective)
                    *of += *sum;
                else
                    *sum = *of;
            }
}

static mel_status check_model(const mel_model *at, mel_error *err)
{
    if (at->calibration != MEL_CALIBRATE_NONE)
        return mel_fail(err, MEL_EINVAL,
                        "the model is calibrated; moments are of models as they are trained");
    if (sums_of(at) == 0)
        return mel_fail(err, MEL_ELIMIT, "%zu features for %zu classes are too many for Newton's method",
                        at->n_features, at->n_classes);
    return MEL_OK;
}

static mel_status check_rows(double *total, const mel_model *at, const mel_features *x, const uint32_t *y,
                             const double *weight, mel_error *err)
{
    static const double largest = 1e100; /* its square must not be too large either */
    if (x->n_cols != at->n_features)
        return mel_fail(err, MEL_EINVAL, "%zu features, the model has %zu", x->n_cols, at->n_features);
    for (size_t i = 0; i < x->n_rows; i++)
        if (y[i] >= at->n_classes)
            return mel_fail(err, MEL_EINVAL, "row %zu: class code %u, but there are %zu classes", i + 1, y[i],
                            at->n_classes);
    const mel_status status = mel_weights_check(total, weight, x->n_rows, err);
    return status == MEL_OK ? mel_features_check(x, largest, "moments", err) : status;
}

static mel_status take_sums(mel_moments_part *part, const mel_model *at, mel_objective *obj, mel_error *err)
{
    double *theta = mel_alloc((at->n_features + 1) * at->n_outputs, sizeof *theta);
    mel_status status = theta != NULL ? mel_objective_init(obj, true, err) : mel_fail_memory(err, "moments");
    if (status == MEL_OK) {
        mel_model_theta(at, theta);
        mel_blas_hold();
        mel_objective_sums(obj, theta, true);
        mel_blas_release();
        copy_sums(obj, part->sum, false);
        mel_objective_clear(obj);
    }
    free(theta);
    return status;
}

mel_status mel_moments_take(mel_moments **out, const mel_model *at, const char *file, const mel_features *x,
                            const uint32_t *y, const double *weight, int threads, mel_error *err)
{
    *out = NULL;
    mel_objective obj = { .x = x, .y = y, .weight = weight, .n_classes = at->n_classes, .threads = threads };
    mel_status status = check_model(at, err);
    if (status == MEL_OK)
        status = check_rows(&obj.total, at, x, y, weight, err);
    if (status != MEL_OK)
        return status;
    mel_moments *m = mel_moments_new(MEL_MOMENTS_TRAINING, at->n_classes, at->n_features, NULL);
    mel_moments_part part = { 0 };
    if (m == NULL)
        return mel_fail_memory(err, "moments");
    status = mel_moments_part_new(&part, m, file, x->n_rows, 0, NULL) ? digest_model(m->at, at, err)
                                                                      : mel_fail_memory(err, "moments");
    part.weight = obj.total;
    if (status == MEL_OK)
        status = take_sums(&part, at, &obj, err);
    if (status == MEL_OK && !isfinite(part.sum[0]))
        status = mel_fail(err, MEL_ENUMERIC, "the log-loss is %g: the features are too large", part.sum[0]);
    if (status == MEL_OK)
        status = mel_moments_add(m, &part, err);
    mel_moments_part_clear(&part);
    return mel_moments_finish(out, m, status);
}

/* --- a step ------------------------------------------------------------------------------------- */

static mel_status step_from(mel_model *model, mel_fit_report *report, mel_objective *obj, double tolerance,
                            mel_error *err)
{
    const size_t p = obj->n_params;
    double *theta = mel_alloc(3 * p, sizeof *theta);
    if (theta == NULL)
        return mel_fail_memory(err, "the coefficients");
    double *gradient = theta + p, *step = theta + 2 * p;
    mel_model_theta(model, theta);
    const double value = mel_objective_of_sums(obj, theta, gradient);
    *report = (mel_fit_report){ .reason = MEL_FIT_CONVERGED,
                                .solver = MEL_SOLVER_NEWTON,
                                .objective = value,
                                .log_loss = obj->sum[0] / obj->total,
                                .gradient_norm = mel_gradient_norm(obj, gradient) };
    mel_status status = MEL_OK;
    if (report->gradient_norm > tolerance) {
        report->reason = MEL_FIT_BUDGET;
        report->iterations = 1;
        mel_blas_hold();
        status = mel_newton_step(step, obj, gradient, err);
        mel_blas_release();
        for (size_t i = 0; i < p && status == MEL_OK; i++)
            theta[i] += step[i];
    }
    if (status == MEL_OK) {
        mel_objective_centre(obj, theta);
        mel_model_set_theta(model, theta);
        model->report = *report;
        model->fitted = true;
        model->l2 = obj->l2;
    }
    free(theta);
    return status;
}

static mel_status check_step(const mel_model *model, const mel_moments *m, mel_error *err)
{
    char at[MEL_DIGEST_HEX];
    mel_status status = mel_moments_expect(m, MEL_MOMENTS_TRAINING, err);
    if (status == MEL_OK)
        status = check_model(model, err);
    if (status == MEL_OK)
        status = digest_model(at, model, err);
    if (status == MEL_OK &&
        (m->n_classes != model->n_classes || m->n_columns != model->n_features || strcmp(at, m->at) != 0))
        status = mel_fail(err, MEL_EDATA, "the moments were taken at another model");
    return status;
}

mel_status mel_model_step(mel_model *model, mel_fit_report *report, const mel_moments *m,
                          const mel_fit_options *opt, mel_error *err)
{
    mel_fit_options options;
    mel_fit_options_init(&options);
    mel_status status = mel_options_take(&options, sizeof options, opt, "fit options", err);
    if (status == MEL_OK && !(options.l2 >= 0.0 && isfinite(options.l2)))
        status = mel_fail(err, MEL_EINVAL, "l2 is %g", options.l2);
    if (status == MEL_OK)
        status = check_step(model, m, err);
    if (status != MEL_OK)
        return status;
    const mel_features none = { .n_cols = m->n_columns };
    mel_objective obj = { .x = &none, .n_classes = m->n_classes, .l2 = options.l2, .threads = 1 };
    mel_fit_report own;
    status = mel_objective_init(&obj, true, err);
    for (size_t i = 0; i < m->n && status == MEL_OK; i++) {
        copy_sums(&obj, m->part[i].sum, true);
        obj.total += m->part[i].weight;
    }
    if (status == MEL_OK)
        status = step_from(model, report != NULL ? report : &own, &obj, options.tolerance, err);
    mel_objective_clear(&obj);
    return status;
}
