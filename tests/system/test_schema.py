"""docs/schema: made from the program's tables; conftest.py holds every output and file of the system tests against it."""
import json
import pathlib

import pytest
import schema

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def test_schemas_are_those_of_the_program(melicit):
    made = melicit("help", "--as", "schema").done().json
    there = {path.stem: json.loads(path.read_text()) for path in (SOURCE / "docs" / "schema").glob("*.json")}
    assert made == there, "tools/schema.py --write"


def test_every_verb_has_one(melicit):
    verbs = {verb["name"] for verb in melicit("help", "--json").done().json["verbs"]}
    assert verbs <= {path.stem for path in schema.FOLDER.glob("*.json")}


@pytest.mark.parametrize("path", sorted(schema.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_every_reference_is_there_and_every_keyword_is_known(path):
    root = json.loads(path.read_text())

    def walk(part):
        assert part.keys() <= schema.KNOWN
        assert part.get("$ref", "#/$defs/error").removeprefix("#/$defs/") in root["$defs"] or "$ref" not in part
        for one in [*part.get("anyOf", []), *part.get("properties", {}).values(), *part.get("$defs", {}).values(),
                    *(part[key] for key in ("items", "additionalProperties") if isinstance(part.get(key), dict))]:
            walk(one)
        assert set(part.get("required", [])) <= part.get("properties", {}).keys()

    walk(root)


GOOD = {"report": "r.html", "answers": 3}


@pytest.mark.parametrize("name, value, what", [
    ("report", GOOD, None), ("report", {**GOOD, "notes": ["one"]}, None),
    ("report", {"error": {"code": "EDATA", "message": "no"}}, None),
    ("report", {"report": "r.html"}, "no answers"), ("report", {**GOOD, "answers": "3"}, "it.answers is '3'"),
    ("report", {**GOOD, "answers": True}, "it.answers is 'True'"), ("report", {**GOOD, "answers": 3.5}, "it.answers is '3.5'"),
    ("report", {**GOOD, "more": 1}, "it has more"), ("report", [], "it is '[]'"),
    ("score", {"value": 1.0, "interval": [0.5], "scores": []}, "it.interval has 1 items"),
    ("score", {"value": None, "scores": [{"name": "a", "f1": 0.5, "f1_interval": [0.1, None]}]}, None),
    ("score", {"value": None, "scores": [{"name": "a", "f1": "high"}]}, "it.scores[0].f1 is 'high'"),
    ("session-line", {"undo": 3}, None), ("session-line", {"question": 1, "a": [1], "b": [0], "answer": "C"}, "answer is 'C'"),
])
def test_what_breaks_a_schema_is_found(name, value, what):
    found = schema.faults(value, schema.load(name), schema.load(name))
    assert not found if what is None else any(what in one for one in found), found


def test_text_says_what_json_says(melicit):
    """Also what is not known: without a number of rows there are no intervals, and no column for them."""
    words = ("train", "--data", "mammographic_mass", "--positive", "malignant")
    told, text = melicit(*words, "--json").done().json, melicit(*words).done().out
    assert f"AUC       {told['test']['auc']:.4f}: the chance that a \"malignant\"" in text
    for point in told["test"]["operating_points"]:
        cells = [point["costs"], f"{point['threshold']:.3f}", f"{point['missed_per_1000']:.1f}", f"{point['false_alarms_per_1000']:.1f}",
                 f"{100 * point['recall']:.1f} %", f"{100 * point['specificity']:.1f} %"]
        assert any(line.split() == " ".join(cells).split() for line in text.splitlines()), cells
    melicit.write("counts.csv", "name,tp,fn,fp,tn\nbold,95,5,400,500\nfast,80,20,120,780\n")
    melicit.write("shares.csv", "name,tp,tn\nbold,0.095,0.5\nfast,0.08,0.78\n")
    for pool, sure in (("counts.csv", True), ("shares.csv", False)):
        words = ("rank", "--named", "accuracy", "--pool", pool)
        told, text = melicit(*words, "--json").done().json, melicit(*words).done().out
        assert ("95% interval" in text) == sure == ("interval" in told["order"][0])
        for row in told["order"]:
            line = next(line for line in text.splitlines() if row["name"] in line)
            assert f"{row['value']:.6g}" in line and (not sure or f"{row['interval'][0]:.4g} to {row['interval'][1]:.4g}" in line)
