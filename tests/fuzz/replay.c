/* Runs a fuzz target on every file of a folder: the committed corpus as an ordinary test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 1;
    enum { CAP = 1 << 22 };
    uint8_t *bytes = malloc(CAP);
    const size_t n = bytes != NULL ? fread(bytes, 1, CAP, file) : 0;
    fclose(file);
    if (bytes == NULL)
        return 1;
    (void)LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    size_t n_files = 0;
    int failed = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        failed |= replay(argv[1], entry->d_name);
        n_files++;
    }
    closedir(folder);
    printf("%zu inputs replayed\n", n_files);
    return failed != 0 || n_files == 0; /* an empty corpus is a broken checkout */
}
