/**
 * Weight of each page of an organization with 10,000 API keys at night: bytes, and the work of Redis and the server, each
 * after a change, so that nothing is kept from the page before. IGW_WEIGHTS=<file> keeps the figures, with a row a page.
 */
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createPageClient } from "../support/page-client.ts";
import { byExtent, firstOnPush } from "../support/extent.ts";
import { PICTURED_PAGES } from "../dashboard/pictured-pages.ts";
import { type PicturedSample, startPicturedSample } from "../dashboard/pictured-sample.ts";

const KEPT = process.env["IGW_WEIGHTS"];
const ALL_PAGES = Object.entries(PICTURED_PAGES);
const PAGES = KEPT === undefined ? firstOnPush(ALL_PAGES) : ALL_PAGES;
const HOUR_MS = 3_600_000;
/** Largest size of a page without its style sheet and scripts, which browsers cache. */
const MAX_BYTES = 300_000;
/** Log every call of Redis that takes longer: those keep a worker's request waiting. */
const SLOW_MICROSECONDS = 500;

it.each([KEPT === undefined ? byExtent({ push: 8, nightly: 10_000 }) : 10_000])(
  "no page is heavy with %d API keys",
  async (keys) => {
    const sample = await startPicturedSample(keys);
    await sample.admin.client.config("SET", "slowlog-log-slower-than", SLOW_MICROSECONDS);
    const weights = [];
    for (const [name, page] of PAGES) {
      if (page.as === "nobody") continue;
      weights.push({ name, ...(await weigh(sample, page)) });
    }
    if (KEPT !== undefined) writeFileSync(KEPT, formatRows(weights));
    expect(weights.filter(({ bytes }) => bytes > MAX_BYTES)).toEqual([]);
  },
  HOUR_MS,
);

async function weigh({ admin, urlOf, beginSession }: PicturedSample, page: (typeof PICTURED_PAGES)[string]) {
  const { client, url } = admin;
  const cookie = `igw_session=${await beginSession(page.as === "nobody" ? undefined : page.as)}`;
  const id = /org_[^/?]+/.exec(urlOf({ route: "/:organization" }))?.[0] ?? "";
  await admin.ok("POST", `/api/organizations/${id}/groups`, { body: { name: `Group ${Math.random()}` } });
  await client.config("RESETSTAT");
  await client.call("SLOWLOG", "RESET");
  const before = await redisMs(client);
  const own = process.cpuUsage();
  const startMs = performance.now();
  const { status, text } = await createPageClient(url).get(urlOf(page).slice(url.length), cookie);
  const milliseconds = performance.now() - startMs;
  const { user, system } = process.cpuUsage(own);
  expect(`${page.route}: ${status}`).toBe(`${page.route}: 200`);
  const after = await redisMs(client);
  const slow = (await client.call("SLOWLOG", "GET", "128")) as [
    id: number,
    at: number,
    microseconds: number,
  ][];
  return {
    bytes: Buffer.byteLength(text),
    milliseconds: Math.round(milliseconds),
    commands: await countCommands(client),
    redisMs: Math.round(after - before),
    serverMs: Math.round((user + system) / 1000),
    longestCallMs: Math.max(0, ...slow.map(([, , microseconds]) => microseconds)) / 1000,
  };
}

type Client = PicturedSample["admin"]["client"];

async function redisMs(client: Client): Promise<number> {
  const text = await client.info("cpu");
  const of = (name: string) => Number(new RegExp(`used_cpu_${name}:([\\d.]+)`).exec(text)?.[1] ?? 0);
  return (of("user") + of("sys")) * 1000;
}

/** Counts all commands, those of scripts included. */
async function countCommands(client: Client): Promise<number> {
  const stats = (await client.info("commandstats")).matchAll(
    /^cmdstat_(?!info|config|slowlog)[^:]+:calls=(\d+)/gm,
  );
  return Array.from(stats, ([, calls]) => Number(calls)).reduce((sum, calls) => sum + calls, 0);
}

function formatRows(rows: readonly object[]): string {
  const [first = {}] = rows;
  return [Object.keys(first), ...rows.map((row) => Object.values(row))]
    .map((row) => `${row.join(",")}\n`)
    .join("");
}
