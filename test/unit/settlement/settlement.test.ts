import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { GraceOutage } from "../../../src/data-path/grace/grace-outage.ts";
import type { OpenRecordResult } from "../../../src/shared/stored/settlement.ts";
import { OK } from "./account-fixture.ts";
import { NO_JOURNAL } from "./safeties-fixture.ts";
import {
  ADMISSION,
  changeAdmission,
  createOpenInput,
  createSettlement,
  createUpstreamForm,
} from "./settlement-fixture.ts";

const ID = ADMISSION.identity.requestId;

/** What a promise rejects with; throws when it does not. */
async function errorOf(promise: Promise<unknown>): Promise<GatewayError> {
  const thrown: unknown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (thrown instanceof GatewayError) return thrown;
  throw new Error("it was not refused", { cause: thrown });
}

function refuse(figures: { spent: bigint; held: bigint; cap: number }): OpenRecordResult {
  return {
    outcome: "key_cap_reached",
    figures: {
      spentMicrocents: figures.spent,
      heldMicrocents: figures.held,
      capCents: figures.cap,
      raisedCents: 0,
      period: "month",
      ownerName: "",
      areAmountsHidden: false,
    },
  };
}

describe("Settlement.open", () => {
  it("records the prompt's estimate, and reserves no worst case without strict caps", async () => {
    const { settlement, seen } = createSettlement();
    await settlement.open(createOpenInput());
    expect(seen.opened).toMatchObject([
      { requestId: ID, worstCaseMicrocents: null, floorMicrocents: 100n, floorInputTokens: 100 },
    ]);
  });

  it("estimates no prompt beyond the context window", async () => {
    const { settlement, seen } = createSettlement();
    await settlement.open(createOpenInput({}, 8_000_000));
    expect(seen.opened[0]?.floorInputTokens).toBe(1_000);
  });

  it("estimates no prompt beyond what strict caps hold for what goes upstream", async () => {
    const { settlement, seen } = createSettlement();
    await settlement.open(createOpenInput({}, 20_000, 82));
    const strict = { identity: { requestId: "req_2" }, limits: { isStrict: true } };
    await settlement.open(createOpenInput(strict, 20_000, 82));
    expect(seen.opened.map(({ floorInputTokens }) => floorInputTokens <= 82)).toEqual([true, true]);
  });

  it("holds the worst case with strict caps", async () => {
    const { settlement, seen } = createSettlement();
    await settlement.open(createOpenInput({ limits: { isStrict: true } }));
    expect(seen.opened[0]?.worstCaseMicrocents).toBe(400n + 100n);
  });

  it("holds again with the worst case when strict caps were switched on meanwhile", async () => {
    const { settlement, seen } = createSettlement({
      openRecord: ({ worstCaseMicrocents }) =>
        Promise.resolve({ outcome: worstCaseMicrocents === null ? "worst_case_required" : "opened" }),
    });
    // The strict form of the body is longer: it has a limit of output.
    const upstream = {
      ...createUpstreamForm(400),
      becomeStrict: () => {
        upstream.byteLength = 430;
      },
    };
    await settlement.open({ ...createOpenInput(), upstream });
    expect(seen.opened.map(({ worstCaseMicrocents }) => worstCaseMicrocents)).toEqual([null, 430n + 100n]);
  });

  it("refuses with the cap's figures, and charges nothing", async () => {
    const { settlement, seen } = createSettlement({
      openRecord: () => Promise.resolve(refuse({ spent: 1_999_999n, held: 1n, cap: 1 })),
    });
    const error = await errorOf(settlement.open(createOpenInput()));
    expect(error.code).toBe("hard_cap_reached");
    expect(error.fields).toMatchObject({ scope: "key", period: "month", spent_cents: 1, hard_cap_cents: 1 });
    expect(seen.charges).toEqual([]);
  });

  it("says with strict caps what is held", async () => {
    const { settlement } = createSettlement({
      openRecord: () => Promise.resolve(refuse({ spent: 0n, held: 900_000n, cap: 1 })),
    });
    const error = await errorOf(settlement.open(createOpenInput({ limits: { isStrict: true } })));
    expect(error.fields).toMatchObject({ held_cents: 1 });
  });

  it("says with strict caps how long an answer may be that fits, by the body that would say so", async () => {
    const { settlement } = createSettlement({
      openRecord: () => Promise.resolve(refuse({ spent: 1_000_000n - 455n, held: 10n, cap: 1 })),
    });
    // The prompt's 401 bytes leave 44 microcents, which are four tokens of ten; with the limit as it is there are 400.
    const input = createOpenInput({ limits: { isStrict: true } });
    const upstream = { ...input.upstream, lengthAt: () => 401 };
    const error = await errorOf(settlement.open({ ...input, upstream }));
    expect(error.fields).toMatchObject({ affordable_max_tokens: 4 });
    expect(error.message).toContain("You requested up to 10 tokens, but can only afford 4.");
  });

  describe("where the key shrinks what does not fit", () => {
    /** Answers of at most 1,000 tokens of ten, in a body that is as long with every limit. */
    const open = async (rooms: readonly bigint[], thinkingBudget = 0) => {
      const lowered: number[] = [];
      let asked = 0;
      const { settlement, seen } = createSettlement({
        openRecord: ({ worstCaseMicrocents }) => {
          const room = rooms[asked] ?? 0n;
          asked += 1;
          const fits = (worstCaseMicrocents ?? 0n) <= room;
          return Promise.resolve(
            fits ? { outcome: "opened" } : refuse({ spent: 100_000_000n - room, held: 0n, cap: 100 }),
          );
        },
      });
      const input = createOpenInput({ limits: { isStrict: true, shrinksOnCap: true } });
      const opened = settlement.open({
        ...input,
        model: { ...input.model, maxOutputTokens: 1_000 },
        upstream: {
          ...createUpstreamForm(400),
          thinkingBudget,
          lowerOutput: (tokens) => void lowered.push(tokens),
        },
      });
      return { opened, lowered, seen };
    };
    /** The prompt's 400 bytes, and so many tokens of ten. */
    const roomFor = (tokens: number) => 400n + 10n * BigInt(tokens);

    it("holds exactly what the shrunk answer may cost, by one more attempt", async () => {
      const { opened, lowered, seen } = await open([roomFor(500) + 9n, roomFor(500) + 9n]);
      expect((await opened).shrunk).toEqual({
        requestedTokens: 1_000,
        maxTokens: 500,
        scope: "key",
        period: "month",
        isHidden: false,
      });
      expect(lowered).toEqual([500]);
      expect(seen.opened.map(({ worstCaseMicrocents }) => worstCaseMicrocents)).toEqual([
        roomFor(1_000),
        roomFor(500),
      ]);
    });

    it("touches nothing that fits", async () => {
      const { opened, lowered, seen } = await open([roomFor(1_000)]);
      expect((await opened).shrunk).toBeNull();
      expect(lowered).toEqual([]);
      expect(seen.opened).toHaveLength(1);
    });

    it("asks again for what others have left of the room, and not for ever", async () => {
      const { opened, lowered } = await open([roomFor(500), roomFor(400), roomFor(400)]);
      expect((await opened).shrunk).toMatchObject({ maxTokens: 400 });
      expect(lowered).toEqual([500, 400]);
      const never = await open([900, 800, 700, 600, 500].map(roomFor));
      const error = await errorOf(never.opened);
      expect(error.message).toContain("You requested up to 1000 tokens, but can only afford 600.");
      expect(never.lowered).toEqual([900, 800, 700]);
    });

    it("refuses what would be shorter than 256 tokens beside what is for thinking", async () => {
      const rooms = [roomFor(256), roomFor(256)];
      expect((await (await open(rooms)).opened).shrunk).toMatchObject({ maxTokens: 256 });
      const error = await errorOf((await open(rooms, 1)).opened);
      expect(error.fields).toMatchObject({ affordable_max_tokens: 256 });
      expect((await errorOf((await open([roomFor(255)])).opened)).code).toBe("hard_cap_reached");
    });

    it("says it in the log and among the checks of the request", async () => {
      const { opened, seen } = await open([roomFor(500), roomFor(500)]);
      const account = await opened;
      await account.settle("refused_by_upstream", { status: 502, errorCode: "upstream_error" });
      expect(JSON.parse(seen.lines[0] ?? "{}")).toMatchObject({
        shrunk: { requested_max_tokens: 1_000, max_tokens: 500 },
      });
      const figures = { requested_max_tokens: 1_000, max_tokens: 500, scope: "key", period: "month" };
      expect(seen.charges[0]?.final?.checks[0]).toEqual({ name: "affordable_output", passed: true, figures });
    });
  });

  it.each(["embeddings", "responses_compact"] as const)("says nothing of it on %s", async (endpoint) => {
    const { settlement } = createSettlement({
      openRecord: () => Promise.resolve(refuse({ spent: 0n, held: 999_999n, cap: 1 })),
    });
    const error = await errorOf(settlement.open(createOpenInput({ limits: { isStrict: true }, endpoint })));
    expect(error.fields).not.toHaveProperty("affordable_max_tokens");
    expect(error.message).not.toContain("afford");
  });

  it("refuses what is one request too many in flight, in the words of the admission, and charges nothing", async () => {
    const { settlement, seen } = createSettlement({
      openRecord: () => Promise.resolve({ outcome: "concurrency_limited", limit: 5 }),
    });
    const error = await errorOf(settlement.open(createOpenInput()));
    expect([error.code, error.status("chat"), error.retryAfterSeconds]).toEqual([
      "concurrency_limit_exceeded",
      429,
      1,
    ]);
    expect(error.message).toContain('API key "ci" has reached its limit of 5 concurrent requests');
    expect(seen.charges).toEqual([]);
    settlement.recordRefusal(
      ADMISSION,
      { model: null, requestedModel: null },
      { status: 429, errorCode: error.code },
      error,
    );
    expect(seen.recorded[0]?.checks).toMatchObject([{ name: "concurrency", passed: false }]);
  });

  it("refuses when Redis does not answer, and takes back the record that may be there", async () => {
    const { settlement, seen } = createSettlement({
      openRecord: () => Promise.reject(new Error("timed out")),
    });
    const error = await errorOf(settlement.open(createOpenInput()));
    expect(error.code).toBe("gateway_unavailable");
    settlement.recordRefusal(
      ADMISSION,
      { model: null, requestedModel: null },
      { status: 503, errorCode: error.code },
      error,
    );
    await settlement.stop(1_000);
    expect(seen.charges).toMatchObject([
      {
        requestId: ID,
        totalMicrocents: 0n,
        requests: 0,
        final: { status: 503, errorCode: "gateway_unavailable" },
      },
    ]);
    // Its final charge has put it on the list; a record whose commands were not all answered stays.
    expect(seen.recorded).toEqual([]);
    expect(seen.forgotten).toEqual([]);
    expect(seen.lines).toHaveLength(1);
  });

  it("refuses a model without a price in the organization's currency", async () => {
    const { settlement, seen } = createSettlement();
    const error = await errorOf(settlement.open(createOpenInput({ caller: { currency: "EUR" } })));
    expect(error.code).toBe("model_not_available_in_currency");
    expect(seen.opened).toEqual([]);
  });
});

