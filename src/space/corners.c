/* Hulls of staircase points in exact integer arithmetic. */
#include "space/corners.h"

#include "space/score_bits.h"

#include <stdlib.h>

/* Products of two weights. */
__extension__ typedef __int128 wide;

void mel_corners_free(mel_corners *corners)
{
    free(corners->at);
    *corners = (mel_corners){ 0 };
}

/* > 0: a, b, c turn counter-clockwise. Coordinates are below 2^62, so that nothing overflows. */
static wide turn(const mel_corner *a, const mel_corner *b, const mel_corner *c)
{
    const int64_t left_ab = (int64_t)(a->tp - b->tp), up_ab = (int64_t)(b->tn - a->tn);
    const int64_t left_ac = (int64_t)(a->tp - c->tp), up_ac = (int64_t)(c->tn - a->tn);
    return (wide)up_ab * left_ac - (wide)left_ab * up_ac;
}

static bool push(mel_corners *corners, mel_corner point)
{
    if (corners->n == corners->capacity) {
        const size_t capacity = corners->capacity < 64 ? 64 : 2 * corners->capacity;
        void *block = corners->at;
        if (!mel_grow(&block, capacity, sizeof *corners->at))
            return false;
        corners->at = block;
        corners->capacity = capacity;
    }
    corners->at[corners->n++] = point;
    return true;
}

bool mel_corners_upper(mel_corners *corners, size_t base, mel_corner point)
{
    while (corners->n >= base + 2 &&
           turn(&corners->at[corners->n - 2], &corners->at[corners->n - 1], &point) <= 0)
        corners->n--;
    return push(corners, point);
}

bool mel_corners_lower(mel_corners *corners, size_t base, mel_corner point)
{
    while (corners->n >= base + 2 &&
           turn(&corners->at[corners->n - 2], &corners->at[corners->n - 1], &point) >= 0)
        corners->n--;
    return push(corners, point);
}

bool mel_corners_join(mel_corners *out, const mel_corners *upper, const mel_corners *lower,
                      uint64_t positives, uint64_t negatives)
{
    *out = (mel_corners){ 0 };
    bool ok = mel_corners_upper(out, 0, (mel_corner){ .tp = positives, .key = mel_score_bits(-INFINITY) });
    /* Reflected, the lower hull runs the other way. */
    for (size_t i = 0, j = lower->n; ok && (i < upper->n || j > 0);) {
        mel_corner mirrored = { 0 };
        if (j > 0) {
            mirrored = lower->at[j - 1];
            mirrored.tp = positives - mirrored.tp;
            mirrored.tn = negatives - mirrored.tn;
            mirrored.inverted = true;
        }
        const bool first =
            j == 0 || (i < upper->n && (upper->at[i].tp > mirrored.tp ||
                                        (upper->at[i].tp == mirrored.tp && upper->at[i].tn <= mirrored.tn)));
        if (first)
            ok = mel_corners_upper(out, 0, upper->at[i++]);
        else {
            ok = mel_corners_upper(out, 0, mirrored);
            j--;
        }
    }
    ok = ok && mel_corners_upper(out, 0, (mel_corner){ .tn = negatives, .key = mel_score_bits(INFINITY) });
    if (!ok)
        mel_corners_free(out);
    return ok;
}
