// Obstacles, doors and links: put on the living mesh, listed, moved and taken away again.
import { Vector3 } from "three";
import { ask, complaint, meshPath } from "./api";
import type { Position, Reply, Summary } from "./api";
import { ACCENT, END, START } from "./colours";
import type { LiveTool } from "./live";
import { withToken } from "./meshes";
import type { View } from "./scene";
import type { Answer, Stage } from "./tools";
import { h, toast } from "./ui";

const GRAB_PIXELS = 22;

/// A collection of changes of one kind: reading it, drawing it, and the list with its buttons.
abstract class Changes implements LiveTool {
  abstract readonly id: string;
  abstract readonly name: string;
  abstract readonly hint: string;
  abstract readonly needs: string;
  holds = false;
  height = 0;
  protected stage: Stage | null = null;
  protected summary: Summary | null = null;
  protected items: Answer[] = [];
  private readonly list = h("ul", { class: "items" });

  enter(stage: Stage, summary: Summary): HTMLElement {
    this.stage = stage;
    this.summary = summary;
    void this.read();
    return h("div", {}, this.controls(), this.list);
  }

  changed(): void {
    void this.read();
  }

  leave(): void {
    this.items = [];
    this.stage = null;
  }

  abstract clicked(place: Vector3, position: Position): void;
  protected abstract controls(): HTMLElement;
  protected abstract drawItem(stage: Stage, item: Answer): void;

  /// What is drawn beside the items: places clicked so far.
  protected drawMore(_stage: Stage): void {}

  protected describe(item: Answer): string {
    return item.id;
  }

  protected buttons(_item: Answer): HTMLElement[] {
    return [];
  }

  grab(_event: PointerEvent, _view: View): boolean {
    return false;
  }

  dragged(_place: Vector3, _position: Position): void {}

  dropped(): void {
    this.holds = false;
  }

  // ---- calls ----

  protected path(id = ""): string {
    return meshPath(this.summary?.id ?? "", `/${this.needs.slice(1)}${id ? `/${encodeURIComponent(id)}` : ""}`);
  }

  protected async change(method: string, id: string, body?: unknown): Promise<Reply> {
    const reply = await withToken(() => ask(method, this.path(id), body));
    if (!reply.ok) toast(complaint(reply), true);
    await this.read();
    return reply;
  }

  private async read(): Promise<void> {
    const { stage } = this;
    const reply = await ask("GET", this.path());
    if (stage !== this.stage || !stage) return;
    if (!reply.ok) return toast(complaint(reply), true);
    this.items = reply.body[this.needs.slice(1)] ?? [];
    this.draw();
  }

  protected draw(): void {
    const { stage } = this;
    if (!stage) return;
    stage.view.clear();
    for (const item of this.items) this.drawItem(stage, item);
    this.drawMore(stage);
    this.list.replaceChildren(...this.items.map((item) => h("li", { "data-item": item.id }, h("span", {}, this.describe(item)), ...this.buttons(item),
      h("button", { type: "button", class: "quiet", "aria-label": `Remove ${item.id}`, onclick: () => void this.change("DELETE", item.id) }, "Remove"))));
  }

  /// A ground place as a corner of an outline: the two ground coordinates in the caller's axes.
  protected corner(position: Position): number[] {
    return this.stage?.frame.flat || this.stage?.frame.zUp ? [position[0], position[1]] : [position[0], position[2]];
  }

  protected fromCorner(corner: number[], height: number): Vector3 {
    const frame = this.stage?.frame;
    if (!frame) return new Vector3();
    return frame.toScene(frame.flat ? corner : frame.zUp ? [corner[0], corner[1], height] : [corner[0], height, corner[1]]);
  }

  protected up(position: Position): number {
    const frame = this.stage?.frame;
    return frame?.flat ? 0 : position[frame?.zUp ? 2 : 1];
  }
}

function circle(centre: Vector3, radius: number): Vector3[] {
  return Array.from({ length: 24 }, (_, i) => new Vector3(centre.x + radius * Math.cos((i * Math.PI) / 12), centre.y, centre.z + radius * Math.sin((i * Math.PI) / 12)));
}

