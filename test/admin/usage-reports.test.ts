/** How much of usage is read at a time: reports take turns, exports are few, and an answer has a bound. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UsageRow } from "../../src/shared/stored/reporting.ts";
import { createDeferred } from "../../src/shared/event-loop/deferred.ts";
import { NO_USAGE } from "../../src/shared/usage/usage-figures.ts";
import {
  type AdminUnderTest,
  createOrganization,
  createToken,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

let real: AdminUnderTest;
let admin: AdminUnderTest;
let busy = "";
let quiet = "";
let models = 0;
/** While it is there, reading the usage of the busy organization waits for it. */
let gate: ReturnType<typeof createDeferred<void>> | null = null;
let reading = 0;

beforeAll(async () => {
  real = await startAdmin();
  const readSumsOfDay = async (organizationId: string, day: string): Promise<UsageRow[]> => {
    reading += 1;
    if (organizationId === busy) await gate?.promise;
    reading -= 1;
    return Array.from({ length: models }, (_, index) => ({
      ...NO_USAGE,
      day,
      keyId: null,
      owners: "",
      model: `acme/model-${index}`,
      tags: "",
      requests: 1,
    }));
  };
  const store = { ...real.store, readSumsOfDay, readUsageOfDay: readSumsOfDay };
  admin = await startAdmin({ store });
  busy = await createOrganization(real, { name: "Busy" });
  quiet = await createOrganization(real, { name: "Quiet" });
});
afterAll(() => Promise.all([admin, real].map((each) => each?.stop())));

const usageOf = (organization: string, token = OPERATOR_TOKEN) =>
  admin.call("GET", `/api/organizations/${organization}/usage`, { token });

function openExport(organization: string, method = "GET"): Promise<Response> {
  const url = `${admin.url}/api/organizations/${organization}/usage/export?month=2028-02`;
  return fetch(url, { method, headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
}

describe("reports of usage", () => {
  it("run one after another, and a caller has four waiting: beyond is 429; others go on", async () => {
    const viewer = await createToken(real, busy, "viewer");
    const admins = await createToken(real, busy, "admin");
    gate = createDeferred<void>();
    const first = usageOf(busy, viewer);
    await expect.poll(() => reading).toBe(1);
    const calls = Array.from({ length: 5 }, () => usageOf(busy, viewer));
    const refused = await Promise.race(calls);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "5"]);
    expect(refused.json()).toMatchObject({ error: { code: "too_many_reports" } });
    const ofAdmin = usageOf(busy, admins);
    expect((await usageOf(quiet)).status).toBe(200);
    expect((await admin.call("GET", `/api/organizations/${busy}`, { token: viewer })).status).toBe(200);
    expect(reading).toBe(1);
    gate.resolve();
    const answers = await Promise.all([first, ofAdmin, ...calls]);
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 200, 200, 200, 200, 200, 429,
    ]);
  });

  it("have 20,000 rows at most", async () => {
    models = 20_001;
    const grouped = `/api/organizations/${quiet}/usage?month=2028-02&group_by=model`;
    expect(await admin.refused("GET", grouped)).toMatchObject({ status: 400, param: "group_by" });
    expect((await usageOf(quiet)).status).toBe(200);
  });
});

describe("exports of usage", () => {
  it("are open twice of an organization, until they are read or given up; HEAD opens none", async () => {
    // More than the sockets of both sides hold.
    models = 5_000;
    for (let index = 0; index < 4; index += 1) expect((await openExport(busy, "HEAD")).status).toBe(200);
    const [read, left] = [await openExport(busy), await openExport(busy)];
    const refused = await openExport(busy);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
    expect((await openExport(quiet)).status).toBe(200);
    await left.body?.cancel();
    await expect.poll(async () => (await openExport(busy, "HEAD")).status).toBe(200);
    const lines = (await read.text()).trimEnd().split("\n");
    expect(lines).toHaveLength(1 + 29 * models);
    const again = [await openExport(busy), await openExport(busy)];
    expect(again.map(({ status }) => status)).toEqual([200, 200]);
  });
});
