import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = path.resolve(import.meta.dirname, "../../../src");

/** Words that every stage shares. */
const SHARED = [
  "errors.ts",
  "money.ts",
  "clock.ts",
  "calendar.ts",
  "wait.ts",
  "json-object.ts",
  "logger.ts",
  "set-bounded.ts",
];

/**
 * Which folders (and files at the top of src) each folder may import, beside itself and the shared words. An arrow that
 * is not here is a change of the architecture: change it here and in the README, or find another way.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  translation: [],
  config: ["translation"],
  settings: ["config"],
  catalog: ["config", "translation"],
  telemetry: ["config"],
  store: ["config", "settings"],
  auth: ["store"],
  limits: ["store"],
  grace: ["limits", "store"],
  spool: ["store"],
  "request-log": ["store", "translation"],
  settlement: ["catalog", "grace", "limits", "request-log", "spool", "store", "translation"],
  exchange: ["auth", "catalog", "limits", "request-log", "settlement", "store", "telemetry", "translation"],
  alerts: ["config", "settings", "store", "telemetry"],
  envoy: ["config", "exchange", "telemetry", "translation"],
  admin: ["alerts", "auth", "catalog", "config", "limits", "settings", "settlement", "store", "telemetry"],
  demo: ["auth", "catalog", "config", "settings", "store"],
  doctor: ["alerts", "config", "envoy", "store"],
  setup: [],
};

/** Composition, processes and commands put everything together, so they may import everything. */
const COMPOSERS: ReadonlySet<string> = new Set(["gateway.ts", "main.ts", "cli", "launcher", "supervisor"]);

function listSources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("generated"))
    .map((name) => path.join(folder, name));
}

const roomOf = (file: string) => path.relative(SOURCE, file).split(path.sep)[0] ?? "";

const arrows = listSources(SOURCE).flatMap((file) => {
  const text = readFileSync(file, "utf8");
  const specifiers = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "");
  return specifiers.map((specifier) => ({ file, target: path.resolve(path.dirname(file), specifier) }));
});

describe("imports", () => {
  it("point one way", () => {
    const wrong = arrows
      .filter(({ file, target }) => {
        const from = roomOf(file);
        const to = roomOf(target);
        if (from === to || SHARED.includes(to) || COMPOSERS.has(from)) return false;
        return !(ALLOWED[from] ?? []).includes(to);
      })
      .map(({ file, target }) => `${path.relative(SOURCE, file)} -> ${path.relative(SOURCE, target)}`);
    expect(wrong).toEqual([]);
  });

  it("never reach into commands or processes from a stage", () => {
    const wrong = arrows.filter(
      ({ file, target }) => COMPOSERS.has(roomOf(target)) && !COMPOSERS.has(roomOf(file)),
    );
    expect(wrong).toEqual([]);
  });

  it("are known for every folder", () => {
    const rooms = new Set(listSources(SOURCE).map(roomOf));
    const known = new Set([...Object.keys(ALLOWED), ...SHARED, ...COMPOSERS]);
    expect([...rooms].filter((room) => !known.has(room))).toEqual([]);
  });
});
