// Bundles src/ into one script and one style sheet, minified, beside index.html: node build.mjs OUT
import { copyFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import path from "node:path";
import * as esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(here, "dist"));
mkdirSync(out, { recursive: true });
await esbuild.build({
  entryPoints: { viewer: path.join(here, "src/main.ts"), style: path.join(here, "src/style.css") },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  legalComments: "none",
  logLevel: "warning",
});
copyFileSync(path.join(here, "src/index.html"), path.join(out, "index.html"));
const names = ["index.html", "viewer.js", "style.css"];
const weight = names.map((name) => path.join(out, name)).map((file) => [statSync(file).size, gzipSync(readFileSync(file)).length]);
const sum = (k) => Math.round(weight.reduce((total, pair) => total + pair[k], 0) / 1024);
console.log(`web: ${sum(0)} KiB, ${sum(1)} KiB compressed`);
