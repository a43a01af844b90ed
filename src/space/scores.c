/* Scores of a face: as integers of the same order, sorted and searched; rows checked, weighed in whole
 * numbers, dealt out to buckets by score. */
#include "space/face.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    FEW = 24,       /* sorted by insertion */
    MOST_DIGIT = 10 /* bits; the counts of two digits stay in the nearest memory */
};

static void insertion_sort(size_t n, uint64_t *key, uint64_t *mass)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t k = key[i], m = mass != NULL ? mass[i] : 0;
        size_t j = i;
        for (; j > 0 && key[j - 1] > k; j--) {
            key[j] = key[j - 1];
            if (mass != NULL)
                mass[j] = mass[j - 1];
        }
        key[j] = k;
        if (mass != NULL)
            mass[j] = m;
    }
}

static unsigned bit_width(uint64_t x)
{
    unsigned bits = 0;
    for (unsigned step = 32; step > 0; step /= 2)
        if (x >> step != 0) {
            x >>= step;
            bits += step;
        }
    return bits + (x != 0);
}

/* How keys are cut: (key - least) >> shift has two digits, of which the lower one has `bits` bits. */
typedef struct {
    uint64_t least, most;
    unsigned shift, bits;
} cut;

/* Digits with room for n^2 values and more, as far as they reach: few keys then share both. */
static cut choose_cut(size_t n, const uint64_t *key)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = key[i] < least ? key[i] : least;
        most = key[i] > most ? key[i] : most;
    }
    const unsigned range = bit_width(most - least), wanted = (bit_width(n) + 9) / 2;
    const unsigned bits = wanted > MOST_DIGIT ? MOST_DIGIT : wanted;
    const unsigned shift = range > 2 * bits ? range - 2 * bits : 0;
    return (cut){ .least = least, .most = most, .shift = shift, .bits = bits };
}

static void starts_from_counts(size_t n, size_t *count)
{
    for (size_t i = 0, before = 0; i < n; i++) {
        const size_t here = count[i];
        count[i] = before;
        before += here;
    }
}

/* Moves keys to the place of a digit, those of equal digits in the order they come. */
static inline void move_by_digit(size_t n, const uint64_t *key, const uint64_t *mass, uint64_t *to,
                                 uint64_t *to_mass, uint64_t least, unsigned shift, size_t mask,
                                 size_t *place)
{
    for (size_t i = 0; i < n; i++) {
        const size_t at = place[(size_t)((key[i] - least) >> shift) & mask]++;
        to[at] = key[i];
        if (mass != NULL)
            to_mass[at] = mass[i];
    }
}

/* Sorts by the two digits. */
static void sort_by_cut(size_t n, uint64_t *key, uint64_t *mass, uint64_t *spare_key, uint64_t *spare_mass,
                        cut c)
{
    size_t low[(size_t)1 << MOST_DIGIT], high[(size_t)1 << MOST_DIGIT];
    const size_t values = (size_t)1 << c.bits, mask = values - 1;
    memset(low, 0, values * sizeof *low);
    memset(high, 0, values * sizeof *high);
    for (size_t i = 0; i < n; i++) {
        const uint64_t digits = (key[i] - c.least) >> c.shift;
        low[digits & mask]++;
        high[digits >> c.bits]++;
    }
    starts_from_counts(values, low);
    starts_from_counts(values, high);
    if (mass != NULL) {
        move_by_digit(n, key, mass, spare_key, spare_mass, c.least, c.shift, mask, low);
        move_by_digit(n, spare_key, spare_mass, key, mass, c.least, c.shift + c.bits, mask, high);
    } else {
        move_by_digit(n, key, NULL, spare_key, NULL, c.least, c.shift, mask, low);
        move_by_digit(n, spare_key, NULL, key, NULL, c.least, c.shift + c.bits, mask, high);
    }
}

