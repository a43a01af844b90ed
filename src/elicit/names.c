/* The words of the command line and of session files for every choice that a session offers. */
#include "base/internal.h"
#include "melicit/elicit.h"

#include <stdio.h>
#include <string.h>

static const char *const strategies[] = { "active", "search" };
static const char *const directions[] = { "increasing", "decreasing", "unknown" };
static const char *const boundaries[] = { "hull", "plug-in" };
static const char *const solvers[] = { "closed", "grid" };
static const char *const locals[] = { "symmetric", "one-sided" };
static const char *const joins[] = { "least-squares", "ratios" };
static const char *const untils[] = { "tolerance", "rank", "threshold" };
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *word(const char *const *words, size_t n, int index)
{
    return index >= 0 && (size_t)index < n ? words[index] : "?";
}

static mel_status find(int *out, const char *const *words, size_t n, const char *what, const char *name,
                       mel_error *err)
{
    char known[96] = "";
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], name) == 0) {
            *out = (int)i;
            return MEL_OK;
        }
        const int added = snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", words[i]);
        used += added > 0 ? (size_t)added : 0;
    }
    return mel_fail(err, MEL_EINVAL, "'%.60s' is no %s; there are %s", name, what, known);
}

/* NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses */
#define NAMES(type, stem, words, what)                                                                       \
    const char *stem##_name(type value)                                                                      \
    {                                                                                                        \
        return word(words, COUNT(words), (int)value);                                                        \
    }                                                                                                        \
    mel_status stem##_parse(type *out, const char *name, mel_error *err)                                     \
    {                                                                                                        \
        int index = 0;                                                                                       \
        const mel_status status = find(&index, words, COUNT(words), what, name, err);                        \
        if (status == MEL_OK)                                                                                \
            *out = (type)index;                                                                              \
        return status;                                                                                       \
    }
NAMES(mel_strategy, mel_strategy, strategies, "strategy")
NAMES(mel_direction, mel_direction, directions, "direction")
NAMES(mel_boundary, mel_boundary, boundaries, "boundary")
NAMES(mel_lfpm, mel_lfpm, solvers, "solver for linear-fractional metrics")
NAMES(mel_local, mel_local, locals, "kind of local question")
NAMES(mel_join, mel_join, joins, "way to join slopes")
NAMES(mel_until, mel_until, untils, "end of a session")
/* NOLINTEND(bugprone-macro-parentheses) */

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
        "The search ended at an end of its range, where weights come out as nothing: the respondent's metric "
        "may lie beyond that end, and the error of this one is unknown. Ask again with another direction or "
        "with unknown signs, or with the active strategy, which checks both.",
    };
    return word(texts, COUNT(texts), (int)finding);
}
