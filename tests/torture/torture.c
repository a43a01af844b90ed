/* Makes every allocation of every case fail once: expected is a sentence with the exit code for a lack of
 * memory, or exactly the result that comes without the failure; never a leak, a crash or a hang.
 *
 * A case runs in a process of its own, the runner. At an allocation that is to fail the runner forks: in the
 * copy, the victim, it fails and the case goes on in a copy of the folder; the runner waits for the victim's
 * end, judges it and goes on as if nothing had happened. So a case costs one run and a short end per
 * allocation. A case with threads or a database, which cannot be copied, runs anew for each allocation.
 *
 * Allocations are those of this project's code and of jansson. One allocation per place fails, which is the
 * calls that led there; with MELICIT_SOAK in the environment every single one does. `torture WORD` runs the
 * cases that have WORD in their name, after all others ran without failures to make their files. */
#define _GNU_SOURCE
#include "torture.h"

#include "base/internal.h"

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DEPTH = 24,
    HASHED = 6,
    KEPT = 8,
    BLOCKS = 1 << 16,
    PLACES = 1 << 17,
    SECONDS = 60,
    SANITIZER = 99,
    MANY = 5
};

#define ALLOCATORS(prefix)                                                                                   \
    void *prefix##malloc(size_t size);                                                                       \
    void *prefix##calloc(size_t n, size_t size);                                                             \
    void *prefix##realloc(void *block, size_t size);                                                         \
    void *prefix##aligned_alloc(size_t alignment, size_t size);                                              \
    void prefix##free(void *block);
ALLOCATORS(__real_)
ALLOCATORS(__wrap_)
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* Leaks are counted here, faster; a finding has an exit code of its own. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0:exitcode=99";
}

const char *__ubsan_default_options(void)
{
    return "exitcode=99:print_stacktrace=1";
}

/* --- shared by all processes -------------------------------------------------------------------- */

typedef struct {
    uint64_t places[PLACES]; /* hashes of calls whose allocation has failed, in an open table */
    long allocations, victims, harmless, wrong, wrong_here; /* here: of the current case */
    bool failed, returned; /* of the last victim: an allocation failed; main returned */
    int n_calls;           /* the calls that led to the failed allocation */
    void *calls[DEPTH];
    size_t leaked; /* blocks, and the calls that made the first of them */
    void *leak[KEPT];
    long passed;   /* MELICIT_SOAK, a case that runs anew: so many allocations have failed before */
    size_t unseen; /* blocks that another library frees, as libmicrohttpd does with replies */
} shared_notes;

static shared_notes *notes;
static const torture_case *current;
static char folder[PATH_MAX]; /* of all files: run/ is the cases', victim/ a copy for a victim */
static bool all_places;       /* every allocation fails once */