void mel_score_bits_sort(size_t n, uint64_t *key, uint64_t *mass, uint64_t *spare_key, uint64_t *spare_mass)
{
    if (n <= FEW) {
        insertion_sort(n, key, mass);
        return;
    }
    const cut c = choose_cut(n, key);
    if (c.least == c.most)
        return;
    sort_by_cut(n, key, mass, spare_key, spare_mass, c);
    /* What follows the digits is sorted among the keys that share them. */
    for (size_t start = 0, end; c.shift > 0 && start < n; start = end) {
        const uint64_t digits = (key[start] - c.least) >> c.shift;
        for (end = start + 1; end < n && (key[end] - c.least) >> c.shift == digits;)
            end++;
        if (end - start > 1)
            mel_score_bits_sort(end - start, key + start, mass != NULL ? mass + start : NULL, spare_key,
                                spare_mass);
    }
}

size_t mel_score_bits_below(size_t n, const uint64_t *key, uint64_t bound)
{
    const uint64_t *base = key;
    while (n > 1) {
        const size_t half = n / 2;
        base += base[half - 1] < bound ? half : 0;
        n -= half;
    }
    return (size_t)(base - key) + (n == 1 && *base < bound);
}

size_t mel_score_bits_below_from(size_t n, const uint64_t *key, uint64_t bound, size_t from)
{
    size_t low = from, step = 1; /* steps double until they pass the bound */
    while (step < n - low && key[low + step - 1] < bound) {
        low += step;
        step *= 2;
    }
    return low + mel_score_bits_below(step < n - low ? step : n - low, key + low, bound);
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    MOST_SLICES = 64,
    SLICE_ROWS = 1 << 15,
    MOST_BUCKETS = 1 << 10, /* twice as many places are written to at once: what the address cache holds */
    BUCKET_ROWS = 1 << 13,
    UNIT_BITS = 61 /* weights are rounded to units so small that all of them add up to less than 2^62 */
};

static size_t slice_start(const mel_score_rows *rows, size_t slice)
{
    const size_t each = rows->n / rows->n_slices, more = rows->n % rows->n_slices;
    return each * slice + (slice < more ? slice : more);
}

/* Smallest and largest of n >= 1 numbers; false when one of them is not finite. */
static bool range_of(size_t n, const double *x, double *low, double *high)
{
    enum { LANES = 4 }; /* independent chains, so that one comparison need not wait for the last */
    double lows[LANES], highs[LANES], odd[LANES] = { 0 };
    for (size_t k = 0; k < LANES; k++)
        lows[k] = highs[k] = x[0];
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const double y = x[i + k];
            lows[k] = y < lows[k] ? y : lows[k];
            highs[k] = y > highs[k] ? y : highs[k];
            odd[k] += y - y; /* 0, or NaN from an infinity or NaN */
        }
    for (; i < n; i++) {
        lows[0] = x[i] < lows[0] ? x[i] : lows[0];
        highs[0] = x[i] > highs[0] ? x[i] : highs[0];
        odd[0] += x[i] - x[i];
    }
    *low = fmin(fmin(lows[0], lows[1]), fmin(lows[2], lows[3]));
    *high = fmax(fmax(highs[0], highs[1]), fmax(highs[2], highs[3]));
    return odd[0] + odd[1] + odd[2] + odd[3] == 0.0;
}

/* The first row that is wrong; one is. */
static mel_status name_wrong_score(const mel_score_rows *rows, mel_error *err)
{
    size_t i = 0;
    for (; i + 1 < rows->n; i++)
        if (!isfinite(rows->score[i]) || rows->role[i] > MEL_ROW_OTHER ||
            (rows->weight != NULL && !(rows->weight[i] >= 0.0 && rows->weight[i] <= DBL_MAX)))
            break;
    if (!isfinite(rows->score[i]))
        return mel_fail(err, MEL_EDATA, "score[%zu] is %g, expected a finite number", i, rows->score[i]);
    if (rows->role[i] > MEL_ROW_OTHER)
        return mel_fail(err, MEL_EDATA, "role[%zu] is %d, expected 0, 1 or 2", i, rows->role[i]);
    return mel_fail(err, MEL_EDATA, "weight[%zu] is %g, expected a finite number, 0 or more", i,
                    rows->weight != NULL ? rows->weight[i] : (double)NAN);
}

