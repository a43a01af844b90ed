/* Numbers in texts: hard cases of rounding, forms, printing, other locales. */
#include "support/test.h"

#include "data/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The bits are those of Python's float(text): ties, neighbours of ties, the ends of the range, more
 * digits than a word holds. */
/* clang-format off */
static const struct {
    const char *text;
    uint64_t bits;
} hard[] = {
    { "0", 0x0000000000000000U },
    { "-0", 0x8000000000000000U },
    { "1", 0x3FF0000000000000U },
    { "-1", 0xBFF0000000000000U },
    { "+1", 0x3FF0000000000000U },
    { "007", 0x401C000000000000U },
    { "1.", 0x3FF0000000000000U },
    { ".5", 0x3FE0000000000000U },
    { "-.5e1", 0xC014000000000000U },
    { "1e0", 0x3FF0000000000000U },
    { "1E+2", 0x4059000000000000U },
    { "0.1", 0x3FB999999999999AU },
    { "0.2", 0x3FC999999999999AU },
    { "0.3", 0x3FD3333333333333U },
    { "123456789", 0x419D6F3454000000U },
    { "1234567890123456789", 0x43B12210F47DE981U },
    { "12345678901234567890", 0x43E56A95319D63E1U },
    { "9007199254740991", 0x433FFFFFFFFFFFFFU },
    { "9007199254740992", 0x4340000000000000U },
    { "9007199254740993", 0x4340000000000000U },
    { "9007199254740994", 0x4340000000000001U },
    { "9007199254740995", 0x4340000000000002U },
    { "9007199254740993.0000000000000000000001", 0x4340000000000001U },
    { "18014398509481990", 0x4350000000000002U },
    { "18446744073709551615", 0x43F0000000000000U },
    { "18446744073709551616", 0x43F0000000000000U },
    { "1e22", 0x4480F0CF064DD592U },
    { "1e23", 0x44B52D02C7E14AF6U },
    { "8.5e22", 0x44B1FFDBF6B2B2EBU },
    { "9e22", 0x44B30EE8E7179044U },
    { "1e-22", 0x3B5E392010175EE6U },
    { "123e-24", 0x3B629654FFA7F915U },
    { "4503599627370496.5", 0x4330000000000000U },
    { "4503599627370497.5", 0x4330000000000002U },
    { "1.7976931348623157e308", 0x7FEFFFFFFFFFFFFFU },
    { "1.7976931348623158e308", 0x7FEFFFFFFFFFFFFFU },
    { "179769313486231580793728971405e279", 0x7FEFFFFFFFFFFFFFU },
    { "2.2250738585072014e-308", 0x0010000000000000U },
    { "2.2250738585072011e-308", 0x000FFFFFFFFFFFFFU },
    { "2.2250738585072012e-308", 0x0010000000000000U },
    { "4.9406564584124654e-324", 0x0000000000000001U },
    { "2.4703282292062327e-324", 0x0000000000000000U },
    { "2.4703282292062328e-324", 0x0000000000000001U },
    { "5e-324", 0x0000000000000001U },
    { "1e-323", 0x0000000000000002U },
    { "1e-400", 0x0000000000000000U },
    { "-1e-400", 0x8000000000000000U },
    { "0.000000000000000000000000000000000000001", 0x37D5C72FB1552D83U },
    { "3.14159265358979323846264338327950288419716939937510", 0x400921FB54442D18U },
    { "0.500000000000000166533453693773481063544750213623046875", 0x3FE0000000000002U },
    { "1.00000000000000011102230246251565404236316680908203125", 0x3FF0000000000000U },
    { "1.00000000000000011102230246251565404236316680908203124", 0x3FF0000000000000U },
    { "1.00000000000000011102230246251565404236316680908203126", 0x3FF0000000000001U },
    { "7.2057594037927933e16", 0x4370000000000000U },
    { "1e96", 0x53DDF67562D8B363U },
    { "1e97", 0x5412BA095DC7701EU },
    { "1e-96", 0x2C0116805EFFAEAAU },
    { "1e-97", 0x2BCB5733CB32B111U },
    { "1.5e-95", 0x2C400518590FB3C0U },
    { "6.02214076e23", 0x44DFE185CA57C517U },
    { "6.62607015e-34", 0x390B860BDE023111U },
    { "0.1e-5", 0x3EB0C6F7A0B5ED8DU },
    { "100000000000000016777215", 0x44B52D02C7E14AF7U },
    { "100000000000000016777216", 0x44B52D02C7E14AF8U },
    { "0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000012345678901234567890", 0x2D441E6E810EEC76U },
    { "10000000000000000000000000000000000000000", 0x483D6329F1C35CA5U },
    { "1000000000000000000000000000000e-30", 0x3FF0000000000000U },
    { "0.0000000000000000000000000000001e31", 0x3FF0000000000000U },
    { "9999999999999999999999999", 0x45208B2A2C280291U },
    { "9999999999999999999", 0x43E158E460913D00U },
    { "99999999999999999999", 0x4415AF1D78B58C40U },
    { "0.99999999999999999", 0x3FF0000000000000U },
    { "0.3333333333333333333333333333333333333333", 0x3FD5555555555555U },
    { "0.0323832764833162402295929638285088003613054752349853515625", 0x3FA0948A72DDC858U },
    { "0.03238327648331624022959296382850880036130547523498535156251", 0x3FA0948A72DDC859U },
    { "0.0323832764833162402295929638285088003613054752349853515624", 0x3FA0948A72DDC858U },
    { "0.0039482349642317358072440836025407406850717961788177490234375", 0x3F702C0640C5D536U },
    { "0.00394823496423173580724408360254074068507179617881774902343751", 0x3F702C0640C5D536U },
    { "0.0039482349642317358072440836025407406850717961788177490234374", 0x3F702C0640C5D535U },
    { "7.243628666754276412831359266419894993305206298828125", 0x401CF979CB104F90U },
    { "7.2436286667542764128313592664198949933052062988281251", 0x401CF979CB104F91U },
    { "7.243628666754276412831359266419894993305206298828124", 0x401CF979CB104F90U },
    { "9.41300419396825649442916983389295637607574462890625", 0x4022D375492468B4U },
    { "9.413004193968256494429169833892956376075744628906251", 0x4022D375492468B5U },
    { "9.41300419396825649442916983389295637607574462890624", 0x4022D375492468B4U },
    { "5.799892477470681040330191535758785903453826904296875", 0x40173317037C3644U },
    { "5.7998924774706810403301915357587859034538269042968751", 0x40173317037C3644U },
    { "5.799892477470681040330191535758785903453826904296874", 0x40173317037C3643U },
    { "0.00214698180835661760028354461127264585229568183422088623046875", 0x3F61968C14DD2C32U },
    { "0.002146981808356617600283544611272645852295681834220886230468751", 0x3F61968C14DD2C32U },
    { "0.00214698180835661760028354461127264585229568183422088623046874", 0x3F61968C14DD2C31U },
    { "0.0043364568366238589840200301495087842340581119060516357421875", 0x3F71C31AC4B37774U },
    { "0.00433645683662385898402003014950878423405811190605163574218751", 0x3F71C31AC4B37774U },
    { "0.0043364568366238589840200301495087842340581119060516357421874", 0x3F71C31AC4B37773U },
    { "24.0663000127025039631689651287160813808441162109375", 0x403810F909A2481AU },
    { "24.06630001270250396316896512871608138084411621093751", 0x403810F909A2481AU },
    { "24.0663000127025039631689651287160813808441162109374", 0x403810F909A24819U },
    { "42.451918914251397296766299405135214328765869140625", 0x404539D87A9E93A8U },
    { "42.4519189142513972967662994051352143287658691406251", 0x404539D87A9E93A9U },
    { "42.451918914251397296766299405135214328765869140624", 0x404539D87A9E93A8U },
    { "0.012380196114964560870352894283996647573076188564300537109375", 0x3F895AC9CB746808U },
    { "0.0123801961149645608703528942839966475730761885643005371093751", 0x3F895AC9CB746808U },
    { "0.012380196114964560870352894283996647573076188564300537109374", 0x3F895AC9CB746807U },
};
/* clang-format on */

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void test_hard_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(hard); i++) {
        char padded[512] = { 0 };
        const size_t n = strlen(hard[i].text);
        memcpy(padded, hard[i].text, n + 1);
        double got = NAN;
        const char *after = mel_number_scan(padded, &got);
        if (after != padded + n || bits_of(got) != hard[i].bits)
            fail_msg("%s: %.17g", hard[i].text, got);
        after = mel_number_fast(padded, &got); /* may decline, must not be wrong */
        if (after != NULL && (after != padded + n || bits_of(got) != hard[i].bits))
            fail_msg("%s on the fast path: %.17g", hard[i].text, got);
    }
}

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        mel_number_kind want;
    } rows[] = {
        { "1", MEL_NUMBER_FINITE },
        { "-1.5e-3", MEL_NUMBER_FINITE },
        { "+.5", MEL_NUMBER_FINITE },
        { "5.", MEL_NUMBER_FINITE },
        { "", MEL_NUMBER_NONE },
        { "-", MEL_NUMBER_NONE },
        { ".", MEL_NUMBER_NONE },
        { "+.", MEL_NUMBER_NONE },
        { "e5", MEL_NUMBER_NONE },
        { "1e", MEL_NUMBER_NONE },
        { "1e+", MEL_NUMBER_NONE },
        { "1e5x", MEL_NUMBER_NONE },
        { "--1", MEL_NUMBER_NONE },
        { "1 ", MEL_NUMBER_NONE },
        { " 1", MEL_NUMBER_NONE },
        { "0x10", MEL_NUMBER_NONE },
        { "1_000", MEL_NUMBER_NONE },
        { "1,5", MEL_NUMBER_NONE },
        { "1.2.3", MEL_NUMBER_NONE },
        { "1d5", MEL_NUMBER_NONE },
        { "infinite", MEL_NUMBER_NONE },
        { "nan", MEL_NUMBER_HUGE },
        { "NaN", MEL_NUMBER_HUGE },
        { "-inf", MEL_NUMBER_HUGE },
        { "+Infinity", MEL_NUMBER_HUGE },
        { "1e309", MEL_NUMBER_HUGE },
        { "-1e999999999999", MEL_NUMBER_HUGE },
        { "nan(1)", MEL_NUMBER_NONE },
        { "1e-999999999999999", MEL_NUMBER_FINITE },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double value;
        if (mel_number_parse(rows[i].text, strlen(rows[i].text), &value) != rows[i].want)
            fail_msg("\"%s\"", rows[i].text);
    }
}

