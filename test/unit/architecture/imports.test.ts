import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = path.resolve(import.meta.dirname, "../../../src");

/** The rooms of words that every stage shares; they know nothing but each other. */
const SHARED = ["contract", "money", "usage", "host", "collections", "text", "event-loop", "time"];

/**
 * What each folder, and each file at the top of src, imports beside itself and the shared words: no more and no less.
 * An arrow that is not here is a change of the architecture: change it here and in the README, or find another way.
 */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  translation: [],
  "model-servers": [],
  "envoy-reasons": [],
  config: ["model-servers", "translation"],
  settings: ["config"],
  oidc: ["config"],
  pricing: ["translation"],
  catalog: ["config", "pricing", "translation"],
  telemetry: ["config", "settings"],
  store: ["config", "settings"],
  auth: ["settings", "store"],
  limits: ["pricing", "settings", "store", "translation"],
  grace: ["limits", "settings", "store"],
  spool: ["store"],
  "request-log": ["envoy-reasons", "pricing", "store"],
  settlement: ["catalog", "grace", "limits", "pricing", "request-log", "spool", "store", "translation"],
  exchange: [
    "auth",
    "catalog",
    "limits",
    "request-log",
    "settings",
    "settlement",
    "store",
    "telemetry",
    "translation",
  ],
  alerts: ["config", "settings", "store"],
  envoy: ["config", "exchange", "limits", "translation"],
  admin: [
    "alerts",
    "auth",
    "catalog",
    "config",
    "envoy-reasons",
    "limits",
    "oidc",
    "pricing",
    "settings",
    "store",
    "telemetry",
  ],
  demo: ["auth", "config", "settings", "store"],
  doctor: ["alerts", "config", "envoy", "envoy-reasons", "model-servers", "store"],
  setup: [],
  // Composition, processes and commands: they put the others together, and no stage knows them.
  supervisor: ["config", "envoy", "setup"],
  launcher: ["config", "demo", "envoy", "model-servers", "setup", "supervisor"],
  "worker.ts": [
    "auth",
    "catalog",
    "config",
    "envoy",
    "exchange",
    "grace",
    "request-log",
    "settlement",
    "spool",
    "store",
    "supervisor",
    "telemetry",
    "translation",
  ],
  "host-services.ts": [
    "admin",
    "alerts",
    "catalog",
    "config",
    "demo",
    "exchange",
    "request-log",
    "settlement",
    "store",
    "supervisor",
    "telemetry",
  ],
  cli: [
    "config",
    "demo",
    "doctor",
    "envoy",
    "envoy-reasons",
    "host-services.ts",
    "launcher",
    "pricing",
    "request-log",
    "settings",
    "setup",
    "store",
    "supervisor",
    "telemetry",
    "worker.ts",
  ],
  "main.ts": ["cli"],
};

const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+)"/g;

function listSources(): string[] {
  return readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:ts|tsx|js)$/.test(name) && !name.includes("generated"))
    .map((name) => path.join(SOURCE, name));
}

/** What is imported; plain JavaScript names a module by what it is compiled to. */
function resolve(file: string, specifier: string): string {
  const target = path.resolve(path.dirname(file), specifier);
  return existsSync(target) ? target : target.replace(/\.js$/, ".ts");
}

const roomOf = (file: string) => path.relative(SOURCE, file).split(path.sep)[0] ?? "";

const imports = new Map(
  listSources().map((file) => {
    const specifiers = [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, specifier]) => specifier!);
    return [file, specifiers.map((specifier) => resolve(file, specifier))];
  }),
);

/** The rooms that each room imports. */
const rooms = new Map<string, Set<string>>();
for (const [file, targets] of imports) {
  const room = roomOf(file);
  const known = rooms.get(room) ?? new Set();
  rooms.set(room, known);
  for (const target of targets.map(roomOf)) if (target !== room) known.add(target);
}

/** What is left when whoever imports nothing that is left is taken away, again and again: circles, and what leads there. */
function findCircles(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const left = new Map([...graph].map(([name, targets]) => [name, [...targets]]));
  for (;;) {
    const free = [...left].filter(([, targets]) => !targets.some((target) => left.has(target)));
    if (free.length === 0) return [...left.keys()];
    for (const [name] of free) left.delete(name);
  }
}

const relative = (files: readonly string[]) => files.map((file) => path.relative(SOURCE, file));

describe("imports", () => {
  it("are exactly those that the list of arrows names", () => {
    const found = Object.fromEntries(
      [...rooms]
        .filter(([room]) => !SHARED.includes(room))
        .map(([room, targets]) => [room, [...targets].filter((target) => !SHARED.includes(target)).sort()]),
    );
    const listed = Object.fromEntries(
      Object.entries(ARROWS).map(([room, targets]) => [room, [...targets].sort()]),
    );
    expect(found).toEqual(listed);
  });

  it("of the shared words lead to shared words alone", () => {
    const beyond = SHARED.flatMap((word) => [...(rooms.get(word) ?? [])]).filter(
      (room) => !SHARED.includes(room),
    );
    expect(beyond).toEqual([]);
  });

  it("never go in a circle, neither of rooms nor of files", () => {
    expect(findCircles(rooms)).toEqual([]);
    expect(relative(findCircles(imports))).toEqual([]);
  });

  it("lead to files that exist", () => {
    const missing = [...imports.values()].flat().filter((target) => !existsSync(target));
    expect(relative(missing)).toEqual([]);
  });
});
