/* melicit/oracle.h: questions, and whatever answers them: a metric, a crowd, a program, a person. */
#ifndef MELICIT_ORACLE_H
#define MELICIT_ORACLE_H

#include "melicit/metric.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SKIP: "can't say". It is recorded and counts as a question, but tells nothing about the metric; searches,
 * which need an answer, take it as "about the same". NEITHER: "neither will do". Sessions take it only where
 * their options say so; it tells what is acceptable, and about the metric as much as SKIP. */
typedef enum {
    MEL_ANSWER_A = 1,
    MEL_ANSWER_B = 2,
    MEL_ANSWER_SAME = 3,
    MEL_ANSWER_SKIP = 6,
    MEL_ANSWER_NEITHER = 7
} mel_answer;
/* How an answer is written: "A", "B", "=", "neither"; "?" for SKIP and for anything else. */
MEL_API const char *mel_answer_name(mel_answer answer);
/* Reads an answer: exactly "A", "B", "=", "?" or "neither". */
MEL_API mel_status mel_answer_parse(mel_answer *out, const char *text, mel_error *err);

/* What came back: one of the answers, or a wish of the person who was asked. */
typedef enum {
    MEL_REPLY_A = MEL_ANSWER_A,
    MEL_REPLY_B = MEL_ANSWER_B,
    MEL_REPLY_SAME = MEL_ANSWER_SAME,
    MEL_REPLY_UNDO = 4, /* take back the answer before this question */
    MEL_REPLY_QUIT = 5, /* stop; what was answered so far counts */
    MEL_REPLY_SKIP = MEL_ANSWER_SKIP,
    MEL_REPLY_NEITHER = MEL_ANSWER_NEITHER
} mel_reply;

/* "Which of these two classifiers do you prefer?" All pointers are borrowed during the call. */
typedef struct {
    uint32_t number;     /* as in the session's log */
    uint32_t expected;   /* about how many questions there will be; 0: unknown */
    uint32_t repetition; /* 0; a majority numbers its further votes on the same question */
    const mel_layout *layout;
    const char *const *class_names; /* n_classes; NULL: "0", "1", ... */
    const char *const *group_names; /* n_groups; NULL: "1", "2", ... */
    const double *a, *b;            /* statistics in the layout's order */
    const double *class_share;      /* P(Y = i), so that all entries can be shown; NULL: unknown */
    uint32_t
        people;    /* a and b are whole numbers out of so many and are to be shown as such; 0: they are not */
    bool imagined; /* they are of a test that does not exist */
    bool repeated; /* asked before, with its sides swapped */
    bool announced;                          /* .. and to be told so */
    const char *classifier_a, *classifier_b; /* what achieves them ("positive when score >= 0.31"); or NULL */
    bool named;   /* A and B exist, and that is what they are called: always shown */
    bool neither; /* the answer NEITHER is taken */
} mel_question;

/* What people should know about a question: that its test is imagined, or that it was asked before (where
 * that is announced). NULL: nothing, or no memory; for the caller to free(). */
MEL_API char *mel_question_remark(const mel_question *question);

typedef struct mel_oracle mel_oracle;
/* Asks a question: MEL_OK with a reply, or a failure with its sentence and *reply untouched. */
MEL_API mel_status mel_oracle_ask(mel_reply *reply, mel_oracle *oracle, const mel_question *question,
                                  mel_error *err);
MEL_API void mel_oracle_free(mel_oracle *oracle);

/* How a simulated oracle errs. Differences are of metric values (utility), so they scale with the metric. */
typedef enum {
    MEL_NOISE_NONE = 0,
    MEL_NOISE_BAND = 1,     /* size EPS: when |difference| < EPS any answer may come */
    MEL_NOISE_LOGISTIC = 2, /* size SCALE: P(right) = 1/(1 + exp(-SCALE |difference|)); larger = surer */
    MEL_NOISE_FLIP = 3,     /* size P: wrong with probability P whatever the difference */
    /* No size: a slip now and then (3%), and errors near indifference, half as often as coin tosses at a
     * difference of 0.02. */
    MEL_NOISE_PERSON = 4
} mel_noise_kind;
typedef struct {
    mel_noise_kind kind;
    double size;
    bool adversarial; /* band: always wrong inside the band instead of a fair coin */
} mel_noise;
/* Reads how a respondent errs: "none", "band:0.01", "band:0.01,adversarial", "logistic:50", "flip:0.1",
 * "person". */
