/* melicit/elicit.h: sessions that find a metric by asking which of two classifiers is preferred.
 *
 * A session is its log: the header (what is asked about, how) and one answer per question. The same
 * header and answers give the same questions, on any number of threads. Sessions are ask/tell: the
 * library never waits for a person. */
#ifndef MELICIT_ELICIT_H
#define MELICIT_ELICIT_H

#include "melicit/oracle.h"
#include "melicit/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MEL_STRATEGY_ACTIVE = 0, MEL_STRATEGY_SEARCH = 1 } mel_strategy;
/* Whether the metric rewards correct decisions (increasing in TP and TN), punishes them, or whether
 * one more question must tell (appendix A.4 of the thesis). */
typedef enum { MEL_INCREASING = 0, MEL_DECREASING = 1, MEL_DIRECTION_UNKNOWN = 2 } mel_direction;
/* active: what is assumed about wrong answers. Sizes as in mel_noise; size 0 means learned from the
 * answers (flip: Beta(1, 9) prior; logistic, person: log-normal prior). */
typedef struct {
    mel_noise_kind kind;
    double size;
} mel_assumption;
/* What a strategy is called: "active", "search". */
MEL_API const char *mel_strategy_name(mel_strategy strategy); /* "active", "search" */

/* active: a session may end early, when what it is for can no longer change: with probability 0.95 the order
 * of a pool of classifiers (pairs that differ by less than 1e-12 aside), the best threshold of a linear
 * metric on a face, or the best rule of more classes: one that loses at most 1% of what the best rule adds to
 * the best trivial one. Questions are then about classifiers near the best and chosen for the rule, not for
 * the weights.
 *
 * decision: two classes, realistic or imagined questions: twice in a row, after at least five answers, the
 * best setting for the metric loses with probability 0.9 at most 5% of what the best one adds to flagging all
 * or none; questions are chosen for the setting. With more classes the same as rule. ratio: tolerance, where
 * it is about the cost ratio. auto: decision where that can be judged and tolerance and tolerance_factor are
 * what suits people, else tolerance. A session has these as tolerance, rule or decision. */
typedef enum {
    MEL_UNTIL_TOLERANCE = 0,
    MEL_UNTIL_RANK = 1,
    MEL_UNTIL_THRESHOLD = 2,
    MEL_UNTIL_RULE = 3,
    MEL_UNTIL_DECISION = 4,
    MEL_UNTIL_RATIO = 5,
    MEL_UNTIL_AUTO = 6
} mel_until;
enum { MEL_MOST_POOL_NUMBERS = 20000 }; /* the pool is kept in the session's header */
/* A session does not know such decisions; it is given a table of functions that do (mel_decisions_usual of
 * melicit/rank.h, or the caller's own). */
typedef struct mel_decisions mel_decisions;

/* active: pairs that are as different as can be; pairs that somebody might use, in whole numbers, two
 * settings of the test at hand (a face) or two classifiers near the best (linear, diagonal and fair linear
 * metrics where what is achievable is known; elsewhere questions are far); on a face, settings of an imagined
 * better test. */
typedef enum { MEL_QUESTIONS_FAR = 0, MEL_QUESTIONS_REALISTIC = 1, MEL_QUESTIONS_IMAGINED = 2 } mel_questions;

