"""SIGTERM: what is under way is finished, nothing acknowledged is lost, the exit status is 0."""
import random
import signal
import threading
import time
import unittest

from harness import meshes
from harness.client import Dropped, message
from harness.server import COMPLAINT, Server


class Drain(unittest.TestCase):
    def test_under_load(self):
        with Server({"room.json": meshes.room()}) as server:
            faults, kept, counts = [], {}, {"answered": 0, "draining": 0}

            def client(seed):
                rng = random.Random(seed)
                try:
                    with server.connect() as c:
                        while True:
                            a = self.one(c, rng, seed, kept)
                            if a.code() == "draining":
                                counts["draining"] += 1
                                if a.headers.get("connection", "").lower() != "close" or "retry-after" not in a.headers:
                                    faults.append(repr(a.headers))
                                return
                            if a.status not in (200, 201):
                                faults.append(repr(a))
                                return
                            counts["answered"] += 1
                except Dropped as drop:
                    if drop.received:
                        faults.append("half an answer: %s" % drop)
                except OSError as error:
                    faults.append(repr(error))

            threads = [threading.Thread(target=client, args=(seed,)) for seed in range(12)]
            for t in threads:
                t.start()
            time.sleep(0.7)
            server.terminate()
            began = time.monotonic()
            self.assertEqual(server.wait(30), 0)
            self.assertLess(time.monotonic() - began, 15)
            for t in threads:
                t.join(30)
            self.assertEqual(faults, [])
            self.assertGreater(counts["answered"], 50)
            for mesh, polygons in kept.items():
                with open(server.path(mesh + ".json"), "rb") as f:
                    self.assertEqual(f.read(), meshes.bend(6, polygons))

    def one(self, c, rng, seed, kept):
        if seed < 3:
            polygons = rng.randrange(1, 20)
            a = c.request("PUT", "/v1/meshes/up-%d" % seed, meshes.bend(6, polygons))
            if a.status in (200, 201):
                kept["up-%d" % seed] = polygons
            return a
        if seed < 6:
            queries = [{"type": "path", "start": [1, 0, 1], "end": [9, 0, 9]}] * 300
            return c.request("POST", "/v1/meshes/room/batch", {"queries": queries})
        return c.request("POST", "/v1/meshes/room/path", {"start": [1, 0, 1], "end": [9, 0, 9]})

    def test_long_work_is_finished(self):
        queries = [{"type": "path", "start": [1 + i % 9, 0, 1], "end": [58, 0, 58 - i % 5]} for i in range(400)]
        with Server({"maze.json": meshes.maze(60)}) as server, server.connect() as c:
            c.send(message("POST", "/v1/meshes/maze/batch", {"queries": queries, "defaults": {"snap": 4}}))
            time.sleep(0.02)
            server.terminate()
            a = c.answer()
            self.assertEqual(a.status, 200, a)
            self.assertEqual(len(a.json()["results"]), 400)
            self.assertEqual(server.wait(30), 0)

    def test_the_limit_of_the_drain(self):
        """A client that never finishes its request does not keep the server alive."""
        with Server({}, ["--drain-timeout", "1s", "--request-timeout", "60s"]) as server, server.connect() as c:
            c.send(b"POST /v1/meshes/x/path HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.1)
            began = time.monotonic()
            server.terminate()
            self.assertEqual(server.wait(20), 0)
            self.assertLess(time.monotonic() - began, 6)

    def test_idle_connections_do_not_delay_it(self):
        with Server({}) as server:
            idle = [server.connect() for _ in range(20)]
            for c in idle[:10]:
                c.request("GET", "/livez")
            began = time.monotonic()
            server.terminate()
            self.assertEqual(server.wait(20), 0)
            self.assertLess(time.monotonic() - began, 3)
            for c in idle:
                c.close()

    def test_sigint_too(self):
        with Server({}) as server:
            server.process.send_signal(signal.SIGINT)
            self.assertEqual(server.wait(20), 0)

    def test_a_second_signal_does_not_wait(self):
        server = Server({}, ["--drain-timeout", "60s", "--request-timeout", "60s"])
        with server.connect() as c:
            c.send(b"POST /v1/meshes/x/path HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            time.sleep(0.1)
            server.terminate()
            time.sleep(0.3)
            server.terminate()
            self.assertIsNotNone(server.wait(5), "still there")
            self.assertIsNone(COMPLAINT.search(server.stderr()))
        server.forget()

    def test_sighup_rescans(self):
        with Server({"room.json": meshes.room()}) as server:
            server.process.send_signal(signal.SIGHUP)
            time.sleep(0.2)
            self.assertEqual(server.request("GET", "/v1/meshes/room").status, 200)
