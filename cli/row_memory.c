/* --memory: large blocks, which are rows, live in mapped files, and the kernel keeps of them in memory what
 * there is room for; all else has a limit. The program is linked so that its allocations come by here. */
#include "row_memory.h"

#include "base/disk.h"
#include "base/la.h"
#include "output.h"

#include <cblas.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Each large block has a slot of address space of its own, in which it can grow. */
enum { SLOTS = 512, SHARE = 100 };
static const size_t slot_bytes = (size_t)64 << 30, least_limit = (size_t)64 << 20;

static struct {
    char *slots;  /* NULL: off */
    size_t large; /* blocks of so many bytes and more */
    const char *folder;
    int reason; /* why there was no file for the last of them; 0: there was one for all */
    pthread_mutex_t lock;
    struct {
        size_t bytes; /* 0: free */
        int file;
    } at[SLOTS];
} rows = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* What the linker (--wrap) makes of malloc and the others: ours, and the system's. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t n);
void __real_free(void *block);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t n);
void __wrap_free(void *block);

/* SLOTS: the block is none of ours. */
static size_t slot_of(const void *block)
{
    const uintptr_t first = (uintptr_t)rows.slots, at = (uintptr_t)block;
    return rows.slots != NULL && at >= first && at - first < SLOTS * slot_bytes ? (at - first) / slot_bytes
                                                                                : SLOTS;
}

static char *place(size_t slot)
{
    return rows.slots + slot * slot_bytes;
}

/* Disk is taken at once: what is written later must not fail. Pages that are there already stay as they are.
 */
static bool map(size_t slot, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), had = (rows.at[slot].bytes + page - 1) / page * page;
    const int reason = bytes <= slot_bytes ? posix_fallocate(rows.at[slot].file, 0, (off_t)bytes) : ENOMEM;
    rows.reason = reason != 0 ? reason : rows.reason;
    if (reason != 0)
        return false;
    return bytes <= had || mmap(place(slot) + had, bytes - had, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED, rows.at[slot].file, (off_t)had) != MAP_FAILED;
}

/* The address space stays ours, the file goes. */
static void unmap(size_t slot)
{
    (void)mmap(place(slot), slot_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
               -1, 0);
    (void)close(rows.at[slot].file);
}

/* A block of zeros; NULL: there is no slot, file or disk for it. */
static void *take(size_t bytes)
{
    (void)pthread_mutex_lock(&rows.lock);
    size_t slot = 0;
    while (slot < SLOTS && rows.at[slot].bytes != 0)
        slot++;
    bool taken = slot < SLOTS && (rows.at[slot].file = mel_disk_file()) >= 0;
    if (slot < SLOTS && !taken)
        rows.reason = errno;
    if (taken && !map(slot, bytes)) {
        unmap(slot);
        taken = false;
    }
    if (taken)
        rows.at[slot].bytes = bytes;
    (void)pthread_mutex_unlock(&rows.lock);
    return taken ? place(slot) : NULL;
}

static void give_back(size_t slot)
{
    (void)pthread_mutex_lock(&rows.lock);
    unmap(slot);
    rows.at[slot].bytes = 0;
    (void)pthread_mutex_unlock(&rows.lock);
}

static bool is_large(size_t n)
{
    return rows.slots != NULL && n >= rows.large;
}

/* Where there is no slot or no disk for a large block, it is a block like others, within the limit. */
static void *place_for(size_t bytes)
{
    return is_large(bytes) ? take(bytes) : NULL;
}

void *__wrap_malloc(size_t n)
{
    void *block = place_for(n);
    return block != NULL ? block : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *block = size != 0 && n <= SIZE_MAX / size ? place_for(n * size) : NULL;
    return block != NULL ? block : __real_calloc(n, size);
}

void __wrap_free(void *block)
{
    const size_t slot = slot_of(block);
    if (slot < SLOTS)
        give_back(slot);
    else
        __real_free(block);
}

static bool grow(size_t slot, size_t n)
{
    (void)pthread_mutex_lock(&rows.lock);
    const bool enough = n <= rows.at[slot].bytes || map(slot, n);
    if (enough && n > rows.at[slot].bytes)
        rows.at[slot].bytes = n;
    (void)pthread_mutex_unlock(&rows.lock);
    return enough;
}

/* A block that becomes large moves into a file, and stays there. */
void *__wrap_realloc(void *block, size_t n)
{
    const size_t slot = slot_of(block);
    if (slot < SLOTS)
        return grow(slot, n) ? block : NULL;
    void *larger = place_for(n);
    if (larger == NULL)
        return __real_realloc(block, n);
    if (block != NULL) {
        const size_t had = malloc_usable_size(block);
        memcpy(larger, block, had < n ? had : n);
        __real_free(block);
    }
    return larger;
}

/* --- the limit ------------------------------------------------------------------------------------ */

