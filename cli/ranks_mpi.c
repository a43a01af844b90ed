/* melicit-mpi: the program as one of several ranks, linked with MPI: joining, exchanging bytes, and ending
 * together whatever happens to one of them. */
#include "ranks.h"

#include "base/team.h"
#include "output.h"

#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 1 << 20, PIECE = 1 << 28 }; /* bytes at a time: MPI counts with int */
/* A pass over so many rows takes about a millisecond; MELICIT_RANK_ROWS sets it for slower networks. */
enum { FEW_ROWS = 1 << 18 };

/* What a rank is about to do, as the others must be, too. */
typedef enum { GATHERING, FINISHED, FAILED } state;
typedef struct {
    size_t state, bytes;
} intent;

static struct {
    mel_team team;
    intent *of;          /* every rank's */
    int *counts, *begin; /* of the bytes of every rank */
    int out, err;        /* where standard output and error of silent ranks lead */
    bool others_wait, ended;
    double waited, since;
    size_t gathers;
} ranks = { .out = -1, .err = -1 };

/* --- exchange ------------------------------------------------------------------------------------ */

/* Until the others are there, too; after a moment the core is left to whom it is of use. */
static void await(MPI_Request *request)
{
    static const double moment = 2e-4;
    const struct timespec nap = { .tv_nsec = 100000 };
    const double begun = mel_clock();
    int done = 0;
    for (;;) {
        (void)MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done != 0)
            return;
        if (mel_clock() - begun > moment)
            (void)nanosleep(&nap, NULL);
    }
}

/* Tells the others what this rank does next, and learns it of them. */
static void announce(state next, size_t bytes)
{
    const intent own = { next, bytes };
    MPI_Request request;
    (void)MPI_Iallgather(&own, sizeof own, MPI_BYTE, ranks.of, sizeof own, MPI_BYTE, MPI_COMM_WORLD,
                         &request);
    await(&request);
}

/* Some rank cannot go on, and will end them all. */
static _Noreturn void wait_for_the_end(void)
{
    for (;;)
        (void)pause();
}

/* The first rank in that state; size: none. */
static size_t first_in(size_t wanted)
{
    size_t r = 0;
    while (r < ranks.team.size && ranks.of[r].state != wanted)
        r++;
    return r;
}

static void speak_again(void)
{
    (void)fflush(stdout);
    if (ranks.out >= 0)
        (void)dup2(ranks.out, STDOUT_FILENO);
    if (ranks.err >= 0)
        (void)dup2(ranks.err, STDERR_FILENO);
}

/* Ranks that do not do the same would wait for each other for ever. */
static void check_together(size_t bytes)
{
    if (first_in(FAILED) < ranks.team.size)
        wait_for_the_end();
    for (size_t r = 0; r < ranks.team.size; r++)
        if (ranks.of[r].state != GATHERING || ranks.of[r].bytes != bytes) {
            speak_again();
            (void)fprintf(
                stderr,
                "melicit: ranks %zu and %zu went different ways: do they see the same files and options?\n",
                ranks.team.rank, r);
            (void)MPI_Abort(MPI_COMM_WORLD, mel_status_exit_code(MEL_ESTATE));
        }
}

static void exchange_small(void *all, const size_t *start)
{
    for (size_t r = 0; r < ranks.team.size; r++) {
        ranks.begin[r] = (int)start[r];
        ranks.counts[r] = (int)(start[r + 1] - start[r]);
    }
    MPI_Request request;
    (void)MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, ranks.counts, ranks.begin, MPI_BYTE, MPI_COMM_WORLD,
                          &request);
    await(&request);
}

/* Piece by piece. */
static void exchange_large(void *all, const size_t *start)
{
    for (size_t r = 0; r < ranks.team.size; r++)
        for (size_t at = start[r]; at < start[r + 1]; at += PIECE) {
            const size_t left = start[r + 1] - at;
            (void)MPI_Bcast((char *)all + at, (int)(left < PIECE ? left : PIECE), MPI_BYTE, (int)r,
                            MPI_COMM_WORLD);
        }
}

