/* melicit --version: what was built, with what. No verb, so it is in no list. */
#include "command.h"
#include "output.h"

#include <cblas.h>
#include <nlopt.h>
#include <sodium.h>
#include <stdlib.h>
#include <zip.h>
#include <zlib.h>

static void line(cli_run *run, json_t *object, const char *key, const char *value)
{
    cli_put(object, key, cli_json_text(value));
    if (!run->json)
        cli_print("  %-10s %s\n", key, value);
}

static mel_status run_version(cli_run *run, const void *arguments, mel_error *err)
{
    (void)arguments;
    (void)err;
    int major, minor, bugfix;
    nlopt_version(&major, &minor, &bugfix);
    char *nlopt = cli_format("%d.%d.%d", major, minor, bugfix);
    json_t *libraries = json_object();
    cli_put(run->result, "version", cli_json_text(mel_version()));
    if (!run->json)
        cli_print("melicit %s\n", mel_version());
#if defined(__clang__)
    line(run, run->result, "compiler", "clang " __clang_version__);
#else
    line(run, run->result, "compiler", "gcc " __VERSION__);
#endif
    cli_put(run->result, "libraries", libraries);
    line(run, libraries, "openblas", openblas_get_config());
    line(run, libraries, "nlopt", nlopt);
    line(run, libraries, "zlib", zlibVersion());
    line(run, libraries, "libzip", zip_libzip_version());
    line(run, libraries, "jansson", jansson_version_str());
    line(run, libraries, "sodium", sodium_version_string());
    free(nlopt);
    return MEL_OK;
}

static const cli_example examples[] = {
    { "for a bug report", "melicit --version" },
    { "for a program", "melicit --version --json" },
    { 0 },
};

const cli_command cli_version = {
    .name = "--version",
    .summary = "the version, the compiler and the libraries in use",
    .description = "Prints the version of melicit, the compiler it was built with, and the versions of the "
                   "libraries it runs on.",
    .examples = examples,
    .run = run_version,
    .ranks = true,
};
