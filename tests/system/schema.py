"""What a value breaks of a JSON Schema, of the keywords that docs/schema uses."""
import functools
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schema"
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float), "integer": int, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$defs", "$ref", "title", "type", "const", "anyOf", "items", "minItems", "maxItems", "properties", "required", "additionalProperties"}


@functools.cache
def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def is_of(value, type_name):
    return isinstance(value, TYPES[type_name]) and (type_name in ("boolean", "null") or not isinstance(value, bool))


def faults(value, schema, root, where="it"):
    """Sentences; none: the value is as the schema says."""
    assert schema.keys() <= KNOWN, schema.keys() - KNOWN
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
    if "anyOf" in schema:
        tried = [faults(value, one, root, where) for one in schema["anyOf"]]
        return [] if not all(tried) else min(tried, key=len)
    types = schema.get("type", list(TYPES))
    if not any(is_of(value, one) for one in ([types] if isinstance(types, str) else types)):
        return [f"{where} is {str(value)[:60]!r}, not {types}"]
    found = [f"{where} is {value!r}, not {schema['const']!r}"] if value != schema.get("const", value) else []
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{where} has {len(value)} items")
        found += [f for i, one in enumerate(value) for f in faults(one, schema.get("items", {}), root, f"{where}[{i}]")]
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{where} has no {key}" for key in schema["required"] if key not in value]
        for key, one in value.items():
            of = schema["properties"].get(key, schema["additionalProperties"])
            found += [f"{where} has {key}"] if of is False else faults(one, of, root, f"{where}.{key}")
    return found


def check(value, name):
    found = faults(value, load(name), load(name))
    assert not found, f"docs/schema/{name}.json: {'; '.join(found[:5])}"
