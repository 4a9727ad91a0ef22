// The page: which mesh is shown, which tool is in hand, what was asked, and what the pointer does.
import { Vector3 } from "three";
import { AGENTS } from "./agents";
import { ask, complaint, meshPath } from "./api";
import type { Geometry, Position, Summary } from "./api";
import { CHANGES } from "./changes";
import { css, kind, scale, scattered } from "./colours";
import { commonBody, commonControls, readCommon } from "./common";
import type { Common } from "./common";
import { Frame } from "./frame";
import { buildSurface } from "./geometry";
import type { Surface } from "./geometry";
import type { LiveTool } from "./live";
import { MeshList } from "./meshes";
import { read, write } from "./permalink";
import type { Saved } from "./permalink";
import { clearAnswer, showAnswer } from "./question";
import { showReport } from "./report";
import { View } from "./scene";
import { PICK, QUERY_TOOLS, firstValues, parameterControl } from "./tools";
import type { QueryTool, Stage, Values } from "./tools";
import { byId, h, legendEntry, number, toast } from "./ui";

const LIVE_TOOLS: LiveTool[] = [AGENTS, ...CHANGES];
const CLICK_PIXELS = 5;
const GRAB_PIXELS = 16;

type AnyTool = QueryTool | typeof PICK | LiveTool;

class Viewer {
  readonly view = new View(byId("canvas"));
  private readonly list = new MeshList((id) => void this.open(id), (meshes) => void this.seen(meshes));
  private saved: Saved = read(location.hash);
  private summary: Summary | null = null;
  private stage: Stage | null = null;
  private surface: Surface | null = null;
  private opening = "";
  private tool: AnyTool = QUERY_TOOLS[0];
  private points: Position[] = [];
  private values: Values = {};
  private common: Common = {};
  private colouring = "area";
  private clip: number | null = null;
  private tools: AnyTool[] = [...QUERY_TOOLS, PICK];
  private busy = false;
  private again = false;
  private held = -1; // the point that is being dragged

  async start(): Promise<void> {
    const document_ = await ask("GET", "/openapi.json");
    const paths = Object.keys(document_.body?.paths ?? {});
    this.tools.push(...LIVE_TOOLS.filter((tool) => paths.some((path) => path.endsWith(tool.needs))));
    this.tool = this.tools.find((tool) => tool.id === this.saved.tool) ?? QUERY_TOOLS[0];
    this.showTools();
    this.listen();
    this.list.start();
    this.view.onDraw = () => {
      byId("frame-time").textContent = this.surface ? `${number(this.surface.triangleFace.length, 0)} triangles · ${number(this.view.frameMs, 1)} ms a frame` : "";
    };
  }

  // ---- which mesh ----

  private async seen(meshes: Summary[]): Promise<void> {
    const wanted = this.saved.mesh || this.summary?.id || meshes.find((mesh) => mesh.revision)?.id;
    const mesh = meshes.find((each) => each.id === wanted);
    this.notice(meshes.length ? "" : "No mesh is served yet. Drop a mesh file onto this page.");
    if (this.summary && !meshes.some((each) => each.id === this.summary?.id)) return this.close(`${this.summary.id} is gone`);
    if (!mesh) {
      if (this.saved.mesh) toast(`there is no mesh ${this.saved.mesh}`, true);
      this.saved.mesh = "";
    } else if (!this.summary || mesh.revision !== this.summary.revision) {
      if (mesh.revision) await this.open(mesh.id);
    }
  }

  private close(why: string): void {
    toast(why, true);
    this.leaveTool();
    this.summary = this.stage = this.surface = null;
    this.view.setSurface(null);
    this.view.clear();
    byId("report").replaceChildren();
    clearAnswer();
  }

  /// Shows a mesh, or its newest revision.
  private async open(id: string): Promise<void> {
    if (this.opening === id) return;
    this.opening = id;
    const again = this.summary?.id === id;
    const summary = this.list.meshes.find((mesh) => mesh.id === id);
    if (!again) this.notice(`Reading ${id} …`);
    const reply = await ask("GET", meshPath(id, "/geometry"));
    if (this.opening !== id) return;
    this.opening = "";
    this.notice("");
    if (!reply.ok || !summary?.revision) {
      this.saved.mesh = "";
      toast(`${id}: ${summary?.last_error?.detail ?? complaint(reply)}`, true);
      return;
    }
    this.show(summary, reply.body, again);
    if (again) toast(`${id}: revision ${reply.body.revision}`);
  }

