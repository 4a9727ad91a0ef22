"""Base class of tests that share one server."""
import unittest

from .server import Server


class ServerCase(unittest.TestCase):
    """One server for all tests of a class. Subclasses set `files`, `options`."""

    files = {}
    options = ()
    server = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.files, cls.options)
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.connection = self.server.connect()
        self.addCleanup(self.connection.close)

    def ask(self, method, path, body=None, headers=()):
        return self.connection.request(method, path, body, headers)

    def query(self, mesh, kind, **members):
        """The answer to a well-formed question."""
        a = self.ask("POST", "/v1/meshes/%s/%s" % (mesh, kind), members)
        self.assertEqual(a.status, 200, a)
        self.assertEqual(a.headers["content-type"], "application/json")
        return a.json()

    def assert_problem(self, answer, status, code):
        """A problem document with what RFC 9457 and the contract ask of it. Returns it."""
        self.assertEqual((answer.status, answer.code()), (status, code), answer)
        problem = answer.json()
        self.assertEqual(problem["status"], status)
        for member in ("type", "title", "detail"):
            self.assertTrue(problem.get(member), "no %s in %r" % (member, problem))
        return problem

    def assert_points(self, got, expected, places=5):
        self.assertEqual(len(got), len(expected), got)
        for p, q in zip(got, expected):
            self.assert_point(p, q, places)

    def assert_point(self, got, expected, places=5):
        self.assertEqual(len(got), len(expected), got)
        for a, b in zip(got, expected):
            self.assertAlmostEqual(a, b, places, "%r is not %r" % (got, expected))
