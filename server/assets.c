/* The files of the front end, found by path. */
#include "assets.h"

#include <string.h>

const mel_asset *mel_asset_find(const char *path)
{
    for (size_t i = 0; i < mel_n_assets; i++)
        if (strcmp(mel_assets[i].path, path) == 0)
            return &mel_assets[i];
    return NULL;
}
