/* The option tables of melicit elicit. */
#include "elicit_args.h"

#include <float.h>
#include <stddef.h>

static const char *const strategies[] = { "active", "search", NULL }; /* as mel_strategy */
static const char *const directions[] = { "increasing", "decreasing", "unknown",
                                          NULL };                        /* as mel_direction */
static const char *const boundaries[] = { "hull", "plug-in", NULL };     /* as mel_boundary */
static const char *const solvers[] = { "closed", "grid", NULL };         /* as mel_lfpm */
static const char *const locals[] = { "symmetric", "one-sided", NULL };  /* as mel_local */
static const char *const solves[] = { "least-squares", "ratios", NULL }; /* as mel_join */

const cli_option cli_method_options[] = {
    { .name = "family",
      .argument = "NAME",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, family),
      .help =
          "the shape of metric to look for: linear (unless given), linear-fractional, diagonal-linear, "
          "diagonal-linear-fractional, monotone, fair-linear, quadratic, fair-quadratic or polynomial:D" },
    { .name = "strategy",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, strategy),
      .choices = strategies,
      .help = "active asks the fewest questions and copes with wrong answers; search follows the thesis "
              "exactly" },
    { .name = "tolerance",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(elicit_args, tolerance),
      .high = 1.5,
      .above_low = true,
      .below_high = true,
      .help =
          "how well to know it: every coefficient to within this with 95% (active; level lines in radians "
          "for linear-fractional) or the last interval of angles in radians (search)" },
    { .name = "max-questions",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, max_questions),
      .low = 1,
      .high = 1000000,
      .help = "stop after N answers whatever is known then (unless given, 20 for a person and more than a "
              "program needs; a search ends by itself)" },
    { .name = "until",
      .argument = "WHAT",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, until),
      .help =
          "active: end as soon as the decision at hand can no longer change (with probability 0.95): "
          "rank:POOL for the order of the classifiers in a file as `melicit rank` reads it, threshold for "
          "the best threshold (two classes, linear)" },
    { .name = "prior",
      .argument = "METRIC.json:S",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, prior),
      .help = "active: a metric of the same family that is thought likely, with its strength S: the true one "
              "is taken to be within about 1/sqrt(S) radians of it (S = 100: 6 degrees) in every direction" },
    { .name = "direction",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, direction),
      .choices = directions,
      .help = "whether right decisions are wanted (increasing); unknown costs one more question" },
    { .name = "signs",
      .argument = "LIST",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, signs),
      .help = "more than two classes: the sign of each coefficient where it is known, as in -,-,+,?" },
    { .name = "assume",
      .argument = "NOISE",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, assume),
      .help = "active: what to expect of wrong answers: none, flip (rate learned), flip:0.1, logistic (scale "
              "learned), logistic:50, band:0.001; auto is flip for people and programs, and the --noise of a "
              "simulated oracle" },
    { .name = "repeat-every",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, repeat_every),
      .high = 1000000,
      .help = "active: every N questions one comes back with its sides swapped, to see how consistent the "
              "answers are, and every second time while they look like coin tosses; 0 never (6 for people "
              "and programs, 0 for simulated ones, unless given)" },
    { .name = "simple-questions",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, simple_questions),
      .help = "active, more than two classes: the two classifiers of a question differ in two numbers only "
              "(so it is for a person)" },
    { .name = "no-simple-questions",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, no_simple_questions),
      .help = "ask a person, too, about pairs that differ in more numbers" },
    { 0 }
};

/* Only with --strategy search. */
const cli_option cli_search_options[] = {
    { .name = "boundary",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, boundary),
      .choices = boundaries,
      .help = "best achievable points (hull) or what thresholds on the scores give (plug-in)" },
    { .name = "per-round",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, per_round),
      .low = 2,
      .high = 4,
      .help = "questions per halving of an interval (4 unless given); 3 leaves out the last, 2 the first and "
              "the last" },
    { .name = "three-questions",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, three_questions),
      .help = "the same as --per-round 3" },
    { .name = "lfpm",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, lfpm),
      .choices = solvers,
      .help = "two classes: how the two supporting lines become a linear-fractional metric" },
    { .name = "known-p11",
      .argument = "X",
      .kind = CLI_NUMBER,
      .at = offsetof(elicit_args, known_p11),
      .high = 1,
      .help = "linear-fractional: p11 when it is known (1 for F-beta); halves the questions" },
    { .name = "tournament",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, tournament),
      .help = "diagonal metrics: k - 1 questions first choose the class that the others are compared with" },
    { .name = "cycles",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, cycles),
      .low = 1,
      .high = 1000,
      .help = "more than two classes, all but diagonal metrics: how often every angle is searched (2 unless "
              "given)" },
    { .name = "first-angle-first",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, first_angle_first),
      .help = "more than two classes, all but diagonal metrics: search the angles in the thesis' order, "
              "which is less exact" },
    { 0 }
};

