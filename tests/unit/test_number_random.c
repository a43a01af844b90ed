/* Our reading of decimal numbers against the C library's, bit for bit. */
#include "support/test.h"

#include "base/rng.h"
#include "data/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void compare(const char *text)
{
    const double want = strtod(text, NULL);
    double got = NAN;
    const char *decimals, *after = mel_number_scan(text, &got);
    if (after == NULL || *after != '\0' || bits_of(got) != bits_of(want))
        fail_msg("%s: %.17g instead of %.17g", text, got, want);
    after = mel_number_fast(text, &got, &decimals);
    if (after != NULL && (*after != '\0' || bits_of(got) != bits_of(want)))
        fail_msg("%s on the fast path: %.17g instead of %.17g", text, got, want);
}

/* Any finite double, written with 1 to 20 digits in both notations. */
static void test_bit_patterns(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 1);
    for (int i = 0; i < 200000; i++) {
        const uint64_t bits = mel_rng_next(&rng);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        char text[512] = { 0 };
        const int digits = 1 + (int)mel_rng_below(&rng, 20);
        (void)snprintf(text, sizeof text - 16, "%.*e", digits - 1, x);
        compare(text);
        (void)snprintf(text, sizeof text - 16, "%.*g", digits, ldexp(x, (int)mel_rng_below(&rng, 40) - 20));
        if (isfinite(strtod(text, NULL)))
            compare(text);
    }
}

/* Every power in the table with mantissas of 1 to 24 digits: ten random ones each, as integers and
 * with a point somewhere. */
static void test_powers(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 2);
    for (int power = -130; power <= 130; power++)
        for (int digits = 1; digits <= 24; digits++)
            for (int i = 0; i < 10; i++) {
                char text[128] = { 0 };
                const int point = (int)mel_rng_below(&rng, (uint64_t)digits + 1);
                int n = 0;
                for (int k = 0; k < digits; k++) {
                    if (k == point)
                        text[n++] = '.';
                    text[n++] = (char)('0' + mel_rng_below(&rng, 10));
                }
                (void)snprintf(text + n, sizeof text - (size_t)n - 16, "e%d", power);
                compare(text);
            }
}

/* Typical cells: short decimals and 17 digits, whose neighbours are hardest to tell apart. */
static void test_cells(void **state)
{
    (void)state;
    static const char *const formats[] = { "%.17g", "%.16g", "%.6g", "%.3f", "%.0f", "%.12f" };
    mel_rng rng;
    mel_rng_seed(&rng, 3);
    for (int i = 0; i < 300000; i++) {
        char text[64] = { 0 };
        const double x = mel_rng_normal(&rng) * pow(10, (double)mel_rng_below(&rng, 9) - 3);
        (void)snprintf(text, sizeof text - 16, formats[i % (int)COUNT(formats)], x);
        compare(text);
    }
}

static void test_print_reads_back(void **state)
{
    (void)state;
    mel_rng rng;
    mel_rng_seed(&rng, 4);
    for (int i = 0; i < 50000; i++) {
        const uint64_t bits = mel_rng_next(&rng);
        double x, back;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        char text[MEL_NUMBER_TEXT];
        mel_number_print(text, x);
        assert_int_equal(mel_number_parse(text, strlen(text), &back), MEL_NUMBER_FINITE);
        assert_true(back == x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bit_patterns),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_print_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
