"""A reader of server-sent events."""
import json
import time

from .client import Connection, Dropped, message


class Event:
    def __init__(self, name, number, data):
        self.name, self.number, self.data = name, number, data

    def __repr__(self):
        return "%s %s %.300s" % (self.name, self.number, json.dumps(self.data))


class Events:
    """One stream. Reads nothing but what is asked for, so that a test can be slow."""

    def __init__(self, server, path, headers=(), timeout=30.0):
        self.connection = Connection(server.address, timeout)
        self.connection.send(message("GET", path, None, headers))
        head = self.connection._until(b"\r\n\r\n", time.monotonic() + timeout).decode("latin-1")
        self.status = int(head.split(" ", 2)[1])
        self.headers = {n.strip().lower(): v.strip() for n, _, v in (line.partition(":") for line in head.split("\r\n")[1:])}
        self.text, self.over = b"", False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.connection.close()

    def _more(self, deadline):
        size = int(self.connection._until(b"\r\n", deadline).split(b";")[0], 16)
        self.text += self.connection._exactly(size, deadline)
        self.connection._exactly(2, deadline)
        self.over = size == 0

    def next(self, seconds=20.0):
        """The next event; None at the end of the stream. Raises Dropped when the time is over, or the connection."""
        deadline = time.monotonic() + seconds
        while True:
            while b"\n\n" not in self.text and not self.over:
                self._more(deadline)
            if b"\n\n" not in self.text:
                return None
            block, self.text = self.text.split(b"\n\n", 1)
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if line and not line.startswith(":"))
            if "event" in fields:
                return Event(fields["event"], int(fields["id"]) if "id" in fields else None, json.loads(fields["data"]))

    def until(self, true, seconds=20.0):
        """The first event of which true(event) holds."""
        deadline = time.monotonic() + seconds
        while True:
            event = self.next(max(0.01, deadline - time.monotonic()))
            if event is None:
                raise Dropped(self.text, "the stream ended")
            if true(event):
                return event
