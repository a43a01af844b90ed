/* Files as other programs write them: what is found out about them, what the cells become, what is said. */
#include "support/tables.h"
#include "support/test.h"

#include "base/buffer.h"
#include "data/shared.h"
#include "model/shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define BYTES(text) text, sizeof(text) - 1

typedef struct {
    const char *name, *bytes;
    size_t size;
    const char *want;    /* as test_describe writes it, or what the refusal says when it starts with "!" */
    const char *how;     /* part of mel_table_how */
    const char *warning; /* part of the only warning; NULL: there is none */
} foreign;

static const foreign files[] = {
    /* Separators */
    { "semicolons", BYTES("a;b\n1;x\n2;y\n"), "a:n=1,2 b:t=x,y",
      "UTF-8, separator ';', header in row 1, 2 rows", NULL },
    { "tabs", BYTES("a\tb\n1\tx y\n2\t\n"), "a:n=1,2 b:t=x y,_", "separator tab", NULL },
    { "bars", BYTES("a|b\n1|x\n"), "a:n=1 b:t=x", "separator '|'", NULL },
    { "blanks", BYTES("a  b\tc\n  1 2.5 x\n3    4 \"y z\" \r\n"), "a:n=1,3 b:n=2.5,4 c:t=x,y z",
      "separator blanks", NULL },
    { "words are one column of text", BYTES("first last\nA B\nC D\n"), "first last:t=A B,C D",
      "UTF-8, header", NULL },
    { "commas in texts between semicolons", BYTES("a;b\nx, y;1\nz;2\n"), "a:t=x, y,z b:n=1,2",
      "separator ';'", NULL },
    { "semicolons in texts between commas", BYTES("a,b\nx;y,1\nz,2\n"), "a:t=x;y,z b:n=1,2", "separator ','",
      NULL },
    { "semicolons and commas in every row", BYTES("a;b, c\nx;y, z\n"), "a:t=x b, c:t=y, z", "separator ';'",
      "the cells could be separated by ';' or by ','" },
    { "decimal commas between semicolons, no header", BYTES("1,5;2,5\n3,5;4,25\n"),
      "c1:n=1.5,3.5 c2:n=2.5,4.25", "separator ';', decimal comma, no header", NULL },
    { "one column of decimal commas", BYTES("x\n1,5\n2,25\n"), "x:n=1.5,2.25", "decimal comma",
      "the commas are taken as decimal commas of the only column" },
    { "blanks and a tab, as auto-mpg.data", BYTES("10.4   5  75.0\t\"ford a\"\n18.0  4   ?\t\"fiat b\"\n"),
      "c1:n=10.4,18 c2:n=5,4 c3:n=75,_ c4:t=ford a,fiat b", "separator blanks, quoted cells, no header",
      NULL },
    { "words and numbers in one column", BYTES("size\n10 x 20\n30 x 40\n"), "size:t=10 x 20,30 x 40",
      "1 column", NULL },
    { "words and numbers in one column, no header", BYTES("Type 1\nType 2\nnone\nType 1\n"),
      "Type 1:t=Type 2,none,Type 1", "1 column",
      "row 1 is taken as the header, though its texts are in the rows below" },
    { "words between tabs", BYTES("first name\tage\nJohn Smith\t5\nEva Moe\t6\n"),
      "first name:t=John Smith,Eva Moe age:n=5,6", "separator tab", NULL },
    { "amounts between tabs, no header", BYTES("12 months\t5\n3 months\t6\n"),
      "c1:t=12 months,3 months c2:n=5,6", "separator tab", NULL },
    { "decimal commas between blanks, no header", BYTES("1,5 2,5\n3,5 4,25\n"), "c1:n=1.5,3.5 c2:n=2.5,4.25",
      "separator blanks, decimal comma", NULL },
    { "sep=;", BYTES("sep=;\r\na;b\r\n1;x,y\r\n2;z\r\n"), "a:n=1,2 b:t=x,y,z",
      "separator ';', header in row 2, 2 rows", NULL },
    { "sep=, where semicolons would fit", BYTES("sep=,\na;b,c;d\n1;2,3;4\n"), "a;b:t=1;2 c;d:t=3;4",
      "separator ','", NULL },
    { "sep=| in quotes, behind a mark", BYTES("\xEF\xBB\xBF\"sep=|\"\n1|x\n2|y\n"), "c1:n=1,2 c2:t=x,y",
      "separator '|', no header, 2 rows", NULL },
    { "sep= and a blank", BYTES("sep= \na b\nx  y\n"), "a:t=x b:t=y", "separator blanks", NULL },
    { "rows behind sep=; count it", BYTES("sep=;\na;b\n1;2\n3\n"), "!row 4: 1 cell; expected 2", NULL, NULL },
    { "sep=; alone", BYTES("sep=;\n"), "!the file is empty", NULL, NULL },
    /* Line ends */
    { "carriage returns", BYTES("a,b\r1,x\r2,\"y\rz\nw\"\r"), "a:n=1,2 b:t=x,y\rz\nw",
      "UTF-8, lines end with CR, separator ','", NULL },
    { "carriage returns, none at the end", BYTES("a b\r1 2.5\r\"3\" 4"), "a:n=1,3 b:n=2.5,4",
      "lines end with CR, separator blanks", NULL },
    { "carriage returns in Windows-1252", BYTES("a\r\xFC\r"), "a:t=\xC3\xBC",
      "Windows-1252, lines end with CR", NULL },
    { "one line with CRLF", BYTES("1,2\r\n"), "c1:n=1 c2:n=2", "UTF-8, separator", NULL },
    /* Separators that end rows */
    { "a separator at the end of every row", BYTES("a,b,\n1,x,\n2,y,\n"), "a:n=1,2 b:t=x,y",
      "2 rows, 2 columns", "a separator ends every row: the empty column behind it is left out" },
    { "a separator at the end of every row but the header", BYTES("a;b\n1,5;x;\n2,5;\"y\";\n"),
      "a:n=1.5,2.5 b:t=x,y", "separator ';', quoted cells, decimal comma", "a separator ends every row" },
    { "a separator behind the only column", BYTES("a\n1,\n2,\n"), "a:n=1,2", "separator ',', header in row 1",
      "a separator ends every row" },
    { "a last column with a name and no cells", BYTES("a,b\n1,\n2,\n"), "a:n=1,2 b:n=_,_", "2 columns",
      NULL },
    { "a last column without header and cells", BYTES("1,2,\n3,4,\n"), "c1:n=1,3 c2:n=2,4 c3:n=_,_",
      "3 columns", NULL },
    { "no name over a last column with a cell", BYTES("a,b,\n1,2,\n3,4,5\n"),
      "!row 1, column 3: the column has no name", NULL, NULL },
    /* Numbers */
    { "decimal commas", BYTES("a;b\n0,75;x\n-1.234,5;y\n12;z\n"), "a:n=0.75,-1234.5,12 b:t=x,y,z",
      "decimal comma", NULL },
    { "decimal commas in quotes", BYTES("a,b\n\"1,5\",1\n\"2,0\",2\n"), "a:n=1.5,2 b:n=1,2", "decimal comma",
      "column a: the comma of \"1,5\" in row 2 is taken as a decimal comma" },
    { "stray thousands by points", BYTES("a,b\n1.234.567,1.100\n1001,1.101\n1002,1.102\n"),
      "a:t=1.234.567,1001,1002 b:n=1.1000000000000001,1.101,1.1020000000000001", "separator ',', header",
      "column a: 1 of 3 cells is not a number, first \"1.234.567\" in row 2; treated as categories" },
    { "a stray decimal comma", BYTES("a,b\n7,1.100\n8,1.101\n\"1,5\",1.102\n"),
      "a:t=7,8,1,5 b:n=1.1000000000000001,1.101,1.1020000000000001", "separator ',', quoted cells, header",
      "column a: 1 of 3 cells is not a number, first \"1,5\" in row 4; treated as categories" },
    { "thousands by points between commas", BYTES("a,b\n1.234.567,1\n2.345.678,2\n"),
      "a:n=1234567,2345678 b:n=1,2", "decimal comma",
      "column a: the points of \"1.234.567\" in row 2 are taken to set thousands apart" },
    { "a stray decimal point next to commas",
      BYTES("a;b\n1;1,101\n2;1,102\n3;1,103\n4;1,104\n5;1,105\n6;1,106\n7;1,107\n8;1,108\n9;1,109\n1.5;1,"
            "110\n"),
      "!too little tells whether the comma of \"1,101\" marks decimals or thousands", NULL, NULL },
    { "a list in quotes next to decimal points", BYTES("a,b\n\"1,3\",0.5\n\"2,4\",1.5\n"),
      "a:t=1,3,2,4 b:n=0.5,1.5", "quoted cells, header",
      "column a: 2 of 2 cells are not numbers, first \"1,3\" in row 2; treated as categories" },
    { "thousands by commas", BYTES("a,b\n\"1,234.5\",1\n\"12,345\",2\n7,3\n"), "a:n=1234.5,12345,7 b:n=1,2,3",
      "quoted cells", NULL },
    { "thousands by blanks",
      BYTES("a;b\n1 234,5;1\n12\xC2\xA0"
            "345;2\n"),
      "a:n=1234.5,12345 b:n=1,2", "decimal comma", NULL },
    { "thousands by points", BYTES("a;b\n1.234.567;0,5\n1.234;1\n"), "a:n=1234567,1234 b:n=0.5,1",
      "decimal comma", NULL },
    { "a point that may mean thousands", BYTES("a;b\n331.885;x\n"), "a:n=331.88499999999999 b:t=x",
      "separator ';', header", "column a: the point of \"331.885\" in row 2 is taken as a decimal point" },
    { "a comma that may mean thousands", BYTES("a;b\n1,234;x\n"), "!marks decimals or thousands", NULL,
      NULL },
    { "another cell tells that it means decimals", BYTES("a;b\n1,234;0,5\n"), "a:n=1.234 b:n=0.5",
      "decimal comma", NULL },
    { "another cell tells that it means thousands", BYTES("a;b\n1,234;0.5\n"), "a:n=1234 b:n=0.5",
      "separator ';', header", NULL },
    { "groups of other than three digits", BYTES("a,b\n\"1,23,456\",1\n\"1,2345\",2.5\n"),
      "a:t=1,23,456,1,2345 b:n=1,2.5", "header", "column a: 2 of 2 cells are not numbers" },
    { "percent", BYTES("a,b\n45%,1\n12.3 %,2\nNA,3\n-7%,4\n"),
      "a:n=0.45000000000000001,0.123,_,-0.070000000000000007 b:n=1,2,3,4", "header", NULL },
    { "percent in some cells", BYTES("a,b\n45%,1\n50%,2\n0.3,3\n"),
      "a:n=0.45000000000000001,0.5,0.29999999999999999 b:n=1,2,3", "header",
      "column a: 2 of 3 cells have a percent sign, first \"45%\" in row 2; they are read as hundredths, the "
      "others as they stand" },
    { "one percent sign", BYTES("a,b\n1,1\n5%,2\n0.3,3\n"),
      "a:n=1,0.050000000000000003,0.29999999999999999 b:n=1,2,3", "header",
      "column a: 1 of 3 cells has a percent sign, first \"5%\" in row 3; it is read as hundredths" },
    { "odd cells", BYTES("income,b\n10,1\nabc,2\n30,3\n40,4\ndef,5\n"),
      "income:t=10,abc,30,40,def b:n=1,2,3,4,5", "header",
      "column income: 2 of 5 cells are not numbers, first \"abc\" in row 3; treated as categories" },
    { "mostly texts", BYTES("a,b\nx,1\ny,2\n3,3\nz,4\n"), "a:t=x,y,3,z b:n=1,2,3,4", "header", NULL },
    { "infinite in a styled column", BYTES("a;b\n0,5;1\ninf;2\n"),
      "!row 3, column \"a\": \"inf\" is not a finite number", NULL, NULL },
    /* Missing words */
    { "missing among numbers",
      BYTES("a,b\n1,NULL\n2,None\n3,n/a\n4,#N/A\n5,-\n6,.\n7,null\n8,nan\n9,<NA>\n0,NaT\n1,#DIV/"
            "0!\n2,none\n3,7\n"),
      "a:n=1,2,3,4,5,6,7,8,9,0,1,2,3 b:n=_,_,_,_,_,_,_,_,_,_,_,_,7", "header", NULL },
    { "missing among texts",
      BYTES("a,b\n1,NULL\n2,None\n3,n/a\n4,#N/A\n5,-\n6,.\n7,null\n8,nan\n9,na\n0,x\n"),
      "a:n=1,2,3,4,5,6,7,8,9,0 b:t=_,None,_,_,-,.,_,_,na,x", "header", NULL },
    { "quoted words are texts", BYTES("a,b\n1,\"NULL\"\n2,x\n"), "a:n=1,2 b:t=NULL,x", "header", NULL },
    { "quoted words among numbers",
      BYTES("\"a\",\"b\"\n\"1\",\"NA\"\n\"nan\",\"?\"\n\"3\",\"7.5\"\n\" NULL \",\"-\"\n"),
      "a:n=1,_,3,_ b:n=_,_,7.5,_", "quoted cells, header", NULL },
    { "quoted words alone are texts", BYTES("a,b\n\"NA\",1\n,2\n\"nan\",3\n"), "a:t=NA,_,nan b:n=1,2,3",
      "header", NULL },
    { "quoted words in the first row", BYTES("\"NA\",\"x\"\n\"1.5\",\"y\"\n\"2\",\"x\"\n"),
      "c1:n=_,1.5,2 c2:t=x,y,x", "no header", NULL },
    { "a quoted word over numbers without quotes", BYTES("\"-\",\"NaN\"\n1.5,2.5\n2,3\n"),
      "-:n=1.5,2 NaN:n=2.5,3", "header in row 1", NULL },
    /* Headers */
    { "numbers over numbers are data", BYTES("5,1,x\n6,2,y\n"), "c1:n=5,6 c2:n=1,2 c3:t=x,y", "no header",
      NULL },
    { "one number over numbers is enough", BYTES("x,1.5\ny,2.5\n"), "c1:t=x,y c2:n=1.5,2.5", "no header",
      NULL },
    { "a missing cell over numbers is data", BYTES("NA,x\n1,y\n"), "c1:n=_,1 c2:t=x,y", "no header", NULL },
    { "an odd cell below numbers, no header", BYTES("5,x\nold,y\n7,x\n"), "c1:t=5,old,7 c2:t=x,y,x",
      "no header", "column c1: 1 of 3 cells is not a number, first \"old\" in row 2" },
    { "one row of numbers", BYTES("1,2\n"), "c1:n=1 c2:n=2", "no header, 1 row, 2 columns", NULL },
    { "texts over texts are a header", BYTES("a,b\nx,y\nz,w\n"), "a:t=x,z b:t=y,w", "header in row 1", NULL },
    { "texts that come again", BYTES("yes\nno\nyes\n"), "yes:t=no,yes", "header in row 1",
      "row 1 is taken as the header, though its texts are in the rows below" },
    { "default names of pandas", BYTES("0,1\n0.25,0.75\n"), "0:n=0.25 1:n=0.75", "header in row 1",
      "row 1 counts from 0 to 1 and is taken as the header" },
    { "one default name of pandas", BYTES("0\n0.25\n0.75\n"), "0:n=0.25,0.75", "header in row 1",
      "row 1 holds \"0\" and is taken as the header (header=no makes it data)" },
    { "years", BYTES("who,2019,2020\nx,1,2\n"), "who:t=x 2019:n=1 2020:n=2", "header in row 1",
      "row 1 counts from 2019 to 2020 and is taken as the header" },
    { "labels 0 and 1", BYTES("0\n1\n0\n"), "c1:n=0,1,0", "no header",
      "row 1 holds \"0\" and is taken as data (header=yes makes it the header)" },
    { "labels 1 and 2 under a default name of pandas", BYTES("0\n1\n2\n1\n"), "0:n=1,2,1", "header in row 1",
      "row 1 holds \"0\" and is taken as the header (header=no makes it data)" },
    { "pairs of 0 and 1", BYTES("0,1\n1,0\n"), "c1:n=0,1 c2:n=1,0", "no header",
      "row 1 holds \"0\" and \"1\" and is taken as data" },
    { "names twice", BYTES("a,b,a\n1,2,3\n"), "!rename one of the two, or give header=no if the row is data",
      NULL, NULL },
    /* Rows with names */
    { "index of pandas", BYTES(",a,b\n0,1.5,x\n1,2.5,y\n"), "a:n=1.5,2.5 b:t=x,y", "column 1 names the rows",
      "the first column has no name and no value twice: it is taken to name the rows and skipped" },
    { "index of pandas, read and written again", BYTES("Unnamed: 0,a\n3,1\n7,2\n"), "a:n=1,2",
      "column 1 names the rows", "the first column has no name" },
    { "texts that pandas had no name for", BYTES("Unnamed: 0,a\nu,1\nv,2\n"), "a:n=1,2",
      "column 1 names the rows", "taken to name the rows" },
    { "fractions that pandas had no name for", BYTES("Unnamed: 0,a\n0.5,1\n1.5,2\n"),
      "Unnamed: 0:n=0.5,1.5 a:n=1,2", "header in row 1, 2 rows, 2 columns",
      "column Unnamed: 0 holds numbers" },
    { "fractions without a name", BYTES(",a,b\n0.5,1,x\n1.5,2,y\n"),
      "!row 1, column 1: the column has no name, and its cells are not whole numbers or names, each once",
      NULL, NULL },
    { "the index of rows in another order", BYTES(",a,b\n5,1,x\n3,2,y\n"), "a:n=1,2 b:t=x,y",
      "column 1 names the rows", "the first column has no name" },
    { "series of pandas", BYTES(",0\n0,0\n1,1\n2,0\n"), "0:n=0,1,0",
      "header in row 1, column 1 names the rows",
      "the first column has no name and no value twice: it is taken to name the rows and skipped" },
    { "a missing first cell is no index", BYTES(",5.1\n4.9,3.0\n4.7,3.2\n"),
      "c1:n=_,4.9000000000000004,4.7000000000000002 c2:n=5.0999999999999996,3,3.2000000000000002",
      "no header", NULL },
    { "index of pandas with quoted words", BYTES("\"\",\"a\"\n\"NA\",\"1\"\n\"NO\",\"2\"\n"), "a:n=1,2",
      "column 1 names the rows", "the first column has no name" },
    { "a column without a name that repeats itself", BYTES(",a\n0,1\n0,2\n"),
      "!row 1, column 1: the column has no name", NULL, NULL },
    { "row names of R", BYTES("\"a\" \"b\"\n\"1\" 1.5 \"x\"\n\"2\" 2.5 \"y\"\n"), "a:n=1.5,2.5 b:t=x,y",
      "separator blanks, quoted cells, header in row 1, column 1 names the rows",
      "the rows have one cell more than the header" },
    { "row names of R, tabs", BYTES("a\tb\nr1\t1\tx\nr2\t2\ty\n"), "a:n=1,2 b:t=x,y",
      "column 1 names the rows", "the rows have one cell more than the header" },
    { "a separator too many is no row name", BYTES("a,b\n1,2,\n3,4,\n"), "a:n=1,3 b:n=2,4", "2 columns",
      "a separator ends every row" },
    { "ragged rows with names", BYTES("a\tb\nr1\t1\tx\nr2\t2\n"), "!row 2: 3 cells; expected 2", NULL, NULL },
    /* Encodings */
    { "UTF-8 with a mark",
      BYTES("\xEF\xBB\xBF"
            "a;b\n1;\xC3\xBC\n"),
      "a:n=1 b:t=\xC3\xBC", "UTF-8, separator ';'", NULL },
    { "Latin-1",
      BYTES("a;b\n1;\xFC"
            "ber\n2;na\xEFve\n"),
      "a:n=1,2 b:t=\xC3\xBC"
      "ber,na\xC3\xAFve",
      "Windows-1252, separator ';'", NULL },
    { "Windows-1252", BYTES("a,b\n1,\x80\n2,\x93q\x94\n"),
      "a:n=1,2 b:t=\xE2\x82\xAC,\xE2\x80\x9Cq\xE2\x80\x9D", "Windows-1252", NULL },
    { "Latin-1 names",
      BYTES("gr\xF6\xDF"
            "e\n1\n"),
      "gr\xC3\xB6\xC3\x9F"
      "e:n=1",
      "Windows-1252", NULL },
    { "UTF-16",
      BYTES("\xFF\xFE"
            "a\0;\0b\0\r\0\n\0"
            "1\0;\0\xFC\0\r\0\n\0"),
      "a:n=1 b:t=\xC3\xBC", "UTF-16, separator ';'", NULL },
    { "UTF-16, big endian",
      BYTES("\xFE\xFF\0a\0,\0b\0\n\0"
            "1\0,\xD8\x3D\xDE\x00\0\n"),
      "a:n=1 b:t=\xF0\x9F\x98\x80", "UTF-16", NULL },
    { "UTF-16 without a mark",
      BYTES("a\0,\0b\0\n\0"
            "1\0,\0x\0\n\0"),
      "a:n=1 b:t=x", "UTF-16", NULL },
    { "UTF-16 without a mark, big endian",
      BYTES("\0a\0\t\0b\0\n\0"
            "1\0\t\0x\0\n"),
      "a:n=1 b:t=x", "UTF-16, separator tab", NULL },
};

