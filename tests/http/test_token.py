"""Who may change meshes."""
import os
import signal
import tempfile

from harness import meshes
from harness.case import ServerCase
from harness.server import Server

TOKEN = "s3cret-Token.value"


class Token(ServerCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.token_file = os.path.join(folder.name, "token")
        cls.write_token(TOKEN + "\n")
        cls.server = Server({"room.json": meshes.room()}, ["--token-file", cls.token_file])
        cls.addClassCleanup(cls.server.stop)

    @classmethod
    def write_token(cls, text):
        with open(cls.token_file, "w") as f:
            f.write(text)

    def put(self, *authorization):
        return self.ask("PUT", "/v1/meshes/new?persist=false", meshes.room(), [("Authorization", a) for a in authorization])

    def test_with_the_token(self):
        for value in ("Bearer " + TOKEN, "bearer " + TOKEN):
            self.assertIn(self.put(value).status, (200, 201))

    def test_without_it(self):
        for value in ([], ["Bearer"], ["Bearer "], ["Bearer " + TOKEN[:-1]], ["Bearer " + TOKEN + "x"], ["Basic " + TOKEN], [TOKEN],
                      ["Bearer " + TOKEN.upper()]):
            with self.subTest(value):
                a = self.put(*value)
                self.assert_problem(a, 401, "unauthorized")
                self.assertIn("Bearer", a.headers.get("www-authenticate", ""))
        for method, path in (("DELETE", "/v1/meshes/room"), ("POST", "/v1/meshes/room/reload")):
            self.assert_problem(self.ask(method, path, b""), 401, "unauthorized")

    def test_questions_need_none(self):
        for path in ("/v1/meshes", "/v1/meshes/room", "/v1/meshes/room/nearest?point=1,0,1", "/metrics", "/livez"):
            self.assertEqual(self.ask("GET", path).status, 200)
        self.assertEqual(self.query("room", "path", start=[1, 0, 1], end=[2, 0, 2])["status"], "complete")

    def test_a_new_token_after_sighup(self):
        self.write_token("another")
        self.server.process.send_signal(signal.SIGHUP)
        self.server.until(lambda: self.put("Bearer another").status in (200, 201), "the new token")
        self.assertEqual(self.put("Bearer " + TOKEN).status, 401)
        self.write_token(TOKEN)
        self.server.process.send_signal(signal.SIGHUP)
        self.server.until(lambda: self.put("Bearer " + TOKEN).status in (200, 201), "the old token")


class Loopback(ServerCase):
    """No token is configured: changes from this machine only."""

    def test_loopback_may(self):
        self.assertEqual(self.ask("PUT", "/v1/meshes/new", meshes.room()).status, 201)

    def test_pages_of_others_may_not(self):
        """Their readers' browsers are on this machine. A page whose name was made to lead here later (DNS rebinding)
        comes with the same name in Host."""
        for origin, host, may in (("http://localhost:8080", "localhost:8080", True), ("http://127.0.0.1", "127.0.0.1", True),
                                  ("http://[::1]:80", "[::1]:80", True), ("http://navd.localhost", "navd.localhost", True),
                                  ("http://evil.example", "127.0.0.1", False), ("http://evil.example:80", "evil.example:80", False),
                                  ("http://127.0.0.1.evil.example", "127.0.0.1.evil.example", False), ("null", "127.0.0.1", False),
                                  ("http://evillocalhost", "evillocalhost", False), ("http://localhost.evil", "localhost.evil", False),
                                  ("http://127.0.0.1:81", "127.0.0.1:80", False), ("http://[::1].x", "[::1].x", False)):
            with self.subTest(origin=origin, host=host), self.server.connect() as c:
                c.send(("PUT /v1/meshes/new?persist=false HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nContent-Length: %d\r\n\r\n"
                        % (host, origin, len(meshes.room()))).encode() + meshes.room())
                self.assertIn(c.answer().status, (200, 201) if may else (403,))

    def test_a_unix_socket_may(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server({}, listen="unix:" + os.path.join(folder, "s")) as server:
                self.assertEqual(server.request("PUT", "/v1/meshes/new", meshes.room()).status, 201)
