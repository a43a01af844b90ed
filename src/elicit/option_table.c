/* The one table of a session's options: names, values, who reads them, and what the program says about them.
 */
#include "elicit/assumption.h"
#include "elicit/families/families.h"
#include "elicit/option_value.h"
#include "oracle/shared.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* By the enums of melicit/elicit.h. */
static const char *const strategies[] = { "active", "search", NULL };
static const char *const directions[] = { "increasing", "decreasing", "unknown", NULL };
static const char *const questions[] = { "far", "realistic", "imagined", NULL };
static const char *const untils[] = { "tolerance", "rank",  "threshold", "rule",
                                      "decision",  "ratio", "auto",      NULL };

/* As it is written. */
static const char *family_form(size_t i)
{
    const mel_family_facts *family = mel_family_about((mel_family)i);
    return family == NULL ? NULL : family->example != NULL ? family->example : family->name;
}

#define ROW(name, kind, field, ...)                                                                          \
    {                                                                                                        \
        .key = (name), .type = MEL_OPTION_##kind, .at = offsetof(mel_session_options, field),                \
        .size = sizeof(((mel_session_options *)NULL)->field), __VA_ARGS__                                    \
    }
#define ACTIVE .strategies = 1U << MEL_STRATEGY_ACTIVE, .readers = "the active strategy"
#define ALWAYS .kept = MEL_KEPT_ALWAYS
#define SEARCH .strategies = 1U << MEL_STRATEGY_SEARCH, .section = MEL_SECTION_SEARCH, .under = "thesis"
#define KNOWN .section = MEL_SECTION_STRUCTURE

