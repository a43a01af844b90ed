"""The foreign files of the zoo by kind. Contents are random with a seed of their own; what must be read is the frame that
was written, or what pandas or NumPy read when they are told how the file is written."""
import csv
import io
import pickle
import zipfile

import numpy
import pandas
from sklearn.datasets import dump_svmlight_file
from zoo import (
    MISSING,
    Refused,
    Row,
    as_frame,
    csv_text,
    european,
    generator,
    holed,
    lines,
    npy,
    npz,
    numbered,
    pandas_reads,
    people,
    r_table,
    saved_text,
)

def written(name, frame, *more, **others):
    """What pandas writes without further ado, to be read as it is."""
    return Row(name, "t.csv", csv_text(frame), frame, *more, **others)


ACCENTS = ["Ålesund", "Tromsø", "Røros", "Oslo"]


# ---- pandas ----


def pandas_separators():
    rows = []
    for name, sep in (("comma", ","), ("semicolon", ";"), ("tab", "\t"), ("bar", "|"), ("blank", " ")):
        t = people("pandas " + name)
        said = {"\t": "tab", " ": "blanks"}.get(sep, f"'{sep}'")
        rows.append(Row(f"pandas, {name}", "t.csv", csv_text(t, sep=sep), t, says=(said, "header in row 1"), label="label"))
        rows.append(Row(f"pandas, {name} asked for", "t.txt", csv_text(t, sep=sep), t, ("--read", f"delimiter={'tab' if sep == chr(9) else sep}"), label="label"))
    return rows


def pandas_missing():
    """Each word for a missing cell in columns that are numbers otherwise."""
    rows = []
    for word in MISSING:
        t = holed(people("missing " + word), ["age", "income"], word)
        text = csv_text(t, na_rep=word)
        assert pandas_reads(text).equals(t)
        rows.append(Row(f"missing cells are {word or 'empty'}", "t.csv", text, t, label="label"))
    t = holed(people("all words"), ["age", "income"], "all words", 0.5)
    words = iter(MISSING * 10)
    text = lines(t.columns, [[next(words) if pandas.isna(x) else x for x in row] for row in t.values])
    rows.append(Row("missing cells of every word in one column", "t.csv", text, pandas_reads(text), label="label"))
    t = holed(people("quoted words"), ["age", "income"], "quoted words")
    for word in ("NA", "NULL", ""):
        text = csv_text(t, na_rep=word, quoting=csv.QUOTE_ALL)
        rows.append(Row(f"every cell quoted, missing cells are {word or 'empty'}", "t.csv", text, t, label="label"))
    t = holed(people("mostly missing", 60), ["income"], "mostly missing", 0.9)
    rows.append(Row("a column that is mostly hyphens", "t.csv", csv_text(t, na_rep="-"), t, label="label"))
    for word in ("#DIV/0!", "#VALUE!"):
        t = holed(people("errors " + word), ["age", "income"], word)
        rows.append(Row(f"missing cells are errors of Excel, {word}", "t.csv", csv_text(t, na_rep=word), t, label="label"))
    t = people("nothing in a column").assign(income=numpy.nan)
    rows.append(written("a column without a value", t))
    t = holed(people("texts missing"), ["city"], "texts missing")
    for word in ("", "?", "NA"):
        rows.append(Row(f"missing texts are {word or 'empty'}", "t.csv", csv_text(t, na_rep=word), t, label="label"))
    t = people("words as texts", cities=["None", "-", ".", "Oslo"])
    rows.append(written("words for missing cells among texts are texts", t, label="label"))
    return rows


def pandas_index():
    t = people("index")
    shuffled = t.sample(frac=1, random_state=3)
    rows = [
        Row("pandas with its index", "t.csv", t.to_csv(), t, says=("skipped",), label="label"),
        Row("pandas with its index, semicolons", "t.csv", t.to_csv(sep=";"), t, says=("skipped",), label="label"),
        Row("pandas with its index, all quoted", "t.csv", t.to_csv(quoting=csv.QUOTE_ALL), t, says=("skipped",)),
        Row("pandas, shuffled index", "t.csv", shuffled.to_csv(), shuffled, says=("skipped",), label="label"),
        Row("pandas, index from 1", "t.csv", t.set_index(t.index + 1).to_csv(), t, says=("skipped",), label="label"),
        Row("fractions without a name", "t.csv", t.set_index(t["income"] / 3).to_csv(index_label=""), Refused("row 1, column 1", "name it")),
        Row("pandas, filtered index", "t.csv", t[::3].to_csv(), t[::3], says=("skipped",)),
        Row("pandas, index with a name", "t.csv", t.to_csv(index_label="id"), t.reset_index().rename(columns={"index": "id"})),
    ]
    named = t.set_index(pandas.Index([f"p{i:03d}" for i in range(len(t))]))
    rows.append(Row("pandas, index of texts", "t.csv", named.to_csv(), t, says=("skipped",), label="label"))
    dates = t.set_index(pandas.date_range("2021-01-01", periods=len(t)))
    rows.append(Row("pandas, index of dates", "t.csv", dates.to_csv(), t, says=("skipped",)))
    array = generator("index over numbers").normal(size=(30, 4))
    plain = pandas.DataFrame(array)
    expect = plain.rename(columns=str)
    rows.append(Row("pandas, frame of an array with index", "t.csv", plain.to_csv(), expect, says=("skipped",)))
    rows.append(Row("pandas, frame of an array", "t.csv", plain.to_csv(index=False), expect, says=("row 1", "header=no")))
    rows.append(Row("pandas, frame of an array, header said", "t.csv", plain.to_csv(index=False), expect, ("--read", "header=yes")))
    classes = pandas.Series(numpy.arange(30) % 2)
    rows.append(Row("pandas, series with index", "t.csv", classes.to_csv(), classes.to_frame("0"), says=("skipped",)))
    pairs = t.groupby(["city", "label"], as_index=True)[["age", "income"]].mean()
    rows.append(Row("pandas, index of two levels", "t.csv", pairs.to_csv(), pairs.reset_index()))
    rows.append(Row("pandas, index saved twice", "t.csv", t.reset_index().to_csv(), t.reset_index(), says=("skipped",)))
    again = pandas.read_csv(io.StringIO(t.to_csv()))
    rows.append(Row("pandas, index read and saved again", "t.csv", csv_text(again), t, says=("skipped",), label="label"))
    levels = pandas.DataFrame(array, columns=pandas.MultiIndex.from_product([["a", "b"], ["x", "y"]]))
    rows.append(Row("pandas, header of two levels", "t.csv", levels.to_csv(index=False), Refused('"a"', "column")))
    return rows


