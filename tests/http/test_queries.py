"""The queries, on meshes whose answers are plain geometry."""
import json
import math
import random
from urllib.parse import quote, urlencode

from harness import meshes
from harness.case import ServerCase
from harness.meshes import BEND_END, BEND_START

FILES = {"bend.json": meshes.bend(), "room.json": meshes.room(), "islands.json": meshes.islands(),
         "floors.json": meshes.floors(), "maze.json": meshes.maze(24, seed=5)}


class Path(ServerCase):
    files = FILES

    def test_goes_round_the_wall(self):
        a = self.query("bend", "path", start=BEND_START, end=BEND_END)
        self.assertEqual(a["status"], "complete")
        self.assert_points(a["points"], [[1, 0, 1], [4, 0, 6], [6, 0, 6], [9, 0, 1]])
        self.assertAlmostEqual(a["length"], meshes.bend_length(6), 6)
        self.assertAlmostEqual(a["cost"], a["length"], 6)
        self.assertEqual((a["links"], a["remaining"]), ([], 0))
        for end, point, polygon in (("start", BEND_START, 0), ("end", BEND_END, 2)):
            self.assert_point(a[end]["point"], point)
            self.assertEqual((a[end]["polygon"], a[end]["distance"]), (polygon, 0))
        self.assertGreaterEqual(a["revision"], 1)
        self.assertNotIn("polygons", a)

    def test_corridor_names_the_polygons_crossed(self):
        a = self.query("bend", "path", start=BEND_START, end=BEND_END, corridor=True)
        self.assertEqual(a["polygons"], [0, 1, 2])

    def test_snaps_both_ends(self):
        a = self.query("room", "path", start=[-1, 0.2, 5], end=[5, -0.1, 11], snap=2)
        self.assertEqual(a["status"], "complete")
        self.assert_points(a["points"], [[0, 0, 5], [5, 0, 10]])
        self.assertAlmostEqual(a["start"]["distance"], math.hypot(1, 0.2), 6)

    def test_same_place_has_no_length(self):
        a = self.query("room", "path", start=[5, 0, 5], end=[5, 0, 5])
        self.assertEqual((a["status"], a["length"]), ("complete", 0))
        self.assertIn(len(a["points"]), (1, 2))

    def test_ends_off_the_mesh(self):
        for start, end, status in (([50, 0, 5], [5, 0, 5], "start_off_mesh"), ([5, 0, 5], [50, 0, 5], "end_off_mesh")):
            a = self.query("room", "path", start=start, end=end)
            self.assertEqual(a["status"], status)
            self.assertFalse(a.get("points"))

    def test_partial_leads_to_the_nearest_reachable_point(self):
        a = self.query("islands", "path", start=[1, 0, 1], end=[8, 0, 2])
        self.assertEqual(a["status"], "partial")
        self.assert_points(a["points"], [[1, 0, 1], [4, 0, 2]])
        self.assertAlmostEqual(a["remaining"], 4, 6)
        self.assert_point(a["end"]["point"], [8, 0, 2])

    def test_no_partial_path_where_none_is_wanted(self):
        a = self.query("islands", "path", start=[1, 0, 1], end=[8, 0, 2], partial=False)
        self.assertEqual(a["status"], "unreachable")
        self.assertFalse(a.get("points"))

    def test_limits_end_the_search(self):
        ends = {"start": [0.5, 0, 0.5], "end": [23.5, 0, 23.5], "snap": 3}
        whole = self.query("maze", "path", **ends)
        self.assertEqual(whole["status"], "complete")
        for limit in ({"max_length": whole["length"] * 0.9}, {"max_nodes": 3}):
            with self.subTest(limit):
                a = self.query("maze", "path", **ends, **limit)
                self.assertEqual(a["status"], "limit")
                self.assertLess(a["length"], whole["length"])
                self.assertGreater(a["remaining"], 0)
        self.assertEqual(self.query("maze", "path", **ends, max_length=whole["length"] * 1.01, max_nodes=100000), whole)


