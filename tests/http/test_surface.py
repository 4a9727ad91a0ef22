"""Walls, steps, reach, random places, rays and matrices, filters and links, on meshes of plain geometry."""
import json
import math
import random
from urllib.parse import urlencode

from harness import meshes
from harness.case import ServerCase

FILES = {"demo.json": meshes.showcase(), "demo.meta.json": meshes.SHOWCASE_SIDECAR, "room.json": meshes.room(),
         "bend.json": meshes.bend(), "islands.json": meshes.islands(), "floors.json": meshes.floors(),
         "maze.json": meshes.maze(24, seed=5)}


class Walls(ServerCase):
    files = FILES

    def test_nearest_wall(self):
        a = self.query("room", "wall", point=[2, 0.5, 6])
        self.assertEqual((a["status"], a["distance"]), ("found", 2))
        self.assert_point(a["point"], [0, 0, 6])
        self.assert_point(a["normal"], [1, 0, 0])

    def test_a_corner_points_from_itself(self):
        a = self.query("bend", "wall", point=[3, 0, 7], max_distance=4)
        self.assertAlmostEqual(a["distance"], math.sqrt(2), 6)
        self.assert_point(a["point"], [4, 0, 6])
        self.assert_point(a["normal"], [-math.sqrt(0.5), 0, math.sqrt(0.5)])

    def test_out_of_reach_and_off_the_mesh(self):
        self.assertEqual(self.query("room", "wall", point=[5, 0, 5], max_distance=4.9)["status"], "none")
        self.assertEqual(self.query("room", "wall", point=[50, 0, 5])["status"], "off_mesh")

    def test_a_closed_polygon_is_a_wall(self):
        a = self.query("demo", "wall", point=[3, 0, 8.5], filter="dry")
        self.assertEqual(a["distance"], 1)
        self.assert_point(a["point"], [4, 0, 8.5])


class Moves(ServerCase):
    files = FILES

    def test_reaches_what_is_in_sight(self):
        a = self.query("bend", "move", start=[1, 0, 8], end=[9, 0, 7])
        self.assertEqual((a["status"], a["hit"], a["polygon"]), ("moved", False, 2))
        self.assert_point(a["point"], [9, 0, 7])

    def test_slides_along_the_wall(self):
        a = self.query("bend", "move", start=[3, 0, 2], end=[5, 0, 3])
        self.assertEqual((a["status"], a["hit"], a["polygon"]), ("moved", True, 0))
        self.assert_point(a["point"], [4, 0, 3])

    def test_has_the_height_of_its_own_floor(self):
        a = self.query("floors", "move", start=[1, 3.2, 5], end=[2, 0, 5], floor="below")
        self.assert_point(a["point"], [2, 3, 5])
        self.assertEqual(self.query("floors", "move", start=[70, 3, 5], end=[2, 0, 5])["status"], "start_off_mesh")


