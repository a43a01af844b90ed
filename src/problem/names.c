/* Lists of names: copying, looking up, taking apart, showing in refusals. */
#include "problem/names.h"
#include "data/number.h"
#include "data/shared.h"
#include "problem/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* 0 for names that are the same, as strcmp. */
typedef int comparison(const char *a, const char *b);

static int compare_values(const char *a, const char *b)
{
    return mel_same_class_name(a, b) ? 0 : 1;
}

/* The only name that compares as the same; n when none does, or several. */
static size_t only_place(const char *name, size_t n, const char *const *names, comparison *compare)
{
    size_t at = n;
    for (size_t i = 0; i < n; i++) {
        if (compare(names[i], name) != 0)
            continue;
        if (at < n)
            return n;
        at = i;
    }
    return at;
}

size_t mel_name_place(const char *name, size_t n, const char *const *names)
{
    const size_t spelt = only_place(name, n, names, strcmp);
    return spelt < n ? spelt : only_place(name, n, names, compare_values);
}

size_t mel_column_place(const char *name, size_t n, const char *const *names)
{
    const size_t at = mel_name_place(name, n, names);
    return at < n ? at : only_place(name, n, names, strcasecmp);
}

bool mel_positive_is_plain(const char *first, const char *second)
{
    static const char *const pairs[][2] = { { "no", "yes" },        { "n", "y" },
                                            { "false", "true" },    { "f", "t" },
                                            { "neg", "pos" },       { "negative", "positive" },
                                            { "absent", "present" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcasecmp(first, pairs[i][0]) == 0 && strcasecmp(second, pairs[i][1]) == 0)
            return true;
    double low = 0.0, high = 0.0;
    return mel_number_parse(first, strlen(first), &low) == MEL_NUMBER_FINITE &&
           mel_number_parse(second, strlen(second), &high) == MEL_NUMBER_FINITE && low < high;
}

static bool find_places(size_t *place, size_t n, const char *const *name, const char *const *names,
                        mel_place_finder *find)
{
    for (size_t i = 0; i < n; i++) {
        place[i] = find(name[i], n, names);
        for (size_t j = 0; j < i; j++)
            if (place[j] == place[i])
                return false;
        if (place[i] == n)
            return false;
    }
    return true;
}

bool mel_name_places(size_t *place, size_t n, const char *const *name, const char *const *names)
{
    return find_places(place, n, name, names, mel_name_place);
}

bool mel_column_places(size_t *place, size_t n, const char *const *name, const char *const *names)
{
    return find_places(place, n, name, names, mel_column_place);
}

mel_name_list_text mel_name_list(size_t n, const char *const *name)
{
    enum { SHOWN = 6, REST = sizeof ", ..." };
    mel_name_list_text list = { .text = "" };
    size_t used = 0, i = 0;
    for (; i < n && i < (n > SHOWN ? SHOWN : n); i++) {
        const char *before = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        if (used + strlen(before) + strlen(name[i]) + 2 + REST > sizeof list.text)
            break;
        used += (size_t)snprintf(list.text + used, sizeof list.text - used, "%s\"%s\"", before, name[i]);
    }
    if (i < n)
        (void)snprintf(list.text + used, sizeof list.text - used, "%s...", i > 0 ? ", " : "");
    return list;
}

bool mel_text_replace(char **text, const char *by)
{
    char *copy = mel_strdup(by);
    if (copy == NULL)
        return false;
    free(*text);
    *text = copy;
    return true;
}

mel_status mel_names_check(size_t n, const char *const *name, const char *option, const char *text,
                           mel_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (name[i][0] == '\0')
            return mel_fail(err, MEL_EINVAL, "--%s %s: name %zu is empty", option, text, i + 1);
        if (only_place(name[i], i + 1, name, strcmp) != i)
            return mel_fail(err, MEL_EINVAL, "--%s %s: \"%s\" is given twice; expected different names",
                            option, text, name[i]);
    }
    return MEL_OK;
}

mel_status mel_names_split(char ***out, size_t *n, const char *text, const char *option, mel_error *err)
{
    const size_t size = strlen(text) + 1;
    *n = 1;
    for (const char *c = text; *c != '\0'; c++)
        *n += *c == ',';
    char **name = *out = mel_alloc(*n * sizeof *name + size, 1);
    if (name == NULL)
        return mel_fail_memory(err, "names");
    char *at = memcpy(name + *n, text, size);
    for (size_t i = 0; i < *n; i++) {
        name[i] = at;
        at += strcspn(at, ",");
        *at++ = '\0';
    }
    return mel_names_check(*n, (const char *const *)name, option, text, err);
}
