"""What the zoo of foreign files shares: a row of it, frames to write, and cells to compare."""
import gzip
import io
import zlib
from dataclasses import dataclass

import numpy
import pandas

MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "-", "."]


@dataclass
class Refused:
    """The file must be refused with a sentence that contains these parts, whatever the case of letters."""

    parts: tuple

    def __init__(self, *parts):
        self.parts = parts


@dataclass
class Row:
    """One foreign file: how it is made and what must be read from it."""

    name: str
    file: str
    content: bytes
    expect: object  # a pandas frame with the cells, or Refused
    options: tuple = ()  # of table_dump and of melicit alike
    says: tuple = ()  # parts of how it was read, or of the warnings
    odd: tuple = ()  # the warnings about columns that are not quite numbers, whole
    label: str = None  # the column of classes: the file also goes through train and predict

    def __post_init__(self):
        if isinstance(self.content, str):
            self.content = self.content.encode()

    @property
    def path(self):
        """A name of its own in a folder, with the ending that was asked for."""
        return f"{zlib.crc32(self.name.encode()):08x}_{self.file}"


def packed(row):
    """The same file packed by gzip."""
    return Row(row.name + ", packed", row.file + ".gz", gzip.compress(row.content, 1), row.expect, row.options, row.says, row.odd)


def generator(name):
    return numpy.random.default_rng(zlib.crc32(name.encode()))


CITIES = ["Oslo", "Bergen", "Moss", "Hamar"]


def people(name, n=40, cities=CITIES):
    """Whole numbers, numbers with a fraction, texts and two classes; another table for every name."""
    rng = generator(name)
    label = numpy.array(["no", "yes"])[(rng.random(n) < 0.4).astype(int)]
    label[:2] = "no", "yes"
    return pandas.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": numpy.round(rng.lognormal(7, 1, n), 2),
            "city": rng.choice(cities, n),
            "label": label,
        }
    )


def holed(frame, columns, name, share=0.2):
    """The frame without some cells, never those of the first row."""
    rng = generator(name)
    frame = frame.copy()
    for column in columns:
        gone = rng.random(len(frame)) < share
        gone[0] = False
        gone[3] = True
        frame[column] = frame[column].where(~gone)
    return frame


def csv_text(frame, **options):
    """What pandas writes; without its index unless asked for."""
    return frame.to_csv(**{"index": False, **options})


def pandas_reads(content, **options):
    """What pandas makes of the bytes, told how the file is written."""
    content = content.encode() if isinstance(content, str) else content
    told = {"na_values": MISSING, "keep_default_na": False, "float_precision": "round_trip", **options}
    if told.get("engine") == "python":
        del told["float_precision"]
    return pandas.read_csv(io.BytesIO(content), **told)


def numbered(frame):
    """The frame under the names that columns without a header get."""
    return frame.set_axis([f"c{j + 1}" for j in range(frame.shape[1])], axis=1)


def as_frame(array):
    """The columns of an array, as the library calls them."""
    array = numpy.asarray(array)
    return numbered(pandas.DataFrame(array.reshape(len(array), -1)))


def lines(header, rows, sep=","):
    """A file by hand: a header line and rows of texts."""
    return "".join(sep.join(map(str, row)) + "\n" for row in [header, *rows])


def is_number(column):
    return pandas.api.types.is_numeric_dtype(column) and not pandas.api.types.is_bool_dtype(column)


def cells(column):
    """The cells of a column of a frame as table_dump prints them."""
    if is_number(column):
        return [None if numpy.isnan(x) else float(x) for x in column.astype(float)]
    return [None if pandas.isna(x) else str(x) for x in column]


def npy(array, **options):
    file = io.BytesIO()
    numpy.save(file, array, **options)
    return file.getvalue()


def npz(writer=numpy.savez, **arrays):
    file = io.BytesIO()
    writer(file, **arrays)
    return file.getvalue()


def saved_text(array, **options):
    file = io.BytesIO()
    numpy.savetxt(file, array, **options)
    return file.getvalue()


def quoted(text):
    return '"' + str(text).replace('"', '""') + '"'


def r_table(frame, sep=" ", decimal=".", names=None, corner=None, quote=True):
    """What R's write.table makes of a frame: texts and names in quotes, NA without. `names` are the row names;
    `corner` is what the header has above them, None for nothing at all."""

    def shown(x, number):
        if pandas.isna(x):
            return "NA"
        if number:
            return repr(float(x) if x % 1 else int(x)).replace(".", decimal)
        return quoted(x) if quote else str(x)

    def name(x):
        return quoted(x) if quote else str(x)

    header = [] if names is None or corner is None else [name(corner)]
    text = sep.join(header + [name(x) for x in frame.columns]) + "\n"
    for i in range(len(frame)):
        row = [shown(frame[c].iloc[i], is_number(frame[c])) for c in frame.columns]
        text += sep.join(([] if names is None else [name(names[i])]) + row) + "\n"
    return text


def european(x, decimals=2):
    """1234567.5 as 1.234.567,50"""
    return f"{x:,.{decimals}f}".translate(str.maketrans(",.", ".,"))