  private show(summary: Summary, geometry: Geometry, again: boolean): void {
    const frame = new Frame(summary);
    const surface = buildSurface(geometry, frame);
    const facesOf = new Map<number, number[]>();
    geometry.numbers.forEach((polygon, face) => facesOf.set(polygon, [...(facesOf.get(polygon) ?? []), face]));
    if (!again) this.leaveTool();
    this.summary = summary;
    this.surface = surface;
    this.stage = { view: this.view, frame, geometry, facesOf: (polygon) => facesOf.get(polygon) ?? [], size: Math.max(surface.high.distanceTo(surface.low) / 2, 1e-3) };
    this.view.setSurface(surface);
    this.list.choose(summary.id);
    if (!again) this.arrive();
    this.setClip(this.clip, false);
    this.paint();
    document.title = `${summary.id} – navd`;
    void showReport(this.stage, summary.id);
    this.enterTool(again);
  }

  /// First sight of a mesh: the link's view if it is the link's mesh.
  private arrive(): void {
    this.points = [];
    this.common = {};
    this.clip = null;
    this.view.home();
    if (!this.summary || !this.stage) return;
    if (this.saved.mesh === this.summary.id) {
      this.points = this.saved.points.filter((p) => p.length === this.summary?.dimensions);
      this.common = readCommon(this.saved.common, this.summary);
      this.colouring = this.saved.colouring;
      this.clip = this.saved.clip;
      if (this.saved.camera.length) this.view.setCameraState(this.saved.camera);
      this.togglePlan(this.view.isPlan);
    }
    byId<HTMLSelectElement>("colouring").value = this.colouring;
  }

  private notice(text: string): void {
    const box = byId("notice");
    box.textContent = text;
    box.hidden = !text;
  }

  // ---- how it looks ----

  private paint(): void {
    if (!this.stage || !this.summary || !this.surface) return;
    const { geometry } = this.stage;
    const { low, high, positions, faceFirst } = this.surface;
    const rise = Math.max(high.y - low.y, 1e-6);
    const height = (face: number): number => {
      let sum = 0;
      for (let corner = faceFirst[face]; corner < faceFirst[face + 1]; corner++) sum += positions[3 * corner + 1];
      return (sum / (faceFirst[face + 1] - faceFirst[face]) - low.y) / rise;
    };
    const colour = {
      area: (face: number) => kind(geometry.areas[face]),
      island: (face: number) => kind(geometry.islands[face]),
      height: (face: number) => scale(height(face)),
      polygon: (face: number) => scattered(geometry.numbers[face]),
    }[this.colouring] ?? ((face: number) => kind(geometry.areas[face]));
    this.view.paint(colour);
    this.legend();
  }

  private legend(): void {
    const entries: [string, string][] = [];
    if (this.colouring === "area") {
      const used = new Set(this.stage?.geometry.areas);
      const names = new Map(Object.entries(this.summary?.areas ?? {}).map(([name, area]) => [area.id, name]));
      for (const area of [...used].sort((a, b) => a - b).slice(0, 12)) entries.push([css(kind(area)), names.get(area) ?? `area ${area}`]);
    } else if (this.colouring === "height" && this.surface) {
      entries.push([css(scale(0)), number(this.surface.low.y, 1)], [css(scale(0.5)), number((this.surface.low.y + this.surface.high.y) / 2, 1)], [css(scale(1)), number(this.surface.high.y, 1)]);
    }
    byId("legend").replaceChildren(...entries.map(([colour, name]) => legendEntry(colour, name)));
  }

  private setClip(height: number | null, remember = true): void {
    if (!this.surface) return;
    this.clip = height;
    const { low, high } = this.surface;
    const share = height === null ? 1 : (height - low.y) / Math.max(high.y - low.y, 1e-6);
    byId<HTMLInputElement>("clip").value = String(Math.round(1000 * share));
    byId("clip-value").textContent = height === null ? "all shown" : number(height, 2);
    this.view.setClip(height === null ? Infinity : height + 1e-3 * (high.y - low.y));
    if (remember) this.remember();
  }

  private togglePlan(plan: boolean): void {
    this.view.setPlan(plan);
    byId("plan").setAttribute("aria-pressed", String(plan));
    this.draw();
    this.remember();
  }

  // ---- the link ----

  private get link(): string {
    const first = "parameters" in this.tool && this.stage ? firstValues(this.tool, this.stage) : {};
    const values = Object.fromEntries(Object.entries(this.values).filter(([key, value]) => key in first && first[key] !== value));
    return write({
      mesh: this.summary?.id ?? "", tool: this.tool.id, points: this.points, values,
      common: commonBodyFlat(this.common), colouring: this.colouring, clip: this.clip, camera: this.view.cameraState(),
    });
  }

