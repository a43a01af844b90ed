/* Decimal text to the nearest double, whatever the locale; also with decimal commas, thousands apart and
 * percent signs. */
#include "data/number.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MEL_MOST_POWER = 96 };

/* clang-format off */
static const uint64_t mel_power_of_five[2 * MEL_MOST_POWER + 1][2] = {
    { 0x88B402F7FD75539BU, 0x11DBCB0218EBB414U }, { 0xAAE103B5FCD2A881U, 0xD652BDC29F26A119U },
    { 0xD59944A37C0752A2U, 0x4BE76D3346F0495FU }, { 0x857FCAE62D8493A5U, 0x6F70A4400C562DDBU },
    { 0xA6DFBD9FB8E5B88EU, 0xCB4CCD500F6BB952U }, { 0xD097AD07A71F26B2U, 0x7E2000A41346A7A7U },
    { 0x825ECC24C873782FU, 0x8ED400668C0C28C8U }, { 0xA2F67F2DFA90563BU, 0x728900802F0F32FAU },
    { 0xCBB41EF979346BCAU, 0x4F2B40A03AD2FFB9U }, { 0xFEA126B7D78186BCU, 0xE2F610C84987BFA8U },
    { 0x9F24B832E6B0F436U, 0x0DD9CA7D2DF4D7C9U }, { 0xC6EDE63FA05D3143U, 0x91503D1C79720DBBU },
    { 0xF8A95FCF88747D94U, 0x75A44C6397CE912AU }, { 0x9B69DBE1B548CE7CU, 0xC986AFBE3EE11ABAU },
    { 0xC24452DA229B021BU, 0xFBE85BADCE996168U }, { 0xF2D56790AB41C2A2U, 0xFAE27299423FB9C3U },
    { 0x97C560BA6B0919A5U, 0xDCCD879FC967D41AU }, { 0xBDB6B8E905CB600FU, 0x5400E987BBC1C920U },
    { 0xED246723473E3813U, 0x290123E9AAB23B68U }, { 0x9436C0760C86E30BU, 0xF9A0B6720AAF6521U },
    { 0xB94470938FA89BCEU, 0xF808E40E8D5B3E69U }, { 0xE7958CB87392C2C2U, 0xB60B1D1230B20E04U },
    { 0x90BD77F3483BB9B9U, 0xB1C6F22B5E6F48C2U }, { 0xB4ECD5F01A4AA828U, 0x1E38AEB6360B1AF3U },
    { 0xE2280B6C20DD5232U, 0x25C6DA63C38DE1B0U }, { 0x8D590723948A535FU, 0x579C487E5A38AD0EU },
    { 0xB0AF48EC79ACE837U, 0x2D835A9DF0C6D851U }, { 0xDCDB1B2798182244U, 0xF8E431456CF88E65U },
    { 0x8A08F0F8BF0F156BU, 0x1B8E9ECB641B58FFU }, { 0xAC8B2D36EED2DAC5U, 0xE272467E3D222F3FU },
    { 0xD7ADF884AA879177U, 0x5B0ED81DCC6ABB0FU }, { 0x86CCBB52EA94BAEAU, 0x98E947129FC2B4E9U },
    { 0xA87FEA27A539E9A5U, 0x3F2398D747B36224U }, { 0xD29FE4B18E88640EU, 0x8EEC7F0D19A03AADU },
    { 0x83A3EEEEF9153E89U, 0x1953CF68300424ACU }, { 0xA48CEAAAB75A8E2BU, 0x5FA8C3423C052DD7U },
    { 0xCDB02555653131B6U, 0x3792F412CB06794DU }, { 0x808E17555F3EBF11U, 0xE2BBD88BBEE40BD0U },
    { 0xA0B19D2AB70E6ED6U, 0x5B6ACEAEAE9D0EC4U }, { 0xC8DE047564D20A8BU, 0xF245825A5A445275U },
    { 0xFB158592BE068D2EU, 0xEED6E2F0F0D56712U }, { 0x9CED737BB6C4183DU, 0x55464DD69685606BU },
    { 0xC428D05AA4751E4CU, 0xAA97E14C3C26B886U }, { 0xF53304714D9265DFU, 0xD53DD99F4B3066A8U },
    { 0x993FE2C6D07B7FABU, 0xE546A8038EFE4029U }, { 0xBF8FDB78849A5F96U, 0xDE98520472BDD033U },
    { 0xEF73D256A5C0F77CU, 0x963E66858F6D4440U }, { 0x95A8637627989AADU, 0xDDE7001379A44AA8U },
    { 0xBB127C53B17EC159U, 0x5560C018580D5D52U }, { 0xE9D71B689DDE71AFU, 0xAAB8F01E6E10B4A6U },
    { 0x9226712162AB070DU, 0xCAB3961304CA70E8U }, { 0xB6B00D69BB55C8D1U, 0x3D607B97C5FD0D22U },
    { 0xE45C10C42A2B3B05U, 0x8CB89A7DB77C506AU }, { 0x8EB98A7A9A5B04E3U, 0x77F3608E92ADB242U },
    { 0xB267ED1940F1C61CU, 0x55F038B237591ED3U }, { 0xDF01E85F912E37A3U, 0x6B6C46DEC52F6688U },
    { 0x8B61313BBABCE2C6U, 0x2323AC4B3B3DA015U }, { 0xAE397D8AA96C1B77U, 0xABEC975E0A0D081AU },
    { 0xD9C7DCED53C72255U, 0x96E7BD358C904A21U }, { 0x881CEA14545C7575U, 0x7E50D64177DA2E54U },
    { 0xAA242499697392D2U, 0xDDE50BD1D5D0B9E9U }, { 0xD4AD2DBFC3D07787U, 0x955E4EC64B44E864U },
    { 0x84EC3C97DA624AB4U, 0xBD5AF13BEF0B113EU }, { 0xA6274BBDD0FADD61U, 0xECB1AD8AEACDD58EU },
    { 0xCFB11EAD453994BAU, 0x67DE18EDA5814AF2U }, { 0x81CEB32C4B43FCF4U, 0x80EACF948770CED7U },
    { 0xA2425FF75E14FC31U, 0xA1258379A94D028DU }, { 0xCAD2F7F5359A3B3EU, 0x096EE45813A04330U },
    { 0xFD87B5F28300CA0DU, 0x8BCA9D6E188853FCU }, { 0x9E74D1B791E07E48U, 0x775EA264CF55347DU },
    { 0xC612062576589DDAU, 0x95364AFE032A819DU }, { 0xF79687AED3EEC551U, 0x3A83DDBD83F52204U },
    { 0x9ABE14CD44753B52U, 0xC4926A9672793542U }, { 0xC16D9A0095928A27U, 0x75B7053C0F178293U },
    { 0xF1C90080BAF72CB1U, 0x5324C68B12DD6338U }, { 0x971DA05074DA7BEEU, 0xD3F6FC16EBCA5E03U },
    { 0xBCE5086492111AEAU, 0x88F4BB1CA6BCF584U }, { 0xEC1E4A7DB69561A5U, 0x2B31E9E3D06C32E5U },
    { 0x9392EE8E921D5D07U, 0x3AFF322E62439FCFU }, { 0xB877AA3236A4B449U, 0x09BEFEB9FAD487C2U },
    { 0xE69594BEC44DE15BU, 0x4C2EBE687989A9B3U }, { 0x901D7CF73AB0ACD9U, 0x0F9D37014BF60A10U },
    { 0xB424DC35095CD80FU, 0x538484C19EF38C94U }, { 0xE12E13424BB40E13U, 0x2865A5F206B06FB9U },
    { 0x8CBCCC096F5088CBU, 0xF93F87B7442E45D3U }, { 0xAFEBFF0BCB24AAFEU, 0xF78F69A51539D748U },
    { 0xDBE6FECEBDEDD5BEU, 0xB573440E5A884D1BU }, { 0x89705F4136B4A597U, 0x31680A88F8953030U },
    { 0xABCC77118461CEFCU, 0xFDC20D2B36BA7C3DU }, { 0xD6BF94D5E57A42BCU, 0x3D32907604691B4CU },
    { 0x8637BD05AF6C69B5U, 0xA63F9A49C2C1B10FU }, { 0xA7C5AC471B478423U, 0x0FCF80DC33721D53U },
    { 0xD1B71758E219652BU, 0xD3C36113404EA4A8U }, { 0x83126E978D4FDF3BU, 0x645A1CAC083126E9U },
    { 0xA3D70A3D70A3D70AU, 0x3D70A3D70A3D70A3U }, { 0xCCCCCCCCCCCCCCCCU, 0xCCCCCCCCCCCCCCCCU },
    { 0x8000000000000000U, 0x0000000000000000U }, { 0xA000000000000000U, 0x0000000000000000U },
    { 0xC800000000000000U, 0x0000000000000000U }, { 0xFA00000000000000U, 0x0000000000000000U },
    { 0x9C40000000000000U, 0x0000000000000000U }, { 0xC350000000000000U, 0x0000000000000000U },
    { 0xF424000000000000U, 0x0000000000000000U }, { 0x9896800000000000U, 0x0000000000000000U },
    { 0xBEBC200000000000U, 0x0000000000000000U }, { 0xEE6B280000000000U, 0x0000000000000000U },
    { 0x9502F90000000000U, 0x0000000000000000U }, { 0xBA43B74000000000U, 0x0000000000000000U },
    { 0xE8D4A51000000000U, 0x0000000000000000U }, { 0x9184E72A00000000U, 0x0000000000000000U },
    { 0xB5E620F480000000U, 0x0000000000000000U }, { 0xE35FA931A0000000U, 0x0000000000000000U },
    { 0x8E1BC9BF04000000U, 0x0000000000000000U }, { 0xB1A2BC2EC5000000U, 0x0000000000000000U },
    { 0xDE0B6B3A76400000U, 0x0000000000000000U }, { 0x8AC7230489E80000U, 0x0000000000000000U },
    { 0xAD78EBC5AC620000U, 0x0000000000000000U }, { 0xD8D726B7177A8000U, 0x0000000000000000U },
    { 0x878678326EAC9000U, 0x0000000000000000U }, { 0xA968163F0A57B400U, 0x0000000000000000U },
    { 0xD3C21BCECCEDA100U, 0x0000000000000000U }, { 0x84595161401484A0U, 0x0000000000000000U },
    { 0xA56FA5B99019A5C8U, 0x0000000000000000U }, { 0xCECB8F27F4200F3AU, 0x0000000000000000U },
    { 0x813F3978F8940984U, 0x4000000000000000U }, { 0xA18F07D736B90BE5U, 0x5000000000000000U },
    { 0xC9F2C9CD04674EDEU, 0xA400000000000000U }, { 0xFC6F7C4045812296U, 0x4D00000000000000U },
    { 0x9DC5ADA82B70B59DU, 0xF020000000000000U }, { 0xC5371912364CE305U, 0x6C28000000000000U },
    { 0xF684DF56C3E01BC6U, 0xC732000000000000U }, { 0x9A130B963A6C115CU, 0x3C7F400000000000U },
    { 0xC097CE7BC90715B3U, 0x4B9F100000000000U }, { 0xF0BDC21ABB48DB20U, 0x1E86D40000000000U },
    { 0x96769950B50D88F4U, 0x1314448000000000U }, { 0xBC143FA4E250EB31U, 0x17D955A000000000U },
    { 0xEB194F8E1AE525FDU, 0x5DCFAB0800000000U }, { 0x92EFD1B8D0CF37BEU, 0x5AA1CAE500000000U },
    { 0xB7ABC627050305ADU, 0xF14A3D9E40000000U }, { 0xE596B7B0C643C719U, 0x6D9CCD05D0000000U },
    { 0x8F7E32CE7BEA5C6FU, 0xE4820023A2000000U }, { 0xB35DBF821AE4F38BU, 0xDDA2802C8A800000U },
    { 0xE0352F62A19E306EU, 0xD50B2037AD200000U }, { 0x8C213D9DA502DE45U, 0x4526F422CC340000U },
    { 0xAF298D050E4395D6U, 0x9670B12B7F410000U }, { 0xDAF3F04651D47B4CU, 0x3C0CDD765F114000U },
    { 0x88D8762BF324CD0FU, 0xA5880A69FB6AC800U }, { 0xAB0E93B6EFEE0053U, 0x8EEA0D047A457A00U },
    { 0xD5D238A4ABE98068U, 0x72A4904598D6D880U }, { 0x85A36366EB71F041U, 0x47A6DA2B7F864750U },
    { 0xA70C3C40A64E6C51U, 0x999090B65F67D924U }, { 0xD0CF4B50CFE20765U, 0xFFF4B4E3F741CF6DU },
    { 0x82818F1281ED449FU, 0xBFF8F10E7A8921A4U }, { 0xA321F2D7226895C7U, 0xAFF72D52192B6A0DU },
    { 0xCBEA6F8CEB02BB39U, 0x9BF4F8A69F764490U }, { 0xFEE50B7025C36A08U, 0x02F236D04753D5B4U },
    { 0x9F4F2726179A2245U, 0x01D762422C946590U }, { 0xC722F0EF9D80AAD6U, 0x424D3AD2B7B97EF5U },
    { 0xF8EBAD2B84E0D58BU, 0xD2E0898765A7DEB2U }, { 0x9B934C3B330C8577U, 0x63CC55F49F88EB2FU },
    { 0xC2781F49FFCFA6D5U, 0x3CBF6B71C76B25FBU }, { 0xF316271C7FC3908AU, 0x8BEF464E3945EF7AU },
    { 0x97EDD871CFDA3A56U, 0x97758BF0E3CBB5ACU }, { 0xBDE94E8E43D0C8ECU, 0x3D52EEED1CBEA317U },
    { 0xED63A231D4C4FB27U, 0x4CA7AAA863EE4BDDU }, { 0x945E455F24FB1CF8U, 0x8FE8CAA93E74EF6AU },
    { 0xB975D6B6EE39E436U, 0xB3E2FD538E122B44U }, { 0xE7D34C64A9C85D44U, 0x60DBBCA87196B616U },
    { 0x90E40FBEEA1D3A4AU, 0xBC8955E946FE31CDU }, { 0xB51D13AEA4A488DDU, 0x6BABAB6398BDBE41U },
    { 0xE264589A4DCDAB14U, 0xC696963C7EED2DD1U }, { 0x8D7EB76070A08AECU, 0xFC1E1DE5CF543CA2U },
    { 0xB0DE65388CC8ADA8U, 0x3B25A55F43294BCBU }, { 0xDD15FE86AFFAD912U, 0x49EF0EB713F39EBEU },
    { 0x8A2DBF142DFCC7ABU, 0x6E3569326C784337U }, { 0xACB92ED9397BF996U, 0x49C2C37F07965404U },
    { 0xD7E77A8F87DAF7FBU, 0xDC33745EC97BE906U }, { 0x86F0AC99B4E8DAFDU, 0x69A028BB3DED71A3U },
    { 0xA8ACD7C0222311BCU, 0xC40832EA0D68CE0CU }, { 0xD2D80DB02AABD62BU, 0xF50A3FA490C30190U },
    { 0x83C7088E1AAB65DBU, 0x792667C6DA79E0FAU }, { 0xA4B8CAB1A1563F52U, 0x577001B891185938U },
    { 0xCDE6FD5E09ABCF26U, 0xED4C0226B55E6F86U }, { 0x80B05E5AC60B6178U, 0x544F8158315B05B4U },
    { 0xA0DC75F1778E39D6U, 0x696361AE3DB1C721U }, { 0xC913936DD571C84CU, 0x03BC3A19CD1E38E9U },
    { 0xFB5878494ACE3A5FU, 0x04AB48A04065C723U }, { 0x9D174B2DCEC0E47BU, 0x62EB0D64283F9C76U },
    { 0xC45D1DF942711D9AU, 0x3BA5D0BD324F8394U }, { 0xF5746577930D6500U, 0xCA8F44EC7EE36479U },
    { 0x9968BF6ABBE85F20U, 0x7E998B13CF4E1ECBU }, { 0xBFC2EF456AE276E8U, 0x9E3FEDD8C321A67EU },
    { 0xEFB3AB16C59B14A2U, 0xC5CFE94EF3EA101EU },
};
/* clang-format on */