class Reach(ServerCase):
    files = FILES

    def test_everything_from_anywhere(self):
        a = self.query("bend", "reachable", point=[1, 0, 1])
        self.assertEqual((a["status"], a["area"]), ("found", 88))
        self.assertEqual([p["polygon"] for p in a["polygons"]], [0, 1, 2])
        self.assertEqual(a["polygons"][0]["cost"], 0)
        self.assertAlmostEqual(a["polygons"][1]["cost"], math.hypot(3, 5), 6)
        self.assertAlmostEqual(a["polygons"][2]["cost"], math.hypot(3, 5) + 2, 6)
        self.assertEqual(len(a["outline"]), 1)

    def test_no_further_than_it_may_cost(self):
        a = self.query("bend", "reachable", point=[1, 0, 1], max_cost=6)
        self.assertEqual([p["polygon"] for p in a["polygons"]], [0, 1])
        a = self.query("bend", "reachable", point=[1, 0, 1], limit=1)
        self.assertEqual((a["status"], [p["polygon"] for p in a["polygons"]]), ("limit", [0]))
        self.assertEqual(self.query("bend", "reachable", point=[90, 0, 1])["status"], "off_mesh")

    def test_geojson(self):
        hole = meshes.polygons(*meshes.rectangles([(0, 0, 9, 3), (0, 6, 9, 9), (0, 3, 3, 6), (6, 3, 9, 6)]))
        for frame, start in (("y-up", "1,0,1"), ("unreal", "-1,-1,0"), ("z,y,x", "1,0,1")):
            with self.subTest(frame):
                self.assertIn(self.ask("PUT", "/v1/meshes/hole?persist=false&frame=" + frame, hole).status, (200, 201))
                a = self.ask("GET", "/v1/meshes/hole/reachable?format=geojson&point=" + start)
                self.assertEqual((a.status, a.headers["content-type"]), (200, "application/geo+json"), a)
                value = a.json()
                self.assertEqual((value["type"], value["area"], len(value["features"])), ("FeatureCollection", 72, 1))
                geometry = value["features"][0]["geometry"]
                self.assertEqual(geometry["type"], "MultiPolygon")
                (rings,) = geometry["coordinates"]
                self.assertEqual([round(signed_area(r), 6) for r in rings], [81, -9])
                for ring in rings:
                    self.assertEqual(ring[0], ring[-1])
                    self.assertEqual({p[2] for p in ring}, {0})

    def test_geojson_of_islands_joined_by_a_link(self):
        a = self.ask("POST", "/v1/meshes/demo/reachable", {"point": [7, 0, 1], "format": "geojson"}).json()
        shapes = a["features"][0]["geometry"]["coordinates"]
        self.assertEqual(sorted(round(signed_area(s[0]), 6) for s in shapes), [8, 88])


def signed_area(ring):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:])) / 2


class Random(ServerCase):
    files = FILES

    def test_places_are_on_the_surface_and_come_again(self):
        a = self.query("bend", "random", count=200, seed=3)
        self.assertEqual((a["status"], len(a["points"])), ("found", 200))
        for p in a["points"]:
            self.assertTrue(0 <= p[0] <= 4 or 6 <= p[0] <= 10 or 6 <= p[2] <= 10, p)
        self.assertEqual(self.query("bend", "random", count=200, seed=3), a)
        self.assertNotEqual(self.query("bend", "random", count=200, seed=4)["points"], a["points"])

    def test_around_a_place(self):
        a = self.query("islands", "random", count=300, seed=1, around={"point": [3, 0, 2], "radius": 5})
        for p in a["points"]:
            self.assertLessEqual(p[0], 4 + 1e-6)
            self.assertLessEqual(math.hypot(p[0] - 3, p[2] - 2), 5 + 1e-6)
        self.assertEqual(self.query("islands", "random", around={"point": [90, 0, 2], "radius": 5})["status"], "none")

    def test_one_without_being_asked_for_more(self):
        self.assertEqual(len(self.query("room", "random")["points"]), 1)
        self.assertEqual(self.ask("GET", "/v1/meshes/room/random").status, 200)


class Pick(ServerCase):
    files = FILES

    def test_from_above_from_below_and_beside(self):
        a = self.query("floors", "pick", origin=[2, 5, 5], direction=[0, -3, 0])
        self.assertEqual((a["status"], a["distance"], a["polygon"], a["back"]), ("hit", 2, 1, False))
        self.assert_point(a["point"], [2, 3, 5])
        self.assert_point(a["normal"], [0, 1, 0])
        a = self.query("floors", "pick", origin=[2, 1, 5], direction=[0, 1, 0])
        self.assertEqual((a["distance"], a["polygon"], a["back"]), (2, 1, True))
        self.assert_point(a["normal"], [0, 1, 0])
        self.assertEqual(self.query("floors", "pick", origin=[2, 5, 5], direction=[1, 0, 0])["status"], "none")
        self.assertEqual(self.query("floors", "pick", origin=[2, 5, 5], direction=[0, -1, 0], max_distance=1)["status"], "none")

    def test_directions_turn_with_the_frame(self):
        a = self.query("floors", "pick", origin=[-2, -5, 5], direction=[0, 0, -1], frame="unreal")
        self.assert_point(a["point"], [-2, -5, 3])
        self.assert_point(a["normal"], [0, 0, 1])

    def test_a_direction_that_is_none(self):
        answer = self.ask("POST", "/v1/meshes/room/pick", {"origin": [1, 5, 1], "direction": [0, 0, 0]})
        self.assertEqual(self.assert_problem(answer, 400, "bad_request")["pointer"], "/direction")


