#!/usr/bin/env node
// The viewer in a real headless Chromium, against a server of its own: tests/web/run [--binary build/navd] [NAME…]
// The last line sums up: `N passed, N failed, N skipped`.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const require = createRequire(path.join(root, "web/package.json"));
const { chromium } = require("playwright-core");

const CHROMIUM = "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"];

class Failure extends Error {}

function check(what, why) {
  if (!what) throw new Failure(why);
}

function same(a, b, why) {
  check(JSON.stringify(a) === JSON.stringify(b), `${why}: ${JSON.stringify(a)} is not ${JSON.stringify(b)}`);
}

// ---- the server ----

async function startServer(binary, folder) {
  const server = spawn(binary, ["--listen", "127.0.0.1:0", "--meshes", folder, "--log-level", "error"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    server.stdout.on("data", (bytes) => {
      said += bytes;
      const found = /listening on (\S+)/.exec(said);
      if (found) resolve(found[1]);
    });
    server.on("exit", () => reject(new Error("the server ended before it served")));
  });
  for (let i = 0; i < 200 && !(await fetch(`${url}/readyz`)).ok; i++) await new Promise((turn) => setTimeout(turn, 50));
  return { server, url };
}

async function stopServer({ server }) {
  if (server.exitCode !== null) return;
  const ended = new Promise((resolve) => server.on("exit", resolve));
  server.kill("SIGTERM");
  await ended;
}

// ---- a page ----

async function openPage(browser, url, options = {}) {
  const page = await browser.newPage({ viewport: { width: 960, height: 560 }, ...options });
  page.said = [];
  page.on("console", (message) => {
    if (message.type() === "error" || (message.type() === "warning" && !/GL Driver Message|WebGL/.test(message.text()))) page.said.push(message.text());
  });
  page.on("pageerror", (error) => page.said.push(error.message));
  await page.goto(url);
  return page;
}

const shown = (page, id) => page.waitForFunction((mesh) => document.title.startsWith(mesh) && globalThis.navd.stage && globalThis.navd.view.frames > 1, id);

/// Where a position of the mesh lies on the page.
const onPage = (page, position) => page.evaluate((p) => {
  const at = globalThis.navd.view.toPage(globalThis.navd.stage.frame.toScene(p));
  return [at.x, at.y];
}, position);

/// Points of the lines that are drawn as a path, in order.
const drawn = (page) => page.evaluate(() => {
  const { view, stage } = globalThis.navd;
  return view.overlay.children.filter((child) => child.name === "path").map((line) => {
    const { data } = line.geometry.getAttribute("instanceStart");
    const ends = [];
    for (let i = 0; i < data.array.length; i += 6) ends.push([data.array[i], data.array[i + 2]]);
    ends.push([data.array[data.array.length - 3], data.array[data.array.length - 1]]);
    return ends;
  }).flat().map(([x, z]) => stage.frame.fromScene({ x, y: 0, z }));
});

const hash = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));
const pointsOf = (page) => hash(page).get("points").split(";").map((p) => p.split(",").map(Number));
const status = (page) => page.locator("#answer [data-status]");

async function clickAt(page, position) {
  const [x, y] = await onPage(page, position);
  await page.mouse.click(x, y);
}

async function askPath(url, mesh, [start, end], more = {}) {
  return (await fetch(`${url}/v1/meshes/${mesh}/path`, { method: "POST", body: JSON.stringify({ start, end, ...more }) })).json();
}

/// Two places on the island that a way leads between.
async function twoPlaces(url, mesh) {
  const random = await (await fetch(`${url}/v1/meshes/${mesh}/random?count=12&seed=5`)).json();
  for (const end of random.points.slice(1)) {
    const answer = await askPath(url, mesh, [random.points[0], end]);
    if (answer.status === "complete" && answer.points.length > 3) return [random.points[0], end];
  }
  throw new Failure("no two places with a way between them");
}

async function pathOnIsland(page, url) {
  await page.click('[data-mesh="island"]');
  await shown(page, "island");
  const [start, end] = await twoPlaces(url, "island");
  await clickAt(page, start);
  await clickAt(page, end);
  await status(page).waitFor();
  return { start, end };
}