def pandas_styles():
    t = people("styles")
    texts = pandas.DataFrame({"x": numpy.arange(12), "note": ['say "hi"', "a,b", "two\nlines", "", " lead", "trail "] * 2, "label": ["u", "v"] * 6})
    texts["note"] = texts["note"].replace("", None)
    types = pandas.DataFrame(
        {
            "flag": generator("flags").random(30) < 0.5,
            "day": pandas.date_range("2020-02-20", periods=30).strftime("%Y-%m-%d"),
            "time": pandas.date_range("2020-02-20 10:11:12", periods=30, freq="H").strftime("%Y-%m-%d %H:%M:%S"),
            "x": generator("flags").normal(size=30),
            "label": numpy.arange(30) % 2,
        }
    )
    whole = people("nullable whole numbers").astype({"age": "Int64"})
    whole.loc[5:9, "age"] = pandas.NA
    precise = pandas.DataFrame(generator("precise").normal(size=(50, 3)) * 10.0 ** generator("p").integers(-300, 300, (50, 3)), columns=list("abc"))
    rows = [
        Row("pandas, everything quoted", "t.csv", csv_text(t, quoting=csv.QUOTE_ALL), t, label="label"),
        Row("pandas, texts quoted", "t.csv", csv_text(t, quoting=csv.QUOTE_NONNUMERIC), t, label="label"),
        written("pandas, quotes, commas and lines in cells", texts, label="label"),
        Row("pandas, lines in cells, CRLF", "t.csv", csv_text(texts).replace("\n", "\r\n"), texts.replace("two\nlines", "two\r\nlines")),
        Row("pandas, quotes escaped by a backslash", "t.csv", csv_text(texts, doublequote=False, escapechar="\\"), Refused("row 2")),
        Row("pandas, exponents", "t.csv", csv_text(t, float_format="%.5e"), pandas_reads(csv_text(t, float_format="%.5e")), label="label"),
        Row("pandas, six decimals", "t.csv", csv_text(t, float_format="%.6f"), t, label="label"),
        written("pandas, every digit of doubles", precise),
        written("pandas, bools, dates, times", types, label="label"),
        written("pandas, whole numbers that may be missing", whole.astype({"age": float}), label="label"),
        Row("pandas, categories", "t.csv", csv_text(t.astype({"city": "category"})), t, label="label"),
        Row("pandas, CRLF", "t.csv", csv_text(t).replace("\n", "\r\n"), t, label="label"),
        Row("CR alone, lines in cells", "t.csv", csv_text(texts, lineterminator="\r", quoting=csv.QUOTE_ALL), texts),
        Row("CR and, late, LF", "t.csv", csv_text(t).replace("\n", "\r") + "1,2,Oslo,yes\n", Refused("carriage return")),
        Row("CR alone", "t.csv", csv_text(t).replace("\n", "\r"), t, label="label"),
        Row("no line end at the end", "t.csv", csv_text(t).rstrip("\n"), t, label="label"),
        Row("blank lines at the end", "t.csv", csv_text(t) + "\n\n\n", t, label="label"),
        Row("blank lines at the end, CRLF", "t.csv", (csv_text(t) + "\n\n").replace("\n", "\r\n"), t),
        Row("named .tsv", "t.tsv", csv_text(t, sep="\t"), t, label="label"),
        Row("named .txt", "t.txt", csv_text(t), t, label="label"),
        Row("named .data", "t.data", csv_text(t, sep=";"), t, label="label"),
        Row("without an ending", "t", csv_text(t), t, label="label"),
        Row("as a table to look at", "t.txt", t.to_string(index=False) + "\n", t, label="label"),
        Row("as a table to look at, with index", "t.txt", t.to_string() + "\n", t, label="label"),
    ]
    return rows


# ---- NumPy ----


def numpy_arrays():
    rows = []
    for kind in ("f2", "f4", "f8", ">f2", ">f4", ">f8", "i1", "i2", "i4", "i8", ">i4", "u1", "u2", "u4", "u8", "?"):
        array = (generator("npy" + kind).normal(size=(20, 3)) * 50).astype(numpy.dtype(kind))
        rows.append(Row(f"npy of {kind}", "t.npy", npy(array), as_frame(array.astype(float))))
    array = generator("npy").normal(size=(15, 4))
    halves = array.astype("f2")
    halves[4, 1] = 6e-8  # the smallest
    gaps = array.copy()
    gaps[::4, 2] = numpy.nan
    infinite = array.copy()
    infinite[6, 1] = numpy.inf
    steep = halves.copy()
    steep[6, 1] = -numpy.inf
    words = numpy.array(["no", "yes", "Ålesund", "", "日本", "🦁"] * 3)
    table = numpy.array([["1.5", "x"], ["2", "y"], ["-3e2", "x"]])
    record = numpy.zeros(4, dtype=[("age", "i4"), ("x", "f8")])
    member = ("--read", "member=y")
    x, y = array, numpy.arange(15) % 3
    return rows + [
        Row("npy in Fortran order", "t.npy", npy(numpy.asfortranarray(array)), as_frame(array)),
        Row("npy of float16 in Fortran order", "t.npy", npy(numpy.asfortranarray(halves)), as_frame(halves.astype(float))),
        Row("npy with nan", "t.npy", npy(gaps), as_frame(gaps)),
        Row("npy of one dimension", "t.npy", npy(y), as_frame(y.astype(float))),
        Row("npy of one row", "t.npy", npy(array[:1]), as_frame(array[:1])),
        Row("npy under another name", "t.bin", npy(array), as_frame(array)),
        Row("npy of bools of one dimension", "t.npy", npy(y == 1), as_frame((y == 1).astype(float))),
        Row("npy of texts", "t.npy", npy(words), as_frame([w or None for w in words])),
        Row("npy of texts in the other byte order", "t.npy", npy(words.astype(words.dtype.newbyteorder())), as_frame([w or None for w in words])),
        Row("npy of bytes", "t.npy", npy(numpy.array([b"spam", b"ham", b"spam"])), as_frame(["spam", "ham", "spam"])),
        Row("npy of texts that look like numbers", "t.npy", npy(numpy.array(["1", "0", "10"] * 4)), as_frame(["1", "0", "10"] * 4)),
        Row("npy of texts in two columns", "t.npy", npy(table), as_frame(table), odd=(
            'column "c1": 3 of 3 different texts are numbers; treated as categories; store numbers in an array of numbers',)),
        Row("npy with inf", "t.npy", npy(infinite), Refused("row 7", "c2", "inf")),
        Row("npy of float16 with -inf", "t.npy", npy(steep), Refused("row 7", "c2", "inf")),
        Row("npy of three dimensions", "t.npy", npy(array.reshape(15, 2, 2)), Refused("dimension")),
        Row("npy of no dimension", "t.npy", npy(numpy.float64(3)), Refused("dimension")),
        Row("npy without rows", "t.npy", npy(array[:0]), Refused("row")),
        Row("npy of complex numbers", "t.npy", npy(array + 0j), Refused("c16")),
        Row("npy of records", "t.npy", npy(record), Refused("t.npy")),
        Row("npy of objects", "t.npy", npy(numpy.array(["a", None], dtype=object), allow_pickle=True), Refused("t.npy")),
        Row("npy of dates", "t.npy", npy(numpy.array(["2020-01-01"], dtype="M8[D]")), Refused("M8")),
        Row("npy cut short", "t.npy", npy(array)[:-5], Refused("t.npy")),
        Row("npz of one array", "t.npz", npz(x=array), as_frame(array)),
        Row("npz, packed", "t.npz", npz(numpy.savez_compressed, x=array), as_frame(array)),
        Row("npz of one array of texts", "t.npz", npz(y=words), as_frame([w or None for w in words])),
        Row("npz of float16, packed", "t.npz", npz(numpy.savez_compressed, y=halves), as_frame(halves.astype(float))),
        Row("npz of two arrays, nothing said", "t.npz", npz(x=x, y=y), Refused("member=NAME", "x", "y")),
        Row("npz of two arrays, one said", "t.npz", npz(x=x, y=y), as_frame(y.astype(float)), member),
        Row("npz of two arrays, packed, one said", "t.npz", npz(numpy.savez_compressed, x=x, y=y), as_frame(x), ("--read", "member=x")),
        Row("npz without the array that was said", "t.npz", npz(x=x, probs=y), Refused('"y"', "probs"), member),
        Row("npz under another name", "t.bin", npz(x=array), as_frame(array)),
        Row("npz cut short", "t.npz", npz(x=array)[:-30], Refused("t.npz")),
        Row("npz without arrays", "t.npz", npz(), Refused("t.npz")),
    ]


