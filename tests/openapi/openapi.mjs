// Lints api/openapi.json, validates its examples, and holds recorded exchanges against it.
//
//     node openapi.mjs DOCUMENT [EXCHANGES.jsonl]
//
// The last line sums up: `N passed, N failed, N skipped`. Exchanges are what tests/http recorded (harness/client.py):
// {"method", "target", "status", "type", "sent", "body"}, one a line; "sent" and "body" are text or absent.
import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createConfig, lint } from "@redocly/openapi-core";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** Statuses that the HTTP tests do not bring about on every call, and why that is right. */
const UNSEEN = {
  403: "needs a client on another machine",
  503: "needs a full queue or a drain",
  504: "needs a search that is too slow",
  507: "needs a full disk",
  409: "needs a mesh that is being loaded",
};
const METHODS = ["get", "post", "put", "patch", "delete"];
const MOST_FAILURES = 40;

const tally = { passed: 0, failed: 0, skipped: 0 };

function fail(what, why) {
  tally.failed += 1;
  if (tally.failed <= MOST_FAILURES) {
    console.log(`FAIL  ${what}: ${why}`);
  }
}

function check(what, problem) {
  if (problem) {
    fail(what, problem);
  } else {
    tally.passed += 1;
  }
}

/** The document with its references followed where an operation needs them. */
class Document {
  constructor(path) {
    this.root = JSON.parse(readFileSync(path, "utf8"));
    this.ajv = new Ajv2020({ strict: false, allErrors: false });
    addFormats(this.ajv);
    this.ajv.addSchema({ $id: "document", ...this.root });
    this.validators = new Map();
    this.templates = Object.keys(this.root.paths).map((template) => ({
      template,
      pattern: new RegExp("^" + template.replace(/\{[a-z]+\}/g, "[^/]+") + "$"),
    }));
  }

  follow(value) {
    while (value && value.$ref) {
      value = value.$ref.slice(2).split("/").reduce((node, key) => node[key.replace(/~1/g, "/").replace(/~0/g, "~")], this.root);
    }
    return value;
  }

  /** null, or what is wrong with a value. `pointer` leads to the schema in the document. */
  problem(pointer, value) {
    let validate = this.validators.get(pointer);
    if (!validate) {
      validate = this.ajv.compile({ $ref: "document#" + pointer.split("/").map(encodeURIComponent).join("/") });
      this.validators.set(pointer, validate);
    }
    return validate(value) ? null : `${this.ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 300)}`;
  }

  template(path) {
    return this.templates.find((t) => t.pattern.test(path))?.template;
  }

  *operations() {
    for (const [template, item] of Object.entries(this.root.paths)) {
      for (const method of METHODS.filter((m) => item[m])) {
        yield { template, method, operation: item[method] };
      }
    }
  }
}

