// The members that all queries share: snapping, floors, filters, the size of who asks.
import type { Summary } from "./api";
import { h } from "./ui";

export interface Common {
  snap?: number;
  floor?: string;
  radius?: number;
  include?: string[];
  exclude?: string[];
  costs?: Record<string, number>;
}

/// The members for a question's body; what is at its default is left out.
export function commonBody(common: Common): Record<string, unknown> {
  const filter: Record<string, unknown> = {};
  if (common.include?.length) filter.include = common.include;
  if (common.exclude?.length) filter.exclude = common.exclude;
  if (common.costs && Object.keys(common.costs).length) filter.costs = common.costs;
  return {
    ...(common.snap === undefined ? {} : { snap: common.snap }),
    ...(common.floor && common.floor !== "nearest" ? { floor: common.floor } : {}),
    ...(common.radius ? { radius: common.radius } : {}),
    ...(Object.keys(filter).length ? { filter } : {}),
  };
}

/// What a link holds as common members, with everything that does not fit left out.
export function readCommon(from: Record<string, unknown>, summary: Summary): Common {
  const flags = Object.keys(summary.flags ?? {});
  const names = (value: unknown): string[] => (Array.isArray(value) ? value.filter((name): name is string => flags.includes(name)) : []);
  const size = (value: unknown): number | undefined => (typeof value === "number" && value >= 0 ? value : undefined);
  const costs = from.costs && typeof from.costs === "object" ? Object.entries(from.costs) : [];
  return {
    snap: size(from.snap),
    floor: ["below", "above"].includes(String(from.floor)) ? String(from.floor) : undefined,
    radius: size(from.radius),
    include: names(from.include),
    exclude: names(from.exclude),
    costs: Object.fromEntries(costs.filter(([name, cost]) => name in (summary.areas ?? {}) && typeof cost === "number" && cost > 0)),
  };
}

function numberField(label: string, value: number | undefined, placeholder: string, set: (value: number | undefined) => void): HTMLElement {
  const id = `common-${label.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  const field: HTMLInputElement = h("input", {
    type: "number", id, min: 0, step: "any", placeholder, value,
    oninput: () => set(Number.isFinite(field.valueAsNumber) && field.valueAsNumber >= 0 ? field.valueAsNumber : undefined),
  });
  return h("div", { class: "pair" }, h("label", { for: id, class: "grow" }, label), field);
}

/// A flag: no matter, needed, or closed.
function flagField(name: string, common: Common, changed: () => void): HTMLElement {
  const id = `flag-${name}`;
  const select: HTMLSelectElement = h("select", {
    id,
    onchange: () => {
      common.include = (common.include ?? []).filter((n) => n !== name);
      common.exclude = (common.exclude ?? []).filter((n) => n !== name);
      if (select.value === "include") common.include.push(name);
      if (select.value === "exclude") common.exclude.push(name);
      changed();
    },
  }, h("option", { value: "" }, "any"), h("option", { value: "include" }, "one of these"), h("option", { value: "exclude" }, "none of these"));
  select.value = common.include?.includes(name) ? "include" : common.exclude?.includes(name) ? "exclude" : "";
  return h("div", { class: "pair" }, h("label", { for: id, class: "grow" }, `Flag ${name}`), select);
}

export function commonControls(summary: Summary, common: Common, changed: () => void): HTMLElement {
  const floor = h("select", { id: "common-floor", onchange: () => ((common.floor = floor.value), changed()) },
    ...["nearest", "below", "above"].map((name) => h("option", { value: name }, name)));
  floor.value = common.floor ?? "nearest";
  const areas = Object.entries(summary.areas ?? {});
  const flags = Object.keys(summary.flags ?? {});
  return h("details", { open: Object.keys(commonBody(common)).length > 0 },
    h("summary", {}, "Snap, floor, radius, filter"),
    numberField("Snap", common.snap, "mesh’s", (value) => ((common.snap = value), changed())),
    h("div", { class: "pair" }, h("label", { for: "common-floor", class: "grow" }, "Floor"), floor),
    numberField("Radius", common.radius, String(Number((summary.agent?.radius ?? 0).toFixed(3))), (value) => ((common.radius = value), changed())),
    ...flags.map((name) => flagField(name, common, changed)),
    ...areas.map(([name, area]) =>
      numberField(`Cost of ${name}`, common.costs?.[name], String(area.cost), (value) => {
        common.costs = { ...common.costs };
        if (value) common.costs[name] = value;
        else delete common.costs[name];
        changed();
      })),
  );
}
