"""Meshes come, change and go: uploads, the folder, reports, geometry."""
import json
import os
import re
import time
from urllib.parse import quote

from harness import meshes
from harness.case import ServerCase
from harness.meshes import BEND_END, BEND_START, bend_length
from harness.server import Server


class Uploads(ServerCase):
    files = {"room.json": meshes.room()}

    def put(self, mesh, data, parameters="", headers=()):
        return self.ask("PUT", "/v1/meshes/%s%s" % (mesh, parameters), data, headers)

    def test_create_replace_remove(self):
        a = self.put("new", meshes.bend(6))
        self.assertEqual(a.status, 201, a)
        self.assertTrue(a.headers["location"].endswith("/v1/meshes/new"))
        first = a.json()
        self.assertEqual((first["id"], first["polygons"], first["state"], first["islands"]), ("new", 3, "ready", 1))
        self.assertEqual(a.headers["etag"], '"%d"' % first["revision"])
        self.assertAlmostEqual(self.query("new", "path", start=BEND_START, end=BEND_END)["length"], bend_length(6), 6)

        a = self.put("new", meshes.bend(8))
        self.assertEqual(a.status, 200, a)
        self.assertGreater(a.json()["revision"], first["revision"])
        answer = self.query("new", "path", start=BEND_START, end=BEND_END)
        self.assertEqual(answer["revision"], a.json()["revision"])
        self.assertAlmostEqual(answer["length"], bend_length(8), 6)

        self.assertTrue(os.path.exists(self.server.path("new.json")))
        # A parameter that nobody reads is a mistake, and deletes nothing.
        a = self.ask("DELETE", "/v1/meshes/new?persist=false")
        self.assertEqual(self.assert_problem(a, 400, "bad_request").get("parameter"), "persist")
        self.assertEqual(self.ask("GET", "/v1/meshes/new").status, 200)
        for method, path in (("GET", ""), ("GET", "/new"), ("GET", "/new/report"), ("GET", "/new/geometry"), ("POST", "/new/reload")):
            self.assert_problem(self.ask(method, "/v1/meshes%s?foo=1" % path), 400, "bad_request")
        a = self.ask("DELETE", "/v1/meshes/new")
        self.assertEqual((a.status, a.body), (204, b""))
        self.assertFalse(os.path.exists(self.server.path("new.json")))
        self.assert_problem(self.ask("GET", "/v1/meshes/new"), 404, "not_found")
        self.assert_problem(self.ask("DELETE", "/v1/meshes/new"), 404, "not_found")

    def test_summary(self):
        s = self.ask("GET", "/v1/meshes/room").json()
        self.assertEqual(
            {k: s[k] for k in ("id", "format", "dimensions", "polygons", "vertices", "links", "islands", "state", "last_error")},
            {"id": "room", "format": "json", "dimensions": 3, "polygons": 1, "vertices": 4, "links": 0, "islands": 1,
             "state": "ready", "last_error": None})
        self.assertEqual(s["bounds"], {"min": [0, 0, 0], "max": [10, 0, 10]})
        self.assertEqual(s["agent"], {"radius": 0, "height": 2, "climb": 0.5, "slope": 45})
        self.assertGreater(s["memory_bytes"], 0)
        for member in ("revision", "up", "areas", "flags", "load_ms", "loaded_at", "source"):
            self.assertIn(member, s)
        listed = [m for m in self.ask("GET", "/v1/meshes").json()["meshes"] if m["id"] == "room"]
        self.assertEqual(listed, [s])

    def test_a_broken_mesh_changes_nothing(self):
        self.put("kept", meshes.bend(7))
        before = self.query("kept", "path", start=BEND_START, end=BEND_END)
        stored = open(self.server.path("kept.json"), "rb").read()
        for data, status, code in ((meshes.bend(7)[:-9], 422, "bad_mesh"), (b'{"vertices":[],"polygons":[]}', 422, "bad_mesh"),
                                   (b'{"vertices":[[0,0,0]],"polygons":[[0,1,2]]}', 422, "bad_mesh"),
                                   (b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 9\n", 422, "bad_mesh"),
                                   (b"\x7fELF nobody knows this", 415, "unsupported_media_type"), (b"", 415, "unsupported_media_type")):
            with self.subTest(data[:20]):
                a = self.put("kept", data)
                self.assertIn(a.status, (status, 422), a)
                self.assertIn(a.code(), (code, "bad_mesh"))
        self.assertEqual(self.query("kept", "path", start=BEND_START, end=BEND_END), before)
        self.assertEqual(open(self.server.path("kept.json"), "rb").read(), stored)
        self.assertEqual([n for n in os.listdir(self.server.folder) if "tmp" in n], [])

    def test_a_problem_says_where(self):
        a = self.put("where", b"v 0 0 0\nv 0 0 1\nv 1 0 0\nf 1 2 3\nf 1 2 99\n")
        self.assertIn("5", self.assert_problem(a, 422, "bad_mesh")["detail"])

    def test_not_kept_when_not_asked_to(self):
        self.assertEqual(self.put("brief", meshes.room(), "?persist=false").status, 201)
        self.assertEqual([n for n in os.listdir(self.server.folder) if n.startswith("brief")], [])

    def test_formats_by_content(self):
        obj = b"v 0 0 0\nv 0 0 10\nv 10 0 10\nv 10 0 0\nf 1 2 3 4\n"
        grid = b"mesh\n2\n4 1\n0 0 2 0 -1\n10 0 2 0 -1\n10 10 2 0 -1\n0 10 2 0 -1\n4 0 1 2 3 -1 -1 -1 -1\n"
        for data, name in ((obj, "obj"), (grid, "polyanya"), (meshes.room(), "json")):
            a = self.put("any", data, "?persist=false")
            self.assertIn(a.status, (200, 201), a)
            self.assertIn(name, a.json()["format"])
        self.assertEqual(self.put("any", obj, "?persist=false&format=obj").status, 200)
        self.assertIn(self.put("any", obj, "?persist=false&format=json").status, (415, 422))

    def test_parameters(self):
        a = self.put("turned", meshes.bend(), "?persist=false&frame=unreal&agent_climb=0.9&snap=1.5")
        self.assertEqual(a.status, 201, a)
        self.assertEqual(a.json()["agent"]["climb"], 0.9)
        self.assertEqual(self.query("turned", "nearest", point=[-1, -1, 0])["status"], "found")
        for parameters, name in (("?frame=sideways", "frame"), ("?weld=-1", "weld"), ("?colour=red", "colour"), ("?persist=maybe", "persist"),
                                 ("?format=gif", "format")):
            problem = self.assert_problem(self.put("turned2", meshes.bend(), parameters), 400, "bad_request")
            self.assertEqual(problem.get("parameter"), name)

    def test_parameters_that_are_wrong_inside(self):
        for parameter, value, detail in (
                ("areas", '{"mud":{"id":300}}', "`areas/mud/id`: must be a whole number from 0 to 255"),
                ("areas", "x", "must be an object {name: {id, cost}}, not a string"),
                ("links", '[{"id":"a","start":[1],"end":[1,2,3]}]', "`links/0/start`: must be [x, y, z] or {")):
            a = self.put("wrong", meshes.room(), "?persist=false&%s=%s" % (parameter, quote(value)))
            self.assertEqual((a.status, a.json()["parameter"]), (400, parameter))
            self.assertTrue(a.json()["detail"].startswith(detail), a)
        a = self.put("wrong", json.dumps({**json.loads(meshes.room()), "links": [{"id": "a"}]}).encode(), "?persist=false")
        self.assertEqual((a.status, a.json()["detail"]), (422, "/links/0: a link needs its start and its end"))

    def test_around_as_a_list(self):
        for value, told in (("1,0", "4 numbers, a position's and the radius, not 2"), ("1,0,1", "not 3"), ("1,0,1,2,3", "not 5")):
            a = self.ask("GET", "/v1/meshes/room/random?around=" + value)
            self.assertEqual((a.status, a.json()["parameter"]), (400, "around"))
            self.assertIn(told, a.json()["detail"])

    def test_if_match(self):
        revision = self.put("match", meshes.bend(6), "?persist=false").json()["revision"]
        a = self.put("match", meshes.bend(7), "?persist=false", [("If-Match", '"%d"' % (revision + 1000))])
        self.assert_problem(a, 409, "conflict")
        self.assertEqual(self.ask("GET", "/v1/meshes/match").json()["revision"], revision)
        a = self.put("match", meshes.bend(7), "?persist=false", [("If-Match", '"%d"' % revision)])
        self.assertEqual(a.status, 200, a)
        self.assert_problem(self.ask("DELETE", "/v1/meshes/match", headers=[("If-Match", '"%d"' % revision)]), 409, "conflict")
        self.assertEqual(self.ask("DELETE", "/v1/meshes/match", headers=[("If-Match", a.headers["etag"])]).status, 204)

    def test_unchanged_since(self):
        etag = self.ask("GET", "/v1/meshes/room").headers["etag"]
        for path in ("/v1/meshes/room", "/v1/meshes/room/report", "/v1/meshes/room/geometry"):
            a = self.ask("GET", path, headers=[("If-None-Match", etag)])
            self.assertEqual((a.status, a.body), (304, b""), path)
            self.assertEqual(self.ask("GET", path, headers=[("If-None-Match", '"0"')]).status, 200)

    def test_ids_cannot_leave_the_folder(self):
        outside = set(os.listdir(self.server.home))
        for mesh in ("..", ".hidden", "a/b", "..%2Fevil", "%2e%2e%2fevil", "%2Fetc%2Fpasswd", "a%00b", "a%5Cb", "x" * 65, "",
                     "sp%20ace", "caf%C3%A9", "a%2", "a:b"):
            with self.subTest(mesh):
                a = self.put(mesh, meshes.room())
                self.assertIn((a.status, a.code()), ((400, "bad_request"), (404, "not_found"), (405, "method_not_allowed")), a)
        self.assertEqual(set(os.listdir(self.server.home)), outside)
        self.assertEqual(self.put("x" * 64, meshes.room(), "?persist=false").status, 201)
        self.assertEqual(self.put("A.b_c-9", meshes.room()).status, 201)

    def test_report(self):
        vertices, faces = meshes.rectangles([(0, 0, 4, 10), (4, 0, 8, 5), (20, 0, 21, 1)])
        doubled = meshes.polygons(vertices, faces + [[0, 1, 1, 0], faces[0]])
        self.assertEqual(self.put("odd", doubled, "?persist=false").status, 201)
        r = self.ask("GET", "/v1/meshes/odd/report").json()
        self.assertEqual((r["degenerate_polygons"], r["duplicate_polygons"]), (1, 1))
        self.assertGreaterEqual(r["welded_vertices"], 1)
        self.assertEqual(sorted((i["polygons"], i["area"]) for i in r["islands"]), [(1, 1), (2, 60)])
        for member in ("mixed_winding", "t_junctions", "non_manifold_edges", "dropped_links", "warnings"):
            self.assertIn(member, r)
        self.assert_point(r["t_junctions"][0], [4, 0, 5])

    def test_geometry_is_the_mesh(self):
        g = self.ask("GET", "/v1/meshes/room/geometry", headers=[("Accept", "application/json")]).json()
        self.assertEqual(sorted(g["vertices"]), [[0, 0, 0], [0, 0, 10], [10, 0, 0], [10, 0, 10]])
        self.assertEqual([sorted(p) for p in g["polygons"]], [[0, 1, 2, 3]])
        self.assertEqual(len(g["areas"]), 1)
        again = self.put("copy", {"vertices": g["vertices"], "polygons": g["polygons"]}, "?persist=false")
        self.assertEqual(again.status, 201, again)

    def test_reload_by_request(self):
        before = self.ask("GET", "/v1/meshes/room").json()["revision"]
        a = self.ask("POST", "/v1/meshes/room/reload", b"")
        self.assertEqual(a.status, 200, a)
        self.assertGreater(self.ask("GET", "/v1/meshes/room").json()["revision"], before)


class Folder(ServerCase):
    """What happens in the folder happens to the meshes. Each test has a server of its own."""

    @classmethod
    def setUpClass(cls):
        pass

    def setUp(self):
        self.server = Server({"bend.json": meshes.bend(6)})
        self.addCleanup(self.server.stop)
        super().setUp()

    def summary(self, mesh="bend"):
        a = self.ask("GET", "/v1/meshes/" + mesh)
        return a.json() if a.status == 200 else {}

    def length(self):
        return round(self.query("bend", "path", start=BEND_START, end=BEND_END)["length"], 6)

    def becomes(self, depth):
        self.server.until(lambda: self.length() == round(bend_length(depth), 6), "the way round %g" % depth)

    def test_renamed_into_place(self):
        self.server.write("bend.json", meshes.bend(7))
        self.becomes(7)

    def test_rewritten_in_place_bit_by_bit(self):
        data = meshes.bend(8)
        with open(self.server.path("bend.json"), "wb", buffering=0) as f:
            for i in range(0, len(data), 40):
                f.write(data[i:i + 40])
                time.sleep(0.01)
        self.becomes(8)
        self.assertIsNone(self.summary()["last_error"])

    def test_a_new_file_and_its_end(self):
        self.server.write("more.json", meshes.room())
        self.server.until(lambda: self.summary("more").get("state") == "ready", "a new mesh")
        os.unlink(self.server.path("more.json"))
        self.server.until(lambda: self.ask("GET", "/v1/meshes/more").status == 404, "the mesh to go")

    def test_a_broken_file_leaves_the_old_mesh(self):
        self.server.write("bend.json", meshes.bend(7)[:-20])
        self.server.until(lambda: self.summary()["last_error"], "the error")
        s = self.summary()
        self.assertEqual((s["state"], s["last_error"]["code"]), ("ready", "bad_mesh"))
        self.assertTrue(s["last_error"]["detail"])
        self.assertEqual(self.length(), round(bend_length(6), 6))
        self.assertIn("bend", self.ask("GET", "/healthz").body.decode())
        self.server.write("bend.json", meshes.bend(9))
        self.becomes(9)
        self.assertIsNone(self.summary()["last_error"])

    def test_a_file_that_never_loaded(self):
        self.server.write("bad.json", b'{"vertices":')
        self.server.until(lambda: self.summary("bad").get("state") == "failed", "the failure")
        self.assertEqual(self.summary("bad")["last_error"]["code"], "bad_mesh")
        a = self.ask("POST", "/v1/meshes/bad/nearest", {"point": [1, 0, 1]})
        self.assertIn(a.status, (404, 409), a)

    def test_the_sidecar(self):
        self.server.write("bend.meta.json", b'{"frame":"unreal"}')
        self.server.until(lambda: self.query("bend", "nearest", point=[-1, -1, 0])["status"] == "found", "the frame")
        self.server.write("bend.meta.json", b'{"frme":"unreal"}')
        self.server.until(lambda: self.summary()["last_error"], "the sidecar's error")
        self.assertIn("frme", json.dumps(self.summary()["last_error"]))
        self.assertEqual(self.query("bend", "nearest", point=[-1, -1, 0])["status"], "found")
        os.unlink(self.server.path("bend.meta.json"))
        self.becomes(6)

    def test_a_broken_sidecar_is_a_broken_mesh(self):
        self.server.write("bend.meta.json", b'{"areas":{"mud":{"id":300}}}')
        a = self.ask("POST", "/v1/meshes/bend/reload", b"")
        self.assertEqual((a.status, a.code()), (422, "bad_mesh"))
        self.assertEqual(a.json()["detail"], "the sidecar, /areas/mud/id: must be a whole number from 0 to 255")
        self.becomes(6)

    def test_every_file_of_an_id_goes_with_it(self):
        """bend.json and bend.obj are both bend's: left behind, the other one would be served after the next start."""
        self.server.write("bend.obj", b"v 0 0 0\nv 0 0 1\nv 1 0 1\nv 1 0 0\nf 1 2 3 4\n")
        self.server.write("bend.meta.json", b'{"snap":3}')
        self.server.write("bend-2.json", meshes.room())
        self.server.until(lambda: self.summary("bend-2"), "a later file")
        self.assertEqual(self.ask("DELETE", "/v1/meshes/bend").status, 204)
        self.assertEqual(os.listdir(self.server.folder), ["bend-2.json"])
        log = self.server.stderr()
        for name in ("bend.json", "bend.obj"):
            self.assertRegex(log, "mesh file removed.*" + re.escape(name))

    def test_replaced_more_often_than_it_can_be_watched(self):
        """Where renames follow each other faster than looks, the newest is taken now and then all the same."""
        revisions, end, n = set(), time.monotonic() + 20, 0
        while len(revisions) < 3 and time.monotonic() < end:
            n += 1
            self.server.write("bend.json", meshes.bend(6 + n % 2))
            revisions.add(self.summary()["revision"])
            time.sleep(0.01)
        self.assertEqual(len(revisions), 3)

    def test_files_of_no_format_are_told_of_once(self):
        for _ in range(2):
            self.server.write("README.txt", b"not a mesh")
            self.server.write("mark.json", meshes.room())
            self.server.until(lambda: self.summary("mark"), "a later file")
            time.sleep(0.2)
            os.unlink(self.server.path("mark.json"))
            self.server.until(lambda: not self.summary("mark"), "its end")
        self.assertEqual(self.server.stderr().count("README.txt"), 1)
        self.assertNotIn("bend.meta.json", self.server.stderr())

    def test_the_same_bytes_again_are_no_change(self):
        before = self.summary()["revision"]
        self.server.write("bend.json", meshes.bend(6))
        self.server.write("mark.json", meshes.room())
        self.server.until(lambda: self.summary("mark"), "a later file")
        time.sleep(0.3)
        self.assertEqual(self.summary()["revision"], before)

    def test_an_upload_is_not_loaded_twice(self):
        revision = self.ask("PUT", "/v1/meshes/bend", meshes.bend(7)).json()["revision"]
        time.sleep(0.6)
        self.assertEqual(self.summary()["revision"], revision)

    def test_links_that_lead_out_are_not_followed(self):
        secret = os.path.join(self.server.home, "secret.json")
        with open(secret, "wb") as f:
            f.write(meshes.room())
        os.symlink(secret, self.server.path("secret.json"))
        self.server.write("mark.json", meshes.room())
        self.server.until(lambda: self.summary("mark"), "a later file")
        time.sleep(0.3)
        self.assertNotEqual(self.summary("secret").get("state"), "ready")

    def test_other_files_are_left_alone(self):
        for name in ("README.txt", ".hidden.json", "notes", "bend.json~"):
            self.server.write(name, b"not a mesh")
        os.mkdir(self.server.path("folder.json"))
        self.server.write("mark.json", meshes.room())
        self.server.until(lambda: self.summary("mark"), "a later file")
        time.sleep(0.3)
        ids = [m["id"] for m in self.ask("GET", "/v1/meshes").json()["meshes"]]
        self.assertEqual(sorted(ids), ["bend", "mark"])

    def test_a_link_swapped_as_configmaps_are(self):
        """Kubernetes: file -> ..data/file, ..data -> a dated folder, replaced by rename."""
        def version(n, depth):
            folder = self.server.path("..v%d" % n)
            os.mkdir(folder)
            with open(os.path.join(folder, "cm.json"), "wb") as f:
                f.write(meshes.bend(depth))
            os.symlink("..v%d" % n, self.server.path("..data_tmp"))
            os.rename(self.server.path("..data_tmp"), self.server.path("..data"))

        def length():
            a = self.ask("POST", "/v1/meshes/cm/path", {"start": BEND_START, "end": BEND_END})
            return a.status == 200 and round(a.json()["length"], 6)

        version(1, 7)
        os.symlink("..data/cm.json", self.server.path("cm.json"))
        self.server.until(lambda: length() == round(bend_length(7), 6), "the first version")
        version(2, 9)
        self.server.until(lambda: length() == round(bend_length(9), 6), "the second version")

    def test_survives_a_restart(self):
        self.assertEqual(self.ask("PUT", "/v1/meshes/kept?frame=unreal", meshes.bend(7)).status, 201)
        self.assertEqual(self.ask("DELETE", "/v1/meshes/bend").status, 204)
        self.connection.close()
        folder = self.server.folder
        self.server.terminate()
        self.assertEqual(self.server.wait(), 0)
        with Server(folder=folder) as second, second.connect() as c:
            self.assertEqual([m["id"] for m in c.request("GET", "/v1/meshes").json()["meshes"]], ["kept"])
            a = c.request("POST", "/v1/meshes/kept/path", {"start": [-1, -1, 0], "end": [-9, -1, 0]})
            self.assertAlmostEqual(a.json()["length"], bend_length(7), 5)
