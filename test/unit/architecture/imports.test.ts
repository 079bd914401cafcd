import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ARROWS, type Arrows, SHARED, WINGS } from "./house.ts";

const SOURCE = path.resolve(import.meta.dirname, "../../../src");

/** A directory whose rooms import each other as a list says. */
interface House {
  readonly directory: string;
  /** The room of one of its files. */
  readonly roomOf: (file: string) => string;
  /** The rooms of words that every other shares; they know nothing but each other. */
  readonly shared: readonly string[];
  /** The imports of each other room, in addition to itself and the shared words. */
  readonly arrows: Arrows;
}

/** The same of `translation/`: bodies and answers of each pair of protocols at the end of all arrows. */
const TRANSLATION_SHARED = [
  "client-protocol.ts",
  "error-object.ts",
  "visible-bytes.ts",
  "json",
  "random-id.ts",
  "sse",
  "text-buffer.ts",
];
const TRANSLATION_ARROWS: Arrows = {
  fields: [],
  "cost-request.ts": ["without-field.ts"],
  "without-field.ts": [],
  "read-request.ts": ["fields"],
  conversation: ["fields", "read-request.ts"],
  upstream: ["conversation"],
  openai: ["fields", "upstream"],
  "request-body.ts": ["openai"],
  "pass-through": ["conversation", "fields", "openai", "read-request.ts", "upstream"],
  "chat-to-chat": ["fields", "openai", "read-request.ts"],
  "completions-to-completions": ["fields", "openai", "read-request.ts"],
  "embeddings-to-embeddings": ["openai", "read-request.ts", "upstream"],
  "messages-to-chat": ["conversation", "upstream"],
  "messages-to-messages": ["fields", "messages-to-chat", "pass-through", "upstream"],
  "responses-to-chat": ["conversation", "upstream"],
  "responses-to-responses": [
    "fields",
    "openai",
    "pass-through",
    "responses-to-chat",
    "upstream",
    "without-field.ts",
  ],
  "protocols.ts": [
    "chat-to-chat",
    "completions-to-completions",
    "embeddings-to-embeddings",
    "messages-to-chat",
    "messages-to-messages",
    "openai",
    "request-body.ts",
    "responses-to-chat",
    "responses-to-responses",
  ],
};

/** The rooms of `exchange/`, whose own files conduct a request through them. */
const EXCHANGE_SHARED = ["reply.ts"];
const EXCHANGE_ARROWS: House["arrows"] = {
  admission: ["ends"],
  bodies: [],
  ends: [],
  upstream: [],
  "answer-output.ts": [],
  "sanitize-model-name.ts": [],
  "take-session.ts": [],
  "exchange-services.ts": ["bodies", "ends"],
  "routed-request.ts": ["ends", "exchange-services.ts"],
  "exchange-answers.ts": ["answer-output.ts", "ends", "routed-request.ts", "upstream"],
  "routed-exchange.ts": ["ends", "exchange-answers.ts", "routed-request.ts", "upstream"],
  "count-exchange.ts": ["admission", "bodies", "ends", "exchange-services.ts", "take-session.ts", "upstream"],
  "exchange.ts": [
    "admission",
    "bodies",
    "ends",
    "exchange-services.ts",
    "sanitize-model-name.ts",
    "routed-exchange.ts",
    "routed-request.ts",
    "take-session.ts",
    "upstream",
  ],
};

/** The rooms of `limits/`, in which Redis's decisions become what clients read. */
const LIMITS_SHARED = ["admission.ts"];
const LIMITS_ARROWS: House["arrows"] = {
  "bucket-capacity.ts": [],
  "output-means.ts": [],
  "session.ts": [],
  errors: [],
  headers: ["errors"],
  reports: [],
};

const firstName = (directory: string, file: string) =>
  path.relative(directory, file).split(path.sep)[0] ?? "";

const wingOf = (file: string) => firstName(SOURCE, file);

/** A directory of a wing. Envoy's wing is one room, and so is each file at the top of src. */
function roomOf(file: string): string {
  const wing = wingOf(file);
  return wing === "envoy" || wing === "main.ts" ? wing : firstName(path.join(SOURCE, wing), file);
}

