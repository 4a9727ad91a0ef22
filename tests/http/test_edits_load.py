"""Queries without pause while doors open and shut and obstacles come and go: each answer is right for the
revision that it names, and memory stays level. EDIT_SECONDS: how long (4). EDIT_REQUESTS: of a hundred edits
each, for memory alone (30)."""
import json
import os
import random
import threading
import time
import unittest

from harness import meshes
from harness.server import SANITIZED, Server

SECONDS = float(os.environ.get("EDIT_SECONDS") or 4)
REQUESTS = int(os.environ.get("EDIT_REQUESTS") or 30)
CLIENTS, EDITORS, RATE = 8, 2, 100.0
MOST_STATES = 400  # of those seen, so many are made again to compare
DOORS = {"left": [[9.5, 0], [10.5, 0], [10.5, 4], [9.5, 4]], "right": [[9.5, 6], [10.5, 6], [10.5, 10], [9.5, 10]]}


def hall():
    """Two rooms of nine by ten and two passages between them."""
    return meshes.polygons(*meshes.rectangles([(0, 0, 9, 10), (9, 0, 11, 4), (9, 6, 11, 10), (11, 0, 20, 10)]))


QUESTIONS = [("path", {"start": [1, 0, 2], "end": [19, 0, 3]}), ("path", {"start": [19, 0, 9], "end": [2, 0, 8]}),
             ("path", {"start": [3, 0, 1], "end": [3, 0, 9]}), ("raycast", {"start": [1, 0, 2], "end": [19, 0, 2]}),
             ("nearest", {"point": [5, 0, 5]}), ("height", {"point": [15, 0, 5]}), ("wall", {"point": [5, 0, 3]}),
             ("path", {"start": [1, 0, 2], "end": [19, 0, 3], "partial": False})]


class Editor(threading.Thread):
    """Changes what is its own, at a steady rate; notes at which revision each change was made."""

    def __init__(self, server, number, end):
        super().__init__()
        self.server, self.number, self.end, self.rng = server, number, end, random.Random(number)
        self.door = sorted(DOORS)[number % 2]
        self.done, self.faults = [], []

    def change(self, n):
        if n % 4 == 0:
            shut = n % 8 == 0
            return ("region", self.door, {"points": DOORS[self.door], "min": -1, "max": 1, "blocked": shut})
        name = "o%d-%d" % (self.number, self.rng.randrange(2))
        if self.rng.random() < 0.4:
            return ("obstacle", name, None)
        z = (2.0, 5.0, 8.0)[self.rng.randrange(3)]
        return ("obstacle", name, {"shape": "cylinder", "center": [5 + 10 * self.number, 0, z], "radius": 0.9, "height": 2})

    def run(self):
        began = time.monotonic()
        with self.server.connect() as c:
            n = 0
            while time.monotonic() < self.end:
                kind, name, body = self.change(n)
                path = "/v1/meshes/hall/%ss/%s" % (kind, name)
                a = c.request("PUT", path, body) if body else c.request("DELETE", path)
                if a.status in (200, 201, 204):
                    self.done.append((int(a.headers["etag"].strip('"')), kind, name, body))
                elif a.status != 404 or body:
                    self.faults.append(repr(a))
                n += 1
                pause = began + n * EDITORS / RATE - time.monotonic()
                if pause > 0:
                    time.sleep(pause)


class Asker(threading.Thread):
    def __init__(self, server, number, end):
        super().__init__()
        self.server, self.end, self.rng = server, end, random.Random(1000 + number)
        self.answers, self.faults, self.count = {}, [], 0

    def run(self):
        with self.server.connect() as c:
            while time.monotonic() < self.end:
                i = self.rng.randrange(len(QUESTIONS))
                kind, body = QUESTIONS[i]
                a = c.request("POST", "/v1/meshes/hall/" + kind, body)
                self.count += 1
                if a.status != 200:
                    self.faults.append(repr(a))
                    continue
                answer = a.json()
                known = self.answers.setdefault((answer["revision"], i), answer)
                if known != answer:
                    self.faults.append("two answers of one revision: %r and %r" % (known, answer))


def essence(answer):
    """What must not depend on how a state came about: numbers, not the pieces that ground was cut into."""
    return {k: answer.get(k) for k in ("status", "length", "distance", "t", "height", "remaining", "hit") if k in answer}