/// The answer shown and drawn is the server's for the points in the page's address.
async function holdsAgainst(page, url) {
  const answer = await askPath(url, "island", pointsOf(page));
  same(await status(page).getAttribute("data-status"), answer.status, "status");
  const length = await page.locator("#answer dd").first().textContent();
  check(Math.abs(Number(length.replaceAll(",", "")) - answer.length) < 6e-4, `length shown ${length}, answered ${answer.length}`);
  const line = await drawn(page);
  check(line.length === answer.points.length, `${line.length} points drawn, ${answer.points.length} answered`);
  line.forEach((p, i) => check(Math.hypot(p[0] - answer.points[i][0], p[2] - answer.points[i][2]) < 2e-3, `point ${i} is drawn at ${p}, answered ${answer.points[i]}`));
  return answer;
}

// ---- the tests ----

const tests = {
  async "lists the meshes and shows the first"({ page, url }) {
    await shown(page, "building");
    const names = await page.locator(".meshes .name").allTextContents();
    same(names, ["building", "dungeon", "floor", "hall", "island"], "meshes");
    const triangles = await page.locator("#frame-time").textContent();
    check(/^\d+ triangles/.test(triangles), `frame line: ${triangles}`);
    const { polygons } = (await (await fetch(`${url}/v1/meshes`)).json()).meshes[0];
    check((await page.locator('[data-mesh="building"] .about').textContent()).startsWith(`${polygons} polygons`), "polygons");
  },

  async "clicks a path and draws what the server answers"({ page, url }) {
    await pathOnIsland(page, url);
    await holdsAgainst(page, url);
  },

  async "asks anew while an end is dragged"({ page, url }) {
    const { start, end } = await pathOnIsland(page, url);
    const before = pointsOf(page);
    const [x, y] = await onPage(page, end);
    const [toX, toY] = await onPage(page, start);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + (toX - x) * 0.3, y + (toY - y) * 0.3, { steps: 6 });
    await page.mouse.up();
    await page.waitForFunction((old) => !location.hash.includes(old), encodeURIComponent(before[1].join(",")));
    await page.waitForTimeout(400);
    same(pointsOf(page)[0], before[0], "the other end");
    await holdsAgainst(page, url);
  },

  async "restores a view from its link"({ page, url, browser }) {
    await pathOnIsland(page, url);
    await page.selectOption("#colouring", "height");
    await page.fill("#clip", "900");
    const link = page.url();
    const length = await page.locator("#answer dd").first().textContent();
    const camera = await page.evaluate(() => globalThis.navd.view.cameraState());
    const other = await openPage(browser, link);
    await shown(other, "island");
    await status(other).waitFor();
    same(await other.locator("#answer dd").first().textContent(), length, "length");
    same(await other.evaluate(() => globalThis.navd.view.cameraState()), camera, "camera");
    same(await other.inputValue("#colouring"), "height", "colouring");
    same(await other.inputValue("#clip"), "900", "clip");
    same(other.said, [], "console");
    await other.close();
  },

  async "every query tool answers"({ page, url }) {
    await page.click('[data-mesh="island"]');
    await shown(page, "island");
    const [start, end] = await twoPlaces(url, "island");
    for (const [tool, clicks, good] of [["nearest", [start], "found"], ["raycast", [start, end], ""], ["move", [start, end], "moved"], ["wall", [start], "found"],
      ["reachable", [start], "found"], ["random", [start], "found"], ["pick", [start], "hit"]]) {
      await page.click(`[data-tool="${tool}"]`);
      await page.keyboard.press("Escape");
      for (const place of clicks) await clickAt(page, place);
      await status(page).waitFor();
      const said = await status(page).getAttribute("data-status");
      check(good ? said === good : ["clear", "blocked"].includes(said), `${tool}: ${said}`);
      check(await page.evaluate(() => globalThis.navd.view.overlay.children.length > 0), `${tool} draws nothing`);
    }
  },

  async "tells why a path is what it is"({ page, url }) {
    await pathOnIsland(page, url);
    const before = await page.evaluate(() => globalThis.navd.view.overlay.children.length);
    await page.fill("#parameter-explain", "300");
    await page.waitForFunction((count) => globalThis.navd.view.overlay.children.length > count, before);
    check(/Nodes expanded/.test(await page.locator("#answer").textContent()), "nodes are not told");
  },

  async "uploads a file, and says why a broken one is refused"({ page, folder }) {
    await shown(page, "building");
    await page.setInputFiles("#file", path.join(folder, "up.json"));
    await shown(page, "up");
    check(await page.locator('[data-mesh="up"]').isVisible(), "the upload is not listed");
    await page.setInputFiles("#file", { name: "bad.obj", mimeType: "text/plain", buffer: Buffer.from("v 0 0 0\nv 1 0 0\nf 1 2 9\n") });
    const toast = page.locator(".toast.bad");
    await toast.waitFor();
    check(/line 3/.test(await toast.first().textContent()), `the complaint does not name the line: ${await toast.first().textContent()}`);
    same(await page.title(), "up – navd", "what was shown goes on being shown");
    page.said = page.said.filter((text) => !/422/.test(text)); // Chromium tells of every refused request
  },

  async "follows a mesh that is reloaded"({ page, url, folder, floor }) {
    await page.click('[data-mesh="floor"]');
    await shown(page, "floor");
    const count = () => page.evaluate(() => globalThis.navd.surface.triangleFace.length);
    const before = await count();
    writeFileSync(path.join(folder, "floor.tmp"), floor(6));
    renameSync(path.join(folder, "floor.tmp"), path.join(folder, "floor.json"));
    await page.waitForFunction((old) => globalThis.navd.surface.triangleFace.length !== old, before);
    same(await count(), 2 * 6 * 6, "triangles");
    void url;
  },

  async "an obstacle changes the path"({ page, url, paths }) {
    if (!paths.some((each) => each.endsWith("/obstacles"))) return "this server has no obstacles";
    await page.click('[data-mesh="hall"]');
    await shown(page, "hall");
    await clickAt(page, [2, 0, 5]);
    await clickAt(page, [8, 0, 5]);
    await status(page).waitFor();
    const straight = Number(await page.locator("#answer dd").first().textContent());
    const link = page.url();
    await page.click('[data-tool="obstacle"]');
    await page.fill("#obstacle-size", "1.5");
    await clickAt(page, [5, 0, 5]);
    await page.locator(".items [data-item]").waitFor();
    await page.goto("about:blank");
    await page.goto(link);
    await shown(page, "hall");
    await status(page).waitFor();
    const round = Number(await page.locator("#answer dd").first().textContent());
    check(round > straight + 0.3, `round the obstacle ${round}, straight ${straight}`);
    await page.click('[data-tool="obstacle"]');
    await page.locator(".items button", { hasText: "Remove" }).click();
    await page.locator(".items [data-item]").waitFor({ state: "detached" });
    void url;
    return undefined;
  },

  async "agents are made, move, and are taken away"({ page, paths }) {
    if (!paths.some((each) => each.endsWith("/agents/events"))) return "this server has no agents";
    await page.click('[data-mesh="hall"]');
    await shown(page, "hall");
    await page.click('[data-tool="agents"]');
    await page.fill("#agents-count", "10");
    await page.click("#agents-add");
    await page.waitForFunction(() => globalThis.navd.view.agents.children[0]?.count === 10);
    const places = () => page.evaluate(() => JSON.stringify([...globalThis.navd.view.agents.children[0].instanceMatrix.array].map((n) => n.toFixed(2))));
    const before = await places();
    await clickAt(page, [8, 0, 8]);
    await page.click("#agents-run");
    await page.waitForFunction((old) => JSON.stringify([...globalThis.navd.view.agents.children[0].instanceMatrix.array].map((n) => n.toFixed(2))) !== old, before);
    await page.locator('[data-state="moving"], [data-state="arrived"], [data-state="stuck"]').first().waitFor();
    await page.click("#agents-remove");
    await page.waitForFunction(() => globalThis.navd.view.agents.children.length === 0);
    await page.click("#agents-run");
    return undefined;
  },

  async "works from the keyboard"({ page }) {
    await shown(page, "building");
    await page.keyboard.press("6");
    same(await page.locator('[data-tool="reachable"]').getAttribute("aria-pressed"), "true", "6 takes the sixth tool");
    await page.keyboard.press("v");
    same(await page.locator("#plan").getAttribute("aria-pressed"), "true", "v is the plan view");
    await page.keyboard.press("v");
    for (let i = 0; i < 40 && (await page.evaluate(() => document.activeElement?.dataset.mesh)) !== "dungeon"; i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await shown(page, "dungeon");
  },

  async "fits a phone"({ browser, url }) {
    const phone = await openPage(browser, url, { viewport: { width: 390, height: 800 }, isMobile: true, hasTouch: true });
    await shown(phone, "building");
    const { width, page: whole } = await phone.evaluate(() => ({ width: document.documentElement.scrollWidth, page: innerWidth }));
    check(width <= whole, `the page is ${width} wide on ${whole}`);
    same(phone.said, [], "console");
    await phone.close();
  },

  async "keeps a strict content policy"({ page, url }) {
    const policy = (await fetch(url)).headers.get("content-security-policy") ?? "";
    check(/default-src 'none'/.test(policy) && /script-src 'self'/.test(policy) && !/unsafe/.test(policy), `policy: ${policy}`);
    await shown(page, "building");
    const ran = await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "globalThis.intruder = true";
      document.body.append(script);
      return globalThis.intruder === true;
    });
    check(!ran, "an inline script ran");
    check(page.said.some((text) => /Content Security Policy|CSP/i.test(text)), "Chromium does not tell of a refused script");
    page.said = [];
  },

  async "says that the server is gone"({ browser, own }) {
    const other = await own();
    const page = await openPage(browser, other.url);
    await shown(page, "building");
    await stopServer(other);
    await page.locator(".connection.down", { hasText: "lost" }).waitFor();
    page.said = [];
    await page.close();
  },
};

