/* Asks the system for large pages under large blocks. */
#ifdef __linux__
#define _DEFAULT_SOURCE /* madvise is Linux's, not POSIX's */
#include <sys/mman.h>
#endif

#include "space/pages.h"

#include <stdint.h>

#if defined(__linux__) && defined(MADV_HUGEPAGE)
void mel_prefer_large_pages(void *block, size_t bytes)
{
    const size_t page = (size_t)1 << 21, worthwhile = 2 * page;
    const size_t offset = (page - (uintptr_t)block % page) % page;
    /* Refusal is as good as consent: the block only is slower then. */
    if (bytes >= worthwhile + offset)
        (void)madvise((char *)block + offset, (bytes - offset) / page * page, MADV_HUGEPAGE);
}
#else
void mel_prefer_large_pages(void *block, size_t bytes)
{
    (void)block;
    (void)bytes;
}
#endif