MEL_API mel_status mel_noise_parse(mel_noise *out, const char *text, mel_error *err);

typedef enum {
    MEL_TIE_SECOND = 0, /* B unless A is better by more than nothing: 1[phi(A) > phi(B)] */
    MEL_TIE_SAME = 1    /* "about the same" when |difference| <= tie_width */
} mel_tie;
typedef struct {
    size_t struct_size;
    mel_noise noise;
    mel_tie ties;     /* MEL_TIE_SECOND */
    double tie_width; /* 0 */
    uint64_t seed;    /* 1 */
} mel_simulated_options;
MEL_API void mel_simulated_options_init(mel_simulated_options *opt);
/* Answers by a metric, which is copied. Noise depends on the seed, the question's number and its
 * repetition only, never on what was asked before: a resumed session hears the same answers. */
MEL_API mel_status mel_oracle_simulated(mel_oracle **out, const mel_metric *metric,
                                        const mel_simulated_options *opt, mel_error *err);

/* For embedders: answer must behave as mel_oracle_ask does; release (may be NULL) is called with
 * user when the oracle is freed, also when making it fails. */
typedef mel_status (*mel_oracle_fn)(mel_reply *reply, void *user, const mel_question *question,
                                    mel_error *err);
typedef void (*mel_release_fn)(void *user);
/* An oracle that asks a function of your own. */
MEL_API mel_status mel_oracle_callback(mel_oracle **out, mel_oracle_fn answer, void *user,
                                       mel_release_fn release, mel_error *err);

/* The two sides of a question as whole people: confusion matrices that add up. */
enum { MEL_UNKNOWN_COUNT = -1 };
typedef struct {
    size_t k, n_groups; /* n_groups at least 1 */
    int64_t people;     /* counts are out of this many, of each class if of_each_class */
    bool of_each_class; /* rates */
    int64_t *a, *b;     /* n_groups matrices, k x k, true classes in rows; MEL_UNKNOWN_COUNT where unknown */
    int64_t *size;      /* n_groups x k: people of each true class, the same for both sides */
} mel_counted;
/* Counts a question out as people. people 0: the first of 100, 1,000, 10,000 in which
 * every difference that matters is at least five people.
 */
MEL_API mel_status mel_counted_make(mel_counted *out, const mel_question *question, uint32_t people,
                                    mel_error *err);
MEL_API void mel_counted_clear(mel_counted *counted);

/* What changes from A to B in a question, in words: the same on the terminal, in the browser and for those
 * who are read to. */

/* Names, all optional and borrowed: of the two mistakes of two classes, and of what they mean for somebody:
 * "cancer(s)" that are found, "healthy person gets a biopsy". */
typedef struct {
    const char *missed, *missed_plural, *false_alarm, *false_alarms;
    const char *found, *found_plural, *alarmed, *alarmed_plural;
    const mel_language *language; /* of the sentences; NULL: English */
} mel_change_words;

/* One entry of the matrices that differs; of a class of which only the right answers are known, those. */
typedef struct {
    size_t group, truth, predicted;
    int64_t a, b;
    const char *name, *text; /* "missed cancers", "12 fewer missed cancers" */
} mel_change;

/* "B" "finds 3 more cancers" " than A (old)" "29 more false alarms": two classes without groups. */
typedef struct {
    const char *start, *after; /* after: behind the first part */
    size_t n_parts;
    struct {
        bool missed; /* about missed positives */
        const char *text;
    } part[2];
} mel_told;

typedef struct {
    size_t n;
    const mel_change *change; /* in the order of the matrices */
    mel_told told, longest;   /* longest: as long as it gets with these names; no parts elsewhere */
    const char *sentence;     /* all of it, or the largest changes of many */
} mel_changes;

/* What changes from A to B, in words; swapped: A is the question's b. */
MEL_API mel_status mel_changes_make(mel_changes **out, const mel_counted *counted,
                                    const mel_question *question, const mel_change_words *words, bool swapped,
                                    mel_error *err);
MEL_API void mel_changes_free(mel_changes *changes);

#ifdef __cplusplus
}
#endif
#endif
