"""The bundled data sets: what data/README.md says of each is what the file holds and what the program reads by that name."""
import csv
import gzip
import hashlib
import re

import pytest
from conftest import DATA

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

TABLE = [[cell.strip() for cell in line.strip("|").split("|")] for line in (DATA / "README.md").read_text().splitlines()
         if line.startswith("| `")]
NAMES = {name: row for row in TABLE for name in re.findall(r"`(\w+)`", row[0])}


def numbers(text):
    return [int(x.replace(",", "")) for x in re.findall(r"\d+(?:,\d{3})*", text)]


def test_every_file_is_described():
    files = sorted(DATA.glob("*.csv.gz"))
    assert {path.name.removesuffix(".csv.gz") for path in files} == set(NAMES)
    assert (DATA / "SHA256SUMS").read_text() == "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


@pytest.mark.parametrize("name", NAMES)
def test_found_by_name(melicit, name):
    _, rows, features, classes, _ = NAMES[name]
    with gzip.open(DATA / f"{name}.csv.gz", "rt", newline="") as file:
        header, *cells = csv.reader(file)
    missing = sum(row.count("?") for row in cells)
    is_feature = [not column.startswith("meta_") for column in header[:-1]]
    assert numbers(features) == [sum(is_feature)] + [missing] * (missing > 0)
    got = melicit("train", "--data", name, "--json").done().json
    assert [got["rows"]] == numbers(rows) == [len(cells)]
    labels = [row[-1] for row in cells]
    count = {c["name"]: c["rows"] for c in got["classes"]}
    assert count == {label: labels.count(label) for label in set(labels)}
    told = set(count.values()) if len(count) <= 10 else {min(count.values()), max(count.values())}
    assert told <= set(numbers(classes))
