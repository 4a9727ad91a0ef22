"""Clients ask without pause while the file is swapped under them. RELOAD_SECONDS: how long (6)."""
import os
import random
import threading
import time
import unittest

from harness import meshes
from harness.client import Dropped
from harness.meshes import BEND_END, BEND_START, bend_length
from harness.server import SANITIZED, Server

SECONDS = float(os.environ.get("RELOAD_SECONDS") or 6)
CLIENTS = 8
VARIANTS = 12


def variant(k):
    """Mesh k: its way round is deeper, and its passage has k + 1 strips, which the summary shows."""
    return meshes.bend(depth(k), strips=k + 1)


def depth(k):
    return 4 + k / 4


class Asker(threading.Thread):
    """Asks until told to stop; notes what each revision was said to be."""

    def __init__(self, server, seed):
        super().__init__()
        self.server, self.rng = server, random.Random(seed)
        self.polygons, self.lengths = {}, {}    # revision -> what was answered
        self.asked, self.faults, self.going = 0, [], True

    def run(self):
        try:
            with self.server.connect() as c:
                newest = 0
                while self.going and len(self.faults) < 5:
                    revision = self.rng.choice((self.path, self.path, self.summary, self.batch))(c)
                    if revision is not None and revision < newest:
                        self.faults.append("revision %d after %d" % (revision, newest))
                    newest = max(newest, revision or 0)
                    self.asked += 1
        except (Dropped, OSError, ValueError, KeyError) as error:
            self.faults.append("after %d requests: %r" % (self.asked, error))

    def note(self, table, revision, value):
        if table.setdefault(revision, value) != value:
            self.faults.append("revision %d: %r, earlier %r" % (revision, value, table[revision]))

    def okay(self, answer):
        if answer.status != 200:
            self.faults.append(repr(answer))
        return answer.status == 200

    def path(self, c):
        a = c.request("POST", "/v1/meshes/m/path", {"start": BEND_START, "end": BEND_END})
        if self.okay(a):
            body = a.json()
            self.note(self.lengths, body["revision"], (body["status"], round(body["length"], 6)))
            return body["revision"]

    def summary(self, c):
        a = c.request("GET", "/v1/meshes/m")
        if self.okay(a):
            body = a.json()
            self.note(self.polygons, body["revision"], body["polygons"])
            return body["revision"]

    def batch(self, c):
        one = {"type": "path", "start": BEND_START, "end": BEND_END}
        a = c.request("POST", "/v1/meshes/m/batch", {"queries": [one] * 100})
        if self.okay(a):
            body = a.json()
            for r in body["results"]:
                self.note(self.lengths, body["revision"], (r["status"], round(r["length"], 6)))
            return body["revision"]


class Swapper:
    """Changes the file every 100 ms, in every way that files are changed."""

    def __init__(self, server, seed=1):
        self.server, self.rng = server, random.Random(seed)
        self.data = [variant(k) for k in range(VARIANTS)]

    def in_place(self, *parts):
        with open(self.server.path("m.json"), "r+b", buffering=0) as f:
            f.truncate(0)
            for part in parts:
                f.write(part)
                time.sleep(0.005)

    def step(self, i):
        data = self.data[i % VARIANTS]
        half = len(data) // 2
        way = self.rng.randrange(5)
        if way <= 1:
            self.server.write("m.json", data)
        elif way == 2:
            self.in_place(data[:half], data[half:])
        elif way == 3:
            self.server.write("m.json", data[:half])
        else:
            self.in_place(data[:half])

    def run(self, seconds):
        end, i = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            self.step(i)
            i += 1
            time.sleep(0.1)


class Reload(unittest.TestCase):
    def test_every_answer_is_right_for_its_revision(self):
        with Server({"m.json": variant(0)}) as server:
            askers = [Asker(server, seed) for seed in range(CLIENTS)]
            for asker in askers:
                asker.start()
            swapper = Swapper(server)
            swapper.run(SECONDS / 3)
            early = server.rss()
            swapper.run(SECONDS * 2 / 3)
            late = server.rss()
            server.write("m.json", variant(0))
            time.sleep(0.5)
            for asker in askers:
                asker.going = False
            for asker in askers:
                asker.join(60)
            self.judge(server, askers)
            if not SANITIZED:
                self.assertLess(late, early * 1.1 + 4e6, "memory grows: %d, then %d bytes" % (early, late))

    def judge(self, server, askers):
        self.assertEqual([f for a in askers for f in a.faults], [])
        polygons, lengths = {}, {}
        for asker in askers:
            for table, seen in ((polygons, asker.polygons), (lengths, asker.lengths)):
                for revision, value in seen.items():
                    self.assertEqual(table.setdefault(revision, value), value, "revision %d" % revision)
        possible = {("complete", round(bend_length(depth(k)), 6)): k for k in range(VARIANTS)}
        for revision, answer in lengths.items():
            self.assertIn(answer, possible, "revision %d" % revision)
            if revision in polygons:
                self.assertEqual(polygons[revision] - 3, possible[answer], "revision %d" % revision)
        both = len(set(polygons) & set(lengths))
        print("      %d requests, %d revisions seen, %d of them by both kinds of question"
              % (sum(a.asked for a in askers), len(set(polygons) | set(lengths)), both))
        self.assertGreaterEqual(len(lengths), SECONDS, "hardly any swap took effect")
        summary = server.request("GET", "/v1/meshes/m").json()
        self.assertEqual((summary["polygons"], summary["last_error"]), (3, None))

    def test_uploads_and_deletions_under_load(self):
        with Server({}) as server:
            end, faults = time.monotonic() + SECONDS / 2, []

            def change(name, seed):
                rng = random.Random(seed)
                with server.connect() as c:
                    while time.monotonic() < end:
                        k = rng.randrange(VARIANTS)
                        a = c.request("PUT", "/v1/meshes/%s?persist=%s" % (name, rng.choice(("true", "false"))), variant(k))
                        if a.status not in (200, 201) or a.json()["polygons"] != k + 3:
                            faults.append(repr(a))
                        if rng.random() < 0.3 and c.request("DELETE", "/v1/meshes/" + name).status not in (204, 404):
                            faults.append("DELETE")

            def ask(seed):
                rng = random.Random(seed)
                with server.connect() as c:
                    while time.monotonic() < end:
                        a = c.request("POST", "/v1/meshes/%s/path" % rng.choice("ab"), {"start": BEND_START, "end": BEND_END})
                        if a.status not in (200, 404, 409):    # 409: the first load of it is under way
                            faults.append(repr(a))
                        elif rng.random() < 0.1 and c.request("GET", "/v1/meshes").status != 200:
                            faults.append("list")

            def guarded(run, *arguments):
                try:
                    run(*arguments)
                except (Dropped, OSError, ValueError) as error:
                    faults.append(repr(error))

            # Two clients write one mesh, so that its changes meet.
            threads = [threading.Thread(target=guarded, args=a) for a in
                       ((change, "a", 1), (change, "b", 2), (change, "b", 3), (ask, 4), (ask, 5), (ask, 6))]
            for t in threads:
                t.start()
            for t in threads:
                t.join(120)
            self.assertEqual(faults[:5], [])
