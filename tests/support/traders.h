/* Simulated people who weigh the two mistakes of a test against each other, and sessions with them. */
#ifndef MEL_TEST_TRADERS_H
#define MEL_TEST_TRADERS_H

#include "support/test.h"

typedef enum {
    TEST_EXACT,
    TEST_WEBER,
    TEST_HARDLY_SEES,
    TEST_SAYS_SAME,
    TEST_LEXICOGRAPHIC,
    TEST_ALWAYS_SAME,
    TEST_ALWAYS_A,
    TEST_ALWAYS_B,
    TEST_CHANGES, /* answers what comes again the other way */
    TEST_RANDOM,
    TEST_ADVERSARY,
    TEST_SKIPS,
    TEST_MOVES,
    TEST_LEARNS, /* hardly looks at first, and carefully in the end */
    TEST_FINDS,  /* wants so many true positives, out of all people, and then fewest false alarms: rate is ln
                    of it */
    TEST_LEANS,  /* to A */
    TEST_PRIOR   /* errs in one of the ways that people are assumed to, as likely as that is */
} test_trader_kind;
typedef struct {
    test_trader_kind kind;
    double rate; /* ln r */
    uint64_t seed;
} test_trader;

mel_answer test_trader_answer(const test_trader *p, const mel_question *q);
/* What people are asked with unless they say otherwise. */
mel_session_options test_options_for_people(void);
/* A session answered to its end; its questions must be in whole people out of 1,000. */
mel_session *test_answer_as(const mel_face *face, const mel_session_options *opt, const test_trader *p);
mel_summary test_summary_of(mel_session *session);

#endif