class Load(unittest.TestCase):
    def same(self, got, expected, where):
        got, expected = essence(got), essence(expected)
        self.assertEqual(set(got), set(expected), where)
        for k, v in got.items():
            if isinstance(v, float) or isinstance(expected[k], float):
                self.assertAlmostEqual(v, expected[k], 4, (k, where))
            else:
                self.assertEqual(v, expected[k], where)

    def test_each_answer_is_right_for_its_revision(self):
        with Server({"hall.json": hall()}) as server:
            first = server.request("GET", "/v1/meshes/hall").json()["revision"]
            end = time.monotonic() + SECONDS
            editors = [Editor(server, i, end) for i in range(EDITORS)]
            askers = [Asker(server, i, end) for i in range(CLIENTS)]
            for t in editors + askers:
                t.start()
            middle = None
            while time.monotonic() < end:
                time.sleep(min(1, SECONDS / 4))
                middle = middle or (server.rss() if time.monotonic() > end - SECONDS * 0.6 else None)
            for t in editors + askers:
                t.join(120)
                self.assertEqual(t.faults[:3], [])
            rss = server.rss()
            done = sorted((e for t in editors for e in t.done), key=lambda e: e[0])
            self.assertEqual(len({e[0] for e in done}), len(done), "two edits with one revision")
            count = sum(t.count for t in askers)
            compared = self.replay(server, first, done, {k: v for t in askers for k, v in t.answers.items()})
            print("      %d edits, %d questions, %d answers of %d states compared, %.1f -> %.1f MB" % (
                len(done), count, *compared, middle / 1e6, rss / 1e6))
            self.assertGreater(len(done), SECONDS * 3)
            self.assertGreater(compared[0], 20)
            if not SANITIZED:
                self.assertLess(rss, middle * 1.25 + 4e6)

    def replay(self, server, first, done, answers):
        """Makes states again on a mesh of their own, all at once, and asks the same. (answers, states) compared"""
        self.assertEqual(server.request("PUT", "/v1/meshes/again?persist=false", hall()).status, 201)
        state, states, at = {}, {}, 0
        for revision in sorted({r for r, _ in answers}):
            self.assertGreaterEqual(revision, first)
            while at < len(done) and done[at][0] <= revision:
                state = {**state, done[at][1:3]: done[at][3]}
                at += 1
            standing = {k: v for k, v in state.items() if v}
            states.setdefault(json.dumps(sorted((k, v) for k, v in standing.items())), []).append(revision)
        compared, now, chosen = 0, {}, sorted(states)
        random.Random(7).shuffle(chosen)
        with server.connect() as c:
            for text in chosen[:MOST_STATES]:
                wanted = {tuple(k): v for k, v in json.loads(text)}
                edits = [{"op": "delete", "type": k, "id": i} for k, i in now if (k, i) not in wanted]
                edits += [dict(v, type=k, id=i) for (k, i), v in wanted.items()]
                a = c.request("POST", "/v1/meshes/again/edits", edits)
                self.assertEqual(a.status, 200, a)
                now = wanted
                for i, (kind, body) in enumerate(QUESTIONS):
                    given = [answers[r, i] for r in states[text] if (r, i) in answers]
                    if given:
                        fresh = c.request("POST", "/v1/meshes/again/" + kind, body).json()
                        for g in given:
                            self.same(g, fresh, (text, kind, body, g, fresh))
                            compared += 1
        return compared, min(len(chosen), MOST_STATES)


class Memory(unittest.TestCase):
    def test_memory_is_level_over_many_edits(self):
        rng = random.Random(2)
        with Server({"room.json": meshes.room()}) as server, server.connect() as c:
            early = None
            for n in range(REQUESTS):
                edits = [{"type": "obstacle", "id": "o%d" % rng.randrange(20), "shape": "cylinder", "radius": 0.3, "height": 2,
                          "center": [rng.uniform(0, 10), 0, rng.uniform(0, 10)]} for _ in range(100)]
                a = c.request("POST", "/v1/meshes/room/edits", edits)
                self.assertEqual(a.status, 200, a)
                if n == REQUESTS // 3:
                    early = server.rss()
            late = server.rss()
            print("      %d edits: %.1f -> %.1f MB" % (100 * REQUESTS, early / 1e6, late / 1e6))
            if not SANITIZED:
                self.assertLess(late, early * 1.2 + 3e6)
