/* Memory and sentences of the program's own: it ends when there is none left. */
#include "output.h"
#include "ranks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static bool errors_as_json;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these take more address space */
/* How many threads OpenBLAS will have: as many as a variable says, else one for each processor. */
static size_t threads_to_be(char **variables)
{
    static const char *const names[] = { "OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (char **at = variables; *at != NULL; at++) {
            const size_t n = strlen(names[i]);
            const long threads = strncmp(*at, names[i], n) == 0 ? strtol(*at + n, NULL, 10) : 0;
            if (threads > 0)
                return (size_t)threads;
        }
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (size_t)processors : 1;
}

/* OpenBLAS waits for ever for address space that it does not get, some versions before main() begins: this
 * runs before any library does (and before there is an environment other than the one given). */
static void check_address_space(int argc, char **argv, char **variables)
{
    static const struct {
        int resource;
        const char *option;
    } limits[] = { { RLIMIT_AS, "-v" }, { RLIMIT_DATA, "-d" } };
    (void)argc;
    (void)argv;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const size_t threads = threads_to_be(variables), needed = (threads + 1) * (size_t)128;
        struct rlimit limit;
        if (getrlimit(limits[i].resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
            limit.rlim_cur >> 20 >= needed)
            continue;
        (void)dprintf(STDERR_FILENO,
                      "melicit: ulimit %s leaves %zu MB of address space, and OpenBLAS needs %zu MB for %zu "
                      "thread%s; raise the limit or set OPENBLAS_NUM_THREADS=1\n",
                      limits[i].option, (size_t)limit.rlim_cur >> 20, needed, threads,
                      threads == 1 ? "" : "s");
        _exit(mel_status_exit_code(MEL_ENOMEM));
    }
}

__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(int, char **, char **) = check_address_space;
#endif

void cli_expect_json(bool json)
{
    errors_as_json = json;
}

_Noreturn void cli_out_of_memory(void)
{
    const int code = mel_status_exit_code(MEL_ENOMEM);
    if (cli_ranks_end(MEL_ENOMEM) && errors_as_json)
        (void)puts("{\"error\": {\"code\": \"ENOMEM\", \"message\": \"out of memory\"}}");
    else
        (void)fputs("melicit: out of memory\n", stderr); /* heard of the rank that speaks alone */
    cli_ranks_stop(code);
    exit(code);
}

mel_status cli_or_exit(mel_status status)
{
    if (status == MEL_ENOMEM)
        cli_out_of_memory();
    return status;
}

void *cli_alloc_zero(size_t n, size_t size)
{
    void *block = n != 0 && size != 0 ? calloc(n, size) : calloc(1, 1);
    if (block == NULL)
        cli_out_of_memory();
    return block;
}

void *cli_regrow(void *block, size_t n, size_t size)
{
    if (size != 0 && n > SIZE_MAX / size)
        cli_out_of_memory();
    void *bigger = realloc(block, n * size != 0 ? n * size : 1);
    if (bigger == NULL)
        cli_out_of_memory();
    return bigger;
}

char *cli_format_list(const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *text = cli_alloc_zero(n > 0 ? (size_t)n + 1 : 1, 1);
    if (n > 0)
        (void)vsnprintf(text, (size_t)n + 1, fmt, args);
    return text;
}

char *cli_format(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = cli_format_list(fmt, args);
    va_end(args);
    return text;
}

mel_status cli_fail_in(mel_error *err, mel_status code, const char *place)
{
    char *sentence = cli_format("%s: %s", place, err->text);
    const mel_status status = cli_fail(err, code, "%s", sentence);
    free(sentence);
    return status;
}

char *cli_made(char *text)
{
    if (text == NULL)
        cli_out_of_memory();
    return text;
}
