/* The budget of the request that a thread works on, and the callback that ends work beyond it. */
#include "budget.h"

#include "clock.h"

#include "base/internal.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static const double looks = 0.01; /* seconds between two looks at the client, the clock and the memory */

/* A request is worked on by one thread from its beginning to its end. */
static _Thread_local struct {
    const mel_budget *budget;
    double begun;  /* of the thread's processor time */
    double since;  /* by the clock */
    double looked; /* when is_wanted was asked last */
    bool spent, unwanted, refused, aside;
} now_working;

void mel_budget_begin(const mel_budget *budget)
{
    now_working.budget = budget;
    now_working.begun = mel_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    now_working.since = mel_clock_seconds(CLOCK_MONOTONIC);
    now_working.looked = 0.0;
    now_working.spent = now_working.unwanted = now_working.refused = now_working.aside = false;
}

void mel_budget_end(void)
{
    now_working.budget = NULL;
}

bool mel_budget_is_limited(void)
{
    return now_working.budget != NULL;
}

size_t mel_resident_bytes(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %zu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void look(const mel_budget *budget, double now)
{
    now_working.looked = now;
    now_working.unwanted = budget->is_wanted != NULL && !budget->is_wanted(budget->user);
    now_working.refused = (budget->seconds > 0.0 && now - now_working.since > budget->seconds) ||
                          (budget->memory > 0 && mel_resident_bytes() > budget->memory);
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
    if (!now_working.unwanted && !now_working.refused && now - now_working.looked > looks)
        look(budget, now);
    return now_working.spent || now_working.unwanted || now_working.refused;
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
    if (now_working.refused)
        return mel_fail(err, MEL_ESTOPPED,
                        "the server has neither memory nor time for this now; try again in a moment");
    return now_working.unwanted ? mel_fail(err, MEL_ESTOPPED, "nobody waits for this answer any more")
                                : status;
}

const char *mel_budget_client(void)
{
    const mel_budget *budget = now_working.budget;
    return budget != NULL && budget->client != NULL ? budget->client : "";
}

bool mel_budget_step_aside(void)
{
    const mel_budget *budget = now_working.budget;
    if (!now_working.aside && budget != NULL && budget->step_aside != NULL)
        now_working.aside = budget->step_aside(budget->user);
    return now_working.aside;
}

void mel_budget_step_back(void)
{
    if (now_working.aside)
        now_working.budget->step_back(now_working.budget->user);
    now_working.aside = false;
}