def numpy_texts():
    array = generator("savetxt").normal(size=(25, 3))
    whole = generator("savetxt").integers(0, 50, (25, 4))
    names = dict(zip(("c1", "c2", "c3"), "abc"))
    by_numpy = as_frame(numpy.loadtxt(io.BytesIO(saved_text(array))))
    assert (by_numpy.values == array).all()
    return [
        Row("savetxt", "t.txt", saved_text(array), by_numpy, says=("no header",)),
        Row("savetxt with commas", "t.csv", saved_text(array, delimiter=","), by_numpy, says=("no header",)),
        Row("savetxt with tabs", "t.txt", saved_text(array, delimiter="\t"), by_numpy),
        Row("savetxt of whole numbers", "t.txt", saved_text(whole, fmt="%d"), as_frame(whole)),
        Row("savetxt in columns", "t.txt", saved_text(whole, fmt="%8d"), as_frame(whole)),
        Row("savetxt with a header without #", "t.csv", saved_text(array, delimiter=",", header="a,b,c", comments=""), by_numpy.rename(columns=names)),
        Row("savetxt of one column", "t.txt", saved_text(array[:, 0]), as_frame(array[:, 0])),
        Row("savetxt of one column of classes", "t.csv", saved_text(whole[:, 0], fmt="%d"), as_frame(whole[:, 0])),
        Row("savetxt with nan", "t.txt", saved_text(numpy.where(array > 1, numpy.nan, array)), as_frame(numpy.where(array > 1, numpy.nan, array))),
        Row("savetxt with its header", "t.csv", saved_text(array, delimiter=",", header="a,b,c"), by_numpy.rename(columns={**names, "c1": "# a"})),
    ]


# ---- R ----


def r_files():
    t = holed(people("R"), ["age", "income"], "R")
    n = len(t)
    numbers = [str(i + 1) for i in range(n)]
    cars = [f"Mazda RX{i}" for i in range(n)]
    logical = t.assign(smoker=numpy.where(generator("R").random(n) < 0.5, "TRUE", "FALSE"))
    return [
        Row("R write.csv", "t.csv", r_table(t, ",", names=numbers, corner=""), t, label="label"),
        Row("R write.csv, row names of texts", "t.csv", r_table(t, ",", names=cars, corner=""), t, label="label"),
        Row("R write.csv without row names", "t.csv", r_table(t, ","), t, label="label"),
        Row("R write.csv2", "t.csv", r_table(t, ";", ",", names=numbers, corner=""), t, label="label"),
        Row("R write.csv2 without row names", "t.csv", r_table(t, ";", ","), t, label="label"),
        Row("R write.table", "t.txt", r_table(t, names=numbers), t, says=("skipped",), label="label"),
        Row("R write.table, row names of texts", "t.txt", r_table(t, names=cars), t, says=("skipped",), label="label"),
        Row("R write.table without quotes", "t.txt", r_table(t, names=numbers, quote=False), t, says=("skipped",), label="label"),
        Row("R write.table without row names", "t.txt", r_table(t), t, label="label"),
        Row("R write.table, tabs", "t.tsv", r_table(t, "\t", names=numbers), t, says=("skipped",), label="label"),
        Row("R write.table, tabs and an empty corner", "t.tsv", r_table(t, "\t", names=numbers, corner=""), t, label="label"),
        Row("R write.table, commas", "t.csv", r_table(t, ",", names=cars), t, says=("skipped",), label="label"),
        Row("R write.table, decimal commas", "t.txt", r_table(t, "\t", ",", names=numbers), t, says=("skipped",), label="label"),
        Row("R write.table without header", "t.txt", r_table(t).split("\n", 1)[1], numbered(t), label="c4"),
        Row("R logical columns", "t.csv", r_table(logical, ",").replace('"TRUE"', "TRUE").replace('"FALSE"', "FALSE"), logical, label="label"),
        Row("R readr::write_tsv", "t.tsv", csv_text(t, sep="\t", na_rep="NA"), t, label="label"),
        Row("R data.table::fwrite", "t.csv", csv_text(t, na_rep=""), t, label="label"),
    ]


# ---- Excel and other office programs ----


def workbook():
    """A real workbook of two columns, as small as Excel accepts."""
    spreadsheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{spreadsheet}" xmlns:r="{office}">'
        '<sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{spreadsheet}"><sheetData>'
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2</v></c></row></sheetData></worksheet>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return file.getvalue()


def open_document():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", "<office/>")
    return file.getvalue()


def zipped_csv(text):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", text)
    return file.getvalue()


OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
PARQUET = b"PAR1" + bytes(range(200)) + b"PAR1"


def excel_texts():
    t = people("Excel", cities=ACCENTS)
    german = csv_text(t, sep=";", decimal=",").replace("\n", "\r\n")
    plain = csv_text(t).replace("\n", "\r\n")
    tabs = csv_text(t, sep="\t").replace("\n", "\r\n")
    blank_rows = pandas.concat([t.astype({"age": float}), pandas.DataFrame([[numpy.nan, numpy.nan, None, None]] * 2, columns=t.columns)])
    return [
        Row("Excel, CSV of Windows", "t.csv", plain.encode("cp1252"), t, says=("1252",), label="label"),
        Row("Excel, CSV UTF-8", "t.csv", plain.encode("utf-8-sig"), t, label="label"),
        Row("Excel, Unicode text", "t.txt", tabs.encode("utf-16"), t, says=("UTF-16", "tab"), label="label"),
        Row("Excel, German", "t.csv", german.encode("cp1252"), t, says=("';'", "decimal comma", "1252"), label="label"),
        Row("Excel, German, UTF-8", "t.csv", german.encode("utf-8-sig"), t, says=("';'",), label="label"),
        Row("Excel, sep=; first", "t.csv", "sep=;\r\n" + german, t, label="label"),
        Row("Excel, sep=; first, byte order mark", "t.csv", ("sep=;\r\n" + german).encode("utf-8-sig"), t, label="label"),
        Row("Excel, sep=, first", "t.csv", "sep=,\n" + csv_text(t), t, label="label"),
        Row("Excel, sep=| first", "t.csv", "sep=|\n" + csv_text(t, sep="|"), t, label="label"),
        Row("Excel, sep= in quotes", "t.csv", '"sep=;"\n' + german.replace("\r", ""), t),
        Row("Excel, Mac line ends", "t.csv", csv_text(t).replace("\n", "\r").encode("cp1252"), t),
        Row("Excel, a separator at the end of every line", "t.csv", csv_text(t).replace("\n", ",\n"), t, label="label"),
        Row("Excel, a semicolon at the end of every line", "t.csv", csv_text(t, sep=";", decimal=",").replace("\n", ";\n"), t, label="label"),
        Row("Excel, a separator at the end of every line but the header", "t.csv", csv_text(t).replace("\n", ",\n").replace(",\n", "\n", 1), t, label="label"),
        Row("Excel, empty rows of separators", "t.csv", csv_text(t) + ",,,\n" * 2, blank_rows),
    ]