static void check_notes(const foreign *f, const mel_table *table)
{
    if (strstr(mel_table_how(table), f->how) == NULL)
        fail_msg("%s: \"%s\" lacks \"%s\"", f->name, mel_table_how(table), f->how);
    if (mel_table_warnings(table) != (f->warning != NULL))
        fail_msg("%s: %zu warnings, the first \"%s\"", f->name, mel_table_warnings(table),
                 mel_table_warnings(table) != 0 ? mel_table_warning(table, 0) : "");
    if (f->warning != NULL && strstr(mel_table_warning(table, 0), f->warning) == NULL)
        fail_msg("%s: \"%s\" lacks \"%s\"", f->name, mel_table_warning(table, 0), f->warning);
}

/* What is a warning otherwise is a refusal, and nothing else is. */
static void check_strict(const foreign *f)
{
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.strict = true;
    mel_table *table;
    mel_error err = { 0 };
    const mel_status status = mel_table_read_memory(&table, f->bytes, f->size, "t.csv", &opt, &err);
    assert_int_equal(status, f->warning != NULL ? MEL_EDATA : MEL_OK);
    if (f->warning != NULL && strstr(err.text, f->warning) == NULL)
        fail_msg("%s: \"%s\" lacks \"%s\"", f->name, err.text, f->warning);
    mel_table_free(table);
}

