// The panel on the right: the chosen tool's controls, and the answer to what it asked.
import { asCurl, complaint } from "./api";
import type { Reply } from "./api";
import { byId, copy, facts, h, number } from "./ui";

/// One question as it was sent.
export interface Asked {
  method: string;
  path: string;
  body?: unknown;
}

function statusLine(status: string, tone: string, reply: Reply): HTMLElement {
  return h("p", { class: "status" }, h("strong", { class: tone, "data-status": status }, status),
    h("span", {}, `${number(reply.ms, 1)} ms`));
}

function actions(asked: Asked, permalink: () => string): HTMLElement {
  const curl = h("button", { type: "button", onclick: () => void copy(asCurl(asked.method, asked.path, asked.body), curl) }, "Copy as curl");
  const link = h("button", { type: "button", onclick: () => void copy(permalink(), link) }, "Copy link");
  return h("div", { class: "row" }, curl, link);
}

function opened(title: string, value: unknown): HTMLElement {
  const box = h("details", {}, h("summary", {}, title));
  box.addEventListener("toggle", () => {
    // Written when looked at: an answer may be long.
    if (box.open && box.childElementCount === 1) box.append(h("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 1)));
  });
  return box;
}

export function showAnswer(asked: Asked, reply: Reply, pairs: [string, string][], good: string[], permalink: () => string): void {
  const box = byId("answer");
  const status: string = reply.ok ? (reply.body?.status ?? "done") : reply.status ? String(reply.body?.code ?? reply.status) : "no connection";
  const tone = !reply.ok ? "bad" : good.includes(status) ? "good" : "part";
  box.replaceChildren(...[
    h("h2", {}, "Answer"),
    statusLine(status, tone, reply),
    !reply.ok && h("p", { class: "problem" }, complaint(reply)),
    facts(pairs.concat(reply.ok && reply.body?.revision ? [["Revision", String(reply.body.revision)]] : [])),
    actions(asked, permalink),
    opened("Shell", asCurl(asked.method, asked.path, asked.body)),
    opened("Request", asked.body ?? asked.path),
    opened("Response", reply.body),
  ].filter((part): part is HTMLElement => part instanceof HTMLElement));
}

export function clearAnswer(): void {
  byId("answer").replaceChildren();
}