class Places(ServerCase):
    files = FILES

    def test_nearest(self):
        a = self.query("room", "nearest", point=[12, 0.5, 5], snap=3)
        self.assertEqual(a["status"], "found")
        self.assert_point(a["point"], [10, 0, 5])
        self.assertAlmostEqual(a["distance"], math.hypot(2, 0.5), 6)
        self.assertEqual((a["polygon"], a["inside"], a["on_mesh"]), (0, False, False))

    def test_nearest_over_the_floor(self):
        low = self.query("room", "nearest", point=[5, 0.25, 5])
        self.assertEqual((low["inside"], low["on_mesh"], low["distance"]), (True, True, 0.25))
        high = self.query("room", "nearest", point=[5, 2, 5])
        self.assertEqual((high["inside"], high["on_mesh"], high["distance"]), (True, False, 2))

    def test_nothing_in_the_box(self):
        self.assertEqual(self.query("room", "nearest", point=[13.5, 0, 5], snap=3)["status"], "none")
        self.assertEqual(self.query("room", "nearest", point=[5, 1, 5], snap=0)["status"], "none")
        self.assertEqual(self.query("room", "nearest", point=[5, 3.5, 5], snap=[9, 3, 9])["status"], "none")

    def test_floor_rules(self):
        for floor, y, expected in (("nearest", 1, 0), ("nearest", 2.6, 3), ("below", 2.4, 0), ("above", 1, 3)):
            a = self.query("floors", "nearest", point=[2, y, 5], floor=floor, snap=4)
            self.assertEqual(a["point"][1], expected, (floor, y))

    def test_one_result_for_each_floor(self):
        a = self.query("floors", "nearest", point=[2, 2.4, 5], count=8, snap=4)
        self.assertEqual([r["point"][1] for r in a["results"]], [3, 0])

    def test_height(self):
        a = self.query("floors", "height", point=[2, 2.9, 5])
        self.assertEqual((a["status"], a["height"]), ("found", 3))
        self.assert_point(a["point"], [2, 3, 5])
        self.assertEqual(self.query("floors", "height", point=[10.5, 0, 5])["status"], "none")

    def test_raycast(self):
        a = self.query("bend", "raycast", start=[1, 0, 1], end=[9, 0, 1])
        self.assertEqual(a["status"], "blocked")
        self.assert_point(a["point"], [4, 0, 1])
        self.assert_point(a["normal"], [-1, 0, 0])
        self.assertAlmostEqual(a["t"], 3 / 8, 6)
        self.assertAlmostEqual(a["distance"], 3, 6)
        clear = self.query("bend", "raycast", start=[1, 0, 8], end=[9, 0, 7], corridor=True)
        self.assertEqual((clear["status"], clear["t"], clear["polygons"]), ("clear", 1, [0, 1, 2]))
        self.assertEqual(self.query("bend", "raycast", start=[50, 0, 8], end=[9, 0, 7])["status"], "start_off_mesh")


