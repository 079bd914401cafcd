import { describe, expect, it, vi } from "vitest";
import type { GatewayError } from "../../../src/shared/contract/errors.ts";
import {
  formatAdmissionHeader,
  formatAwaitedHeader,
} from "../../../src/data-path/exchange/admission/admission-header.ts";
import type { AwaitedAdmission } from "../../../src/data-path/exchange/admission/deferred-admissions.ts";
import type { Decision } from "../../../src/data-path/exchange/admission/decision.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";
import { type Block, readEntries } from "../../../src/envoy/access-log-entries.ts";
import { recordBlock } from "../../../src/envoy/record-block.ts";
import { ADMISSION } from "./request-stream-fixture.ts";

const OWNED = { organization_id: "org_1" };
const HEADER = { admission: formatAdmissionHeader(ADMISSION) };
const CALLER = {
  organizationId: "org_1",
  keyId: "key_1",
  presentedHash: "0".repeat(64),
  userId: null,
  groupId: null,
};
const AWAITED = { admission: formatAwaitedHeader({ requestId: "req_1", caller: CALLER, extensions: {} }) };

/** Records a block as Envoy reports it, with these tags next to the guardrail's. */
async function record(tags: Record<string, string>, options: { deferred?: Decision; here?: boolean } = {}) {
  const { deferred, here = false } = options;
  const exchange = {
    onRefused: vi.fn<(error: GatewayError) => void>(),
    onEndAnswered: vi.fn<() => Promise<void>>(async () => undefined),
  };
  const createExchange = vi.fn<(made: { admission: unknown }) => never>(() => exchange as never);
  const recordBlockedResponse = vi.fn<(...told: unknown[]) => void>();
  const awaited: AwaitedAdmission | null =
    deferred === undefined ? null : { decision: null, decisionPromise: Promise.resolve(deferred) };
  const logger = { error: vi.fn<(...told: unknown[]) => void>() };
  const onUnknown = vi.fn<(block: Block) => void>();
  const [entry] = readEntries({
    http_logs: {
      log_entry: [
        {
          common_properties: { custom_tags: { guardrail: "pii", ...tags } },
          request: { request_id: "req_1" },
          response: { response_code: { value: 403 } },
        },
      ],
    },
  });
  await recordBlock(entry!.block!, here, {
    createExchange,
    protocols: PROTOCOLS,
    deferred: { take: () => awaited },
    recordBlockedResponse,
    onUnknown,
    logger,
  });
  const [refused] = exchange.onRefused.mock.calls;
  const admissions = createExchange.mock.calls.map(([{ admission }]) => admission);
  return { refused: refused?.[0], admissions, recordBlockedResponse, onUnknown, logger, end: entry!.end };
}

describe("what a guardrail blocked", () => {
  it("is a rejection of the admitted request, with the guardrail's reason", async () => {
    const { refused, admissions, recordBlockedResponse, end } = await record(HEADER);
    expect(admissions).toEqual([ADMISSION]);
    expect(refused).toMatchObject({ code: "guardrail_blocked", fields: { reason: "pii" } });
    expect(recordBlockedResponse).not.toHaveBeenCalled();
    expect(end).toEqual({ status: 403, details: "guardrail: pii" });
  });

  it("waits for the decision of a request that passed ext_authz before it", async () => {
    const admitted = { kind: "admitted", admission: ADMISSION } as const;
    expect((await record(AWAITED, { deferred: admitted })).admissions).toEqual([ADMISSION]);
    const rejected = { kind: "refused", reply: { status: 402, headers: [], body: "" }, log: {} } as never;
    expect((await record(AWAITED, { deferred: rejected })).admissions).toEqual([]);
  });

  it("is passed on if another worker has the decision, and only then", async () => {
    const { admissions, onUnknown } = await record(AWAITED);
    expect(admissions).toEqual([]);
    expect(onUnknown).toHaveBeenCalledWith(expect.objectContaining({ requestId: "req_1", reason: "pii" }));
    const admitted = { kind: "admitted", admission: ADMISSION } as const;
    for (const known of [
      await record(AWAITED, { deferred: admitted }),
      await record(HEADER),
      await record(OWNED),
    ]) {
      expect(known.onUnknown).not.toHaveBeenCalled();
    }
  });

  it("is recorded once if a stream of ext_proc here ends with it", async () => {
    expect((await record(HEADER, { here: true })).admissions).toEqual([]);
  });

  it("is nothing for a request that has no entry, as of a count of tokens", async () => {
    const counted = formatAdmissionHeader({ ...ADMISSION, endpoint: "count_tokens" });
    expect((await record({ admission: counted })).admissions).toEqual([]);
  });

  it("changes the outcome of a response that ext_proc has passed on", async () => {
    const { recordBlockedResponse, admissions } = await record(OWNED);
    expect(recordBlockedResponse).toHaveBeenCalledWith(
      { organizationId: "org_1", requestId: "req_1" },
      403,
      expect.objectContaining({ code: "guardrail_blocked", fields: { reason: "pii" } }),
    );
    expect(admissions).toEqual([]);
  });

  it("is logged where its admission can't be read", async () => {
    const { logger, admissions } = await record({ admission: "nonsense" });
    expect(admissions).toEqual([]);
    expect(logger.error).toHaveBeenCalledOnce();
  });

  it("is not every end: a report without the guardrail's tag has no block", () => {
    const log_entry = [{ request: { request_id: "req_1" }, common_properties: { custom_tags: OWNED } }];
    expect(readEntries({ http_logs: { log_entry } })).toEqual([
      { requestId: "req_1", end: { status: 0, details: "" }, block: null },
    ]);
  });
});