describe("Settlement.open in the grace period", () => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const away = () => Promise.reject(new Error("Command timed out"));

  function openOutage(options: { shares: number; graceMs?: number }) {
    const { shares, graceMs = 1_000 } = options;
    const disk = { isFull: false };
    const outage = new GraceOutage({ clock, graceMs, logger: { warn: () => undefined } });
    const append = () => (disk.isFull ? Promise.reject(new Error("full")) : Promise.resolve());
    const spool = { append, stop: () => Promise.resolve(true), journal: NO_JOURNAL };
    const script = { openRecord: away };
    const { settlement } = createSettlement(script, { outage, spool, workerCount: () => shares });
    let count = 0;
    const open = () => {
      count += 1;
      const identity = { requestId: `${ID}-${count}` };
      return settlement.open(createOpenInput({ identity, limits: { concurrencyLimit: 5 } }));
    };
    return { settlement, open, disk };
  }

  it.each([
    { shares: 1, fit: 5 },
    { shares: 2, fit: 2 },
    { shares: 9, fit: 1 },
  ])("lets $fit of 12 at once go on where $shares workers share a limit of 5", async ({ shares, fit }) => {
    const { open } = openOutage({ shares });
    const opened = await Promise.allSettled(Array.from({ length: 12 }, open));
    const refused = opened.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
    expect(refused).toEqual(Array.from({ length: 12 - fit }, () => "concurrency_limit_exceeded"));
  });

  it("gives a slot back with the final charge, and when the disk did not take the request", async () => {
    const { settlement, open, disk } = openOutage({ shares: 5 });
    const account = await open();
    expect((await errorOf(open())).code).toBe("concurrency_limit_exceeded");
    await account.settle("complete", OK);
    disk.isFull = true;
    expect((await errorOf(open())).code).toBe("gateway_unavailable");
    disk.isFull = false;
    await expect.poll(() => settlement.figures.requestsInFlight).toBe(0);
    await open();
  });

  it("says that Redis is unreachable, not that the key is full, once it is over", async () => {
    const { open } = openOutage({ shares: 1, graceMs: 0 });
    expect((await errorOf(open())).code).toBe("gateway_unavailable");
  });
});