class Form(ServerCase):
    """How questions may be put and answers are written, whatever they are about."""

    files = FILES

    def get(self, mesh, kind, **arguments):
        text = {k: ",".join(map(repr, v)) if isinstance(v, list) else json.dumps(v) if isinstance(v, bool) else str(v)
                for k, v in arguments.items()}
        return self.ask("GET", "/v1/meshes/%s/%s?%s" % (mesh, kind, urlencode(text)))

    def test_get_equals_post(self):
        rng = random.Random(20)

        def point():
            return [round(rng.uniform(-1, 25), 3), round(rng.uniform(-1, 1), 3), round(rng.uniform(-1, 25), 3)]

        def more():
            options = {"snap": rng.choice([0, 1.5, [2, 3, 1]]), "precision": rng.randrange(10), "id": "q-%d" % rng.randrange(99),
                       "floor": rng.choice(["below", "above", "nearest"]), "vectors": rng.choice(["array", "object"])}
            return {k: v for k, v in options.items() if rng.random() < 0.5}

        statuses = set()
        for _ in range(300):
            kind = rng.choice(["nearest", "path", "raycast", "height"])
            members = {"point": point()} if kind in ("nearest", "height") else {"start": point(), "end": point()}
            if kind == "path":
                members["partial"] = rng.random() < 0.7
            if kind in ("path", "raycast"):
                members["corridor"] = rng.random() < 0.5
            members.update(more())
            posted = self.ask("POST", "/v1/meshes/maze/" + kind, members)
            got = self.get("maze", kind, **members)
            self.assertEqual((posted.status, posted.body), (got.status, got.body), members)
            self.assertEqual(posted.status, 200, posted)
            statuses.add(posted.json()["status"])
        self.assertLessEqual({"found", "none", "complete", "partial", "start_off_mesh", "clear", "blocked"}, statuses)

    def test_encoded_query_strings(self):
        plain = self.ask("GET", "/v1/meshes/room/nearest?point=1,0.5,2&snap=2")
        self.assertEqual(plain.status, 200, plain)
        for other in ("?point=1%2C0.5%2C2&snap=2", "?snap=2&point=1.0,5e-1,2"):
            self.assertEqual(self.ask("GET", "/v1/meshes/room/nearest" + other).body, plain.body)
        self.assertEqual(self.ask("GET", "/v1/meshes/" + quote("room").replace("r", "%72") + "/nearest?point=1,0.5,2&snap=2").body,
                         plain.body)

    def test_objects_are_answered_with_objects(self):
        a = self.query("bend", "path", start={"x": 1, "y": 0, "z": 1}, end={"x": 9, "y": 0, "z": 1})
        self.assertEqual(a["points"][1], {"x": 4, "y": 0, "z": 6})
        self.assertEqual(a["end"]["point"], {"x": 9, "y": 0, "z": 1})
        a = self.query("bend", "path", start={"x": 1, "y": 0, "z": 1}, end={"x": 9, "y": 0, "z": 1}, vectors="array")
        self.assertEqual(a["points"][1], [4, 0, 6])
        a = self.query("bend", "path", start=BEND_START, end=BEND_END, vectors="object")
        self.assertEqual(a["points"][1], {"x": 4, "y": 0, "z": 6})

    def test_the_id_comes_back(self):
        for value in ("a b", 17, "Ω\"\\"):
            self.assertEqual(self.query("room", "nearest", point=[1, 0, 1], id=value)["id"], value)

    def test_precision_rounds_coordinates(self):
        a = self.query("room", "nearest", point=[1.23456, 0.1, 2.34567], precision=2)
        self.assertEqual(a["point"], [1.23, 0, 2.35])

    def test_coordinates_are_the_shortest_that_read_back(self):
        answer = self.ask("POST", "/v1/meshes/room/nearest", {"point": [0.1, 0, 3.3]})
        self.assertIn(b"[0.1,0,3.3]", answer.body.replace(b" ", b"").replace(b"0.0,", b"0,"))

    def test_head_is_get_without_the_body(self):
        target = "/v1/meshes/room/nearest?point=1,0,1"
        head, got = self.ask("HEAD", target), self.ask("GET", target)
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.headers["content-length"], str(len(got.body)))
        self.assertEqual(head.headers["content-type"], got.headers["content-type"])

    def test_every_answer_has_a_request_id(self):
        sent = self.ask("GET", "/v1/meshes/room", headers=[("X-Request-Id", "trace-1.A_b")])
        self.assertEqual(sent.headers["x-request-id"], "trace-1.A_b")
        own = {self.ask("GET", path, headers=headers).headers.get("x-request-id")
               for path, headers in (("/livez", []), ("/nowhere", []), ("/v1/meshes/room", []),
                                     ("/livez", [("X-Request-Id", "no good\t")]), ("/livez", [("X-Request-Id", "x" * 65)]))}
        self.assertEqual(len(own - {None, "", "x" * 65}), 5, own)


