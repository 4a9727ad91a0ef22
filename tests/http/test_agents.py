"""Agents: calls, steps, ticks by the clock, and streams of what becomes of them."""
import hashlib
import json
import os
import time
import unittest

from harness import meshes
from harness.case import ServerCase
from harness.client import Dropped
from harness.events import Events
from harness.server import SANITIZED, Server

LONG = b'{"x":"%s"}' % (b"x" * (9 << 20))
STEPS = int(os.environ.get("AGENT_STEPS", "40"))


def crowd(count, side=10.0, **more):
    """Agents in rows that all want to get to the other side."""
    row = int(count ** 0.5) + 1
    spot = [((i % row + 0.5) * side / row, (i // row + 0.5) * side / row) for i in range(count)]
    return [dict(position=[x, 0, z], target=[side - x, 0, side - z], radius=0.05, **more) for x, z in spot]


class Agents(ServerCase):
    files = {"room.json": meshes.room(), "bend.json": meshes.bend(), "demo.json": meshes.showcase(),
             "demo.meta.json": meshes.SHOWCASE_SIDECAR}

    def setUp(self):
        super().setUp()
        for mesh in ("room", "bend", "demo"):
            self.assertEqual(self.ask("DELETE", "/v1/meshes/%s/agents?all=true" % mesh).status, 204)

    def call(self, method, path, body=None, status=200):
        answer = self.ask(method, "/v1/meshes/" + path, body)
        self.assertEqual(answer.status, status, answer)
        return answer.json() if answer.body else None

    def stream(self, mesh, query="", headers=()):
        events = Events(self.server, "/v1/meshes/%s/agents/events%s" % (mesh, query), headers)
        self.addCleanup(events.close)
        self.assertEqual(events.status, 200)
        self.assertEqual(events.headers["content-type"], "text/event-stream")
        self.assertEqual(events.headers["cache-control"], "no-store")
        return events

    def test_life_of_an_agent(self):
        made = self.ask("POST", "/v1/meshes/bend/agents", {"position": [1, 0, 1], "target": [9, 0, 1], "radius": 0.3})
        self.assertEqual(made.status, 201)
        where = made.headers["location"]
        self.assertEqual(where, "/v1/meshes/bend/agents/" + made.json()["id"])
        self.assertTrue(made.headers["etag"])
        states = set()
        for step in range(400):
            a = self.call("POST", "bend/agents/step", {"dt": 0.05})["agents"][0]
            states.add(a["state"])
        self.assertEqual(states, {"moving", "arrived"})
        self.assert_point(a["position"], [9, 0, 1], 3)
        got = self.ask("GET", where + "?fields=position,state")
        self.assertEqual(got.json(), {"id": a["id"], "position": a["position"], "state": "arrived"})
        self.assertEqual(self.ask("PATCH", where, {"target": None, "max_speed": 1}).json()["max_speed"], 1)
        self.assertEqual(self.ask("GET", where).json()["target"], None)
        self.assertEqual(self.ask("DELETE", where).status, 204)
        self.assert_problem(self.ask("GET", where), 404, "not_found")
        self.assertEqual(self.call("GET", "bend/agents")["agents"], [])

    def test_a_link_is_ridden_and_told(self):
        self.call("POST", "demo/agents", {"id": "j", "position": [9, 0, 2], "target": [13, 0, 2], "link_speed": 2}, 201)
        rides = []
        for _ in range(200):
            a = self.call("POST", "demo/agents/step", {"dt": 0.05})["agents"][0]
            if a["link"]:
                rides.append(a["link"]["part"])
                self.assertEqual((a["link"]["id"], a["link"]["kind"]), ("jump", "jump"))
        self.assertGreater(len(rides), 10)
        self.assertEqual(rides, sorted(rides))
        self.assertEqual(a["state"], "arrived")

    def test_a_chase(self):
        self.call("POST", "bend/agents", {"agents": [
            {"id": "wolf", "position": [1, 0, 1], "max_speed": 4, "chase": {"agent": "hare", "attack_range": 1.5, "repath_ms": 200}},
            {"id": "hare", "position": [9, 0, 1], "max_speed": 1}]}, 201)
        seen = set()
        for _ in range(200):
            wolf = self.call("POST", "bend/agents/step", {"dt": 0.05, "fields": ["state", "chase"]})["agents"][0]
            seen.add(wolf["state"])
        self.assertEqual(wolf["chase"], {"agent": "hare", "repath_ms": 200, "attack_range": 1.5})
        self.assertTrue({"chasing", "attacking"} <= seen, seen)
        self.assertEqual(wolf["state"], "attacking")
        self.call("DELETE", "bend/agents/hare", status=204)
        self.call("POST", "bend/agents/step", {"dt": 0.05})
        self.assertEqual(self.call("GET", "bend/agents/wolf")["state"], "idle")

    def test_refusals(self):
        """Every status that openapi.json promises for these calls, but for those of rights and overload."""
        self.call("POST", "room/agents", {"id": "a", "position": [1, 0, 1]}, 201)
        settings = "/agents/settings"
        bodies = (("POST", "/agents", {"position": [1, 0, 1]}), ("PATCH", "/agents", {"agents": []}),
                  ("POST", "/agents/step", {"dt": 1}), ("PATCH", settings, {"tick_hz": 1}), ("PATCH", "/agents/a", {}))
        for method, path, body in bodies:
            self.assert_problem(self.ask(method, "/v1/meshes/none" + path, body), 404, "not_found")
            self.assert_problem(self.ask(method, "/v1/meshes/room" + path, {"q": 1}), 400, "bad_request")
            self.assert_problem(self.ask(method, "/v1/meshes/room" + path, b"{"), 400, "bad_json")
            self.assert_problem(self.server.request(method, "/v1/meshes/room" + path, LONG), 413, "too_large")
        self.assert_problem(self.server.request("DELETE", "/v1/meshes/room/agents", LONG), 413, "too_large")
        for method, path in (("GET", "/agents"), ("GET", "/agents/a"), ("GET", "/agents/events"), ("GET", settings),
                             ("DELETE", "/agents/a"), ("DELETE", "/agents")):
            self.assert_problem(self.ask(method, "/v1/meshes/room" + path + "?q=1"), 400, "bad_request")
            self.assert_problem(self.ask(method, "/v1/meshes/none" + path + ("?all=true" if path[-1] == "s" and method[0] == "D" else "")),
                                404, "not_found")
        self.assert_problem(self.ask("POST", "/v1/meshes/room/agents", {"id": "a", "position": [1, 0, 1]}), 409, "conflict")
        self.assert_problem(self.ask("PUT", "/v1/meshes/room/agents/a", {}), 405, "method_not_allowed")
        answer = self.ask("OPTIONS", "/v1/meshes/room/agents")
        self.assertEqual(answer.headers["allow"], "GET, HEAD, POST, PATCH, DELETE, OPTIONS")
        self.assertEqual(self.ask("HEAD", "/v1/meshes/room/agents/events").headers["content-type"], "text/event-stream")
        self.assertEqual(self.ask("PATCH", "/v1/meshes/room" + settings, {"tick_hz": 0}).status, 200)

    def test_stream_of_steps(self):
        self.call("POST", "room/agents", {"agents": [{"id": "a", "position": [1, 0, 1], "target": [9, 0, 1]},
                                                     {"id": "b", "position": [5, 0, 5]}]}, 201)
        events = self.stream("room", "?fields=position,state&precision=3&vectors=object")
        first = events.next()
        self.assertEqual(first.name, "full")
        self.assertEqual([a["id"] for a in first.data["agents"]], ["a", "b"])
        self.assertEqual(first.data["agents"][1]["position"], {"x": 5, "y": 0, "z": 5})
        self.call("POST", "room/agents/step", {"dt": 0.1})
        self.call("POST", "room/agents/step", {"dt": 0.1})
        second, third = events.next(), events.next()
        self.assertEqual((second.name, second.data["step"], third.data["step"]), ("changes", first.data["step"] + 1, first.data["step"] + 2))
        self.assertEqual([a["id"] for a in third.data["agents"]], ["a"])
        self.assertEqual(third.data["agents"][0]["state"], "moving")
        self.call("PATCH", "room/agents/b", {"position": [6, 0, 6]})
        self.assertEqual(events.next().data["agents"], [{"id": "b", "position": {"x": 6, "y": 0, "z": 6}, "state": "idle"}])
        self.call("DELETE", "room/agents/a", status=204)
        gone = events.next()
        self.assertEqual((gone.data["agents"], gone.data["removed"]), ([], ["a"]))
        # Another reader goes on where this one was after the second event.
        resumed = self.stream("room", "?fields=position", [("Last-Event-ID", str(second.number))]).next()
        self.assertEqual((resumed.name, [a["id"] for a in resumed.data["agents"]], resumed.data["removed"]), ("changes", ["b"], ["a"]))
        self.assertEqual(self.stream("room", "", [("Last-Event-ID", "77")]).next().name, "full")

    def test_a_closed_reader_is_forgotten(self):
        def subscribers():
            return self.call("GET", "room/agents/settings")["subscribers"]
        before = subscribers()
        events = [Events(self.server, "/v1/meshes/room/agents/events") for _ in range(5)]
        for e in events:
            self.assertEqual(e.next().name, "full")
        self.assertEqual(subscribers(), before + 5)
        for e in events:
            e.close()
        self.server.until(lambda: subscribers() <= before, "the readers' end")

    def test_too_many_ways_to_write(self):
        streams = [self.stream("demo", "?fields=position&precision=%d%s" % (i % 10, "&vectors=object" * (i // 10))) for i in range(16)]
        for s in streams:
            self.assertEqual(s.next().name, "full")
        answer = self.ask("GET", "/v1/meshes/demo/agents/events?fields=yaw")
        self.assert_problem(answer, 503, "overloaded")
        self.assertTrue(answer.headers["retry-after"])
        self.assertEqual(self.stream("demo", "?fields=position&precision=3").next().name, "full")

    def test_slow_readers_are_dropped_and_told(self):
        self.call("POST", "room/agents", {"agents": crowd(300, max_speed=0.01, avoidance="none"), "fields": []}, 201)
        slow, quick = self.stream("room"), self.stream("room", "?fields=state")
        self.assertEqual(quick.next().name, "full")
        began = time.monotonic()
        while self.slow_readers() < 1:
            self.assertLess(time.monotonic() - began, 60)
            self.call("POST", "room/agents/step", {"dt": 0.05, "fields": []})
            self.assertEqual(quick.next().name, "changes")
        seen = []
        while True:
            event = slow.next()
            if event is None:
                break
            seen.append(event)
        self.assertEqual(seen[-1].name, "end")
        self.assertEqual(seen[-1].data["reason"], "slow")
        self.assertEqual(seen[0].name, "full")

    def slow_readers(self):
        text = self.ask("GET", "/metrics").body.decode()
        line = next(l for l in text.split("\n") if l.startswith('navd_agent_dropped_subscribers_total{reason="slow"}'))
        return float(line.split(" ")[1])

    def test_metrics(self):
        self.call("POST", "room/agents", {"agents": crowd(3)}, 201)
        self.call("POST", "room/agents/step", {"dt": 0.1})
        text = self.ask("GET", "/metrics").body.decode()
        for sample in ('navd_agents{mesh="room"} 3\n', 'navd_agent_tick_hz{mesh="room"} 0\n', 'navd_agent_step_seconds_bucket{le="+Inf"}'):
            self.assertIn(sample, text)


class Ticks(ServerCase):
    files = {"room.json": meshes.room(), "own.json": meshes.room(), "own.meta.json": b'{"tick_hz": 25}'}

    def settings(self, mesh, **body):
        answer = self.ask("PATCH" if body else "GET", "/v1/meshes/%s/agents/settings" % mesh, body or None)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_rate(self):
        self.ask("POST", "/v1/meshes/room/agents", {"position": [1, 0, 1], "target": [9, 0, 9], "max_speed": 0.5})
        self.assertEqual(self.settings("room")["tick_hz"], 0)
        self.settings("room", tick_hz=50)
        began, before = time.monotonic(), self.settings("room")
        time.sleep(1)
        after, seconds = self.settings("room"), time.monotonic() - began
        moved = sum(after[k] - before[k] for k in ("ticks", "skipped_ticks"))
        self.assertAlmostEqual(moved, 50 * seconds, delta=4)
        self.assertEqual(after["step"] - before["step"], after["ticks"] - before["ticks"])
        self.assertEqual(after["tick_hz_from"], "call")
        answer = self.ask("POST", "/v1/meshes/room/agents/step", {"dt": 0.1})
        self.assert_problem(answer, 409, "conflict")
        self.settings("room", tick_hz=0)
        self.assertEqual(self.ask("POST", "/v1/meshes/room/agents/step", {"dt": 0.1}).status, 200)

    def test_changes_come_with_ticks(self):
        self.ask("POST", "/v1/meshes/own/agents", {"id": "a", "position": [1, 0, 1], "target": [9, 0, 9], "max_speed": 0.5})
        self.assertEqual(self.settings("own")["tick_hz_from"], "mesh")
        with Events(self.server, "/v1/meshes/own/agents/events?fields=position,state,target") as events:
            full = events.next()
            numbers = [full.number]
            for _ in range(10):
                event = events.next()
                numbers.append(event.number)
                self.assertEqual([a["id"] for a in event.data["agents"]], ["a"])
            self.assertEqual(numbers, sorted(set(numbers)))
            self.ask("PATCH", "/v1/meshes/own/agents/a", {"target": [1, 0, 1]})
            events.until(lambda e: e.data["agents"] and e.data["agents"][0]["target"] == [1, 0, 1])
            self.ask("DELETE", "/v1/meshes/own/agents/a")
            self.assertEqual(events.until(lambda e: e.data["removed"]).data["removed"], ["a"])
            with self.assertRaises(Dropped):  # nobody is left, so nothing ticks
                events.next(0.3)
        # The sidecar's rate holds from its reload on.
        self.server.write("own.meta.json", b'{"tick_hz": 5}')
        self.server.until(lambda: self.settings("own")["tick_hz"] == 5, "the new rate")
        self.settings("own", tick_hz=30)
        self.assertEqual(self.settings("own")["tick_hz"], 30)
        self.assertEqual(self.settings("own", tick_hz=None)["tick_hz"], 5)


class Changes(unittest.TestCase):
    """Meshes that change under agents, and servers that end."""

    def test_agents_are_taken_over(self):
        with Server({"room.json": meshes.room()}) as server:
            base = "/v1/meshes/room/agents"
            server.request("POST", base, {"agents": [{"id": "l", "position": [1, 0, 5]}, {"id": "r", "position": [9, 0, 5], "snap": 0.5}]})
            with Events(server, base + "/events?fields=position,state") as events:
                revision = events.next().data["revision"]
                server.write("room.json", meshes.polygons(*meshes.rectangles([(0, 0, 4, 10)], 0.5)))
                moved = events.next()
                self.assertGreater(moved.data["revision"], revision)
                self.assertEqual(moved.data["agents"], [{"id": "l", "position": [1, 0.5, 5], "state": "idle"},
                                                        {"id": "r", "position": [9, 0, 5], "state": "off_mesh"}])
                server.write("room.json", meshes.room())
                back = events.next()
                self.assertEqual([a["state"] for a in back.data["agents"]], ["idle", "idle"])
                # A broken file changes nothing.
                server.write("room.json", b"{")
                server.until(lambda: server.request("GET", "/v1/meshes/room").json()["last_error"], "the failure")
                self.assertEqual(server.request("GET", base + "/r?fields=state").json(), {"id": "r", "state": "idle"})

    def test_deletion_ends_agents_and_streams(self):
        with Server({"room.json": meshes.room()}) as server:
            base = "/v1/meshes/room/agents"
            first = server.request("POST", base, {"position": [1, 0, 1]}).json()["id"]
            server.request("PATCH", base + "/settings", {"tick_hz": 100})
            with Events(server, base + "/events") as events:
                self.assertEqual(events.next().name, "full")
                self.assertEqual(server.request("DELETE", "/v1/meshes/room").status, 204)
                end = events.until(lambda e: e.name == "end")
                self.assertEqual(end.data["reason"], "mesh_deleted")
                self.assertIsNone(events.next())
            self.assertEqual(server.request("GET", base).status, 404)
            server.request("PUT", "/v1/meshes/room?persist=false", meshes.room())
            self.assertEqual(server.request("GET", base).json()["agents"], [])
            self.assertEqual(server.request("GET", base + "/settings").json()["tick_hz"], 0)
            self.assertNotEqual(server.request("POST", base, {"position": [1, 0, 1]}).json()["id"], first)

    def test_drain_ends_streams(self):
        server = Server({"room.json": meshes.room()})
        base = "/v1/meshes/room/agents"
        server.request("POST", base, {"agents": crowd(50)})
        server.request("PATCH", base + "/settings", {"tick_hz": 60})
        streams = [Events(server, base + "/events") for _ in range(4)]
        for s in streams:
            self.assertEqual(s.next().name, "full")
        server.terminate()
        for s in streams:
            self.assertEqual(s.until(lambda e: e.name == "end").data["reason"], "draining")
            self.assertIsNone(s.next())
            s.close()
        self.assertEqual(server.wait(30), 0)
        server.stop()

    def test_kept_streams_do_not_hold_up_the_end(self):
        """Readers that read nothing, and the shortest of drains."""
        server = Server({"room.json": meshes.room()}, ["--drain-timeout=200ms"])
        base = "/v1/meshes/room/agents"
        server.request("POST", base, {"agents": crowd(800, max_speed=0.01), "fields": []})
        server.request("PATCH", base + "/settings", {"tick_hz": 50})
        streams = [Events(server, base + "/events") for _ in range(3)]
        time.sleep(0.5)
        server.stop()
        for s in streams:
            s.close()

    def test_limits_and_rights(self):
        token = os.path.join(os.environ.get("TMPDIR", "/tmp"), "navd-agents-token-%d" % os.getpid())
        with open(token, "w") as f:
            f.write("secret\n")
        self.addCleanup(os.unlink, token)
        with Server({"room.json": meshes.room()}, ["--max-agents=2", "--token-file=" + token]) as server:
            base, key = "/v1/meshes/room/agents", [("Authorization", "Bearer secret")]
            for method, path, body in (("POST", "", {"position": [1, 0, 1]}), ("PATCH", "", {"agents": []}), ("DELETE", "?all=true", None),
                                       ("POST", "/step", {"dt": 1}), ("PATCH", "/settings", {"tick_hz": 1}), ("PATCH", "/a", {}),
                                       ("DELETE", "/a", None)):
                answer = server.request(method, base + path, body)
                self.assertEqual((answer.status, answer.code()), (401, "unauthorized"), (method, path))
            three = {"agents": [{"position": [1, 0, 1]}] * 3}
            self.assertEqual(server.request("POST", base, three, key).status, 413)
            self.assertEqual(server.request("POST", base, {"agents": three["agents"][:2]}, key).status, 201)
            self.assertEqual(server.request("POST", base, {"position": [1, 0, 1]}, key).status, 413)
            self.assertEqual(len(server.request("GET", base).json()["agents"]), 2)


class Determinism(unittest.TestCase):
    def run_crowd(self, workers):
        """A hash over all answers."""
        digest = hashlib.sha256()
        with Server({"maze.json": meshes.maze(20, 0.2)}, ["--workers=%d" % workers]) as server, server.connect() as c:
            base = "/v1/meshes/maze/agents"

            def call(method, path, body):
                answer = c.request(method, base + path, body)
                self.assertIn(answer.status, (200, 201), answer)
                return answer.body
            made = json.loads(call("POST", "", {"agents": crowd(600, 20.0, max_speed=3), "fields": ["position"]}))
            digest.update(json.dumps(made["agents"]).encode())
            for step in range(STEPS):
                if step % 10 == 5:
                    i = step * 7 % 600
                    call("PATCH", "/a%d" % (i + 1), {"target": [i % 19, 0, i % 17]})
                    call("PATCH", "/a%d" % (i + 2 if i < 599 else 1), {"chase": {"agent": "a%d" % (i + 1)}})
                digest.update(call("POST", "/step", {"dt": 0.05}))
        return digest.hexdigest()

    def test_the_same_bytes_for_any_number_of_workers(self):
        hashes = {workers: self.run_crowd(workers) for workers in (1, 2, 8)}
        self.assertEqual(len(set(hashes.values())), 1, hashes)


class Traffic(unittest.TestCase):
    def test_all_at_once(self):
        """Ticks, changes, readers that come and go, and a mesh that is replaced meanwhile."""
        import threading
        seconds, failures = (4 if SANITIZED else 2), []
        with Server({"room.json": meshes.room()}, ["--workers=4"]) as server:
            base, end = "/v1/meshes/room/agents", time.monotonic() + seconds
            server.request("POST", base, {"agents": crowd(500)})
            server.request("PATCH", base + "/settings", {"tick_hz": 60})

            def loop(body):
                def run():
                    try:
                        with server.connect() as c:
                            turn = 0
                            while time.monotonic() < end:
                                body(c, turn)
                                turn += 1
                    except Exception as error:  # told by the test itself
                        failures.append(repr(error))
                return threading.Thread(target=run)

            def expect(answer, *statuses):
                if answer.status not in statuses:
                    failures.append(repr(answer))

            def change(c, turn):
                expect(c.request("POST", base, {"id": "x%d" % turn, "position": [5, 0, 5], "target": [turn % 10, 0, 1]}), 201)
                expect(c.request("PATCH", base, {"agents": [{"id": "a%d" % (turn % 500 + 1), "target": [turn % 9, 0, 8]}]}), 200)
                expect(c.request("DELETE", base + "/x%d" % turn), 204)

            def listen(c, turn):
                with Events(server, base + "/events?fields=position&precision=%d" % (turn % 3)) as events:
                    for _ in range(turn % 7 + 1):
                        events.next()

            def replace(c, turn):
                expect(c.request("PUT", "/v1/meshes/room?persist=false", meshes.room()), 200)
                time.sleep(0.05)

            def ask(c, turn):
                expect(c.request("GET", base + "?fields=state&since=1"), 200)
                expect(c.request("POST", "/v1/meshes/room/path", {"start": [1, 0, 1], "end": [turn % 9, 0, 9]}), 200)

            threads = [loop(f) for f in (change, listen, listen, replace, ask)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(failures, [])
            self.assertEqual(len(server.request("GET", base + "?fields=state").json()["agents"]), 500)
