/* melicit optimise --oracle: a classifier found by comparisons alone, in a session that resumes. */
#ifndef MEL_CLI_OPTIMISE_COMPARE_H
#define MEL_CLI_OPTIMISE_COMPARE_H

#include "optimise_rows.h"

typedef struct {
    const char *oracle, *noise, *session, *out;
    int strategy; /* of cli_compare_strategies */
    bool kinks;
    uint64_t max_questions; /* 0: the library's */
} cli_compare_args;
extern const char *const cli_compare_strategies[];

mel_status cli_optimise_compare(cli_run *run, const cli_optimise_rows *rows, const cli_compare_args *args,
                                mel_error *err);

#endif
