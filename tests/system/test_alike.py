"""Labels and groups that look the same but are stored differently."""
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