/* The exact path multiplies and divides doubles and relies on one rounding per operation. */
_Static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must round to double");
_Static_assert(DBL_MANT_DIG == 53, "double must be IEEE 754 binary64");

__extension__ typedef unsigned __int128 uint128;

enum {
    MOST_DIGITS = 19,      /* decimal digits that always fit in 64 bits */
    MOST_EXACT_POWER = 22, /* 10^22 is the largest power of ten that is a double */
};

/* A written exponent is cut here: no text is long enough for its digits to make up for more. */
static const int64_t most_exponent = 1000000000000;

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Adds the digits at p to *w (which wraps when there are too many) and returns the byte behind them. */
static const char *digits(const char *p, uint64_t *w)
{
    while (is_digit(*p))
        *w = *w * 10 + (uint64_t)(*p++ - '0');
    return p;
}

/* w * 10^exponent rounded to a double, or false when the 128 bits of the power do not decide it: the
 * true product lies less than 2 units of the second word above the computed one (4 after the shift),
 * so only when the half-way point is in that gap can the rounding differ. */
bool mel_number_round(uint64_t w, int64_t exponent, double *value)
{
    if (w == 0 || exponent < -MEL_MOST_POWER || exponent > MEL_MOST_POWER)
        return false;
    const uint64_t *power = mel_power_of_five[exponent + MEL_MOST_POWER];
    const int zeros = __builtin_clzll(w);
    w <<= zeros;
    const uint128 high = (uint128)w * power[0];
    const uint128 low = (uint128)w * power[1];
    uint128 product = high + (low >> 64);
    int exponent2 = 191 + (((int)exponent * 152170) >> 16) - 127 - zeros + (int)exponent;
    if ((product >> 127) == 0) {
        product <<= 1;
        exponent2--;
    }
    const uint128 half = (uint128)1 << 74, rest = product & (2 * half - 1);
    if (rest <= half && half - rest <= 4)
        return false;
    uint64_t mantissa = (uint64_t)(product >> 75) + (rest > half);
    if (mantissa >> 53) { /* rounded up to the next power of two */
        mantissa >>= 1;
        exponent2++;
    }
    const uint64_t bits = (mantissa & 0xFFFFFFFFFFFFFU) | ((uint64_t)(exponent2 + 1023) << 52);
    memcpy(value, &bits, sizeof bits);
    return true;
}

