/* What the readers share behind mel_table_read. */
#ifndef MEL_DATA_TABLE_READER_H
#define MEL_DATA_TABLE_READER_H

#include "data/source.h"
#include "data/table.h"

/* The caller's options with defaults for what it does not know; MEL_EINVAL when they make no sense. */
mel_status mel_read_options_take(mel_read_options *out, const mel_read_options *opt, mel_error *err);

/* Does a zip archive start so? NPZ and Excel files are such archives. */
bool mel_magic_is_zip(const char *bytes, size_t n);

/* For formats whose columns are numbers: MEL_EDATA for the type of a column that is not there, as in CSV,
 * MEL_EINVAL for that of any other. */
mel_status mel_refuse_overrides(const mel_table *table, const mel_read_options *opt, mel_error *err);

/* 0, below or above, as strcmp, with runs of digits compared as numbers: p-2 comes before p-10. */
int mel_key_order(const char *a, const char *b);
/* All files of a pattern as one table. */
mel_status mel_read_pattern(mel_table **out, const char *pattern, const mel_read_options *opt,
                            mel_error *err);
/* A hash of a row's name, the same in every process. */
uint64_t mel_row_name(const char *text, size_t n);
/* Compares the rows of a table, read from n_files files, with those of the files that were read before, and
 * puts them into their order where names say that it is another one; `shards` remembers the first names.
 * NULL: the table is on its own. */
mel_status mel_match_rows(mel_table **table, mel_shards *shards, size_t n_files, const char *path,
                          mel_error *err);
/* One file, named in sentences; who reads it is not told anything. */
mel_status mel_read_file(mel_table **out, const char *path, const mel_read_options *opt, mel_error *err);

/* Sentences do not name the file. */
mel_status mel_read_csv(mel_table **out, mel_source *source, const char *name, const mel_read_options *opt,
                        mel_error *err);
mel_status mel_read_npy(mel_table **out, const char *bytes, size_t n, const char *name,
                        const mel_read_options *opt, mel_error *err);
/* The array of which n bytes at the start are there (MEL_NPY_START, or all), before the others are unpacked:
 * whether it can be read from `size` bytes, and how many it needs. */
enum { MEL_NPY_START = (1 << 20) + 64 }; /* the longest header */
mel_status mel_npy_size(uint64_t *out, const char *start, size_t n, const mel_read_options *opt,
                        mel_error *err);
/* A number of `width` bytes in an array, as NumPy says its kind: 'f', 'i', 'u' or 'b'. swap: it is stored in
 * the other byte order. */
double mel_stored_number(const void *p, char kind, size_t width, bool swap);
uint64_t mel_stored_bits(const void *p, size_t width, bool swap);
static inline int64_t mel_stored_signed(uint64_t bits, size_t width)
{
    const unsigned unused = 64 - 8 * (unsigned)width;
    const uint64_t shifted = bits << unused;
    int64_t value;
    memcpy(&value, &shifted, sizeof value);
    return value >> unused;
}
mel_status mel_read_npz(mel_table **out, const char *bytes, size_t n, const char *name,
                        const mel_read_options *opt, mel_error *err);
mel_status mel_read_libsvm(mel_table **out, mel_source *source, const char *name, const mel_read_options *opt,
                           mel_error *err);

#endif