typedef struct {
    size_t struct_size;
    mel_family family;
    uint32_t degree;       /* polynomial: 3 */
    mel_strategy strategy; /* active */
    /* 0.02. search: width of the last interval (radians; of m for diagonal metrics; at least 1e-7 for
     * quadratic, polynomial and fair metrics). active: half-width of the 95% interval, of the angle in
     * radians on a planar face (linear-fractional on any domain: of the level sets' angles), elsewhere of
     * the coefficients: 95% of the posterior (with flips 97.5%) is within this of the returned vector in
     * every one, and no 95% interval, widened to contain the returned number where it does not, is wider
     * than twice this. Of fair metrics the coefficients are (1 - lambda) a and lambda b */
    double tolerance;
    /* Active, questions that are not far: the exchange rate's 95% interval ends at most so many times higher
     * than it begins, twice in a row; 0: tolerance counts */
    double tolerance_factor;
    uint32_t max_questions; /* 200 */
    uint64_t seed;          /* 1 */
    mel_direction direction;
    /* Off a planar face, one per coefficient of the utility's a: -1, 1, or 0 for unknown; NULL: as
     * direction says. Lent until the session is made. */
    const signed char *signs;
    const char *const *class_names; /* negative first when there are two; NULL: "0", "1", ... */
    const char *const *group_names; /* NULL: "1", "2", ... */
    /* --- What only the active strategy reads. */
    mel_assumption assume; /* none */
    /* Every so many questions an earlier one is asked again with its sides swapped, to learn how
     * consistent the answers are; with flips every second one, from the sixth on, while coin tosses would
     * explain the answers just as well; 0: never. */
    uint32_t repeat_every;
    mel_questions questions; /* far */
    /* Not far: numbers are out of so many; 0: 1,000, or 10,000 where fewer than 20 in 1,000 are of the
     * rarer class. */
    uint32_t people;
    /* Realistic: when the exchange rate lies beyond what the test at hand can ask, questions go on about
     * an imagined better one. */
    bool imagined_beyond;
    bool announce_repeats; /* say so when a question comes back */
    bool neither;          /* take the answer "neither will do" */
    bool simple_questions; /* off a planar face, where pairs are far: A and B differ in two coordinates */
    mel_until until;       /* tolerance; all others end a session earlier, never later */
    size_t n_pool;         /* until rank: classifiers, at least 2 */
    const double *pool;    /* n_pool x numbers of the layout; lent until the session is made */
    const mel_decisions *decisions; /* until rank or threshold; lent, must outlive the session */
    /* A metric of the same family and layout that is thought likely; NULL: all metrics that the family
     * allows are equally likely. Lent until the session is made. */
    const mel_metric *prior;
    /* s > 0: metrics have the density exp(s cos(angle to the prior)) on the unit sphere of their
     * coefficients, that is about normal with a standard deviation of 1/sqrt(s) radians in every
     * direction; at most 1e6. */
    double prior_strength;
    /* --- What only a search reads. */
    /* Questions per halving; 4; 3 leaves out the last one (section 8.1.3), 2 the first and the last one
     * (appendix B.1). */
    uint32_t per_round;
    uint32_t cycles; /* on a ball: how often every angle is searched; 2 */
    /* Diagonal metrics: k - 1 questions first choose the reference class, and where two boundary points
     * coincide (a corner of a face is best for both slopes) a chord of the face takes their place, so that
     * slopes within a corner are found, too */
    bool tournament;
    bool ask_trade_off; /* fair: lambda by questions of its own (Algorithm 5.2), not in closed form */
    /* --- What is known of the metric besides its family: linear restrictions of its coefficients, each of
     * which takes fewer questions. */
    bool diagonal_b;  /* quadratic, fair quadratic: B is diagonal */
    bool equal_pairs; /* fair: all pairs of groups have the same weights */
    /* fair: a metric of the same family and layout of which a, b (or B) are known to be right and only
     * lambda is asked for (Algorithms 5.2 and D.3). NULL: all is asked for. Lent until the session is made */
    const mel_metric *known;
    bool known_costs_only; /* only its a is known to be right */
    double known_p11;      /* binary linear-fractional: p11 in [0, 1] when it is known (1 for F-beta); NaN */
} mel_session_options;
MEL_API void mel_session_options_init(mel_session_options *opt);
/* Who answers. */
typedef enum {
    MEL_BY_PERSON = 0,
    MEL_BY_PROGRAM = 1, /* which may err like a person, but does not tire */
    MEL_BY_METRIC = 2   /* simulated */
} mel_answered_by;
/* Sets, once family, degree and strategy are set, what suits who answers and what is asked about (domain
 * NULL: not known yet). A family that the active strategy does not know (monotone) is searched for. A search
 * asks what it takes. The active strategy asks people 20 questions, others as many as its metrics need;
 * people and programs realistic ones of which every sixth is repeated, with wrong answers allowed for;
 * people about far pairs that differ in two numbers, where it makes them. About given classifiers it asks
 * until their order is settled. Of a metric it expects that it errs as `noise` says (NULL: never), less often
 * if each question is put several times (votes above 1); MEL_EINVAL when such answers say nothing. Options
 * that are set afterwards count. */