def percent_and_money():
    rng = generator("money")
    n = 40
    label = list("ab" * (n // 2))
    x = numpy.round(rng.random(n) * 100, 1)
    whole = rng.integers(0, 100, n)
    large = numpy.round(rng.lognormal(9, 1, n), 2)
    sheet = lines(["rate", "label"], zip([f"{v}%" for v in x], label))
    shares = pandas.DataFrame({"rate": x, "label": label})
    shares["rate"] = [float(f"{v}e-2") for v in x]
    frame = pandas.DataFrame({"pay": large, "label": label})
    commas = lines(["pay", "label"], zip([f'"{v:,.2f}"' for v in large], label))
    millions = frame.assign(pay=numpy.round(large * 1000))
    dollars = [f"${v:,.2f}" for v in large]
    spaced = shares.assign(rate=[f"{v} %" for v in x])
    tail = pandas.DataFrame({"rate": [numpy.nan] * 2, "label": ["a", "b"]})
    mixed = [f"{v}%" if i % 10 else str(v) for i, v in enumerate(x)]
    unlike = f'column rate: 36 of 40 cells have a percent sign, first "{mixed[1]}" in row 3; they are read as hundredths, the others as they stand'
    mixed_values = [float(v) if i % 10 == 0 else float(f"{v}e-2") for i, v in enumerate(x)]
    return [
        Row("percents and plain numbers", "t.csv", lines(["rate", "label"], zip(mixed, label)), shares.assign(rate=mixed_values), odd=(unlike,), label="label"),
        Row("percents", "t.csv", sheet, shares, label="label"),
        Row("percents of whole numbers", "t.csv", csv_text(shares.assign(rate=[f"{v}%" for v in whole])), shares.assign(rate=whole / 100), label="label"),
        Row("percents with decimal commas", "t.csv", sheet.replace(",", ";").replace(".", ","), shares, label="label"),
        Row("percents with missing cells", "t.csv", sheet + "n/a,a\n,b\n", pandas.concat([shares, tail]), label="label"),
        Row("percents with a blank", "t.csv", csv_text(spaced), shares, label="label"),
        Row("percents, quoted", "t.csv", csv_text(spaced.assign(rate=[f"{v}%" for v in x]), quoting=csv.QUOTE_ALL), shares, label="label"),
        Row("negative percents", "t.csv", sheet.replace("\n", "\n-").removesuffix("-"), shares.assign(rate=-shares["rate"]), label="label"),
        Row("thousands with commas", "t.csv", commas, pandas_reads(commas, thousands=","), label="label"),
        Row("thousands with commas, tabs", "t.tsv", lines(["pay", "label"], zip([f"{v:,.2f}" for v in large], label), "\t"), frame, label="label"),
        Row("thousands with commas, semicolons", "t.csv", lines(["pay", "label"], zip([f"{v:,.2f}" for v in large], label), ";"), frame, label="label"),
        Row("thousands, negative", "t.csv", lines(["pay", "label"], zip([f'"{-v:,.2f}"' for v in large], label)), frame.assign(pay=-large), label="label"),
        Row("millions with commas", "t.csv", csv_text(millions.assign(pay=[f"{v:,.0f}" for v in millions["pay"]])), millions, label="label"),
        Row("dollars stay texts", "t.csv", csv_text(frame.assign(pay=dollars)), frame.assign(pay=dollars)),
        Row("euros stay texts", "t.csv", csv_text(frame.assign(pay=[f"{v} €" for v in large])), frame.assign(pay=[f"{v} €" for v in large])),
    ]


def not_tables():
    t = csv_text(people("not tables"))
    return [
        Row("a workbook", "t.xlsx", workbook(), Refused("excel", "csv")),
        Row("a workbook called .csv", "t.csv", workbook(), Refused("excel", "csv")),
        Row("an old workbook", "t.xls", OLD_EXCEL, Refused("excel", "csv")),
        Row("an old workbook called .csv", "t.csv", OLD_EXCEL, Refused("excel", "csv")),
        Row("an OpenDocument sheet", "t.ods", open_document(), Refused("OpenDocument", "csv")),
        Row("Parquet", "t.parquet", PARQUET, Refused("parquet", "csv")),
        Row("Parquet called .csv", "t.csv", PARQUET, Refused("parquet", "csv")),
        Row("a CSV file in a zip", "t.zip", zipped_csv(t), Refused("zip")),
        Row("a pickled frame", "t.pkl", pickle.dumps(people("pickle"), protocol=4), Refused("t.pkl")),
        Row("a database", "t.db", b"SQLite format 3\0" + bytes(84), Refused("t.db")),
        Row("a text of UTF-32", "t.csv", t.encode("utf-32"), Refused("t.csv")),
        Row("a picture", "t.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), Refused("t.png")),
    ]


# ---- Europe ----


def european_files():
    rows = []
    for name, sep in (("semicolons", ";"), ("tabs", "\t"), ("bars", "|"), ("blanks", " ")):
        t = people("Europe " + name)
        text = csv_text(t, sep=sep, decimal=",")
        assert pandas_reads(text, sep=sep, decimal=",").equals(t)
        rows.append(Row(f"decimal commas, {name}", "t.csv", text, t, says=("decimal comma",), label="label"))
    t = people("Europe")
    text = csv_text(t, sep=";", decimal=",")
    thousands = lines(t.columns, [[a, european(b), c, d] for a, b, c, d in t.values], ";")
    assert pandas_reads(thousands, sep=";", decimal=",", thousands=".").equals(t)
    narrow = [f"{v:,.2f}".replace(",", "\u202f").replace(".", ",") for v in t["income"]]
    hard = [f"{v:,.2f}".replace(",", "\u00a0").replace(".", ",") for v in t["income"]]
    dates = t.assign(day=pandas.date_range("2021-03-01", periods=len(t)).strftime("%d.%m.%Y"))
    steep = csv_text(t.assign(income=t["income"] / 1e6), sep=";", decimal=",", float_format="%.6e")
    gaps = holed(t, ["income"], "Europe")
    spoken = t.assign(income=[str(v).replace(".", ",") for v in t["income"]])
    three = lines(["x", "label"], [[f"{v // 1000},{v % 1000:03d}", "ab"[i % 2]] for i, v in enumerate(generator("three").integers(1000, 999999, 30))], ";")
    clash = lines(["x", "y", "label"], [[f"{i},5", f"{i}.25", "ab"[i % 2]] for i in range(30)], ";")
    values = [float(row.split(";")[0].replace(",", ".")) for row in three.split("\n")[1:-1]]
    by_comma = pandas.DataFrame({"x": values, "label": list("ab" * 15)})
    point = people("point between semicolons")
    return rows + [
        Row("decimal commas asked for", "t.csv", text, t, ("--read", "decimal=,"), label="label"),
        Row("decimal commas and separators asked for", "t.csv", text, t, ("--read", "decimal=,", "--read", "delimiter=;"), label="label"),
        Row("decimal commas in quotes between commas", "t.csv", csv_text(spoken), t, says=("decimal comma",), label="label"),
        Row("decimal commas and thousands", "t.csv", thousands, t, label="label"),
        Row("decimal commas, dates with dots", "t.csv", csv_text(dates, sep=";", decimal=","), dates, label="label"),
        Row("decimal commas and exponents", "t.csv", steep, pandas_reads(steep, sep=";", decimal=","), label="label"),
        Row("decimal commas, missing cells are hyphens", "t.csv", csv_text(gaps, sep=";", decimal=",", na_rep="-"), gaps, label="label"),
        Row("decimal commas without header", "t.csv", text.split("\n", 1)[1], numbered(t), label="c4"),
        Row("decimal commas of UTF-16", "t.csv", text.encode("utf-16"), t, label="label"),
        Row("decimal points between semicolons", "t.csv", csv_text(point, sep=";"), point, label="label"),
        Row("whole numbers between semicolons", "t.csv", csv_text(t[["age", "label"]], sep=";"), t[["age", "label"]], label="label"),
        Row("1,234 between semicolons may be either", "t.csv", three, Refused("decimal=", "row")),
        Row("1,234 between semicolons, a comma", "t.csv", three, by_comma, ("--read", "decimal=,"), label="label"),
        Row("1,234 between semicolons, a point", "t.csv", three, by_comma.assign(x=[round(v * 1000.0) for v in values]), ("--read", "decimal=."), label="label"),
        Row("1,234 in quotes may be either", "t.csv", lines(["x", "label"], [['"1,234"', "ab"[i % 2]] for i in range(30)]), Refused("decimal")),
        Row("both 1,5 and 1.25 in one file", "t.csv", clash, Refused("decimal")),
        Row("decimal point asked for where there are commas", "t.csv", text, spoken, ("--read", "decimal=."), odd=(odd_warning("income", 40, 40, spoken["income"][0], 2),)),
    ] + [
        Row(name, "t.csv", lines(["pay", "label"], zip(column, t["label"]), ";"), t[["income", "label"]].rename(columns={"income": "pay"}), label="label")
        for name, column in (("thousands with narrow blanks", narrow), ("thousands with hard blanks", hard))
    ]


# ---- headers ----


def headers():
    t = people("headers")
    no_header = ("--read", "header=no")
    body = csv_text(t, header=False)
    north = t.replace("Oslo", "Tromsø")
    four = {"header": None, "names": ["c1", "c2", "c3", "c4"]}
    again = pandas.DataFrame({"a": ["a", "b"] * 9, "b": ["b", "a"] * 9})
    threes = numpy.arange(20) % 3
    numbers = pandas.DataFrame(generator("headers").normal(size=(30, 4)))
    iris = lines([5.1, 3.5, 1.4, "setosa"], [[4.9, 3.0, 1.3, "setosa"], [6.3, 3.3, 6.0, "virginica"]] * 10)
    years = pandas.DataFrame({"country": ["FR", "NO", "SE", "DK"] * 5, "2001": numpy.arange(20) / 4, "2002": numpy.arange(20) / 8})
    letters = pandas.DataFrame(generator("mushrooms").choice(list("pxsnt"), (40, 5)))
    letters.iloc[0] = list("pxpnt")
    spread = lines(["age", "label"], [[i, "ab"[i % 2]] for i in range(20)])
    odd = odd_warning("c1", 1, 21, "age", 1)
    worded = pandas.DataFrame({"c1": ["age"] + [str(i) for i in range(20)], "c2": ["label"] + list("ab" * 10)})
    both = spoilt(spoilt(t, "age", [4], "old"), "income", [39], "much")
    strange = (odd_warning("c1", 1, 40, "old", 5), odd_warning("c2", 1, 40, "much", 40))
    gaps = "63.0,?,1.5,x\n" + "".join(f"{i}.5,{i},{i * 2},{'xy'[i % 2]}\n" for i in range(20))
    return [
        Row("no header, with texts", "t.csv", body, numbered(t), says=("no header",), label="c4"),
        Row("no header, said", "t.csv", body, numbered(t), no_header, label="c4"),
        Row("no header, semicolons", "t.csv", csv_text(t, header=False, sep=";"), numbered(t), says=("no header",), label="c4"),
        Row("no header, CRLF and Latin-1", "t.csv", csv_text(north, header=False).replace("\n", "\r\n").encode("latin-1"), numbered(north), label="c4"),
        Row("no header, numbers alone", "t.csv", csv_text(numbers, header=False), numbered(numbers), says=("no header",)),
        Row("no header, as iris.data", "iris.data", iris + "\n", pandas_reads(iris, **four), says=("no header",), label="c4"),
        Row("no header, a missing cell in the first row", "t.csv", gaps, pandas_reads(gaps, **four), says=("no header",), label="c4"),
        Row("no header, one column of numbers", "t.csv", saved_text(threes, fmt="%d"), as_frame(threes), says=("no header",)),
        written("a header over letters that come again", again, says=("header=no",)),
        Row("no header, letters alone, said", "t.csv", csv_text(letters, header=False), numbered(letters), no_header),
        Row("no header, an odd cell in each column of numbers", "t.csv", csv_text(both, header=False), numbered(both), says=("no header",), odd=strange),
        Row("no header, letters alone with a name twice", "t.csv", csv_text(letters, header=False), Refused("header=no", '"p"')),
        Row("a header although none was said", "t.csv", spread, worded, no_header, odd=(odd,)),
        written("years as names", years, says=("row 1", "header=no")),
        written("years as names, said", years, ("--read", "header=yes")),
        Row("names in quotes", "t.csv", csv_text(t, quoting=csv.QUOTE_ALL), t, ("--read", "header=auto"), label="label"),
        Row("a header over texts alone", "t.csv", csv_text(t[["city", "label"]]), t[["city", "label"]], label="label"),
        Row("one column with a header", "t.csv", csv_text(t[["age"]]), t[["age"]], says=("header in row 1",)),
        Row("one column of texts of two words", "t.csv", "town\n" + "New York\nSan Jose\n" * 9, pandas.DataFrame({"town": ["New York", "San Jose"] * 9})),
        Row("one column of texts of one or two words", "t.csv", "town\n" + "New York\nOslo\n" * 9, pandas.DataFrame({"town": ["New York", "Oslo"] * 9})),
    ]


def names():
    t = people("names")
    wild = t.rename(columns={"age": "🦁 age", "income": 'in"come', "city": "ci,ty\nhere"})
    scripts = t.set_axis(["年齢", "доход", "πόλη", "label"], axis=1)
    spaced = t.set_axis(["age in years", "income (EUR)", "home town", "label"], axis=1)
    case = t.rename(columns={"age": "Label", "income": "LABEL"})
    return [
        written("names with emoji, quotes, commas, lines", wild, label="label"),
        written("names that differ in case", case, label="label"),
        written("names of other scripts", scripts, label="label"),
        written("names with blanks inside", spaced, label="label"),
        Row("a name twice", "t.csv", csv_text(t).replace("income", "age", 1), Refused('"age"', "column 1", "column 2")),
        Row("a name twice, far apart", "t.csv", csv_text(t).replace("label", "age", 1), Refused('"age"', "header=no")),
        Row("no name in the middle", "t.csv", csv_text(t).replace("income", "", 1), Refused("column 2", "name")),
        Row("a very long name", "t.csv", csv_text(t).replace("income", "i" * 5000, 1), t.rename(columns={"income": "i" * 5000}), label="label"),
    ]


# ---- odd cells ----


def spoilt(frame, column, places, cell):
    """The frame with texts for numbers: `cell` at some places."""
    texts = [str(v) for v in frame[column]]
    for place in places:
        texts[place] = cell
    return frame.assign(**{column: texts})


def odd_warning(column, n, of, cell, row):
    are_not = "is not a number" if n == 1 else "are not numbers"
    return f'column {column}: {n} of {of:,} cells {are_not}, first "{cell}" in row {row}; treated as categories'


ODD_CELLS = [
    *("abc", "0x10", "1_000", "١٢", "１２", "−3", "½", "1e", "1d5", "--3", "1.2.3"),
    *("(123)", "$5", "<10", "12 months", "3-4", "1 000 x", "True"),
]


def odd_cells():
    rows = []
    t = people("odd", 60)
    for cell in ODD_CELLS:
        bad = spoilt(t, "age", [15, 33, 50], cell)
        rows.append(written(f"three cells are {cell}", bad, odd=(odd_warning("age", 3, 60, cell, 17),)))
    bad = spoilt(t, "age", [15, 33, 50], "abc")
    large = people("odd large", 4000)
    worse = spoilt(large, "income", [15, 16, 3999], "abc")
    both = spoilt(spoilt(t, "age", [4], "old"), "income", [59], "much")
    warnings = (odd_warning("age", 1, 60, "old", 6), odd_warning("income", 1, 60, "much", 61))
    gaps = holed(t, ["age"], "strict")
    coded = t.assign(code=[f"A{i}" for i in range(60)])
    late = people("late", 5000)
    late_bad = spoilt(late, "age", [4999], "x")
    missing = spoilt(holed(t, ["income"], "odd and missing"), "income", [20], "abc").replace({"income": {"nan": None}})
    rows += [
        written("three cells of 4,000 are abc", worse, odd=(odd_warning("income", 3, 4000, "abc", 17),), label="label"),
        written("two columns with an odd cell", both, odd=warnings),
        written("an odd cell in the last of 5,000 rows", late_bad, odd=(odd_warning("age", 1, 5000, "x", 5001),)),
        Row("odd cells when strict", "t.csv", csv_text(bad), Refused("age", "3 of 60", '"abc"', "row 17"), ("--read", "strict",)),
        written("texts when strict", t, ("--read", "strict",), label="label"),
        Row("missing words when strict", "t.csv", csv_text(gaps, na_rep="NULL"), gaps, ("--read", "strict",), label="label"),
        written("odd and missing cells in one column", missing, odd=(odd_warning("income", 1, 60, "abc", 22),)),
        written("odd cells in a column said to be texts", bad, ("--read", "column=age:text")),
        Row("odd cells in a column said to be numbers", "t.csv", csv_text(bad), Refused("row 17", "age", "abc"), ("--read", "column=age:number")),
        written("codes of letters and digits are texts", coded),
        Row("inf among numbers", "t.csv", csv_text(spoilt(t, "age", [5], "inf")), Refused("row 7", "age", "inf")),
        Row("1e999 among numbers", "t.csv", csv_text(spoilt(t, "age", [5], "1e999")), Refused("row 7", "age", "1e999")),
    ]
    return rows


def odd_numbers():
    """Ways to write numbers that are numbers all the same, and things like numbers that are not."""

    def one(name, texts, values, **more):
        label = list("ab" * len(texts))[: len(texts)]
        expect = pandas.DataFrame({"x": values, "label": label})
        return Row(name, "t.csv", lines(["x", "label"], zip(texts, label)), expect, **more)

    ways = ["1e5", "1E5", "1e+5", "+3", ".5", "5.", "-0", "-.25", "1e-3", "000", "1e-400", "123456789012345678901234567890", "0.1", "9007199254740993"]
    extremes = ["1.7976931348623157e308", "-1.7976931348623157e308", "2.2250738585072014e-308", "5e-324"]
    ids = [f"{i:05d}" for i in range(30)]
    rng = generator("odd numbers")
    label = list("ab" * 15)
    as_text = pandas.DataFrame({"x": ids, "label": label})
    text = lines(["x", "label"], zip(ids, label))
    answers = rng.choice(["yes", "no"], 30)
    truths = rng.choice(["TRUE", "FALSE"], 30)
    clocks = [f"{i % 24:02d}:{i:02d}" for i in range(30)]
    days = [f"{i + 1:02d}/03/2021" for i in range(30)]
    phones = [f"+47 55 {i:02d} 12" for i in range(30)]
    addresses = [f"10.0.{i}.7" for i in range(30)]
    return [
        one("many ways to write a number", ways, [float(w) for w in ways]),
        one("blanks around numbers", ["  3", "4  ", " 5.5 ", "6"], [3.0, 4.0, 5.5, 6.0]),
        one("tabs around numbers between commas", ["\t3", "4\t", "5", "6"], [3.0, 4.0, 5.0, 6.0]),
        one("leading zeros are numbers", ids, [float(i) for i in ids], label="label"),
        Row("leading zeros said to be texts", "t.csv", text, as_text, ("--read", "column=x:text")),
        one("yes and no", answers, answers),
        one("TRUE and FALSE", truths, truths, label="label"),
        one("times of day", clocks, clocks),
        one("dates", days, days),
        one("telephone numbers", phones, phones),
        one("internet addresses", addresses, addresses),
        one("one value for all", ["7"] * 10, [7.0] * 10),
        one("zeros and ones", list("0110100110"), [float(c) for c in "0110100110"], label="label"),
        one("largest and smallest", extremes, [float(x) for x in extremes]),
    ]


# ---- encodings ----


def encodings():
    t = people("encodings", cities=ACCENTS)
    text = csv_text(t)
    far = people("far", 50000)[["age", "city"]]
    far_text = csv_text(far).encode() + "44,Tromsø\n".encode("latin-1")
    far_expect = pandas.concat([far, pandas.DataFrame({"age": [44], "city": ["Tromsø"]})])
    lions = people("lions", cities=["🦁", "日本", "Ω"])
    lion_text = csv_text(lions)
    rows = [
        Row(f"{name}", "t.csv", text.encode(codec), t, says=says, label="label")
        for name, codec, says in (
            ("UTF-8", "utf-8", ()),
            ("UTF-8 with its mark", "utf-8-sig", ()),
            ("Latin-1", "latin-1", ("1252",)),
            ("UTF-16", "utf-16", ("UTF-16",)),
        )
    ]
    windows = pandas.DataFrame({"x": [1, 2, 3, 4], "label": ["€", "“q”", "€", "“q”"]})
    odd_length = text.encode("utf-16")[:-1]
    return rows + [
        Row("UTF-16, high byte first, with its mark", "t.csv", b"\xfe\xff" + text.encode("utf-16-be"), t, says=("UTF-16",), label="label"),
        Row("UTF-16 with surrogates", "t.csv", lion_text.encode("utf-16"), lions, label="label"),
        Row("UTF-8 with four bytes", "t.csv", lion_text, lions, label="label"),
        Row("UTF-16 with CRLF", "t.csv", text.replace("\n", "\r\n").encode("utf-16"), t),
        Row("UTF-16 of an odd length", "t.csv", odd_length, Refused("UTF-16")),
        Row("UTF-16 with half a pair", "t.csv", "\ufeffx,label\n1,\ud83e\n".encode("utf-16-le", "surrogatepass"), Refused("line 2")),
        Row("euro and curly quotes of Windows", "t.csv", csv_text(windows).encode("cp1252"), windows),
        Row("Latin-1 after a megabyte of ASCII", "t.csv", far_text, far_expect, says=("1252",)),
        Row("UTF-8 with a wrong byte late", "t.csv", text.encode() + b"44,1.5,Troms\xf8,yes\n", Refused("row 42", "encoding")),
        Row("UTF-8 with a wrong byte late, said to be UTF-8", "t.csv", text.encode() + b"44,1.5,Troms\xf8,yes\n", Refused("row 42"), ("--read", "encoding=utf-8")),
        Row("bytes that are neither UTF-8 nor Windows", "t.csv", csv_text(people("bytes")).encode() + b"44,1.5,\x81\x8d,yes\n", Refused("line 42", "encoding")),
        Row("Latin-1 said", "t.csv", text.encode("latin-1"), t, ("--read", "encoding=latin-1"), label="label"),
        Row("UTF-16 said, without its mark", "t.csv", text.encode("utf-16-le"), t, ("--read", "encoding=utf-16"), label="label"),
        Row("UTF-16 without its mark", "t.csv", text.encode("utf-16-le"), t, says=("UTF-16",), label="label"),
        Row("UTF-16, high byte first, without its mark", "t.csv", text.encode("utf-16-be"), t, says=("UTF-16",), label="label"),
        Row("a NUL byte", "t.csv", text.encode() + b"44,\0,Oslo,yes\n", Refused("row 42", "nul")),
    ]


# ---- shapes ----


def shapes():
    t = people("shapes")
    text = csv_text(t)
    wide = pandas.DataFrame(generator("wide").normal(size=(12, 3000)), columns=[f"x{j}" for j in range(3000)]).assign(label=list("ab" * 6))
    long = pandas.DataFrame({"x": numpy.arange(6), "note": ["a" * 100000, 'b"' * 50000, "c,d\n" * 30000] * 2, "label": list("uv" * 3)})
    halves = pandas.DataFrame({"x": [0.25, 1.5] * 9})
    table = generator("shapes").normal(size=(40, 3))
    tags = t.assign(city=[f"{c};near;{c}" for c in t["city"]])
    places = t.assign(city=[f"{c}, Norway" for c in t["city"]])
    spaced = t.assign(city=[f"{c} in Norway" for c in t["city"]])
    nordic = csv_text(places, sep="\t", quoting=csv.QUOTE_NONE, quotechar="\0", header=False)
    return [
        Row("one row", "t.csv", csv_text(t[:1]), t[:1]),
        Row("two rows", "t.csv", csv_text(t[:2]), t[:2], label="label"),
        Row("one cell", "t.csv", "x\n5\n", pandas.DataFrame({"x": [5]})),
        Row("one column with empty lines", "t.csv", "x\n1\n\n3\n", pandas.DataFrame({"x": [1, numpy.nan, 3]})),
        written("three thousand columns", wide),
        written("very long cells", long),
        written("semicolons in cells between commas", tags, label="label"),
        Row("commas in cells between tabs", "t.tsv", csv_text(places, sep="\t"), places, label="label"),
        Row("commas in cells between tabs, no header", "t.txt", nordic, numbered(places), label="c4"),
        written("blanks in cells between commas", spaced, label="label"),
        Row("blanks in cells between bars", "t.txt", csv_text(spaced, sep="|"), spaced, label="label"),
        Row("a short row", "t.csv", text + "1,2,Oslo\n", Refused("row 42", "3", "4")),
        Row("a long row", "t.csv", text + "1,2,Oslo,yes,5\n", Refused("row 42", "5", "4")),
        Row("a long row early", "t.csv", text.replace("\n", "\n1,2,Oslo,yes,5\n", 1), Refused("row 2", "5", "4")),
        Row("a short row between semicolons", "t.csv", csv_text(t, sep=";", decimal=",") + "1;2,5\n", Refused("row 42", "2", "4")),
        Row("a short row between tabs, a comma in each", "t.txt", csv_text(places, sep="\t") + "1\t2,5\n", Refused("row 42", "2", "4")),
        Row("a short row between semicolons, no header", "t.csv", csv_text(t, sep=";", decimal=",", header=False) + "1;2,5\n", Refused("row 41", "2", "4")),
        Row("a short row between blanks", "t.txt", saved_text(table[:20]) + b"1 2\n" + saved_text(table[20:]), Refused("row 21", "2", "3")),
        Row("an empty line in the middle", "t.csv", text.replace("\n", "\n\n", 3).replace("\n\n", "\n", 2), Refused("row 4")),
        Row("a quote never closed", "t.csv", text + '1,2,"Oslo,yes\n', Refused("row 42")),
        Row("a header alone", "t.csv", text.split("\n")[0] + "\n", Refused("row")),
        Row("nothing", "t.csv", "", Refused("empty")),
        Row("a mark and nothing", "t.csv", b"\xef\xbb\xbf", Refused("empty")),
        Row("one column of decimal commas", "t.csv", csv_text(halves, sep=";", decimal=","), halves, says=("decimal comma", "delimiter")),
    ]


# ---- everything at once ----


def combinations():
    """Random choices of everything that is to be found: separator, decimal mark, encoding, quotes, line ends, index,
    header, the word for missing cells."""
    rows = []
    for i in range(60):
        rng = generator(f"combination {i}")
        sep, decimal = str(rng.choice([",", ";", "\t", "|"])), str(rng.choice([".", ","]))
        codec, end = str(rng.choice(["utf-8", "utf-8-sig", "cp1252", "utf-16"])), str(rng.choice(["\n", "\r\n", "\r"]))
        quoting, word = int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])), str(rng.choice(MISSING))
        header = bool(rng.random() < 0.7)
        index = header and bool(rng.random() < 0.3)
        t = holed(people(f"combination {i}", 50, ACCENTS), ["age", "income"], f"combination {i}")
        text = t.to_csv(sep=sep, decimal=decimal, quoting=quoting, na_rep=word, header=header, index=index).replace("\n", end)
        name = f"combination {i}: {sep!r} {decimal!r} {codec} {end!r} quoting {quoting} {word!r} header {header} index {index}"
        rows.append(Row(name, "t.csv", text.encode(codec), t if header else numbered(t)))
    return rows


