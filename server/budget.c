/* The budget of the request that a thread works on, and the callback that ends work beyond it. */
#include "budget.h"

#include "clock.h"

#include "base/internal.h"

#include <stddef.h>

static const double looks = 0.05; /* seconds between two questions whether the answer is still wanted */

/* A request is worked on by one thread from its beginning to its end. */
static _Thread_local struct {
    const mel_budget *budget;
    double begun;  /* of the thread's processor time */
    double looked; /* when is_wanted was asked last */
    bool spent, unwanted;
} now_working;

void mel_budget_begin(const mel_budget *budget)
{
    now_working.budget = budget;
    now_working.begun = mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    now_working.looked = 0.0;
    now_working.spent = now_working.unwanted = false;
}

void mel_budget_end(void)
{
    now_working.budget = NULL;
}

static bool is_over(void)
{
    const mel_budget *budget = now_working.budget;
    if (budget == NULL)
        return false;
    if (!now_working.spent && budget->processor > 0.0)
        now_working.spent =
            mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID) - now_working.begun > budget->processor;
    const double now = mel_clock_seconds(CLOCK_MONOTONIC);
    if (!now_working.unwanted && budget->is_wanted != NULL && now - now_working.looked > looks) {
        now_working.looked = now;
        now_working.unwanted = !budget->is_wanted(budget->user);
    }
    return now_working.spent || now_working.unwanted;
}

static int on_progress(void *user, const char *what, double share)
{
    (void)user;
    (void)what;
    (void)share;
    return is_over();
}

mel_progress mel_budget_progress(void)
{
    return (mel_progress){ .call = on_progress };
}

mel_status mel_budget_check(mel_error *err)
{
    return is_over() ? mel_budget_explain(MEL_ESTOPPED, err) : MEL_OK;
}

mel_status mel_budget_explain(mel_status status, mel_error *err)
{
    if (status != MEL_ESTOPPED || now_working.budget == NULL)
        return status;
    if (now_working.spent)
        return mel_fail(
            err, MEL_ELIMIT,
            "this takes the server more than %g seconds of computing; ask about less data, or run "
            "melicit on a computer of your own",
            now_working.budget->processor);
    return now_working.unwanted ? mel_fail(err, MEL_ESTOPPED, "nobody waits for this answer any more")
                                : status;
}

const char *mel_budget_client(void)
{
    const mel_budget *budget = now_working.budget;
    return budget != NULL && budget->client != NULL ? budget->client : "";
}
