/* Counting predictions. */
#include "statistics.h"
#include "output.h"

#include <stdlib.h>

/* The coordinates of group g from its k x k counts: divided by all rows, or by those of the true class. */
static mel_status read_group(double *out, const mel_layout *layout, size_t g, const double *count,
                             double total, const cli_decided *rows, mel_error *err)
{
    const size_t k = layout->n_classes;
    const bool grouped = layout->n_groups > 1;
    for (size_t i = 0, at = 0; i < k; i++) {
        double row = 0.0;
        for (size_t j = 0; j < k; j++)
            row += count[i * k + j];
        if (layout->kind == MEL_RATES && row == 0.0)
            return cli_fail(err, MEL_EDATA, "%s%s%s no rows of class \"%s\": its rates are 0/0",
                            grouped ? "group \"" : "there are", grouped ? rows->group_name[g] : "",
                            grouped ? "\" has" : "", rows->class_name[i]);
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

mel_status cli_count_statistics(double *out, const mel_layout *layout, const cli_decided *rows,
                                const uint32_t *of, size_t only, mel_error *err)
{
    const size_t k = layout->n_classes, m = layout->n_groups > 1 ? layout->n_groups : 1;
    const size_t one = mel_layout_size(layout) / m;
    double *count = cli_alloc_zero(m * k * k, sizeof *count), total = 0.0;
    for (size_t i = 0; i < rows->n; i++) {
        if (only != SIZE_MAX && of[i] != only)
            continue;
        const size_t group = m > 1 ? rows->group[i] : 0;
        count[(group * k + rows->truth[i]) * k + rows->predicted[i]] += 1.0;
        total += 1.0;
    }
    mel_status status = total > 0.0 ? MEL_OK : cli_fail(err, MEL_EDATA, "there are no rows to count");
    for (size_t g = 0; g < m && status == MEL_OK; g++)
        status = read_group(out + g * one, layout, g, count + g * k * k, total, rows, err);
    free(count);
    return status;
}
