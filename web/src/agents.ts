// Agents: made at random places, sent where one clicks, moved by the server, told by server-sent events.
import { Color, Vector3 } from "three";
import { ask, complaint, meshPath } from "./api";
import type { Position, Reply, Summary } from "./api";
import type { LiveTool } from "./live";
import { withToken } from "./meshes";
import type { AgentMark } from "./scene";
import type { Answer, Stage } from "./tools";
import { facts, h, legendEntry, number, toast } from "./ui";

const COLOURS: Record<string, string> = {
  idle: "#9aa7b4", moving: "#56b4e9", arrived: "#009e73", chasing: "#e69f00", attacking: "#d55e00", stuck: "#f0e442", unreachable: "#cc79a7", off_mesh: "#555f69",
};
const MOST_PATHS = 300; // drawn as lines
const TICK_HZ = 20;

/// An agent as the events tell it.
interface Told {
  id: string;
  position: Position;
  velocity?: Position;
  yaw: number;
  state: string;
  target?: Position | null;
  path?: Position[];
}

class Agents implements LiveTool {
  readonly id = "agents";
  readonly name = "Agents";
  readonly hint = "Add agents, then click where they shall go.";
  readonly needs = "/agents/events";
  holds = false;
  height = 0;
  private stage: Stage | null = null;
  private summary: Summary | null = null;
  private told = new Map<string, Told>();
  private sizes = new Map<string, { radius: number; height: number }>();
  private source: EventSource | null = null;
  private drawing = false;
  private events = 0;
  private box = h("div", {});
  private readonly run: HTMLButtonElement = h("button", { type: "button", id: "agents-run", "aria-pressed": "false", onclick: () => void this.setRunning(this.run.getAttribute("aria-pressed") !== "true") }, "Run");

  enter(stage: Stage, summary: Summary): HTMLElement {
    this.stage = stage;
    this.summary = summary;
    this.listen();
    const count: HTMLInputElement = h("input", { type: "number", id: "agents-count", min: 1, max: 10000, value: 100 });
    void this.readSettings();
    return h("div", {},
      h("div", { class: "pair" }, h("label", { for: "agents-count", class: "grow" }, "How many"), count),
      h("div", { class: "row" },
        h("button", { type: "button", id: "agents-add", onclick: () => void this.add(Math.max(1, Math.round(count.valueAsNumber) || 1)) }, "Add"),
        h("button", { type: "button", id: "agents-scatter", onclick: () => void this.scatter() }, "Scatter"),
        h("button", { type: "button", id: "agents-remove", onclick: () => void this.change("DELETE", "?all=true") }, "Remove all")),
      h("div", { class: "row" }, this.run,
        h("button", { type: "button", id: "agents-step", onclick: () => void this.step() }, "Step")),
      this.box);
  }

  changed(): void {
    void this.readSettings();
  }

  leave(): void {
    this.source?.close();
    this.source = null;
    this.told.clear();
    this.stage?.view.clear(this.stage.view.agents);
    this.stage = null;
  }

  grab(): boolean {
    return false;
  }

  dragged(): void {
    // Nothing of this tool is dragged.
  }

  dropped(): void {
    // Nothing of this tool is dragged.
  }

  // ---- calls ----

  private path(rest = ""): string {
    return meshPath(this.summary?.id ?? "", `/agents${rest}`);
  }

  private async change(method: string, rest: string, body?: unknown): Promise<Reply> {
    const reply = await withToken(() => ask(method, this.path(rest), body));
    if (!reply.ok) toast(`agents: ${complaint(reply)}`, true);
    return reply;
  }

  private async readSettings(): Promise<void> {
    const reply = await ask("GET", this.path("/settings"));
    if (reply.ok) this.run.setAttribute("aria-pressed", String(reply.body.tick_hz > 0));
  }

  private async setRunning(on: boolean): Promise<void> {
    const reply = await this.change("PATCH", "/settings", { tick_hz: on ? TICK_HZ : 0 });
    if (reply.ok) this.run.setAttribute("aria-pressed", String(reply.body.tick_hz > 0));
  }

  private async places(count: number): Promise<Position[]> {
    const body = { count: Math.min(count, 1000), seed: Math.floor(Math.random() * 1e9) };
    const reply = await ask("POST", meshPath(this.summary?.id ?? "", "/random"), body);
    if (!reply.ok) toast(`random: ${complaint(reply)}`, true);
    return reply.body?.points ?? [];
  }