describe("Settlement.recordRefusal", () => {
  it("records why and logs a request that cost nothing", async () => {
    const { settlement, seen } = createSettlement();
    const error = new GatewayError("invalid_parameter", { message: "no", param: "messages" });
    settlement.recordRefusal(
      ADMISSION,
      { model: null, requestedModel: null },
      { status: 400, errorCode: "invalid_parameter" },
      error,
    );
    await settlement.stop(1_000);
    expect(seen.recorded).toMatchObject([
      {
        requestId: ID,
        status: 400,
        checks: [{ name: "body", passed: false, figures: { param: "messages", message: "no" } }],
      },
    ]);
    expect(JSON.parse(seen.lines[0] ?? "")).toMatchObject({
      outcome: "refused",
      prices: null,
      cost_microcents: 0,
    });
  });

  it("says whose it was at its admission, in the list and in the log", async () => {
    const { settlement, seen } = createSettlement();
    settlement.recordRefusal(
      changeAdmission(ADMISSION, { identity: { owners: "user_1.group_2" } }),
      { model: null, requestedModel: null },
      { status: 400, errorCode: "invalid_json" },
      new GatewayError("invalid_json"),
    );
    await settlement.stop(1_000);
    expect(seen.recorded).toMatchObject([{ owners: "user_1.group_2" }]);
    expect(JSON.parse(seen.lines[0] ?? "")).toMatchObject({ user_id: "user_1", group_id: "group_2" });
  });

  it("names the cap that was reached when its record was opened", () => {
    const { settlement, seen } = createSettlement();
    const fields = { scope: "organization", spent_cents: 5, hard_cap_cents: 5 };
    const error = new GatewayError("org_hard_cap_reached", { fields });
    settlement.recordRefusal(
      ADMISSION,
      { model: "acme/echo-small", requestedModel: "gpt-4o-mini" },
      { status: 402, errorCode: error.code },
      error,
    );
    expect(seen.recorded[0]?.checks).toMatchObject([
      { name: "organization_hard_cap", passed: false, figures: fields },
    ]);
  });
});
