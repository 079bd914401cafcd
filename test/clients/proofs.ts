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

/** One row for each client, version and route. */
export function formatProofs(proofs: readonly Proof[]): string {
  const rows = new Map<string, Proof>();
  for (const proof of proofs) {
    const key = `${proof.name} ${proof.route} ${proof.version}`;
    const { passed, failed } = rows.get(key) ?? { passed: 0, failed: 0 };
    rows.set(key, { ...proof, passed: passed + proof.passed, failed: failed + proof.failed });
  }
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const sorted = [...rows]
    .filter(([, { passed, failed }]) => passed + failed > 0)
    .toSorted(([one], [other]) => compare(one, other));
  return [
    "| client | version | route | passed | failed |",
    "|---|---|---|---:|---:|",
    ...sorted.map(
      ([, { name, version, route, passed, failed }]) =>
        `| ${name} | ${version} | \`${route}\` | ${passed} | ${failed} |`,
    ),
  ].join("\n");
}