/* "512M": a number and K, M, G or T. */
static bool parse(size_t *bytes, const char *text)
{
    static const char units[] = "KMGT";
    char *end = NULL;
    const double number = strtod(text, &end);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (end == text || unit == NULL || end[1] != '\0' || !(number > 0.0 && number < 1e6))
        return false;
    *bytes = (size_t)(number * (double)((size_t)1 << (10 * (unit - units + 1))));
    return true;
}

/* Memory of this process that could be written to: what libraries hold when nothing has begun yet. */
static size_t held(void)
{
    size_t kilobytes = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && kilobytes == 0 && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmData:", 7) == 0)
            kilobytes = (size_t)strtoull(line + 7, NULL, 10);
    if (status != NULL)
        (void)fclose(status);
    return kilobytes << 10;
}

/* OpenBLAS takes address space for each thread that calls it, and waits for ever where it gets none. Products
 * of small matrices (a hundred rows and columns) take none, and would leave that to later. */
static void meet_blas(int threads)
{
    enum { SIDE = 160 };
#pragma omp parallel num_threads(mel_thread_count(threads))
    {
        double a[SIDE * SIDE] = { 1.0 }, c[SIDE * SIDE];
        mel_gemm(false, false, SIDE, SIDE, SIDE, 1.0, a, SIDE, a, SIDE, 0.0, c, SIDE);
    }
}

static void refuse_below(size_t needed, size_t threads, const struct rlimit *limit, const char *option)
{
    if (limit->rlim_cur == RLIM_INFINITY || limit->rlim_cur >= needed)
        return;
    (void)fprintf(stderr,
                  "melicit: ulimit %s leaves %zu MB of address space, and OpenBLAS needs %zu MB for %zu "
                  "thread%s; raise the limit, set OPENBLAS_NUM_THREADS=1, or limit memory with --memory "
                  "instead\n",
                  option, (size_t)limit->rlim_cur >> 20, needed >> 20, threads, threads == 1 ? "" : "s");
    _exit(mel_status_exit_code(MEL_ENOMEM)); /* not exit(), which waits for the threads */
}

void cli_address_space_check(void)
{
    static const size_t each = (size_t)128 << 20; /* of a thread of OpenBLAS */
    const size_t threads = (size_t)openblas_get_num_threads(), needed = (threads + 1) * each;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0)
        refuse_below(needed, threads, &limit, "-v");
    if (getrlimit(RLIMIT_DATA, &limit) == 0)
        refuse_below(needed, threads, &limit, "-d");
}

void cli_row_memory_start(int argc, char **argv)
{
    static const char option[] = "--memory", threads[] = "OPENBLAS_NUM_THREADS";
    const char *had = getenv(threads);
    bool limited = false;
    for (int i = 1; i < argc; i++) {
        const size_t n = strcspn(argv[i], "="); /* options may be cut short; --me may be another, no harm */
        limited = limited || (n >= 4 && strncmp(argv[i], option, n) == 0);
    }
    if (limited && (had == NULL || strcmp(had, "1") != 0) && setenv(threads, "1", 1) == 0)
        (void)execv("/proc/self/exe", argv); /* where that fails, this process goes on */
}

mel_status cli_row_memory_limit(const char *size, int threads, mel_error *err)
{
    size_t bytes = 0;
    if (size == NULL)
        return MEL_OK;
    if (!parse(&bytes, size) || bytes < least_limit)
        return cli_fail(err, MEL_EINVAL, "--memory %s: expected a size such as 512M or 4G, at least 64M",
                        size);
    mel_blas_hold();
    meet_blas(threads);
    mel_blas_release();
    struct rlimit limit;
    void *slots =
        mmap(NULL, SLOTS * slot_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slots == MAP_FAILED || getrlimit(RLIMIT_DATA, &limit) != 0)
        return cli_fail(err, MEL_ENOMEM, "--memory %s: no address space for mapped files (ulimit -v?)", size);
    const char *given = getenv("TMPDIR"), *folder = given != NULL && *given != '\0' ? given : "/var/tmp";
    rows.large = bytes / SHARE;
    rows.folder = folder;
    mel_disk_set(folder, rows.large);
    rows.slots = slots;
    limit.rlim_cur = held() + bytes < limit.rlim_max ? held() + bytes : limit.rlim_max;
    return setrlimit(RLIMIT_DATA, &limit) == 0
               ? MEL_OK
               : cli_fail(err, MEL_EIO, "--memory %s: the system does not set the limit", size);
}

void cli_row_memory_explain(mel_status status, mel_error *err)
{
    const mel_error why = *err;
    if (status == MEL_ENOMEM && rows.reason != 0)
        (void)cli_fail(err, status, "%s; rows found no room in %s: %s (TMPDIR names another folder)",
                       why.text, rows.folder, strerror(rows.reason));
}