  private remember(): void {
    if (this.summary) history.replaceState(null, "", this.link);
  }

  // ---- tools ----

  private showTools(): void {
    byId("tools").replaceChildren(...this.tools.map((tool, i) =>
      h("button", { type: "button", "data-tool": tool.id, "aria-pressed": String(tool === this.tool), title: i < 9 ? `${tool.name} (${i + 1})` : tool.name,
        onclick: () => this.choose(tool) }, tool.name)));
  }

  private choose(tool: AnyTool): void {
    if (tool === this.tool) return;
    this.leaveTool();
    const keep = "points" in tool && "points" in this.tool ? this.points.slice(0, tool.points.length) : [];
    this.tool = tool;
    this.points = keep;
    this.saved.tool = "";
    this.showTools();
    if (this.stage) this.enterTool(false);
  }

  private leaveTool(): void {
    if ("leave" in this.tool) this.tool.leave();
    this.view.clear();
    clearAnswer();
  }

  private enterTool(again: boolean): void {
    const { tool, stage, summary } = this;
    if (!stage || !summary) return;
    byId("hint").textContent = tool.hint;
    const panel = byId("question");
    const changed = (): void => void this.ask();
    if ("enter" in tool) {
      if (again) tool.changed();
      else panel.replaceChildren(h("h2", {}, tool.name), tool.enter(stage, summary));
      this.remember();
      return;
    }
    if (!again && "parameters" in tool) {
      this.values = firstValues(tool, stage);
      if (this.saved.mesh === summary.id && this.saved.tool === tool.id) {
        for (const [key, value] of Object.entries(this.saved.values)) if (typeof value === typeof this.values[key]) this.values[key] = value;
      }
      this.saved.mesh = "";
    }
    if (!again) {
      panel.replaceChildren(h("h2", {}, tool.name),
        ...("parameters" in tool ? tool.parameters.map((p) => parameterControl(p, stage, this.values, changed)) : []),
        commonControls(summary, this.common, changed));
    }
    this.draw();
    void this.ask();
  }

  // ---- asking ----

  /// Asks as soon as the question before is answered: while a point is dragged only the newest counts.
  private async ask(): Promise<void> {
    const { tool, stage, summary } = this;
    if (!stage || !summary || !("points" in tool) || this.points.length < tool.points.length) {
      this.draw();
      return;
    }
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    const points = this.points.slice();
    const asked = { method: "POST", path: meshPath(summary.id, `/${tool.id}`), body: { ...tool.body(points, this.values), ...commonBody(this.common) } };
    const reply = await ask(asked.method, asked.path, asked.body);
    this.busy = false;
    if (tool !== this.tool || stage !== this.stage) return void this.ask();
    this.view.clear();
    if (reply.ok) tool.draw(stage, reply.body, points);
    this.drawPoints();
    showAnswer(asked, reply, reply.ok ? tool.facts(reply.body) : [], tool.good, () => location.origin + location.pathname + this.link);
    this.remember();
    if (this.again) {
      this.again = false;
      void this.ask();
    }
  }

  private async pick(clientX: number, clientY: number): Promise<void> {
    const { stage, summary } = this;
    if (!stage || !summary) return;
    const { origin, direction } = this.view.spaceRay(clientX, clientY);
    const asked = { method: "POST", path: meshPath(summary.id, "/pick"), body: { origin: stage.frame.fromScene(origin), direction: stage.frame.fromScene(direction), ...commonBody(this.common) } };
    const reply = await ask(asked.method, asked.path, asked.body);
    this.view.clear();
    if (reply.ok) PICK.draw(stage, reply.body);
    showAnswer(asked, reply, reply.ok ? PICK.facts(reply.body) : [], ["hit"], () => location.origin + location.pathname + this.link);
  }

  private draw(): void {
    if ("enter" in this.tool) return;
    if (!("points" in this.tool) || this.points.length < this.tool.points.length) this.view.clear();
    this.drawPoints();
  }

  private drawPoints(): void {
    const { tool, stage } = this;
    if (!stage || !("points" in tool)) return;
    this.points.forEach((p, i) => this.view.dot(stage.frame.toScene(p), tool.points[i].colour, 20, tool.points[i].label));
  }

  // ---- the pointer and the keys ----

  private place(event: PointerEvent, height: number): Vector3 | null {
    return this.view.hit(event.clientX, event.clientY)?.point ?? this.view.onPlane(event.clientX, event.clientY, height);
  }

