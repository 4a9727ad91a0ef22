"""Small meshes whose answers can be worked out by hand, and larger ones that keep a server busy."""
import json
import math
import random


def polygons(vertices, faces, **more):
    return json.dumps(dict(vertices=vertices, polygons=faces, **more)).encode()


def rectangles(boxes, y=0.0):
    """Each box (x0, z0, x1, z1) as one polygon with vertices of its own: joining them is the server's work."""
    vertices, faces = [], []
    for x0, z0, x1, z1 in boxes:
        n = len(vertices)
        vertices += [[x0, y, z0], [x0, y, z1], [x1, y, z1], [x1, y, z0]]
        faces.append([n, n + 1, n + 2, n + 3])
    return vertices, faces


def room():
    """One square, 10 by 10."""
    return polygons(*rectangles([(0, 0, 10, 10)]))


def bend(depth=6.0, strips=1):
    """Two rooms, left (x 0..4) and right (x 6..10), joined by a passage at the far side, z `depth`..10.

    From (1, 0, 1) to (9, 0, 1) the way leads round (4, 0, depth) and (6, 0, depth). `strips` cuts the
    passage into that many polygons, which changes the summary and not the way.
    """
    passage = [(4 + 2 * i / strips, depth, 4 + 2 * (i + 1) / strips, 10) for i in range(strips)]
    return polygons(*rectangles([(0, 0, 4, 10), *passage, (6, 0, 10, 10)]))


BEND_START, BEND_END = [1, 0, 1], [9, 0, 1]


def bend_length(depth):
    return 2 * math.hypot(3, depth - 1) + 2


def islands():
    """Two squares with a gap of 2 between them."""
    return polygons(*rectangles([(0, 0, 4, 4), (6, 0, 10, 4)]))


def floors():
    """A floor 10 by 10 at height 0 and one 4 wide at height 3 above it, not joined."""
    lower, below = rectangles([(0, 0, 10, 10)])
    upper, above = rectangles([(0, 0, 4, 10)], 3.0)
    return polygons(lower + upper, below + [[i + 4 for i in f] for f in above])


def maze(side, blocked=0.3, seed=1):
    """side * side unit cells, some of them missing: long ways with many corners."""
    rng = random.Random(seed)
    vertices = [[x, 0, z] for z in range(side + 1) for x in range(side + 1)]
    faces = []
    for z in range(side):
        for x in range(side):
            if rng.random() >= blocked:
                n = z * (side + 1) + x
                faces.append([n, n + side + 1, n + side + 2, n + 1])
    return polygons(vertices, faces)


def zigzag(doors):
    """A corridor of rooms 2 long whose doors lie left and right in turn: two corners at each wall."""
    boxes = []
    for i in range(doors):
        side = 0 if i % 2 else 9
        boxes += [(3 * i, 0, 3 * i + 2, 10), (3 * i + 2, side, 3 * i + 3, side + 1)]
    boxes.append((3 * doors, 0, 3 * doors + 2, 10))
    return polygons(*rectangles(boxes))


def showcase():
    """Something of everything: `bend` with mud in its passage, a ledge beyond a jump, a floor above the left room.

    Polygons 0 left, 1 passage (area 1, flag 2), 2 right, 3 ledge (x 12..14), 4 upper floor (height 3).
    """
    ground, faces = rectangles([(0, 0, 4, 10), (4, 6, 6, 10), (6, 0, 10, 10), (12, 0, 14, 4)])
    upper, above = rectangles([(0, 0, 4, 4)], 3.0)
    return polygons(ground + upper, faces + [[i + len(ground) for i in f] for f in above], areas=[0, 1, 0, 0, 0],
                    flags=[1, 2, 1, 1, 1], links=[{"id": "jump", "start": [9.5, 0, 2], "end": [12.5, 0, 2], "kind": "jump"}])


SHOWCASE_SIDECAR = json.dumps({"areas": {"ground": {"id": 0}, "mud": {"id": 1}}, "flags": {"walk": 0, "swim": 1},
                               "filters": {"dry": {"exclude": ["swim"]}, "slow": {"costs": {"mud": 3}}}}).encode()