const join = (...parts) => parts.map((p) => "/" + String(p).replace(/~/g, "~0").replace(/\//g, "~1")).join("");

/** Where a response's schema is: its own place, or that of the component it refers to. */
function schemaPointer(document, template, method, status, type) {
  const response = document.root.paths[template][method].responses[status];
  const base = response.$ref ? response.$ref.slice(1) : join("paths", template, method, "responses", status);
  return document.follow(response).content?.[type] ? base + join("content", type, "schema") : null;
}

async function lintDocument(path) {
  const config = await createConfig({
    extends: ["recommended-strict"],
    rules: {
      // Health checks take no argument that could be wrong, and pages and metrics never fail.
      "operation-4xx-response": "off",
      "no-server-example.com": "off",
      "no-invalid-media-type-examples": { severity: "error", allowAdditionalProperties: true },
      "no-invalid-parameter-examples": { severity: "error", allowAdditionalProperties: true },
      "no-unused-components": "error",
      "operation-description": "off",
      "operation-operationId-unique": "error",
      "operation-tag-defined": "error",
      "path-declaration-must-exist": "error",
      "paths-kebab-case": "error",
      "no-ambiguous-paths": "off",
    },
  });
  const problems = await lint({ ref: path, config });
  for (const p of problems) {
    fail("lint", `${p.ruleId}: ${p.message} at ${p.location?.[0]?.pointer}`);
  }
  tally.passed += problems.length === 0 ? 1 : 0;
}

/** Examples must be there, and be what their schemas say. */
function checkExamples(document) {
  for (const { template, method, operation } of document.operations()) {
    const what = `${method} ${template}`;
    for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
      if (type === "application/json") {
        const pointer = join("paths", template, method, "requestBody", "content", type, "schema");
        check(`${what} request example`, media.example === undefined ? "there is none" : document.problem(pointer, media.example));
      }
    }
    for (const status of Object.keys(operation.responses)) {
      const response = document.follow(operation.responses[status]);
      for (const [type, media] of Object.entries(response.content ?? {})) {
        if (type.includes("json") && template !== "/openapi.json") {
          const pointer = schemaPointer(document, template, method, status, type);
          check(`${what} ${status} example`, media.example === undefined ? "there is none" : document.problem(pointer, media.example));
        }
      }
    }
  }
}

/** Is a refusal one that any request may get? */
function refusedAnywhere(document, body) {
  const codes = document.root.components.responses.Refused["x-codes"];
  return typeof body === "string" && codes.includes(JSON.parse(body).code);
}

/** The parameters of a query string that the operation does not know. */
function unknownParameters(document, operation, query) {
  const known = (operation.parameters ?? []).map((p) => document.follow(p)).filter((p) => p.in === "query").map((p) => p.name);
  return [...new URLSearchParams(query).keys()].filter((name) => !known.includes(name));
}

/** null, or how an exchange differs from the document. */
function exchangeProblem(document, exchange, seen) {
  const [path, query] = exchange.target.split("?", 2);
  const template = document.template(path);
  const method = exchange.method === "HEAD" ? "get" : exchange.method.toLowerCase();
  const operation = template && document.root.paths[template][method];
  if (exchange.method === "OPTIONS") {
    return null; // the document says once that it works everywhere
  }
  if (!operation) {
    return [404, 405].includes(exchange.status) ? null : `answered with ${exchange.status}, and is not in the document`;
  }
  seen.add(`${method} ${template} ${exchange.status}`);
  let status = String(exchange.status);
  if (!operation.responses[status]) {
    if (!refusedAnywhere(document, exchange.body)) {
      return `${status} is not documented`;
    }
    status = "default";
  }
  // A batch answers for each of its questions by itself, those that are asked wrongly too.
  if (exchange.status < 300 && operation.tags.includes("queries") && !template.endsWith("/batch")) {
    const unknown = unknownParameters(document, operation, query ?? "");
    if (unknown.length > 0) {
      return `took the parameters ${unknown}, which are not documented`;
    }
    if (exchange.sent !== undefined && method === "post") {
      const pointer = join("paths", template, method, "requestBody", "content", "application/json", "schema");
      const problem = document.problem(pointer, JSON.parse(exchange.sent));
      if (problem) {
        return `took a body that is not what the document says: ${problem}`;
      }
    }
  }
  if (exchange.body === undefined || !exchange.type) {
    return null;
  }
  const type = exchange.type.split(";")[0];
  const pointer = schemaPointer(document, template, method, status, type);
  if (!pointer) {
    return `${status} as ${type} is not documented`;
  }
  return document.problem(pointer, type.includes("json") ? JSON.parse(exchange.body) : exchange.body);
}

/** What the document promises and no test has seen. */
function checkSeen(document, seen) {
  for (const { template, method, operation } of document.operations()) {
    for (const status of Object.keys(operation.responses).filter((s) => s !== "default")) {
      if (seen.has(`${method} ${template} ${status}`)) {
        tally.passed += 1;
      } else if (UNSEEN[status]) {
        tally.skipped += 1;
      } else {
        fail(`${method} ${template} ${status}`, "is documented, but no HTTP test has seen it");
      }
    }
  }
}

async function checkExchanges(document, path) {
  const seen = new Set();
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const exchange = JSON.parse(line);
    check(`${exchange.method} ${exchange.target.slice(0, 120)} -> ${exchange.status}`, exchangeProblem(document, exchange, seen));
  }
  checkSeen(document, seen);
}

const [path, exchanges] = process.argv.slice(2);
const document = new Document(path);
await lintDocument(path);
checkExamples(document);
if (exchanges) {
  await checkExchanges(document, exchanges);
}
console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exitCode = tally.failed > 0 || tally.passed === 0 ? 1 : 0;