/* More digits than fit: the first 19 that count, and how far the rest moves the exponent. True when
 * any were left out. */
static bool leading_digits(const char *p, uint64_t *w, int64_t *exponent)
{
    int n = 0;
    bool fraction = false, more = false;
    for (*w = 0;; p++) {
        if (*p == '.') {
            fraction = true;
        } else if (!is_digit(*p)) {
            return more;
        } else if (n < MOST_DIGITS) {
            *w = *w * 10 + (uint64_t)(*p - '0');
            n += *w != 0;
            *exponent -= fraction;
        } else {
            more = true;
            *exponent += !fraction;
        }
    }
}

static double power_of_ten(int64_t n)
{
    static const double exact[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    return exact[n];
}

/* The size of w * 10^exponent; `more`: digits were cut off, so anything from w up to w + 1. False
 * when these tools cannot tell. */
static bool round_decimal(uint64_t w, int64_t exponent, bool more, double *value)
{
    if (!more && w <= (uint64_t)1 << DBL_MANT_DIG && exponent >= -MOST_EXACT_POWER &&
        exponent <= MOST_EXACT_POWER) {
        *value = exponent < 0 ? (double)w / power_of_ten(-exponent) : (double)w * power_of_ten(exponent);
        return true;
    }
    if (w == 0 && !more) {
        *value = 0.0;
        return true;
    }
    double upper;
    if (!mel_number_round(w, exponent, value))
        return false;
    return !more || (mel_number_round(w + 1, exponent, &upper) && upper == *value);
}

/* The digits behind the e at p; NULL when there are none. */
static const char *written_exponent(const char *p, int64_t *exponent)
{
    const bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (!is_digit(*p))
        return NULL;
    int64_t e = 0;
    for (; is_digit(*p); p++)
        e = e < most_exponent ? e * 10 + (*p - '0') : e;
    *exponent += negative ? -e : e;
    return p;
}

const char *mel_number_scan(const char *p, double *value)
{
    const char *const start = p;
    const bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    const char *const first = p;
    uint64_t w = 0;
    p = digits(p, &w);
    ptrdiff_t n = p - first;
    int64_t exponent = 0;
    if (*p == '.') {
        const char *const fraction = ++p;
        p = digits(p, &w);
        exponent = fraction - p;
        n += p - fraction;
    }
    if (n == 0)
        return NULL;
    int64_t written = 0;
    if ((*p == 'e' || *p == 'E') && (p = written_exponent(p + 1, &written)) == NULL)
        return NULL;
    bool more = false;
    if (n > MOST_DIGITS) {
        exponent = 0;
        more = leading_digits(first, &w, &exponent);
    }
    double size;
    if (!round_decimal(w, exponent + written, more, &size)) {
        *value = mel_to_double(start, NULL);
        return p;
    }
    *value = negative ? -size : size;
    return p;
}

static bool names_huge(const char *text, size_t n)
{
    static const char *const words[] = { "nan", "inf", "infinity" };
    if (n != 0 && (*text == '-' || *text == '+')) {
        text++;
        n--;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n == strlen(words[i]) && strncasecmp(text, words[i], n) == 0)
            return true;
    return false;
}

mel_number_kind mel_number_parse_bounded(const char *text, size_t n, double *value)
{
    if (mel_number_scan(text, value) == text + n)
        return isfinite(*value) ? MEL_NUMBER_FINITE : MEL_NUMBER_HUGE;
    return names_huge(text, n) ? MEL_NUMBER_HUGE : MEL_NUMBER_NONE;
}

mel_number_kind mel_number_parse(const char *text, size_t n, double *value)
{
    char copy[512]; /* a longer number is written by nobody, and longer text is none */
    if (n >= sizeof copy)
        return MEL_NUMBER_NONE;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return mel_number_parse_bounded(copy, n, value);
}

/* --- as people write them ---------------------------------------------------------------------------- */

enum { MOST_GROUPS = 16, GROUP = 3, LONGEST = 500 };

/* Runs of digits and the marks before them: digits[0] mark[1] digits[1] ... exponent. */
typedef struct {
    const char *start; /* the first digit or mark, behind the sign */
    size_t n_runs;
    size_t digits[MOST_GROUPS];
    char mark[MOST_GROUPS]; /* ',', '.', ' ' or '\'' */
    const char *exponent;   /* from the e on, up to `end` */
    const char *end;        /* before a percent sign and the blanks before that */
    bool negative, percent;
} parts;

/* Bytes of the mark at p: 0 for something else. */
static size_t mark_at(const char *p, const char *end, char *mark)
{
    static const struct {
        const char *bytes;
        char mark;
    } marks[] = { { ",", ',' },
                  { ".", '.' },
                  { " ", ' ' },
                  { "'", '\'' },
                  { "\xC2\xA0", ' ' },        /* no-break space */
                  { "\xE2\x80\xAF", ' ' },    /* narrow no-break space */
                  { "\xE2\x80\x99", '\'' } }; /* as typeset in Switzerland */
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t n = strlen(marks[i].bytes);
        *mark = marks[i].mark;
        if ((size_t)(end - p) >= n && memcmp(p, marks[i].bytes, n) == 0)
            return n;
    }
    return 0;
}

