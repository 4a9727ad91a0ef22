// A mesh's geometry as buffers for drawing, and its edges told apart: walls and portals.
import { Vector3 } from "three";
import type { Geometry } from "./api";
import type { Frame } from "./frame";

export interface Surface {
  positions: Float32Array; // [x, y, z] * corners, each face's own
  indices: Uint32Array; // triangles
  faceFirst: Uint32Array; // face f has corners faceFirst[f] .. faceFirst[f + 1] - 1
  triangleFace: Uint32Array; // the face of each triangle
  walls: Float32Array; // [x, y, z, x, y, z] * edges
  portals: Float32Array;
  low: Vector3;
  high: Vector3;
  area: number; // on the ground
}

interface OpenEdge {
  a: number; // corner numbers in `points`
  b: number;
}

/// How far apart in height two edges on one line may be to be one portal.
const CLIMB = 0.6;

export function buildSurface(geometry: Geometry, frame: Frame): Surface {
  const points = new Float32Array(geometry.vertices.length * 3);
  const low = new Vector3(Infinity, Infinity, Infinity);
  const high = new Vector3(-Infinity, -Infinity, -Infinity);
  geometry.vertices.forEach((vertex, i) => {
    const p = frame.toScene(vertex);
    p.toArray(points, 3 * i);
    low.min(p);
    high.max(p);
  });
  const corners = geometry.polygons.reduce((sum, polygon) => sum + polygon.length, 0);
  const triangles = geometry.polygons.reduce((sum, polygon) => sum + Math.max(polygon.length - 2, 0), 0);
  const positions = new Float32Array(3 * corners);
  const indices = new Uint32Array(3 * triangles);
  const triangleFace = new Uint32Array(triangles);
  const faceFirst = new Uint32Array(geometry.polygons.length + 1);
  let corner = 0;
  let triangle = 0;
  let area = 0;
  geometry.polygons.forEach((polygon, face) => {
    faceFirst[face] = corner;
    polygon.forEach((vertex, i) => {
      positions.set(points.subarray(3 * vertex, 3 * vertex + 3), 3 * (corner + i));
      if (i >= 2) {
        indices.set([corner, corner + i - 1, corner + i], 3 * triangle);
        triangleFace[triangle++] = face;
        const [a, b, c] = [3 * polygon[0], 3 * polygon[i - 1], 3 * vertex];
        const cross = (points[b] - points[a]) * (points[c + 2] - points[a + 2]) - (points[b + 2] - points[a + 2]) * (points[c] - points[a]);
        area += Math.abs(cross) / 2;
      }
    });
    corner += polygon.length;
  });
  faceFirst[geometry.polygons.length] = corner;
  const { walls, portals } = partEdges(points, geometry.polygons);
  return { positions, indices, faceFirst, triangleFace, walls, portals, low, high, area };
}

/// Whole edges by their ends; what is left over is compared with others on the same line, since a long edge
/// may meet several short ones.
function partEdges(points: Float32Array, polygons: number[][]): { walls: Float32Array; portals: Float32Array } {
  const open = new Map<string, OpenEdge>();
  const portals: number[] = [];
  const push = (list: number[], a: number, b: number): void => {
    list.push(points[3 * a], points[3 * a + 1], points[3 * a + 2], points[3 * b], points[3 * b + 1], points[3 * b + 2]);
  };
  const key = (v: number): string => `${points[3 * v].toFixed(3)},${points[3 * v + 1].toFixed(3)},${points[3 * v + 2].toFixed(3)}`;
  const names = new Map<number, string>();
  const name = (v: number): string => {
    let text = names.get(v);
    if (text === undefined) names.set(v, (text = key(v)));
    return text;
  };
  for (const polygon of polygons) {
    polygon.forEach((a, i) => {
      const b = polygon[(i + 1) % polygon.length];
      const twin = `${name(b)} ${name(a)}`;
      if (open.delete(twin)) push(portals, a, b);
      else open.set(`${name(a)} ${name(b)}`, { a, b });
    });
  }
  const walls: number[] = [];
  for (const group of onOneLine(points, [...open.values()])) partLine(group, walls, portals);
  return { walls: new Float32Array(walls), portals: new Float32Array(portals) };
}

interface LineEdge {
  from: Vector3; // towards growing places on the line
  to: Vector3;
  low: number;
  high: number;
  forward: boolean;
}

/// Edges grouped by the line that they lie on, on the ground.
function onOneLine(points: Float32Array, edges: OpenEdge[]): LineEdge[][] {
  const lines = new Map<string, LineEdge[]>();
  for (const { a, b } of edges) {
    const p = new Vector3().fromArray(points, 3 * a);
    const q = new Vector3().fromArray(points, 3 * b);
    let dx = q.x - p.x;
    let dz = q.z - p.z;
    const length = Math.hypot(dx, dz);
    if (!(length > 0)) continue;
    const forward = dx > 1e-9 * length || (Math.abs(dx) <= 1e-9 * length && dz > 0);
    [dx, dz] = forward ? [dx / length, dz / length] : [-dx / length, -dz / length];
    const off = p.x * dz - p.z * dx;
    const place = (v: Vector3): number => v.x * dx + v.z * dz;
    const line = `${dx.toFixed(3)},${dz.toFixed(3)},${off.toFixed(2)}`;
    const edge = forward
      ? { from: p, to: q, low: place(p), high: place(q), forward }
      : { from: q, to: p, low: place(q), high: place(p), forward };
    const group = lines.get(line);
    if (group) group.push(edge);
    else lines.set(line, [edge]);
  }
  return [...lines.values()];
}

/// Cuts the edges of one line into what another one faces and what none does.
function partLine(group: LineEdge[], walls: number[], portals: number[]): void {
  const at = (edge: LineEdge, place: number): Vector3 =>
    edge.from.clone().lerp(edge.to, (place - edge.low) / (edge.high - edge.low));
  const add = (list: number[], edge: LineEdge, low: number, high: number): void => {
    list.push(...at(edge, low).toArray(), ...at(edge, high).toArray());
  };
  for (const edge of group) {
    let done = edge.low;
    const slack = 1e-3;
    const facing = group
      .filter((other) => other.forward !== edge.forward && other.high > edge.low + slack && other.low < edge.high - slack)
      .filter((other) => {
        const middle = (Math.max(edge.low, other.low) + Math.min(edge.high, other.high)) / 2;
        return Math.abs(at(edge, middle).y - at(other, middle).y) <= CLIMB;
      })
      .sort((a, b) => a.low - b.low);
    for (const other of facing) {
      const low = Math.max(other.low, done);
      const high = Math.min(other.high, edge.high);
      if (high <= low + slack) continue;
      if (low > done + slack) add(walls, edge, done, low);
      if (edge.forward) add(portals, edge, low, high);
      done = high;
    }
    if (edge.high > done + slack) add(walls, edge, done, edge.high);
  }
}
