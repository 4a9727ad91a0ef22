"""/metrics is Prometheus text, and its numbers move as they should."""
import re
import shutil
import subprocess

from harness import meshes
from harness.case import ServerCase

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABELS = r'\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"(?:,|(?=\})))*\}'
SAMPLE = re.compile(r"^(%s)(%s)? (-?[0-9.]+(?:e[+-]?[0-9]+)?|\+Inf|NaN)$" % (NAME, LABELS))


def parse(text):
    """{name: {labels: value}} and {name: type}; raises on a line that is not Prometheus text."""
    samples, types, helped = {}, {}, set()
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("# HELP "):
            helped.add(line.split(" ", 3)[2])
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name in types or kind not in ("counter", "gauge", "histogram"):
                raise AssertionError("bad or second TYPE: " + line)
            types[name] = kind
        else:
            found = SAMPLE.match(line)
            if not found:
                raise AssertionError("not a sample: %r" % line)
            labels = found[2] or ""
            if labels in samples.setdefault(found[1], {}):
                raise AssertionError("the same sample twice: " + line)
            samples[found[1]][labels] = float(found[3])
    for name in samples:
        family = re.sub("_(bucket|sum|count)$", "", name) if name not in types else name
        if family not in types or family not in helped:
            raise AssertionError("no HELP and TYPE for " + name)
    return samples, types


class Metrics(ServerCase):
    files = {"room.json": meshes.room(), "bend.json": meshes.bend()}

    def read(self):
        a = self.ask("GET", "/metrics")
        self.assertEqual(a.status, 200)
        self.assertTrue(a.headers["content-type"].startswith("text/plain"), a.headers)
        self.assertTrue(a.body.endswith(b"\n"))
        return parse(a.body.decode())

    def value(self, samples, name, *labels):
        return sum(v for k, v in samples.get(name, {}).items() if all(label in k for label in labels))

    def test_promtool_has_no_complaint(self):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("no promtool (Debian package prometheus)")
        self.query("room", "path", start=[1, 0, 1], end=[2, 0, 2])
        done = subprocess.run([promtool, "check", "metrics"], input=self.ask("GET", "/metrics").body, capture_output=True)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, b""))

    def test_all_families(self):
        self.query("room", "path", start=[1, 0, 1], end=[2, 0, 2])
        samples, types = self.read()
        for name, kind in (("navd_requests_total", "counter"), ("navd_request_duration_seconds", "histogram"),
                           ("navd_queue_depth", "gauge"), ("navd_shed_total", "counter"), ("navd_deadline_total", "counter"),
                           ("navd_connections", "gauge"), ("navd_mesh_revision", "gauge"), ("navd_mesh_polygons", "gauge"),
                           ("navd_mesh_memory_bytes", "gauge"), ("navd_mesh_reloads_total", "counter"),
                           ("navd_mesh_reload_failures_total", "counter"), ("navd_build_info", "gauge")):
            self.assertEqual(types.get(name), kind, name)
        self.assertEqual(samples["navd_mesh_polygons"], {'{mesh="bend"}': 3, '{mesh="room"}': 1})

    def test_requests_are_counted_by_route_and_status(self):
        before, _ = self.read()
        for _ in range(7):
            self.query("room", "path", start=[1, 0, 1], end=[2, 0, 2])
        for _ in range(3):
            self.ask("POST", "/v1/meshes/room/path", {"start": 1})
        after, _ = self.read()

        def moved(name, *labels):
            return self.value(after, name, *labels) - self.value(before, name, *labels)

        self.assertEqual(moved("navd_requests_total", 'route="/v1/meshes/{m}/path"', 'code="200"'), 7)
        self.assertEqual(moved("navd_requests_total", 'route="/v1/meshes/{m}/path"', 'code="400"'), 3)
        self.assertEqual(moved("navd_request_duration_seconds_count", 'route="/v1/meshes/{m}/path"'), 10)
        self.assertGreater(moved("navd_request_duration_seconds_sum", 'route="/v1/meshes/{m}/path"'), 0)

    def test_histograms_are_cumulative(self):
        self.query("room", "path", start=[1, 0, 1], end=[2, 0, 2])
        samples, _ = self.read()
        series = {}
        for labels, value in samples["navd_request_duration_seconds_bucket"].items():
            edge = re.search(r'le="([^"]+)"', labels)[1]
            series.setdefault(re.sub(r',?le="[^"]+"', "", labels), []).append((float(edge), value))
        self.assertTrue(series)
        for labels, buckets in series.items():
            self.assertEqual(buckets[-1][0], float("inf"), labels)
            self.assertEqual(buckets, sorted(buckets))
            self.assertEqual([v for _, v in buckets], sorted(v for _, v in buckets))
            self.assertEqual(buckets[-1][1], samples["navd_request_duration_seconds_count"][labels])

    def test_made_up_paths_do_not_add_series(self):
        for i in range(50):
            self.ask("GET", "/made/up/%d" % i)
            self.ask("GET", "/v1/meshes/made-up-%d" % i)
        samples, _ = self.read()
        self.assertFalse([k for k in samples["navd_requests_total"] if "up" in k])

    def test_reloads_and_failures(self):
        before, _ = self.read()
        self.server.write("bend.json", meshes.bend(7))
        self.server.until(lambda: self.value(self.read()[0], "navd_mesh_reloads_total", "bend")
                          > self.value(before, "navd_mesh_reloads_total", "bend"), "a reload")
        self.server.write("bend.json", b"{")
        self.server.until(lambda: self.value(self.read()[0], "navd_mesh_reload_failures_total", "bend")
                          > self.value(before, "navd_mesh_reload_failures_total", "bend"), "a failure")
        samples, _ = self.read()
        self.assertGreater(samples["navd_mesh_revision"]['{mesh="bend"}'], before["navd_mesh_revision"]['{mesh="bend"}'])
