// The server's calls, typed as far as the viewer reads them.

export type Position = number[];

export interface Bounds {
  min: Position;
  max: Position;
}

export interface Summary {
  id: string;
  state: "ready" | "loading" | "failed";
  last_error: { code: string; detail: string; at: string } | null;
  // The rest is there once a revision serves.
  revision?: number;
  format?: string;
  dimensions?: 2 | 3;
  up?: "y" | "z";
  polygons?: number;
  vertices?: number;
  links?: number;
  islands?: number;
  bounds?: Bounds;
  agent?: { radius: number; height: number; climb: number; slope: number };
  areas?: Record<string, { id: number; cost: number }>;
  flags?: Record<string, number>;
  filters?: string[];
  memory_bytes?: number;
  load_ms?: number;
  loaded_at?: string;
  source?: string;
}

export interface Geometry {
  vertices: Position[];
  polygons: number[][];
  numbers: number[];
  areas: number[];
  flags: number[];
  islands: number[];
  revision: number;
}

export interface Report {
  welded_vertices: number;
  degenerate_polygons: number;
  duplicate_polygons: number;
  t_junctions: Position[];
  non_manifold_edges: [Position, Position][];
  overlaps: { polygons: [number, number]; point: Position }[];
  dropped_links: { id: string; reason: string }[];
  islands: { id: number; polygons: number; area: number }[];
  warnings: string[];
  totals: Record<string, number>;
}

/// An answer of the server, whatever its status.
export interface Reply {
  ok: boolean;
  status: number;
  ms: number;
  body: any;
}

let token = "";

export function setToken(text: string): void {
  token = text.trim();
}


/// What a reply that is no answer complains of, in one line.
export function complaint(reply: Reply): string {
  const body = reply.body;
  if (body && typeof body === "object") {
    const where = body.pointer || body.parameter;
    return (body.detail || body.title || `status ${reply.status}`) + (where ? ` (${where})` : "");
  }
  return reply.status ? `the server answered ${reply.status}` : "the server does not answer";
}

/// Milliseconds from the request's first byte to the answer's last, as the browser's network side saw it: drawing
/// that holds the page up does not count.
function timeOf(path: string): number | undefined {
  const entries = performance.getEntriesByName(new URL(path, location.href).href) as PerformanceResourceTiming[];
  performance.clearResourceTimings();
  const last = entries.at(-1);
  return last?.requestStart ? last.responseEnd - last.requestStart : undefined;
}

/// Asks the server. Never throws but when aborted: a connection that fails is a reply with status 0.
export async function ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Reply> {
  const began = performance.now();
  const headers: Record<string, string> = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  let payload: BodyInit | undefined;
  if (body instanceof Blob) {
    payload = body;
  } else if (body !== undefined) {
    payload = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  try {
    const response = await fetch(path, { method, headers, body: payload, signal, cache: "no-store" });
    const text = await response.text();
    const ms = timeOf(path) ?? performance.now() - began;
    const json = /json/.test(response.headers.get("Content-Type") ?? "") && text ? JSON.parse(text) : text;
    return { ok: response.ok, status: response.status, ms, body: json };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ok: false, status: 0, ms: performance.now() - began, body: null };
  }
}

export function meshPath(id: string, rest = ""): string {
  return `/v1/meshes/${encodeURIComponent(id)}${rest}`;
}

/// The same question as a line for a shell.
export function asCurl(method: string, path: string, body?: unknown): string {
  const verb = method === "GET" || (method === "POST" && body !== undefined) ? "" : ` -X ${method}`;
  const data = body === undefined ? "" : ` -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`;
  return `curl -s${verb} '${location.origin}${path}'${data}`;
}