MEL_API mel_status mel_session_options_suit(mel_session_options *opt, const mel_domain *domain,
                                            mel_answered_by who, const mel_noise *noise, uint32_t votes,
                                            mel_error *err);

/* One option: its name, values and meaning. The table of all of them gives the defaults, the checks of a new
 * session, the header of session files, the options of `melicit elicit` with their help, and the fields of
 * "elicitation" in study files. */
typedef enum {
    MEL_OPTION_NUMBER = 0,     /* double */
    MEL_OPTION_WHOLE = 1,      /* uint32_t or uint64_t */
    MEL_OPTION_FLAG = 2,       /* bool */
    MEL_OPTION_WORD = 3,       /* an enum: the index of its word */
    MEL_OPTION_FAMILY = 4,     /* text: "polynomial:3" sets the degree, too */
    MEL_OPTION_ASSUMPTION = 5, /* text */
    /* What is lent: */
    MEL_OPTION_SIGNS = 6,
    MEL_OPTION_POOL = 7,
    MEL_OPTION_PRIOR = 8,
    MEL_OPTION_METRIC = 9
} mel_option_type;
enum { MEL_ON_FACE = 1, MEL_ON_SPACE = 2, MEL_ON_BALL = 4 };
/* When an option is in the header of a session file. */
typedef enum {
    MEL_KEPT_IF_SET,
    MEL_KEPT_ALWAYS,
    MEL_KEPT_IN_FAMILY,
    MEL_KEPT_IN_PRIOR,
    MEL_KEPT_ON_TOP
} mel_option_kept;
/* Headings of the program's help. */
typedef enum {
    MEL_SECTION_METHOD,
    MEL_SECTION_STRUCTURE,
    MEL_SECTION_SEARCH,
    MEL_SECTIONS
} mel_option_section;
/* Who needs an option: some, or everybody. */
typedef enum { MEL_LEVEL_MORE, MEL_LEVEL_COMMON } mel_option_level;
typedef struct {
    const char *key; /* in files: "max_questions"; the program's option is --max-questions, or a setting --ask
                        NAME=VALUE */
    mel_option_type type;
    size_t at, size;  /* of its field in mel_session_options */
    double usual;     /* the default: a number, the index of a word, 0 or 1 of a flag; NaN: not set */
    bool varies;      /* the program's default depends on who answers */
    double low, high; /* of numbers: the range, ends included ... */
    bool factor;      /* a number with x behind it is one of tolerance_factor */
    bool above_low, below_high; /* ... unless these exclude them */
    const char *const *words;   /* up to NULL */
    /* Who reads it: bits 1 << mel_strategy, MEL_ON_* and of what families read; 0: all. Others refuse any
     * value but the default. readers says it for people; NULL: others do not mind. */
    unsigned strategies, domains, families;
    const char *readers;
    mel_option_kept kept;
    mel_option_section section;
    mel_option_level level;
    const char *under;    /* the rare settings among which the program has it: --thesis KEY=VALUE; or NULL */
    const char *argument; /* stands for the value in the program's help */
    const char *help;     /* a clause without a full stop; NULL: the program has no option of this name */
    /* Values that the help goes on to name, from 0 up, NULL after the last; no function: it names them. */
    const char *(*listed)(size_t i);
} mel_option;
/* Every option of a session. */
MEL_API const mel_option *mel_option_table(size_t *n);

/* Sets one option from its text ("per_round", "3"), or those that a JSON object names ({"per_round": 3});
 * MEL_EINVAL names the option. Options that are borrowed are set in the struct itself. */
MEL_API mel_status mel_session_options_set(mel_session_options *opt, const char *key, const char *text,
                                           mel_error *err);
MEL_API mel_status mel_session_options_from_json(mel_session_options *opt, const char *text, mel_error *err);

typedef struct mel_session mel_session;

/* What the header says about the data, so that a log cannot be continued on other data by mistake. */
typedef struct {
    const char *space_json; /* a JSON object that describes the space; NULL: {} */
    const char *digest;     /* SHA-256 of the data, hexadecimal; NULL: none */
    bool read_only; /* look at a log that exists: no lock, no repair; telling is refused (MEL_ESTATE) */
} mel_identity;

