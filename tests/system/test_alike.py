"""Labels and groups that look the same but are stored differently, and columns that cannot be features."""
import json

import pytest

ALIKE = {
    "a blank behind": ("yes", "yes "),
    "two blanks": ("not yet", "not  yet"),
    "a no-break space": ("not yet", "not\u00a0yet"),
    "a space without width": ("yes", "y\u200bes"),
    "a byte order mark": ("yes", "\ufeffyes"),
    "case of a truth value": ("true", "True"),
    "accents": ("caf\u00e9", "cafe\u0301"),
}
DIFFERENT = [("yes", "Yes"), ("cafe", "caf\u00e9"), ("a b", "ab"), ("a", "\u00e0")]


def write(melicit, file, values):
    melicit.write(file, "v\n" + "".join(f'"{value}"\n' for value in values))


@pytest.mark.parametrize("what", ALIKE)
def test_names_that_look_the_same_are_refused(melicit, what):
    first, second = ALIKE[what]
    write(melicit, "y.csv", [first, second, "other", "other"] * 5)
    write(melicit, "plain.csv", ["a", "b"] * 10)
    score = ("score", "--named", "accuracy", "--labels")
    melicit(*score, "y.csv", "--predictions", "y.csv").refused(3, "y.csv", "look the same")
    melicit(*score, "plain.csv", "--predictions", "plain.csv", "--groups", "y.csv").refused(3, "y.csv", "look the same")
    table = "x,label\n" + "".join(f'{i % 3},"{name}"\n' for i, name in enumerate([first, second, "other"] * 8))
    melicit.write("t.csv", table)
    melicit("train", "--data", "t.csv").refused(3, "t.csv", "look the same")


@pytest.mark.parametrize("names", DIFFERENT)
def test_names_that_look_different_are_not(melicit, names):
    write(melicit, "y.csv", [*names, "other", "other"] * 5)
    assert melicit("score", "--named", "accuracy", "--labels", "y.csv", "--predictions", "y.csv", "--json").done().json["value"] == 1


def test_codes_with_zeros_in_front_are_different(melicit):
    melicit.write("y.csv", "v\n" + "01\n1\n2\n2\n" * 5)
    score = ("score", "--named", "accuracy", "--labels", "y.csv", "--predictions", "y.csv")
    melicit(*score).refused(3, "y.csv", "different codes", "column=v:text")
    melicit.write("decimal.csv", "v\n" + "003.1\n3.1\n9\n" * 5)
    melicit("score", "--named", "accuracy", "--labels", "decimal.csv", "--predictions", "decimal.csv").refused(3, "decimal.csv", "different codes")
    assert melicit(*score, "--json", "--read", "column=v:text").done().json["value"] == 1
    # 01 in one file and 1 in another are different codes, too; what is written has the zeros.
    for of in ("01\n02\n10\n", "1\n2\n10\n"):
        melicit.write("padded.csv", "v\n" + "01\n02\n10\n" * 4)
        melicit.write("p.csv", "v\n" + of * 4)
        for files in (("padded.csv", "p.csv"), ("p.csv", "padded.csv")):
            words = ("score", "--named", "accuracy", "--labels", files[0], "--predictions", files[1])
            if of[0] == "1":
                melicit(*words).refused(3, files[1], "codes with zeros in front are others", "column=v:number")
                melicit(*words, "--read", "column=v:text").refused(3, files[1], "is not one of the known names")
            assert melicit(*words, "--read", "column=v:number", "--json").done().json["value"] == 1
    melicit.write("t.csv", "x,y\n" + "".join(f"{i % 7 + 3 * (i % 2)},0{1 + i % 2}\n" for i in range(60)))
    melicit("train", "--data", "t.csv", "--label", "y", "--out", "m.json").done()
    melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", "probs.csv").done()
    assert (melicit.folder / "probs.csv").read_text().splitlines()[0] == "01,02"
    by = ("--named", "accuracy", "--probs", "probs.csv", "--labels", "t.csv", "--label", "y")
    melicit("apply", *by, "--out", "rule.json").done()
    melicit("predict", "--classifier", "rule.json", "--probs", "probs.csv", "--out", "decided.csv").done()
    assert set((melicit.folder / "decided.csv").read_text().split()[1:]) == {"01", "02"}
    melicit.write("same.csv", "v\n" + "1\n1.0\n2\n2.0\n" * 5)
    melicit.write("other.csv", "v\n" + "1.0\n1\n2\n2\n" * 5)
    assert melicit("score", "--named", "accuracy", "--labels", "same.csv", "--predictions", "other.csv", "--json").done().json["value"] == 1


