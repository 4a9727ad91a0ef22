"""kill -9 at random moments during uploads. CRASH_ROUNDS: how often (15)."""
import os
import random
import threading
import time
import unittest

from harness import meshes
from harness.client import Dropped
from harness.server import Server

ROUNDS = int(os.environ.get("CRASH_ROUNDS") or 15)
VARIANTS = 6


def variant(k):
    """Some 100 KiB, so that writing takes a while; k shows in the bounds, and so does being whole."""
    return meshes.polygons(*meshes.rectangles([(i, 0, i + 1, 5 + k) for i in range(900)]))


class Uploader(threading.Thread):
    """Uploads one variant after the other until the server is gone."""

    def __init__(self, server, mesh, data, seed):
        super().__init__()
        self.server, self.mesh, self.data, self.rng = server, mesh, data, random.Random(seed)
        self.acknowledged, self.under_way, self.fault = None, None, None

    def run(self):
        try:
            with self.server.connect() as c:
                while True:
                    self.under_way = self.rng.randrange(VARIANTS)
                    a = c.request("PUT", "/v1/meshes/" + self.mesh, self.data[self.under_way])
                    if a.status not in (200, 201):
                        self.fault = repr(a)
                        return
                    self.acknowledged = self.under_way
        except (Dropped, OSError):
            pass


class Crash(unittest.TestCase):
    def test_each_mesh_is_the_old_or_the_new_file(self):
        data = [variant(k) for k in range(VARIANTS)]
        rng = random.Random(9)
        held = {"a": 0, "b": 1}
        with Server({m + ".json": data[k] for m, k in held.items()}) as server:
            for n in range(ROUNDS):
                uploaders = [Uploader(server, m, data, 10 * n + i) for i, m in enumerate(held)]
                for u in uploaders:
                    u.start()
                time.sleep(rng.uniform(0, 0.25))
                server.kill()
                for u in uploaders:
                    u.join(60)
                    self.assertIsNone(u.fault)
                server.start()
                self.check(server, uploaders, held, "round %d" % n)
            self.assertEqual(sorted(os.listdir(server.folder)), ["a.json", "b.json"])

    def check(self, server, uploaders, held, where):
        for u in uploaders:
            s = server.request("GET", "/v1/meshes/" + u.mesh).json()
            self.assertEqual((s["state"], s["last_error"], s["polygons"]), ("ready", None, 900), where)
            k = round(s["bounds"]["max"][2] - 5)
            # What was acknowledged is kept; what was under way may be.
            allowed = {held[u.mesh] if u.acknowledged is None else u.acknowledged, u.under_way}
            self.assertIn(k, allowed, where)
            held[u.mesh] = k