class Matrix(ServerCase):
    files = FILES

    def test_equals_single_paths(self):
        rng = random.Random(4)
        sources = [[rng.uniform(0, 24), 0, rng.uniform(0, 24)] for _ in range(12)]
        targets = [[rng.uniform(0, 24), 0, rng.uniform(0, 24)] for _ in range(15)]
        rows = self.query("maze", "matrix", sources=sources, targets=targets)["lengths"]
        self.assertEqual((len(rows), {len(r) for r in rows}), (12, {15}))
        nulls = 0
        for s, row in zip(sources, rows):
            paths = self.query("maze", "batch", queries=[{"type": "path", "start": s, "end": t} for t in targets])["results"]
            for length, path in zip(row, paths):
                if path["status"] == "complete":
                    self.assertAlmostEqual(length, path["length"], 5)
                else:
                    self.assertIsNone(length)
                    nulls += 1
        self.assertGreater(nulls, 0)

    def test_get_equals_post_also_for_long_ones(self):
        rng = random.Random(9)
        points = [[round(rng.uniform(0, 24), 2), 0, round(rng.uniform(0, 24), 2)] for _ in range(60)]
        text = ";".join(",".join(map(str, p)) for p in points)
        posted = self.ask("POST", "/v1/meshes/maze/matrix", {"sources": points, "targets": points, "id": "m"})
        got = self.ask("GET", "/v1/meshes/maze/matrix?" + urlencode({"sources": text, "targets": text, "id": "m"}))
        self.assertEqual(posted.status, 200)
        self.assertEqual((got.status, got.body), (200, posted.body))
        self.assertEqual([row[i] for i, row in enumerate(posted.json()["lengths"]) if row[i]], [])

    def test_in_a_batch(self):
        question = {"sources": [[1, 0, 1]], "targets": [[9, 0, 1], [50, 0, 50]]}
        single = self.query("bend", "matrix", **question)
        self.assertAlmostEqual(single["lengths"][0][0], meshes.bend_length(6), 6)
        self.assertIsNone(single["lengths"][0][1])
        self.assertEqual(self.query("bend", "batch", queries=[dict(question, type="matrix")])["results"], [single])

    def test_empty_ones(self):
        self.assertEqual(self.query("room", "matrix", sources=[], targets=[[1, 0, 1]])["lengths"], [])
        self.assertEqual(self.query("room", "matrix", sources=[[1, 0, 1]], targets=[])["lengths"], [[]])
        self.assertEqual(self.ask("GET", "/v1/meshes/room/matrix?sources=&targets=1,0,1").json()["lengths"], [])


class MatrixLimits(ServerCase):
    files = {"maze.json": meshes.maze(150, 0.3, seed=8)}
    options = ["--max-matrix", "40000"]

    def test_product(self):
        points = [[5, 0, 5]] * 201
        answer = self.ask("POST", "/v1/meshes/maze/matrix", {"sources": points, "targets": points})
        self.assert_problem(answer, 413, "too_large")
        answer = self.ask("GET", "/v1/meshes/maze/matrix?sources=%s&targets=%s" % ((";".join(["5,0,5"] * 201),) * 2))
        self.assert_problem(answer, 413, "too_large")

    def test_time_runs_out_between_rows(self):
        rng = random.Random(2)
        points = [[rng.uniform(0, 150), 0, rng.uniform(0, 150)] for _ in range(200)]
        answer = self.ask("POST", "/v1/meshes/maze/matrix", {"sources": points, "targets": points, "timeout_ms": 30, "snap": 8})
        self.assert_problem(answer, 504, "deadline")
        self.assertEqual(self.ask("GET", "/v1/meshes/maze/nearest?point=5,0,5").status, 200)


