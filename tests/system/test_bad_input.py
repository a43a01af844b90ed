"""Malformed files, one by one through the program: exit 3, one JSON object, a sentence with file and place."""
import gzip
import io
import json
import zlib

import numpy
import pytest

GOOD_ROWS = "".join(f"{i % 5},{(i * 7) % 11},{'yn'[(i * 3) % 7 < 3]}\n" for i in range(40))
GOOD = "a,b,label\n" + GOOD_ROWS


def npy(header, data=b"", version=(1, 0), magic=b"\x93NUMPY"):
    """An NPY file with whatever header text, padded as NumPy does."""
    text = header.encode("latin1") + b"\n"
    size = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return magic + bytes(version) + size + text + data


def saved(array, **options):
    file = io.BytesIO()
    numpy.save(file, array, **options)
    return file.getvalue()


def spoilt(content, at, byte):
    return content[:at] + bytes([byte]) + content[at + 1 :]


NUMBERS = numpy.column_stack([numpy.arange(40) % 5, (numpy.arange(40) * 7) % 11, numpy.arange(40) % 2]).astype(float)
HOLED = NUMBERS.copy()
HOLED[5, 1] = numpy.inf
PACKED = gzip.compress(GOOD.encode())
SVM = "".join(f"{i % 2} 1:{i % 5} 3:{(i * 7) % 11}\n" for i in range(40))
F8 = "'descr': '<f8', 'fortran_order': False"

