/* What was told so far, which question comes back, and how many remain. */
#include "elicit/active/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a question of an unpromising kind is taken to tell at least, in bits, when guessing how many remain.
 */
static const double least_bits = 0.2;
/* Doubts about somebody's answers begin after so many. */
enum { DOUBTS_FROM = 5 };
/* Evidence that counts as against somebody: questions that were coin tosses leave 0, up to rounding, which
 * must not decide what is asked. */
static const double doubt = -1e-6;
/* Of an answer that no sample foresees. */
static const double least_probability = 1e-12;

void mel_history_free(mel_history *history)
{
    free(history->again);
    free(history->points);
}

mel_status mel_history_reserve(mel_history *history, mel_error *err)
{
    if (history->n < history->capacity)
        return MEL_OK;
    const size_t capacity = history->capacity == 0 ? 32 : 2 * history->capacity;
    void *again = history->again, *points = history->points;
    const bool grown = mel_grow(&again, capacity, sizeof *history->again);
    history->again = again;
    const bool more = grown && mel_grow(&points, capacity * 2 * history->size, sizeof *history->points);
    history->points = points;
    if (!more)
        return mel_fail_memory(err, "the answers");
    history->capacity = capacity;
    return MEL_OK;
}

/* What this one repeats has come back. */
static void mark_again(mel_history *history, const mel_pair *pair)
{
    const size_t size = history->size, bytes = size * sizeof(double);
    for (size_t i = 0; i < history->n && pair->repeated; i++) {
        const double *a = history->points + 2 * size * i, *b = a + size;
        if (memcmp(a, pair->b, bytes) == 0 && memcmp(b, pair->a, bytes) == 0)
            history->again[i] = true;
    }
}

void mel_history_skip(mel_history *history, const mel_pair *pair)
{
    mark_again(history, pair);
    history->n_skipped++;
    history->repeated = pair->repeated;
}

void mel_history_add(mel_history *history, const mel_pair *pair, bool once)
{
    const size_t size = history->size, bytes = size * sizeof(double);
    mark_again(history, pair);
    memcpy(history->points + 2 * size * history->n, pair->a, bytes);
    memcpy(history->points + 2 * size * history->n + size, pair->b, bytes);
    history->again[history->n++] = pair->repeated || once;
    history->repeated = pair->repeated;
}

void mel_history_stream(mel_rng *rng, const mel_history *history, uint64_t seed)
{
    mel_rng_seed_stream(rng, seed, UINT64_C(3) << 62 | (history->n + history->n_skipped));
}

void mel_history_score(mel_history *history, mel_answer answer, double foreseen)
{
    if (answer != MEL_ANSWER_A && answer != MEL_ANSWER_B)
        return;
    const double probability = answer == MEL_ANSWER_A ? foreseen : 1.0 - foreseen;
    history->evidence += log(2.0 * fmax(probability, least_probability));
}

double mel_reported_evidence(double evidence, const mel_session_options *opt)
{
    return mel_noise_slips(mel_assumed(&opt->assume)) ? evidence : NAN;
}

/* Whether it is time to ask something again, after so many questions (put aside ones included): every so
 * often (opt->repeat_every, when answers may be wrong), and every second time as long as coin tosses would
 * explain the answers just as well. repeated: the last one was a repetition. */
static bool repeat_is_due(const mel_session_options *opt, size_t questions, bool repeated, double evidence)
{
    const mel_noise_ops *noise = mel_assumed(&opt->assume);
    const uint32_t every = opt->repeat_every > 1 ? opt->repeat_every : 2; /* not all may be repeats */
    if (noise->errs == MEL_ERRS_NEVER || opt->repeat_every == 0)
        return false;
    const bool doubtful = mel_noise_slips(noise) && evidence < doubt;
    return (questions + 1) % every == 0 || (doubtful && !repeated && questions >= DOUBTS_FROM);
}

bool mel_history_repeat(double *a, double *b, const mel_history *history, const mel_session_options *opt,
                        mel_prediction predict, mel_engine *engine)
{
    if (!repeat_is_due(opt, history->n + history->n_skipped, history->repeated, history->evidence))
        return false;
    const size_t size = history->size;
    const double *surest = NULL;
    double best = -1.0;
    for (size_t i = 0; i < history->n; i++) {
        const double *pair = history->points + 2 * size * i;
        const double sure = history->again[i] ? -1.0 : fabs(predict(engine, pair, pair + size) - 0.5);
        if (sure > best) {
            best = sure;
            surest = pair;
        }
    }
    if (surest == NULL)
        return false;
    memcpy(b, surest, size * sizeof *b);
    memcpy(a, surest + size, size * sizeof *a);
    return true;
}

void mel_toss_sides(size_t size, double *a, double *b, mel_rng *rng)
{
    if (mel_rng_next(rng) >> 63 == 0)
        return;
    for (size_t i = 0; i < size; i++) {
        const double held = a[i];
        a[i] = b[i];
        b[i] = held;
    }
}

double mel_bits_per_answer(const mel_noise_ops *noise, double error_rate)
{
    const double wrong = noise->usual_errors > 0.0 ? noise->usual_errors
                         : isnan(error_rate)       ? 0.0
                                                   : fmin(error_rate, 0.45);
    if (wrong <= 0.0)
        return 1.0;
    return 1.0 + wrong * log2(wrong) + (1.0 - wrong) * log2(1.0 - wrong);
}

uint32_t mel_history_expected(const mel_history *history, double numbers, double first_radius, double radius,
                              double tolerance, double bits_per_answer)
{
    if (radius <= tolerance)
        return 0;
    const double got = numbers * log2(fmax(first_radius / radius, 1.0));
    const double bits = fmin(1.0, (got + numbers * bits_per_answer) / ((double)history->n + numbers));
    const double left = numbers * log2(radius / tolerance) / fmax(bits, least_bits);
    return (uint32_t)fmin(ceil(fmax(left, 1.0)), 1e6);
}
