/**
 * Admission of a request: the key's record, its bucket, the limit of concurrent requests and the caps,
 * decided by one script on the organization's slot (`lua/admit.lua`). Requests of one key in the same turn
 * share a call. The script is sent once: after an error it is unknown whether a token was taken.
 */
import { countFiredAlerts, runInMonth, type StoreContext } from "../context.ts";
import {
  countBucketKey,
  openRequestsKey,
  inflightKey,
  keyRecordKey,
  lookUpKey,
  organizationKey,
  refusedKey,
  requestBucketKey,
  spendKey,
} from "../redis/keys.ts";
import { inReplyOrder } from "../redis/in-reply-order.ts";
import { dayAt, monthAt } from "../../../shared/time/calendar.ts";
import { integerAt, integerOrNullAt, parseArray, textAt } from "../redis/parse-reply.ts";
import { ADMISSION_DECISIONS } from "../../../shared/stored/decision.ts";
import type { OwnSpend } from "../../../shared/stored/own-spend.ts";
import type {
  AdmittedCap,
  AdmitInput,
  AdmitResult,
  BucketFigures,
  KeyReference,
  KnownKeyResult,
} from "../../../shared/stored/admission.ts";
import { parseCap } from "./checks.ts";
import { parseTokenBuckets, parseTokenLimit } from "./token-buckets.ts";
import { type AdmittedSettings, knownSettings, rememberSettings } from "./read-settings.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { listOf } from "../redis/row-layouts.ts";

/** @see AdmissionStore.lookUpKey */
export async function findKeyReference(
  context: StoreContext,
  sha256Hex: string,
): Promise<KeyReference | null> {
  const value = await context.client.get(lookUpKey(sha256Hex));
  const [organizationId, keyId] = value?.split(" ") ?? [];
  return organizationId === undefined || keyId === undefined ? null : { organizationId, keyId };
}

/** @see AdmissionStore.admit */
export function admit(context: StoreContext, input: AdmitInput): Promise<AdmitResult> {
  const { keyId, presentedHash, groupId, bucket, metered } = input;
  const question = [keyId, presentedHash, groupId ?? "", bucket, metered].join();
  return context.admissions.run(question, input, (inputs) => admitAll(context, input, inputs));
}

type Question = Omit<AdmitInput, "requestId" | "route" | "promptTokens">;

/** @param question The arguments that all requests of the batch share. */
async function admitAll(
  context: StoreContext,
  question: Question,
  inputs: readonly AdmitInput[],
): Promise<readonly AdmitResult[]> {
  const { keyId } = question;
  const known = knownSettings(keyId);
  const ofEach = inputs.flatMap(({ requestId, route, promptTokens, reservedTokens = 0 }) =>
    listOf["admitted-request"]({
      requestId,
      route,
      promptTokens: String(promptTokens),
      reservedTokens: String(reservedTokens),
    }),
  );
  let results: readonly AdmitResult[] = [];
  const reply = await runInMonth(context, (month) => {
    const command = context.client.igwAdmit({
      keyId,
      presentedHash: question.presentedHash,
      monthStartMs: String(month.startMs),
      monthEndMs: String(month.endMs),
      bucketName: question.bucket,
      metered: question.metered,
      knownVersion: known?.version ?? "",
      wantedGroupId: question.groupId ?? "",
      furtherArguments: ofEach,
      ...admitKeys(question, month.name),
    });
    // This process's own share of the figures is only valid at this moment.
    return inReplyOrder(command, (answered) => {
      if (answered[OUTCOME] !== "unknown_key" && answered[OUTCOME] !== "month_changed") {
        countFiredAlerts(context, answered, AT.admit.alertsFired);
        results = parseAdmitReply(answered, inputs, { known, ownSpend: context.ownSpend });
      }
      return answered;
    });
  });
  if (reply[OUTCOME] !== "unknown_key") return results;
  const timeMs = integerAt(reply, AT.unknownKey.timeMs);
  return inputs.map(() => ({ decision: "unknown_key", timeMs }));
}

/** Builds the keys of `admit.lua`. */
export function admitKeys({ organizationId, keyId }: KeyReference, month: string) {
  return {
    keyRecord: keyRecordKey(organizationId, keyId),
    organization: organizationKey(organizationId),
    requestBucket: requestBucketKey(organizationId, keyId),
    countBucket: countBucketKey(organizationId, keyId),
    spend: spendKey(organizationId, month),
    inflight: inflightKey(organizationId, keyId),
    refused: refusedKey(organizationId),
    openRequests: openRequestsKey(organizationId),
  };
}

interface Sent {
  /** Settings whose version was sent: the reply omits the settings if the version still matches. */
  readonly known: AdmittedSettings | null;
  readonly ownSpend: OwnSpend;
}