// ---- running them ----

function makeFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), "navd-web-"));
  for (const name of readdirSync(path.join(root, "samples"))) if (name !== "README.md") copyFileSync(path.join(root, "samples", name), path.join(folder, name));
  writeFileSync(path.join(folder, "hall.json"), JSON.stringify({ vertices: [[0, 0, 0], [10, 0, 0], [10, 0, 10], [0, 0, 10]], polygons: [[0, 3, 2, 1]] }));
  writeFileSync(path.join(folder, "floor.json"), floor(4));
  return folder;
}

/// A square of n times n, as the text of a mesh file.
function floor(n) {
  const vertices = [];
  const polygons = [];
  for (let i = 0; i <= n; i++) for (let k = 0; k <= n; k++) vertices.push([k, 0, i]);
  for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) polygons.push([0, n + 1, n + 2, 1].map((by) => i * (n + 1) + k + by));
  return JSON.stringify({ vertices, polygons });
}

async function runOne(name, test, context) {
  const began = Date.now();
  context.page = await openPage(context.browser, context.url);
  context.page.setDefaultTimeout(20000);
  try {
    const skipped = await test(context);
    if (!skipped) same(context.page.said, [], "console");
    console.log(`${skipped ? "skip " : "ok   "} ${name}${skipped ? `: ${skipped}` : ""}  ${((Date.now() - began) / 1000).toFixed(1)} s`);
    return skipped ? "skipped" : "passed";
  } catch (error) {
    console.log(`FAIL  ${name}: ${error instanceof Failure ? error.message : error.stack}${context.page.said.length ? `\n      console: ${context.page.said.join(" | ")}` : ""}`);
    return "failed";
  } finally {
    await context.page.close();
  }
}

