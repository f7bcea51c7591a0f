#!/usr/bin/env python3
"""Writes spec/openapi.json from src/server/routes.def (paths, rights, summaries) and tools/openapi_parts.json (schemas
and what each handler takes and gives).

The schema "Definition" comes from src/core/task_def.def.

usage: gen_openapi.py [--check]     with --check: fails when the file would change

In the parts "extends" takes another schema's properties in, "required": "all" means every property, and objects hold
nothing but their properties unless they are "open".
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUTE = re.compile(r'^AX_ROUTE\((\w+),\s*"([^"]+)",\s*(\w+),\s*(\w+),\s*(\w+),\s*([^,]+),\s*"([^"]+)"\)', re.M)
RIGHTS = {"VIEW": "viewer", "OPERATE": "operator", "EDIT": "editor", "ADMINISTER": "admin", "WORK": "worker token"}
INTEGERS = {"limit", "n", "at", "from", "to", "fence", "after_seq"}
BOOLEANS = {"force", "live"}


def routes():
    text = (ROOT / "src/server/routes.def").read_text()
    for method, path, may, via, handler, _, summary in ROUTE.findall(text):
        yield {"method": method, "path": path, "may": may, "via": via, "handler": handler, "summary": summary}


def close(schema):
    """Resolves required-all and closes objects, in place."""
    if isinstance(schema, dict):
        is_open = schema.pop("open", False)
        if isinstance(schema.get("properties"), dict):
            if schema.get("required") == "all":
                schema["required"] = sorted(schema["properties"])
            if not is_open:
                schema["additionalProperties"] = False
            for part in schema["properties"].values():
                close(part)
        if "items" in schema:
            close(schema["items"])
    return schema


DEF_LINE = re.compile(r"^AX_DEF_(\w+)\((.*?)\)$", re.M | re.S)
LITERAL = re.compile(r"""(?:"(?:\\.|[^"\\])*"|[^,"]+)+""")


def definition():
    """The fields of a task's definition, as JSON schemas."""
    limits = dict(re.findall(r"\b(AX_\w+_(?:MAX|BYTES)) = (\d+)", (ROOT / "src/core/limits.h").read_text()
                             + (ROOT / "src/core/schedule.h").read_text()))
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "src/core/task_def.def").read_text(), flags=re.S)

    def number(word):
        return eval(re.sub(r"AX_\w+", lambda m: limits[m[0]], word))  # a product of figures and limits

    def string(word):
        return json.loads(word)

    made = {}
    for kind, inner in DEF_LINE.findall(text):
        part = [word.strip() for word in LITERAL.findall(inner)]
        if kind == "TEXT":
            made[part[0]] = {"type": "string", "maxLength": number(part[3])}
            if string(part[4]):
                made[part[0]]["default"] = string(part[4])
        elif kind == "OPTIONAL":
            made[part[0]] = {"type": ["string", "null"], "maxLength": number(part[3])}
        elif kind == "NUMBER":
            made[part[0]] = {"type": "integer", "minimum": number(part[3]), "maximum": number(part[4]),
                             "default": number(part[5])}
        elif kind == "TIME":
            made[part[0]] = {"$ref": "#/components/schemas/TimeOrNull"}
        elif kind == "ENUM":
            words = [None if word == '"null"' else string(word) for word in part[7:]]
            made[part[1]] = {"enum": words, "default": words[0]}
        elif kind == "FLAG":
            made[string(part[1])] = {"enum": [string(part[5]), string(part[6])], "default": string(part[5])}
        elif kind == "NUMBERS":
            made[part[0]] = {"type": ["array", "null"], "maxItems": number(part[3]), "items": {
                "type": "integer", "minimum": number(part[4]), "maximum": number(part[5])}}
        elif kind == "IDS":
            made[part[0]] = {"type": ["array", "null"], "maxItems": number(part[3]), "items": ref("Id")}
        elif kind == "JSON":
            made[part[0]] = {}
        about = string(part[6] if kind == "ENUM" else part[4] if kind in ("OPTIONAL", "FLAG") else
                       part[3] if kind == "TIME" else part[-1])
        if "$ref" not in made[list(made)[-1]]:
            made[list(made)[-1]]["description"] = about
    return made


def make_schemas(parts):
    made = {}

    def properties(name):
        schema = parts[name]
        inherited = properties(schema["extends"]) if "extends" in schema else {}
        own = definition() if name == "Definition" else schema.get("properties", {})
        return {**inherited, **own}

    for name, schema in parts.items():
        schema = {key: value for key, value in schema.items() if key != "extends"}
        if "properties" in schema or name == "Definition":
            schema["properties"] = json.loads(json.dumps(properties(name)))
        made[name] = close(schema)
    return made


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def parameter(name, where, required):
    kind = "integer" if name in INTEGERS else "boolean" if name in BOOLEANS else "string"
    return {"name": name, "in": where, "required": required, "schema": {"type": kind}}


def answer(part):
    if part.get("list"):
        return {"type": "object", "required": ["items", "next"], "additionalProperties": False, "properties": {
            "items": {"type": "array", "items": ref(part["list"])}, "next": {"type": ["string", "null"]}}}
    return ref(part["answer"]) if part.get("answer") else {}


def operation(route, part):
    op = {"operationId": route["handler"].removeprefix("ax_"), "summary": route["summary"]}
    if route["may"] == "ANYONE":
        op["security"] = []
    else:
        op["description"] = f"Needs: {RIGHTS[route['may']]}."
    parameters = [parameter(name, "path", True) for name in re.findall(r"{(\w+)}", route["path"])]
    parameters += [parameter(name, "query", False) for name in part.get("query", [])]
    if parameters:
        op["parameters"] = parameters
    if part.get("body"):
        op["requestBody"] = {"content": {"application/json": {"schema": ref(part["body"])}}}
    status = part.get("status", 200)
    good = {"description": "done"}
    if status != 204:
        kind = part.get("type", "application/json")
        good["content"] = {kind: {"schema": answer(part)} if kind == "application/json" else {}}
    op["responses"] = {str(status): good}
    if "also" in part:
        op["responses"][str(part["also"])] = good
    op["responses"]["default"] = {"description": "a problem",
                                  "content": {"application/problem+json": {"schema": ref("Problem")}}}
    return op


def generate():
    parts = json.loads((ROOT / "tools/openapi_parts.json").read_text())
    version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text()).group(1)
    paths = {}
    handlers = set()
    for route in routes():
        handlers.add(route["handler"])
        paths.setdefault(route["path"], {})[route["method"].lower()] = operation(route, parts["routes"][route["handler"]])
    unknown = set(parts["routes"]) - handlers
    if unknown:
        sys.exit(f"gen_openapi: no route has the handlers {sorted(unknown)}")
    return {
        "openapi": "3.1.0",
        "info": {**parts["info"], "version": version},
        "security": [{"token": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": make_schemas(parts["schemas"]),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"},
                                "cookie": {"type": "apiKey", "in": "cookie", "name": "ax"}},
        },
    }


def main():
    target = ROOT / "spec/openapi.json"
    text = json.dumps(generate(), indent=1) + "\n"
    if "--check" in sys.argv[1:]:
        if target.read_text() != text:
            sys.exit("spec/openapi.json is not what routes.def says: run tools/gen_openapi.py")
        return
    target.write_text(text)


if __name__ == "__main__":
    main()