class Filters(ServerCase):
    """`showcase`: the way from the left room to the right leads through mud that must be swum."""

    files = dict(FILES, **{"dry.json": meshes.showcase(),
                           "dry.meta.json": json.dumps(dict(json.loads(meshes.SHOWCASE_SIDECAR), default_filter="dry")).encode()})

    def status(self, mesh="demo", **more):
        return self.query(mesh, "path", start=[1, 0, 1], end=[9, 0, 1], **more)["status"]

    def test_flags_by_name_bit_and_mask(self):
        for closed in ({"exclude": ["swim"]}, {"exclude": [1]}, {"exclude": 2}, {"include": ["walk"]}, {"include": [0]}, {"include": 1}):
            with self.subTest(closed):
                self.assertEqual(self.status(filter=closed), "partial")
        self.assertEqual(self.status(filter={"include": ["walk", 1]}), "complete")

    def test_costs_by_name_and_number(self):
        for costs in ({"mud": 3}, {"1": 3}, {"1": 3, "200": 7, "1000": 9}):
            a = self.query("demo", "path", start=[1, 0, 1], end=[9, 0, 1], filter={"costs": costs})
            self.assertAlmostEqual(a["cost"], a["length"] + 4, 6)

    def test_named(self):
        self.assertEqual(self.status(filter="dry"), "partial")
        slow = self.query("demo", "path", start=[1, 0, 1], end=[9, 0, 1], filter="slow")
        self.assertAlmostEqual(slow["cost"], slow["length"] + 4, 6)
        self.assertEqual(self.ask("GET", "/v1/meshes/demo/path?start=1,0,1&end=9,0,1&filter=dry").json()["status"], "partial")
        self.assertEqual(self.ask("GET", "/v1/meshes/demo").json()["filters"], ["dry", "slow"])
        problem = self.assert_problem(self.ask("GET", "/v1/meshes/demo/nearest?point=1,0,1&filter=dyr"), 400, "bad_request")
        self.assertEqual(problem["parameter"], "filter")
        self.assertIn("did you mean `dry`?", problem["detail"])

    def test_the_default_one(self):
        self.assertEqual(self.status("dry"), "partial")
        self.assertEqual(self.status("dry", filter={}), "complete")
        self.assertEqual(self.status("dry", filter="slow"), "complete")

    def test_nearest_known_names(self):
        for question, pointer, meant in (({"include": ["wakl"]}, "/filter/include/0", "walk"), ({"costs": {"mut": 2}}, "/filter/costs/mut", "mud"),
                                         ({"exlude": 1}, "/filter/exlude", "exclude")):
            with self.subTest(question):
                answer = self.ask("POST", "/v1/meshes/demo/nearest", {"point": [1, 0, 1], "filter": question})
                problem = self.assert_problem(answer, 400, "bad_request")
                self.assertEqual(problem["pointer"], pointer)
                self.assertIn("did you mean `%s`?" % meant, problem["detail"])


class Links(ServerCase):
    files = {"islands.json": meshes.islands(),
             "islands.meta.json": json.dumps({"links": [
                 {"id": "over", "start": [3.5, 0, 2], "end": [6.5, 0, 2], "kind": "jump", "cost": 1, "bidirectional": False},
                 {"id": "nowhere", "start": [3.5, 0, 2], "end": [60, 0, 2]}]}).encode()}

    def test_ridden_one_way(self):
        a = self.query("islands", "path", start=[1, 0, 2], end=[9, 0, 2])
        self.assertEqual((a["status"], a["links"]), ("complete", [{"at": 1, "id": "over", "kind": "jump"}]))
        self.assert_points(a["points"], [[1, 0, 2], [3.5, 0, 2], [6.5, 0, 2], [9, 0, 2]])
        self.assertAlmostEqual(a["length"], 8, 6)
        self.assertAlmostEqual(a["cost"], 6, 6)
        self.assertEqual(self.query("islands", "path", start=[9, 0, 2], end=[1, 0, 2])["status"], "partial")

    def test_culled_ones_are_told(self):
        report = self.ask("GET", "/v1/meshes/islands/report").json()
        self.assertEqual([d["id"] for d in report["dropped_links"]], ["nowhere"])
        self.assertTrue(report["dropped_links"][0]["reason"])
        self.assertEqual(self.ask("GET", "/v1/meshes/islands").json()["links"], 1)