static bool is_exponent(const char *p, const char *end)
{
    if (p == end)
        return true;
    if ((*p != 'e' && *p != 'E') || ++p == end)
        return false;
    p += *p == '+' || *p == '-';
    const char *const first = p;
    while (p < end && is_digit(*p))
        p++;
    return p == end && p > first;
}

static bool split_number(parts *out, const char *p, size_t n)
{
    const char *end = p + n;
    *out = (parts){ 0 };
    if (n > 1 && end[-1] == '%') {
        out->percent = true;
        end--;
        while (end > p && end[-1] == ' ')
            end--;
    }
    if (p < end && (*p == '-' || *p == '+'))
        out->negative = *p++ == '-';
    out->start = p;
    out->end = end;
    size_t all = 0;
    while (p < end) {
        size_t *digits = &out->digits[out->n_runs++];
        for (; p < end && is_digit(*p); p++)
            ++*digits;
        all += *digits;
        if (p == end || out->n_runs == MOST_GROUPS)
            break;
        const size_t bytes = mark_at(p, end, &out->mark[out->n_runs]);
        if (bytes == 0)
            break;
        p += bytes;
        if (p == end)
            out->n_runs++; /* "5." */
    }
    out->exponent = p;
    return all != 0 && is_exponent(p, end) && (p == end || !out->percent); /* nobody writes 1e2% */
}

