"""Spaces of more than two classes and of groups: what is achievable, points in and out of reach."""
import xml.etree.ElementTree

import numpy
import pytest
from classes import ROWS, SOFTMAX, chances, confusion

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)


def test_space_of_a_population(melicit):
    got = melicit("space", *SOFTMAX, "--json").done().json
    assert got["classes"] == ["0", "1", "2"] and got["groups"] == []
    assert got["size"] == 6 and got["coordinates"] == "offdiagonal" and got["kind"] == "confusion" and got["rows"] == 0
    assert numpy.isclose(sum(got["shares"]), 1) and numpy.allclose(got["centre"], numpy.repeat(got["shares"], 2) / 3)
    thesis = melicit("space", *SOFTMAX, "--thesis", "radius-method=thesis", "--json").done().json
    assert got["method"] == "inscribed" and thesis["method"] == "thesis"
    assert 0 < thesis["radius"] <= got["radius"] * (1 + 1e-9) and got["radius"] <= got["rays"] * (1 + 1e-9)
    assert got["steps"] > 0 and numpy.isclose(numpy.linalg.norm(got["thinnest"]), 1)
    rates = melicit("space", *SOFTMAX, "--thesis", "kind=rates", "--json").done().json
    assert numpy.allclose(rates["centre"], 1 / 3) and rates["kind"] == "rates"


def test_space_text(melicit):
    told = melicit("space", *SOFTMAX, "--classes", "red,green,blue", "--plot", "f.svg").done().out
    assert "green" in told and "radius" in told and "f.svg" in told
    drawn = xml.etree.ElementTree.parse(melicit.folder / "f.svg").getroot()
    panels = [child for child in drawn if child.tag.endswith("svg")]
    assert len(panels) == 3
    ids = [element.get("id") for element in drawn.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    melicit("space", "--ball", "3", "--radius", "0.1", "--plot", "f.svg").refused(2, "--plot")
    told = melicit("space", *SOFTMAX, "--point", "0.3,0.3,0.3").done().out
    assert "not achievable" in told and "in direction" in told


def test_ball(melicit):
    got = melicit("space", "--ball", "3,2", "--radius", "0.1", "--json").done().json
    assert got["size"] == 12 and got["radius"] == 0.1 and numpy.allclose(got["centre"], 1 / 3) and got["groups"] == ["1", "2"]


@pytest.mark.parametrize("point", [[0.12, 0.13, 0.14], [0.2, 0.05, 0.2]])
@pytest.mark.parametrize("evidence", ["labels", "model"])
def test_achievable_point(melicit, sample, point, evidence):
    """The mixture that is returned really has the statistics, counted here."""
    p, y, _ = sample
    got = melicit("space", *ROWS, "--evidence", evidence, "--point", ",".join(map(str, point)), "--json").done().json
    assert got["feasible"] is True and got["coordinates"] == "diagonal"
    found = got["classifier"]
    assert found["distance"] <= found["delta"] and found["n_rules"] == len(found["rules"]) <= 4
    decided = chances(found["rules"], p)
    counted = confusion(decided, y) if evidence == "labels" else p.T @ decided / len(p)
    assert numpy.allclose(numpy.diag(counted), found["closest"], atol=1e-12)
    assert numpy.linalg.norm(numpy.diag(counted) - point) <= found["delta"]


@pytest.mark.parametrize("evidence", ["labels", "model"])
def test_point_out_of_reach(melicit, sample, evidence):
    """No random classifier crosses the certificate."""
    p, y, _ = sample
    got = melicit("space", *ROWS, "--evidence", evidence, "--point", "0.3,0.3,0.3", "--json").done().json
    assert got["feasible"] is False
    found = got["classifier"]
    direction, margin = numpy.array(found["separating_direction"]), found["margin"]
    assert numpy.isclose(numpy.linalg.norm(direction), 1) and margin > 0 and found["proved"] == (evidence == "model")
    limit = direction @ found["point"] - margin
    rng = numpy.random.default_rng(5)
    for _ in range(500):
        gain = rng.normal(size=(3, 3)) + rng.uniform(0, 3) * numpy.eye(3) if rng.random() < 0.5 else \
            numpy.diag(direction * rng.uniform(0.5, 2, 3))
        decided = chances([{"gain": gain, "share": 1}], p)
        counted = confusion(decided, y) if evidence == "labels" else p.T @ decided / len(p)
        assert direction @ numpy.diag(counted) <= limit + 1e-12


def test_direction(melicit, sample):
    got = melicit("space", *ROWS, "--thesis", "direction=1,0,-1", "--json").done().json
    a, b, centre = (numpy.array(x) for x in (got["segment"]["a"], got["segment"]["b"], got["centre"]))
    step = (a - b) / numpy.linalg.norm(a - b)
    assert numpy.allclose(step, numpy.array([1, 0, -1]) / numpy.sqrt(2), atol=1e-6)
    assert numpy.isclose(got["segment"]["length"], numpy.linalg.norm(a - b))
    across = (a - centre) - ((a - centre) @ step) * step
    assert numpy.linalg.norm(across) <= 1e-6
    for end in (a, b):
        again = melicit("space", *ROWS, "--point", ",".join(repr(float(x)) for x in end), "--thesis", "delta=1e-5", "--json").done().json
        assert again["feasible"]
    beyond = a + 0.01 * step
    assert not melicit("space", *ROWS, "--point", ",".join(repr(float(x)) for x in beyond), "--json").done().json["feasible"]


def test_columns_by_name(melicit, sample):
    p, y, _ = sample
    names = ["ant", "bee", "cow"]
    melicit.write("y.csv", "label\n" + "\n".join(names[i] for i in y) + "\n")
    melicit.write("p.csv", "cow,ant,bee\n" + "\n".join(f"{r[2]!r},{r[0]!r},{r[1]!r}" for r in p.tolist()) + "\n")
    by_order = melicit("space", *ROWS, "--point", "0.2,0.2,0.2", "--json").done().json
    by_name = melicit("space", "--probs", "p.csv", "--labels", "y.csv", "--point", "0.2,0.2,0.2", "--json").done().json
    assert by_name["classes"] == names
    assert numpy.allclose(by_name["classifier"]["closest"], by_order["classifier"]["closest"], atol=1e-9)


def test_groups(melicit, sample):
    p, y, g = sample
    got = melicit("space", *ROWS, "--groups", "g.csv", "--json").done().json
    assert got["groups"] == ["u", "v"] and got["kind"] == "rates" and got["size"] == 12
    want = [[numpy.mean(g[y == i] == j) for i in range(3)] for j in range(2)]
    assert numpy.allclose(got["prevalence"], want) and got["radius"] > 0
    entries = melicit("space", *ROWS, "--groups", "g.csv", "--thesis", "kind=confusion", "--json").done().json
    assert "radius" not in entries and entries["kind"] == "confusion"