# ---- as public collections have them ----


def collections():
    """Files written as well-known ones of the UCI repository and of government offices are."""
    rng = generator("collections")
    n = 40
    label = rng.choice(["<=50K", ">50K"], n)
    adult = pandas.DataFrame({"c1": rng.integers(18, 80, n), "c2": rng.choice(["State-gov", "Private"], n), "c3": label})
    adult_text = "".join(f"{a}, {b}, {c}\n" for a, b, c in adult.values).replace("Private", "?", 3) + "\n"
    adult_read = pandas_reads(adult_text, header=None, names=adult.columns, na_values=[" ?"])
    credit = pandas.DataFrame(
        {
            "c1": rng.choice(["a", "b"], n),
            "c2": numpy.round(rng.lognormal(3, 1, n), 2),
            "c3": [f"{v:05d}" for v in rng.integers(0, 300, n)],
            "c4": rng.choice(["+", "-"], n),
        }
    )
    credit_text = csv_text(holed(credit, ["c1", "c2"], "credit"), header=False, na_rep="?")
    cars = holed(pandas.DataFrame({"c1": numpy.round(rng.uniform(10, 40, n), 1), "c2": rng.integers(3, 9, n), "c3": rng.integers(50, 200, n) * 1.0}), ["c3"], "cars")
    cars["c4"] = [f"ford model {i}" for i in range(n)]
    cars_text = "".join(f'{a:<7} {b:.0f}   {"?" if pandas.isna(c) else c}\t"{d}"\n' for a, b, c, d in cars.values)
    wine = pandas.DataFrame(numpy.round(rng.uniform(0, 15, (n, 3)), 3), columns=["fixed acidity", "pH", "alcohol"]).assign(quality=rng.integers(3, 9, n))
    wine_text = csv_text(wine, sep=";").replace("fixed acidity;pH;alcohol;quality", '"fixed acidity";"pH";"alcohol";"quality"')
    t = people("collections")
    text = csv_text(t)
    strange = t.assign(city=["a\u2028b", "c\x0bd", "e\x0cf", "g\u0085h"] * 10)
    single = t.assign(city=[f"'{c}'" for c in t["city"]])
    mixed = "".join(line + ("\r\n" if i % 3 else "\n") for i, line in enumerate(text.splitlines()))
    points = lines(["x", "label"], [[f"{v // 1000}.{v % 1000:03d}", "ab"[i % 2]] for i, v in enumerate(rng.integers(1000, 999999, 30))], ";")
    return [
        Row("as adult.data", "adult.data", adult_text, adult_read, label="c3"),
        Row("as crx.data", "crx.data", credit_text, pandas_reads(credit_text, header=None, names=credit.columns, na_values=["?"]), label="c4"),
        Row("as auto-mpg.data", "auto-mpg.data", cars_text, cars, says=("blanks",)),
        Row("as winequality.csv", "winequality.csv", wine_text, wine, label="quality"),
        Row("a title above the header", "t.csv", "Survey of 2021\n" + text, Refused("row 2")),
        Row("a title above the header, semicolons", "t.csv", "Survey of 2021\n" + text.replace(",", ";"), Refused("row 2")),
        Row("a comment above two columns", "t.csv", "# made by hand\n" + csv_text(t[["age", "label"]]), Refused("row 1", "#")),
        Row("a comment above the header", "t.csv", "# made by hand\n" + text, Refused("row 2")),
        Row("line ends of two kinds", "t.csv", mixed, t, label="label"),
        written("characters that end lines elsewhere", strange, label="label"),
        written("single quotes are part of texts", single, label="label"),
        Row("quotes behind blanks", "t.csv", text.replace("\n", '\n1, 2, "Oslo", yes\n', 1), Refused("row 2")),
        Row("formulas that protect zeros", "t.csv", 'id,label\n="007",a\n="008",b\n', Refused("row 2")),
        Row("1.234 between semicolons", "t.csv", points, pandas_reads(points, sep=";"), says=("decimal=,",), label="label"),
        Row("1.234 between commas", "t.csv", points.replace(";", ","), pandas_reads(points, sep=";"), label="label"),
        Row("1.234 between semicolons, a comma", "t.csv", points, pandas_reads(points, sep=";", decimal=",", thousands="."), ("--read", "decimal=,"), label="label"),
    ]


