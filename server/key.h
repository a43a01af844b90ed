/* The key of all hashes: of tokens, links and codes. In the store, or in a file of its own that all servers
 * on the store share; the store alone is then not enough to make tokens. */
#ifndef MEL_SERVER_KEY_H
#define MEL_SERVER_KEY_H

#include "store.h"

/* path NULL: in the store, made by the first process that opens it. Otherwise in that file: made where it is
 * missing, with the key that the store had, which is then removed from the store. MEL_EINVAL: the store goes
 * with another key. */
mel_status mel_key_find(unsigned char key[MEL_HASH_BYTES], mel_store *store, const char *path,
                        mel_error *err);

#endif
