/** Requests over time, one after the other, as a file, and the health that they show; each also of one's own alone. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { RequestTrace } from "../../src/shared/stored/reporting.ts";
import { addTestUser, chargeInput, createIdentity, MODEL } from "../store/fixture.ts";
import { cookieOf, createPageClient } from "../support/page-client.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

type Made = Awaited<ReturnType<typeof createApiKey>>;
type Value = { readonly value: string; readonly name: string | null; readonly requests: number };

let admin: AdminUnderTest;
let organization = "";
let mine: Made;
let theirs: Made;
let ann = "";
/** In the order of their ends. */
const ids: string[] = [];
const PATH = () => `/api/organizations/${organization}`;
const pages = () => createPageClient(admin.url);

const traceOf = (name: string, endMs: number): RequestTrace => ({
  timeline: { bodyMs: 1, routedMs: 2, upstreamMs: 3, firstTokenMs: 10, endMs },
  upstream: { name, status: 200, cause: null },
});

async function end(
  { id }: Made,
  status: number,
  errorCode: string | null,
  trace: RequestTrace,
  more: object = {},
): Promise<void> {
  const key = { organizationId: organization, keyId: id, hash: "" };
  const identity = await createIdentity(admin.store, key);
  const final = { status, errorCode, checks: [], trace };
  await admin.store.charge(chargeInput({ ...identity, ...more }, 1, 5n, { final }));
  ids.push(identity.requestId);
}

beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
  mine = await createApiKey(admin, organization, { name: "=mine" });
  theirs = await createApiKey(admin, organization, { name: "theirs" });
  ann = await addTestUser(admin.store, organization, { name: "Ann" });
  const owners = formatOwnerIds({ userId: ann, groupId: null });
  await end(mine, 200, null, traceOf("east", 100));
  await end(theirs, 502, "upstream_error", traceOf("west", 900), {
    owners,
    session: "night",
    tags: "team=a",
  });
  await end(mine, 400, "invalid_json", traceOf("east", 5));
  await end(theirs, 200, null, traceOf("east", 300));
  await end(mine, 200, "upstream_error", traceOf("east", 700));
});
afterAll(() => admin.stop());

/** Sums of the columns. */
async function countAll(query: string) {
  const { data } = await admin.ok("GET", `${PATH()}/request-counts${query}`);
  const columns = data as { succeeded: number; rejected: number; failed: number }[];
  const sum = (name: "succeeded" | "rejected" | "failed") =>
    columns.reduce((total, column) => total + column[name], 0);
  return [sum("succeeded"), sum("rejected"), sum("failed")];
}

describe("requests over time", () => {
  it("are counted by their end, in at most 61 columns of any time", async () => {
    expect(await countAll("")).toEqual([2, 1, 2]);
    expect(await countAll(`?key_id=${mine.id}`)).toEqual([1, 1, 1]);
    expect(await countAll("?upstream=west")).toEqual([0, 0, 1]);
    expect(await countAll("?to=2020-01-01")).toEqual([0, 0, 0]);
    const none = await admin.ok(
      "GET",
      `${PATH()}/request-counts?to=2020-01-01&key_id=${mine.id}&user_id=${ann}`,
    );
    expect(none["filter_names"]).toEqual({ [mine.id]: "=mine", [ann]: "Ann" });
    for (const from of ["1970-01-02", "2026-01-01", new Date(Date.now() - 3_600_000).toISOString()]) {
      const { data } = await admin.ok("GET", `${PATH()}/request-counts?from=${from}`);
      expect((data as unknown[]).length).toBeLessThanOrEqual(62);
    }
  });

  it("have the values that filters offer, the most frequent first", async () => {
    const { values } = await admin.ok("GET", `${PATH()}/request-counts`);
    const { key_id, ...others } = values as Record<string, Value[]>;
    expect(key_id).toEqual([
      { value: mine.id, name: "=mine", requests: 3 },
      { value: theirs.id, name: "theirs", requests: 2 },
    ]);
    expect(others).toMatchObject({
      user_id: [{ value: ann, name: "Ann", requests: 1 }],
      model: [{ value: MODEL, name: null, requests: 5 }],
      upstream: [{ value: "east", requests: 4 }, { value: "west" }],
      session: [{ value: "night" }],
      tag: [{ value: "team=a" }],
    });
    expect(new Set(others["status"]?.map(({ value }) => value))).toEqual(
      new Set(["200", "upstream_error", "invalid_json"]),
    );
  });
});

describe("the requests next to one", () => {
  const neighborsOf = async (id: string | undefined, query = "") =>
    (await admin.ok("GET", `${PATH()}/requests/${id}?neighbors=true${query}`))["neighbors"];

  it("are those that ended before and after it", async () => {
    expect(await neighborsOf(ids[2])).toEqual({ newer: ids[3], older: ids[1] });
    expect(await neighborsOf(ids[0])).toEqual({ newer: ids[1], older: null });
    expect(await neighborsOf(ids[4])).toEqual({ newer: null, older: ids[3] });
  });

  it("are those with the same filters, whether it matches them or not", async () => {
    expect(await neighborsOf(ids[2], `&key_id=${mine.id}`)).toEqual({ newer: ids[4], older: ids[0] });
    expect(await neighborsOf(ids[2], "&upstream=west")).toEqual({ newer: null, older: ids[1] });
  });

  it("are left out unless they are asked for", async () => {
    expect(await admin.ok("GET", `${PATH()}/requests/${ids[2]}`)).not.toHaveProperty("neighbors");
  });
});

