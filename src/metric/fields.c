/* Where the coefficients of a family stand in a metric file: their keys, places and shapes. */
#include "metric/fields.h"

static size_t fractional_fields(mel_field *fields, size_t n, bool binary)
{
    fields[0] = (mel_field){ binary ? "p" : "a", 0, n, 1, 0, false };
    fields[1] = (mel_field){ binary ? "p0" : "a0", n, 1, 0, 0, true };
    fields[2] = (mel_field){ binary ? "q" : "b", n + 1, n, 1, 0, false };
    fields[3] = (mel_field){ binary ? "q0" : "b0", 2 * n + 1, 1, 0, 0, false };
    return 4;
}

static size_t tensor_fields(mel_field *fields, size_t n, uint32_t degree)
{
    static const char *const keys[MEL_MAX_DEGREE] = { "a", "B", "C", "D", "E", "F", "G", "H", "I" };
    size_t first = 0;
    for (uint32_t d = 1; d <= degree; d++) {
        fields[d - 1] = (mel_field){ keys[d - 1], first, n, d, 0, false };
        first += mel_tensor_size(n, d);
    }
    return degree;
}

static size_t fair_fields(mel_field *fields, const mel_metric *metric)
{
    const size_t q = metric->per_group, m = metric->layout.n_groups;
    const bool quadratic = metric->family == MEL_FAMILY_FAIR_QUADRATIC;
    fields[0] = (mel_field){ "a", 0, q, 1, 0, false };
    fields[1] = (mel_field){ quadratic ? "B" : "b", q, q, quadratic ? 2 : 1, m, false };
    fields[2] = (mel_field){ "lambda", metric->n_coefficients - 1, 1, 0, 0, false };
    return 3;
}

size_t mel_metric_fields(mel_field fields[MEL_MAX_FIELDS], const mel_metric *metric)
{
    if (mel_family_is_fractional(metric->family))
        return fractional_fields(fields, metric->size, metric->layout.coordinates == MEL_BINARY);
    if (mel_family_is_tensor(metric->family))
        return tensor_fields(fields, metric->size, metric->degree);
    if (mel_family_is_fair(metric->family))
        return fair_fields(fields, metric);
    fields[0] = (mel_field){ "a", 0, metric->size, 1, 0, false };
    return 1;
}
