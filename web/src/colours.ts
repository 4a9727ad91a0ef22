// Colours that stay apart for readers with colour vision deficiencies: Okabe and Ito's set for kinds
// (jfly.uni-koeln.de/color), a dark-to-light scale after viridis for heights.
import { Color } from "three";

const KINDS = ["#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#0072b2", "#9a9a9a"].map((c) => new Color(c));
const SCALE = ["#440154", "#46337e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#9fda3a", "#fde725"].map((c) => new Color(c));

export const PATH = "#ffffff";
export const START = "#2bd576";
export const END = "#ff5a4f";
export const ACCENT = "#ffb000";

/// A colour for a number that names a kind; more than eight repeat, darker each time.
export function kind(n: number): Color {
  const round = Math.floor(n / KINDS.length) % 3;
  return KINDS[n % KINDS.length].clone().multiplyScalar(1 - 0.25 * round);
}

/// A colour for a share between 0 and 1.
export function scale(t: number): Color {
  const at = Math.min(Math.max(t, 0), 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  return SCALE[low].clone().lerp(SCALE[low + 1], at - low);
}

/// Neighbouring numbers get colours far apart.
export function scattered(n: number): Color {
  return new Color().setHSL(0.52 + 0.12 * (((n * 0.6180339887) % 1) - 0.5), 0.35, 0.38 + 0.3 * ((n * 0.7548776662) % 1));
}

export function css(colour: Color): string {
  return `#${colour.getHexString()}`;
}
