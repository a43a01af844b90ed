/* "did you mean ...?" */
#include "command.h"

const char *cli_nearest(const char *word, const char *(*candidate)(const void *user, size_t i),
                        const void *user)
{
    return mel_nearest(word, candidate, user);
}
