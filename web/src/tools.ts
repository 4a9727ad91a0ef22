// The questions that can be asked by clicking: what each needs, asks, and draws of the answer.
import { Vector3 } from "three";
import type { Geometry, Position } from "./api";
import { ACCENT, END, PATH, START, kind, scale } from "./colours";
import type { Frame } from "./frame";
import { h, number } from "./ui";
import type { View } from "./scene";

export interface Stage {
  view: View;
  frame: Frame;
  geometry: Geometry;
  facesOf: (polygon: number) => number[];
  /// Half the diagonal of the mesh: lengths that a tool starts with are shares of it.
  size: number;
}

export interface Parameter {
  key: string;
  label: string;
  type: "number" | "check";
  value: number | boolean | ((stage: Stage) => number);
  min?: number;
  /// Shown as a slider up to so much.
  most?: (stage: Stage) => number;
}

export type Values = Record<string, number | boolean>;
// What an answer holds is checked by the server's own tests; here it is only drawn.
export type Answer = any;

export interface QueryTool {
  id: string;
  name: string;
  hint: string;
  points: { name: string; colour: string; label: string }[];
  parameters: Parameter[];
  body: (points: Position[], values: Values) => Record<string, unknown>;
  draw: (stage: Stage, answer: Answer, points: Position[]) => void;
  facts: (answer: Answer) => [string, string][];
  good: string[]; // statuses that are a full answer
}

const START_POINT = { name: "start", colour: START, label: "A" };
const END_POINT = { name: "end", colour: END, label: "B" };
const ONE_POINT = { name: "point", colour: START, label: "" };

function at(stage: Stage, position: Position): Vector3 {
  return stage.frame.toScene(position);
}

function line(stage: Stage, positions: Position[], colour: string, width = 3): void {
  stage.view.path(positions.map((p) => at(stage, p)), colour, width);
}

function linkList(answer: Answer): string {
  return (answer.links ?? []).map((link: Answer) => `${link.id}${link.kind ? ` (${link.kind})` : ""}`).join(", ");
}

function drawPath(stage: Stage, answer: Answer): void {
  const points: Position[] = answer.points ?? [];
  if (answer.polygons) {
    stage.view.faces((answer.polygons as number[]).flatMap(stage.facesOf), () => kind(1), 0.3);
  }
  if (answer.explain) drawSearch(stage, answer.explain.expanded);
  const links = new Set<number>((answer.links ?? []).map((link: Answer) => link.at));
  let run: Position[] = points.slice(0, 1);
  for (let i = 0; i + 1 < points.length; i++) {
    if (links.has(i)) {
      line(stage, run, PATH, 4);
      stage.view.arc(at(stage, points[i]), at(stage, points[i + 1]), ACCENT);
      run = [points[i + 1]];
    } else {
      run.push(points[i + 1]);
    }
  }
  line(stage, run, PATH, 4);
  if (points.length <= 200) for (const p of points.slice(1, -1)) stage.view.dot(at(stage, p), PATH, 7);
  if (answer.status === "partial" && points.length) {
    stage.view.pieces([at(stage, points[points.length - 1]), at(stage, answer.end.point)], END, 0.9);
  }
}

/// The intervals that the search expanded, early ones dark, late ones light, each with its root's view of it.
function drawSearch(stage: Stage, expanded: Answer[]): void {
  const shades = 8;
  for (let shade = 0; shade < shades; shade++) {
    const part = expanded.slice(Math.floor((expanded.length * shade) / shades), Math.floor((expanded.length * (shade + 1)) / shades));
    const colour = `#${scale((shade + 1) / shades).getHexString()}`;
    stage.view.pieces(part.flatMap((node) => [at(stage, node.left), at(stage, node.right)]), colour, 0.95);
    stage.view.pieces(part.flatMap((node) => [node.left, node.right].flatMap((p: Position) => [at(stage, node.root), at(stage, p)])), colour, 0.16);
  }
}

