/* What a session found, in words. */
#include "base/internal.h"
#include "elicit/shared.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *word(const char *const *words, size_t n, int index)
{
    return index >= 0 && (size_t)index < n ? words[index] : "?";
}

const char *mel_finding_name(mel_finding finding)
{
    static const char *const names[] = { "none",         "indifferent", "no-differences", "no-mistakes",
                                         "no-curvature", "flat-centre", "at-end" };
    return word(names, COUNT(names), (int)finding);
}

const char *mel_finding_text(mel_finding finding)
{
    static const char *const texts[] = {
        "",
        "No difference that was asked about matters to this respondent: the answers do not tell A from B.",
        "Differences between groups do not matter to this respondent: the trade-off is 0 as far as the "
        "answers tell, the weights of the groups' differences have no meaning, and a linear metric of the "
        "overall "
        "rates says the same.",
        "Only differences between groups matter to this respondent: the trade-off is 1 as far as the answers "
        "tell, and the weights of mistakes have no meaning.",
        "The metric is linear as far as the answers tell: its curvature is indistinguishable from zero, and "
        "a "
        "linear metric says the same with fewer numbers.",
        "At the uniform classifier the respondent minds no small change: only the curvature of the metric is "
        "known, not what single mistakes cost there.",
        "The search ended at an end of its range, where some weights are zero: the respondent's metric "
        "may lie beyond that end, and the error of this one is unknown. Ask again with another direction or "
        "with unknown signs.",
    };
    return word(texts, COUNT(texts), (int)finding);
}