function parseAdmitReply(
  reply: readonly unknown[],
  inputs: readonly AdmitInput[],
  { known, ownSpend }: Sent,
): AdmitResult[] {
  const { keyId = "", organizationId = "" } = inputs[0] ?? {};
  const at = AT.admit;
  const timeMs = integerAt(reply, at.timeMs);
  const version = textAt(reply, at.settingsVersion);
  const settings =
    version === "" && known !== null ? known : rememberSettings(keyId, version, reply[at.settings]);
  const { name: month } = monthAt(timeMs);
  const { name: day } = dayAt(timeMs);
  const key = {
    id: keyId,
    display: settings.display,
    ...settings.key,
  };
  const organization = { id: organizationId, ...settings.organization };
  const shared = {
    timeMs,
    month,
    day,
    key,
    organization,
    user: settings.user,
    group: settings.group,
    isBehind: ownSpend.isBehind(organizationId, day),
    tokenLimit: parseTokenLimit(textAt(reply, at.tokenLimit)),
    ...parseCaps(reply, createOwnReader({ ...settings, key, organization }, day, ownSpend)),
  };
  const capacity = integerAt(reply, at.capacity);
  const buckets = textAt(reply, at.tokenBuckets);
  const countsCached = countsCachedTokens(settings);
  return parseArray(reply[at.requests]).map((item, position) => {
    const { promptTokens: prompt = 0, reservedTokens: reserved = 0 } = inputs[position] ?? {};
    const takenTokens = buckets === "" ? null : { buckets, prompt, reserved, countsCached };
    return parseDecided(parseArray(item), { capacity, takenTokens }, shared);
  });
}

type RequestFigures =
  | "decision"
  | "bucket"
  | "concurrentRequests"
  | "isEntered"
  | "tokenBuckets"
  | "takenTokens";

/** @param shared The part of the reply that all its requests share. */
function parseDecided(
  request: readonly unknown[],
  { capacity, takenTokens }: Pick<BucketFigures, "capacity"> & Pick<KnownKeyResult, "takenTokens">,
  shared: Omit<KnownKeyResult, RequestFigures>,
): KnownKeyResult {
  const at = AT.admitRequest;
  return {
    decision: readDecision(request[OUTCOME]),
    bucket: parseBucket(request, capacity),
    concurrentRequests: integerOrNullAt(request, at.concurrent),
    isEntered: textAt(request, at.entered) !== "",
    tokenBuckets: parseTokenBuckets(textAt(request, at.tokens)),
    takenTokens,
    ...shared,
  };
}

function parseBucket(request: readonly unknown[], capacity: number): BucketFigures {
  const at = AT.admitRequest;
  return {
    remaining: integerAt(request, at.remaining),
    capacity,
    resetMs: integerAt(request, at.resetMs),
    retryAfterSeconds: integerAt(request, at.retryAfterSeconds),
  };
}

/** Returns a reader of this process's own part of a cap's spend, as of this reply. */
function createOwnReader(
  owners: Pick<KnownKeyResult, "key" | "user" | "group" | "organization">,
  day: string,
  ownSpend: OwnSpend,
): (cap: AdmittedCap) => bigint {
  return ({ scope, period }) => {
    const subjectId = owners[scope]?.id ?? "";
    return ownSpend.inReply(owners.organization.id, { period, day, subjectId });
  };
}

/** Returns whether cached tokens count towards token limits. */
function countsCachedTokens({ key, organization }: AdmittedSettings): boolean {
  if (key.countCachedTokens === null) return organization.countCachedTokens;
  return key.countCachedTokens === "always";
}

/** Parses the caps in force, the cap that rejects, and whether sessions are capped. */
function parseCaps(
  reply: readonly unknown[],
  ownOf: (cap: AdmittedCap) => bigint,
): Pick<KnownKeyResult, "caps" | "reachedCap" | "areSessionsCapped"> {
  const caps = parseArray(reply[AT.admit.caps]).map((cap) => parseCap(parseArray(cap)));
  const reached = integerOrNullAt(reply, AT.admit.reached);
  return {
    caps: caps.map((cap) => ({ ...cap, ownMicrocents: ownOf(cap) })),
    reachedCap: reached === null ? null : (caps[reached - 1] ?? null),
    areSessionsCapped: textAt(reply, AT.admit.sessionsCapped) !== "",
  };
}

function readDecision(outcome: unknown): KnownKeyResult["decision"] {
  const decision = ADMISSION_DECISIONS.find((known) => known === outcome);
  if (decision === undefined || decision === "unknown_key") {
    throw new TypeError("admit replied a decision that is not known");
  }
  return decision;
}