class Obstacles extends Changes {
  readonly id = "obstacle";
  readonly name = "Obstacles";
  readonly hint = "Click to put an obstacle down; drag one to move it.";
  readonly needs = "/obstacles";
  private shape = "cylinder";
  private size = 1;
  private held: Answer = null;
  private moved: Position | null = null;

  protected controls(): HTMLElement {
    const shape = h("select", { id: "obstacle-shape", onchange: () => (this.shape = shape.value) }, h("option", { value: "cylinder" }, "Cylinder"), h("option", { value: "box" }, "Box"));
    shape.value = this.shape;
    this.size = Number(((this.stage?.size ?? 20) / 20).toPrecision(2));
    const size: HTMLInputElement = h("input", { type: "number", id: "obstacle-size", min: 0.01, step: "any", value: this.size, oninput: () => (this.size = size.valueAsNumber > 0 ? size.valueAsNumber : this.size) });
    return h("div", {},
      h("div", { class: "pair" }, h("label", { for: "obstacle-shape", class: "grow" }, "Shape"), shape),
      h("div", { class: "pair" }, h("label", { for: "obstacle-size", class: "grow" }, "Radius, half width"), size));
  }

  clicked(_place: Vector3, center: Position): void {
    const height = this.summary?.agent?.height || 2;
    const extents = this.stage?.frame.extents(this.size, height / 2);
    void this.change("POST", "", this.shape === "box" ? { shape: "box", center, half_extents: extents, yaw: 0 } : { shape: "cylinder", center, radius: this.size, height });
  }

  protected drawItem(stage: Stage, item: Answer): void {
    const colour = item === this.held ? ACCENT : END;
    if (item.shape === "prism") {
      const outline = item.points.map((corner: number[]) => this.fromCorner(corner, item.min ?? 0));
      return stage.view.prism(outline, (item.max ?? 2) - (item.min ?? 0), colour);
    }
    const centre = stage.frame.toScene(item === this.held && this.moved ? this.moved : item.center);
    if (item.shape === "cylinder") return stage.view.prism(circle(centre, item.radius), item.height || 0.1, colour);
    const half = stage.frame.toScene(item.half_extents);
    const [sine, cosine] = [Math.sin(item.yaw ?? 0), Math.cos(item.yaw ?? 0)];
    const ends = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, z]) => {
      const [dx, dz] = [x * Math.abs(half.x), z * Math.abs(half.z)];
      return new Vector3(centre.x + cosine * dx + sine * dz, centre.y - Math.abs(half.y), centre.z - sine * dx + cosine * dz);
    });
    stage.view.prism(ends, 2 * Math.abs(half.y) || 0.1, colour);
  }

  protected describe(item: Answer): string {
    return `${item.id}: ${item.shape}${item.touches === false ? ", touches nothing" : ""}`;
  }

  override grab(event: PointerEvent, view: View): boolean {
    const { stage } = this;
    this.held = stage && this.items.find((item) => {
      if (!item.center) return false;
      const at = view.toPage(stage.frame.toScene(item.center));
      return Math.hypot(at.x - event.clientX, at.y - event.clientY) <= GRAB_PIXELS;
    });
    this.moved = null;
    this.holds = Boolean(this.held);
    if (this.held && stage) this.height = stage.frame.toScene(this.held.center).y;
    return this.holds;
  }

  override dragged(_place: Vector3, position: Position): void {
    this.moved = position;
    this.draw();
  }

  override dropped(): void {
    const { held, moved } = this;
    this.holds = false;
    this.held = null;
    if (!held || !moved) return;
    const body = Object.fromEntries(["shape", "radius", "height", "half_extents", "yaw"].flatMap((key) => (key in held ? [[key, held[key]]] : [])));
    void this.change("PUT", held.id, { ...body, center: moved });
  }
}

class Doors extends Changes {
  readonly id = "door";
  readonly name = "Doors";
  readonly hint = "Click the corners of an area, then close it as a door.";
  readonly needs = "/regions";
  private corners: Position[] = [];

