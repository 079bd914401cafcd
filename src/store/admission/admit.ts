/**
 * May this key send this request: the key's record, the bucket, the limit of concurrent requests and both caps, decided
 * by one script on the organization's slot (`lua/admit.lua`). It is sent once; an error says nothing about whether the
 * token was taken.
 */
import { runInMonth } from "../context.ts";
import type { StoreContext } from "../context.ts";
import {
  countBucketKey,
  inflightKey,
  keyRecordKey,
  lookUpKey,
  organizationKey,
  refusedKey,
  requestBucketKey,
  spendKey,
} from "../redis/keys.ts";
import { dayAt, monthAt } from "../../calendar.ts";
import { parseModels } from "../management/records.ts";
import { amountAt, integerAt, integerOrNullAt, textAt } from "../redis/parse-reply.ts";
import { ORGANIZATION_SETTINGS } from "../../settings/organization.ts";
import { ADMISSION_DECISIONS } from "../types/decision.ts";
import type {
  AdmitInput,
  AdmitResult,
  AdmittedKey,
  AdmittedOrganization,
  KeyReference,
  KnownKeyResult,
} from "../types/admission.ts";
import { setBounded } from "../../set-bounded.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";

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
export async function admit(context: StoreContext, input: AdmitInput): Promise<AdmitResult> {
  const { organizationId, keyId } = input;
  const reply = await runInMonth(context, (month) =>
    context.client.igwAdmit(
      keyRecordKey(organizationId, keyId),
      organizationKey(organizationId),
      requestBucketKey(organizationId, keyId),
      countBucketKey(organizationId, keyId),
      spendKey(organizationId, month.name),
      inflightKey(organizationId, keyId),
      refusedKey(organizationId),
      keyId,
      input.presentedHash,
      String(month.startMs),
      String(month.endMs),
      input.requestId,
      input.route,
      input.bucket,
      input.metered ? "1" : "0",
    ),
  );
  return parseAdmitResult(reply, input);
}

function parseAdmitResult(reply: readonly unknown[], input: AdmitInput): AdmitResult {
  const decision = ADMISSION_DECISIONS.find((known) => known === reply[OUTCOME]);
  if (decision === undefined) throw new TypeError("admit replied a decision that is not known");
  const timeMs = integerAt(reply, AT.admit.timeMs);
  if (decision === "unknown_key") return { decision, timeMs };
  return {
    decision,
    timeMs,
    month: monthAt(timeMs).name,
    day: dayAt(timeMs).name,
    key: parseKey(reply, input.keyId),
    organization: parseOrganization(reply, input.organizationId),
    ...parseLimits(reply),
  };
}

function parseKey(reply: readonly unknown[], id: string): AdmittedKey {
  const at = AT.admit;
  return {
    id,
    name: textAt(reply, at.keyName),
    display: textAt(reply, at.keyDisplay),
    requestsPerMinute: integerAt(reply, at.rpm),
    hardCapCents: integerOrNullAt(reply, at.keyHardCapCents),
    budgetCents: integerOrNullAt(reply, at.keyBudgetCents),
    allowedModels: parseModels(textAt(reply, at.allowedModels)),
    maxConcurrentRequests: integerOrNullAt(reply, at.maxConcurrent),
    expiresAtMs: integerOrNullAt(reply, at.expiresAtMs),
    spentMicrocents: amountAt(reply, at.keySpent),
    defaultTags: textOrNullAt(reply, at.defaultTags),
  };
}

function textOrNullAt(reply: readonly unknown[], position: number): string | null {
  const text = textAt(reply, position);
  return text === "" ? null : text;
}

function parseOrganization(reply: readonly unknown[], id: string): AdmittedOrganization {
  const at = AT.admit;
  return {
    id,
    name: textAt(reply, at.organizationName),
    currency: textAt(reply, at.currency),
    hardCapCents: integerOrNullAt(reply, at.organizationHardCapCents),
    budgetCents: integerOrNullAt(reply, at.organizationBudgetCents),
    strictCaps: textAt(reply, at.strictCaps) === "1",
    endUserTag: textAt(reply, at.endUserTag) === "1",
    modelNames: parseModelNames(textAt(reply, at.modelNames)),
    spentMicrocents: amountAt(reply, at.organizationSpent),
  };
}

const { kind: MODEL_NAMES, default: NO_MODEL_NAMES } = ORGANIZATION_SETTINGS.modelNames;

/** By their text: read once and not with every request. Most organizations have none. */
const KNOWN_MODEL_NAMES = new Map<string, AdmittedOrganization["modelNames"]>();
const MAX_KNOWN_MODEL_NAMES = 500;

function parseModelNames(text: string): AdmittedOrganization["modelNames"] {
  if (text === "") return NO_MODEL_NAMES;
  const known = KNOWN_MODEL_NAMES.get(text);
  if (known !== undefined) return known;
  const names = MODEL_NAMES.parse(text);
  setBounded(KNOWN_MODEL_NAMES, text, names, MAX_KNOWN_MODEL_NAMES);
  return names;
}

function parseLimits(reply: readonly unknown[]): Pick<KnownKeyResult, "bucket" | "concurrentRequests"> {
  const at = AT.admit;
  return {
    bucket: {
      remaining: integerAt(reply, at.remaining),
      capacity: integerAt(reply, at.capacity),
      resetMs: integerAt(reply, at.resetMs),
      retryAfterSeconds: integerAt(reply, at.retryAfterSeconds),
    },
    concurrentRequests: integerOrNullAt(reply, at.concurrent),
  };
}
