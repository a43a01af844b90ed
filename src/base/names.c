/* Lists of names and numbers as texts: the nearest name, "1,2.5,-3e4". */
#include "base/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 63 /* names longer than this are never suggested for */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b. */
static size_t edit_distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t row[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        const size_t *one = row[(i - 1) % 3], *two = row[(i + 1) % 3];
        size_t *now = row[i % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = smaller(one[j - 1] + (a[i - 1] != b[j - 1]), smaller(one[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], two[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

const char *mel_nearest(const char *word, const char *(*candidate)(const void *user, size_t i),
                        const void *user)
{
    if (strlen(word) > LONGEST)
        return NULL;
    const char *best = NULL, *name;
    size_t best_distance = 2 + strlen(word) / 3; /* farther names have little in common */
    for (size_t i = 0; (name = candidate(user, i)) != NULL; i++) {
        if (strlen(name) > LONGEST)
            continue;
        const size_t distance = edit_distance(word, name);
        if (distance < best_distance) {
            best_distance = distance;
            best = name;
        }
    }
    const bool number = best != NULL && best[strspn(best, "0123456789+-.eE")] == '\0';
    return number ? NULL : best; /* of a number nothing else is a misspelling */
}

/* --- numbers ------------------------------------------------------------------------------------ */

static bool parse(double *value, size_t n, const char *text)
{
    if (text[strspn(text, "0123456789+-.eE,")] != '\0')
        return false;
    const char *at = text;
    for (size_t i = 0; i < n; i++) {
        char *end = NULL;
        errno = 0;
        value[i] = mel_to_double(at, &end);
        if (end == at || errno != 0 || !isfinite(value[i]) || *end != (i + 1 < n ? ',' : '\0'))
            return false;
        at = end + 1;
    }
    return true;
}

mel_status mel_parse_numbers(double **out, size_t *n, const char *text, mel_error *err)
{
    size_t commas = 0;
    for (const char *c = text; *c != '\0'; c++)
        commas += *c == ',';
    *n = 0;
    TRY(MEL_NEED(*out = mel_alloc(commas + 1, sizeof **out), "numbers", err));
    if (parse(*out, commas + 1, text)) {
        *n = commas + 1;
        return MEL_OK;
    }
    free(*out);
    *out = NULL;
    return mel_fail(err, MEL_EINVAL, "%s: expected numbers with commas between them", text);
}
