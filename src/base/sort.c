/* Sorting doubles by their bits, with radix passes instead of comparisons, and selecting some of them. */
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bits of a double as an unsigned number of the same order; -0.0 just below 0.0. */
static uint64_t ordered_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static double from_ordered_bits(uint64_t key)
{
    const uint64_t bits = key >> 63 != 0 ? key ^ UINT64_C(1) << 63 : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Stable passes from the least significant digit up. Bytes as digits: 256 places to write to at once
 * stay within the address cache of the processor, 2048 do not. */
enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, MOST_PASSES = 64 / DIGIT_BITS };

typedef struct {
    unsigned shift, passes;            /* digits of key >> shift */
    size_t start[MOST_PASSES][DIGITS]; /* counts, then first places */
} radix;

static size_t digit_of(const radix *r, uint64_t key, unsigned pass)
{
    return (size_t)(key >> (r->shift + pass * DIGIT_BITS)) & (DIGITS - 1);
}

/* Prepares for keys that differ in `varying` bits only, of which the top `most` are sorted by. */
static void radix_init(radix *r, uint64_t varying, unsigned most)
{
    unsigned width = 0;
    while (width < 64 && varying >> width != 0)
        width++;
    r->shift = width > most ? width - most : 0;
    r->passes = (width - r->shift + DIGIT_BITS - 1) / DIGIT_BITS;
    memset(r->start, 0, r->passes * sizeof *r->start);
}

static void radix_count(radix *r, uint64_t key)
{
    for (unsigned pass = 0; pass < r->passes; pass++)
        r->start[pass][digit_of(r, key, pass)]++;
}

/* Turns counts into places; NULL when one digit holds all n keys and there is nothing to do. */
static size_t *radix_places(radix *r, unsigned pass, size_t n)
{
    size_t *start = r->start[pass], before = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        const size_t count = start[d];
        if (count == n)
            return NULL;
        start[d] = before;
        before += count;
    }
    return start;
}

static int compare_doubles(const void *a, const void *b)
{
    const uint64_t x = ordered_bits(*(const double *)a), y = ordered_bits(*(const double *)b);
    return (x > y) - (x < y);
}

/* The sorted keys end in keys or in spare, whichever is returned. */
static uint64_t *sort_keys(size_t n, uint64_t *keys, uint64_t *spare)
{
    uint64_t varying = 0;
    for (size_t i = 1; i < n; i++)
        varying |= keys[i] ^ keys[0];
    radix r;
    radix_init(&r, varying, 64);
    for (size_t i = 0; i < n; i++)
        radix_count(&r, keys[i]);
    for (unsigned pass = 0; pass < r.passes; pass++) {
        size_t *place = radix_places(&r, pass, n);
        if (place == NULL)
            continue;
        for (size_t i = 0; i < n; i++)
            spare[place[digit_of(&r, keys[i], pass)]++] = keys[i];
        uint64_t *sorted = spare;
        spare = keys;
        keys = sorted;
    }
    return keys;
}