/* In the order of the program's help. NOLINTBEGIN(bugprone-sizeof-expression): some fields are pointers */
static const mel_option rows[] = {
    ROW("family", FAMILY, family, .level = MEL_LEVEL_COMMON, .kept = MEL_KEPT_ON_TOP, .argument = "NAME",
        .help = "the shape of metric to look for, linear unless given", .listed = family_form),
    ROW("degree", WHOLE, degree, .usual = 3, .low = MEL_MIN_DEGREE, .high = MEL_MAX_DEGREE,
        .families = MEL_READS_DEGREE, .kept = MEL_KEPT_IN_FAMILY),
    ROW("strategy", WORD, strategy, .words = strategies, .kept = MEL_KEPT_ON_TOP,
        .help = "active asks the fewest questions and copes with wrong answers; search follows the thesis "
                "exactly (the default for monotone metrics)"),
    ROW("tolerance", NUMBER, tolerance, .usual = 0.02, .high = 1.5, .above_low = true, .below_high = true,
        .factor = true, ALWAYS, .argument = "X",
        .help =
            "when it is known well enough: every coefficient to within this with 95% probability (active; "
            "level lines in radians "
            "for linear-fractional) or the last interval of angles in radians (search); 1.6x: the cost ratio "
            "of two classes to that factor, from end to end of its interval (the default where people or "
            "programs answer)"),
    ROW("tolerance_factor", NUMBER, tolerance_factor, .high = 1000, ACTIVE),
    ROW("questions", WORD, questions, .words = questions, ACTIVE, .varies = true,
        .help = "active: realistic asks about two settings of the test at hand that somebody might use (with "
                "more classes or groups, two classifiers near the best), in whole numbers; this is the "
                "default for people and programs. imagined asks about settings of a better test (two "
                "classes). far asks about the feasible pair that differs most; this is the default for "
                "simulated oracles, and where no other pairs are known"),
    ROW("people", WHOLE, people, .high = 1000000, .argument = "N",
        .help =
            "show numbers out of N people: 1,000, or 10,000 for rare classes, the same for the whole "
            "session (realistic, imagined); far takes 100, 1,000 or 10,000, whichever tells the two apart"),
    ROW("imagined_beyond", FLAG, imagined_beyond, .under = "ask", .strategies = 1U << MEL_STRATEGY_ACTIVE,
        .domains = MEL_ON_FACE, .readers = "realistic questions about two classes",
        .help = "active, two classes: when the cost ratio lies beyond what the test at hand can ask, go on "
                "with questions about an imagined better test, and say so"),
    ROW("max_questions", WHOLE, max_questions, .level = MEL_LEVEL_COMMON, .usual = 200, .varies = true,
        .low = 1, .high = 1000000, ALWAYS, .argument = "N",
        .help = "stop after N answers, whatever is known by then (by default 20 for a person and more than a "
                "program needs; a search ends by itself)"),
    ROW("seed", WHOLE, seed, .usual = 1, .high = 9e18, .kept = MEL_KEPT_ON_TOP),
    ROW("until", WORD, until, .level = MEL_LEVEL_COMMON, .words = untils, ACTIVE, .varies = true,
        .argument = "WHAT",
        .help =
            "active: what must be known at the end. decision: the setting of the test at hand (two classes), "
            "which then loses at most 5% of what the test can add (90% sure), or the best rule (more "
            "classes); questions are chosen for it, and this is the default for people and programs where "
            "classifiers are known. ratio: the cost ratio as --tolerance says. tolerance: the metric. "
            "rank:POOL: the order of the classifiers in a file as `melicit rank` reads it (the default "
            "with --candidates, of their own). threshold, rule: the best threshold (two classes), the best "
            "rule (more), with probability 0.95"),
    ROW("pool", POOL, pool, ACTIVE),
    ROW("prior", PRIOR, prior, .under = "known", ACTIVE, .argument = "METRIC.json:S",
        .help =
            "active: a metric of the same family that is thought likely, with its strength S: the true one "
            "is taken to be within about 1/sqrt(S) radians of it (S = 100: 6 degrees) in every direction"),
    ROW("prior_strength", NUMBER, prior_strength, .high = 1e6, ACTIVE, .kept = MEL_KEPT_IN_PRIOR),
    ROW("direction", WORD, direction, .under = "known", .words = directions, ALWAYS,
        .help = "whether more right decisions are better (increasing); unknown costs one more question"),
    ROW("signs", SIGNS, signs, .under = "known", .domains = MEL_ON_SPACE | MEL_ON_BALL,
        .readers = "metrics off a planar face (on one, the direction says it)", .argument = "LIST",
        .help = "more than two classes: the sign of each coefficient where it is known, as in -,-,+,?"),
    ROW("assume", ASSUMPTION, assume, ACTIVE, ALWAYS, .argument = "NOISE",
        .help = "active: what to expect of wrong answers (auto is person for people and programs, and the "
                "--noise "
                "of a simulated oracle)",
        .listed = mel_noise_assumed_form),
    ROW("repeat_every", WHOLE, repeat_every, .under = "ask", .high = 1000000, ACTIVE, ALWAYS, .argument = "N",
        .help = "active: every N questions one comes back with its sides swapped, to see how consistent the "
                "answers are, and every second time while they look like coin tosses; 0 never (by default 6 "
                "for people and programs, 0 for simulated oracles)"),
    ROW("neither", FLAG, neither, .under = "ask",
        .help =
            "take the answer \"neither will do\" (key n), too: the result says what is acceptable by it, and "
            "whether anything achievable is"),
    ROW("announce_repeats", FLAG, announce_repeats, .under = "ask", ACTIVE,
        .help = "active: say so when a question comes back"),
    ROW("simple_questions", FLAG, simple_questions, .under = "ask", ACTIVE, ALWAYS,
        .help =
            "active, more than two classes, questions far: the two classifiers of a question differ in two "
            "numbers only (the default for a person); classifiers near the best differ as they do"),
    ROW("diagonal_b", FLAG, diagonal_b, .under = "known", KNOWN, .families = MEL_READS_DIAGONAL_B,
        .readers = "quadratic and fair quadratic metrics",
        .help = "quadratic and fair quadratic: B is known to be diagonal"),
    ROW("equal_pairs", FLAG, equal_pairs, .under = "known", KNOWN, .families = MEL_READS_PAIRS,
        .readers = "fair metrics", .help = "fair: all pairs of groups have the same weights"),
    ROW("known", METRIC, known, KNOWN, .families = MEL_READS_PAIRS, .readers = "fair metrics",
        .argument = "METRIC.json",
        .help =
            "fair: everything but the trade-off is as in this metric, and only the trade-off is asked about"),
    ROW("known_costs_only", FLAG, known_costs_only, KNOWN, .families = MEL_READS_PAIRS,
        .readers = "fair metrics"),
    ROW("known_p11", NUMBER, known_p11, .under = "known", .usual = NAN, .high = 1, KNOWN,
        .families = MEL_READS_RATIO, .domains = MEL_ON_FACE,
        .readers = "linear-fractional metrics of two classes", .argument = "X",
        .help = "linear-fractional, two classes: p11 when it is known (1 for F-beta)"),
    ROW("per_round", WHOLE, per_round, .usual = 4, .low = 2, .high = 4, SEARCH, .readers = "a search", ALWAYS,
        .argument = "N",
        .help = "questions per halving of an interval; 3 leaves out the last, 2 the first and the last"),
    ROW("tournament", FLAG, tournament, SEARCH, .domains = MEL_ON_SPACE,
        .readers = "a search for diagonal metrics of k classes", ALWAYS,
        .help = "diagonal metrics: k - 1 questions first choose the class that the others are compared with"),
    ROW("cycles", WHOLE, cycles, .usual = 2, .low = 1, .high = 1000, SEARCH, .domains = MEL_ON_BALL,
        .readers = "a search on a ball", ALWAYS, .argument = "N",
        .help = "more than two classes, all but diagonal metrics: how often every angle is searched"),
    ROW("ask_trade_off", FLAG, ask_trade_off, SEARCH, .families = MEL_READS_PAIRS,
        .readers = "a search for fair metrics",
        .help =
            "fair: find the trade-off between mistakes and differences by questions of its own, as in the "
            "thesis, not from the slopes"),
};
/* NOLINTEND(bugprone-sizeof-expression) */

const mel_option *mel_option_table(size_t *n)
{
    *n = sizeof rows / sizeof *rows;
    return rows;
}

const mel_option *mel_option_find(const char *key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

const char *mel_strategy_name(mel_strategy strategy)
{
    return strategies[strategy == MEL_STRATEGY_SEARCH];
}

void mel_session_options_init(mel_session_options *opt)
{
    *opt = (mel_session_options){ .struct_size = sizeof *opt };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (mel_option_is_scalar(&rows[i]))
            mel_option_put(opt, &rows[i], mel_option_usual(&rows[i]));
}
