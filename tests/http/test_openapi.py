"""The examples of openapi.json, asked; and what each of its calls is said to refuse."""
import json
import os
from urllib.parse import urlencode

from harness import meshes
from harness.case import ServerCase
from harness.server import ROOT

with open(os.path.join(ROOT, "api", "openapi.json")) as _f:
    DOCUMENT = json.load(_f)
QUERIES = {path.rsplit("/", 1)[1]: item for path, item in DOCUMENT["paths"].items()
           if "post" in item and "queries" in item["post"]["tags"]}


def example(kind):
    return QUERIES[kind]["post"]["requestBody"]["content"]["application/json"]["example"]


def as_parameter(value):
    """A member of a JSON question as a query string has it."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return ";".join(map(as_parameter, value))
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict) and set(value) == {"point", "radius"}:
        return as_parameter(value["point"] + [value["radius"]])
    return value if isinstance(value, str) else json.dumps(value)


class Examples(ServerCase):
    files = {"demo.json": meshes.showcase(), "demo.meta.json": meshes.SHOWCASE_SIDECAR}

    def test_questions_get_the_answers_shown(self):
        for kind, item in QUERIES.items():
            shown = item["post"]["responses"]["200"]["content"]["application/json"]["example"]
            with self.subTest(kind):
                answer = self.query("demo", kind, **example(kind))
                for a in (answer, *answer.get("results", [])):
                    a["revision"] = shown["revision"]
                self.assertEqual(answer, shown)

    def test_get_equals_post(self):
        for kind, item in QUERIES.items():
            if "get" not in item:
                continue
            with self.subTest(kind):
                posted = self.ask("POST", "/v1/meshes/demo/" + kind, example(kind))
                got = self.ask("GET", "/v1/meshes/demo/%s?%s" % (
                    kind, urlencode({k: as_parameter(v) for k, v in example(kind).items()})))
                self.assertEqual((got.status, got.body), (200, posted.body))

    def test_parameters_of_the_document_are_taken(self):
        def resolve(p):
            return DOCUMENT["components"]["parameters"][p["$ref"].rsplit("/", 1)[1]]
        for kind, item in QUERIES.items():
            for p in map(resolve, item.get("get", {}).get("parameters", ())):
                schema = p["schema"]
                value = p.get("example", schema.get("default", schema.get("minimum", "array" if p["name"] == "vectors" else None)))
                if value is None or p["name"] == "filter":
                    continue
                question = {k: as_parameter(v) for k, v in example(kind).items() if k != "filter"}
                question[p["name"]] = value if isinstance(value, str) else json.dumps(value)
                with self.subTest(kind=kind, parameter=p["name"]):
                    answer = self.ask("GET", "/v1/meshes/demo/%s?%s" % (kind, urlencode(question)))
                    self.assertEqual(answer.status, 200, answer)


class Refusals(ServerCase):
    files = {"room.json": meshes.room()}

    def test_queries(self):
        for kind, item in QUERIES.items():
            with self.subTest(kind):
                for method in ("POST", "GET") if "get" in item else ("POST",):
                    body = {} if method == "POST" else None
                    self.assert_problem(self.ask(method, "/v1/meshes/none/" + kind, body), 404, "not_found")
                    answer = self.ask(method, "/v1/meshes/room/" + kind + ("?pint=1" if method == "GET" else ""),
                                      {"pint": 1} if method == "POST" else None)
                    self.assert_problem(answer, 400, "bad_request")
                body = b'{"id":"%s"}' % (b"x" * (9 << 20))
                answer = self.server.request("POST", "/v1/meshes/room/" + kind, body)
                self.assert_problem(answer, 413, "too_large")

    def test_geometry(self):
        self.assert_problem(self.ask("GET", "/v1/meshes/none/geometry"), 404, "not_found")
        answer = self.ask("GET", "/v1/meshes/room/geometry", headers=[("Accept", "model/stl")])
        self.assert_problem(answer, 415, "unsupported_media_type")

    def test_reload_of_a_broken_file(self):
        self.server.write("bad.json", meshes.room())
        self.server.until(lambda: self.ask("GET", "/v1/meshes/bad").status == 200, "the mesh")
        self.server.write("bad.json", b"{")
        self.assert_problem(self.ask("POST", "/v1/meshes/bad/reload"), 422, "bad_mesh")
        self.assertEqual(self.ask("POST", "/v1/meshes/room/reload").status, 200)