/* A power of two in two factors, because it could overflow in one. */
static void split_power(int power, double factor[2])
{
    factor[0] = ldexp(1.0, power / 2);
    factor[1] = ldexp(1.0, power - power / 2);
}

/* Weight of the heaviest row, or -1 when a weight is wrong. */
static double heaviest_row(const mel_score_rows *rows)
{
    double most[MOST_SLICES] = { 0 }, heaviest = 0.0;
#pragma omp parallel for schedule(dynamic) if (rows->n_slices > 1)
    for (size_t s = 0; s < rows->n_slices; s++) {
        const size_t first = slice_start(rows, s);
        double lightest = 0.0;
        if (!range_of(slice_start(rows, s + 1) - first, rows->weight + first, &lightest, &most[s]) ||
            lightest < 0.0)
            most[s] = -1.0;
    }
    for (size_t s = 0; s < rows->n_slices; s++)
        heaviest = heaviest < 0.0 || most[s] < 0.0 ? -1.0 : fmax(heaviest, most[s]);
    return heaviest;
}

/* scale: units per weight, such that all weights together make at most 2^UNIT_BITS units. */
static mel_status choose_unit(mel_score_rows *rows, mel_error *err)
{
    const double heaviest = heaviest_row(rows);
    if (heaviest < 0.0)
        return name_wrong_score(rows, err);
    if (!(heaviest > 0.0))
        return mel_fail(err, MEL_EDATA, "all %zu weights are 0", rows->n);
    int exponent = 0, digits = 0;
    (void)frexp(heaviest, &exponent);
    double moderate[2], part[MOST_SLICES], sum = 0.0;
    split_power(-exponent, moderate); /* the heaviest row weighs 1/2 to 1: no sum overflows */
#pragma omp parallel for schedule(dynamic) if (rows->n_slices > 1)
    for (size_t s = 0; s < rows->n_slices; s++) {
        double total = 0.0;
        for (size_t i = slice_start(rows, s); i < slice_start(rows, s + 1); i++)
            total += rows->weight[i] * moderate[0] * moderate[1];
        part[s] = total;
    }
    for (size_t s = 0; s < rows->n_slices; s++)
        sum += part[s];
    (void)frexp(sum, &digits);
    split_power(UNIT_BITS - digits - exponent, rows->scale);
    return MEL_OK;
}

ALWAYS_INLINE uint64_t units(const mel_score_rows *rows, size_t i)
{
    return (uint64_t)(int64_t)(rows->weight[i] * rows->scale[0] * rows->scale[1] + 0.5);
}

/* Not falling in the score, which need not be finite. Halves, because a difference could overflow. One
 * comparison at a time: these become minima and maxima, not jumps. */
ALWAYS_INLINE size_t bucket_of(const mel_deal *deal, double score, bool by_value)
{
    if (by_value) {
        const double at = (0.5 * score - deal->half_low) * deal->scale;
        const double above = at > deal->first ? at : deal->first;
        const double within = above < deal->last ? above : deal->last;
        return (size_t)(int32_t)within;
    }
    const uint64_t key = mel_score_bits(score), above = key > deal->least ? key : deal->least;
    const uint64_t at = (above - deal->least) >> deal->shift;
    return at < deal->n_buckets ? (size_t)at : deal->n_buckets - 1;
}

ALWAYS_INLINE size_t place_of(const mel_deal *deal, double score, unsigned role, bool by_value)
{
    const size_t place = role * deal->n_buckets + bucket_of(deal, score, by_value);
    return role < MEL_ROW_OTHER ? place : 2 * deal->n_buckets;
}

ALWAYS_INLINE void count_rows(const mel_deal *deal, const mel_score_rows *rows, size_t slice, size_t first,
                              size_t end, bool by_value, bool weighted)
{
    const mel_deal local = *deal; /* which the counts cannot overlap */
    size_t *count = deal->count + slice * deal->n_places;
    uint64_t *mass = weighted ? deal->mass + slice * deal->n_places : NULL;
    for (size_t i = first; i < end; i++) {
        const uint64_t weight = weighted ? units(rows, i) : 1;
        const unsigned role = weight != 0 ? rows->role[i] : MEL_ROW_OTHER;
        const size_t place = place_of(&local, rows->score[i], role, by_value);
        count[place]++;
        if (weighted)
            mass[place] += weight;
    }
}