static void gather(void *user, void *all, const size_t *start)
{
    (void)user;
    const double begun = mel_clock();
    announce(GATHERING, start[ranks.team.size]);
    check_together(start[ranks.team.size]);
    if (start[ranks.team.size] <= SMALL)
        exchange_small(all, start);
    else
        exchange_large(all, start);
    ranks.waited += mel_clock() - begun;
    ranks.gathers++;
}

static size_t few_rows(void)
{
    const char *given = getenv("MELICIT_RANK_ROWS");
    return given != NULL ? (size_t)strtoull(given, NULL, 10) : FEW_ROWS;
}

/* --- beginning and end --------------------------------------------------------------------------- */

static void be_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    ranks.out = dup(STDOUT_FILENO);
    ranks.err = dup(STDERR_FILENO);
    if (nowhere >= 0) {
        (void)dup2(nowhere, STDOUT_FILENO);
        (void)dup2(nowhere, STDERR_FILENO);
        (void)close(nowhere);
    }
}

mel_status cli_ranks_start(size_t expected, mel_error *err)
{
    (void)err;
    if (expected < 2)
        return MEL_OK;
    (void)setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0); /* there may be more ranks than cores */
    (void)setenv("NO_COLOR", "1", 0); /* what looks like a terminal is mpirun's, wherever it writes to */
    int provided = 0, rank = 0, size = 1;
    (void)MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* A signal ends a rank at once, and mpirun the others. */
    static const int stopping[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++)
        (void)signal(stopping[i], SIG_DFL);
    ranks.of = cli_alloc_zero((size_t)size, sizeof *ranks.of);
    ranks.counts = cli_alloc_zero((size_t)size, sizeof *ranks.counts);
    ranks.begin = cli_alloc_zero((size_t)size, sizeof *ranks.begin);
    ranks.team = (mel_team){ .rank = (size_t)rank,
                             .size = (size_t)size,
                             .start = cli_alloc_zero((size_t)size + 1, sizeof *ranks.team.start),
                             .few_rows = few_rows(),
                             .gather = gather };
    ranks.since = mel_clock();
    if (rank != 0)
        be_silent();
    mel_team_set(&ranks.team);
    return MEL_OK;
}

bool cli_ranks_many(void)
{
    return ranks.team.size > 1;
}

bool cli_ranks_done(void)
{
    mel_team_set(NULL);
    return ranks.team.rank > 0;
}

bool cli_ranks_end(mel_status status)
{
    if (!cli_ranks_many() || ranks.ended)
        return true;
    ranks.ended = true;
    announce(status == MEL_OK ? FINISHED : FAILED, 0);
    const size_t first = first_in(FAILED);
    ranks.others_wait = first_in(GATHERING) < ranks.team.size;
    if (ranks.others_wait && first != ranks.team.rank && status != MEL_OK)
        wait_for_the_end();
    if (first == ranks.team.rank)
        speak_again();
    return first == ranks.team.rank || (first == ranks.team.size && ranks.team.rank == 0);
}

void cli_ranks_stop(int exit_code)
{
    if (!cli_ranks_many())
        return;
    (void)fflush(stdout);
    (void)fflush(stderr);
    if (ranks.others_wait)
        (void)MPI_Abort(MPI_COMM_WORLD, exit_code);
    (void)MPI_Finalize();
}

double cli_ranks_waited(void)
{
    return ranks.waited;
}

void cli_ranks_tell(const cli_run *run)
{
    if (!cli_ranks_many() || !run->verbose)
        return;
    struct rusage used;
    (void)getrusage(RUSAGE_SELF, &used);
    cli_note((cli_run *)(uintptr_t)run,
             "%zu ranks, %.2f s, of which %.2f s in %zu exchanges with other ranks; %.0f MB in rank 0",
             ranks.team.size, mel_clock() - ranks.since, ranks.waited, ranks.gathers,
             (double)used.ru_maxrss / 1024.0);
}