/** A directory of the data path with rooms of its own. */
function houseOf(name: string, shared: House["shared"], arrows: House["arrows"]): House {
  const directory = path.join(SOURCE, "data-path", name);
  return { directory, roomOf: (file) => firstName(directory, file), shared, arrows };
}

const HOUSES: readonly House[] = [
  { directory: SOURCE, roomOf, shared: SHARED, arrows: ARROWS },
  houseOf("exchange", EXCHANGE_SHARED, EXCHANGE_ARROWS),
  houseOf("limits", LIMITS_SHARED, LIMITS_ARROWS),
  houseOf("translation", TRANSLATION_SHARED, TRANSLATION_ARROWS),
];

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

const imports = new Map(
  listSources().map((file) => {
    const specifiers = [...readFileSync(file, "utf8").matchAll(IMPORT)].map(([, specifier]) => specifier!);
    return [file, specifiers.map((specifier) => resolve(file, specifier))];
  }),
);

/** The rooms of a directory, each with the rooms that it imports. */
function readRooms({
  directory,
  roomOf: nameRoom,
}: Pick<House, "directory" | "roomOf">): Map<string, Set<string>> {
  const rooms = new Map<string, Set<string>>();
  const isWithin = (file: string): boolean => file.startsWith(directory + path.sep);
  for (const [file, targets] of imports) {
    if (!isWithin(file)) continue;
    const room = nameRoom(file);
    const known = rooms.get(room) ?? new Set();
    rooms.set(room, known);
    for (const target of targets.filter(isWithin).map(nameRoom)) if (target !== room) known.add(target);
  }
  return rooms;
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

describe("the wings of src", () => {
  const wings = readRooms({ directory: SOURCE, roomOf: wingOf });

  it("are the five that the list names, and the program's first file", () => {
    expect([...wings.keys()].sort()).toEqual(Object.keys(WINGS).sort());
  });

  it.each(Object.entries(WINGS))("%s imports only wings below it", (wing, allowed) => {
    expect([...(wings.get(wing) ?? [])].filter((target) => !allowed.includes(target))).toEqual([]);
  });
});

describe.each(HOUSES)("the rooms of $directory", (house) => {
  const { shared, arrows } = house;
  const rooms = readRooms(house);

  it("import exactly what the list of arrows names", () => {
    const found = Object.fromEntries(
      [...rooms]
        .filter(([room]) => !shared.includes(room))
        .map(([room, targets]) => [room, [...targets].filter((target) => !shared.includes(target)).sort()]),
    );
    const listed = Object.fromEntries(
      Object.entries(arrows).map(([room, targets]) => [room, [...targets].sort()]),
    );
    expect(found).toEqual(listed);
  });

  it("of shared words import shared words alone", () => {
    const beyond = shared
      .flatMap((word) => [...(rooms.get(word) ?? [])])
      .filter((room) => !shared.includes(room));
    expect(beyond).toEqual([]);
  });

  it("never import each other in a circle", () => {
    expect(findCircles(rooms)).toEqual([]);
  });
});

describe("the imports of files", () => {
  it("never go in a circle", () => {
    expect(relative(findCircles(imports))).toEqual([]);
  });

  it("lead to files that exist", () => {
    const missing = [...imports.values()].flat().filter((target) => !existsSync(target));
    expect(relative(missing)).toEqual([]);
  });
});

describe("the dashboard", () => {
  const dashboard = path.join(SOURCE, "management/admin/dashboard");
  const VALUES = /^import (?!type\b)[^;]*?from "(\.[^"]+)"/gm;
  const DATA = /^(?:data-path\/(?:store|catalog)\/|management\/admin\/report-turns\.ts)/;

  it("has data from the API's code only, and no value of the store", () => {
    const users = [...imports.keys()]
      .filter((file) => file.startsWith(dashboard + path.sep))
      .filter((file) =>
        [...readFileSync(file, "utf8").matchAll(VALUES)]
          .map(([, specifier]) => path.relative(SOURCE, resolve(file, specifier!)))
          .some((target) => DATA.test(target)),
      );
    expect(users).toEqual([]);
  });
});
