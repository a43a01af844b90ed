"""docs/openapi.json describes the routes as they are: it is what tools/openapi.py makes of them, and real answers of every route fit."""
import json
import sys

import pytest
from conftest import SOURCE
from routes import CSV, ENDING, Scene, routes
from serving import Server

sys.path.insert(0, str(SOURCE / "tools"))
import openapi  # noqa: E402



@pytest.fixture
def server(melicit):
    server = Server(melicit.folder, "--limits", "joins=0")
    yield server
    server.stop()


KINDS = {"string": str, "boolean": bool, "object": dict, "array": list}


def misfits(value, schema, schemas, where="answer"):
    """What of a value does not fit a schema, as sentences; fields that the schema does not name count."""
    schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    kind = schema.get("type")
    if kind is None:
        return []
    right = isinstance(value, (int, float)) and not isinstance(value, bool) if kind == "number" else isinstance(value, KINDS[kind])
    if not right:
        return [f"{where} is no {kind}: {str(value)[:80]}"]
    if kind != "object" or "properties" not in schema:
        return []
    found = [f"{where} has no {name}" for name in schema.get("required", []) if name not in value]
    for name, part in value.items():
        if name in schema["properties"]:
            found += misfits(part, schema["properties"][name], schemas, f"{where}.{name}")
        elif schema is not schemas["Page"]:  # which has more, by its kind
            found.append(f"{where}.{name} is not described")
    return found


def test_the_description_is_made_from_the_routes():
    described = json.loads((SOURCE / "docs" / "openapi.json").read_text())
    assert described == openapi.describe(), "tools/openapi.py --write"
    listed = {(method.upper(), path) for path, entry in described["paths"].items() for method in entry}
    assert listed == {(method, openapi.name_stars(path)[0]) for method, path in routes()}


@pytest.mark.parametrize("good", [True, False])
def test_answers_are_as_described(server, good):
    """Of each route: what its own page sends, and what somebody without a cookie or with an empty body gets told."""
    described = openapi.describe()
    schemas, scene, stranger = described["components"]["schemas"], Scene(server), server.client()
    wrong, answered = [], set()
    for route in sorted(scene.requests(), key=lambda route: route in ENDING):
        method, path = route
        entry = described["paths"][openapi.name_stars(path)[0]][method.lower()]
        for who, target, body in scene.requests()[route]:
            if isinstance(body, str):
                status, told = (who if good else stranger).json(method, target, body if good else "", CSV)
            elif entry["responses"]["200"]["content"].get("*/*") is not None:
                status, told = who.request(method, target)[0] if good else 0, None
            else:
                status, told = (who if good else stranger).json(method, target, body if good or body is None else {})
            if told is None:
                answered.add(route)
                continue
            if good and isinstance(body, dict) and "requestBody" in entry:
                wrong += misfits(body, entry["requestBody"]["content"]["application/json"]["schema"], schemas, f"{method} {path}: body")
            schema = entry["responses"]["200" if status == 200 else "default"]["content"]["application/json"]["schema"]
            wrong += misfits(told, schema, schemas, f"{method} {path}: {status}")
            answered |= {route} if status == 200 or not good else set()
        if route in ENDING:
            scene = Scene(server)
    assert not wrong, "\n".join(wrong)
    assert len(answered) > 25, sorted(set(routes()) - answered)
