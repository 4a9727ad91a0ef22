// The list of meshes: what serves, what failed and why; uploading.
import { ask, complaint, meshPath, setToken } from "./api";
import type { Reply, Summary } from "./api";
import { byId, h, number, toast } from "./ui";

const POLL_MS = 1500;

export class MeshList {
  meshes: Summary[] = [];
  private chosen = "";
  private shown = "";
  private failures = 0;

  constructor(private readonly onChoose: (id: string) => void, private readonly onList: (list: Summary[]) => void) {
    const file = byId<HTMLInputElement>("file");
    file.addEventListener("change", () => {
      if (file.files?.[0]) void this.upload(file.files[0]);
      file.value = "";
    });
    byId("upload").addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") file.click();
    });
    this.takeDrops();
  }

  start(): void {
    const turn = async (): Promise<void> => {
      if (!document.hidden || !this.shown) await this.poll();
      setTimeout(turn, POLL_MS);
    };
    void turn();
  }

  choose(id: string): void {
    this.chosen = id;
    this.shown = "";
    this.render();
  }

  async poll(): Promise<void> {
    const reply = await ask("GET", "/v1/meshes");
    const connection = byId("connection");
    if (!reply.ok) {
      this.failures++;
      connection.className = "connection down";
      connection.textContent = reply.status ? complaint(reply) : "connection lost, trying again";
      if (this.failures === 1 && !this.meshes.length) byId("meshes").replaceChildren(h("li", { class: "empty" }, complaint(reply)));
      return;
    }
    this.failures = 0;
    connection.className = "connection up";
    connection.textContent = "connected";
    this.meshes = reply.body.meshes;
    this.render();
    this.onList(this.meshes);
  }

  private render(): void {
    const state = JSON.stringify([this.meshes.map((m) => [m.id, m.state, m.revision, m.last_error]), this.chosen]);
    if (state === this.shown) return;
    this.shown = state;
    const rows = this.meshes.map((mesh) =>
      h("li", {}, h("button", { type: "button", "aria-current": mesh.id === this.chosen ? "true" : undefined, "data-mesh": mesh.id, title: mesh.revision ? `revision ${mesh.revision}` : undefined, onclick: () => this.onChoose(mesh.id) },
        h("span", { class: "name" }, mesh.id),
        h("span", { class: "about" }, mesh.revision
          ? `${number(mesh.polygons ?? 0)} polygons · ${number(mesh.islands ?? 0)} island${mesh.islands === 1 ? "" : "s"} · ${mesh.format}`
          : mesh.state),
        mesh.last_error && h("span", { class: "error" }, mesh.last_error.detail))));
    byId("meshes").replaceChildren(...(rows.length ? rows : [h("li", { class: "empty" }, "None yet: put a file into the mesh folder, or upload one.")]));
  }

  // ---- uploading ----

  private takeDrops(): void {
    const cover = byId("drop");
    let depth = 0;
    const show = (by: number): void => {
      depth = Math.max(0, depth + by);
      cover.hidden = depth === 0;
    };
    addEventListener("dragenter", (event) => (event.preventDefault(), show(1)));
    addEventListener("dragleave", () => show(-1));
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      show(-depth);
      const file = event.dataTransfer?.files[0];
      if (file) void this.upload(file);
    });
  }

  /// Uploads a file under its name without the ending, as far as that is an id.
  async upload(file: File): Promise<void> {
    const id = file.name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9._-]/g, "-").replace(/^\.+/, "").slice(0, 64) || "upload";
    byId("connection").textContent = `uploading ${file.name} …`;
    const reply = await withToken(() => ask("PUT", meshPath(id), file));
    if (!reply.ok) {
      toast(`${file.name}: ${complaint(reply)}`, true);
    } else {
      toast(`${id}: ${number(reply.body.polygons)} polygons, revision ${reply.body.revision}`);
    }
    await this.poll();
    if (reply.ok) this.onChoose(id);
  }
}

/// Does what changes the server; where it wants a token, asks for one and tries once more.
export async function withToken(change: () => Promise<Reply>): Promise<Reply> {
  const reply = await change();
  if (reply.status !== 401) return reply;
  return (await askForToken()) ? change() : reply;
}

function askForToken(): Promise<boolean> {
  const dialog = byId<HTMLDialogElement>("dialog");
  const field = h("input", { type: "password", id: "token", autocomplete: "off" });
  return new Promise((resolve) => {
    const end = (given: boolean): void => {
      if (given) setToken(field.value);
      dialog.close();
      resolve(given);
    };
    dialog.replaceChildren(
      h("h2", {}, "This server wants a token for changes"),
      h("div", { class: "field" }, h("label", { for: "token" }, "Bearer token; kept in this page only"), field),
      h("div", { class: "row" },
        h("button", { type: "button", onclick: () => end(true) }, "Use it"),
        h("button", { type: "button", class: "quiet", onclick: () => end(false) }, "Cancel")));
    dialog.oncancel = () => resolve(false);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") end(true);
    });
    dialog.showModal();
    field.focus();
  });
}