static void test_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        const foreign *f = &files[i];
        mel_table *table;
        mel_error err = { 0 };
        print_message("  %s\n", f->name);
        const mel_status status = mel_table_read_memory(&table, f->bytes, f->size, "t.csv", NULL, &err);
        if (f->want[0] == '!') {
            assert_int_equal(status, MEL_EDATA);
            if (strstr(err.text, f->want + 1) == NULL)
                fail_msg("%s: \"%s\" lacks \"%s\"", f->name, err.text, f->want + 1);
            continue;
        }
        assert_ok(status, &err);
        char got[1024];
        test_describe(table, got, sizeof got);
        assert_string_equal(got, f->want);
        check_notes(f, table);
        mel_table_free(table);
        check_strict(f);
    }
}

/* The caller says what would be found otherwise. */
static void test_said(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bytes, *want;
        char delimiter, decimal;
        mel_header header;
        const char *encoding;
    } rows[] = {
        { "thousands", "a;b\n1,234;x\n", "a:n=1234 b:t=x", 0, '.', MEL_HEADER_AUTO, NULL },
        { "decimals", "a;b\n1,234;x\n", "a:n=1.234 b:t=x", 0, ',', MEL_HEADER_AUTO, NULL },
        { "points are thousands", "a;b\n331.885;x\n", "a:n=331885 b:t=x", 0, ',', MEL_HEADER_AUTO, NULL },
        { "a list is no decimal", "a,b\n\"1,5\",2\n", "a:t=1,5 b:n=2", 0, '.', MEL_HEADER_AUTO, NULL },
        { "numbers are names", "1,2\n3,4\n", "1:n=3 2:n=4", 0, 0, MEL_HEADER_YES, NULL },
        { "names are data", "a,b\nx,y\n", "c1:t=a,x c2:t=b,y", 0, 0, MEL_HEADER_NO, NULL },
        { "blanks", "a b\nx y\n", "a:t=x b:t=y", ' ', 0, MEL_HEADER_AUTO, NULL },
        { "one comma is enough", "a;b,c\nx;y,z\n", "a;b:t=x;y c:t=z", ',', 0, MEL_HEADER_AUTO, NULL },
        { "Latin-1", "a\n\xC3\xBC\n", "a:t=\xC3\x83\xC2\xBC", 0, 0, MEL_HEADER_AUTO, "latin-1" },
        { "Latin-1 has every byte", "a\nx\x81\n", "a:t=x\xC2\x81", 0, 0, MEL_HEADER_AUTO, "ISO-8859-1" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.delimiter = rows[i].delimiter;
        opt.decimal = rows[i].decimal;
        opt.header = rows[i].header;
        opt.encoding = rows[i].encoding;
        mel_table *table;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].name);
        assert_ok(mel_table_read_memory(&table, rows[i].bytes, strlen(rows[i].bytes), "t.csv", &opt, &err),
                  &err);
        char got[512];
        test_describe(table, got, sizeof got);
        assert_string_equal(got, rows[i].want);
        mel_table_free(table);
    }
}