/* A mantissa so long that its digits could make up for a cut exponent. */
static void test_long_exponents(void **state)
{
    (void)state;
    static char text[200100];
    memset(text, '7', 200000);
    double value;
    (void)snprintf(text + 200000, 64, "e-200000");
    assert_non_null(mel_number_scan(text, &value));
    assert_true(value == 0.77777777777777777);
    (void)snprintf(text + 200000, 64, "e-2000000");
    assert_non_null(mel_number_scan(text, &value));
    assert_true(value == 0.0);
    (void)snprintf(text + 200000, 64, "e-99999999999999999999999");
    assert_non_null(mel_number_scan(text, &value));
    assert_true(value == 0.0);
}

static void test_print(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *want;
    } rows[] = { { 0.0, "0" },
                 { -0.0, "0" },
                 { 1.0, "1" },
                 { -1.5, "-1.5" },
                 { 0.1, "0.1" },
                 { 1e21, "1e+21" },
                 { 1.0 / 3, "0.3333333333333333" },
                 { 5e-324, "4.94065645841247e-324" },
                 { 123456789.25, "123456789.25" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[MEL_NUMBER_TEXT];
        mel_number_print(text, rows[i].value);
        assert_string_equal(text, rows[i].want);
    }
}

/* Where a locale with a decimal comma is installed, it changes nothing. */
static void test_locale(void **state)
{
    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && setlocale(LC_ALL, "fr_FR.UTF-8") == NULL)
        skip();
    double value;
    char text[MEL_NUMBER_TEXT];
    assert_int_equal(mel_number_parse("9007199254740993.5e-3", 21, &value), MEL_NUMBER_FINITE);
    mel_number_print(text, 0.5);
    setlocale(LC_ALL, "C");
    assert_true(value == 9007199254740.9935);
    assert_string_equal(text, "0.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard_cases),     cmocka_unit_test(test_forms),
        cmocka_unit_test(test_long_exponents), cmocka_unit_test(test_print),
        cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
