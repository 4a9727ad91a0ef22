// Elements made by hand: what little of a framework this page needs.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/// An element: attributes as named, `onclick` and the like as listeners, true as a bare attribute.
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child instanceof Node || (typeof child === "string" && child !== "")));
  return element;
}

export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

export function number(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/// Pairs of a name and a value.
export function facts(pairs: [string, Child][]): HTMLElement {
  return h("dl", { class: "facts" }, ...pairs.flatMap(([name, value]) => (value ? [h("dt", {}, name), h("dd", {}, value)] : [])));
}

export async function copy(text: string, button: HTMLButtonElement): Promise<void> {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = before), 1200);
}

/// A line that appears at the bottom for a while, read out to those who listen.
export function toast(text: string, bad = false): void {
  const line = h("div", { class: bad ? "toast bad" : "toast" }, text);
  byId("toasts").append(line);
  setTimeout(() => line.remove(), bad ? 8000 : 3500);
}

/// A colour and what it stands for.
export function legendEntry(colour: string, name: string): HTMLElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  svg.setAttribute("aria-hidden", "true");
  for (const [attribute, value] of [["width", "11"], ["height", "11"], ["rx", "2"], ["fill", colour]]) box.setAttribute(attribute, value);
  svg.append(box);
  return h("li", {}, svg, name);
}