/* What questions about metrics of a family need of a problem. */
MEL_API mel_problem_want mel_want_of_family(mel_family family);

/* What a session believes when it asks whether a decision stands. Lent for the call. */
typedef struct {
    const mel_domain *domain;
    const mel_metric *metric; /* as it would be returned */
    size_t n_draws;           /* equally likely metrics, n_draws x mel_metric_coefficients numbers, .. */
    const double *draw;       /* .. each in the order of metric files */
    size_t n_pool;            /* until rank: as in the options */
    const double *pool;
} mel_belief;
/* Each gives the probability that the decision to which `metric` leads stands: the share of the draws that
 * lead to the same one; of a rule, to one that is hardly better. */
struct mel_decisions {
    mel_status (*rank)(double *probability, const mel_belief *now, mel_error *err);
    mel_status (*threshold)(double *probability, const mel_belief *now, mel_error *err);
    mel_status (*rule)(double *probability, const mel_belief *now, mel_error *err);
};

/* A session in memory only. */
MEL_API mel_status mel_session_new(mel_session **out, const mel_domain *domain,
                                   const mel_session_options *opt, mel_error *err);
/* A session with a log file: created with its header, or, when the file exists, resumed after its
 * header was compared with this one (MEL_ECONFLICT names the field that differs): the recorded pairs and
 * answers are told again (mel_session_replay). A last line that was cut off by a crash is dropped; any other
 * damage is refused with its line (MEL_EDATA). */
MEL_API mel_status mel_session_open(mel_session **out, const mel_domain *domain,
                                    const mel_session_options *opt, const mel_identity *identity,
                                    const char *path, mel_error *err);
MEL_API void mel_session_free(mel_session *session);

/* The pending question, the same one until it is told; *question stays valid until the next call.
 * MEL_OK and *done when there is none left (tolerance or budget reached). */
MEL_API mel_status mel_session_ask(const mel_question **question, bool *done, mel_session *session,
                                   mel_error *err);
/* Answers question `number`. Already answered the same way: nothing happens; answered otherwise:
 * MEL_ECONFLICT; never asked: MEL_EINVAL. With a file, the line is synced before this returns;
 * seconds (how long the answer took) may be NaN. */
MEL_API mel_status mel_session_tell(mel_session *session, uint32_t number, mel_answer answer, double seconds,
                                    mel_error *err);
/* Takes the last answer back; MEL_ESTATE when there is none. */
MEL_API mel_status mel_session_undo(mel_session *session, mel_error *err);

/* How many answers there are. */
MEL_API uint32_t mel_session_answers(const mel_session *session);
/* A question and its answer. */
typedef struct {
    const double *a, *b; /* numbers as in the layout */
    mel_answer answer;
    double seconds; /* NaN: not recorded */
    bool repeated;  /* asked before, with its sides swapped */
    bool imagined;
    uint32_t people; /* as in mel_question */
    uint32_t again; /* the question that it was by wish, its sides swapped (mel_session_ask_again); 0: none */
    bool signs_dropped; /* in files of earlier versions: with this answer declared signs were given up */
} mel_record;
/* A question with its answer, the first one at 0; its points are lent. */
MEL_API mel_record mel_session_record(const mel_session *session, uint32_t index);
/* Takes in a question that was asked and answered before, on this machine or another: the recorded pair is
 * told as it is, and never proposed again. With people MEL_NOT_RECORDED, people, imagined and repeated are
 * found out. MEL_EDATA where the numbers can be of no pair; MEL_ECONFLICT beyond max_questions. */
#define MEL_NOT_RECORDED UINT32_MAX
MEL_API mel_status mel_session_replay(mel_session *session, const mel_record *record, mel_error *err);
/* Another max_questions, with which the session may go on; at least as many as are answered. One whose
 * setting is settled (until decision) goes on for the cost ratio. */
MEL_API mel_status mel_session_set_budget(mel_session *session, uint32_t max_questions, mel_error *err);
/* The pending question is question `number` once more, its sides swapped, whether or not the session has
 * ended; its answer is heard like any other, and the session goes on as if the question had come by itself.
 * MEL_EINVAL where it was not answered, MEL_ESTATE for searches, which need the answers that they ask for. */
