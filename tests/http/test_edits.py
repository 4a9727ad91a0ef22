"""Obstacles, doors and links while the server runs: what queries see, what stays, what a restart brings back."""
import json
import math
import os
import signal
import tempfile
import threading
import time

from harness import meshes
from harness.case import ServerCase
from harness.server import Server

WAY = dict(start=[1, 0, 5], end=[9, 0, 5])
CRATE = {"shape": "box", "center": [5, 0, 5], "half_extents": [1, 1, 4]}
WALL = [[4.5, -1], [5.5, -1], [5.5, 11], [4.5, 11]]
ROUND = 2 * math.hypot(3, 4) + 2  # round the crate, which leaves a gap of 1 on either side


class Living(ServerCase):
    """One server with a room; every test begins with none of its edits standing."""

    files = {"room.json": meshes.room(), "demo.json": meshes.showcase(), "demo.meta.json": meshes.SHOWCASE_SIDECAR}

    def setUp(self):
        super().setUp()
        for mesh in ("room", "demo"):
            self.clear(mesh)

    def clear(self, mesh):
        edits = []
        for kind in ("obstacle", "region", "link"):
            for e in self.ask("GET", "/v1/meshes/%s/%ss" % (mesh, kind)).json()[kind + "s"]:
                if e["source"] == "edit":
                    edits.append({"op": "delete", "type": kind, "id": e["id"]})
        self.assertEqual(self.ask("POST", "/v1/meshes/%s/edits" % mesh, edits).status, 200)

    def put(self, path, body, status=None):
        a = self.ask("PUT", "/v1/meshes/" + path, body)
        self.assertIn(a.status, (200, 201) if status is None else (status,), a)
        self.assertEqual(a.headers["etag"], '"%d"' % a.json()["revision"])
        return a.json()

    def replace_room(self, data, width):
        def served():
            return self.server.request("GET", "/v1/meshes/room").json()["bounds"]["max"][0] == width
        self.server.write("room.json", data)
        self.server.until(served, "the new file")

    def length(self, mesh="room", **more):
        a = self.query(mesh, "path", **dict(WAY, **more))
        return a["length"] if a["status"] == "complete" else None

    def test_a_crate_is_walked_round(self):
        self.assertAlmostEqual(self.length(), 8)
        made = self.put("room/obstacles/crate", CRATE, 201)
        answer = self.query("room", "path", **WAY)
        self.assertEqual(answer["revision"], made["revision"])
        self.assertAlmostEqual(answer["length"], ROUND, 5)
        self.put("room/obstacles/crate", dict(CRATE, center=[5, 0, 9]), 200)
        self.assertAlmostEqual(self.length(), 8)
        gone = self.ask("DELETE", "/v1/meshes/room/obstacles/crate")
        self.assertEqual(gone.status, 204)
        self.assertIn("etag", gone.headers)
        self.assertAlmostEqual(self.length(), 8)
        self.assertEqual(self.ask("GET", "/v1/meshes/room/obstacles").json()["obstacles"], [])

    def test_doors_and_links(self):
        self.put("room/regions/door", {"points": WALL, "min": -1, "max": 1, "blocked": True})
        self.assertIsNone(self.length())
        self.put("room/links/hatch", {"start": [4, 0, 5], "end": [6, 0, 5], "kind": "hatch"})
        answer = self.query("room", "path", **WAY)
        self.assertEqual([(r["id"], r["kind"]) for r in answer["links"]], [("hatch", "hatch")])
        self.put("room/links/hatch", {"enabled": False}, 200)
        self.assertIsNone(self.length())
        self.put("room/regions/door", {"blocked": False}, 200)
        self.assertAlmostEqual(self.length(), 8)

    def test_links_of_the_file(self):
        over = dict(start=[9, 0, 2], end=[13, 0, 2], partial=False)
        self.assertEqual(self.query("demo", "path", **over)["status"], "complete")
        self.put("demo/links/jump", {"enabled": False}, 200)
        self.assertEqual(self.query("demo", "path", **over)["status"], "unreachable")
        self.assertEqual(self.ask("DELETE", "/v1/meshes/demo/links/jump").status, 204)
        self.assertEqual(self.query("demo", "path", **over)["status"], "complete")
        self.assert_problem(self.ask("DELETE", "/v1/meshes/demo/links/jump"), 409, "conflict")

    def test_regions_paint(self):
        self.put("demo/regions/pool", {"points": [[0, 0], [0, 3], [3, 3], [3, 0]], "min": -1, "max": 1, "area": "mud",
                                       "flags": ["swim"]})
        inside, beside = (self.query("demo", "nearest", point=p) for p in ([1, 0, 1], [1, 0, 8]))
        self.assertEqual((inside["area"], inside["flags"], beside["area"], beside["flags"]), ("mud", 2, "ground", 1))
        self.assertEqual(self.query("demo", "nearest", point=[1, 0, 1], snap=0.2, filter="dry")["status"], "none")

    def test_many_or_none(self):
        before = self.ask("GET", "/v1/meshes/room").json()["revision"]
        bad = [dict(CRATE, type="obstacle", id="a"), dict(CRATE, type="obstacle", id="b", shape="bax")]
        problem = self.assert_problem(self.ask("POST", "/v1/meshes/room/edits", bad), 400, "bad_request")
        self.assertEqual(problem["pointer"], "/1/shape")
        self.assertEqual(self.ask("GET", "/v1/meshes/room").json()["revision"], before)
        good = self.ask("POST", "/v1/meshes/room/edits", bad[:1])
        self.assertEqual([r["status"] for r in good.json()["results"]], ["created"])
        self.assertAlmostEqual(self.length(), ROUND, 5)

    def test_ids_that_the_server_makes(self):
        made = [self.ask("POST", "/v1/meshes/room/obstacles", CRATE) for _ in range(5)]
        ids = {a.json()["id"] for a in made}
        self.assertEqual(len(ids), 5)
        self.assertEqual({a.headers["location"] for a in made}, {"/v1/meshes/room/obstacles/" + i for i in ids})
        self.clear("room")
        self.assertNotIn(self.ask("POST", "/v1/meshes/room/obstacles", CRATE).json()["id"], ids)

    def test_if_match(self):
        made = self.put("room/obstacles/crate", CRATE)
        stale = [("If-Match", '"%d"' % (made["revision"] - 1))]
        fresh = [("If-Match", '"%d"' % made["revision"])]
        self.assert_problem(self.ask("DELETE", "/v1/meshes/room/obstacles/crate", headers=stale), 409, "conflict")
        self.assertEqual(self.ask("DELETE", "/v1/meshes/room/obstacles/crate", headers=fresh).status, 204)

    def test_time_to_live(self):
        began = time.monotonic()
        made = self.put("room/obstacles/crate", dict(CRATE, ttl_ms=300))
        self.assertIn("expires_at", made)
        self.put("room/obstacles/moved", dict(CRATE, center=[5, 0, 5], ttl_ms=100))
        self.put("room/obstacles/moved", dict(CRATE, center=[50, 0, 50]))  # for good, and elsewhere
        self.assertAlmostEqual(self.length(), ROUND, 5)
        self.server.until(lambda: self.length() == 8, "the crate's end", 10)
        self.assertGreater(time.monotonic() - began, 0.29)
        self.assertEqual([o["id"] for o in self.ask("GET", "/v1/meshes/room/obstacles").json()["obstacles"]], ["moved"])

    def test_a_reload_keeps_edits_and_tells_those_in_the_air(self):
        self.put("room/obstacles/crate", CRATE)
        self.put("room/obstacles/corner", dict(CRATE, center=[9, 0, 9], half_extents=[0.5, 1, 0.5]))
        self.addCleanup(self.replace_room, meshes.room(), 10)
        self.replace_room(meshes.polygons(*meshes.rectangles([(0, 0, 8, 10)])), 8)
        self.assertAlmostEqual(self.length(end=[7, 0, 5]), math.hypot(3, 4) + 2 + math.hypot(1, 4), 5)
        report = self.ask("GET", "/v1/meshes/room/report").json()
        self.assertEqual(report["idle_edits"], [{"type": "obstacle", "id": "corner"}])
        self.assertEqual(report["totals"]["idle_edits"], 1)
        touches = {o["id"]: o["touches"] for o in self.ask("GET", "/v1/meshes/room/obstacles").json()["obstacles"]}
        self.assertEqual(touches, {"corner": False, "crate": True})
        self.assertIn("no longer touches", self.server.stderr())

    def test_larger_agents(self):
        self.put("room/obstacles/crate", CRATE)
        gap = self.length(radius=0.45)
        self.assertGreater(gap, ROUND + 0.3)
        self.assertIsNone(self.length(radius=0.6))
        points = self.query("room", "path", radius=0.45, **WAY)["points"]
        for x, _, z in points[1:-1]:  # from the crate's corners, and from the room's walls
            away = math.hypot(max(abs(x - 5) - 1, 0), max(abs(z - 5) - 4, 0))
            self.assertGreaterEqual(away, 0.45 * 0.999)
            self.assertLessEqual(away, 0.45 * 1.021)
            self.assertGreaterEqual(min(x, z, 10 - x, 10 - z), 0.45 * 0.999)
        self.assertEqual(self.ask("DELETE", "/v1/meshes/room/obstacles/crate").status, 204)
        self.assertAlmostEqual(self.length(radius=0.6), 8)
        got = self.ask("GET", "/v1/meshes/room/path?start=1,0,5&end=9,0,5&radius=0.6")
        self.assertEqual(got.json(), self.query("room", "path", radius=0.6, **WAY))
        batch = self.query("room", "batch", queries=[dict(WAY, type="path", radius=r) for r in (0, 0.3, 2.5, 5.1)])
        self.assertEqual([r["status"] for r in batch["results"]], ["complete", "complete", "complete", "start_off_mesh"])
        matrix = self.query("room", "matrix", sources=[[1, 0, 5]], targets=[[9, 0, 5]], radius=0.7)
        self.assertAlmostEqual(matrix["lengths"][0][0], 8)
        self.assertEqual({r["revision"] for r in batch["results"]}, {batch["revision"]})

    def test_metrics(self):
        self.put("room/obstacles/crate", CRATE)
        self.length(radius=0.2)
        text = self.ask("GET", "/metrics").body.decode()
        for line in ('navd_edits_standing{type="obstacle"} 1\n', 'navd_edits_standing{type="link"} 0\n', "navd_state_log_bytes 0\n",
                     'navd_edits_made_total{type="obstacle"} '):
            self.assertIn(line, text)
        self.assertRegex(text, r"navd_radius_cache_bytes [1-9]")
        self.assertRegex(text, r'navd_edit_duration_seconds_bucket\{le="\+Inf"\} [1-9]')