export const QUERY_TOOLS: QueryTool[] = [
  {
    id: "path",
    name: "Path",
    hint: "Click the start, then the end. Drag either.",
    points: [START_POINT, END_POINT],
    parameters: [
      { key: "partial", label: "Partial paths", type: "check", value: true },
      { key: "corridor", label: "Corridor", type: "check", value: false },
      { key: "surface", label: "Points at every edge", type: "check", value: false },
      { key: "explain", label: "Why this path (nodes shown)", type: "number", value: 0, min: 0, most: () => 2000 },
    ],
    body: ([start, end], values) => ({
      start,
      end,
      ...(values.partial === false ? { partial: false } : {}),
      ...(values.corridor ? { corridor: true } : {}),
      ...(values.surface ? { surface: true } : {}),
      ...(values.explain ? { explain: values.explain } : {}),
    }),
    draw: drawPath,
    facts: (answer) => [
      ["Length", answer.length === undefined ? "" : number(answer.length)],
      ["Cost", answer.cost === undefined ? "" : number(answer.cost)],
      ["Points", answer.points ? number(answer.points.length) : ""],
      ["Links ridden", linkList(answer)],
      ["Left to the end", answer.remaining ? number(answer.remaining) : ""],
      ["Nodes expanded", answer.explain ? number(answer.explain.nodes) : ""],
    ],
    good: ["complete"],
  },
  {
    id: "nearest",
    name: "Nearest",
    hint: "Click a place, drag it off the mesh: the surface it snaps to is shown.",
    points: [ONE_POINT],
    parameters: [{ key: "count", label: "Surfaces", type: "number", value: 1, min: 1, most: () => 8 }],
    body: ([point], values) => ({ point, ...(Number(values.count) > 1 ? { count: values.count } : {}) }),
    draw: (stage, answer, [point]) => {
      for (const result of answer.results ?? (answer.point ? [answer] : [])) {
        stage.view.faces(stage.facesOf(result.polygon), () => kind(1), 0.5);
        line(stage, [point, result.point], ACCENT, 2);
        stage.view.dot(at(stage, result.point), ACCENT, 12);
      }
    },
    facts: (answer) => {
      const one = answer.results?.[0] ?? answer;
      return [
        ["Distance", one.distance === undefined ? "" : number(one.distance)],
        ["Polygon", one.polygon === undefined ? "" : String(one.polygon)],
        ["Area", one.area === undefined ? "" : String(one.area)],
        ["On the mesh", one.on_mesh === undefined ? "" : one.on_mesh ? "yes" : "no"],
        ["Surfaces", answer.results ? String(answer.results.length) : ""],
      ];
    },
    good: ["found"],
  },
  {
    id: "raycast",
    name: "Raycast",
    hint: "Click where the ray begins, then where it should go.",
    points: [START_POINT, END_POINT],
    parameters: [{ key: "corridor", label: "Corridor", type: "check", value: false }],
    body: ([start, end], values) => ({ start, end, ...(values.corridor ? { corridor: true } : {}) }),
    draw: (stage, answer, [start, end]) => {
      if (answer.polygons) stage.view.faces((answer.polygons as number[]).flatMap(stage.facesOf), () => kind(1), 0.3);
      if (!answer.point) return;
      line(stage, [start, answer.point], PATH, 4);
      if (answer.status === "blocked") {
        stage.view.pieces([at(stage, answer.point), at(stage, end)], END, 0.7);
        stage.view.dot(at(stage, answer.point), END, 10);
      }
    },
    facts: (answer) => [
      ["Distance", answer.distance === undefined ? "" : number(answer.distance)],
      ["t", answer.t === undefined ? "" : number(answer.t, 6)],
    ],
    good: ["clear"],
  },
  {
    id: "move",
    name: "Move",
    hint: "Click where a step begins, then where it wants to go: it slides along walls.",
    points: [START_POINT, END_POINT],
    parameters: [],
    body: ([start, end]) => ({ start, end }),
    draw: (stage, answer, [start, end]) => {
      if (!answer.point) return;
      stage.view.pieces([at(stage, start), at(stage, end)], END, 0.7);
      line(stage, [start, answer.point], PATH, 4);
      stage.view.dot(at(stage, answer.point), ACCENT, 12);
    },
    facts: (answer) => [
      ["Met a wall", answer.hit === undefined ? "" : answer.hit ? "yes" : "no"],
      ["Polygon", answer.polygon === undefined ? "" : String(answer.polygon)],
    ],
    good: ["moved"],
  },
  {
    id: "wall",
    name: "Wall",
    hint: "Click a place: the nearest boundary is shown.",
    points: [ONE_POINT],
    parameters: [{ key: "max_distance", label: "No further than", type: "number", value: (s) => s.size, min: 0, most: (s) => 2 * s.size }],
    body: ([point], values) => ({ point, max_distance: values.max_distance }),
    draw: (stage, answer, [point]) => {
      if (!answer.point) return;
      line(stage, [point, answer.point], ACCENT, 3);
      stage.view.dot(at(stage, answer.point), ACCENT, 12);
    },
    facts: (answer) => [["Distance", answer.distance === undefined ? "" : number(answer.distance)]],
    good: ["found"],
  },
  {
    id: "reachable",
    name: "Reachable",
    hint: "Click a place: all that can be walked to within a cost.",
    points: [ONE_POINT],
    parameters: [{ key: "max_cost", label: "Cost at most", type: "number", value: (s) => s.size * 0.4, min: 0, most: (s) => 3 * s.size }],
    body: ([point], values) => ({ point, max_cost: values.max_cost }),
    draw: (stage, answer, _points) => {
      const costs = new Map<number, number>();
      let most = 1e-9;
      for (const { polygon, cost } of answer.polygons ?? []) {
        most = Math.max(most, cost);
        for (const face of stage.facesOf(polygon)) costs.set(face, cost);
      }
      stage.view.faces(costs.keys(), (face) => scale(1 - (costs.get(face) ?? 0) / most), 0.45);
      for (const ring of answer.outline ?? []) stage.view.ring(ring.map((p: Position) => at(stage, p)), ACCENT);
    },
    facts: (answer) => [
      ["Area", answer.area === undefined ? "" : number(answer.area)],
      ["Polygons", answer.polygons ? number(answer.polygons.length) : ""],
    ],
    good: ["found"],
  },
  {
    id: "random",
    name: "Random",
    hint: "Click a place: points that can be walked to from it, spread evenly by area.",
    points: [ONE_POINT],
    parameters: [
      { key: "count", label: "Points", type: "number", value: 100, min: 1, most: () => 1000 },
      { key: "radius", label: "Within", type: "number", value: (s) => s.size * 0.3, min: 0, most: (s) => 2 * s.size },
      { key: "seed", label: "Seed", type: "number", value: 1, min: 0 },
    ],
    body: ([point], values) => ({ count: values.count, seed: values.seed, around: { point, radius: values.radius } }),
    draw: (stage, answer) => {
      for (const p of (answer.points ?? []).slice(0, 1000)) stage.view.dot(at(stage, p), ACCENT, 7);
    },
    facts: (answer) => [["Points", answer.points ? number(answer.points.length) : ""]],
    good: ["found"],
  },
];

