/* The files of the front end, embedded in the program. */
#ifndef MEL_SERVER_ASSETS_H
#define MEL_SERVER_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *path; /* "/index.html" */
    const char *type;
    const unsigned char *bytes;
    size_t n;
    bool gzipped;
    bool hashed; /* its name changes with its content */
} mel_asset;
/* Made from web/dist when the program is built. */
extern const mel_asset mel_assets[];
extern const size_t mel_n_assets;

#endif
