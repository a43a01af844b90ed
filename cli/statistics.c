/* From counts of predictions to statistics. */
#include "statistics.h"
#include "output.h"

/* The coordinates of group g from its k x k counts: divided by all rows, or by those of the true class. */
static mel_status read_group(double *out, const mel_layout *layout, size_t g, const double *count,
                             double total, const char *const *class_name, const char *const *group_name,
                             mel_error *err)
{
    const size_t k = layout->n_classes;
    const bool grouped = layout->n_groups > 1;
    for (size_t i = 0, at = 0; i < k; i++) {
        double row = 0.0;
        for (size_t j = 0; j < k; j++)
            row += count[i * k + j];
        if (layout->kind == MEL_RATES && row == 0.0)
            return cli_fail(err, MEL_EDATA, "%s%s%s no rows of class \"%s\": its rates are 0/0",
                            grouped ? "group \"" : "there are", grouped ? group_name[g] : "",
                            grouped ? "\" has" : "", class_name[i]);
        for (size_t j = 0; j < k; j++) {
            const double value = count[i * k + j] / (layout->kind == MEL_RATES ? row : total);
            if (layout->coordinates == MEL_OFFDIAGONAL ? i != j
                                                       : i == j && layout->coordinates == MEL_DIAGONAL)
                out[at++] = value;
            else if (i == j && layout->coordinates == MEL_BINARY)
                out[1 - i] = value;
        }
    }
    return MEL_OK;
}

mel_status cli_statistics_of(double *out, const mel_layout *layout, const double *counts,
                             const char *const *class_name, const char *const *group_name, mel_error *err)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t one = mel_layout_size(layout) / m;
    double total = 0.0;
    for (size_t c = 0; c < m * k * k; c++)
        total += counts[c];
    mel_status status = total > 0.0 ? MEL_OK : cli_fail(err, MEL_EDATA, "there are no rows to count");
    for (size_t g = 0; g < m && status == MEL_OK; g++)
        status = read_group(out + g * one, layout, g, counts + g * k * k, total, class_name, group_name, err);
    return status;
}