/// Picking asks with the pointer's ray instead of points.
export const PICK = {
  id: "pick",
  name: "Pick",
  hint: "Click anywhere: the server casts the ray of the pointer into the mesh.",
  draw(stage: Stage, answer: Answer): void {
    if (answer.status !== "hit") return;
    const place = at(stage, answer.point);
    const normal = at(stage, answer.normal);
    stage.view.faces(stage.facesOf(answer.polygon), () => kind(1), 0.5);
    stage.view.path([place, place.clone().addScaledVector(normal, stage.size * 0.08)], ACCENT, 3);
    stage.view.dot(place, ACCENT, 12);
  },
  facts(answer: Answer): [string, string][] {
    if (answer.status !== "hit") return [];
    return [["Distance", number(answer.distance)], ["Polygon", String(answer.polygon)], ["Seen from below", answer.back ? "yes" : "no"]];
  },
};

/// A parameter's control: a check box, or a number with a slider beside it.
export function parameterControl(parameter: Parameter, stage: Stage, values: Values, changed: () => void): HTMLElement {
  const id = `parameter-${parameter.key}`;
  if (parameter.type === "check") {
    const box = h("input", { type: "checkbox", id, onchange: () => ((values[parameter.key] = box.checked), changed()) });
    box.checked = Boolean(values[parameter.key]);
    return h("label", { class: "check", for: id }, box, parameter.label);
  }
  const most = parameter.most?.(stage);
  const whole = parameter.key === "count" || parameter.key === "seed" || parameter.key === "explain";
  const set = (value: number, from: HTMLInputElement): void => {
    if (!Number.isFinite(value)) return;
    values[parameter.key] = whole ? Math.round(value) : value;
    for (const input of [field, slider]) if (input && input !== from) input.value = String(Number(value.toPrecision(4)));
    changed();
  };
  const field: HTMLInputElement = h("input", {
    type: "number", id, min: parameter.min, step: whole ? 1 : "any", value: Number(Number(values[parameter.key]).toPrecision(4)),
    oninput: () => set(field.valueAsNumber, field),
  });
  const slider: HTMLInputElement | null = most === undefined ? null : h("input", {
    type: "range", min: parameter.min ?? 0, max: most, step: whole ? 1 : most / 200, value: Number(values[parameter.key]), "aria-label": parameter.label,
    oninput: () => set(slider!.valueAsNumber, slider!),
  });
  return h("div", { class: "field" }, h("label", { for: id }, parameter.label), h("div", { class: "pair" }, slider, field));
}

export function firstValues(tool: QueryTool, stage: Stage): Values {
  return Object.fromEntries(tool.parameters.map((p) => [p.key, typeof p.value === "function" ? Number(p.value(stage).toPrecision(3)) : p.value]));
}