/* Only with --strategy search for metrics whose slopes it finds at several places. */
const cli_option cli_places_options[] = {
    { .name = "local",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, local),
      .choices = locals,
      .help = "the two classifiers of a question lie on opposite sides of the place it is about, so that "
              "curvature cancels out (symmetric), or on one side of it as in the thesis" },
    { .name = "solve",
      .kind = CLI_CHOICE,
      .at = offsetof(elicit_args, solve),
      .choices = solves,
      .help = "all but polynomial: how the slopes found at the places become a metric; ratios are the "
              "thesis' formulas (corrected), which fail where a coefficient is nearly zero" },
    { .name = "inner-radius",
      .argument = "R",
      .kind = CLI_NUMBER,
      .at = offsetof(elicit_args, inner_radius),
      .high = 1,
      .help = "all but fair linear: how far from its place a question goes, less than the radius of the ball "
              "(0: as suits the options)" },
    { .name = "diagonal-b",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, diagonal_b),
      .help = "quadratic and fair quadratic: B is known to be diagonal, which takes far fewer questions" },
    { .name = "equal-pairs",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, equal_pairs),
      .help = "fair: all pairs of groups have the same weights, which takes far fewer questions" },
    { .name = "ask-trade-off",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, ask_trade_off),
      .help = "fair: find the trade-off between mistakes and differences by questions of its own, as in the "
              "thesis, not from the slopes" },
    { .name = "known",
      .argument = "METRIC.json",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, known),
      .help = "fair: everything but the trade-off is as in this metric, and only that is asked for" },
    { .name = "known-costs",
      .argument = "METRIC.json",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, known_costs),
      .help = "fair: the costs of mistakes are as in this metric, and the rest is asked for" },
    { 0 }
};

const cli_option cli_oracle_options[] = {
    { .name = "oracle",
      .argument = "WHO",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, oracle),
      .help = "who answers: ask (you, here), sim:METRIC.json (a metric), cmd:PROGRAM (a program that reads a "
              "JSON "
              "line per question and answers A, B, = or, when it can't say, ?)" },
    { .name = "noise",
      .argument = "NOISE",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, noise),
      .help = "how a simulated oracle errs: none, flip:P, logistic:SCALE, band:EPS, band:EPS,adversarial" },
    { .name = "votes",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, votes),
      .low = 1,
      .high = 9999,
      .help = "put every question N times (odd) and take the majority" },
    { .name = "timeout",
      .argument = "SECONDS",
      .kind = CLI_NUMBER,
      .at = offsetof(elicit_args, timeout),
      .high = DBL_MAX,
      .help = "cmd: give up when an answer takes longer; 0 waits for ever" },
    { .name = "people",
      .argument = "N",
      .kind = CLI_WHOLE,
      .at = offsetof(elicit_args, people),
      .low = 1,
      .high = 1000000,
      .help =
          "show numbers out of N people (100, 1,000 or 10,000, whatever tells the two apart, unless given)" },
    { .name = "missed",
      .argument = "TEXT",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, missed),
      .help = "what to call a missed positive, e.g. \"missed cancer\", or with its plural \"missed "
              "cancer|missed cancers\"" },
    { .name = "false-alarm",
      .argument = "TEXT",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, false_alarm),
      .help = "what to call a false positive, likewise" },
    { .name = "show",
      .kind = CLI_FLAG,
      .at = offsetof(elicit_args, show),
      .help = "print every question with its answer, as a person would see it" },
    { 0 }
};

const cli_option cli_elicit_file_options[] = {
    { .name = "session",
      .argument = "FILE.jsonl",
      .kind = CLI_TEXT,
      .at = offsetof(elicit_args, session),
      .help =
          "keep the answers here, synced one by one; an existing session goes on where it stopped, and needs "
          "no space options" },
    { .name = "out",
      .argument = "METRIC.json",
      .kind = CLI_OUTPUT,
      .at = offsetof(elicit_args, out),
      .help = "store the metric for score, apply and rank" },
    { .name = "report",
      .argument = "FILE.html",
      .kind = CLI_OUTPUT,
      .at = offsetof(elicit_args, report),
      .help = "write a report that one can read and print" },
    { .name = "log-questions",
      .argument = "FILE.jsonl",
      .kind = CLI_OUTPUT,
      .at = offsetof(elicit_args, log_questions),
      .help = "write every question with both points and its answer" },
    { .name = "pool",
      .argument = "FILE.jsonl",
      .kind = CLI_LIST,
      .at = offsetof(elicit_args, pool),
      .help = "ask nothing: read the sessions of several respondents (further files may follow) and print "
              "their joint metric, each one's own, and how much they disagree" },
    { 0 }
};