class Frames(ServerCase):
    files = {"room.json": json.dumps({"vertices": [[0, 0, 0], [0, 10, 0], [10, 10, 0], [10, 0, 0]], "polygons": [[0, 1, 2, 3]]}).encode(),
             "room.meta.json": b'{"frame": "z-up", "regions": [{"id": "door", "points": [[4, -1], [6, -1], [6, 11], [4, 11]], "min": -1, '
                               b'"max": 1, "blocked": true}]}'}

    def test_sidecar_regions_in_the_callers_frame(self):
        way = dict(start=[1, 5, 0], end=[9, 5, 0], partial=False)
        self.assertEqual(self.query("room", "path", **way)["status"], "unreachable")
        self.assertEqual(self.ask("PUT", "/v1/meshes/room/regions/door", {"blocked": False}).status, 200)
        self.assertEqual(self.query("room", "path", **way)["length"], 8)
        self.assertEqual(self.ask("POST", "/v1/meshes/room/reload").status, 200)
        self.assertEqual(self.query("room", "path", **way)["length"], 8)
        made = self.ask("PUT", "/v1/meshes/room/obstacles/o", {"shape": "box", "center": [5, 5, 0], "half_extents": [1, 4, 1], "yaw": 0})
        self.assertEqual(made.json()["center"], [5, 5, 0])
        self.assertAlmostEqual(self.query("room", "path", **way)["length"], ROUND, 5)


