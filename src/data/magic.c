/* Foreign formats by their first bytes, and how to get a table out of them. */
#include "data/magic.h"

#include <ctype.h>
#include <string.h>

#define BYTES(text) (text), sizeof(text) - 1
#define HTML                                                                                                 \
    "a web page (HTML); download the table itself, in Python: pandas.read_html(FILE)[0].to_csv(NEW, "        \
    "index=False)"
#define JSON "JSON; in Python: pandas.read_json(FILE).to_csv(NEW, index=False)"
#define EXCEL "an Excel workbook; in Excel or LibreOffice use \"Save as\" and choose \"CSV UTF-8\""

static const struct {
    const char *bytes;
    size_t n;
    const char *what;
} known[] = {
    { BYTES("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"),
      "an old Excel file (.xls); in Excel or LibreOffice use \"Save as\" and choose \"CSV UTF-8\"" },
    { BYTES("PAR1"), "a Parquet file; in Python: pandas.read_parquet(FILE).to_csv(NEW, index=False)" },
    { BYTES("ARROW1"), "a Feather file; in Python: pandas.read_feather(FILE).to_csv(NEW, index=False)" },
    { BYTES("FEA1"), "a Feather file; in Python: pandas.read_feather(FILE).to_csv(NEW, index=False)" },
    { BYTES("\x89HDF\r\n\x1A\n"), "an HDF5 file; in Python: pandas.read_hdf(FILE).to_csv(NEW, index=False)" },
    { BYTES("SQLite format 3"), "an SQLite database; sqlite3 -header -csv FILE \"select * from TABLE\"" },
    { BYTES("MATLAB 5.0 MAT-file"), "a MATLAB file; in MATLAB: writetable(T, \"NEW.csv\")" },
    { BYTES("RDX2\n"), "an R data file; in R: write.csv(TABLE, \"NEW.csv\", row.names = FALSE)" },
    { BYTES("RDX3\n"), "an R data file; in R: write.csv(TABLE, \"NEW.csv\", row.names = FALSE)" },
    { BYTES("X\n\0\0\0"),
      "an R object (.rds); in R: write.csv(readRDS(FILE), \"NEW.csv\", row.names = FALSE)" },
    { BYTES("\x80\x02"), "a Python pickle; in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)" },
    { BYTES("\x80\x03"), "a Python pickle; in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)" },
    { BYTES("\x80\x04\x95"),
      "a Python pickle; in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)" },
    { BYTES("\x80\x05\x95"),
      "a Python pickle; in Python: pandas.read_pickle(FILE).to_csv(NEW, index=False)" },
    { BYTES("BZh"), "packed with bzip2; unpack it with bunzip2, or pack it with gzip" },
    { BYTES("\xFD"
            "7zXZ"),
      "packed with xz; unpack it with unxz, or pack it with gzip" },
    { BYTES("\x28\xB5\x2F\xFD"), "packed with zstd; unpack it with unzstd, or pack it with gzip" },
};

/* Text that no table starts with. */
static const struct {
    const char *start; /* in small letters, behind blanks */
    const char *what;
} texts[] = {
    { "<!doctype html", HTML }, { "<html", HTML }, { "{\"", JSON }, { "[{", JSON }, { "[[", JSON },
};

/* The first member of these archives says what they are. */
static const struct {
    const char *start; /* of its name, or of its name and content */
    const char *what;
} archives[] = {
    { "[Content_Types].xml", EXCEL },
    { "_rels/", EXCEL },
    { "docProps/", EXCEL },
    { "xl/", EXCEL },
    { "mimetypeapplication/vnd.oasis.opendocument.",
      "an OpenDocument file (.ods); in LibreOffice use \"Save as\" and choose \"Text CSV\"" },
};

bool mel_magic_is_zip(const char *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}

static const char *name_archive(const char *bytes, size_t n)
{
    enum { NAME = 30 }; /* where the name of the first member stands */
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        const size_t length = strlen(archives[i].start);
        if (n >= NAME + length && memcmp(bytes + NAME, archives[i].start, length) == 0)
            return archives[i].what;
    }
    return "a zip archive; unpack it and give the table that is in it";
}

/* Does the text start so, blanks and line ends at its start and within aside? */
static bool starts_with(const char *bytes, size_t n, const char *start)
{
    for (size_t i = 0; *start != '\0'; i++) {
        if (i == n)
            return false;
        if (tolower((unsigned char)bytes[i]) == *start)
            start++;
        else if (!isspace((unsigned char)bytes[i]))
            return false;
    }
    return true;
}

mel_status mel_magic_refuse(const char *bytes, size_t n, mel_error *err)
{
    if (mel_magic_is_zip(bytes, n))
        return mel_fail(err, MEL_EDATA, "the file is %s", name_archive(bytes, n));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= known[i].n && memcmp(bytes, known[i].bytes, known[i].n) == 0)
            return mel_fail(err, MEL_EDATA, "the file is %s", known[i].what);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (starts_with(bytes, n, texts[i].start))
            return mel_fail(err, MEL_EDATA, "the file is %s", texts[i].what);
    return MEL_OK;
}
