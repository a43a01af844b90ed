/* The option about pools of classifiers that several verbs share. */
#ifndef MEL_CLI_POOL_H
#define MEL_CLI_POOL_H

#include "command.h"
#include "melicit/data.h"
#include "melicit/metric.h"
#include "problem/shared.h"

/* The option that says how common the classes are; the field is a double, NaN unless given. */
#define CLI_SHARES_OPTION(args, field)                                                                       \
    {                                                                                                        \
        .name = "shares", .argument = "P", .kind = CLI_NUMBER, .at = offsetof(args, field), .high = 1,       \
        .above_low = true, .below_high = true,                                                               \
        .help = "two classes: the share of the positive one, where the columns do not say it"                \
    }

#endif
