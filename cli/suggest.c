/* "did you mean ...?" */
#include "command.h"

#include <string.h>

const char *cli_nearest(const char *word, const char *(*candidate)(const void *user, size_t i),
                        const void *user)
{
    const char *near = mel_nearest(word, candidate, user);
    const bool number = near != NULL && near[strspn(near, "0123456789+-.eE")] == '\0';
    return number ? NULL : near; /* of a number nothing else is a misspelling */
}
