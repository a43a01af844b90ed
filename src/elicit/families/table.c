/* The table of how sessions look for the metrics of each family. */
#include "elicit/families/families.h"

#define ROW(name) &mel_elicit_##name,
static const mel_elicit_ops *const families[] = { MEL_FAMILIES(ROW) };
#undef ROW

const mel_elicit_ops *mel_elicit_of(mel_family family)
{
    return (unsigned)family < sizeof families / sizeof *families ? families[family] : NULL;
}
