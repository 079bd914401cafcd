/** What a run of the tests found out about clients: each test file leaves its counts in `.cache/clients`, and `npm run clients` tabulates them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeEach, type RunnerTestCase } from "vitest";
import type { Client } from "./clients.ts";

export type Route = "/v1/chat/completions" | "/v1/embeddings" | "/v1/messages" | "/v1/responses";

/** Counts of the tests of one client on one route. */
export interface Proof extends Client {
  readonly route: Route;
  readonly passed: number;
  readonly failed: number;
}

const RESULTS = new URL("../../.cache/clients/", import.meta.url);
const proofsOfFiles = new Map<string, Proof[]>();

/** Counts the tests of this `describe` for a client on a route. Skipped tests count for nothing. */
export function proves({ name, version }: Client, route: Route): void {
  const tests = new Set<RunnerTestCase>();
  beforeEach(({ task }) => void tests.add(task));
  afterAll(() => {
    const count = (state: string) => [...tests].filter(({ result }) => result?.state === state).length;
    const [first] = tests;
    if (first === undefined) return;
    const file = first.file.name;
    const proofs = proofsOfFiles.get(file) ?? [];
    proofs.push({ name, version, route, passed: count("pass"), failed: count("fail") });
    proofsOfFiles.set(file, proofs);
    mkdirSync(RESULTS, { recursive: true });
    writeFileSync(new URL(`${file.replaceAll("/", "-")}.json`, RESULTS), JSON.stringify(proofs));
  });
}

/** What the last run of each test file found. */
export function readProofs(): readonly Proof[] {
  return readdirSync(RESULTS).flatMap(
    (file) => JSON.parse(readFileSync(new URL(file, RESULTS), "utf8")) as readonly Proof[],
  );
}

/** Routes as columns of the table. */
const COLUMNS = {
  "/v1/chat/completions": "chat completions",
  "/v1/responses": "responses",
  "/v1/messages": "messages",
  "/v1/embeddings": "embeddings",
} as const satisfies Record<Route, string>;
const ROUTES = Object.keys(COLUMNS) as Route[];

/** Rows of clients and versions, with the passed and failed tests on each route: "14/0". */
export function formatProofs(proofs: readonly Proof[]): string {
  const rows = new Map<string, readonly Proof[]>();
  for (const proof of proofs.filter(({ passed, failed }) => passed + failed > 0)) {
    const client = `| ${proof.name} | ${proof.version} |`;
    rows.set(client, [...(rows.get(client) ?? []), proof]);
  }
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  return [
    `| client | version | ${Object.values(COLUMNS).join(" | ")} |`,
    "|---|---|---:|---:|---:|---:|",
    ...[...rows]
      .toSorted(([one], [other]) => compare(one, other))
      .map(([client, found]) => [client, ...ROUTES.map((route) => formatCell(found, route))].join("")),
  ].join("\n");
}

function formatCell(proofs: readonly Proof[], wanted: Route): string {
  const found = proofs.filter(({ route }) => route === wanted);
  if (found.length === 0) return " |";
  const sum = (result: "passed" | "failed") => found.reduce((total, proof) => total + proof[result], 0);
  return ` ${sum("passed")}/${sum("failed")} |`;
}
