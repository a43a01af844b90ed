/* What the benchmark programs share: raw arrays in, wall-clock time, the memory peak since a reset. */
#ifndef MEL_BENCH_MEASURE_H
#define MEL_BENCH_MEASURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static inline void *load(const char *folder, const char *name, size_t bytes)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    void *data = malloc(bytes > 0 ? bytes : 1);
    if (file == NULL || data == NULL || fread(data, 1, bytes, file) != bytes)
        die(path);
    (void)fclose(file);
    return data;
}

/* A line of /proc/self/status in kilobytes. */
static inline long status_kb(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kb = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kb = strtol(line + strlen(key) + 1, NULL, 10);
    if (file != NULL)
        (void)fclose(file);
    return kb;
}

/* Makes VmHWM start again from the present resident set. */
static inline void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL || fputs("5", file) < 0 || fclose(file) != 0)
        die("cannot reset the memory peak");
}

static inline double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
