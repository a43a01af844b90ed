/* What the header of a pool says: its classes and groups by the names of its columns. */
#include "problem/names.h"
#include "problem/pool.h"

#include "base/names.h"
#include "data/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void name_set_clear(mel_name_set *set)
{
    mel_names_free(set->name, set->n);
    *set = (mel_name_set){ 0 };
}

mel_status mel_name_set_add(mel_name_set *set, const char *text, size_t length, mel_error *err)
{
    for (size_t i = 0; i < set->n; i++)
        if (strlen(set->name[i]) == length && memcmp(set->name[i], text, length) == 0)
            return MEL_OK;
    void *names = set->name;
    if (set->n == set->capacity) {
        const size_t capacity = set->capacity == 0 ? 16 : 2 * set->capacity;
        if (!mel_grow(&names, capacity, sizeof *set->name))
            return mel_fail_memory(err, "the names of classes");
        set->name = names;
        set->capacity = capacity;
    }
    char *copy = mel_alloc(length + 1, 1);
    if (copy == NULL)
        return mel_fail_memory(err, "the names of classes");
    memcpy(copy, text, length);
    copy[length] = '\0';
    set->name[set->n++] = copy;
    return MEL_OK;
}

mel_status mel_name_set_sort(mel_name_set *set, mel_error *err)
{
    MEL_AUTO_MEMORY size_t *order = mel_alloc(set->n, sizeof *order);
    MEL_AUTO_MEMORY char **sorted = mel_alloc(set->capacity, sizeof *sorted);
    TRY(order != NULL && sorted != NULL
            ? mel_sort_class_names(order, set->n, (const char *const *)set->name, false, err)
            : mel_fail_memory(err, "an order of classes"));
    if (order != NULL && sorted != NULL) {
        for (size_t i = 0; i < set->n; i++)
            sorted[i] = set->name[order[i]];
        memcpy(set->name, sorted, set->n * sizeof *sorted);
    }
    return MEL_OK;
}

mel_status mel_pool_header_name(mel_pool_header *out, const char *name, const char *file, mel_error *err)
{
    if (strcasecmp(name, "n") == 0 || strcasecmp(name, "prevalence") == 0)
        return MEL_OK;
    if (mel_pool_formula_of(name) != NULL) {
        out->words = true;
        return MEL_OK;
    }
    const char *at = strchr(name, '>');
    if (at == NULL)
        return mel_name_set_add(&out->classes, name, strlen(name), err);
    if (strchr(at + 1, '>') != NULL || at == name || at[1] == '\0')
        return mel_fail(err, MEL_EDATA, "%s: column \"%s\": expected \"true>predicted\" with one \">\"", file,
                        name);
    out->entries = true;
    TRY(mel_name_set_add(&out->classes, name, (size_t)(at - name), err));
    return mel_name_set_add(&out->classes, at + 1, strlen(at + 1), err);
}

void mel_pool_header_clear(mel_pool_header *header)
{
    name_set_clear(&header->classes);
    name_set_clear(&header->groups);
}

/* Entries of the matrix and groups; other columns say nothing about names. */
static mel_status survey_columns(mel_pool_header *out, const mel_table *table, mel_error *err)
{
    mel_status status = MEL_OK;
    for (size_t c = 0; mel_table_has_header(table) && c < mel_table_columns(table) && status == MEL_OK; c++) {
        const char *text = mel_table_column_name(table, c), *colon = strchr(text, ':');
        if (colon != NULL) {
            status = mel_name_set_add(&out->groups, text, (size_t)(colon - text), err);
            text = colon + 1;
        }
        if (status == MEL_OK && strchr(text, '>') != NULL)
            status = mel_pool_header_name(out, text, mel_table_name(table), err);
    }
    return status;
}

mel_status mel_pool_survey(char ***class_name, size_t *n_classes, char ***group_name, size_t *n_groups,
                           const char *path, const mel_read_options *read, mel_error *err)
{
    static const char *const roles[] = { "negative", "positive" };
    const mel_pool_about two = { .layout = { MEL_CONFUSION, MEL_BINARY, 2, 0 }, .class_name = roles };
    mel_pool_header header = { .entries = false };
    mel_table *table = NULL;
    mel_status status = mel_pool_open(&table, path, &two, read, err);
    if (status == MEL_OK)
        status = survey_columns(&header, table, err);
    for (size_t i = 0; table != NULL && i < mel_table_matrix(table) && status == MEL_OK; i++) {
        char number[24]; /* they have no names */
        const int length = snprintf(number, sizeof number, "%zu", i + 1);
        status = mel_name_set_add(&header.classes, number, (size_t)length, err);
    }
    for (size_t i = header.classes.n; i < 2 && status == MEL_OK; i++)
        status = mel_name_set_add(&header.classes, roles[i], strlen(roles[i]), err);
    mel_table_free(table);
    if (status != MEL_OK) {
        mel_pool_header_clear(&header);
        return status;
    }
    *class_name = header.classes.name;
    *n_classes = header.classes.n;
    *group_name = header.groups.name;
    *n_groups = header.groups.n;
    return MEL_OK;
}