MEL_API mel_status mel_session_ask_again(mel_session *session, uint32_t number, mel_error *err);
/* The answers that were closest to the other answer by this metric, at most `most`, closest first: their
 * numbers, and how many there are. Two classes: the dearest exchange that was accepted and the cheapest one
 * that was refused come first. Of a question that came again the last answer counts. */
MEL_API size_t mel_session_close_calls(uint32_t *number, size_t most, const mel_session *session,
                                       const mel_metric *metric);
/* n random pairs (2 x size numbers each) for questions that put a result to the test: of given classifiers;
 * else within `radius` of the middle of what is feasible; with NaN such as people are asked about in sessions
 * with these options, in whole numbers out of *people, where they are known. *people is 0 for all others. */
MEL_API mel_status mel_evaluation_pairs(double *pairs, uint32_t *people, const mel_domain *domain,
                                        const mel_session_options *opt, double radius, size_t n,
                                        uint64_t seed, mel_error *err);
/* The place in a pool of the classifier with these statistics, of several the first; n when there is none. */
MEL_API size_t mel_pool_place(const mel_pool *pool, const double *point);
/* How many rows both classifiers were measured on, where their statistics are shares of them; 0: unknown, or
 * not the same. */
MEL_API uint32_t mel_pool_people(const mel_pool *pool, const double *a, const double *b);
/* What a session file with these answers holds, without their times, for the caller to free(). identity may
 * be NULL. */
MEL_API mel_status mel_session_to_text(char **out, const mel_session *session, const mel_identity *identity,
                                       mel_error *err);
/* What the points of its questions are. */
MEL_API const mel_layout *mel_session_layout(const mel_session *session);
/* About how many questions are still to come; 0 when done. */
MEL_API uint32_t mel_session_expected(mel_session *session);

/* Why a session has no further question. */
typedef enum {
    MEL_END_NOT_YET = 0,
    MEL_END_TOLERANCE = 1, /* known well enough */
    MEL_END_BUDGET = 2,    /* max_questions asked */
    MEL_END_NOISE = 3,     /* the noise of the answers, not their number, limits the accuracy */
    MEL_END_EXHAUSTED = 4, /* no pair of achievable classifiers can tell more */
    MEL_END_DECIDED = 5,   /* the order, threshold, rule or setting that it was for is settled (mel_until) */
    MEL_END_RANGE = 6,     /* search: at an end of its range, see MEL_FINDING_AT_END */
    MEL_END_BEYOND = 7     /* the exchange rate lies beyond what pairs of this test can ask */
} mel_end;
/* Metrics of which a part has no meaning: numbers that answers say nothing about have intervals as wide as
 * they can be. Said at the end: of a search when all places have been searched, of an active session when the
 * metric is as precise as asked for. */
typedef enum {
    MEL_FINDING_NONE = 0,
    MEL_FINDING_INDIFFERENT = 1,    /* no difference that was asked about matters */
    MEL_FINDING_NO_DIFFERENCES = 2, /* fair: differences between groups do not matter (lambda is 0) */
    MEL_FINDING_NO_MISTAKES = 3,    /* fair: nothing but differences between groups matters (lambda is 1) */
    MEL_FINDING_NO_CURVATURE = 4,   /* quadratic, polynomial, fair quadratic: a linear metric says it all */
    MEL_FINDING_FLAT_CENTRE = 5,    /* quadratic, polynomial: no slope at the uniform classifier's rates */
    /* Search: it ended at an end of its range, so that the metric may lie beyond it: the direction or a
     * sign is wrong. The metric has no intervals; the radius and the angle's interval are NaN. */
    MEL_FINDING_AT_END = 6
} mel_finding;
/* Whether the answers go with the signs and the direction that were declared. */
typedef enum {
    MEL_SIGNS_FREE = 0,   /* none declared, or the answers do not press against them */
    MEL_SIGNS_PRESSED = 1 /* they press weights against zero, which may count the other way */
} mel_sign_check;
/* Two classes, questions that are not far: what explains the answers better than an exchange rate does, with
 * a Bayes factor of 20 or more. */
