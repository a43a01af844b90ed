/* Monotone metrics: their slope at the best point, by the search on two-class faces alone. */
#include "elicit/families/families.h"

const mel_elicit_ops mel_elicit_monotone = {
    .where = MEL_ON_SPACE,
    .needs = "a space of k classes with diagonal statistics",
    .search = mel_search_faces,
};
