// Tools that change what lives on a mesh.
import type { Vector3 } from "three";
import type { Position, Summary } from "./api";
import type { View } from "./scene";
import type { Stage } from "./tools";

export interface LiveTool {
  id: string;
  name: string;
  hint: string;
  /// The end of the path in the API's description that the tool needs.
  needs: string;
  /// Something is being dragged, at that height.
  holds: boolean;
  height: number;
  enter(stage: Stage, summary: Summary): HTMLElement;
  /// The mesh has a new revision.
  changed(): void;
  leave(): void;
  clicked(place: Vector3, position: Position): void;
  grab(event: PointerEvent, view: View): boolean;
  dragged(place: Vector3, position: Position): void;
  dropped(): void;
}