typedef struct {
    double low, high; /* of the scores */
    bool wrong;
} slice_range;

/* Checks and counts, a piece that stays in the nearest memory at a time. */
static slice_range count_slice(const mel_deal *deal, const mel_score_rows *rows, size_t slice)
{
    enum { PIECE = 1024 };
    const size_t stop = slice_start(rows, slice + 1);
    slice_range out = { INFINITY, -INFINITY, false };
    for (size_t first = slice_start(rows, slice), end; first < stop; first = end) {
        end = stop - first > PIECE ? first + PIECE : stop;
        double low = 0.0, high = 0.0;
        uint8_t highest = 0;
        out.wrong |= !range_of(end - first, rows->score + first, &low, &high);
        for (size_t i = first; i < end; i++)
            highest = rows->role[i] > highest ? rows->role[i] : highest;
        out.wrong |= highest > MEL_ROW_OTHER;
        out.low = fmin(out.low, low);
        out.high = fmax(out.high, high);
        if (rows->weight == NULL && deal->by_value)
            count_rows(deal, rows, slice, first, end, true, false);
        else if (rows->weight == NULL)
            count_rows(deal, rows, slice, first, end, false, false);
        else if (deal->by_value)
            count_rows(deal, rows, slice, first, end, true, true);
        else
            count_rows(deal, rows, slice, first, end, false, true);
    }
    return out;
}

/* Rows of an ascending sample in the fullest bucket. */
static size_t fullest_bucket(const mel_deal *deal, size_t n, const uint64_t *sample)
{
    size_t fullest = 0, run = 0, last = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t bucket = bucket_of(deal, mel_score_of_bits(sample[i]), deal->by_value);
        run = i > 0 && bucket == last ? run + 1 : 1;
        last = bucket;
        fullest = run > fullest ? run : fullest;
    }
    return fullest;
}

/* Buckets of equal width between the outer percentiles of a sample: in the score, as suits
 * probabilities, or in its key (roughly its logarithm), whichever crowds the sample less. */
static void choose_buckets(mel_deal *deal, const mel_score_rows *rows)
{
    enum { SAMPLE = 4096, TAIL = 256 };
    uint64_t sample[SAMPLE], spare[SAMPLE];
    size_t n = 0;
    for (size_t i = 0; i < SAMPLE; i++) {
        const double score = rows->score[rows->n / SAMPLE * i];
        if (isfinite(score))
            sample[n++] = mel_score_bits(score);
    }
    deal->by_value = true;
    deal->last = (double)(deal->n_buckets - 1);
    if (n < SAMPLE / 2)
        return; /* wrong rows, soon to be found */
    mel_score_bits_sort(n, sample, NULL, spare, NULL);
    const uint64_t low = sample[n / TAIL], high = sample[n - 1 - n / TAIL];
    deal->half_low = 0.5 * mel_score_of_bits(low);
    const double scale = (double)deal->n_buckets / (0.5 * mel_score_of_bits(high) - deal->half_low);
    deal->scale = isfinite(scale) ? scale : 0.0;
    deal->least = low;
    while ((high - low) >> deal->shift >= deal->n_buckets)
        deal->shift++;
    const size_t crowd = fullest_bucket(deal, n, sample);
    deal->by_value = false;
    deal->by_value = crowd <= 2 * fullest_bucket(deal, n, sample);
}

static mel_status count_all(mel_deal *deal, mel_score_rows *rows, mel_error *err)
{
    slice_range slices[MOST_SLICES];
#pragma omp parallel for schedule(dynamic) if (rows->n_slices > 1)
    for (size_t s = 0; s < rows->n_slices; s++)
        slices[s] = count_slice(deal, rows, s);
    bool wrong = false;
    rows->low = INFINITY;
    rows->high = -INFINITY;
    for (size_t s = 0; s < rows->n_slices; s++) {
        wrong |= slices[s].wrong;
        rows->low = fmin(rows->low, slices[s].low);
        rows->high = fmax(rows->high, slices[s].high);
    }
    return wrong ? name_wrong_score(rows, err) : MEL_OK;
}

