/* Populations known in closed form, as grids: midpoints of X, uniform on [-1, 1], are the rows. */
#include "space/face.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>

/* A decision may change in the middle of a cell, which moves a statistic by half of its share at most: 5e-6
 * with two classes, 5e-5 with more, whose steps read all cells. What is best for a direction is right to the
 * square of that. */
enum { CELLS = 100000, CELLS_OF_MANY = 10000, MOST_CLASSES = 100 };

static double midpoint(size_t cell, size_t cells)
{
    return (2.0 * (double)cell + 1.0) / (double)cells - 1.0;
}

/* --- two classes ---------------------------------------------------------------------------------- */

/* Each cell is a positive row and a negative one, as heavy as their probabilities. */
static mel_status logistic_rows(double *score, double *weight, uint8_t *role, double a, double b,
                                mel_error *err)
{
    const double rarest = 1e-10; /* weights are whole numbers of 2^-62 */
    double share[2] = { 0.0, 0.0 };
    for (size_t i = 0; i < CELLS; i++) {
        const double logit = -(a * midpoint(i, CELLS) + b);
        for (size_t j = 0; j < 2; j++) {
            score[2 * i + j] = mel_sigmoid(logit);
            weight[2 * i + j] = mel_sigmoid(j == 0 ? logit : -logit);
            role[2 * i + j] = j == 0 ? MEL_ROW_POSITIVE : MEL_ROW_NEGATIVE;
            share[j] += weight[2 * i + j] / CELLS;
        }
    }
    if (share[0] >= rarest && share[1] >= rarest)
        return MEL_OK;
    return mel_fail(err, MEL_EINVAL, "population logistic:a=%g,b=%g has no %s", a, b,
                    share[0] >= rarest ? "negatives" : "positives");
}

mel_status mel_face_from_logistic(mel_face **out, double a, double b, mel_error *err)
{
    const double largest = 1e300;
    const size_t n = 2 * (size_t)CELLS;
    *out = NULL;
    if (!(fabs(a) <= largest) || !(fabs(b) <= largest))
        return mel_fail(err, MEL_EINVAL, "population logistic:a=%g,b=%g: expected numbers up to 1e300", a, b);
    MEL_AUTO_MEMORY double *number = mel_alloc(2 * n, sizeof *number);
    MEL_AUTO_MEMORY uint8_t *role = mel_alloc(n, sizeof *role);
    if (number == NULL || role == NULL)
        return mel_fail_memory(err, "a population");
    TRY(logistic_rows(number, number + n, role, a, b, err));
    TRY(mel_face_from_scores(out, n, number, role, number + n, err));
    (*out)->population = true;
    return MEL_OK;
}

/* --- more classes --------------------------------------------------------------------------------- */

static mel_status check_slopes(size_t n_classes, const double *slope, mel_error *err)
{
    const double steepest = 700.0; /* exp(700) is finite */
    bool differ = false;
    if (n_classes < 2 || n_classes > MOST_CLASSES)
        return mel_fail(err, MEL_EINVAL, "a softmax population of %zu classes, expected 2 to %d", n_classes,
                        MOST_CLASSES);
    for (size_t i = 0; i < n_classes; i++) {
        if (!(fabs(slope[i]) <= steepest))
            return mel_fail(err, MEL_EINVAL, "softmax population: slope %zu is %g, expected -%g to %g", i + 1,
                            slope[i], steepest, steepest);
        differ = differ || slope[i] != slope[0];
    }
    if (!differ)
        return mel_fail(err, MEL_EINVAL, "softmax population: all slopes are %g, so x says nothing",
                        slope[0]);
    return MEL_OK;
}

static void softmax_row(double *p, size_t k, const double *slope, double x)
{
    double top = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < k; i++)
        top = fmax(top, -slope[i] * x);
    for (size_t i = 0; i < k; i++) {
        p[i] = exp(-slope[i] * x - top);
        sum += p[i];
    }
    for (size_t i = 0; i < k; i++)
        p[i] /= sum;
}

mel_status mel_space_from_softmax(mel_space **out, size_t n_classes, const double *slope,
                                  const mel_space_options *opt, mel_error *err)
{
    *out = NULL;
    TRY(check_slopes(n_classes, slope, err));
    mel_space_options options;
    mel_space_options_init(&options);
    TRY(mel_options_take(&options, sizeof options, opt, "space options", err));
    options.evidence = MEL_BY_MODEL; /* the probabilities are those of the population */
    MEL_AUTO_MEMORY double *probability = mel_alloc(CELLS_OF_MANY, n_classes * sizeof *probability);
    MEL_AUTO_MEMORY uint32_t *label = mel_alloc(CELLS_OF_MANY, sizeof *label);
    if (probability == NULL || label == NULL)
        return mel_fail_memory(err, "a population");
    for (size_t r = 0; r < CELLS_OF_MANY; r++) {
        softmax_row(probability + r * n_classes, n_classes, slope, midpoint(r, CELLS_OF_MANY));
        label[r] = (uint32_t)(r % n_classes); /* unused, but a row has one */
    }
    const mel_rows rows = {
        .n_rows = CELLS_OF_MANY, .n_classes = n_classes, .probability = probability, .label = label
    };
    TRY(mel_space_from_sample(out, &rows, &options, err));
    (*out)->population = true;
    (*out)->own_probability = probability;
    (*out)->own_label = label;
    probability = NULL;
    label = NULL;
    return MEL_OK;
}
