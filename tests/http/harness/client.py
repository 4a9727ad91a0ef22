"""An HTTP/1.1 client on a bare socket, so that tests see every byte and decide when to send it."""
import collections
import json
import os
import select
import socket
import threading
import time


class Dropped(Exception):
    """The connection ended before the answer was whole. `received`: the bytes that did come."""

    def __init__(self, received, why="closed"):
        super().__init__("%s after %d bytes: %r" % (why, len(received), received[:80]))
        self.received = received


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body, parse_constant=_refuse)

    def code(self):
        """The `code` of a problem document; None for any other answer."""
        if self.headers.get("content-type") != "application/problem+json":
            return None
        return self.json().get("code")

    def __repr__(self):
        return "%d %r" % (self.status, self.body[:400])


def _refuse(word):
    raise ValueError(word + " is not JSON")


def message(method, path, body=None, headers=()):
    """The bytes of a request. `body`: bytes, or anything that json.dumps takes."""
    if body is not None and not isinstance(body, (bytes, bytearray)):
        body = json.dumps(body).encode()
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: navd.test"] + ["%s: %s" % h for h in headers]
    if body is not None:
        lines.append("Content-Length: %d" % len(body))
    return "\r\n".join(lines + ["", ""]).encode() + (body or b"")


class Recorder:
    """Writes exchanges for tests/openapi to the file that TEST_RECORD names: some of each kind, without the
    bodies that are very long."""

    EACH, LONGEST = 300, 200000

    def __init__(self, path):
        self.path, self.lock, self.counts = path, threading.Lock(), collections.Counter()

    def add(self, method, target, sent, answer):
        kind = (method, target.split("?")[0], answer.status)
        with self.lock:
            self.counts[kind] += 1
            if not self.path or self.counts[kind] > self.EACH:
                return
            entry = {"method": method, "target": target, "status": answer.status}
            if "content-type" in answer.headers:
                entry["type"] = answer.headers["content-type"]
            if sent is not None and len(sent) <= self.LONGEST:
                entry["sent"] = sent.decode("utf-8", "replace")
            if 0 < len(answer.body) <= self.LONGEST and "content-encoding" not in answer.headers:
                entry["body"] = answer.body.decode("utf-8", "replace")
            with open(self.path, "a") as f:
                f.write(json.dumps(entry) + "\n")


RECORDER = Recorder(os.environ.get("TEST_RECORD"))


class Connection:
    """One keep-alive connection. Not for several threads at once."""

    def __init__(self, address, timeout=30.0):
        """`address`: (host, port), or the path of a unix socket."""
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        if family == socket.AF_INET:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timeout = timeout
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        """Sends all it can: a server may answer and close before it has read everything."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def request(self, method, path, body=None, headers=()):
        data = message(method, path, body, headers)
        self.send(data)
        answer = self.answer(method)
        RECORDER.add(method, path, data.split(b"\r\n\r\n", 1)[1] if body is not None else None, answer)
        return answer

    def answer(self, method="GET"):
        """Reads the next whole answer; raises Dropped."""
        deadline = time.monotonic() + self.timeout
        while True:
            head = self._until(b"\r\n\r\n", deadline)
            first, *lines = head.decode("latin-1").split("\r\n")
            status = int(first.split(" ", 2)[1])
            if status != 100:
                break
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        if method == "HEAD" or status in (204, 304):
            body = b""
        elif headers.get("transfer-encoding") == "chunked":
            body = self._chunks(deadline)
        else:
            body = self._exactly(int(headers["content-length"]), deadline)
        return Answer(status, headers, body)

    def closed_within(self, seconds):
        """Does the server close the connection in that time, without a further byte?"""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _more(self, deadline):
        self.socket.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            data = self.socket.recv(262144)
        except (ConnectionResetError, TimeoutError) as error:
            raise Dropped(self.rest, str(error)) from None
        if not data:
            raise Dropped(self.rest)
        self.rest += data

    def _until(self, mark, deadline):
        while mark not in self.rest:
            self._more(deadline)
        found, self.rest = self.rest.split(mark, 1)
        return found

    def _exactly(self, count, deadline):
        while len(self.rest) < count:
            self._more(deadline)
        found, self.rest = self.rest[:count], self.rest[count:]
        return found

    def _chunks(self, deadline):
        body = b""
        while True:
            size = int(self._until(b"\r\n", deadline).split(b";")[0], 16)
            body += self._exactly(size, deadline)
            self._exactly(2, deadline)
            if size == 0:
                return body
