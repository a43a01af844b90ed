/* Writes the built front end as a C file, the table mel_assets of server/assets.h: each file packed with gzip
 * where that makes it smaller.
 *
 *     embed_assets DIST OUT.c PATH...
 *
 * PATH is relative to the folder DIST, as in "assets/main-4F.js". */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BYTES_PER_LINE = 24, GZIP_WINDOW = 15 + 16, MOST_MEMORY = 9 };

typedef struct {
    unsigned char *bytes;
    size_t n;
} content;

_Noreturn static void die(const char *what, const char *path)
{
    fprintf(stderr, "embed_assets: %s %s\n", what, path);
    exit(1);
}

static content read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        die("cannot open", path);
    const long size = ftell(file);
    if (size <= 0 || size > INT_MAX)
        die("empty or too large:", path);
    rewind(file);
    content got = { malloc((size_t)size), (size_t)size };
    if (got.bytes == NULL || fread(got.bytes, 1, got.n, file) != got.n || fclose(file) != 0)
        die("cannot read", path);
    return got;
}

/* The plain content when gzip does not make it smaller; takes it over otherwise. */
static content pack(content plain, bool *gzipped)
{
    z_stream stream = { .next_in = plain.bytes, .avail_in = (uInt)plain.n };
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MOST_MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        die("cannot compress", "anything");
    content packed = { malloc(plain.n), 0 };
    if (packed.bytes == NULL)
        die("not enough memory to", "compress");
    stream.next_out = packed.bytes;
    stream.avail_out = (uInt)plain.n;
    *gzipped = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    packed.n = stream.total_out;
    (void)deflateEnd(&stream);
    free(*gzipped ? plain.bytes : packed.bytes);
    return *gzipped ? packed : plain;
}

static const char *type_of(const char *path)
{
    static const struct {
        const char *ending, *type;
    } types[] = { { ".html", "text/html; charset=utf-8" },
                  { ".js", "text/javascript; charset=utf-8" },
                  { ".css", "text/css; charset=utf-8" },
                  { ".svg", "image/svg+xml" },
                  { ".json", "application/json" } };
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].ending, ending) == 0)
            return types[i].type;
    die("no media type is known for", path);
}

/* The bytes as an array; returns whether they are packed. */
static bool write_array(FILE *out, const char *folder, const char *path, int number)
{
    char full[PATH_MAX];
    if (snprintf(full, sizeof full, "%s/%s", folder, path) >= (int)sizeof full)
        die("too long a path:", path);
    bool gzipped;
    const content data = pack(read_file(full), &gzipped);
    fprintf(out, "static const unsigned char file_%d[] = {", number);
    for (size_t i = 0; i < data.n; i++)
        fprintf(out, "%s%u,", i % BYTES_PER_LINE == 0 ? "\n    " : "", data.bytes[i]);
    fputs("\n};\n\n", out);
    free(data.bytes);
    return gzipped;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        die("usage: embed_assets", "DIST OUT.c PATH...");
    const char *const folder = argv[1], *const target = argv[2];
    const int n = argc - 3;
    const char *const *path = (const char *const *)argv + 3;
    FILE *out = fopen(target, "w");
    bool *gzipped = malloc((size_t)n * sizeof *gzipped);
    if (out == NULL || gzipped == NULL)
        die("cannot write", target);
    fputs("/* Made by tools/embed_assets.c from web/dist. */\n#include \"server/assets.h\"\n\n", out);
    for (int i = 0; i < n; i++)
        gzipped[i] = write_array(out, folder, path[i], i);
    fputs("const mel_asset mel_assets[] = {\n", out);
    for (int i = 0; i < n; i++)
        fprintf(out, "    { \"/%s\", \"%s\", file_%d, sizeof file_%d, %s, %s },\n", path[i], type_of(path[i]),
                i, i, gzipped[i] ? "true" : "false",
                strncmp(path[i], "assets/", strlen("assets/")) == 0 ? "true" : "false");
    fputs("};\nconst size_t mel_n_assets = sizeof mel_assets / sizeof *mel_assets;\n", out);
    free(gzipped);
    if (ferror(out) || fclose(out) != 0)
        die("cannot write", target);
    return 0;
}