  private async add(count: number): Promise<void> {
    const agent = this.summary?.agent;
    const radius = agent?.radius || Math.min(0.5, (this.stage?.size ?? 50) / 60);
    for (let left = count; left > 0; left -= 1000) {
      const places = await this.places(left);
      if (!places.length) return;
      const reply = await this.change("POST", "", { agents: places.map((position) => ({ position, radius, height: agent?.height || 2, stopping_distance: radius })), fields: ["radius"] });
      if (!reply.ok) return;
    }
  }

  private async scatter(): Promise<void> {
    const ids = [...this.told.keys()];
    for (let first = 0; first < ids.length; first += 1000) {
      const part = ids.slice(first, first + 1000);
      const places = await this.places(part.length);
      await this.change("PATCH", "", { agents: part.slice(0, places.length).map((id, i) => ({ id, target: places[i] })), fields: ["id"] });
    }
  }

  private async step(): Promise<void> {
    if (this.run.getAttribute("aria-pressed") === "true") await this.setRunning(false);
    await this.change("POST", "/step", { dt: 1 / TICK_HZ, fields: ["id"] });
  }

  clicked(_place: Vector3, position: Position): void {
    const ids = [...this.told.keys()];
    if (!ids.length) return toast("Add agents first.");
    void this.change("PATCH", "", { agents: ids.map((id) => ({ id, target: position })), fields: ["id"] });
  }

  // ---- events ----

  private listen(): void {
    this.source?.close();
    this.told.clear();
    const source = new EventSource(this.path("/events?fields=position,velocity,yaw,state,target,path,radius,height&precision=3"));
    source.addEventListener("full", (event) => (this.told.clear(), this.take(event)));
    source.addEventListener("changes", (event) => this.take(event));
    source.addEventListener("end", (event) => {
      source.close();
      toast(`The stream of agents has ended: ${JSON.parse((event as MessageEvent).data).reason}`, true);
    });
    this.source = source;
  }

  private take(event: Event): void {
    const data: Answer = JSON.parse((event as MessageEvent).data);
    this.events++;
    for (const id of data.removed ?? []) this.told.delete(id);
    for (const agent of data.agents) {
      this.told.set(agent.id, agent);
      this.sizes.set(agent.id, { radius: agent.radius, height: agent.height });
    }
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => {
      this.drawing = false;
      this.draw();
    });
  }

  private heading(stage: Stage, yaw: number): Vector3 {
    const [sine, cosine] = [Math.sin(yaw), Math.cos(yaw)];
    return stage.frame.toScene(stage.frame.flat ? [cosine, sine] : stage.frame.zUp ? [cosine, sine, 0] : [sine, 0, cosine]);
  }

  private draw(): void {
    const { stage } = this;
    if (!stage) return;
    const marks: AgentMark[] = [];
    const paths: Vector3[] = [];
    const counts = new Map<string, number>();
    for (const agent of this.told.values()) {
      const at = stage.frame.toScene(agent.position);
      const size = this.sizes.get(agent.id) ?? { radius: 0.5, height: 2 };
      marks.push({ at, heading: this.heading(stage, agent.yaw), ...size, colour: new Color(COLOURS[agent.state] ?? COLOURS.idle) });
      counts.set(agent.state, (counts.get(agent.state) ?? 0) + 1);
      if (counts.size && marks.length <= MOST_PATHS) {
        [agent.position, ...(agent.path ?? [])].map((p) => stage.frame.toScene(p)).forEach((p, i, all) => i > 0 && paths.push(all[i - 1], p));
      }
    }
    stage.view.showAgents(marks);
    if (paths.length) stage.view.pieces(paths, "#ffffff", 0.35, stage.view.agents);
    this.box.replaceChildren(facts([["Agents", number(this.told.size)], ["Events", number(this.events)],
      ...[...counts].sort().map(([state, count]): [string, Node] => [state, h("span", { "data-state": state }, number(count))])]),
      h("ul", { class: "legend" }, ...[...counts.keys()].sort().map((state) => legendEntry(COLOURS[state] ?? COLOURS.idle, state))));
  }
}

export const AGENTS = new Agents();