class Batch(ServerCase):
    files = FILES

    def test_results_in_order_and_one_bad_entry_alone(self):
        queries = [{"type": "path", "start": BEND_START, "end": BEND_END},
                   {"type": "nearest", "point": "here"},
                   {"type": "raycast", "start": BEND_START, "end": BEND_END, "id": "ray"},
                   {"type": "nosuch"},
                   {"type": "height", "point": [1, 0, 1]}]
        a = self.query("bend", "batch", queries=queries)
        path, bad, ray, unknown, height = a["results"]
        self.assert_points(path["points"], [[1, 0, 1], [4, 0, 6], [6, 0, 6], [9, 0, 1]])
        self.assertEqual((bad["error"]["status"], bad["error"]["code"]), (400, "bad_request"))
        self.assertIn("point", bad["error"]["pointer"])
        self.assertEqual((ray["status"], ray["id"]), ("blocked", "ray"))
        self.assertEqual(unknown["error"]["code"], "bad_request")
        self.assertEqual(height["height"], 0)

    def test_defaults_hold_where_a_query_says_nothing(self):
        a = self.query("room", "batch", defaults={"snap": 0.5},
                       queries=[{"type": "nearest", "point": [11, 0, 5]}, {"type": "nearest", "point": [11, 0, 5], "snap": 2}])
        self.assertEqual([r["status"] for r in a["results"]], ["none", "found"])

    def test_same_answers_as_single_queries(self):
        rng = random.Random(3)
        queries = [{"type": "path", "start": [rng.uniform(0, 24), 0, rng.uniform(0, 24)],
                    "end": [rng.uniform(0, 24), 0, rng.uniform(0, 24)]} for _ in range(300)]
        results = self.query("maze", "batch", queries=queries)["results"]
        self.assertEqual(len(results), 300)
        for q, r in zip(queries, results):
            single = self.query("maze", "path", start=q["start"], end=q["end"])
            r.setdefault("revision", single["revision"])
            self.assertEqual(r, single)

    def test_empty(self):
        self.assertEqual(self.query("room", "batch", queries=[])["results"], [])


class Frames(ServerCase):
    """The same room asked in other frames."""

    files = {"plain.json": meshes.bend(), "unreal.json": meshes.bend(), "unreal.meta.json": b'{"frame":"unreal"}',
             "axes.json": meshes.bend(), "axes.meta.json": b'{"frame":"-x,-z,y"}',
             "zup.json": meshes.polygons([[0, 0, 2], [0, 10, 2], [10, 10, 2], [10, 0, 2]], [[0, 1, 2, 3]]),
             "zup.meta.json": b'{"frame":"z-up"}',
             "flat.mesh": b"mesh\n2\n4 1\n0 0 2 0 -1\n10 0 2 0 -1\n10 10 2 0 -1\n0 10 2 0 -1\n4 0 1 2 3 -1 -1 -1 -1\n"}

    def test_unreal(self):
        for mesh in ("unreal", "axes"):
            a = self.query(mesh, "path", start=[-1, -1, 0], end=[-9, -1, 0])
            self.assert_points(a["points"], [[-1, -1, 0], [-4, -6, 0], [-6, -6, 0], [-9, -1, 0]])
            ray = self.query(mesh, "raycast", start=[-1, -1, 0], end=[-9, -1, 0])
            self.assert_point(ray["normal"], [1, 0, 0])
            near = self.query(mesh, "nearest", point=[-2, -2, 5], snap=[0.1, 0.1, 6])
            self.assert_point(near["point"], [-2, -2, 0])
            self.assertEqual(self.query(mesh, "nearest", point=[-2, -2, 5], snap=[6, 6, 0.1])["status"], "none")

    def test_z_up(self):
        a = self.query("zup", "nearest", point=[3, 4, 2.25])
        self.assert_point(a["point"], [3, 4, 2])
        self.assertTrue(a["on_mesh"])
        bounds = self.ask("GET", "/v1/meshes/zup").json()["bounds"]
        self.assertEqual((bounds["min"], bounds["max"]), ([0, 0, 2], [10, 10, 2]))

    def test_two_dimensions(self):
        a = self.query("flat", "path", start=[1, 1], end=[9, 8])
        self.assert_points(a["points"], [[1, 1], [9, 8]])
        self.assertAlmostEqual(a["length"], math.hypot(8, 7), 6)
        self.assertEqual(self.ask("GET", "/v1/meshes/flat").json()["dimensions"], 2)