/* Odd cells, other encodings and styles far behind the first rows count as if they stood there. */
static void test_late(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    static const struct {
        const char *name, *late, *how, *warning;
        double value;
    } rows[] = {
        { "odd", "abc", "UTF-8", "column a: 1 of 40,001 cells is not a number, first \"abc\" in row 40002",
          NAN },
        { "thousands", "\"1,234,567.5\"", "UTF-8", NULL, 1234567.5 },
        { "missing", "None", "UTF-8", NULL, NAN },
        { "Latin-1", "\xE9t\xE9", "Windows-1252", "first \"\xC3\xA9t\xC3\xA9\" in row 40002", NAN },
    };
    for (size_t k = 0; k < COUNT(rows); k++)
        for (int threads = 1; threads <= 2; threads++) {
            mel_buffer text;
            mel_buffer_init(&text, SIZE_MAX / 2);
            mel_buffer_puts(&text, "a,b\n");
            for (int i = 0; i < ROWS; i++)
                mel_buffer_printf(&text, "%d.5,%s\n", i, i % 2 == 0 ? "p" : "q");
            mel_buffer_printf(&text, "%s,p\n", rows[k].late);
            mel_read_options opt;
            mel_read_options_init(&opt);
            opt.threads = threads;
            mel_table *table;
            mel_error err = { 0 };
            print_message("  %s\n", rows[k].name);
            assert_ok(mel_table_read_memory(&table, text.data, text.size, "t.csv", &opt, &err), &err);
            assert_int_equal(mel_table_rows(table), ROWS + 1);
            const double *x = mel_table_numbers(table, 0);
            assert_int_equal(x == NULL, rows[k].warning != NULL);
            assert_true(x == NULL || (x[0] == 0.5 && x[ROWS - 1] == ROWS - 0.5));
            if (x != NULL && !isnan(rows[k].value))
                assert_true(x[ROWS] == rows[k].value);
            else
                assert_true(x == NULL || isnan(x[ROWS]));
            const foreign f = { rows[k].name, NULL, 0, NULL, rows[k].how, rows[k].warning };
            check_notes(&f, table);
            mel_table_free(table);
            mel_buffer_free(&text);
        }
}