typedef enum {
    MEL_MISFIT_NONE = 0,
    MEL_MISFIT_FOUND = 1,        /* a share of the positives that must be found, then fewest false alarms */
    MEL_MISFIT_CLEARED = 2,      /* a share of the negatives that must not be alarmed, then fewest misses */
    MEL_MISFIT_MISSED_FIRST = 3, /* fewer missed positives, if by more than some number */
    MEL_MISFIT_ALARMS_FIRST = 4, /* fewer false alarms, if by more than some number */
    MEL_MISFIT_LEVEL = 5,        /* the rate depends on how many are missed */
    MEL_MISFIT_SIDE = 6,         /* one side is preferred */
    MEL_MISFIT_DRIFT = 7         /* the rate has risen or fallen on the way */
} mel_misfit_kind;
typedef struct {
    mel_misfit_kind kind;
    /* Target: the share, with its 95% interval. Limits of differences: the number as a share of all people.
     * Else the direction: above 0 a missed positive counts more where more are found, on the side A, later.
     */
    double value, low, high;
} mel_misfit;
typedef struct {
    mel_end end;
    uint32_t questions;
    /* What the tolerance is compared with, see there: how well all coefficients together are known;
     * linear-fractional: radians of the level lines' angles. search: half of the widest of the last
     * intervals */
    double radius;
    double error_rate; /* active with flips: posterior mean of the share of wrong answers; NaN otherwise */
    uint32_t repeats, repeats_agreed; /* repeated questions, and how many got the same answer */
    uint32_t disagreements;           /* answers that the returned metric would have given otherwise */
    uint32_t skipped;                 /* questions answered "can't say" */
    uint32_t neither;                 /* .. and "neither will do" */
    /* active: how likely answers so inconsistent, or more so, are from a respondent as assumed.
     * Below 0.05 they are not consistent: another family, or a distracted respondent. Flips: by `evidence`,
     * on a scale that was fitted to simulated sessions; capped at 1, and 0.43 when nothing is known. With
     * learned flips, repeat_every 6, and a metric and an error rate drawn as the prior says, 4 to 6 of 100
     * simulated sessions were below 0.05: linear on a face (20 and 40 questions), linear with six
     * coefficients and quadratic with two classes (40). Elsewhere it may be otherwise. Without flips:
     * how often the metric and, in repeated questions, their own answers are contradicted, up to 512 times
     * (logistic: as the metric's differences and the scale, 30 unless given, tell). NaN: not known. */
    double consistency;
    mel_finding finding;
    /* Linear on a face, NaN otherwise: of (m11, m00) in radians, with its 95% interval. */
    double angle, angle_low, angle_high;
    mel_sign_check signs;
    /* Questions on a face that were not far, NaN otherwise: what a missed positive costs in false alarms,
     * median and 95% interval; 0 or infinity where the answers give no bound on that side. */
    double ratio, ratio_low, ratio_high;
    double askable_low, askable_high; /* the exchange rates that questions can be about */
    /* Standard deviation, natural logarithm, with which the exchange rate varies from answer to answer
     * near the balance; NaN where one rate explains all answers. */
    double variation;
    /* Until decision, NaN otherwise: the probability that the best setting for the metric loses at most 5% of
     * what the best one adds to flagging all or none; and about how many more questions would tell the
     * exchange rate to tolerance_factor, where that can be foreseen. */
    double settled, questions_to_ratio;
    mel_misfit misfit;
    bool imagined; /* the last questions were about an imagined test, the first were not */
    /* Active with flips: logarithm of how much likelier the answers A and B were, each by what was
     * believed before it, than coin tosses; NaN otherwise. What was believed starts with
     * options.prior: answers against a strong one may lower it, however careful. Within 1 of 0 there
     * is not enough to tell: questions that tell most are those whose answers cannot be foreseen, so
     * that evidence comes from repeated ones above all */
    double evidence;
} mel_summary;
/* The metric as known now (also before the end), with intervals, for the caller to free. */
MEL_API mel_status mel_session_result(mel_metric **metric, mel_summary *summary, mel_session *session,
                                      mel_error *err);

/* Equally likely metrics given the answers. For the active strategy only (MEL_ESTATE otherwise): n rows of
 * n_coefficients numbers, each row the coefficients in the order of metric files, normalised as the returned
 * metric's; for the caller to free(). mel_ranking_options and mel_certainty_options take them as they are. */
