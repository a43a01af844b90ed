/* What other rooms and the program use of this room beyond melicit/outcome.h; not exported. */
#ifndef MEL_OUTCOME_SHARED_H
#define MEL_OUTCOME_SHARED_H

#include "melicit/outcome.h"

/* "consistent", "doubtful", "inconsistent" or, where answers may be flipped, "undecided": neither a metric
 * nor coin tosses explain them much better. NULL: the consistency is not known. */
const char *mel_consistency_label(const mel_summary *summary);

#endif
