// What loading found and repaired, as a list that leads to the places.
import { Color } from "three";
import { ask, meshPath } from "./api";
import type { Position, Report } from "./api";
import { ACCENT, END } from "./colours";
import type { Stage } from "./tools";
import { byId, facts, h, number } from "./ui";

const MOST = 40; // places listed of one kind

function places(title: string, stage: Stage, list: { at: Position; text: string; mark: () => void }[], total: number): HTMLElement | null {
  if (!list.length) return null;
  return h("details", {}, h("summary", {}, `${title}: ${number(total)}`),
    h("ul", { class: "findings" }, ...list.slice(0, MOST).map(({ at, text, mark }) =>
      h("li", {}, h("button", { type: "button", class: "quiet", onclick: () => (mark(), stage.view.flyTo(stage.frame.toScene(at))) }, text)))));
}

const text = (p: Position): string => p.map((n) => Number(n.toFixed(2))).join(", ");

/// A place on each island, for flying there.
function islandPlaces(stage: Stage): Map<number, Position> {
  const found = new Map<number, Position>();
  const { islands, polygons, vertices } = stage.geometry;
  islands.forEach((island, face) => {
    if (!found.has(island) && polygons[face].length) found.set(island, vertices[polygons[face][0]]);
  });
  return found;
}

export async function showReport(stage: Stage, id: string): Promise<void> {
  const box = byId("report");
  const reply = await ask("GET", meshPath(id, "/report"));
  if (!reply.ok) {
    box.replaceChildren(h("p", { class: "hint" }, "no report"));
    return;
  }
  const report: Report = reply.body;
  const dot = (at: Position) => () => stage.view.dot(stage.frame.toScene(at), END, 16);
  const onIsland = islandPlaces(stage);
  const counts: [string, string][] = [
    ["Welded vertices", number(report.welded_vertices)],
    ["Degenerate polygons", number(report.degenerate_polygons)],
    ["Duplicates", number(report.duplicate_polygons)],
  ];
  box.replaceChildren(...[
    facts(counts),
    ...report.warnings.map((warning) => h("p", { class: "problem" }, warning)),
    places("T-junctions", stage, report.t_junctions.map((at) => ({ at, text: text(at), mark: dot(at) })), report.totals.t_junctions),
    places("Non-manifold edges", stage, report.non_manifold_edges.map(([a, b]) => ({
      at: a, text: `${text(a)} – ${text(b)}`, mark: () => stage.view.path([a, b].map((p) => stage.frame.toScene(p)), END, 5),
    })), report.totals.non_manifold_edges),
    places("Overlaps", stage, report.overlaps.map(({ polygons, point }) => ({
      at: point, text: `polygons ${polygons[0]} and ${polygons[1]}`, mark: () => stage.view.faces(polygons.flatMap(stage.facesOf), () => new Color(END), 0.6),
    })), report.totals.overlaps),
    places("Islands", stage, report.islands.filter(({ id: island }) => onIsland.has(island)).map(({ id: island, polygons, area }) => ({
      at: onIsland.get(island) ?? [], text: `${island}: ${number(polygons)} polygons, ${number(area, 1)} area`,
      mark: () => {
        const faces = stage.geometry.islands.flatMap((of, face) => (of === island ? [face] : []));
        stage.view.faces(faces, () => new Color(ACCENT), 0.4);
      },
    })), report.totals.islands),
    report.dropped_links.length > 0 && h("details", {}, h("summary", {}, `Dropped links: ${number(report.totals.dropped_links)}`),
      h("ul", { class: "findings" }, ...report.dropped_links.slice(0, MOST).map(({ id: link, reason }) => h("li", {}, `${link}: ${reason}`)))),
  ].filter((part): part is HTMLElement => part instanceof HTMLElement));
}
