"""Everything that can be asked wrongly, and the problem document it gets."""
from harness import meshes
from harness.case import ServerCase

PATH = "/v1/meshes/room/path"
NEAREST = "/v1/meshes/room/nearest"
GOOD = {"start": [1, 0, 1], "end": [2, 0, 2]}


class Questions(ServerCase):
    files = {"room.json": meshes.room()}

    def test_bodies_that_are_not_json(self):
        for body in (b"", b"{", b"{}x", b'{"start":[1,0,1],"end":[2,0,2]}}', b"nul", b'{"start":[1,0,NaN]}', b"\xff\xfe", b"'a'",
                     b'{"start":[1,0,1],}', b'{"start":[1,0,1]\0,"end":[2,0,2]}', b'{"id":"\xff"}', b"[" * 100000):
            with self.subTest(body[:40]):
                self.assert_problem(self.ask("POST", PATH, body), 400, "bad_json")

    def test_members_at_fault_are_pointed_at(self):
        for members, pointer in (
                ({"end": [1, 0, 1]}, "/start"), ({"start": [1, 0, 1]}, "/end"),
                (dict(GOOD, start=[1, 0]), "/start"), (dict(GOOD, start=[1, 0, 1, 1]), "/start"),
                (dict(GOOD, start="1,0,1"), "/start"), (dict(GOOD, start=None), "/start"),
                (dict(GOOD, start=[1, "0", 1]), "/start/1"), (dict(GOOD, end={"x": 1, "y": 2}), "/end"),
                (dict(GOOD, end={"x": 1, "y": 2, "w": 3}), "/end"), (dict(GOOD, end={"x": 1, "y": 2, "z": True}), "/end/z"),
                (dict(GOOD, snap=-1), "/snap"), (dict(GOOD, snap=[1, 2]), "/snap"), (dict(GOOD, snap="wide"), "/snap"),
                (dict(GOOD, floor="upstairs"), "/floor"), (dict(GOOD, partial=1), "/partial"),
                (dict(GOOD, corridor="yes"), "/corridor"), (dict(GOOD, max_nodes=0), "/max_nodes"),
                (dict(GOOD, max_nodes=1.5), "/max_nodes"), (dict(GOOD, max_length=-1), "/max_length"),
                (dict(GOOD, timeout_ms=0), "/timeout_ms"), (dict(GOOD, precision=10), "/precision"),
                (dict(GOOD, vectors="tuple"), "/vectors"), (dict(GOOD, radius=-1), "/radius"),
                (dict(GOOD, filter={"include": ["swim"]}), "/filter/include"), (dict(GOOD, filter={"costs": {"0": -1}}), "/filter/costs"),
                (dict(GOOD, filter={"costs": {"lava": 2}}), "/filter/costs"), (dict(GOOD, filter={"only": 1}), "/filter/only"),
                (dict(GOOD, filter="nosuch"), "/filter")):
            with self.subTest(members):
                problem = self.assert_problem(self.ask("POST", PATH, members), 400, "bad_request")
                self.assertTrue(problem.get("pointer", "").startswith(pointer), problem)

    def test_numbers_that_are_not_finite(self):
        for word in (b"1e999", b"-1e999", b"1e400"):
            a = self.ask("POST", PATH, b'{"start":[%s,0,1],"end":[2,0,2]}' % word)
            self.assertIn(a.code(), ("bad_request", "bad_json"), a)
        for word in ("nan", "inf", "1e999", "0x10", "1,", "", "1;2"):
            with self.subTest(word):
                a = self.ask("GET", "%s?point=%s,0,1" % (NEAREST, word))
                self.assertEqual(self.assert_problem(a, 400, "bad_request").get("parameter"), "point")

    def test_typing_errors_are_told(self):
        a = self.ask("POST", PATH, dict(GOOD, strat=[1, 0, 1]))
        problem = self.assert_problem(a, 400, "bad_request")
        self.assertEqual(problem["pointer"], "/strat")
        self.assertIn("start", problem["detail"])
        a = self.ask("GET", NEAREST + "?point=1,0,1&snapp=2")
        problem = self.assert_problem(a, 400, "bad_request")
        self.assertEqual(problem["parameter"], "snapp")
        self.assertIn("snap", problem["detail"])

    def test_the_same_member_twice(self):
        a = self.ask("POST", PATH, b'{"start":[1,0,1],"start":[3,0,1],"end":[2,0,2]}')
        self.assert_problem(a, 400, "bad_request")
        self.assert_problem(self.ask("GET", NEAREST + "?point=1,0,1&point=2,0,2"), 400, "bad_request")

    def test_a_body_of_another_kind(self):
        for body in (b"[]", b"1", b'"path"', b"null", b"true"):
            self.assert_problem(self.ask("POST", PATH, body), 400, "bad_request")

    def test_nesting_is_limited(self):
        body = b'{"id":' + b"[" * 2000 + b"]" * 2000 + b"}"
        self.assertIn(self.ask("POST", PATH, body).code(), ("bad_json", "bad_request"))

    def test_batches(self):
        batch = "/v1/meshes/room/batch"
        for body, pointer in (({}, "/queries"), ({"queries": {}}, "/queries"), ({"queries": [], "default": {}}, "/default"),
                              ({"queries": [], "defaults": []}, "/defaults")):
            problem = self.assert_problem(self.ask("POST", batch, body), 400, "bad_request")
            self.assertEqual(problem.get("pointer"), pointer)
        a = self.ask("POST", batch, {"queries": [3, {"type": "path"}, {"type": "batch", "queries": []}]})
        self.assertEqual(a.status, 200, a)
        self.assertEqual([r["error"]["code"] for r in a.json()["results"]], ["bad_request"] * 3)

    def test_no_such_thing(self):
        for method, path in (("GET", "/nowhere"), ("GET", "/v1"), ("GET", "/v1/meshes/none"), ("GET", "/v1/meshes/room/fly"),
                             ("POST", "/v1/meshes/none/path"), ("DELETE", "/v1/meshes/none"), ("POST", "/v1/meshes/none/reload"),
                             ("GET", "/v1/meshes/none/report"), ("GET", "/v1/meshes//path"), ("GET", "//livez"), ("GET", "/livez/")):
            with self.subTest(path):
                self.assert_problem(self.ask(method, path, GOOD if method == "POST" else None), 404, "not_found")
        self.assertIn("none", self.ask("GET", "/v1/meshes/none").json()["detail"])

    def test_methods_that_a_path_does_not_have(self):
        for method, path, has in (("DELETE", "/livez", "GET"), ("PUT", "/v1/meshes", "GET"), ("PATCH", PATH, "POST"),
                                  ("POST", "/v1/meshes/room", "PUT"), ("GET", "/v1/meshes/room/reload", "POST"),
                                  ("BREW", PATH, "GET"), ("DELETE", "/v1/meshes/room/report", "GET")):
            with self.subTest(method + " " + path):
                a = self.ask(method, path, b"" if method != "GET" else None)
                self.assert_problem(a, 405, "method_not_allowed")
                allowed = [w.strip() for w in a.headers["allow"].split(",")]
                self.assertIn(has, allowed)
                self.assertNotIn(method, allowed)
                self.assertEqual("GET" in allowed, "HEAD" in allowed)

    def test_options_names_the_methods(self):
        a = self.ask("OPTIONS", PATH)
        self.assertEqual(a.status, 204, a)
        self.assertLessEqual({"GET", "HEAD", "POST", "OPTIONS"}, {w.strip() for w in a.headers["allow"].split(",")})

    def test_the_deadline_of_a_request(self):
        self.assert_problem(self.ask("POST", PATH, dict(GOOD, timeout_ms=-5)), 400, "bad_request")
        self.assertEqual(self.ask("POST", PATH, dict(GOOD, timeout_ms=1000)).status, 200)