# what is wrong, name of the file, its bytes, further options, parts of the sentence besides the file's name
TABLES = [
    # CSV: shape
    ("empty file", "t.csv", "", [], ["empty"]),
    ("only a newline", "t.csv", "\n", [], []),
    ("only blank lines", "t.csv", "\n\n\n\n", [], []),
    ("only a byte order mark", "t.csv", "\ufeff", [], []),
    ("empty first line", "t.csv", "\n" + GOOD, [], ["row 1", "the first line is empty"]),
    ("header without rows", "t.csv", "a,b,label\n", [], ["row"]),
    ("header without newline", "t.csv", "a,b,label", [], ["row"]),
    ("row too short", "t.csv", GOOD + "1,2\n", [], ["row 42", "2", "3"]),
    ("row too long", "t.csv", "a,b,label\n1,2,y\n1,2,n,3\n" + GOOD_ROWS, [], ["row 3", "4", "3"]),
    ("first row too long", "t.csv", "a,b,label\n1,2,y,\n" + GOOD_ROWS, [], ["row 2"]),
    ("blank line among rows", "t.csv", "a,b,label\n1,2,y\n\n1,2,n\n" + GOOD_ROWS, [], ["row 3"]),
    ("wrong delimiter", "t.csv", GOOD.replace(",", ";"), ["--read", "delimiter=,"], ["label"]),
    ("wrong delimiter asked for", "t.csv", GOOD, ["--read", "delimiter=tab"], ["label"]),
    ("two columns of one name", "t.csv", "a,a,label\n" + GOOD_ROWS, [], ['"a"']),
    ("column without a name", "t.csv", "a,,label\n" + GOOD_ROWS, [], ["column 2"]),
    # CSV: quotes and bytes
    ("quote never closed", "t.csv", GOOD + '1,"2,y\n1,2,n\n', [], ["row 42"]),
    ("quote never closed in the header", "t.csv", 'a,"b,label\n' + GOOD_ROWS, [], ["row 1"]),
    ("quote never closed at the very end", "t.csv", GOOD + '1,2,"', [], ["row 42"]),
    ("text after a closing quote", "t.csv", GOOD + '1,"2"x,y\n', [], ["row 42"]),
    ("quote inside a plain cell", "t.csv", GOOD + '1,2"3,y\n', [], ["row 42"]),
    ("NUL byte in a cell", "t.csv", GOOD.encode() + b"1,\0,y\n", [], ["row 42"]),
    ("NUL byte in the header", "t.csv", b"a,b\0,label\n" + GOOD_ROWS.encode(), [], ["row 1"]),
    ("NUL byte in a quoted cell", "t.csv", GOOD.encode() + b'1,"2\0",y\n', [], ["row 42"]),
    ("UTF-16 cut in a character", "t.csv", GOOD.encode("utf-16")[:-1], [], ["line 41", "UTF-16"]),
    ("UTF-8 said, UTF-16 found", "t.csv", GOOD.encode("utf-16"), ["--read", "encoding=utf-8"], ["row 1"]),
    ("byte of no encoding", "t.csv", GOOD.encode() + b"1,2,\x81\n", [], ["line 42", "\\x81", "UTF-8"]),
    ("stray continuation byte", "t.csv", GOOD.encode() + b"1,2,\x80\n", ["--read", "encoding=utf-8"], ["row 42"]),
    ("Latin-1 letter", "t.csv", GOOD.encode() + b"1,2,caf\xe9\n", ["--read", "encoding=utf-8"], ["row 42"]),
    ("Latin-1 letter in the header", "t.csv", b"a,caf\xe9,label\n" + GOOD_ROWS.encode(), ["--read", "encoding=utf-8"], ["row 1"]),
    ("UTF-8 cut in a cell", "t.csv", GOOD.encode() + b"1,2,\xe2\x82\n", ["--read", "encoding=utf-8"], ["row 42"]),
    ("over-long UTF-8", "t.csv", GOOD.encode() + b"1,2,\xc0\xaf\n", ["--read", "encoding=utf-8"], ["row 42"]),
    ("UTF-8 surrogate", "t.csv", GOOD.encode() + b"1,2,\xed\xa0\x80\n", ["--read", "encoding=utf-8"], ["row 42"]),
    ("an ELF program", "t.csv", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0", [], []),
    # CSV: values
    ("number too large", "t.csv", GOOD + "1e999,2,y\n", [], ["row 42", "a", "1e999"]),
    ("number too small", "t.csv", GOOD + "-1e400,2,y\n", [], ["row 42", "a", "-1e400"]),
    ("very many digits", "t.csv", GOOD + "9" * 400 + ",2,y\n", [], ["row 42", "a"]),
    ("inf", "t.csv", GOOD + "1,inf,y\n", [], ["row 42", "b", "inf"]),
    ("odd cell under --read strict", "t.csv", GOOD + "1,two,y\n", ["--read", "strict"], ["row 42", "column b: 1 of 41 cells", "two"]),
    ("header of numbers under --read strict", "t.csv", "0,1,2\n" + "1.5,2,0\n2.5,1,1\n" * 9, ["--read", "strict", "--label", "2"], ["row 1", "header"]),
    ("a comma that may mean thousands", "t.csv", GOOD.replace(",", ";") + "1,234;2;y\n", [], ["row 42", '"1,234"', "decimal"]),
    ("-Infinity", "t.csv", GOOD + "1,-Infinity,y\n", [], ["row 42", "b", "-Infinity"]),
    ("text in a column of numbers", "t.csv", GOOD + "1,two,y\n", ["--read", "column=b:number"], ["row 42", "b", "two"]),
    ("hexadecimal as a number", "t.csv", GOOD + "1,0x10,y\n", ["--read", "column=b:number"], ["row 42", "b", "0x10"]),
    ("decimal comma as a number", "t.csv", GOOD + '1,"2,5",y\n', ["--read", "column=b:number", "--read", "decimal=."], ["row 42", "b", "2,5"]),
    ("type for a column that is not there", "t.csv", GOOD, ["--read", "column=zip:text"], ["zip"]),
    # CSV: the label and other columns
    ("no label column", "t.csv", GOOD.replace("label", "class"), [], ['"label"', "class"]),
    ("label column misspelt", "t.csv", GOOD, ["--label", "lable"], ['"lable"', '"label"']),
    ("label called None", "t.csv", GOOD + "1,2,None\n", [], ["row 42", "label", '"None"', "column=label:text"]),
    ("missing label", "t.csv", GOOD + "1,2,?\n", [], ["row 42", "label"]),
    ("empty label", "t.csv", GOOD + "1,2,\n", [], ["row 42", "label"]),
    ("missing numeric label", "t.csv", "a,label\n" + "1,0\n2,1\n" * 9 + "3,NA\n", [], ["row 20", "label"]),
    ("one class only", "t.csv", "a,b,label\n" + "1,2,y\n" * 9, [], ["label", "y"]),
    ("one numeric class only", "t.csv", "a,label\n" + "1,0\n2,0\n" * 9, [], ["label", "0"]),
    ("one row only", "t.csv", "a,label\n1,0\n", [], ["label"]),
    ("a class of its own for every row", "t.csv", "a,label\n" + "".join(f"{i},k{i}\n" for i in range(30)), [], ["label", "30"]),
    ("a number of its own for every row", "t.csv", "a,label\n" + "".join(f"{i},{i}.5\n" for i in range(30)), [], ["label", "30"]),
    ("a class with one row that is held out", "t.csv", GOOD + "1,2,z\n", ["--test-share", "0.9"], ["z"]),
    ("quantiles of texts", "t.csv", GOOD, ["--fit", "label-quantiles=3"], ["label"]),
    ("quantiles that coincide", "t.csv", "a,label\n" + "1,0\n2,0\n3,0\n4,1\n" * 5, ["--fit", "label-quantiles=3"], ["label"]),
    ("quantiles of missing values", "t.csv", "a,label\n" + "".join(f"{i},{i}\n" for i in range(9)) + "9,?\n", ["--fit", "label-quantiles=2"], ["row 11", "label"]),
    ("only the label", "t.csv", "label\n" + "y\nn\n" * 9, [], ["feature"]),
    ("every other column skipped", "t.csv", GOOD, ["--skip", "a", "--skip", "b"], ["feature"]),
    ("every other column is meta_", "t.csv", GOOD.replace("a,b", "meta_a,meta_b"), [], ["feature"]),
    ("no feature has a value", "t.csv", "a,label\n" + "?,0\n?,1\n" * 9, [], ["feature"]),
    ("missing group", "t.csv", "a,g,label\n" + "1,x,0\n2,y,1\n" * 9 + "3,,1\n", ["--group", "g"], ["row 20", "g"]),
    ("group column not there", "t.csv", GOOD, ["--group", "side"], ['"side"']),
    ("negative weight", "t.csv", GOOD + "-1,2,y\n", ["--weights", "a"], ["row 42", '"a"', "-1"]),
    ("missing weight", "t.csv", GOOD + "?,2,y\n", ["--weights", "a"], ["row 42", '"a"']),
    ("weights of text", "t.csv", GOOD + "w,2,y\n", ["--weights", "a"], ['"a"']),
    ("all weights 0", "t.csv", "a,b,label\n" + "0,1,y\n0,2,n\n" * 9, ["--weights", "a"], ['"a"']),
    ("positive class not there", "t.csv", GOOD, ["--positive", "yes"], ['"yes"', '"y"', '"n"']),
    # limits
    ("more rows than allowed", "t.csv", GOOD, ["--read", "max-rows=39"], ["39"]),
    ("more columns than allowed", "t.csv", GOOD, ["--read", "max-columns=2"], ["2"]),
    ("more bytes than allowed", "t.csv", GOOD, ["--read", "max-bytes=100"], ["100"]),
    ("more bytes than allowed once unpacked", "t.csv.gz", gzip.compress(GOOD.encode() + b"\n" * 10**6), ["--read", "max-bytes=10000"], ["10000"]),
    ("more categories than allowed", "t.csv", GOOD, ["--read", "max-categories=3", "--read", "column=b:text"], ["b", "3"]),
    # gzip
    ("truncated gzip", "t.csv.gz", PACKED[: len(PACKED) // 2], [], ["gzip"]),
    ("gzip without its last bytes", "t.csv.gz", PACKED[:-4], [], ["gzip"]),
    ("gzip header only", "t.csv.gz", PACKED[:10], [], ["gzip"]),
    ("gzip with a changed byte", "t.csv.gz", spoilt(PACKED, len(PACKED) // 2, PACKED[len(PACKED) // 2] ^ 0xFF), [], ["gzip"]),
    ("gzip with a wrong checksum", "t.csv.gz", spoilt(PACKED, len(PACKED) - 8, PACKED[-8] ^ 1), [], ["gzip"]),
    ("gzip followed by garbage", "t.csv.gz", PACKED + b"garbage", [], []),
    ("malformed rows inside gzip", "t.csv.gz", gzip.compress((GOOD + "1,2\n").encode()), [], ["row 42"]),
    ("zlib instead of gzip", "t.csv.gz", zlib.compress(GOOD.encode()), [], []),
    # NPY
    ("NPY: wrong magic", "t.npy", npy(f"{{{F8}, 'shape': (2, 2), }}", b"\0" * 32, magic=b"\x93NUMPZ"), [], []),
    ("NPY: cut in the magic", "t.npy", b"\x93NUM", [], []),
    ("NPY: cut in the header", "t.npy", saved(NUMBERS)[:40], [], []),
    ("NPY: cut in the data", "t.npy", saved(NUMBERS)[:-8], [], []),
    ("NPY: surplus data", "t.npy", saved(NUMBERS) + b"\0" * 8, [], []),
    ("NPY: no data", "t.npy", npy(f"{{{F8}, 'shape': (40, 3), }}"), [], []),
    ("NPY: shape larger than the file", "t.npy", npy(f"{{{F8}, 'shape': (1000000000000, 3), }}", b"\0" * 24), [], []),
    ("NPY: shape that overflows", "t.npy", npy(f"{{{F8}, 'shape': (4611686018427387904, 8), }}", b"\0" * 64), [], []),
    ("NPY: negative shape", "t.npy", npy(f"{{{F8}, 'shape': (-40, 3), }}", b"\0" * 24), [], []),
    ("NPY: three dimensions", "t.npy", saved(numpy.zeros((4, 3, 2))), [], ["dimension"]),
    ("NPY: no dimension", "t.npy", saved(numpy.array(1.0)), [], []),
    ("NPY: objects", "t.npy", saved(numpy.array([[1, "x"]], dtype=object), allow_pickle=True), [], ["O"]),
    ("NPY: complex numbers", "t.npy", saved(NUMBERS.astype(complex)), [], ["c16"]),
    ("NPY: dates", "t.npy", saved(numpy.array(["2020-01-01"], dtype="M8[D]")), [], ["M8[D]", "dates"]),
    ("NPY: a record", "t.npy", saved(numpy.zeros(4, dtype=[("x", "f8"), ("y", "f8")])), [], []),
    ("NPY: no rows", "t.npy", saved(numpy.zeros((0, 3))), ["--label", "c3"], []),
    ("NPY: no columns", "t.npy", saved(numpy.zeros((3, 0))), ["--label", "c3"], []),
    ("NPY: version 9", "t.npy", npy(f"{{{F8}, 'shape': (2, 2), }}", b"\0" * 32, version=(9, 0)), [], ["version"]),
    ("NPY: header is no dictionary", "t.npy", npy("[1, 2, 3]", b"\0" * 32), [], []),
    ("NPY: header without shape", "t.npy", npy(f"{{{F8}, }}", b"\0" * 32), [], ["shape"]),
    ("NPY: header without order", "t.npy", npy("{'descr': '<f8', 'shape': (2, 2), }", b"\0" * 32), [], ["fortran_order"]),
    ("NPY: header with a stranger", "t.npy", npy(f"{{{F8}, 'shape': (2, 2), 'extra': 1, }}", b"\0" * 32), [], ["extra"]),
    ("NPY: infinite number", "t.npy", saved(HOLED), ["--label", "c3"], ["row 6", "c2"]),
    ("NPY: label not there", "t.npy", saved(NUMBERS), [], ['"label"', "c1"]),
    # LIBSVM
    ("LIBSVM: empty", "t.svm", "", [], []),
    ("LIBSVM: indices not ascending", "t.svm", SVM + "1 3:1 2:1\n", [], ["line 41", "2"]),
    ("LIBSVM: an index twice", "t.svm", SVM + "1 3:1 3:1\n", [], ["line 41", "3"]),
    ("LIBSVM: negative index", "t.svm", SVM + "1 -1:1\n", [], ["line 41", "-1"]),
    ("LIBSVM: index 0", "t.svm", SVM + "1 0:1\n", [], ["line 41", "0"]),
    ("LIBSVM: index that overflows", "t.svm", SVM + "1 99999999999999999999:1\n", [], ["line 41"]),
    ("LIBSVM: no colon", "t.svm", SVM + "1 7\n", [], ["line 41", "7"]),
    ("LIBSVM: no value", "t.svm", SVM + "1 7:\n", [], ["line 41"]),
    ("LIBSVM: value is no number", "t.svm", SVM + "1 7:x\n", [], ["line 41", "x"]),
    ("LIBSVM: value nan", "t.svm", SVM + "1 7:nan\n", [], ["line 41", "nan"]),
    ("LIBSVM: value too large", "t.svm", SVM + "1 7:1e999\n", [], ["line 41", "1e999"]),
    ("LIBSVM: NUL byte", "t.svm", SVM.encode() + b"1 7:\0\n", [], ["line 41"]),
    ("LIBSVM: labels only", "t.svm", "0\n1\n" * 9, [], ["index:value"]),
    ("LIBSVM: one class only", "t.svm", "1 1:1\n1 1:2\n" * 9, [], ["label"]),
]


@pytest.mark.parametrize("what, name, content, more, parts", TABLES, ids=[row[0] for row in TABLES])
def test_tables(melicit, what, name, content, more, parts):
    melicit.write(name, content)
    check(melicit("train", "--data", name, *more, "--out", "m.json", "--json"), name, parts)
    assert [path.name for path in melicit.folder.iterdir()] == [name]


def check(got, name, parts):
    assert got.err == ""
    assert got.code == 3, f"exit {got.code}\n{got.out}"
    error = got.json["error"]
    assert error["code"] in ("EDATA", "ELIMIT")
    assert name in error["message"]
    for part in parts:
        assert part in error["message"], f"{part!r} is not in {error['message']!r}"
    assert len(error["message"]) < 480


def test_good_neighbours(melicit):
    """What the malformed files are derived from is fine."""
    for name, content, label in (
        ("t.csv", GOOD, "label"),
        ("u.csv", "\ufeff" + GOOD.replace("\n", "\r\n"), "label"),
        ("t.csv.gz", PACKED, "label"),
        ("two.csv.gz", gzip.compress(GOOD[:100].encode()) + gzip.compress(GOOD[100:].encode()), "label"),
        ("t.npy", saved(NUMBERS), "c3"),
        ("f.npy", saved(numpy.asfortranarray(NUMBERS.astype("f4"))), "c3"),
        ("i.npy", saved(NUMBERS.astype("i4")), "c3"),
        ("t.svm", SVM, "label"),
        ("constant.csv", "one," + GOOD.replace("\n", "\n7,").removesuffix("7,"), "label"),
        ("unfinished.csv", GOOD.rstrip("\n"), "label"),
    ):
        melicit.write(name, content)
        told = melicit("train", "--data", name, "--label", label, "--json").done().json
        assert told["rows"] == 40, name
    assert told["features"] == 2


# ---- rows for a model ----

NEW_ROWS = [
    ("a column is missing", "n.csv", "a\n1\n", ["b"]),
    ("text where numbers were", "n.csv", "a,b\n1,2\nx,2\n", ["row 3", "a", "x"]),
    ("a number far out", "n.csv", "a,b\n1,2\n1e308,2\n-1.7e308,2\n", None),
    ("infinite number", "n.csv", "a,b\n1,2\n1,inf\n", ["row 3", "b", "inf"]),
    ("ragged row in the second block", "n.csv", "a,b\n" + "1,2\n" * 70000 + "1\n", ["row 70002"]),
    ("no rows", "n.csv", "a,b\n", []),
    ("empty file", "n.csv", "", []),
    ("quote never closed", "n.csv", 'a,b\n1,"2\n', ["row 2"]),
    ("truncated gzip", "n.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 50)[:-6], ["gzip"]),
    ("NPY with other columns", "n.npy", saved(NUMBERS), ["a"]),
    ("LIBSVM for a model of columns", "n.svm", SVM, []),
]


@pytest.mark.parametrize("what, name, content, parts", NEW_ROWS, ids=[row[0] for row in NEW_ROWS])
def test_new_rows(melicit, what, name, content, parts):
    melicit.write("t.csv", GOOD)
    melicit("train", "--data", "t.csv", "--out", "m.json").done()
    melicit.write(name, content)
    got = melicit("predict", "--model", "m.json", "--data", name, "--out", "p.npy", "--json")
    if parts is None:  # large but finite: every probability is still a probability
        p = melicit.load("p.npy")
        assert got.code == 0 and numpy.isfinite(p).all() and numpy.abs(p.sum(axis=1) - 1).max() < 1e-12
        return
    check(got, name, parts)
    assert not (melicit.folder / "p.npy").exists()


# ---- model files ----


def without(key):
    return lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != key})


def replaced(key, value):
    return lambda text: json.dumps({**json.loads(text), key: value})


MODELS = [
    ("empty file", lambda text: "", []),
    ("no JSON", lambda text: "melicit", ["JSON object"]),
    ("cut in the middle", lambda text: text[: len(text) // 2], ["line"]),
    ("cut at the end", lambda text: text.rstrip()[:-1], ["line"]),
    ("text after the end", lambda text: text + "{}", ["line"]),
    ("NUL byte", lambda text: text.replace('"', "\0", 1), []),
    ("invalid UTF-8", lambda text: text.encode() + b"\xff", []),
    ("NaN", lambda text: text.replace('"intercepts": [', '"intercepts": [NaN, ', 1), []),
    ("a number too large", lambda text: text.replace('"intercepts": [', '"intercepts": [1e999, ', 1), []),
    ("a key twice", lambda text: text.replace("{", '{"format": "melicit-model", ', 1), []),
    ("deeply nested", lambda text: "[" * 100000, []),
    ("a list", lambda text: "[]", []),
    ("a number", lambda text: "1", []),
    ("an empty object", lambda text: "{}", ["melicit-model"]),
    ("another format", replaced("format", "melicit-metric"), ["this is a metric; expected a model"]),
    ("a version to come", replaced("version", 99), ["version", "99"]),
    ("a version of text", replaced("version", "1"), ["version"]),
    ("without format", without("format"), ["melicit-model"]),
    ("without version", without("version"), ["version"]),
    ("without classes", without("classes"), ["classes"]),
    ("without intercepts", without("intercepts"), ["intercepts"]),
    ("without weights", without("weights"), ["weights"]),
    ("without encoder", without("encoder"), ["encoder"]),
    ("without calibration", without("calibration"), ["calibration"]),
    ("one class", replaced("classes", ["y"]), ["classes"]),
    ("classes of numbers", replaced("classes", [0, 1]), ["classes"]),
    ("two classes of one name", replaced("classes", ["y", "y"]), ["classes"]),
    ("too many classes", replaced("classes", ["x", "y", "z"]), []),
    ("intercepts of text", replaced("intercepts", ["x"]), ["intercepts"]),
    ("too many intercepts", replaced("intercepts", [0.5, 0.5]), ["intercepts"]),
    ("no weights", replaced("weights", []), ["weights"]),
    ("too few weights", replaced("weights", [[0.5]]), ["weights"]),
    ("a weight of text", replaced("weights", [[0.5, "x"]]), ["weights"]),
    ("a null weight", replaced("weights", [[0.5, None]]), ["weights"]),
    ("an unknown calibration", replaced("calibration", {"kind": "magic"}), ["calibration"]),
    ("a negative temperature", replaced("calibration", {"kind": "temperature", "temperature": -1}), ["calibration"]),
    ("an isotonic calibration", replaced("calibration", {"kind": "isotonic", "from": [0.1], "to": [0.1]}), ["calibration", "train it again"]),
    ("an encoder of text", replaced("encoder", "x"), ["encoder"]),
    ("an empty encoder", replaced("encoder", {}), ["encoder"]),
    ("no encoder at all", replaced("encoder", None), []),
    ("an unknown key", replaced("surprise", 1), ["surprise"]),
]


@pytest.mark.parametrize("what, change, parts", MODELS, ids=[row[0] for row in MODELS])
def test_models(melicit, what, change, parts):
    melicit.write("t.csv", GOOD)
    melicit("train", "--data", "t.csv", "--out", "m.json").done()
    text = (melicit.folder / "m.json").read_text()
    changed = change(text)
    assert changed != text
    melicit.write("bad.json", changed)
    got = melicit("predict", "--model", "bad.json", "--data", "t.csv", "--out", "p.npy", "--json")
    check(got, "bad.json", parts)
    assert not (melicit.folder / "p.npy").exists()
    got = melicit("train", "--data", "t.csv", "--fit", "warm=bad.json", "--json")
    if what != "no encoder at all":  # coefficients are enough for a start
        check(got, "bad.json", parts)


def test_an_unchanged_model_is_fine(melicit):
    melicit.write("t.csv", GOOD)
    melicit("train", "--data", "t.csv", "--out", "m.json").done()
    for change in (replaced("version", 1), lambda text: "\n\n" + text + "\n"):
        melicit.write("copy.json", change((melicit.folder / "m.json").read_text()))
        melicit("predict", "--model", "copy.json", "--data", "t.csv", "--out", "p.npy").done()
