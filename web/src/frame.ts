// The caller's axes <-> the drawing's: x to the right, y up, z towards the reader.
import { Vector3 } from "three";
import type { Position, Summary } from "./api";

export class Frame {
  readonly flat: boolean;
  readonly zUp: boolean;

  constructor(summary: Summary) {
    this.flat = summary.dimensions === 2;
    this.zUp = !this.flat && summary.up === "z";
  }

  toScene(p: Position): Vector3 {
    if (this.flat) return new Vector3(p[0], 0, -p[1]);
    return this.zUp ? new Vector3(p[0], p[2], -p[1]) : new Vector3(p[0], p[1], p[2]);
  }

  fromScene(v: Vector3): Position {
    const short = (n: number): number => Number(n.toFixed(4));
    if (this.flat) return [short(v.x), short(-v.z)];
    return this.zUp ? [short(v.x), short(-v.z), short(v.y)] : [short(v.x), short(v.y), short(v.z)];
  }

  /// Half extents in the caller's axes: so much on the ground plane, so much in height.
  extents(ground: number, height: number): number[] {
    if (this.flat) return [ground, ground];
    return this.zUp ? [ground, ground, height] : [ground, height, ground];
  }
}