def test_columns_that_cannot_be_features_are_left_out(melicit):
    rows = [f'{i + 1},{(i * 7) % 11 + 2 * (i % 2)},"{1000 + 37 * i:,}.50 $",2024-{i % 12 + 1}-{i % 28 + 1},person {i},{"ab"[i % 2]},{"no yes".split()[i % 2]}\n'.replace("$", "$€"[i % 2])
            for i in range(60)]
    melicit.write("t.csv", "n,x,income,day,who,twin,label\n" + "".join(rows))
    train = ("train", "--data", "t.csv", "--out", "m.json")
    run = melicit(*train).done()
    for words in ("n counts the rows", "income looks like money", "day looks like dates", "who looks like names or ids", "twin is a copy of the label"):
        assert run.err.count(words) == 1
    assert [column["name"] for column in json.loads((melicit.folder / "m.json").read_text())["encoder"]["columns"]] == ["x"]
    melicit(*train, "--read", "strict").refused(3, "n counts the rows", "strict")
    kept = melicit(*train, "--read", "column=n:number", "--read", "column=twin:text").done()
    assert "counts the rows" not in kept.err and "copy" not in kept.err and kept.err.count("looks like") == 3
    melicit.write("alone.csv", "n,label\n" + "".join(f"{i},{'no yes'.split()[i > 30]}\n" for i in range(60)))
    assert "counts the rows" not in melicit("train", "--data", "alone.csv").done().err


def money(melicit, name, write, separator=","):
    """A table whose column income is written so."""
    amounts = [round(1000 + 37.13 * i * i % 90000, 2) for i in range(60)]
    rows = [[str((7 * i) % 11 + 2 * (i % 2)), write(v, i), "no yes".split()[v > 40000]] for i, v in enumerate(amounts)]
    melicit.write(name, "\n".join(separator.join(row) for row in [["x", "income", "label"], *rows]) + "\n")


def european(text):
    return text.replace(",", "_").replace(".", ",").replace("_", ".")


@pytest.mark.parametrize("write, separator, said", [
    (lambda v, i: f'"{v:,.2f} $"', ",", "1,000.00 $ read as 1000"),
    (lambda v, i: f'"-${v:,.2f}"', ",", "-$1,000.00 read as -1000"),
    (lambda v, i: f"{european(f'{v:,.2f}')}\N{NO-BREAK SPACE}€", ";", "€ read as 1000"),
    (lambda v, i: f"EUR {european(f'{v:,.0f}')}", ",", "EUR 1.000 read as 1000"),  # amounts have no thousandths
    (lambda v, i: f"CHF {v:.2f}" if i % 9 else "NA", ",", "read as 1037.13"),
])
def test_money_is_read_as_numbers(melicit, write, separator, said):
    money(melicit, "t.csv", write, separator)
    run = melicit("train", "--data", "t.csv", "--label", "label", "--out", "m.json").done()
    assert run.err.count("column income looks like money: ") == 1 and said in run.err
    column = json.loads((melicit.folder / "m.json").read_text())["encoder"]["columns"][1]
    assert column["type"] == "number" and 10000 < abs(column["mean"]) < 60000
    # New rows: as in training, or as plain numbers; another currency is another number.
    melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", "as.csv").done()
    sign = -1 if column["mean"] < 0 else 1
    money(melicit, "plain.csv", lambda v, i: "NA" if write(v, i) == "NA" else str(sign * (round(v) if "EUR" in write(v, i) else v)))
    melicit("predict", "--model", "m.json", "--data", "plain.csv", "--out", "plain-p.csv").done()
    assert (melicit.folder / "as.csv").read_text() == (melicit.folder / "plain-p.csv").read_text()
    money(melicit, "other.csv", lambda v, i: f"£{v:.2f}")
    melicit("predict", "--model", "m.json", "--data", "other.csv", "--out", "p.csv").refused(3, "income", "£1000.00", "is no amount in")


@pytest.mark.parametrize("write", [
    lambda v, i: f'"{v:,.2f} {"$€"[i % 2]}"',  # two currencies
    lambda v, i: f'"{v:,.2f} $"' if i % 2 else f'"{european(f"{v:,.2f}")} $"',  # two decimal marks
    lambda v, i: f'"{v:,.2f} $"' if i % 2 else f"{v:.2f}",  # with and without
])
def test_money_that_may_be_read_in_two_ways_is_left_out(melicit, write):
    money(melicit, "t.csv", write)
    run = melicit("train", "--data", "t.csv", "--label", "label", "--out", "m.json").done()
    assert "income looks like money" in run.err and "left out" in run.err and "read as" not in run.err
    assert [column["name"] for column in json.loads((melicit.folder / "m.json").read_text())["encoder"]["columns"]] == ["x"]
