"""The command: options, environment, what it prints, exit statuses."""
import json
import os
import socket
import tempfile
import unittest

from harness import meshes
from harness.server import Server, command


class Wrong(unittest.TestCase):
    def refused(self, status, *arguments, env=None):
        """It says why in one line, prints nothing else, and exits."""
        got, out, err = command(*arguments, env=env)
        self.assertEqual((got, out), (status, ""), err)
        self.assertEqual(len(err.strip().split("\n")), 1, err)
        self.assertIn("navd", err)
        return err

    def test_usage(self):
        for arguments in (["--nosuch"], ["--listen"], ["--listen", ""], ["--threads", "0"], ["--threads", "many"], ["--workers", "-1"],
                          ["--max-body", "12x"], ["--max-body", "99999999999999999999"], ["--request-timeout", "soon"],
                          ["--log", "xml"], ["--log-level", "loud"], ["--access-log", "101%"], ["--check"], ["stray"],
                          ["--tls-cert", "x"], ["--convert", "a"], ["--convert", "a", "b", "c"]):
            with self.subTest(arguments):
                self.refused(2, *arguments)

    def test_usage_names_the_fault(self):
        self.assertIn("--nosuch", self.refused(2, "--nosuch"))
        self.assertIn("NAVD_THREADS", self.refused(2, "--print-config", env={"NAVD_THREADS": "lots"}))

    def test_usage_tells_the_range(self):
        for option, value, told in (("--max-body", "10", "BYTES from 1k to 16G"), ("--threads", "0", "N from 1 to 64"),
                                    ("--request-timeout", "1ms", "TIME from 10ms to 1440m"), ("--log", "x", "text|json\n")):
            with self.subTest(option):
                self.assertIn(told, self.refused(2, option, value) + "\n")
        self.assertIn("from 1 to 1000000", self.refused(2, "--print-config", env={"NAVD_MAX_BATCH": "0"}))

    def test_listen_addresses(self):
        for address in ("localhost", "127.0.0.1:99999", "127.0.0.1:", "300.1.1.1:80", ":::", "unix:", "127.0.0.1:8o"):
            with self.subTest(address):
                status, out, err = command("--listen", address)
                self.assertIn(status, (1, 2), (out, err))
                self.assertEqual(len(err.strip().split("\n")), 1, err)

    def test_cannot_start(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = "127.0.0.1:%d" % taken.getsockname()[1]
            self.assertIn(port.split(":")[1], self.refused(1, "--listen", port))
        self.assertIn("/no/such", self.refused(1, "--listen", "127.0.0.1:0", "--meshes", "/no/such/folder"))
        self.refused(1, "--listen", "127.0.0.1:0", "--token-file", "/no/such/token")
        self.refused(1, "--listen", "127.0.0.1:0", "--tls-cert", "/no/such", "--tls-key", "/no/such")

    def test_an_empty_token_is_no_token(self):
        with tempfile.NamedTemporaryFile() as empty:
            self.refused(1, "--listen", "127.0.0.1:0", "--token-file", empty.name)


class Config(unittest.TestCase):
    def config(self, *arguments, env=None):
        status, out, err = command("--print-config", *arguments, env=env)
        self.assertEqual((status, err), (0, ""))
        return dict(line.split(" = ", 1) for line in out.strip("\n").split("\n"))

    def test_option_beats_environment_beats_default(self):
        default = self.config()
        self.assertEqual(default["listen"], "127.0.0.1:8080")
        self.assertEqual(self.config(env={"NAVD_MAX_BATCH": "77"})["max-batch"], "77")
        self.assertEqual(self.config("--max-batch", "88", env={"NAVD_MAX_BATCH": "77"})["max-batch"], "88")
        self.assertEqual(self.config("--max-batch=99")["max-batch"], "99")
        self.assertNotIn(default["max-batch"], ("77", "88", "99"))

    def test_every_option_has_its_place_in_the_environment(self):
        values = {"listen": "127.0.0.1:1", "meshes": "/m", "state": "/s", "threads": "3", "workers": "5", "token-file": "/t",
                  "cors-origin": "https://a.example", "max-body": "4096", "max-batch": "7", "max-matrix": "8", "max-nodes": "9",
                  "max-connections": "11", "max-agents": "12", "request-timeout": "1500ms", "drain-timeout": "2500ms",
                  "log": "json", "log-level": "warn", "access-log": "25%"}
        by_environment = self.config(env={"NAVD_" + k.upper().replace("-", "_"): v for k, v in values.items()})
        by_option = self.config(*[a for k, v in values.items() for a in ("--" + k, v)])
        for name, value in values.items():
            self.assertEqual((by_environment[name], by_option[name]), (value, value), name)

    def test_lists(self):
        two = self.config("--listen", "127.0.0.1:1", "--listen", "127.0.0.1:2")
        self.assertEqual(two["listen"], "127.0.0.1:1,127.0.0.1:2")

    def test_help_and_version(self):
        status, out, _ = command("--help")
        self.assertEqual(status, 0)
        for name in self.config():
            self.assertIn("--" + name, out)
        status, out, _ = command("--version")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^navd \d+\.\d+\.\d+")


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def test_good_files(self):
        status, out, err = command("--check", self.file("a.json", meshes.bend()), self.file("b.json", meshes.room()))
        self.assertEqual(status, 0, err)
        self.assertIn("a.json", out)
        self.assertIn("b.json", out)
        self.assertIn("polygons", out)

    def test_one_bad_file(self):
        good, bad = self.file("good.json", meshes.room()), self.file("bad.obj", b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 7\n")
        status, out, err = command("--check", good, bad)
        self.assertEqual(status, 1)
        self.assertIn("good.json", out)
        self.assertIn("bad.obj", out + err)
        self.assertIn("4", out + err)
        self.assertEqual(command("--check", os.path.join(self.folder, "absent.json"))[0], 1)

    def test_the_sidecar_counts(self):
        path = self.file("a.json", meshes.room())
        self.file("a.meta.json", b'{"frame":"sideways"}')
        status, out, err = command("--check", path)
        self.assertEqual(status, 1)
        self.assertIn("frame", out + err)


class Healthcheck(unittest.TestCase):
    def test_a_server_that_is_ready(self):
        with Server({}) as server:
            url = "http://%s:%d" % server.address
            self.assertEqual(command("--healthcheck", url)[0], 0)
            self.assertEqual(command("--healthcheck", url + "/readyz")[0], 0)
            self.assertEqual(command("--healthcheck", env={"NAVD_LISTEN": "%s:%d" % server.address})[0], 0)

    def test_no_server(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = "http://127.0.0.1:%d" % free.getsockname()[1]
            self.assertEqual(command("--healthcheck", url)[0], 1)

    def test_a_server_that_says_nothing(self):
        with socket.socket() as mute:
            mute.bind(("127.0.0.1", 0))
            mute.listen()
            self.assertEqual(command("--healthcheck", "http://127.0.0.1:%d" % mute.getsockname()[1])[0], 1)


class Serving(unittest.TestCase):
    def test_several_addresses(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "socket")
            with Server({}, ["--listen", "127.0.0.1:0", "--listen", "unix:" + path]) as server:
                server.listening_also()
                server.listening_also()
                self.assertEqual(len(set(server.addresses)), 3)
                self.assertIn(path, server.addresses)
                for i in range(3):
                    with server.connect(which=i) as c:
                        self.assertEqual(c.request("GET", "/livez").status, 200)
            self.assertFalse(os.path.exists(path), "the socket file is left behind")

    def test_no_folder(self):
        with Server() as server:
            self.assertEqual(server.request("GET", "/v1/meshes").json(), {"meshes": []})
            self.assertEqual(server.request("PUT", "/v1/meshes/m", meshes.room()).status, 201)
            self.assertEqual(server.request("GET", "/v1/meshes/m/nearest?point=1,0,1").json()["status"], "found")

    def test_threads_and_workers(self):
        for threads, workers in (("1", "1"), ("3", "2")):
            with Server({"room.json": meshes.room()}, ["--threads", threads, "--workers", workers]) as server:
                one = {"type": "nearest", "point": [1, 0, 1]}
                for _ in range(20):
                    a = server.request("POST", "/v1/meshes/room/batch", {"queries": [one] * 200})
                    self.assertEqual(len(a.json()["results"]), 200)

    def test_json_log_and_access_log(self):
        with Server({"bad.json": b"{"}, ["--log", "json", "--access-log", "on", "--log-level", "debug"]) as server:
            server.request("GET", "/livez?seen=1", headers=[("X-Request-Id", "req-1")])
            server.until(lambda: "req-1" in server.stderr(), "the access log")
            lines = [json.loads(line) for line in server.stderr().strip().split("\n")]
            self.assertTrue(any("bad" in json.dumps(line) for line in lines))
            for line in lines:
                self.assertIn("msg", line)
                self.assertIn("level", line)

    def test_a_log_line_cannot_be_forged(self):
        with Server({}, ["--log", "text", "--access-log", "on"]) as server:
            server.request("GET", "/v1/meshes/%0Aforged%0A")
            server.request("GET", "/v1/meshes/x?%0Aforged")
            server.until(lambda: "forged" in server.stderr(), "the access log")
            self.assertFalse([line for line in server.stderr().split("\n") if line.startswith("forged")])