/* Refusals, and missing words, that the first rows give no hint of; both readers agree on them. */
static void test_far_below(void **state)
{
    (void)state;
    enum { ROWS = 200000 };
    static const struct {
        const char *name, *header, *row, *last;
        const char *want; /* what the refusal says, or NULL */
        mel_column_type type;
    } rows[] = {
        { "a line feed behind carriage returns", "a,b\r", "1,2\r", "1,2\n",
          "save the file with one kind of line ends", 0 },
        { "a cell behind the last separator", "a,b\n", "1,2,\n", "1,2,x\n",
          "row 200002: \"x\" stands behind the last column", 0 },
        { "no separator at the end", "a,b,\n", "1,2,\n", "1,2\n", "row 200002: 2 cells; expected 3", 0 },
        { "a quoted word among numbers", "a,b\n", "1,2\n", "\"NA\",2\n", NULL, MEL_COLUMN_NUMBER },
        { "a quoted word among missing cells", "a,b\n", ",2\n", "\"NA\",2\n", NULL, MEL_COLUMN_TEXT },
        { "a number among quoted words", "a,b\n", "\"NA\",2\n", "1,2\n", NULL, MEL_COLUMN_NUMBER },
        { "a number between carriage returns", "a,b\r", ",2\r", "\"1\",2\r", NULL, MEL_COLUMN_NUMBER },
    };
    for (size_t k = 0; k < COUNT(rows); k++) {
        mel_buffer text;
        mel_buffer_init(&text, SIZE_MAX / 2);
        mel_buffer_puts(&text, rows[k].header);
        for (int i = 0; i < ROWS; i++)
            mel_buffer_puts(&text, rows[k].row);
        mel_buffer_puts(&text, rows[k].last);
        const char *path = test_file("far.csv", text.data, text.size);
        mel_table *table;
        mel_error err = { 0 };
        print_message("  %s\n", rows[k].name);
        const mel_status status = mel_table_read(&table, path, NULL, &err);
        assert_int_equal(status, rows[k].want != NULL ? MEL_EDATA : MEL_OK);
        if (status == MEL_OK) {
            assert_int_equal(mel_table_rows(table), ROWS + 1);
            assert_int_equal(mel_table_column_type(table, 0), rows[k].type);
        } else if (strstr(err.text, rows[k].want) == NULL)
            fail_msg("%s", err.text);
        mel_table_free(table);
        mel_buffer_free(&text);
    }
}

