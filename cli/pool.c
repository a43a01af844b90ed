/* Pools of classifiers for the program: of a metric, or by what their columns name. */
#include "pool.h"
#include "base/names.h"
#include "output.h"

#include <stdlib.h>
#include <string.h>

static void add_name(char ***name, size_t *n, const char *text, size_t length)
{
    char *fresh = cli_format("%.*s", (int)length, text);
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*name)[i], fresh) == 0) {
            free(fresh);
            return;
        }
    *name = cli_regrow(*name, *n + 1, sizeof **name);
    (*name)[(*n)++] = fresh;
}

static mel_status read_table(mel_table **out, const char *path, const mel_pool_about *about,
                             const mel_read_options *read, mel_error *err)
{
    mel_read_options expecting = *read;
    char **name = mel_pool_names(&expecting.n_expected_names, about);
    expecting.expected_names = (const char *const *)name;
    expecting.row_name = "name";
    const mel_status status = name != NULL ? mel_table_read(out, path, &expecting, err)
                                           : cli_fail(err, MEL_ENOMEM, "not enough memory for a pool");
    mel_names_free(name, expecting.n_expected_names);
    return status;
}

mel_status cli_pool_survey(char ***class_name, size_t *n_classes, char ***group_name, size_t *n_groups,
                           const char *path, const mel_read_options *read, mel_error *err)
{
    static const char *const roles[] = { "negative", "positive" };
    const mel_pool_about two = { .layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 }, .class_name = roles };
    mel_table *table = NULL;
    const mel_status status = read_table(&table, path, &two, read, err);
    *n_classes = *n_groups = 0;
    for (size_t c = 0; status == MEL_OK && mel_table_has_header(table) && c < mel_table_columns(table); c++) {
        const char *text = mel_table_column_name(table, c), *colon = strchr(text, ':');
        if (colon != NULL) {
            add_name(group_name, n_groups, text, (size_t)(colon - text));
            text = colon + 1;
        }
        const char *arrow = strchr(text, '>');
        if (arrow != NULL) {
            add_name(class_name, n_classes, text, (size_t)(arrow - text));
            add_name(class_name, n_classes, arrow + 1, strlen(arrow + 1));
        }
    }
    for (size_t i = 0; i < 2 && status == MEL_OK && (*n_classes == 0 || i == 1) && *n_classes < 2; i++)
        add_name(class_name, n_classes, roles[i], strlen(roles[i]));
    mel_table_free(table);
    return status;
}

mel_status cli_metric_pool(mel_pool *out, const char *path, const mel_metric *metric, double prevalence,
                           const mel_read_options *read, mel_error *err)
{
    const mel_pool_about about = { .layout = *mel_metric_layout(metric),
                                   .class_name = mel_metric_class_names(metric),
                                   .group_name = mel_metric_group_names(metric),
                                   .prevalence = prevalence };
    return mel_pool_read(out, path, &about, read, err);
}
