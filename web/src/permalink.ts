// The view as the page's address: what is shown, asked and looked at, so that a link brings it back.

export interface Saved {
  mesh: string;
  tool: string;
  points: number[][];
  values: Record<string, number | boolean>;
  common: Record<string, unknown>;
  colouring: string;
  clip: number | null;
  camera: number[];
}

export function write(saved: Saved): string {
  const out = new URLSearchParams();
  out.set("mesh", saved.mesh);
  out.set("tool", saved.tool);
  if (saved.points.length) out.set("points", saved.points.map((p) => p.join(",")).join(";"));
  if (Object.keys(saved.values).length) out.set("values", JSON.stringify(saved.values));
  if (Object.keys(saved.common).length) out.set("common", JSON.stringify(saved.common));
  if (saved.colouring !== "area") out.set("colour", saved.colouring);
  if (saved.clip !== null) out.set("clip", String(Number(saved.clip.toFixed(3))));
  if (saved.camera.length) out.set("camera", saved.camera.join(","));
  return `#${out}`;
}

function record(text: string | null): Record<string, never> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return value && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, never>) : {};
  } catch {
    return {};
  }
}

const numbers = (text: string): number[] => text.split(",").map(Number);

/// What a link says; what it does not say, or says wrongly, is left at its default.
export function read(hash: string): Saved {
  const from = new URLSearchParams(hash.replace(/^#/, ""));
  const points = (from.get("points") ?? "").split(";").filter(Boolean).map(numbers);
  const clip = Number(from.get("clip") ?? NaN);
  return {
    mesh: from.get("mesh") ?? "",
    tool: from.get("tool") ?? "path",
    points: points.filter((p) => (p.length === 2 || p.length === 3) && p.every(Number.isFinite)),
    values: record(from.get("values")),
    common: record(from.get("common")),
    colouring: from.get("colour") ?? "area",
    clip: Number.isFinite(clip) ? clip : null,
    camera: from.get("camera") ? numbers(from.get("camera") ?? "") : [],
  };
}
