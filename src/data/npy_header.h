/* The header of an .npy file: a Python dictionary with descr, fortran_order and shape. */
#ifndef MEL_DATA_NPY_HEADER_H
#define MEL_DATA_NPY_HEADER_H

#include "melicit/data.h"

#include "base/internal.h"
#include "data/source.h"

typedef struct {
    char kind;      /* 'f', 'i', 'u', 'b', 'U' (texts of 4 bytes a character) or 'S' (of bytes) */
    size_t width;   /* bytes of an item */
    bool swap;      /* stored in the other byte order */
    bool fortran;   /* column after column */
    int dimensions; /* 1, 2, or 3: a matrix in each row */
    size_t rows, columns;
    size_t matrix; /* columns are those of a square matrix of that size, row by row; 0: they are not */
    size_t offset; /* of the first item in the file */
} mel_npy_header;

/* matrices: three dimensions will do, too. */
mel_status mel_npy_header_parse(mel_npy_header *out, const char *bytes, size_t n, bool matrices,
                                mel_error *err);
enum { MEL_NPY_HEADER_BYTES = 4096 }; /* of files that are read row by row; NumPy writes 128 */
/* Whether a file is one of numbers, row after row, as many as its header promises, and not packed. */
bool mel_npy_plain(mel_npy_header *h, mel_source *source, const mel_read_options *opt);
/* Whether an array in a file of n bytes is one that can be read. */
mel_status mel_npy_check_shape(const mel_npy_header *h, size_t n, const mel_read_options *opt,
                               mel_error *err);
/* Some rows of an array of numbers in C order: h->rows of them, from row `first` of the file on. */
mel_status mel_npy_block(mel_table **out, const mel_npy_header *h, const char *items, const char *name,
                         size_t first, const mel_read_options *opt, mel_error *err);

#endif