MEL_API mel_status mel_session_draws(size_t *n, size_t *n_coefficients, double **values, mel_session *session,
                                     mel_error *err);

typedef struct {
    const mel_metric *metric;
    mel_summary summary;
    size_t n_draws, n_coefficients;
    const double *draw;
} mel_snapshot;
/* What is known now, found once between two answers: metric, summary and draws (NULL: a search has none) as
 * the two above give them, all lent until the next answer, undo, question asked again or other budget. */
MEL_API mel_status mel_session_snapshot(mel_snapshot *out, mel_session *session, mel_error *err);

/* What a metric is matched with: the classes and groups of some statistics, in their order. */
typedef enum {
    MEL_NO_MISMATCH = 0,
    MEL_OTHER_STATISTICS = 1,
    MEL_OTHER_KIND = 2, /* rates, not confusion entries, or the other way round, and nothing else */
    MEL_OTHER_CLASSES = 3,
    MEL_OTHER_GROUPS = 4
} mel_mismatch;
typedef struct {
    const char *const *name;                /* of the classes; NULL: nobody has named them */
    const char *const *label;               /* what files call them, or NULL */
    const char *const *group;               /* names of the groups; NULL: there are none */
    bool classes_invented, groups_invented; /* the names are nobody's */
    /* Found: */
    bool classes_by_place, groups_by_place; /* no name was the same, and the names here are invented */
    mel_mismatch mismatch;                  /* why it was refused */
} mel_match;
/* The metric in the order of other statistics, for the caller to free. Its classes and groups are matched by
 * name. Where no name is the same, nobody's names, invented ones, and the names "negative" and "positive" of
 * two classes match by place. A weighted sum of the two mistakes of two classes becomes one of (TP, TN) where
 * that is the layout, and the other way round: it orders classifiers alike, by the same differences, but its
 * values are others. MEL_EDATA with both lists of names otherwise, and for a metric of another layout. */
MEL_API mel_status mel_metric_match(mel_metric **out, const mel_metric *metric, const mel_layout *layout,
                                    mel_match *with, mel_error *err);

/* Several respondents (mel_outcome_of_sessions). */
typedef struct {
    mel_metric *metric;    /* this one's own, with intervals */
    mel_summary summary;   /* of the session alone */
    uint32_t answers;      /* A or B */
    uint32_t contradicted; /* of these, by the common metric */
    /* Of this one's own posterior, the share that is at least as far from its middle as the common metric. */
    double agreement;
    bool differs; /* wants something else: the agreement is below 0.05 divided by how many there are */
} mel_respondent;
typedef struct {
    double angle;     /* between two metrics as found, radians */
    double low, high; /* 95% interval of the true angle; begins with 0 where the two may want the same */
} mel_disagreement;
typedef struct {
    double low, high, deviation; /* over the respondents' own metrics: range, standard deviation */
} mel_spread;
/* People as draws from a population: each one's answers are read by the own session's model of answers. */
typedef struct {
    /* The population's mean, with 95% intervals of that mean: not of what one of them wants. Of two weights
     * with known signs it is the mean of the logarithm of their ratio, else that of unit vectors. */
    mel_metric *common;
    mel_summary summary; /* of it: questions of all, radius, ratio, angle; the rest is not known */
    mel_spread *spread;  /* one per coefficient: how far people's own metrics are apart */
    /* How far people of the population are apart, with its 95% interval. By ratio: the standard deviation of
     * the logarithm of the ratio; otherwise the typical angle to the common metric, radians. */
    bool by_ratio;
    double apart, apart_low, apart_high;
    /* Where people's density is highest; it is about exp(strength cos(angle to it)) on the unit sphere of the
     * coefficients: prior and prior_strength of a session with another person of this kind. */
    mel_metric *likely;
    double strength;
    size_t n;
    size_t n_against;               /* how many differ: above 0, one metric does not do for all */
    mel_respondent *respondent;     /* n */
    mel_disagreement *disagreement; /* n x n, symmetric, zero on the diagonal */
} mel_pooled;

#ifdef __cplusplus
}
#endif
#endif