mel_status mel_rows_count(mel_deal *out, mel_score_rows *rows, mel_error *err)
{
    *out = (mel_deal){ .n_buckets = 1 };
    if (rows->n == 0)
        return mel_fail(err, MEL_EDATA, "no rows: a face needs positive and negative ones");
    rows->n_slices = 1 + (rows->n - 1) / SLICE_ROWS;
    if (rows->n_slices > MOST_SLICES)
        rows->n_slices = MOST_SLICES;
    if (rows->weight != NULL)
        TRY(choose_unit(rows, err));
    while (out->n_buckets < MOST_BUCKETS && out->n_buckets * BUCKET_ROWS < rows->n)
        out->n_buckets *= 2;
    out->n_places = 2 * out->n_buckets + 1;
    out->count = mel_alloc_zero(rows->n_slices * out->n_places, sizeof *out->count);
    out->mass =
        rows->weight != NULL ? mel_alloc_zero(rows->n_slices * out->n_places, sizeof *out->mass) : NULL;
    if (out->count == NULL || (rows->weight != NULL && out->mass == NULL))
        return mel_fail_memory(err, "sorting the scores of a face");
    if (out->n_buckets > 1)
        choose_buckets(out, rows);
    return count_all(out, rows, err);
}

void mel_deal_clear(mel_deal *deal)
{
    free(deal->count);
    free(deal->mass);
    *deal = (mel_deal){ 0 };
}

uint64_t mel_rows_places(mel_deal *deal, const mel_score_rows *rows, size_t *start, uint64_t *mass_before)
{
    uint64_t total = 0;
    for (size_t role = 0; role < 2; role++) {
        size_t position = 0;
        uint64_t weight = 0;
        for (size_t b = 0; b <= deal->n_buckets; b++) {
            start[role * (deal->n_buckets + 1) + b] = position;
            mass_before[role * (deal->n_buckets + 1) + b] = weight;
            for (size_t s = 0; b < deal->n_buckets && s < rows->n_slices; s++) {
                const size_t at = s * deal->n_places + role * deal->n_buckets + b;
                const size_t count = deal->count[at];
                deal->count[at] = position;
                position += count;
                weight += deal->mass != NULL ? deal->mass[at] : count;
            }
        }
        total += weight;
    }
    for (size_t s = 0; s < rows->n_slices; s++) {
        const size_t at = (s + 1) * deal->n_places - 1;
        total += deal->mass != NULL ? deal->mass[at] : deal->count[at];
    }
    return total;
}

ALWAYS_INLINE void scatter_rows(const mel_deal *deal, const mel_score_rows *rows, size_t slice,
                                uint64_t *const key[2], uint64_t *const mass[2], bool by_value, bool weighted)
{
    const mel_deal local = *deal;
    size_t *position = deal->count + slice * deal->n_places;
    const size_t end = slice_start(rows, slice + 1);
    for (size_t i = slice_start(rows, slice); i < end; i++) {
        const uint64_t weight = weighted ? units(rows, i) : 1;
        const unsigned role = rows->role[i];
        if (role == MEL_ROW_OTHER || weight == 0)
            continue;
        const size_t at = position[place_of(&local, rows->score[i], role, by_value)]++;
        key[role][at] = mel_score_bits(rows->score[i]);
        if (weighted)
            mass[role][at] = weight;
    }
}

void mel_rows_scatter(mel_deal *deal, const mel_score_rows *rows, uint64_t *const key[2],
                      uint64_t *const mass[2])
{
#pragma omp parallel for schedule(dynamic) if (rows->n_slices > 1)
    for (size_t s = 0; s < rows->n_slices; s++) {
        if (rows->weight == NULL && deal->by_value)
            scatter_rows(deal, rows, s, key, mass, true, false);
        else if (rows->weight == NULL)
            scatter_rows(deal, rows, s, key, mass, false, false);
        else if (deal->by_value)
            scatter_rows(deal, rows, s, key, mass, true, true);
        else
            scatter_rows(deal, rows, s, key, mass, false, true);
    }
}