static const char *path_of(const char *name)
{
    static char path[2 * PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* --- files -------------------------------------------------------------------------------------- */

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (const uint8_t *at = bytes; n > 0; n--, at++)
        hash = (hash ^ *at) * 1099511628211u;
    return hash;
}

static void copy_file(int from, int to)
{
    char bytes[1 << 16];
    off_t at = 0;
    for (ssize_t n; (n = pread(from, bytes, sizeof bytes, at)) > 0; at += n)
        if (write(to, bytes, (size_t)n) != n)
            abort();
}

/* Calls visit for each file of an open folder. */
static void each_file(int at, void (*visit)(int at, const char *name, void *user), void *user)
{
    DIR *dir = fdopendir(dup(at));
    rewinddir(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (entry->d_type == DT_REG)
            visit(at, entry->d_name, user);
    (void)closedir(dir);
}

static void remove_one(int at, const char *name, void *user)
{
    (void)user;
    (void)unlinkat(at, name, 0);
}

static void copy_one(int at, const char *name, void *user)
{
    const int from = openat(at, name, O_RDONLY), to = openat(*(int *)user, name, O_WRONLY | O_CREAT, 0600);
    if (from < 0 || to < 0)
        abort();
    copy_file(from, to);
    (void)close(from);
    (void)close(to);
}

/* Adds a hash of the name and the bytes. What holds the time of day, and what other threads write, is left
 * out. */
static void hash_one(int at, const char *name, void *user)
{
    if (strstr(name, ".jsonl") != NULL || strstr(name, ".db") != NULL)
        return;
    uint64_t hash = hash_bytes(14695981039346656037u, name, strlen(name));
    char bytes[1 << 16];
    const int file = openat(at, name, O_RDONLY);
    for (ssize_t n; (n = read(file, bytes, sizeof bytes)) > 0;)
        hash = hash_bytes(hash, bytes, (size_t)n);
    (void)close(file);
    *(uint64_t *)user += hash;
}

static uint64_t hash_of_files(const char *name)
{
    uint64_t hash = 0;
    const int at = open(path_of(name), O_RDONLY | O_DIRECTORY);
    each_file(at, hash_one, &hash);
    (void)close(at);
    return hash;
}

static void copy_run_to_victim(void)
{
    const int run = open(path_of("run"), O_RDONLY | O_DIRECTORY),
              victim = open(path_of("victim"), O_RDONLY | O_DIRECTORY);
    each_file(victim, remove_one, NULL);
    each_file(run, copy_one, (void *)&victim);
    (void)close(run);
    (void)close(victim);
}

/* An open file shares its position with the runner's: opens it anew, that of run/ in victim/. */
static void open_anew(int file)
{
    struct stat info;
    char link[64], path[PATH_MAX];
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    char moved[3 * PATH_MAX];
    const char *run = path_of("run/");
    const size_t common = strncmp(path, run, strlen(run)) == 0 ? strlen(run) : 0;
    (void)snprintf(moved, sizeof moved, "%s%s%s", common > 0 ? folder : "", common > 0 ? "/victim/" : "",
                   path + common);
    const int fresh = open(moved, fcntl(file, F_GETFL) & (O_ACCMODE | O_APPEND));
    if (fresh < 0)
        return; /* removed meanwhile: nobody finds it by name */
    (void)lseek(fresh, lseek(file, 0, SEEK_CUR), SEEK_SET);
    (void)dup2(fresh, file);
    (void)close(fresh);
}

/* --- blocks that are allocated ------------------------------------------------------------------- */

typedef struct {
    void *block;
    void *calls[KEPT];
} live_block;

static live_block live[BLOCKS];
static size_t n_live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed, is_victim;

static size_t home_of(const void *block)
{
    return (size_t)((uintptr_t)block >> 4) * 2654435761u % BLOCKS;
}

static void note_block(void *block, void *const *calls, int n)
{
    if (++n_live == BLOCKS) {
        (void)fputs("torture: too many blocks\n", stderr);
        abort();
    }
    size_t at = home_of(block);
    while (live[at].block != NULL)
        at = (at + 1) % BLOCKS;
    live[at].block = block;
    for (int i = 0; i < KEPT; i++)
        live[at].calls[i] = i < n ? calls[i] : NULL;
}

static void forget_block(const void *block)
{
    size_t at = home_of(block);
    while (live[at].block != NULL && live[at].block != block)
        at = (at + 1) % BLOCKS;
    if (live[at].block == NULL)
        return; /* a library's, or older than the case */
    n_live--;
    for (size_t next = (at + 1) % BLOCKS; live[next].block != NULL; next = (next + 1) % BLOCKS) {
        const size_t home = home_of(live[next].block);
        if ((next - home + BLOCKS) % BLOCKS < (next - at + BLOCKS) % BLOCKS)
            continue; /* not behind the gap */
        live[at] = live[next];
        at = next;
    }
    live[at].block = NULL;
}

/* --- which allocation fails, and how a victim ends ----------------------------------------------- */

static bool is_new_place(void *const *calls, int n)
{
    const size_t bytes = (size_t)(n < HASHED ? n : HASHED) * sizeof *calls;
    const uint64_t place = hash_bytes(14695981039346656037u, calls, bytes) | 1; /* 0 is an empty entry */
    size_t at = (place >> 20) % PLACES;
    while (notes->places[at] != 0 && notes->places[at] != place)
        at = (at + 1) % PLACES;
    const bool is_new = notes->places[at] == 0;
    notes->places[at] = place;
    return is_new;
}

static void show_calls(void *const *calls, int n)
{
    char command[64 * (DEPTH + 1)];
    int used = snprintf(command, sizeof command, "addr2line -e /proc/%d/exe -f -p -s", (int)getpid());
    for (int i = 0; i < n && calls[i] != NULL; i++)
        used +=
            snprintf(command + used, sizeof command - (size_t)used, " %p", (void *)((char *)calls[i] - 1));
    (void)snprintf(command + used, sizeof command - (size_t)used, " >&%d", STDERR_FILENO);
    if (system(command) != 0)
        (void)fprintf(stderr, "    (%s)\n", command);
}

/* What the victim said: one line or more with the word memory, or JSON with it. */
static bool has_sentence(void)
{
    static const char *const names[] = { "victim/stderr", "victim/stdout" };
    for (size_t i = 0; i < 2; i++) {
        static char text[1 << 16];
        const int file = open(path_of(names[i]), O_RDONLY);
        const ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : 0;
        text[n > 0 ? n : 0] = '\0';
        (void)close(file);
        if (strstr(text, "memory") != NULL)
            return true;
    }
    return false;
}

static int harness_stderr;

/* status: as waitpid() gave it */
static void report(const char *what, int status)
{
    notes->wrong++;
    notes->wrong_here++;
    const int before = dup(STDERR_FILENO);
    (void)dup2(harness_stderr, STDERR_FILENO);
    (void)fprintf(stderr, "%s: allocation %ld: %s (signal %d, exit code %d)\n", current->name,
                  notes->allocations, what, WTERMSIG(status), WEXITSTATUS(status));
    (void)fputs("  allocated by:\n", stderr);
    show_calls(notes->calls, notes->n_calls);
    if (notes->returned && notes->leaked > 0) {
        (void)fputs("  the leak was allocated by:\n", stderr);
        show_calls(notes->leak, KEPT);
    }
    const int said = open(path_of("victim/stderr"), O_RDONLY);
    if (said >= 0) {
        (void)fputs("  it said:\n", stderr);
        (void)lseek(said, -3000, SEEK_END);
        copy_file(said, STDERR_FILENO);
        (void)close(said);
    }
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
}

/* Waits for a victim. */
static void judge(pid_t victim, uint64_t hash_without)
{
    int status = 0;
    (void)waitpid(victim, &status, 0);
    if (!notes->failed)
        return;
    notes->victims++;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    const bool same = code == current->code;
    const char *what = code == SANITIZER                                  ? "a sanitizer stopped it"
                       : code < 0                                         ? "a signal ended it"
                       : notes->returned && notes->leaked > notes->unseen ? "blocks leaked"
                       : same && hash_without != 0 && hash_of_files("victim") != hash_without
                           ? "success with another result"
                       : same                                     ? NULL
                       : code != mel_status_exit_code(MEL_ENOMEM) ? "another exit code"
                       : !has_sentence()                          ? "no sentence about memory"
                                                                  : NULL;
    notes->harmless += same;
    if (what != NULL)
        report(what, status);
}

static uint64_t hash_expected; /* of the files after an undisturbed run */

/* In the runner: forks. Returns true in the victim. */
static bool sacrifice(void)
{
    notes->failed = true;
    notes->returned = false;
    const pid_t victim = fork();
    if (victim == 0) {
        is_victim = true;
        (void)alarm(SECONDS);
        copy_run_to_victim();
        for (int file = 0; file < 64; file++)
            open_anew(file);
        if (chdir(path_of("victim")) != 0)
            abort();
        return true;
    }
    judge(victim, hash_expected);
    return false;
}

static bool fails_now(void *const *calls, int n)
{
    if (!armed || is_victim || notes->wrong_here >= MANY)
        return false;
    notes->allocations++;
    if (all_places ? notes->allocations <= notes->passed : !is_new_place(calls, n))
        return false;
    notes->n_calls = n;
    memcpy(notes->calls, calls, (size_t)n * sizeof *calls);
    if (current->most == 0) {
        armed = false;
        const bool fails = sacrifice();
        armed = true;
        return fails;
    }
    is_victim = notes->failed = true;
    return true;
}

/* Allocates with make(); old is the block that a realloc replaces. */
#define WRAPPED(old, make)                                                                                   \
    do {                                                                                                     \
        if (!armed)                                                                                          \
            return make;                                                                                     \
        void *calls[DEPTH];                                                                                  \
        const int n = backtrace(calls, DEPTH);                                                               \
        pthread_mutex_lock(&lock);                                                                           \
        void *block = NULL;                                                                                  \
        if (!fails_now(calls + 1, n - 1)) {                                                                  \
            if ((old) != NULL)                                                                               \
                forget_block(old);                                                                           \
            block = make;                                                                                    \
            if (block != NULL)                                                                               \
                note_block(block, calls + 1, n - 1);                                                         \
        }                                                                                                    \
        pthread_mutex_unlock(&lock);                                                                         \
        return block;                                                                                        \
    } while (0)

void *__wrap_malloc(size_t size)
{
    WRAPPED(NULL, __real_malloc(size));
}

void *__wrap_calloc(size_t n_members, size_t size)
{
    WRAPPED(NULL, __real_calloc(n_members, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    WRAPPED(old, __real_realloc(old, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    WRAPPED(NULL, __real_aligned_alloc(alignment, size));
}

void __wrap_free(void *block)
{
    if (armed && block != NULL) {
        pthread_mutex_lock(&lock);
        forget_block(block);
        pthread_mutex_unlock(&lock);
    }
    __real_free(block);
}

/* --- cases -------------------------------------------------------------------------------------- */

int torture_verb(const char *line)
{
    static char words[4096];
    static char *argument[128];
    int n = 0;
    (void)snprintf(words, sizeof words, "melicit %s", line);
    for (char *rest = NULL, *word = strtok_r(words, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest))
        argument[n++] = word;
    argument[n] = NULL;
    return melicit_main(n, argument);
}

static void redirect(const char *name, int flags, int to)
{
    const int file = open(name, flags, 0600);
    if (file < 0 || dup2(file, to) < 0)
        abort();
    (void)close(file);
}

/* The process of a case, in its folder. */
static _Noreturn void run_case(const char *where, bool fails)
{
    if (chdir(path_of(where)) != 0)
        abort();
    redirect("/dev/null", O_RDONLY, STDIN_FILENO);
    redirect("stdout", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, STDOUT_FILENO);
    redirect("stderr", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, STDERR_FILENO);
    notes->returned = false;
    armed = true;
    is_victim = !fails;
    const int code = current->script != NULL ? current->script(current->name) : torture_verb(current->name);
    (void)fflush(NULL);
    pthread_mutex_lock(&lock);
    armed = false;
    notes->returned = true;
    notes->leaked = n_live;
    for (size_t i = 0; i < BLOCKS; i++)
        if (live[i].block != NULL)
            memcpy(notes->leak, live[i].calls, sizeof notes->leak);
    _exit(code);
}

/* A run without failures: its files and its exit code are those of the case. */
static bool run_undisturbed(const char *where)
{
    const pid_t runner = fork();
    if (runner == 0)
        run_case(where, false);
    int status = 0;
    (void)waitpid(runner, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == current->code)
        return true;
    if (strcmp(where, "run") == 0)
        copy_run_to_victim();
    notes->n_calls = 0;
    report("it fails when no allocation does", status);
    return false;
}

static double seconds_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void torture(void)
{
    const double begin = seconds_now();
    notes->allocations = notes->victims = notes->harmless = notes->wrong_here = 0;
    if (current->most == 0) {
        if (!run_undisturbed("run"))
            return;
        notes->unseen = 0;
        notes->passed = 0;
        hash_expected = hash_of_files("run");
        const pid_t runner = fork();
        if (runner == 0)
            run_case("run", true);
        int status = 0;
        (void)waitpid(runner, &status, 0);
        notes->n_calls = 0;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != current->code)
            report("the runner failed", status);
        else if (notes->leaked > 0)
            report("it leaks when no allocation fails", status);
    } else {
        copy_run_to_victim();
        if (!run_undisturbed("victim"))
            return;
        notes->unseen = notes->leaked;
        notes->failed = true;
        for (int i = 0; notes->failed && notes->wrong_here < MANY && (all_places || i < current->most); i++) {
            copy_run_to_victim();
            notes->failed = false;
            notes->allocations = 0;
            notes->passed = i;
            const pid_t victim = fork();
            if (victim == 0) {
                (void)alarm(SECONDS);
                run_case("victim", true);
            }
            judge(victim, 0);
        }
        (void)run_undisturbed("run");
    }
    printf("%-110s %6ld allocations %5ld failed %4ld harmless %6.2f s\n", current->name, notes->allocations,
           notes->victims, notes->harmless, seconds_now() - begin);
    (void)fflush(stdout);
}

static void remove_files(void)
{
    char command[PATH_MAX + 16];
    (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (system(command) != 0)
        (void)fprintf(stderr, "%s stays\n", folder);
}

static void set_up(void)
{
    const char *tmp = getenv("TMPDIR");
    char made[PATH_MAX / 8];
    (void)snprintf(made, sizeof made, "%s/melicit-torture-XXXXXX", tmp != NULL ? tmp : "/tmp");
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED || mkdtemp(made) == NULL || realpath(made, folder) == NULL)
        abort();
    if (mkdir(path_of("run"), 0700) != 0 || mkdir(path_of("victim"), 0700) != 0)
        abort();
    all_places = getenv("MELICIT_SOAK") != NULL;
    harness_stderr = dup(STDERR_FILENO);
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    void *calls[2];
    (void)backtrace(calls, 2); /* loads its library, which allocates */
    if (chdir(path_of("run")) != 0)
        abort();
    torture_write_inputs();
}

int main(int argc, char **argv)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    if (threads == NULL ||
        strcmp(threads, "1") != 0) { /* a forked process has one thread; libraries look at this early */
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)sched_getcpu(), &one);
        (void)sched_setaffinity(0, sizeof one, &one);
        (void)setenv("OMP_NUM_THREADS", "1", 1);
        (void)execv("/proc/self/exe", argv);
        abort();
    }
    set_up();
    for (current = torture_cases; current->name != NULL; current++)
        if (argc < 2 || strstr(current->name, argv[1]) != NULL)
            torture();
        else
            (void)run_undisturbed("run");
    remove_files();
    if (notes->wrong > 0)
        (void)fprintf(stderr, "%ld failures\n", notes->wrong);
    return notes->wrong > 0 ? 1 : 0;
}