/* ---- arrays ---- */

/* An .npy file of the given type and shape. */
static void make_npy(mel_buffer *out, const char *type, const char *shape, const void *items, size_t n)
{
    char dictionary[160];
    const int length = snprintf(dictionary, sizeof dictionary,
                                "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", type, shape);
    mel_buffer_init(out, 1 << 20);
    const char prefix[10] = { (char)0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)length, 0 };
    mel_buffer_add(out, prefix, sizeof prefix);
    mel_buffer_puts(out, dictionary);
    mel_buffer_add(out, items, n);
}

static void test_arrays(void **state)
{
    (void)state;
    static const struct {
        const char *type, *shape, *items;
        size_t size;
        const char *want;
    } rows[] = {
        { "<f2", "(5,)", BYTES("\x00\x3c\x00\xc0\x01\x00\xff\x7b\x00\x00"),
          "c1:n=1,-2,5.9604644775390625e-08,65504,0" },
        { ">f2", "(1, 2)", BYTES("\x3c\x00\x35\x55"), "c1:n=1 c2:n=0.333251953125" },
        { "<U2", "(2,)", BYTES("a\0\0\0b\0\0\0\x00\xf6\x01\x00\0\0\0\0"), "c1:t=ab,\xF0\x9F\x98\x80" },
        { ">U1", "(1, 2)", BYTES("\0\0\0\xe9\0\0\0\0"), "c1:t=\xC3\xA9 c2:t=_" },
        { "|S4", "(3,)",
          BYTES("yes\0"
                "nan\0"
                "None"),
          "c1:t=yes,_,None" },
        { "|S3", "(3,)",
          BYTES("yes"
                "no\0"
                "yes"),
          "c1:t=yes,no,yes" },
        { "|b1", "(2,)", BYTES("\1\0"), "c1:n=1,0" },
        { "<f4", "(2,)", BYTES("\0\0\xc0\x7f\0\0\x80\x3f"), "c1:n=_,1" },
        { "<f2", "(2,)", BYTES("\x00\x7e\x00\x3c"), "c1:n=_,1" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer file;
        make_npy(&file, rows[i].type, rows[i].shape, rows[i].items, rows[i].size);
        mel_table *table;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].type);
        assert_ok(mel_table_read_memory(&table, file.data, file.size, "t.npy", NULL, &err), &err);
        char got[256];
        test_describe(table, got, sizeof got);
        assert_string_equal(got, rows[i].want);
        mel_table_free(table);
        mel_buffer_free(&file);
    }
}

static void put(mel_buffer *to, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++, value >>= 8) {
        const char byte = (char)(value & 255);
        mel_buffer_add(to, &byte, 1);
    }
}

typedef struct {
    const char *name;
    bool packed;
    double values[2];
} member;

/* The part that the headers of a member in its place and in the directory share. */
static void put_member(mel_buffer *to, const member *m, uint32_t sum, size_t packed, size_t size)
{
    put(to, 20, 2);
    put(to, 0, 2);
    put(to, m->packed ? 8 : 0, 2);
    put(to, 0, 4);
    put(to, sum, 4);
    put(to, packed, 4);
    put(to, size, 4);
    put(to, strlen(m->name), 2);
    put(to, 0, 2);
}

/* An archive as numpy.savez writes it. */
static void make_npz(mel_buffer *out, const member *members, size_t n)
{
    mel_buffer directory;
    mel_buffer_init(out, 1 << 20);
    mel_buffer_init(&directory, 1 << 16);
    for (size_t i = 0; i < n; i++) {
        mel_buffer array;
        unsigned char packed[512];
        make_npy(&array, "<f8", "(2, 1)", members[i].values, sizeof members[i].values);
        z_stream z = { 0 };
        assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
        z.next_in = (unsigned char *)array.data;
        z.avail_in = (unsigned)array.size;
        z.next_out = packed;
        z.avail_out = sizeof packed;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        const size_t size = members[i].packed ? sizeof packed - z.avail_out : array.size;
        deflateEnd(&z);
        const uint32_t sum = (uint32_t)crc32(0, (const unsigned char *)array.data, (unsigned)array.size);
        mel_buffer_add(&directory, "PK\1\2\24\0", 6);
        put_member(&directory, &members[i], sum, size, array.size);
        put(&directory, 0, 10);
        put(&directory, out->size, 4);
        mel_buffer_puts(&directory, members[i].name);
        mel_buffer_add(out, "PK\3\4", 4);
        put_member(out, &members[i], sum, size, array.size);
        mel_buffer_puts(out, members[i].name);
        mel_buffer_add(out, members[i].packed ? (const void *)packed : array.data, size);
        mel_buffer_free(&array);
    }
    const size_t start = out->size;
    mel_buffer_add(out, directory.data, directory.size);
    mel_buffer_add(out, "PK\5\6\0\0\0\0", 8);
    put(out, n, 2);
    put(out, n, 2);
    put(out, directory.size, 4);
    put(out, start, 4);
    put(out, 0, 2);
    mel_buffer_free(&directory);
}