async function main() {
  const words = process.argv.slice(2);
  const at = words.indexOf("--binary");
  const binary = path.resolve(at >= 0 ? words.splice(at, 2)[1] : path.join(root, "build/navd"));
  const tally = { passed: 0, failed: 0, skipped: 0 };
  if (!existsSync(CHROMIUM)) {
    console.log(`skip  the viewer: there is no ${CHROMIUM}`);
    console.log("0 passed, 0 failed, 1 skipped");
    return 0;
  }
  const folder = makeFolder();
  const uploads = mkdtempSync(path.join(tmpdir(), "navd-web-up-"));
  writeFileSync(path.join(uploads, "up.json"), floor(3));
  const main_ = await startServer(binary, folder);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const document = await (await fetch(`${main_.url}/openapi.json`)).json();
    const context = { browser, url: main_.url, paths: Object.keys(document.paths), folder, floor, own: () => startServer(binary, path.join(root, "samples")) };
    for (const [name, test] of Object.entries(tests)) {
      if (words.length && !words.some((word) => name.includes(word))) continue;
      tally[await runOne(name, test, name.startsWith("uploads") ? { ...context, folder: uploads } : context)]++;
    }
  } finally {
    await browser.close();
    await stopServer(main_);
    rmSync(folder, { recursive: true });
    rmSync(uploads, { recursive: true });
  }
  console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
  return tally.failed ? 1 : 0;
}

process.exitCode = await main();
