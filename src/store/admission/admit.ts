/**
 * May this key send this request: the key's record, the bucket, the limit of concurrent requests and both caps, decided
 * by one script on the organization's slot (`lua/admit.lua`). It is sent once; an error says nothing about whether the
 * token was taken.
 */
import { runInMonth } from "../context.ts";
import type { StoreContext } from "../context.ts";
import {
  countBucketKey,
  holdsKey,
  inflightKey,
  keyRecordKey,
  lookUpKey,
  organizationKey,
  refusedKey,
  requestBucketKey,
  spendKey,
} from "../redis/keys.ts";
import { dayAt, monthAt } from "../../calendar.ts";
import { amountAt, integerAt, integerOrNullAt, textAt } from "../redis/parse-reply.ts";
import { KEY_SETTINGS } from "../../settings/key.ts";
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
import { createSettingsReader } from "./read-settings.ts";
import { ADMITTED_AT, AT, OUTCOME } from "../redis/reply-layouts.ts";

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
      holdsKey(organizationId),
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

const readKeySettings = createSettingsReader(KEY_SETTINGS, ADMITTED_AT.key);
const readOrganizationSettings = createSettingsReader(ORGANIZATION_SETTINGS, ADMITTED_AT.organization);

function parseKey(reply: readonly unknown[], id: string): AdmittedKey {
  return {
    ...readKeySettings(reply),
    id,
    display: textAt(reply, AT.admit.keyDisplay),
    spentMicrocents: amountAt(reply, AT.admit.keySpent),
  };
}

function parseOrganization(reply: readonly unknown[], id: string): AdmittedOrganization {
  return {
    ...readOrganizationSettings(reply),
    id,
    spentMicrocents: amountAt(reply, AT.admit.organizationSpent),
  };
}

function parseLimits(
  reply: readonly unknown[],
): Pick<KnownKeyResult, "bucket" | "concurrentRequests" | "isEntered"> {
  const at = AT.admit;
  return {
    bucket: {
      remaining: integerAt(reply, at.remaining),
      capacity: integerAt(reply, at.capacity),
      resetMs: integerAt(reply, at.resetMs),
      retryAfterSeconds: integerAt(reply, at.retryAfterSeconds),
    },
    concurrentRequests: integerOrNullAt(reply, at.concurrent),
    isEntered: textAt(reply, at.entered) !== "",
  };
}
