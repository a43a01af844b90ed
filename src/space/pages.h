/* Large blocks that are written all over: fewer, larger pages make that faster. */
#ifndef MEL_SPACE_PAGES_H
#define MEL_SPACE_PAGES_H

#include <stddef.h>

/* Asks for large pages inside a fresh block from mel_alloc, where the system has them and the block is large
 * enough to gain. Never changes what the block is. */
void mel_prefer_large_pages(void *block, size_t bytes);

#endif