void mel_sort(size_t n, double *x)
{
    enum { FEW = 200 };
    size_t ascending = 1;
    while (ascending < n && ordered_bits(x[ascending - 1]) <= ordered_bits(x[ascending]))
        ascending++;
    if (ascending >= n)
        return;
    uint64_t *keys = n > FEW && n <= SIZE_MAX / 2 ? mel_alloc(2 * n, sizeof *keys) : NULL;
    if (keys == NULL) {
        qsort(x, n, sizeof *x, compare_doubles); /* few numbers, or no memory to spare */
        return;
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = ordered_bits(x[i]);
    const uint64_t *sorted = sort_keys(n, keys, keys + n);
    for (size_t i = 0; i < n; i++)
        x[i] = from_ordered_bits(sorted[i]);
    free(keys);
}

static void swap(double *x, size_t i, size_t j)
{
    const double held = x[i];
    x[i] = x[j];
    x[j] = held;
}

/* Moves the median of the first, middle and last of x[low..high] to the middle. */
static double middle_of_three(double *x, size_t low, size_t high)
{
    const size_t middle = low + (high - low) / 2;
    if (x[middle] < x[low])
        swap(x, middle, low);
    if (x[high] < x[low])
        swap(x, high, low);
    if (x[high] < x[middle])
        swap(x, high, middle);
    return x[middle];
}

/* Hoare's selection: afterwards x[k] is where sorting would put it, nothing larger before, nothing
 * smaller behind. Numbers that keep the range from shrinking are sorted in the end. */
static void select_at(double *x, size_t n, size_t k)
{
    enum { BUDGET = 128 };
    size_t low = 0, high = n - 1;
    for (int turn = 0; low < high; turn++) {
        if (turn == BUDGET) {
            mel_sort(high - low + 1, x + low);
            return;
        }
        const double pivot = middle_of_three(x, low, high);
        size_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i > j)
                break;
            swap(x, i, j);
            i++;
            if (j == 0)
                break;
            j--;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}

void mel_select(size_t n, double *x, size_t k)
{
    select_at(x, n, k);
    size_t next = k + 1;
    for (size_t i = next; i < n; i++)
        next = x[i] < x[next] ? i : next;
    if (next < n)
        swap(x, k + 1, next);
}

typedef struct {
    uint64_t key;
    size_t index;
} keyed;

static void sort_by_digits(size_t n, keyed *items, keyed *spare, uint64_t varying, unsigned most)
{
    radix r;
    radix_init(&r, varying, most);
    for (size_t i = 0; i < n; i++)
        radix_count(&r, items[i].key);
    keyed *from = items, *to = spare;
    for (unsigned pass = 0; pass < r.passes; pass++) {
        size_t *place = radix_places(&r, pass, n);
        if (place == NULL)
            continue;
        for (size_t i = 0; i < n; i++)
            to[place[digit_of(&r, from[i].key, pass)]++] = from[i];
        keyed *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
}

/* False, with equal keys still in order, once more than `budget` moves were needed. */
static bool sort_by_insertion(size_t n, keyed *items, size_t budget)
{
    for (size_t i = 1; i < n; i++) {
        const keyed item = items[i];
        size_t j = i;
        for (; j > 0 && items[j - 1].key > item.key; j--)
            items[j] = items[j - 1];
        items[j] = item;
        if (i - j > budget)
            return false;
        budget -= i - j;
    }
    return true;
}

/* Stable. spare: n items. */
static void sort_items(size_t n, keyed *items, keyed *spare)
{
    /* After the leading 24 bits that vary, most keys are in place and few moves put the rest right;
     * keys that are not so kind get all their digits sorted. */
    enum { FEW = 32, LEADING = 24 };
    if (n <= FEW) {
        (void)sort_by_insertion(n, items, SIZE_MAX);
        return;
    }
    uint64_t varying = 0;
    for (size_t i = 1; i < n; i++)
        varying |= items[i].key ^ items[0].key;
    sort_by_digits(n, items, spare, varying, LEADING);
    if (varying >> LEADING != 0 && !sort_by_insertion(n, items, n))
        sort_by_digits(n, items, spare, varying, 64);
}

static keyed keyed_item(double key, size_t index)
{
    return (keyed){ ordered_bits(key + 0.0), index }; /* -0.0 + 0.0 is 0.0: a tie with 0.0 */
}

/* scratch: 2 n items */
static void argsort_at_once(size_t n, const double *key, size_t *index, keyed *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = keyed_item(key[i], i);
    sort_items(n, scratch, scratch + n);
    for (size_t i = 0; i < n; i++)
        index[i] = scratch[i].index;
}

/* Buckets of equal width between the smallest and the largest key. Many keys are first spread over
 * these, so that each is then sorted within the processor's caches, with little memory beside it. */
enum { BUCKETS = 256 };

typedef struct {
    double low, scale;
    size_t start[BUCKETS + 1];
} bucket_plan;

/* Does not decrease with key: subtraction, product and truncation are monotone. */
static size_t bucket_of(const bucket_plan *plan, double key)
{
    return (size_t)((key - plan->low) * plan->scale);
}

static size_t plan_buckets(bucket_plan *plan, size_t n, const double *key)
{
    memset(plan->start, 0, sizeof plan->start);
    for (size_t i = 0; i < n; i++)
        plan->start[bucket_of(plan, key[i]) + 1]++;
    size_t largest = 0;
    for (size_t b = 0; b < BUCKETS; b++) {
        largest = plan->start[b + 1] > largest ? plan->start[b + 1] : largest;
        plan->start[b + 1] += plan->start[b];
    }
    return largest;
}

/* bits: n words; scratch: two items for each key of the largest bucket */
static void argsort_buckets(bucket_plan *plan, size_t n, const double *key, size_t *index, uint64_t *bits,
                            keyed *scratch, size_t largest)
{
    for (size_t i = 0; i < n; i++) {
        const size_t place = plan->start[bucket_of(plan, key[i])]++;
        const keyed item = keyed_item(key[i], i);
        bits[place] = item.key;
        index[place] = item.index;
    }
    /* Each start has moved to the end of its bucket. */
    for (size_t b = 0, begin = 0; b < BUCKETS; begin = plan->start[b++]) {
        const size_t count = plan->start[b] - begin;
        for (size_t i = 0; i < count; i++)
            scratch[i] = (keyed){ bits[begin + i], index[begin + i] };
        sort_items(count, scratch, scratch + largest);
        for (size_t i = 0; i < count; i++)
            index[begin + i] = scratch[i].index;
    }
}

/* The range of the keys; the place of the first NaN, or n. */
static size_t find_range(size_t n, const double *key, double *low, double *high)
{
    *low = *high = n != 0 ? key[0] : 0.0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(key[i]))
            return i;
        *low = key[i] < *low ? key[i] : *low;
        *high = key[i] > *high ? key[i] : *high;
    }
    return n;
}

mel_status mel_argsort(size_t n, const double *key, size_t *index, mel_error *err)
{
    enum { MANY = 1 << 15 };
    bucket_plan plan;
    double high;
    const size_t bad = find_range(n, key, &plan.low, &high);
    if (bad < n)
        return mel_fail(err, MEL_EINVAL, "value %zu of the %zu to sort is not a number", bad, n);
    size_t ascending = 1;
    while (ascending < n && key[ascending - 1] <= key[ascending])
        ascending++;
    if (ascending >= n) {
        for (size_t i = 0; i < n; i++)
            index[i] = i;
        return MEL_OK;
    }
    /* Infinite keys leave no width to divide, nor do keys that are too close together. */
    plan.scale = (BUCKETS - 1) / (high - plan.low);
    const bool spread = n >= MANY && plan.scale > 0.0 && isfinite(plan.scale);
    const size_t largest = spread ? plan_buckets(&plan, n, key) : n;
    MEL_AUTO_MEMORY uint64_t *bits = spread ? mel_alloc(n, sizeof *bits) : NULL;
    MEL_AUTO_MEMORY keyed *scratch = largest <= SIZE_MAX / 2 ? mel_alloc(2 * largest, sizeof *scratch) : NULL;
    const bool enough = scratch != NULL && (bits != NULL || !spread);
    if (enough && spread)
        argsort_buckets(&plan, n, key, index, bits, scratch, largest);
    else if (enough)
        argsort_at_once(n, key, index, scratch);
    return enough ? MEL_OK : mel_fail_memory(err, "sorting");
}
