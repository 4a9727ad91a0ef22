"""The calls about the service itself."""
import gzip
import json
import os

from harness import meshes
from harness.case import ServerCase


class Service(ServerCase):
    files = {"room.json": meshes.room()}

    def test_version(self):
        v = self.ask("GET", "/version").json()
        self.assertEqual(v["name"], "navd")
        self.assertRegex(v["version"], r"^\d+\.\d+\.\d+")

    def test_health(self):
        self.assertEqual(self.ask("GET", "/livez").status, 200)
        self.assertEqual(self.ask("GET", "/readyz").status, 200)
        health = self.ask("GET", "/healthz")
        self.assertEqual((health.status, health.json()["status"]), (200, "ok"))

    def test_a_failed_mesh_is_told(self):
        self.server.write("bad.json", b"{")
        self.server.until(lambda: self.ask("GET", "/healthz").json()["status"] != "ok", "the failure")
        self.assertIn("bad", self.ask("GET", "/healthz").body.decode())
        self.assertEqual(self.ask("GET", "/readyz").status, 200)
        os.unlink(self.server.path("bad.json"))
        self.server.until(lambda: self.ask("GET", "/healthz").json()["status"] == "ok", "health")

    def test_the_page(self):
        a = self.ask("GET", "/", headers=[("Accept", "text/html")])
        self.assertEqual(a.status, 200)
        self.assertTrue(a.headers["content-type"].startswith("text/html"))

    def test_openapi_names_every_route_that_answers(self):
        a = self.ask("GET", "/openapi.json")
        self.assertEqual(a.headers["content-type"], "application/json")
        document = a.json()
        self.assertTrue(document["openapi"].startswith("3.1"))
        for path, item in document["paths"].items():
            self.assertTrue(item, path)
            for method in item:
                if method in ("get", "post", "put", "delete"):
                    target = path
                    for name in ("{m}", "{mesh}", "{id}"):
                        target = target.replace(name, "room")
                    if method == "delete" or "{" in target:
                        continue
                    stream = "text/event-stream" in item[method]["responses"].get("200", {}).get("content", ())
                    answer = self.ask("HEAD" if stream else method.upper(), target, None if method == "get" else b"{}")
                    self.assertNotIn(answer.status, (404, 405, 500), (method, path, answer))
        references = json.dumps(document).count('"$ref"')
        self.assertGreater(references, 0)


class Compression(ServerCase):
    files = {"maze.json": meshes.maze(24)}

    def test_long_answers_for_those_who_accept_it(self):
        plain = self.ask("GET", "/v1/meshes/maze/geometry")
        self.assertNotIn("content-encoding", plain.headers)
        packed = self.ask("GET", "/v1/meshes/maze/geometry", headers=[("Accept-Encoding", "br, gzip;q=0.5")])
        self.assertEqual(packed.headers.get("content-encoding"), "gzip")
        self.assertLess(len(packed.body), len(plain.body) / 2)
        self.assertEqual(gzip.decompress(packed.body), plain.body)

    def test_not_for_others_and_not_for_short_ones(self):
        for accepted in ("identity", "gzip;q=0", "br", "", "*;q=0", "gzip;q=0, *", "*, gzip;q=0"):
            a = self.ask("GET", "/v1/meshes/maze/geometry", headers=[("Accept-Encoding", accepted)])
            self.assertNotIn("content-encoding", a.headers, accepted)
            self.assertEqual(a.headers["vary"], "Accept-Encoding")
        a = self.ask("GET", "/livez", headers=[("Accept-Encoding", "gzip")])
        self.assertNotIn("content-encoding", a.headers)
        self.assertNotIn("vary", a.headers)

    def test_gzip_by_its_name_or_any(self):
        for accepted in ("GZIP", "*", "*;q=0, gzip", "deflate;q=1, gzip;q=0.1"):
            a = self.ask("GET", "/v1/meshes/maze/geometry", headers=[("Accept-Encoding", accepted)])
            self.assertEqual((a.headers.get("content-encoding"), a.headers["vary"]), ("gzip", "Accept-Encoding"), accepted)


class Traces(ServerCase):
    files = {"room.json": meshes.room()}
    options = ["--access-log", "on"]

    def test_a_trace_comes_back_and_is_logged(self):
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        later = "cc" + trace[2:] + "-what-comes-later"
        for sent in (trace, later):
            a = self.ask("GET", "/livez", headers=[("Traceparent", sent)])
            self.assertEqual(a.headers["traceparent"], sent)
            self.server.until(lambda: "traceparent=" + sent in self.server.stderr(), "the log")
        lines = len(self.server.stderr().split("\n"))
        for sent in ("", trace[:-1], trace + "-x", "ff" + trace[2:], trace.upper(), trace.replace("4bf92f3577b34da6a3ce929d0e0e4736", 32 * "0"),
                     trace.replace("00f067aa0ba902b7", 16 * "0"), trace.replace("-", "_"), later + 100 * "x"):
            self.assertNotIn("traceparent", self.ask("GET", "/livez", headers=[("traceparent", sent)]).headers, sent)
        self.assertNotIn("traceparent", self.ask("GET", "/livez").headers)
        self.server.until(lambda: len(self.server.stderr().split("\n")) >= lines + 10, "the log")
        self.assertNotIn("traceparent", "\n".join(self.server.stderr().split("\n")[lines:]))


class Origins(ServerCase):
    files = {"room.json": meshes.room()}
    options = ["--cors-origin", "https://game.example"]

    def test_a_configured_origin(self):
        a = self.ask("GET", "/v1/meshes", headers=[("Origin", "https://game.example")])
        self.assertEqual(a.headers.get("access-control-allow-origin"), "https://game.example")
        a = self.ask("OPTIONS", "/v1/meshes/room/path", headers=[("Origin", "https://game.example"),
                                                                 ("Access-Control-Request-Method", "POST"),
                                                                 ("Access-Control-Request-Headers", "content-type")])
        self.assertEqual(a.status, 204, a)
        self.assertIn("POST", a.headers["access-control-allow-methods"])
        self.assertIn("content-type", a.headers["access-control-allow-headers"].lower())

    def test_any_other(self):
        for origin in ("https://evil.example", "https://game.example.evil.example", "null"):
            a = self.ask("GET", "/v1/meshes", headers=[("Origin", origin)])
            self.assertEqual(a.status, 200)
            self.assertNotIn("access-control-allow-origin", a.headers)
