/* setgroups and nftw are beyond POSIX 2008 without its extensions. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "support/server/store.h"

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };
static char folder[PATH_SIZE / 4], bin[PATH_SIZE / 2], url[PATH_SIZE];
static const char *sync_option;

/* initdb and postgres refuse to run as root. */
static void become_postgres(void)
{
    if (geteuid() != 0)
        return;
    const struct passwd *user = getpwnam("postgres");
    if (user == NULL || setgid(user->pw_gid) != 0 || setgroups(0, NULL) != 0 || setuid(user->pw_uid) != 0)
        _exit(126);
}

/* Runs a program of PostgreSQL, silent unless it fails. */
static int run_tool(const char *tool, const char *const *arguments)
{
    char path[PATH_SIZE], log[PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/%s", bin, tool);
    (void)snprintf(log, sizeof log, "%s/%s.out", folder, tool);
    const pid_t pid = fork();
    if (pid == 0) {
        become_postgres();
        const int out = open(log, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
        if (out < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0 || chdir("/") != 0)
            _exit(125);
        const char *argv[16] = { path };
        for (size_t i = 0; arguments[i] != NULL && i < 14; i++)
            argv[i + 1] = arguments[i];
        (void)execv(path, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool find_tools(void)
{
    glob_t found = { 0 };
    const bool there = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0;
    if (there) {
        const char *last = found.gl_pathv[found.gl_pathc - 1];
        (void)snprintf(bin, sizeof bin, "%.*s", (int)(strrchr(last, '/') - last), last);
    }
    globfree(&found);
    return there;
}

static bool make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/melicit-pg-XXXXXX",
                   tmp != NULL && strlen(tmp) < 64 ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL)
        return false;
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;
    return geteuid() != 0 || (user != NULL && chown(folder, user->pw_uid, user->pw_gid) == 0);
}

static int start_server(void)
{
    char data[PATH_SIZE], log[PATH_SIZE], options[PATH_SIZE];
    (void)snprintf(data, sizeof data, "%s/data", folder);
    (void)snprintf(log, sizeof log, "%s/log", folder);
    (void)snprintf(options, sizeof options,
                   "-c listen_addresses='' -c unix_socket_directories=%s -c fsync=%s", folder, sync_option);
    const char *const arguments[] = { "-D", data, "-l", log, "-w", "-t", "60", "-o", options, "start", NULL };
    return run_tool("pg_ctl", arguments);
}

static void stop_server(void)
{
    char data[PATH_SIZE];
    (void)snprintf(data, sizeof data, "%s/data", folder);
    const char *const arguments[] = { "-D", data, "-w", "-m", "immediate", "stop", NULL };
    (void)run_tool("pg_ctl", arguments);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    (void)remove(path);
    return 0;
}

const char *test_postgres_start(bool durable)
{
    if (!mel_store_has_postgres() || !find_tools()) {
        print_message("  PostgreSQL left out: %s\n", mel_store_has_postgres()
                                                         ? "no server under /usr/lib/postgresql"
                                                         : "built without libpq");
        return NULL;
    }
    sync_option = durable ? "on" : "off";
    char data[PATH_SIZE];
    if (!make_folder())
        fail_msg("%s: cannot be made for the user postgres", folder);
    (void)snprintf(data, sizeof data, "%s/data", folder);
    const char *const arguments[] = { "-D", data,   "-U",         "melicit", "-A", "trust",
                                      "-E", "UTF8", "--locale=C", "-N",      NULL };
    if (run_tool("initdb", arguments) != 0 || start_server() != 0) {
        test_postgres_stop();
        fail_msg("PostgreSQL's server in %s does not start", folder);
    }
    (void)snprintf(url, sizeof url, "postgres:///postgres?host=%s&user=melicit", folder);
    return url;
}

void test_postgres_halt(void)
{
    stop_server();
}

void test_postgres_resume(void)
{
    assert_int_equal(start_server(), 0);
}

void test_postgres_stop(void)
{
    if (folder[0] == '\0')
        return;
    stop_server();
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    folder[0] = '\0';
}

void test_postgres_sql(const char *database, const char *text)
{
    const char *const arguments[] = { "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", text, NULL };
    assert_int_equal(run_tool("psql", arguments), 0);
}

void test_postgres_empty(const char *database)
{
    test_postgres_sql(database, "DROP SCHEMA IF EXISTS melicit CASCADE");
}