  private grabbed(event: PointerEvent): number {
    const { stage } = this;
    if (!stage || !("points" in this.tool)) return -1;
    return this.points.findIndex((p) => {
      const at = this.view.toPage(stage.frame.toScene(p));
      return Math.hypot(at.x - event.clientX, at.y - event.clientY) <= GRAB_PIXELS;
    });
  }

  private clicked(event: PointerEvent): void {
    const { stage, tool } = this;
    if (!stage) return;
    if (tool === PICK) return void this.pick(event.clientX, event.clientY);
    const height = this.points.length ? stage.frame.toScene(this.points[this.points.length - 1]).y : (this.surface?.low.y ?? 0);
    const place = this.place(event, height);
    if (!place) return;
    if ("enter" in tool) return tool.clicked(place, stage.frame.fromScene(place));
    if (!("points" in tool)) return;
    if (this.points.length === tool.points.length) {
      this.points = [];
      clearAnswer();
    }
    this.points.push(stage.frame.fromScene(place));
    this.draw();
    void this.ask();
  }

  private listen(): void {
    const canvas = this.view.renderer.domElement;
    let down: PointerEvent | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      down = event;
      this.held = this.grabbed(event);
      const held = "enter" in this.tool ? this.tool.grab(event, this.view) : this.held >= 0;
      if (held) {
        this.view.dragging = true;
        canvas.setPointerCapture(event.pointerId);
      }
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      const { stage } = this;
      if (!down || !stage) return;
      if ("enter" in this.tool) {
        const place = this.tool.holds ? this.place(event, this.tool.height) : null;
        if (place) this.tool.dragged(place, stage.frame.fromScene(place));
      } else if (this.held >= 0) {
        const place = this.place(event, stage.frame.toScene(this.points[this.held]).y);
        if (!place) return;
        this.points[this.held] = stage.frame.fromScene(place);
        void this.ask();
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      const from = down;
      const held = this.held >= 0 || ("enter" in this.tool && this.tool.holds);
      down = null;
      this.held = -1;
      this.view.dragging = false;
      if (!from) return;
      const still = Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) <= CLICK_PIXELS;
      if ("enter" in this.tool && this.tool.holds) this.tool.dropped();
      else if (still && !held) this.clicked(event);
      this.remember();
    });
    canvas.addEventListener("pointercancel", () => {
      down = null;
      this.held = -1;
      this.view.dragging = false;
    });
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.notice("The graphics context was lost; reload the page.");
    });
    byId<HTMLSelectElement>("colouring").addEventListener("change", (event) => {
      this.colouring = (event.target as HTMLSelectElement).value;
      this.paint();
      this.remember();
    });
    byId<HTMLInputElement>("clip").addEventListener("input", (event) => {
      const share = Number((event.target as HTMLInputElement).value) / 1000;
      if (this.surface) this.setClip(share >= 1 ? null : this.surface.low.y + share * (this.surface.high.y - this.surface.low.y));
    });
    for (const name of ["walls", "portals"] as const) {
      byId<HTMLInputElement>(`show-${name}`).addEventListener("change", (event) => this.view.setVisible(name, (event.target as HTMLInputElement).checked));
    }
    byId("plan").addEventListener("click", () => this.togglePlan(!this.view.isPlan));
    byId("home").addEventListener("click", () => (this.view.home(), this.draw(), this.remember()));
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => {
      this.saved = read(location.hash);
      const tool = this.tools.find((each) => each.id === this.saved.tool);
      if (tool) this.tool = tool;
      this.showTools();
      this.summary = null;
      if (this.saved.mesh) void this.open(this.saved.mesh);
    });
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    const tool = this.tools[Number(event.key) - 1];
    if (tool) this.choose(tool);
    else if (event.key === "v") this.togglePlan(!this.view.isPlan);
    else if (event.key === "h") this.view.home();
    else if (event.key === "Escape") {
      this.points = [];
      clearAnswer();
      this.draw();
      this.remember();
    }
  }
}

/// Common members as a link keeps them: the filter's beside the others.
function commonBodyFlat(common: Common): Record<string, unknown> {
  return Object.fromEntries(Object.entries(common).filter(([, value]) =>
    value !== undefined && value !== "nearest" && !(Array.isArray(value) && !value.length) && !(typeof value === "object" && !Object.keys(value).length)));
}

const viewer = new Viewer();
// For the browser's console, and for the tests.
Object.assign(globalThis, { navd: viewer });
void viewer.start().catch((error: unknown) => toast(`the page failed: ${String(error)}`, true));
