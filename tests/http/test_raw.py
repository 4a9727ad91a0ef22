"""Bytes that are not the HTTP that a library would send."""
import re
import socket
import struct
import time

from harness import meshes
from harness.case import ServerCase
from harness.client import Dropped, message

GOOD = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /v1/meshes/room/nearest HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
BODY = b'{"point":[1,0,1]}'


class Broken(ServerCase):
    """Each is refused or dropped, and the server goes on."""

    files = {"room.json": meshes.room()}

    def tearDown(self):
        self.assertEqual(self.server.request("POST", "/v1/meshes/room/nearest", {"point": [1, 0, 1]}).status, 200)

    def exchange(self, data, finish=False):
        """The answer to raw bytes, None where the connection was closed without one."""
        with self.server.connect(10) as c:
            c.send(data)
            if finish:
                c.socket.shutdown(socket.SHUT_WR)
            try:
                return c.answer()
            except Dropped as drop:
                self.assertEqual(drop.received, b"", "half an answer")
                self.assertIn("closed", str(drop) + ("closed" if "reset" in str(drop) else ""), "neither answered nor closed")
                return None

    def refused(self, data, *statuses):
        a = self.exchange(data)
        if a is not None:
            self.assertIn(a.status, statuses, (data[:80], a))
        return a

    def test_not_http(self):
        for data in (b"\r\n\r\n\r\n\r\nhello\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200 + b"\r\n\r\n",
                     b"GET\r\n\r\n", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", b"GET / JTTP/1.1\r\nHost: x\r\n\r\n",
                     b"\0\0\0\0 / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            with self.subTest(data[:30]):
                a = self.exchange(data, finish=True)
                self.assertTrue(a is None or 400 <= a.status < 600, a)

    def test_no_host(self):
        self.refused(b"GET /livez HTTP/1.1\r\n\r\n", 400)

    def test_targets(self):
        for target in (b"/v1/meshes/%zz", b"/%00", b"/%", b"/v1/meshes/room/nearest?point=%f", b"/v1/meshes/room/nearest?point=%zz,1,2",
                       b"/v1/meshes/room/nearest?%00=1", b"/../../etc/passwd", b"/v1/meshes/..%2f..%2fetc"):
            with self.subTest(target):
                self.refused(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n", 400, 404)

    def test_lengths_that_are_none(self):
        for length in (b"-1", b"x", b"18446744073709551616", b"99999999999999999999999", b"1e3", b"0x10", b"5, 6"):
            with self.subTest(length):
                self.refused(POST + b"Content-Length: " + length + b"\r\n\r\n" + BODY, 400, 411, 413)

    def test_length_beside_chunks(self):
        """Two servers in a row could read two different requests out of it."""
        smuggled = b"0\r\n\r\n" + GOOD
        for fields in (b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n"):
            with self.server.connect(10) as c:
                c.send(POST + fields % len(smuggled) + b"\r\n" + smuggled)
                a = c.answer()
                self.assertEqual(a.status, 400, a)
                self.assertTrue(c.closed_within(5), "a second answer, or a connection left open")

    def test_names_that_another_server_may_read_otherwise(self):
        """What stands for a body's length with one server and for nothing with another ends the connection."""
        for field in (b"Content-Length : %d", b"Content-Length\t: %d", b"Content\x01-Length: %d", b"X A: b\r\nContent-Length: %d",
                      b"X-A: b\x01\r\nContent-Length: %d", b"X-A: b\x7f\r\nContent-Length: %d",
                      b"X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: %d", b"Host: y\r\nContent-Length: %d",
                      b"Content-Length: %d\r\n X-A: folded"):
            with self.subTest(field), self.server.connect(10) as c:
                smuggled = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
                c.send(POST + field % len(smuggled) + b"\r\n\r\n" + smuggled)
                a = c.answer()
                self.assertEqual(a.status, 400, a)
                self.assertTrue(c.closed_within(5), "a second answer, or a connection left open")

    def test_two_lengths(self):
        self.refused(POST + b"Content-Length: 17\r\nContent-Length: 5\r\n\r\n" + BODY, 400)

    def test_chunks_that_are_none(self):
        for chunks in (b"zz\r\n", b"-1\r\n\r\n", b"FFFFFFFFFFFFFFFFF\r\nx", b"5\r\n{}xxxxxxxx\r\n0\r\n\r\n"):
            with self.subTest(chunks):
                self.refused(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks, 400, 413)

    def test_header_too_large(self):
        a = self.refused(b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 100000 + b"\r\n\r\n", 431, 400, 413)
        self.assertIsNotNone(a, "closed without an answer")
        self.assertEqual(a.status, 431)
        self.refused(b"GET /livez HTTP/1.1\r\nHost: x\r\n" + b"X-Many: 1\r\n" * 20000 + b"\r\n", 431)

    def test_address_too_long(self):
        a = self.refused(b"GET /livez?" + b"a" * 100000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414, 431)
        self.assertIsNotNone(a, "closed without an answer")

    def test_heads_up_to_the_limits_are_answered(self):
        """However address and headers share the room, an answer comes: ours up to what is taken, and beyond."""
        for query, header, count in ((8000, 100, 1), (100, 8000, 1), (4000, 4000, 1), (6000, 6000, 1), (100, 60, 99),
                                     (3000, 60, 80), (9000, 100, 1), (100, 9000, 1), (7900, 7300, 1), (100, 20, 101)):
            with self.subTest(query=query, header=header, count=count), self.server.connect(10) as c:
                c.send(b"GET /livez?" + b"a" * query + b" HTTP/1.1\r\nHost: x\r\n" +
                       (b"X-Some: " + b"v" * (header - 6) + b"\r\n") * count + b"\r\n")
                a = c.answer()
                taken = query <= 8000 and header * count <= 8000 and count < 100 and query + (header + 80) * count < 15000
                self.assertEqual(a.status, 200 if taken else 414 if query > 8192 else 431)
                if not taken:
                    self.assertIn(a.code(), ("uri_too_long", "headers_too_large"))

    def test_body_too_large_is_refused_before_it_is_sent(self):
        with self.server.connect(10) as c:
            c.send(POST + b"Content-Length: 1000000000000\r\n\r\n" + BODY)
            a = c.answer()
            self.assertEqual((a.status, a.code()), (413, "too_large"))
        with self.server.connect(10) as c:
            c.send(POST + b"Content-Length: 1000000000000\r\nExpect: 100-continue\r\n\r\n")
            self.assertEqual(c.answer().status, 413)

    def test_chunks_beyond_the_limit(self):
        piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
        with self.server.connect(20) as c:
            c.send(POST + b"Transfer-Encoding: chunked\r\n\r\n")
            c.send(piece * 1200)
            try:
                a = c.answer()
                self.assertEqual(a.status, 413, a)
            except Dropped as drop:
                self.assertEqual(drop.received, b"")

    def test_client_gone_in_the_middle(self):
        whole = message("POST", "/v1/meshes/room/nearest", BODY)
        for cut in range(1, len(whole), 7):
            with self.server.connect() as c:
                c.send(whole[:cut])
        for _ in range(20):
            c = self.server.connect()
            c.send(whole)
            c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            c.close()

    def test_client_gone_during_long_work(self):
        queries = [{"type": "path", "start": [1, 0, 1], "end": [9, 0, 9]}] * 1000
        for _ in range(10):
            with self.server.connect() as c:
                c.send(message("POST", "/v1/meshes/room/batch", {"queries": queries}))


class Whole(ServerCase):
    """Unusual, and right."""

    files = {"room.json": meshes.room()}

    def test_byte_by_byte(self):
        c = self.connection
        for byte in POST + b"Content-Length: 17\r\n\r\n" + BODY:
            c.send(bytes([byte]))
        self.assertEqual(c.answer().json()["status"], "found")

    def test_pipelined(self):
        c = self.connection
        questions = [message("POST", "/v1/meshes/room/nearest", {"point": [i % 10, 0, 1], "id": i}) for i in range(200)]
        c.send(b"".join(questions))
        self.assertEqual([c.answer().json()["id"] for _ in range(200)], list(range(200)))

    def test_pipelined_behind_a_batch(self):
        c = self.connection
        batch = message("POST", "/v1/meshes/room/batch", {"queries": [{"type": "nearest", "point": [1, 0, 1]}] * 500})
        c.send(batch + GOOD + batch + GOOD)
        self.assertEqual([len(a.json().get("results", ())) for a in (c.answer() for _ in range(4))], [500, 0, 500, 0])

    def test_chunked(self):
        chunks = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(BODY[i:i + 3]), BODY[i:i + 3]) for i in range(0, len(BODY), 3))
        self.connection.send(POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nTrailer: x\r\n\r\n" + GOOD)
        self.assertEqual(self.connection.answer().json()["status"], "found")
        self.assertEqual(self.connection.answer().status, 200)

    def test_expect_continue(self):
        c = self.connection
        c.send(POST + b"Content-Length: 17\r\nExpect: 100-continue\r\n\r\n")
        c.socket.settimeout(5)
        self.assertTrue(c.socket.recv(100).startswith(b"HTTP/1.1 100"))
        c.send(BODY)
        self.assertEqual(c.answer().json()["status"], "found")

    def test_http_1_0(self):
        c = self.connection
        c.send(b"GET /livez HTTP/1.0\r\n\r\n")
        self.assertEqual(c.answer().status, 200)
        self.assertTrue(c.closed_within(5))

    def test_connection_close(self):
        c = self.connection
        c.send(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        self.assertEqual(c.answer().status, 200)
        self.assertTrue(c.closed_within(5))

    def test_headers_in_any_case(self):
        self.connection.send(POST.replace(b"Host", b"hOST") + b"cONTENT-lENGTH:17\r\n\r\n" + BODY)
        self.assertEqual(self.connection.answer().json()["status"], "found")

    def test_many_requests_on_one_connection(self):
        for _ in range(500):
            self.assertEqual(self.ask("GET", "/livez").status, 200)

    def test_a_header_cannot_be_put_into_the_answer(self):
        a = self.ask("GET", "/livez", headers=[("X-Request-Id", "a\tb: c")])
        self.assertTrue(re.fullmatch(r"[A-Za-z0-9._-]{1,64}", a.headers["x-request-id"]))


class Slow(ServerCase):
    """A request must be there within --request-timeout, however busily its client drips."""

    files = {"room.json": meshes.room()}
    options = ["--request-timeout", "1s"]

    def drip(self, data, pause):
        """Seconds until the server closes the connection, or answers."""
        began = time.monotonic()
        for byte in data:
            if self.connection.closed_within(pause):
                break
            self.connection.send(bytes([byte]))
            if time.monotonic() - began > 8:
                self.fail("still fed after 8 s")
        return time.monotonic() - began

    def test_headers_one_byte_at_a_time(self):
        self.assertLess(self.drip(b"GET /livez HTTP/1.1\r\nX-Slow: " + b"a" * 1000, 0.1), 4)

    def test_body_one_byte_at_a_time(self):
        self.connection.send(POST + b"Content-Length: 1000\r\n\r\n")
        self.assertLess(self.drip(b" " * 900, 0.1), 4)

    def test_silence_in_the_middle(self):
        self.connection.send(GOOD[:20])
        self.assertTrue(self.connection.closed_within(5))

    def test_idle_connections_live_longer(self):
        self.assertEqual(self.ask("GET", "/livez").status, 200)
        self.assertFalse(self.connection.closed_within(2.5))
        self.assertEqual(self.ask("GET", "/livez").status, 200)

    def test_others_are_served_meanwhile(self):
        slow = [self.server.connect() for _ in range(50)]
        for c in slow:
            c.send(GOOD[:10])
        began = time.monotonic()
        for _ in range(100):
            self.assertEqual(self.ask("GET", "/livez").status, 200)
        self.assertLess(time.monotonic() - began, 3)
        for c in slow:
            c.close()