class Kept(ServerCase):
    """With a state folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = folder.name
        self.server = Server({"room.json": meshes.room()}, ["--state", self.state])
        self.addCleanup(self.server.stop)
        super().setUp()

    @classmethod
    def setUpClass(cls):
        pass

    def restart(self, cut=None):
        self.connection.close()
        self.server.kill()
        if cut:
            cut()
        self.server.start()
        self.connection = self.server.connect()

    def standing(self):
        return [o["id"] for o in self.ask("GET", "/v1/meshes/room/obstacles").json()["obstacles"]]

    def put(self, name, **more):
        a = self.ask("PUT", "/v1/meshes/room/obstacles/" + name, dict(CRATE, **more))
        self.assertIn(a.status, (200, 201), a)
        return a

    def test_edits_survive_kill_9(self):
        self.put("a")
        self.put("b")
        self.put("passing", volatile=True)
        self.put("short", ttl_ms=1)
        self.put("long", ttl_ms=3600000)
        self.assertEqual(self.ask("DELETE", "/v1/meshes/room/obstacles/b").status, 204)
        self.put("a", center=[5, 0, 9])
        self.restart()
        self.assertEqual(self.standing(), ["a", "long"])
        self.assertEqual(self.ask("GET", "/v1/meshes/room/obstacles/a").json()["center"], [5, 0, 9])
        # A file that comes later finds its edits.
        os.unlink(self.server.path("room.json"))
        self.server.until(lambda: self.ask("GET", "/v1/meshes/room").status == 404, "the file's end")
        self.server.write("room.json", meshes.room())
        self.server.until(lambda: self.ask("GET", "/v1/meshes/room").json().get("state") == "ready", "the file")
        self.assertEqual(self.standing(), ["a", "long"])

    def test_a_torn_tail(self):
        self.put("a")
        self.put("b")
        path = os.path.join(self.state, "room.edits")

        def cut():
            os.truncate(path, os.path.getsize(path) - 7)
        self.restart(cut)
        self.assertEqual(self.standing(), ["a"])
        self.assertIn("torn end", self.server.stderr())
        self.put("c")
        self.restart()
        self.assertEqual(self.standing(), ["a", "c"])

    def test_a_deleted_mesh_takes_its_edits_along(self):
        self.put("a")
        self.assertEqual(self.ask("DELETE", "/v1/meshes/room").status, 204)
        self.assertEqual([n for n in os.listdir(self.state) if n.endswith(".edits")], [])
        self.assertEqual(self.ask("PUT", "/v1/meshes/room", meshes.room()).status, 201)
        self.assertEqual(self.standing(), [])
        self.restart()
        self.assertEqual(self.standing(), [])

    def test_the_log_is_shortened(self):
        path = os.path.join(self.state, "room.edits")
        entry = dict(CRATE, type="obstacle")
        for n in range(40):
            edits = [dict(entry, id="o%d" % (k % 5), center=[5, 0, 5 + n / 100]) for k in range(50)]
            self.assertEqual(self.ask("POST", "/v1/meshes/room/edits", edits).status, 200)
        self.server.until(lambda: "log of edits shortened" in self.server.stderr(), "a shorter log")
        self.assertLess(os.path.getsize(path), 130000)
        self.put("last")
        self.restart()
        self.assertEqual(self.standing(), ["last", "o0", "o1", "o2", "o3", "o4"])
        self.assertAlmostEqual(self.ask("GET", "/v1/meshes/room/obstacles/o3").json()["center"][2], 5.39, 5)

    def test_two_servers_do_not_share_a_folder(self):
        with self.assertRaisesRegex(AssertionError, "another process"):
            Server({}, ["--state", self.state])

    def test_waiting_edits_share_a_sync(self):
        def many(n):
            with self.server.connect() as c:
                for k in range(25):
                    a = c.request("PUT", "/v1/meshes/room/obstacles/o%d-%d" % (n, k % 3), CRATE)
                    if a.status not in (200, 201):
                        faults.append(a)
        faults = []
        threads = [threading.Thread(target=many, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(faults, [])
        text = self.ask("GET", "/metrics").body.decode()
        commits = next(float(line.split()[1]) for line in text.split("\n") if line.startswith("navd_edit_commits_total "))
        self.assertLess(commits, 200)
        self.assertEqual(len(self.standing()), 24)

    def test_a_drain_keeps_what_it_acknowledged(self):
        self.put("a")
        self.connection.close()
        self.server.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(), 0)
        self.server.process.stdout.close()
        self.server.log.close()
        self.server.start()
        self.connection = self.server.connect()
        self.assertEqual(self.standing(), ["a"])


class Refusals(ServerCase):
    """What openapi.json says of every call: 304, 400, 401 and 404."""

    BODIES = {"obstacle": CRATE, "region": {"points": WALL, "min": -1, "max": 1}, "link": {"start": [1, 0, 1], "end": [9, 0, 9]}}

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        token = os.path.join(folder.name, "token")
        with open(token, "w") as f:
            f.write("secret")
        cls.server = Server({"room.json": meshes.room()}, ["--token-file", token])
        cls.addClassCleanup(cls.server.stop)

    def change(self, method, path, body=None):
        return self.ask(method, path, body, [("Authorization", "Bearer secret")])

    def test_every_call(self):
        for kind, body in self.BODIES.items():
            many, one = "/v1/meshes/room/%ss" % kind, "/v1/meshes/room/%ss/x" % kind
            with self.subTest(kind):
                for method, path, sent in (("POST", many, body), ("PUT", one, body), ("DELETE", one, None)):
                    self.assert_problem(self.ask(method, path, sent), 401, "unauthorized")
                    self.assert_problem(self.change(method, path.replace("room", "none"), sent), 404, "not_found")
                    self.assert_problem(self.change(method, path + "?a=1", sent), 400, "bad_request")
                self.assertEqual(self.change("POST", many, body).status, 201)
                self.assertEqual(self.change("PUT", one, body).status, 201)
                self.assertEqual(self.change("PUT", one, body).status, 200)
                for path in (many, one):
                    tag = self.ask("GET", path).headers["etag"]
                    self.assertEqual(self.ask("GET", path, headers=[("If-None-Match", tag)]).status, 304)
                    self.assert_problem(self.ask("GET", path.replace("room", "none")), 404, "not_found")
                    self.assert_problem(self.ask("GET", path + "?a=1"), 400, "bad_request")
                self.assertEqual(self.change("DELETE", one).status, 204)
        path = "/v1/meshes/room/edits"
        self.assert_problem(self.ask("POST", path, []), 401, "unauthorized")
        self.assert_problem(self.change("POST", path.replace("room", "none"), []), 404, "not_found")
        self.assert_problem(self.change("POST", path, [1]), 400, "bad_request")