class Deadline(ServerCase):
    """A batch that cannot be done in the time it was given."""

    files = {"maze.json": meshes.maze(150, 0.3, seed=8)}

    def test_time_runs_out(self):
        queries = [{"type": "path", "start": [1 + i % 7, 0, 1], "end": [148, 0, 148 - i % 9]} for i in range(1000)]
        a = self.ask("POST", "/v1/meshes/maze/batch", {"queries": queries, "timeout_ms": 20, "defaults": {"snap": 8}})
        self.assert_problem(a, 504, "deadline")
        self.assertEqual(self.ask("GET", "/v1/meshes/maze/nearest?point=5,0,5").status, 200)


class Limits(ServerCase):
    files = {"room.json": meshes.room()}
    options = ["--max-batch", "5", "--max-body", "100000"]

    def test_batch_too_long(self):
        one = {"type": "nearest", "point": [1, 0, 1]}
        self.assertEqual(self.ask("POST", "/v1/meshes/room/batch", {"queries": [one] * 5}).status, 200)
        a = self.ask("POST", "/v1/meshes/room/batch", {"queries": [one] * 6})
        self.assert_problem(a, 413, "too_large")

    def test_mesh_too_large(self):
        a = self.ask("PUT", "/v1/meshes/big?persist=false", meshes.maze(60))
        self.assert_problem(a, 413, "too_large")
        self.assertEqual(self.server.request("GET", "/v1/meshes/big").status, 404)