/* Are the first n runs thousands? */
static bool are_thousands(const parts *s, size_t n)
{
    if (s->digits[0] == 0 || s->digits[0] > GROUP || *s->start == '0')
        return false;
    for (size_t i = 1; i < n; i++)
        if (s->digits[i] != GROUP || s->mark[i] != s->mark[1])
            return false;
    return true;
}

static mel_number_shape shape_of(const parts *s)
{
    const size_t last = s->n_runs - 1;
    if (last == 0)
        return MEL_SHAPE_WHOLE;
    const char mark = s->mark[last];
    const bool thousands = are_thousands(s, s->n_runs) && s->exponent == s->end;
    if (mark == ' ' || mark == '\'')
        return thousands ? MEL_SHAPE_WHOLE : MEL_SHAPE_OTHER;
    if (last == 1 && mark == '.')
        return thousands ? MEL_SHAPE_POINT_OR_THOUSANDS : MEL_SHAPE_POINT;
    if (last == 1)
        return thousands ? MEL_SHAPE_COMMA_OR_THOUSANDS : MEL_SHAPE_COMMA;
    if (thousands)
        return mark == '.' ? MEL_SHAPE_COMMA : MEL_SHAPE_POINT;
    if (mark == s->mark[1] || !are_thousands(s, last))
        return MEL_SHAPE_OTHER;
    return mark == '.' ? MEL_SHAPE_POINT : MEL_SHAPE_COMMA;
}

