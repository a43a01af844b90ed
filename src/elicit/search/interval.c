/* The halving of an interval that all searches share, and how a procedure asks its next question. */
#include "elicit/search/interval.h"

/* Halving leaves an end that it never moved exactly as it was; both are left when there was nothing to halve.
 */
bool mel_arc_at_end(mel_arc arc, mel_arc range)
{
    return (arc.low == range.low) != (arc.high == range.high);
}

uint32_t mel_arc_rounds(mel_arc arc, double tolerance)
{
    double width = arc.high - arc.low;
    uint32_t rounds = 0;
    while (width > tolerance) {
        width *= 0.5;
        rounds++;
    }
    return rounds;
}

/* Lines 7 to 12 of Algorithm 3.1: rises[i] says that point i+1 is better than point i, for the five
 * points a, c, d, e, b. A dip (better, worse, better) is out of order and read as rising. */
static void shrink(mel_arc *arc, bool rises[4])
{
    const double quarter = (arc->high - arc->low) / 4.0;
    const mel_arc before = *arc;
    for (size_t i = 0; i + 1 < 4; i++)
        if (!rises[i] && rises[i + 1])
            rises[i] = true;
    if (!rises[0] || !rises[1])
        arc->high = before.low + 2.0 * quarter;
    else if (!rises[2])
        *arc = (mel_arc){ before.low + quarter, before.low + 3.0 * quarter };
    else
        arc->low = before.low + 2.0 * quarter;
}

static bool ask_round(bool rises[4], mel_arc arc, const mel_arc_search *search)
{
    const size_t first = search->per_round == 2 ? 1 : 0, end = search->per_round == 4 ? 4 : 3;
    const double width = arc.high - arc.low;
    for (size_t i = first; i < end; i++) {
        const mel_preference preference = mel_prefer(search->replay);
        if (preference == MEL_PENDING) {
            search->pose(search->context, arc.low + width * (double)i / 4.0,
                         arc.low + width * (double)(i + 1) / 4.0);
            return false;
        }
        rises[i] = (preference == MEL_FIRST) != search->minimise;
    }
    return true;
}

bool mel_arc_narrow(mel_arc *arc, const mel_arc_search *search)
{
    const uint32_t rounds = mel_arc_rounds(*arc, search->tolerance);
    for (uint32_t round = 0; round < rounds; round++) {
        /* Questions that are left out are taken as answered like a metric with one peak inside the arc
         * would. */
        bool rises[4] = { true, false, false, false };
        if (!ask_round(rises, *arc, search))
            return false;
        shrink(arc, rises);
    }
    return true;
}

mel_preference mel_prefer(mel_replay *replay)
{
    if (replay->used == replay->n_answers)
        return MEL_PENDING;
    return replay->answers[replay->used++] == MEL_ANSWER_A ? MEL_FIRST : MEL_SECOND;
}