  protected controls(): HTMLElement {
    return h("div", { class: "row" },
      h("button", { type: "button", id: "door-make", onclick: () => this.make() }, "Make a door"),
      h("button", { type: "button", class: "quiet", onclick: () => ((this.corners = []), this.draw()) }, "Clear"));
  }

  private make(): void {
    if (this.corners.length < 3) return toast("A door needs three corners at least.");
    const heights = this.corners.map((p) => this.up(p));
    const climb = this.summary?.agent?.climb || 0.5;
    const body = { points: this.corners.map((p) => this.corner(p)), min: Math.min(...heights) - climb, max: Math.max(...heights) + climb, blocked: true };
    this.corners = [];
    const id = `door-${Date.now().toString(36)}`;
    void this.change("PUT", id, body);
  }

  clicked(_place: Vector3, position: Position): void {
    this.corners.push(position);
    this.draw();
  }

  protected drawItem(stage: Stage, item: Answer): void {
    const outline = item.points.map((corner: number[]) => this.fromCorner(corner, item.min ?? 0));
    const rise = Math.min((item.max ?? 1) - (item.min ?? 0), stage.size);
    if (item.blocked) stage.view.prism(outline, rise, END);
    else stage.view.ring(outline.map((p: Vector3) => p.clone().setY(p.y + rise / 2)), START);
  }

  protected override drawMore(stage: Stage): void {
    const places = this.corners.map((p) => stage.frame.toScene(p));
    for (const place of places) stage.view.dot(place, ACCENT, 12);
    if (places.length > 1) stage.view.path(places, ACCENT, 2);
  }

  protected override describe(item: Answer): string {
    return `${item.id}: ${item.blocked ? "shut" : item.area !== undefined ? `area ${item.area}` : "open"}`;
  }

  protected override buttons(item: Answer): HTMLElement[] {
    const body = Object.fromEntries(["points", "min", "max", "area", "flags"].flatMap((key) => (item[key] !== undefined && item[key] !== null ? [[key, item[key]]] : [])));
    return [h("button", { type: "button", class: "quiet", onclick: () => void this.change("PUT", item.id, { ...body, blocked: !item.blocked }) }, item.blocked ? "Open" : "Shut")];
  }
}

class Links extends Changes {
  readonly id = "link";
  readonly name = "Links";
  readonly hint = "Click where a link begins, then where it ends.";
  readonly needs = "/links";
  private begin: Position | null = null;
  private both = true;

  protected controls(): HTMLElement {
    const both = h("input", { type: "checkbox", id: "link-both", onchange: () => (this.both = both.checked) });
    both.checked = this.both;
    return h("label", { class: "check", for: "link-both" }, both, "Both ways");
  }

  clicked(_place: Vector3, position: Position): void {
    if (!this.begin) {
      this.begin = position;
      return this.draw();
    }
    const body = { start: this.begin, end: position, bidirectional: this.both };
    this.begin = null;
    void this.change("PUT", `link-${Date.now().toString(36)}`, body);
  }

  protected drawItem(stage: Stage, item: Answer): void {
    const [from, to] = [stage.frame.toScene(item.start), stage.frame.toScene(item.end)];
    stage.view.arc(from, to, item.enabled === false ? "#7b8894" : ACCENT);
    stage.view.dot(from, START, 10);
    stage.view.dot(to, item.bidirectional ? START : END, 10);
  }

  protected override drawMore(stage: Stage): void {
    if (this.begin) stage.view.dot(stage.frame.toScene(this.begin), START, 14);
  }

  protected override describe(item: Answer): string {
    return `${item.id}${item.bidirectional ? "" : ", one way"}${item.enabled === false ? ", off" : ""}`;
  }

  protected override buttons(item: Answer): HTMLElement[] {
    return [h("button", { type: "button", class: "quiet", onclick: () => void this.change("PUT", item.id, { enabled: item.enabled === false }) }, item.enabled === false ? "Turn on" : "Turn off")];
  }
}

export const CHANGES: LiveTool[] = [new Obstacles(), new Doors(), new Links()];