static void test_npz(void **state)
{
    (void)state;
    static const member members[] = { { "x.npy", false, { 1.5, 2.5 } },
                                      { "proba.npy", true, { 0.25, 0.75 } },
                                      { "notes.txt", false, { 0, 0 } } };
    static const struct {
        const char *name, *file, *member;
        size_t n;
        const char *want;
    } rows[] = {
        { "the only array", "t.npz", NULL, 1, "c1:n=1.5,2.5" },
        { "by content", "unnamed", NULL, 1, "c1:n=1.5,2.5" },
        { "stored", "t.npz", "x", 3, "c1:n=1.5,2.5" },
        { "deflated", "t.npz", "proba", 3, "c1:n=0.25,0.75" },
        { "several", "t.npz", NULL, 3,
          "!the archive holds 2 arrays: \"x\", \"proba\"; member=NAME says which" },
        { "not there", "t.npz", "y", 3, "!no array is called \"y\"; there are \"x\", \"proba\"" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_buffer file;
        make_npz(&file, members, rows[i].n);
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.member = rows[i].member;
        mel_table *table;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].name);
        const mel_status status =
            mel_table_read_memory(&table, file.data, file.size, rows[i].file, &opt, &err);
        if (rows[i].want[0] == '!') {
            assert_int_equal(status, MEL_EDATA);
            if (strstr(err.text, rows[i].want + 1) == NULL)
                fail_msg("%s", err.text);
        } else {
            char got[256];
            assert_ok(status, &err);
            test_describe(table, got, sizeof got);
            assert_string_equal(got, rows[i].want);
        }
        mel_table_free(table);
        mel_buffer_free(&file);
    }
}

/* Every archive with one byte changed or cut off is read or refused, and never gives other numbers. */
static void test_damaged_npz(void **state)
{
    (void)state;
    static const member one[] = { { "x.npy", true, { 1.5, 2.5 } } };
    mel_buffer file;
    make_npz(&file, one, 1);
    assert_true(file.size > 0);
    size_t refused = 0;
    for (size_t at = 0; at < 2 * file.size; at++) {
        char *copy = malloc(file.size);
        assert_non_null(copy);
        memcpy(copy, file.data, file.size);
        const size_t size = at < file.size ? file.size : at - file.size;
        if (at < file.size)
            copy[at] = (char)(copy[at] ^ 0x11);
        mel_table *table;
        mel_error err = { 0 };
        const mel_status status = mel_table_read_memory(&table, copy, size, "t.npz", NULL, &err);
        refused += status != MEL_OK;
        if (status == MEL_OK)
            assert_true(mel_table_numbers(table, 0)[0] == 1.5 && mel_table_numbers(table, 0)[1] == 2.5);
        else
            assert_true(status == MEL_EDATA || status == MEL_ELIMIT);
        mel_table_free(table);
        free(copy);
    }
    assert_true(refused > file.size + file.size / 2);
    mel_buffer_free(&file);
}

static void test_zero_based(void **state)
{
    (void)state;
    static const char text[] = "1 0:5 2:7\n0 1:6\n";
    mel_read_options opt;
    mel_read_options_init(&opt);
    mel_table *table;
    mel_error err = { 0 };
    assert_int_equal(mel_table_read_memory(&table, text, sizeof text - 1, "t.svm", &opt, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "line 1: \"0:5\" has index 0; indices start at 1, or give zero-based"));
    opt.zero_based = true;
    assert_ok(mel_table_read_memory(&table, text, sizeof text - 1, "t.svm", &opt, &err), &err);
    mel_features x;
    assert_true(mel_table_sparse(&x, table));
    assert_int_equal(x.n_cols, 3);
    const uint32_t columns[] = { 0, 2, 1 };
    const double values[] = { 5, 7, 6 };
    assert_memory_equal(x.col, columns, sizeof columns);
    assert_memory_equal(x.value, values, sizeof values);
    mel_table_free(table);
    assert_int_equal(mel_table_read_memory(&table, BYTES("1 1:5 0:7\n"), "t.svm", &opt, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "index 0 follows a larger one"));
}

/* ---- what is said ---- */

typedef struct {
    size_t how, warnings;
    char last[400];
} heard;

static void hear(void *user, const char *file, mel_format format, const char *sentence, bool is_warning)
{
    heard *h = user;
    assert_int_equal(format, MEL_FORMAT_CSV);
    h->how += !is_warning;
    h->warnings += is_warning;
    (void)snprintf(h->last, sizeof h->last, "%s: %s", file, sentence);
}

static void test_notices(void **state)
{
    (void)state;
    static const char text[] = "a,b\n1,x\nz,y\n3,x\n", sums[] = "a,b,c\n0.333,0.333,0.333\n0.5,0.25,0.25\n";
    heard h = { 0 };
    mel_read_options opt;
    mel_read_options_init(&opt);
    opt.notice = (mel_notice){ hear, &h };
    mel_table *table;
    mel_proba proba;
    mel_error err = { 0 };
    assert_ok(mel_table_read_memory(&table, text, sizeof text - 1, "t.csv", &opt, &err), &err);
    assert_true(h.how == 1 && h.warnings == 1);
    assert_string_equal(h.last,
                        "t.csv: column a: 1 of 3 cells is not a number, first \"z\" in row 3; treated as "
                        "categories");
    mel_table_free(table);
    const char *path = test_file("p.csv", sums, sizeof sums - 1);
    assert_ok(mel_proba_read(&proba, path, &opt, &err), &err);
    assert_true(h.how == 2 && h.warnings == 2 && proba.n_rescaled == 1);
    assert_non_null(strstr(h.last,
                           "the probabilities of 1 of 2 rows do not sum to 1 (first in row 2, by 0.001 at "
                           "most) and were rescaled"));
    assert_close(proba.value[0], 1.0 / 3, 1e-15);
    assert_true(proba.value[3] == 0.5);
    mel_proba_clear(&proba);
    opt.strict = true;
    assert_int_equal(mel_proba_read(&proba, path, &opt, &err), MEL_EDATA);
    assert_non_null(strstr(err.text, "p.csv: the probabilities of 1 of 2 rows"));
}