# ---- LIBSVM ----


def libsvm_text(x, y, **options):
    file = io.BytesIO()
    dump_svmlight_file(x, y, file, **options)
    return file.getvalue()


def libsvm_files():
    rng = generator("libsvm")
    x = numpy.round(rng.normal(size=(30, 6)), 4) * (rng.random((30, 6)) < 0.6)
    x[0, 0], x[0, 5] = 0, 1.5
    x[1, 0] = 2.5
    y = numpy.where(numpy.arange(30) % 3 == 0, 1, -1)
    one, zero = libsvm_text(x, y, zero_based=False), libsvm_text(x, y, zero_based=True)
    signed = b"\n".join((b"+" if line[:1].isdigit() else b"") + line for line in one.splitlines()) + b"\n"
    sparse = {"x": x, "y": y}
    return [
        Row("LIBSVM from 1", "t.svm", one, sparse, label="label"),
        Row("LIBSVM from 1 without an ending", "t", one, sparse, label="label"),
        Row("LIBSVM with +1", "t.libsvm", signed, sparse, label="label"),
        Row("LIBSVM with comments", "t.svm", libsvm_text(x, y, zero_based=False, comment="made by a test"), sparse, label="label"),
        Row("LIBSVM from 0, said", "t.svm", zero, sparse, ("--read", "zero-based",), label="label"),
        Row("LIBSVM from 0, nothing said", "t.svm", zero, Refused("zero-based", "line 2")),
        Row("LIBSVM of three classes", "t.svm", libsvm_text(x, numpy.arange(30) % 3, zero_based=False), {"x": x, "y": numpy.arange(30) % 3}, label="label"),
        Row("LIBSVM with CRLF", "t.svm", one.replace(b"\n", b"\r\n"), sparse),
        Row("LIBSVM of several labels", "t.svm", b"1,2 1:0.5\n1 2:1\n", Refused("line 1", "1,2")),
    ]


KINDS = {
    "pandas": [pandas_separators, pandas_missing, pandas_index, pandas_styles],
    "NumPy": [numpy_arrays, numpy_texts],
    "R": [r_files],
    "office": [excel_texts, percent_and_money, not_tables],
    "Europe": [european_files],
    "headers": [headers, names],
    "odd cells": [odd_cells, odd_numbers],
    "encodings": [encodings],
    "shapes": [shapes],
    "combinations": [combinations],
    "collections": [collections],
    "LIBSVM": [libsvm_files],
}
ROWS = [row for makers in KINDS.values() for make in makers for row in make()]
assert len({row.name for row in ROWS}) == len({row.path for row in ROWS}) == len(ROWS)
