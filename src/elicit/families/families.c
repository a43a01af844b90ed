/* The table of how sessions look for the metrics of each family, and the family that only a search finds. */
#include "elicit/families/families.h"

#define ROW(name) &mel_elicit_##name,
#define INDEX(name) INDEX_OF_##name,
enum { MEL_FAMILIES(INDEX) N_FAMILIES };
static const mel_elicit_ops *const families[N_FAMILIES] = { MEL_FAMILIES(ROW) };

const mel_elicit_ops *mel_elicit_of(mel_family family)
{
    return (size_t)family < N_FAMILIES ? families[family] : NULL;
}

/* Monotone metrics: their slope at the best point, by the search on two-class faces alone. */
const mel_elicit_ops mel_elicit_monotone = {
    .where = MEL_ON_SPACE,
    .needs = "a space of k classes with diagonal statistics",
    .search = mel_engine_search,
};
