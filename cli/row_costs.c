/* Columns that say how much decisions about a row count. */
#include "row_costs.h"
#include "output.h"
#include "problem/shared.h"

#include <stdlib.h>
#include <string.h>

static const char *column_of(const char *text)
{
    const char *sign = strchr(text, '=');
    return sign != NULL ? sign + 1 : text;
}

mel_text_list cli_cost_columns(const mel_text_list *given)
{
    mel_text_list out = { .item = cli_alloc_zero(given->n + 1, sizeof *out.item), .n = given->n };
    for (size_t i = 0; i < given->n; i++)
        out.item[i] = column_of(given->item[i]);
    return out;
}

/* The class before '=', n_classes: all of them. */
static mel_status find_class(size_t *at, const char *text, size_t n_classes, const char *const *class_name,
                             mel_error *err)
{
    const size_t length = (size_t)(column_of(text) - text);
    *at = n_classes;
    if (length == 0)
        return MEL_OK;
    char *name = cli_format("%.*s", (int)(length - 1), text);
    *at = mel_name_place(name, n_classes, class_name);
    free(name);
    return *at < n_classes ? MEL_OK
                           : cli_fail(err, MEL_EINVAL, "--row-cost %s: there is no such class; there are %s",
                                      text, mel_name_list(n_classes, class_name).text);
}

mel_status cli_cost_of_classes(const char ***column, const mel_text_list *given, size_t n_classes,
                               const char *const *class_name, mel_error *err)
{
    *column = cli_alloc_zero(n_classes, sizeof **column);
    for (size_t c = 0; c < n_classes; c++)
        (*column)[c] = "";
    for (size_t i = 0; i < given->n; i++) {
        size_t at = 0;
        TRY(find_class(&at, given->item[i], n_classes, class_name, err));
        for (size_t c = 0; c < n_classes; c++) {
            if (at != n_classes && at != c)
                continue;
            if ((*column)[c][0] != '\0')
                return cli_fail(err, MEL_EINVAL, "--row-cost: \"%s\" has two columns", class_name[c]);
            (*column)[c] = column_of(given->item[i]);
        }
    }
    return MEL_OK;
}

void cli_row_costs(double **cost, size_t n, size_t n_classes, const char *const *column,
                   const mel_text_list *names, const double *numbers)
{
    *cost = cli_alloc_zero(n * n_classes, sizeof **cost);
    for (size_t c = 0; c < n_classes; c++) {
        size_t from = 0;
        while (from < names->n && strcmp(names->item[from], column[c]) != 0)
            from++;
        for (size_t r = 0; r < n; r++)
            (*cost)[r * n_classes + c] = from < names->n ? numbers[r * names->n + from] : 1.0;
    }
}
