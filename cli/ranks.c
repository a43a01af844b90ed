/* One of several ranks: joining, exchanging bytes, and ending together whatever happens to one of them. Open
 * MPI is loaded when the program was started by mpirun or srun, and only then. */
#include "ranks.h"

#include "base/team.h"
#include "output.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#ifdef MEL_HAS_MPI
#include <mpi.h>
#endif

static size_t tasks_of_srun(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return tasks != NULL ? (size_t)strtoul(tasks, NULL, 10) : 1;
}

/* How many processes the environment speaks of. */
static size_t started_as(void)
{
    static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *said = getenv(sizes[i]);
        if (said != NULL)
            return (size_t)strtoul(said, NULL, 10);
    }
    return getenv("PMIX_RANK") != NULL ? tasks_of_srun() : 1;
}

/* Tasks of srun that do not know of each other would each do the same, and write the same files. */
static void warn_of_tasks(void)
{
    const char *task = getenv("SLURM_PROCID");
    if (started_as() < 2 && tasks_of_srun() > 1 && task != NULL && strtoul(task, NULL, 10) == 0)
        (void)fprintf(
            stderr,
            "melicit: warning: one of %zu tasks of srun, each of which works alone; srun --mpi=pmix "
            "makes them ranks of one run\n",
            tasks_of_srun());
}

#ifndef MEL_HAS_MPI
mel_status cli_ranks_start(mel_error *err)
{
    warn_of_tasks();
    return started_as() < 2 ? MEL_OK
                            : cli_fail(err, MEL_EINVAL,
                                       "started as one of %zu ranks, but built without Open MPI: install "
                                       "libopenmpi-dev and build again, or start one process",
                                       started_as());
}

bool cli_ranks_many(void)
{
    return false;
}

bool cli_ranks_done(void)
{
    return false;
}

bool cli_ranks_end(mel_status status)
{
    (void)status;
    return true;
}

void cli_ranks_stop(int exit_code)
{
    (void)exit_code;
}

double cli_ranks_waited(void)
{
    return 0.0;
}

void cli_ranks_tell(const cli_run *run)
{
    (void)run;
}
#else

/* What of the library is used. */
static struct {
    int (*init)(int *argc, char ***argv, int wanted, int *provided);
    int (*rank)(MPI_Comm comm, int *rank);
    int (*size)(MPI_Comm comm, int *size);
    int (*allgather)(const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype to_type,
                     MPI_Comm comm, MPI_Request *request);
    int (*allgatherv)(const void *from, int n, MPI_Datatype type, void *to, const int *counts,
                      const int *starts, MPI_Datatype to_type, MPI_Comm comm, MPI_Request *request);
    int (*test)(MPI_Request *request, int *done, MPI_Status *status);
    int (*bcast)(void *bytes, int n, MPI_Datatype type, int root, MPI_Comm comm);
    int (*abort)(MPI_Comm comm, int code);
    int (*finalize)(void);
    MPI_Comm world;
    MPI_Datatype byte;
} mpi;

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

static bool find(void *library, const char *name, void *to)
{
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static mel_status load(mel_error *err)
{
    void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        return cli_fail(err, MEL_EINVAL,
                        "started as one of %zu ranks, but Open MPI cannot be loaded (%s): install "
                        "openmpi-bin, or start one process",
                        started_as(), dlerror());
    const bool whole =
        find(library, "MPI_Init_thread", &mpi.init) && find(library, "MPI_Comm_rank", &mpi.rank) &&
        find(library, "MPI_Comm_size", &mpi.size) && find(library, "MPI_Iallgather", &mpi.allgather) &&
        find(library, "MPI_Iallgatherv", &mpi.allgatherv) && find(library, "MPI_Test", &mpi.test) &&
        find(library, "MPI_Bcast", &mpi.bcast) && find(library, "MPI_Abort", &mpi.abort) &&
        find(library, "MPI_Finalize", &mpi.finalize) && find(library, "ompi_mpi_comm_world", &mpi.world) &&
        find(library, "ompi_mpi_byte", &mpi.byte);
    return whole ? MEL_OK
                 : cli_fail(err, MEL_EINVAL, "libmpi.so.40 is not the Open MPI that this was built for");
}

/* --- exchange ------------------------------------------------------------------------------------ */

/* Until the others are there, too; after a moment the core is left to whom it is of use. */
static void await(MPI_Request *request)
{
    static const double moment = 2e-4;
    const struct timespec nap = { .tv_nsec = 100000 };
    const double begun = mel_clock();
    int done = 0;
    for (;;) {
        (void)mpi.test(request, &done, MPI_STATUS_IGNORE);
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
    (void)mpi.allgather(&own, sizeof own, mpi.byte, ranks.of, sizeof own, mpi.byte, mpi.world, &request);
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
            (void)fprintf(stderr,
                          "melicit: ranks %zu and %zu went different ways: do they see the same files and "
                          "options?\n",
                          ranks.team.rank, r);
            (void)mpi.abort(mpi.world, mel_status_exit_code(MEL_ESTATE));
        }
}

static void exchange_small(void *all, const size_t *start)
{
    for (size_t r = 0; r < ranks.team.size; r++) {
        ranks.begin[r] = (int)start[r];
        ranks.counts[r] = (int)(start[r + 1] - start[r]);
    }
    MPI_Request request;
    (void)mpi.allgatherv(MPI_IN_PLACE, 0, mpi.byte, all, ranks.counts, ranks.begin, mpi.byte, mpi.world,
                         &request);
    await(&request);
}

/* Piece by piece. */
static void exchange_large(void *all, const size_t *start)
{
    for (size_t r = 0; r < ranks.team.size; r++)
        for (size_t at = start[r]; at < start[r + 1]; at += PIECE) {
            const size_t left = start[r + 1] - at;
            (void)mpi.bcast((char *)all + at, (int)(left < PIECE ? left : PIECE), mpi.byte, (int)r,
                            mpi.world);
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

mel_status cli_ranks_start(mel_error *err)
{
    warn_of_tasks();
    if (started_as() < 2)
        return MEL_OK;
    const mel_status status = load(err);
    if (status != MEL_OK)
        return status;
    (void)setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0); /* there may be more ranks than cores */
    (void)setenv("NO_COLOR", "1", 0); /* what looks like a terminal is mpirun's, wherever it writes to */
    int provided = 0, rank = 0, size = 1;
    (void)mpi.init(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    (void)mpi.rank(mpi.world, &rank);
    (void)mpi.size(mpi.world, &size);
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
        (void)mpi.abort(mpi.world, exit_code);
    (void)mpi.finalize();
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
#endif
