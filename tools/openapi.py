#!/usr/bin/env python3
"""Describes the HTTP interface of the server as OpenAPI, from the table of routes in server/routes.c.

usage: tools/openapi.py [--write]: prints docs/openapi.json, or writes it. tests/system/test_serve_openapi.py compares."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "openapi.json"
ROW = re.compile(r'\{ "([A-Z]+)", "(/api/[^"]+)", mel_\w+, [0-9.]+, \w+, ((?:"[^"]*" ?)+), (NULL|(?:"[^"]*" ?)+), ((?:"[^"]*" ?)+) \}')
TYPES = {"number": {"type": "number"}, "boolean": {"type": "boolean"}, "object": {"type": "object"}, "list": {"type": "array"}, "any": {}}
STARS = {"studies": "study", "participants": "participant", "uploads": "upload", "result": "file", "shared": "session"}
PAGE = "kind! seq:number! csrf! study:object! can_undo:boolean"
ERROR = "code! message! field"


def fields(text):
    """The schema of an object whose fields are "name:type!", the mark where a field is always there."""
    properties, required = {}, []
    for word in text.split():
        name, _, kind = word.rstrip("!").partition(":")
        properties[name] = {"type": "string"} if not kind else TYPES[kind] if kind in TYPES else {"$ref": f"#/components/schemas/{kind}"}
        if word.endswith("!"):
            required.append(name)
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def name_stars(path):
    """The path with a name for each star, and the names."""
    parts, names = path.split("/"), []
    for i, part in enumerate(parts):
        if part == "*":
            names.append(STARS.get(parts[i - 1], "proof" if "shared" in path else "file"))
            parts[i] = "{" + names[-1] + "}"
    return "/".join(parts), names


def operation(method, path, summary, body, reply):
    """What one route does."""
    out = {"summary": summary}
    names = name_stars(path)[1]
    if names:
        out["parameters"] = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]
    if method != "GET":
        out.setdefault("parameters", []).append({"name": "X-Melicit-CSRF", "in": "header", "required": True, "schema": {"type": "string"},
                                                 "description": "the csrf of the last page; before there is one: first"})
    if body == "csv":
        out["requestBody"] = {"required": True, "content": {"text/csv": {"schema": {"type": "string"}}}}
    elif body is not None and method == "POST":
        schema = {"type": "object", "description": "docs/study-file.md"} if body == "study file" else fields(body)
        out["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    good = {"*/*": {"schema": {"type": "string"}}} if reply == "file" else {"application/json": {"schema": fields(reply)}}
    out["responses"] = {"200": {"description": "done", "content": good},
                        "default": {"description": "refused, with a sentence", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}}}
    return out


def rows():
    """(method, path, summary, body or None, reply) of each route."""
    text = re.sub(r"\s+", " ", (ROOT / "server" / "routes.c").read_text())
    found = ROW.findall(text)
    assert len(found) == text.count('", mel_') > 30, "a route that cannot be read"

    def joined(quoted):
        return None if quoted == "NULL" else "".join(re.findall(r'"([^"]*)"', quoted))
    return [(method, path, *map(joined, rest)) for method, path, *rest in found]


def describe():
    """The whole description."""
    paths = {}
    for method, path, summary, body, reply in rows():
        paths.setdefault(name_stars(path)[0], {})[method.lower()] = operation(method, path, summary, body, reply)
    failure = {"type": "object", "properties": {"error": fields(ERROR), "page": {"$ref": "#/components/schemas/Page"}}, "required": ["error"]}
    return {"openapi": "3.1.0", "info": {"title": "melicit serve", "version": "1", "description": "docs/http-api.md says what everything means"},
            "paths": paths, "components": {"schemas": {"Page": fields(PAGE), "Failure": failure}}}


def main():
    text = json.dumps(describe(), indent=1) + "\n"
    if sys.argv[1:] == ["--write"]:
        TARGET.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
