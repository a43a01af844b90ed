/* What the request that a thread works on may take: processor time, time, memory, and until nobody waits any
 * more. */
#ifndef MEL_SERVER_BUDGET_H
#define MEL_SERVER_BUDGET_H

#include "melicit/base.h"

typedef struct {
    double processor;   /* seconds of the thread's own processor time; 0: no limit */
    double seconds;     /* until the server gives up, however little of them was computing; 0: no limit */
    size_t memory;      /* bytes of the process, above which work is given up; 0: no limit */
    const char *client; /* who asks; heavy work is shared out among clients; NULL: nobody in particular */
    /* Whether the answer is still of use; NULL: always. Called several times a second while work goes on. */
    bool (*is_wanted)(void *user);
    /* Makes room for others while this request waits (mel_request_step_aside); NULL: it does not. */
    bool (*step_aside)(void *user);
    void (*step_back)(void *user);
    void *user;
} mel_budget;

/* From now on this thread works within the budget, which is borrowed until mel_budget_end. */
void mel_budget_begin(const mel_budget *budget);
void mel_budget_end(void);

/* For the library: stops work that is over the budget of the thread that calls it. On threads without a
 * budget it never stops anything. */
mel_progress mel_budget_progress(void);
/* MEL_ESTOPPED once the budget is spent or the answer of no use. */
mel_status mel_budget_check(mel_error *err);
/* The same in a loop over rows, which looks now and then. */
static inline mel_status mel_budget_check_row(size_t row, mel_error *err)
{
    enum { ROWS_BETWEEN_LOOKS = 4096 };
    return row % ROWS_BETWEEN_LOOKS == 0 ? mel_budget_check(err) : MEL_OK;
}
/* Turns the failure of work that was stopped into one that says why: MEL_ELIMIT when it takes too long, which
 * would be the same the next time. Other failures stay as they are. */
mel_status mel_budget_explain(mel_status status, mel_error *err);
/* The request waits for others, and lets them go first; again is the same as once. False: it cannot. */
bool mel_budget_step_aside(void);
/* If it has; may take a while, so no lock is held. */
void mel_budget_step_back(void);
/* Whether this thread works within a budget. */
bool mel_budget_is_limited(void);
/* Bytes of the process that are in memory; 0: unknown. */
size_t mel_resident_bytes(void);
/* Whose request it is; "": nobody's in particular. */
const char *mel_budget_client(void);

#endif
