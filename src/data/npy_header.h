/* The header of an .npy file: a Python dictionary with descr, fortran_order and shape. */
#ifndef MEL_DATA_NPY_HEADER_H
#define MEL_DATA_NPY_HEADER_H

#include "melicit/data.h"

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

#endif
