"""Files of the mesh folder that are more than one file, or are used where they lie."""
import os
import shutil
import struct
import tempfile
import time
import unittest

from harness import meshes
from harness.server import Server, command


def tile(x, y, side=4.0):
    """A Detour tile of one square that leads out on all sides, in a .mmtile."""
    x0, z0 = x * side, y * side
    corners = [(x0, 0, z0), (x0, 0, z0 + side), (x0 + side, 0, z0 + side), (x0 + side, 0, z0)]
    polygon = struct.pack("<I6H6HHBB", 0xFFFFFFFF, 0, 1, 2, 3, 0, 0, 0x8004, 0x8002, 0x8000, 0x8006, 0, 0, 1, 4, 0)
    head = struct.pack("<4s5iI", b"VAND", 7, x, y, 0, 0, 1)[:24] + struct.pack("<9i", 1, 4, 0, 0, 0, 0, 0, 0, 1)
    head += struct.pack("<3f7f", 2, 0.5, 0.25, x0, 0, z0, x0 + side, 1, z0 + side, 1)
    blob = head + b"".join(struct.pack("<3f", *c) for c in corners) + polygon
    return struct.pack("<4sIIII", b"PAMM", 7, 4, len(blob), 0) + blob


def parameters(tiles):
    return struct.pack("<5f2i", 0, 0, 0, 4, 4, tiles, 1 << 10)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, data):
        """Renamed into place."""
        with open(os.path.join(self.folder, ".new"), "wb") as f:
            f.write(data)
        os.rename(os.path.join(self.folder, ".new"), os.path.join(self.folder, name))

    def wait(self, server, mesh, good, what):
        """The summary, once `good` says so of it."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            answer = server.request("GET", "/v1/meshes/" + mesh)
            if answer.status == 200 and good(answer.json()):
                return answer.json()
            time.sleep(0.05)
        self.fail("%s: %r" % (what, answer))


class Maps(Folder):
    def test_tiles_of_a_map_are_one_mesh(self):
        self.write("007.mmap", parameters(200))
        for x in range(14):
            for y in range(14):
                if (x, y) != (5, 5):
                    self.write("007%02d%02d.mmtile" % (x, y), tile(x, y))
        self.write("0080000.mmtile", tile(0, 0))    # of no map
        with Server(folder=self.folder) as server:
            names = sorted(m["id"] for m in server.request("GET", "/v1/meshes").json()["meshes"])
            self.assertEqual(names, ["007", "0080000"])
            summary = self.wait(server, "007", lambda s: s["state"] == "ready", "loads")
            self.assertEqual((summary["format"], summary["polygons"], summary["islands"]), ("mmap", 195, 1))
            warnings = " ".join(server.request("GET", "/v1/meshes/007/report").json()["warnings"])
            self.assertIn("195 tiles are here of the 200", warnings)
            self.assertIn("to (5, 5)", warnings)
            # A tile that comes later, one that goes, one that is broken.
            self.write("0070505.mmtile", tile(5, 5))
            self.wait(server, "007", lambda s: s["polygons"] == 196, "one tile more")
            os.unlink(os.path.join(self.folder, "0070000.mmtile"))
            self.wait(server, "007", lambda s: s["polygons"] == 195, "one tile less")
            self.write("0070000.mmtile", tile(0, 0)[:-1])
            failed = self.wait(server, "007", lambda s: s["last_error"], "a broken tile")
            self.assertIn("0070000.mmtile: byte 12", failed["last_error"]["detail"])
            self.assertEqual(failed["polygons"], 195)
            # With the mesh its files go, and nobody else's.
            self.assertEqual(server.request("DELETE", "/v1/meshes/007").status, 204)
            self.assertEqual(os.listdir(self.folder), ["0080000.mmtile"])


class Cooked(Folder):
    def convert(self, data, name, sidecar=None):
        source = os.path.join(self.folder, "source.json")
        with open(source, "wb") as f:
            f.write(data)
        if sidecar:
            with open(os.path.join(self.folder, "source.meta.json"), "w") as f:
                f.write(sidecar)
        out = os.path.join(self.folder, name)
        status, text, error = command("--convert", source, out)
        self.assertEqual((status, error), (0, ""))
        self.assertIn("polygons", text)
        os.unlink(source)
        return out

    def test_convert(self):
        out = self.convert(meshes.bend(), "bend.navd", '{"areas": {"mud": {"id": 0, "cost": 2}}, "snap": 1}')
        with Server(folder=self.folder) as server:
            summary = server.request("GET", "/v1/meshes/bend").json()
            self.assertEqual((summary["format"], summary["areas"]["mud"]["cost"]), ("navd", 2))
            body = {"start": meshes.BEND_START, "end": meshes.BEND_END}
            answer = server.request("POST", "/v1/meshes/bend/path", body).json()
            self.assertAlmostEqual(answer["length"], meshes.bend_length(6))
            self.assertAlmostEqual(answer["cost"], 2 * meshes.bend_length(6))
        self.assertEqual(command("--check", out)[0], 0)
        status, text, error = command("--convert", out, out + "2")
        self.assertEqual((status, text), (1, ""))
        self.assertIn("already", error)
        self.assertEqual(command("--convert", os.path.join(self.folder, "absent.json"), out)[0], 1)
        self.assertEqual(command("--convert", out, "/no/such/folder/x.navd")[0], 1)

    def test_written_over_while_it_serves(self):
        """A mesh whose file is written in place, cut short or cluttered, serves on from what it was."""
        path = self.convert(meshes.bend(), "m.navd")
        body = {"start": meshes.BEND_START, "end": meshes.BEND_END}
        with Server(folder=self.folder) as server:
            before = server.request("POST", "/v1/meshes/m/path", body).json()
            size = os.path.getsize(path)
            for spoil in (lambda f: f.write(os.urandom(size)), lambda f: f.truncate(100), lambda f: f.truncate(0)):
                with open(path, "r+b") as f:
                    spoil(f)
                    f.flush()
                    after = server.request("POST", "/v1/meshes/m/path", body).json()
                    self.assertEqual(after, before)
            failed = self.wait(server, "m", lambda s: s["last_error"], "the broken file is told of")
            self.assertEqual(failed["last_error"]["code"], "bad_mesh")
            self.assertEqual(server.request("POST", "/v1/meshes/m/path", body).json(), before)


if __name__ == "__main__":
    unittest.main()