bool mel_number_fits(mel_number_shape shape, char decimal)
{
    switch (shape) {
    case MEL_SHAPE_WHOLE:
    case MEL_SHAPE_POINT_OR_THOUSANDS:
    case MEL_SHAPE_COMMA_OR_THOUSANDS:
        return true;
    case MEL_SHAPE_POINT:
        return decimal == '.';
    case MEL_SHAPE_COMMA:
        return decimal == ',';
    default:
        return false;
    }
}

/* The number as the parser of plain numbers reads it. The percent sign goes into the exponent, so that the
 * result is rounded once. */
static size_t write_plain(char *to, size_t room, const parts *s, char decimal)
{
    size_t n = 0;
    if (s->negative)
        to[n++] = '-';
    const char *p = s->start;
    for (size_t run = 0; run < s->n_runs; run++) {
        if (run != 0) {
            char mark;
            p += mark_at(p, s->end, &mark);
            if (mark == decimal)
                to[n++] = '.';
        }
        memcpy(to + n, p, s->digits[run]);
        n += s->digits[run];
        p += s->digits[run];
    }
    return n + (size_t)snprintf(to + n, room - n, "%.*s%s", (int)(s->end - s->exponent), s->exponent,
                                s->percent ? "e-2" : "");
}

/* The shape of what mel_number_parse_bounded takes. */
static mel_number_shape plain_shape(const char *p, size_t n)
{
    p += *p == '-' || *p == '+';
    const char *const first = p;
    const char *const point = memchr(p, '.', n);
    if (point == NULL)
        return MEL_SHAPE_WHOLE;
    for (p = point + 1; is_digit(*p); p++)
        continue;
    const bool thousands = point - first >= 1 && point - first <= GROUP && *first != '0' &&
                           p - point == GROUP + 1 && (*p | 0x20) != 'e';
    return thousands ? MEL_SHAPE_POINT_OR_THOUSANDS : MEL_SHAPE_POINT;
}