/* A label that stands for nothing is refused with its row, unless the column is declared to be text. */
static void test_labels(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part; /* NULL: fine */
    } rows[] = { { "y\np\nNone\nq\np\nq\n", "row 3, column \"y\": \"None\" stands for a missing value" },
                 { "y\np\n\"NA\"\nq\n", NULL },
                 { "y\np\n\"None\"\nq\n", NULL },
                 { "y\np\n\"None\"\nNone\nq\n", "row 3, column \"y\": \"None\" stands for a missing value" },
                 { "y\np\nNULL\nq\n", "row 3, column \"y\": the value is missing" },
                 { "y\np\n-\nq\np\n", "row 3, column \"y\": \"-\" stands for a missing value" },
                 { "y\n+\n-\n+\n-\n", NULL },
                 { "y\n1\n0\nnan\n", "row 4, column \"y\": the value is missing" } };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int declared = 0; declared < 2; declared++) {
            const mel_column_override as_text = { "y", MEL_COLUMN_TEXT };
            mel_read_options opt;
            mel_read_options_init(&opt);
            opt.overrides = &as_text;
            opt.n_overrides = (size_t)declared;
            mel_table *table;
            mel_labels labels;
            mel_error err = { 0 };
            assert_ok(mel_table_read_memory(&table, rows[i].text, strlen(rows[i].text), "t.csv", &opt, &err),
                      &err);
            const mel_status status = mel_table_groups(&labels, table, "y", &err);
            const char *part = declared == 0 ? rows[i].part : NULL;
            assert_int_equal(status, part != NULL ? MEL_EDATA : MEL_OK);
            if (part != NULL && strstr(err.text, part) == NULL)
                fail_msg("%s", err.text);
            mel_labels_clear(&labels);
            mel_table_free(table);
        }
}

static void test_nearest(void **state)
{
    (void)state;
    static const char text[] = "age,income,label\n1,2,x\n3,4,y\n";
    mel_table *table;
    mel_labels labels;
    mel_error err = { 0 };
    assert_ok(mel_table_read_memory(&table, text, sizeof text - 1, "t.csv", NULL, &err), &err);
    assert_int_equal(mel_table_labels(&labels, table, "lable", &err), MEL_EDATA);
    assert_string_equal(err.text, "t.csv: there is no column \"lable\"; did you mean \"label\"?");
    assert_int_equal(mel_table_labels(&labels, table, "zzzzzz", &err), MEL_EDATA);
    assert_string_equal(err.text, "t.csv: there is no column \"zzzzzz\"; there are age, income, label");
    mel_table_free(table);
}

/* The caller expects the names "1", "2" and "n", and rows that are named by a column "name". */
static void test_expected(void **state)
{
    (void)state;
    static const char *const expected[] = { "1", "2", "n" };
    static const struct {
        const char *name, *bytes, *want, *warning;
    } rows[] = {
        { "numbers in another order", "2,1\n0.5,0.25\n", "2:n=0.5 1:n=0.25", NULL },
        { "next to a word", "n,1\n20,0.25\n", "n:n=20 1:n=0.25", NULL },
        { "in quotes", "\"2\";\"1\"\n0,5;0,25\n", "2:n=0.5 1:n=0.25", NULL },
        { "behind an index", ",2,1\n0,0.5,0.25\n1,0.75,0\n", "2:n=0.5,0.75 1:n=0.25,0",
          "the first column has no name and no value twice" },
        { "in another spelling", "2.0,1.0\n0.5,0.25\n", "2.0:n=0.5 1.0:n=0.25", "row 1 holds names" },
        { "in the rows below", "2,1\n2,1\n", "2:n=2 1:n=1", "row 1 holds names" },
        { "one column", "1\n0.5\n", "1:n=0.5", "row 1 holds names" },
        { "one name is another", "2,3\n0.5,0.25\n", "c1:n=2,0.5 c2:n=3,0.25", NULL },
        { "names of rows", "Name,7,5\n007,0.5,0.25\n", "Name:t=007 7:n=0.5 5:n=0.25", NULL },
        { "names of rows without a name", ",2,1\na,0.5,0.25\na,1,0\n", "name:t=a,a 2:n=0.5,1 1:n=0.25,0",
          NULL },
        { "Unnamed: 0", "Unnamed: 0,tp\nb,0.5\n", "name:t=b tp:n=0.5", NULL },
        { "an index next to names", ",name,tp\n4,a,0.5\n9,b,1\n", "name:t=a,b tp:n=0.5,1",
          "the first column has no name and no value twice" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        mel_read_options opt;
        mel_read_options_init(&opt);
        opt.expected_names = expected;
        opt.n_expected_names = COUNT(expected);
        opt.row_name = "name";
        mel_table *table;
        mel_error err = { 0 };
        print_message("  %s\n", rows[i].name);
        assert_ok(mel_table_read_memory(&table, rows[i].bytes, strlen(rows[i].bytes), "t.csv", &opt, &err),
                  &err);
        char got[512];
        test_describe(table, got, sizeof got);
        assert_string_equal(got, rows[i].want);
        assert_int_equal(mel_table_warnings(table), rows[i].warning != NULL);
        if (rows[i].warning != NULL)
            assert_non_null(strstr(mel_table_warning(table, 0), rows[i].warning));
        mel_table_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),   cmocka_unit_test(test_said),        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_late),    cmocka_unit_test(test_far_below),   cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_npz),     cmocka_unit_test(test_damaged_npz), cmocka_unit_test(test_zero_based),
        cmocka_unit_test(test_notices), cmocka_unit_test(test_labels),      cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, test_teardown);
}
