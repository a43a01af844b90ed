/* The classifier behind a point of a face, in words. */
#include "elicit/engine.h"
#include "space/shared.h"

#include <math.h>
#include <stdio.h>

/* Appends one rule with its share of the decisions; a share of 1 is not worth saying for named classes. */
static size_t add_rule(char *note, size_t used, mel_rule rule, double share, const char *yes, const char *no)
{
    const size_t room = MEL_NOTE_TEXT - used;
    const char *separator = used == 0 ? "" : "; ", *side = rule.inverted ? "<" : ">=";
    int n = 0;
    if (yes == NULL)
        n = snprintf(note + used, room, "%s%.4g: positive when score %s %.6g", separator, share, side,
                     rule.threshold);
    else if (isinf(rule.threshold))
        n = snprintf(note + used, room, "%s%.4g: always %.40s", separator, share,
                     (rule.threshold < 0.0) != rule.inverted ? yes : no);
    else
        n = snprintf(note + used, room, "%s%.4g: %.40s when its share of both %s %.6g, else %.40s", separator,
                     share, yes, side, rule.threshold, no);
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
