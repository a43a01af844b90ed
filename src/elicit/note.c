/* The classifier behind a point: in words on a face, by its name in a pool. */
#include "elicit/engine.h"
#include "space/shared.h"

#include "data/quote.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Appends one rule with its share of the decisions; a share of 1 is not worth saying for named classes. */
static size_t add_rule(char *note, size_t used, mel_rule rule, double share, const char *yes, const char *no)
{
    const size_t room = MEL_NOTE_TEXT - used;
    const char *separator = used == 0 ? "" : "; ", *side = rule.inverted ? "<" : ">=";
    int n = 0;
    if (yes == NULL)
        n = mel_print(note + used, room, "%s%.4g: positive when score %s %.6g", separator, share, side,
                      rule.threshold);
    else if (isinf(rule.threshold))
        n = mel_print(note + used, room, "%s%.4g: always %.40s", separator, share,
                      (rule.threshold < 0.0) != rule.inverted ? yes : no);
    else
        n = mel_print(note + used, room, "%s%.4g: %.40s when its share of both %s %.6g, else %.40s",
                      separator, share, yes, side, rule.threshold, no);
    return n > 0 ? used + (size_t)n : used;
}

void mel_note_point(char *note, const mel_face *face, mel_point point, const char *yes, const char *no)
{
    note[0] = '\0';
    mel_mixture mixture;
    if (mel_face_achieve(&mixture, face, point, NULL) != MEL_OK)
        return;
    size_t used = 0;
    for (size_t i = 0; i < mixture.n && used < MEL_NOTE_TEXT; i++)
        used = add_rule(note, used, mixture.rule[i], mixture.share[i], yes, no);
}

size_t mel_pool_place(const mel_pool *pool, const double *point)
{
    size_t i = 0;
    while (i < pool->n && memcmp(pool->value + i * pool->size, point, pool->size * sizeof *point) != 0)
        i++;
    return i;
}

void mel_note_candidate(char *note, const mel_pool *pool, const double *point)
{
    const size_t at = mel_pool_place(pool, point);
    note[0] = '\0';
    if (at == pool->n)
        return;
    const char *name = pool->name[at];
    const size_t length = strlen(name);
    const size_t kept = length < MEL_NOTE_TEXT ? length : mel_utf8_valid(name, MEL_NOTE_TEXT - 1);
    memcpy(note, name, kept);
    note[kept] = '\0';
}

/* Rows of all classes and groups; NaN: unknown. */
static double rows_of(const mel_pool *pool, const double *point)
{
    const size_t at = mel_pool_place(pool, point);
    const size_t parts = pool->layout.n_classes * (pool->layout.n_groups > 1 ? pool->layout.n_groups : 1);
    if (at == pool->n || pool->class_rows == NULL)
        return NAN;
    double sum = 0.0;
    for (size_t i = 0; i < parts; i++)
        sum += pool->class_rows[at * parts + i];
    return sum;
}

uint32_t mel_pool_people(const mel_pool *pool, const double *a, const double *b)
{
    enum { MOST_SHOWN = 1000000 };
    const double one = rows_of(pool, a), other = rows_of(pool, b);
    const bool same = one == other && one > 0.0 && one <= MOST_SHOWN;
    return same && pool->layout.kind == MEL_CONFUSION ? (uint32_t)llround(one) : 0;
}
