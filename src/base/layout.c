/* Layouts: which entries of the confusion matrix, or rates, a metric is a function of. */
#include "melicit/layout.h"

#include "base/internal.h"

#include <string.h>

static const char *const kind_names[] = { [MEL_CONFUSION] = "confusion", [MEL_RATES] = "rates" };
static const char *const coordinates_names[] = {
    [MEL_BINARY] = "binary", [MEL_DIAGONAL] = "diagonal", [MEL_OFFDIAGONAL] = "offdiagonal"
};
#define N_KINDS (sizeof kind_names / sizeof *kind_names)
#define N_COORDINATES (sizeof coordinates_names / sizeof *coordinates_names)

/* Far above any use, far below where k(k-1) times groups could overflow. */
enum { MOST_CLASSES = 10000, MOST_GROUPS = 10000 };

size_t mel_layout_size(const mel_layout *layout)
{
    const size_t k = layout->n_classes, groups = layout->n_groups > 1 ? layout->n_groups : 1;
    switch (layout->coordinates) {
    case MEL_BINARY:
        return 2 * groups;
    case MEL_DIAGONAL:
        return k * groups;
    case MEL_OFFDIAGONAL:
        return k > 1 ? k * (k - 1) * groups : 0;
    }
    return 0;
}

size_t mel_layout_cell(const mel_layout *layout, size_t c)
{
    const size_t k = layout->n_classes;
    switch (layout->coordinates) {
    case MEL_BINARY: /* TP, then TN; the second class is the positive one */
        return c == 0 ? 3 : 0;
    case MEL_DIAGONAL:
        return c * (k + 1);
    case MEL_OFFDIAGONAL:
        break;
    }
    const size_t i = c / (k - 1), j = c % (k - 1);
    return i * k + j + (j >= i);
}

mel_status mel_layout_check(const mel_layout *layout, mel_error *err)
{
    if ((size_t)layout->kind >= N_KINDS)
        return mel_fail(err, MEL_EINVAL, "layout: %d is not a kind of statistics", (int)layout->kind);
    if ((size_t)layout->coordinates >= N_COORDINATES)
        return mel_fail(err, MEL_EINVAL, "layout: %d is not a kind of coordinates", (int)layout->coordinates);
    if (layout->n_classes < 2 || layout->n_classes > MOST_CLASSES)
        return mel_fail(err, MEL_EINVAL, "layout: %zu classes, expected 2 to %d", layout->n_classes,
                        MOST_CLASSES);
    if (layout->coordinates == MEL_BINARY && layout->n_classes != 2)
        return mel_fail(err, MEL_EINVAL, "layout: binary coordinates with %zu classes", layout->n_classes);
    if (layout->n_groups > MOST_GROUPS)
        return mel_fail(err, MEL_EINVAL, "layout: %zu groups, expected %d at most", layout->n_groups,
                        MOST_GROUPS);
    return MEL_OK;
}

bool mel_layout_equal(const mel_layout *a, const mel_layout *b)
{
    const size_t groups_a = a->n_groups > 1 ? a->n_groups : 1, groups_b = b->n_groups > 1 ? b->n_groups : 1;
    return a->kind == b->kind && a->coordinates == b->coordinates && a->n_classes == b->n_classes &&
           groups_a == groups_b;
}

const char *mel_kind_name(mel_statistics_kind kind)
{
    return (size_t)kind < N_KINDS ? kind_names[kind] : "unknown";
}

const char *mel_coordinates_name(mel_coordinates coordinates)
{
    return (size_t)coordinates < N_COORDINATES ? coordinates_names[coordinates] : "unknown";
}

mel_status mel_kind_parse(mel_statistics_kind *out, const char *name, mel_error *err)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(name, kind_names[i]) == 0) {
            *out = (mel_statistics_kind)i;
            return MEL_OK;
        }
    return mel_fail(err, MEL_EINVAL, "kind of statistics \"%.60s\", expected confusion or rates", name);
}

mel_status mel_coordinates_parse(mel_coordinates *out, const char *name, mel_error *err)
{
    for (size_t i = 0; i < N_COORDINATES; i++)
        if (strcmp(name, coordinates_names[i]) == 0) {
            *out = (mel_coordinates)i;
            return MEL_OK;
        }
    return mel_fail(err, MEL_EINVAL, "coordinates \"%.60s\", expected binary, diagonal or offdiagonal", name);
}
