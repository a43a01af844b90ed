/* Sorts and searches scores as integers of the same order. */
#include "space/score_bits.h"

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

static unsigned width_of(uint64_t x)
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
    const unsigned range = width_of(most - least), wanted = (width_of(n) + 9) / 2;
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