static bool may_start_number(char c)
{
    return is_digit(c) || strchr("+-.,iInN", c) != NULL;
}

mel_styled_number mel_number_styled(const char *text, size_t n, char decimal)
{
    mel_styled_number out = { .shape = MEL_SHAPE_OTHER, .kind = MEL_NUMBER_NONE };
    if (n == 0 || !may_start_number(*text))
        return out;
    out.kind = mel_number_parse_bounded(text, n, &out.value);
    const bool plain = out.kind == MEL_NUMBER_FINITE;
    out.shape = plain ? plain_shape(text, n) : MEL_SHAPE_HUGE;
    if (out.kind == MEL_NUMBER_HUGE || (plain && (decimal == '.' || out.shape == MEL_SHAPE_WHOLE)))
        return out;
    parts s;
    out.kind = MEL_NUMBER_NONE;
    out.shape = MEL_SHAPE_OTHER;
    if (n > LONGEST || !split_number(&s, text, n))
        return out;
    out.percent = s.percent;
    out.shape = shape_of(&s);
    if (mel_number_fits(out.shape, decimal)) {
        char rewritten[LONGEST + 8];
        const size_t length = write_plain(rewritten, sizeof rewritten, &s, decimal);
        out.kind = mel_number_parse_bounded(rewritten, length, &out.value);
    }
    return out;
}
