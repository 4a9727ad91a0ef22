"""More work than fits: refusals that cost little, and light requests that go on being served."""
import threading
import time
import unittest

from harness import meshes
from harness.client import message
from harness.server import SANITIZED, Server


def heavy(queries):
    """A batch that keeps a worker busy for a while."""
    return {"queries": [{"type": "path", "start": [1 + i % 9, 0, 1], "end": [78, 0, 78 - i % 5]} for i in range(queries)],
            "defaults": {"snap": 6}}


class Overload(unittest.TestCase):
    def test_the_queue_is_bounded(self):
        with Server({"maze.json": meshes.maze(80)}, ["--workers", "1", "--max-queue", "4"]) as server:
            connections = [server.connect() for _ in range(40)]
            for c in connections:
                c.send(message("POST", "/v1/meshes/maze/batch", heavy(100)))
            answers = [c.answer() for c in connections]
            for c in connections:
                c.close()
            refused = [a for a in answers if a.status != 200]
            self.assertTrue(refused, "nothing was refused")
            self.assertGreaterEqual(len(answers) - len(refused), 4)
            for a in refused:
                self.assertEqual((a.status, a.code()), (503, "overloaded"), a)
                self.assertGreaterEqual(int(a.headers["retry-after"]), 1)
                self.assertIn("x-request-id", a.headers)
            for a in answers:
                if a.status == 200:
                    self.assertEqual(len(a.json()["results"]), 100)
            metrics = server.request("GET", "/metrics").body.decode()
            shed = next(float(line.split()[-1]) for line in metrics.split("\n") if line.startswith("navd_shed_total"))
            self.assertEqual(shed, len(refused))

    def test_light_requests_pass_by_heavy_ones(self):
        with Server({"maze.json": meshes.maze(80)}) as server:
            stop = threading.Event()

            def hog():
                with server.connect() as c:
                    while not stop.is_set():
                        c.request("POST", "/v1/meshes/maze/batch", heavy(200))

            hogs = [threading.Thread(target=hog) for _ in range(4)]
            for t in hogs:
                t.start()
            times = []
            with server.connect() as c:
                for _ in range(200):
                    began = time.monotonic()
                    self.assertEqual(c.request("GET", "/v1/meshes/maze/nearest?point=5,0,5&snap=6").status, 200)
                    times.append(time.monotonic() - began)
            stop.set()
            for t in hogs:
                t.join(60)
            times.sort()
            self.assertLess(times[len(times) // 2], 1.0 if SANITIZED else 0.05, "median of a light request")

    def test_connections_are_bounded(self):
        with Server({}, ["--max-connections", "20"]) as server:
            held = []
            for _ in range(20):
                c = server.connect()
                c.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
                held.append(c)
            served = [c for c in held if self.answered(c)]
            self.assertGreaterEqual(len(served), 10)
            extra = [server.connect(3) for _ in range(30)]
            for c in extra:
                c.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertLess(sum(self.answered(c) for c in extra), 30)
            for c in held + extra:
                c.close()
            server.until(lambda: self.ready(server), "room again")

    def answered(self, c):
        try:
            c.timeout = 2
            return c.answer().status == 200
        except OSError:
            return False
        except Exception:
            return False

    def ready(self, server):
        try:
            return server.request("GET", "/livez").status == 200
        except Exception:
            return False

    def test_many_connections_are_all_served(self):
        """No stall, whatever the number: every connection gets its answers in turn."""
        with Server({"room.json": meshes.room()}) as server:
            for count in (1, 16, 128, 256, 400):
                with self.subTest(count):
                    connections = [server.connect(20) for _ in range(count)]
                    began = time.monotonic()
                    for _ in range(5):
                        for c in connections:
                            c.send(message("POST", "/v1/meshes/room/nearest", {"point": [1, 0, 1]}))
                        for c in connections:
                            self.assertEqual(c.answer().status, 200)
                    for c in connections:
                        c.close()
                    self.assertLess(time.monotonic() - began, 15 if SANITIZED else 5)