describe("health", () => {
  const health = async (query: string) =>
    (await admin.ok("GET", `${PATH()}/usage?health=true&${query}`))["data"];

  it("is that of a model, a key or an upstream", async () => {
    const figures = { judged_requests: 5, failed_requests: 2, duration_ms: { p50: 100, p95: 300 } };
    expect(await health("group_by=model")).toMatchObject([{ model: MODEL, health: figures }]);
    expect(await health("group_by=upstream")).toMatchObject([
      { upstream: "east", requests: 4, health: { judged_requests: 4, failed_requests: 1 } },
      { upstream: "west", health: { failed_requests: 1, duration_ms: null, output_tokens_per_second: null } },
    ]);
    expect(await health(`key_id=${theirs.id}`)).toMatchObject([{ health: { judged_requests: 2 } }]);
  });

  it("is shown of models and upstreams, and over time", async () => {
    const cookie = cookieOf(await pages().signIn(OPERATOR_TOKEN));
    const show = async (path: string) =>
      (await pages().get(`/organizations/${organization}/${path}`, cookie)).text;
    const read = vi.spyOn(admin.store, "listRequests");
    const models = await show("models");
    expect(read, "one reading").toHaveBeenCalledTimes(1);
    read.mockRestore();
    expect(models).toMatch(/Health by model and upstream.* at east.*75\.0 %.* at west.*0\.0 %/s);
    for (const by of ["key", "upstream", "model", "tag:team"]) {
      expect(await show(`usage?metric=latency&by=${by}`)).toContain("Duration of requests");
    }
    expect(await show("use?upstream=east")).toMatch(/Cost day by day, by model.*Health.*75\.0 %/s);
    expect(await show("use?upstream=none")).toContain("No usage yet.");
    expect(await show(`use?model=${MODEL}`)).toMatch(/Health.*60\.0 %/s);
    expect(await show(`keys/${mine.id}`)).toMatch(/Health.*66\.6 %/s);
    expect(await show("use?session=night")).not.toContain(">Health<");
    expect(await show("usage?metric=cost&by=upstream")).toContain("/requests?upstream=east");
  });

  it("by upstream is no table that others have columns for", async () => {
    const refused = await admin.refused("GET", `${PATH()}/usage?group_by=upstream&format=csv`);
    expect(refused).toMatchObject({ status: 400, param: "format" });
  });
});

describe("requests as a file", () => {
  it("are those that the page shows, without formulas", async () => {
    const cookie = cookieOf(await pages().signIn(OPERATOR_TOKEN));
    const { text, headers } = await pages().get(
      `/organizations/${organization}/requests.csv?key_id=${mine.id}`,
      cookie,
    );
    expect(headers["content-type"]).toContain("text/csv");
    const [head, ...lines] = text.trimEnd().split("\r\n");
    expect(head).toMatch(/^created_at,id,status,error_code,key_id,key_name,.*,upstream_status,.*,cost$/);
    expect(lines.map((line) => line.split(",")[1])).toEqual([ids[4], ids[2], ids[0]]);
    expect(lines[0]).toContain(",'=mine,");
    expect(lines[0]).toMatch(/,0\.00000005$/);
    const wrong = await pages().get(`/organizations/${organization}/requests.csv?tag=team`, cookie);
    expect(wrong.status).toBe(400);
  });
});

describe("a holder of an API key", () => {
  const paths = [
    "requests",
    "requests?session=night",
    "requests.csv",
    `requests.csv?key_id=`,
    "requests?key_id=",
  ];

  it("sees, counts and downloads only the key's requests, whatever the address names", async () => {
    const cookie = cookieOf(await pages().signIn(mine.key));
    const own = `/organizations/${organization}/me`;
    const named = paths.map((path) => path.replace(/key_id=$/, `key_id=${theirs.id}`));
    for (const path of named) {
      const { status, text } = await pages().get(`${own}/${path}`, cookie);
      expect([path, status]).toEqual([path, 200]);
      for (const hidden of [ids[1], ids[3], "theirs", "Ann", "west"]) {
        expect(text.replaceAll(path, "")).not.toContain(hidden);
      }
    }
    expect((await pages().get(`${own}/requests`, cookie)).text).toMatch(/Status of your models.*66\.6 %/s);
    expect((await pages().get(`${own}/requests?user_id=${ann}`, cookie)).status).toBe(400);
    const { text } = await pages().get(`${own}/requests/${ids[2]}`, cookie);
    expect(text).toContain(`${own}/requests/${ids[4]}`);
    expect(text).toContain(`${own}/requests/${ids[0]}`);
    expect((await pages().get(`${own}/requests/${ids[1]}`, cookie)).status).toBe(404);
    expect((await pages().get(`/organizations/${organization}/requests`, cookie)).status).toBe(403);
  });
});
