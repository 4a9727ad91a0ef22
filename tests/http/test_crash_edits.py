"""kill -9 at random moments during edits: what was acknowledged is there after the restart. CRASH_ROUNDS: how
often (15)."""
import os
import random
import tempfile
import threading
import time
import unittest

from harness import meshes
from harness.client import Dropped
from harness.server import Server

ROUNDS = int(os.environ.get("CRASH_ROUNDS") or 15)
EDITORS, IDS = 3, 6


class Editor(threading.Thread):
    """Sets and removes its own obstacles until the server is gone. `held`: {id: x of its center}."""

    def __init__(self, server, number, held, seed):
        super().__init__()
        self.server, self.number, self.held, self.rng = server, number, held, random.Random(seed)
        self.under_way, self.fault, self.acknowledged = None, None, 0

    def run(self):
        try:
            with self.server.connect() as c:
                while True:
                    self.one(c)
        except (Dropped, OSError):
            pass

    def one(self, c):
        """Some changes in one request; until they are acknowledged they may be there or not, but all or none."""
        changes = {}
        for _ in range(self.rng.choice((1, 1, 1, 5))):
            name = "e%d-%d" % (self.number, self.rng.randrange(IDS))
            there = changes.get(name, self.held.get(name)) is not None
            changes.pop(name, None)
            changes[name] = None if there and self.rng.random() < 0.4 else self.rng.randrange(2, 90) / 10
        edits = [{"op": "delete", "type": "obstacle", "id": name} if x is None else
                 {"type": "obstacle", "id": name, "shape": "cylinder", "center": [x, 0, 5], "radius": 0.2, "height": 2}
                 for name, x in changes.items() if x is not None or self.held.get(name) is not None]
        self.under_way = {e["id"]: changes[e["id"]] for e in edits}
        a = c.request("POST", "/v1/meshes/room/edits", edits)
        if a.status != 200:
            self.fault = repr(a)
            raise OSError
        self.held.update(self.under_way)
        self.under_way = None
        self.acknowledged += 1


class Crash(unittest.TestCase):
    def test_what_was_acknowledged_is_there(self):
        rng = random.Random(4)
        held = [{} for _ in range(EDITORS)]
        acknowledged = 0
        with tempfile.TemporaryDirectory() as state, \
                Server({"room.json": meshes.room()}, ["--state", state]) as server:
            for n in range(ROUNDS):
                editors = [Editor(server, i, held[i], 100 * n + i) for i in range(EDITORS)]
                for e in editors:
                    e.start()
                time.sleep(rng.uniform(0.02, 0.3))
                server.kill()
                for e in editors:
                    e.join(60)
                    self.assertIsNone(e.fault)
                    acknowledged += e.acknowledged
                server.start()
                self.check(server, editors, "round %d" % n)
            self.assertLess(len(os.listdir(state)), 3, os.listdir(state))  # the log and the lock, nothing left behind
        self.assertGreater(acknowledged, ROUNDS)

    def check(self, server, editors, where):
        found = {o["id"]: o["center"][0] for o in server.request("GET", "/v1/meshes/room/obstacles").json()["obstacles"]}
        for e in editors:
            mine = {k: v for k, v in found.items() if k.startswith("e%d-" % e.number)}
            before = {k: v for k, v in e.held.items() if v is not None}
            after = {k: v for k, v in {**e.held, **(e.under_way or {})}.items() if v is not None}
            self.assertIn(mine, (before, after), where)
            e.held.clear()
            e.held.update(mine)
        for name, x in found.items():  # and they are carved out, not only listed
            height = server.request("GET", "/v1/meshes/room/height?point=%r,0,5" % x).json()
            self.assertEqual(height["status"], "none", (where, name))
