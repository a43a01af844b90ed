"""docs/thesis-map.md: everything that it names exists, and no number of the thesis is missing."""
import re

import pytest
from conftest import SOURCE

pytestmark = pytest.mark.plain("about files of the project")

TEXT = (SOURCE / "docs" / "thesis-map.md").read_text()
NAMED = re.findall(r"`([^`]+)`", TEXT)
TESTS = {path: path.read_text() for path in (SOURCE / "tests").glob("*/test_*.*") if path.suffix in (".c", ".py")}

# How many of each kind a chapter of the thesis has, counted in its sources.
COUNTS = {
    "Definition": {"2": 4, "3": 6, "4": 11, "5": 4, "6": 6},
    "Example": {"3": 2, "6": 3, "7": 4},
    "Algorithm": {"3": 3, "4": 6, "5": 2, "6": 1, "7": 3, "B": 1, "C": 1, "D": 3, "E": 1},
    "Proposition": {"3": 4, "4": 7, "5": 1, "6": 2, "A": 1, "B": 1},
    "Theorem": {"3": 2, "4": 2, "5": 1, "6": 2, "7": 2, "E": 4},
    "Corollary": {"A": 1, "D": 2},
    "Table": {"3": 2, "4": 4, "5": 2, "6": 1, "7": 6, "8": 4, "A": 3, "B": 6, "E": 1},
    "Figure": {"1": 1, "3": 3, "4": 2, "5": 4, "6": 8, "7": 2, "8": 11, "9": 1, "A": 3, "B": 5, "E": 1},
}


@pytest.mark.parametrize("kind", COUNTS)
def test_no_number_is_missing(kind):
    told = re.findall(rf"{kind} (\w+)\.(\d+)", "\n".join(line.split("|")[1] for line in TEXT.splitlines() if line.startswith("|")))
    assert sorted(told) == sorted((chapter, str(i)) for chapter, n in COUNTS[kind].items() for i in range(1, n + 1))


def test_files_exist():
    files = [name for name in NAMED if "/" in name and not name.startswith("-")]
    assert len(files) > 100
    assert [name for name in files if not (SOURCE / name).exists()] == []


def test_tests_exist():
    names = [name for name in NAMED if re.fullmatch(r"test_\w+", name)]
    assert names
    assert [name for name in names if not any(re.search(rf"\b{name}\b", text) for text in TESTS.values())] == []


def test_tests_are_where_they_are_said_to_be():
    said = re.findall(r"`(tests/[\w/]+\.(?:c|py))`((?:, `test_\w+`)+)", TEXT)
    assert said
    missing = [(path, name) for path, names in said for name in re.findall(r"test_\w+", names)
               if not re.search(rf"\b{name}\b", TESTS[SOURCE / path])]
    assert missing == []


def test_verbs_and_options_exist(melicit):
    pages = re.split(r"^### melicit ", melicit("help", "--as", "markdown").out, flags=re.M)
    options = {page.split("\n", 1)[0]: set(re.findall(r"^\| `(--[\w-]+)", page, re.M)) for page in pages[1:]}
    everywhere = set().union(*options.values())
    for name in NAMED:
        if name.startswith("melicit "):
            verb, *rest = name.split()[1:]
            assert verb in options, name
            assert all(word in options[verb] for word in rest if word.startswith("--")), name
        else:
            assert all(word in everywhere for word in re.findall(r"(?<!\S)--[\w-]+", name)), name
