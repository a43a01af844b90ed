/* Writes text files as a C file: each as a constant array of char, ended by NUL.
 *
 *     embed_text OUT.c NAME=FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_PER_LINE = 24 };

int main(int argc, char **argv)
{
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    for (int i = 2; out != NULL && i < argc; i++) {
        const char *path = strchr(argv[i], '=');
        FILE *in = path != NULL ? fopen(path + 1, "rb") : NULL;
        if (in == NULL) {
            fprintf(stderr, "embed_text: cannot read %s\n", argv[i]);
            return EXIT_FAILURE;
        }
        const int length = (int)(path - argv[i]);
        fprintf(out, "extern const char %.*s[];\nconst char %.*s[] = {", length, argv[i], length, argv[i]);
        int byte, n = 0;
        while ((byte = fgetc(in)) != EOF)
            fprintf(out, "%s%d,", n++ % BYTES_PER_LINE == 0 ? "\n    " : "", byte < 128 ? byte : byte - 256);
        fputs("0\n};\n", out);
        (void)fclose(in);
    }
    if (out == NULL || fclose(out) != 0) {
        fprintf(stderr, "embed_text: usage: embed_text OUT.c NAME=FILE...\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
