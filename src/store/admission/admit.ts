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
import { ADMISSION_DECISIONS } from "../types/decision.ts";
import type { AdmitInput, AdmitResult, KeyReference } from "../types/admission.ts";
import { type AdmittedSettings, knownSettings, rememberSettings } from "./read-settings.ts";
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
  const { keyId } = input;
  const known = knownSettings(keyId);
  const reply = await runInMonth(context, (month) =>
    context.client.igwAdmit(
      ...admitKeys(input, month.name),
      keyId,
      input.presentedHash,
      String(month.startMs),
      String(month.endMs),
      input.requestId,
      input.route,
      input.bucket,
      input.metered ? "1" : "0",
      known?.version ?? "",
    ),
  );
  return parseAdmitResult(reply, input, known);
}

/** KEYS of `admit.lua`. */
export function admitKeys({ organizationId, keyId }: KeyReference, month: string): string[] {
  return [
    keyRecordKey(organizationId, keyId),
    organizationKey(organizationId),
    requestBucketKey(organizationId, keyId),
    countBucketKey(organizationId, keyId),
    spendKey(organizationId, month),
    inflightKey(organizationId, keyId),
    refusedKey(organizationId),
    holdsKey(organizationId),
  ];
}

/** @param known The settings whose version was sent: the reply has none when they are still those. */
function parseAdmitResult(
  reply: readonly unknown[],
  { keyId, organizationId }: AdmitInput,
  known: AdmittedSettings | null,
): AdmitResult {
  const decision = ADMISSION_DECISIONS.find((known) => known === reply[OUTCOME]);
  if (decision === undefined) throw new TypeError("admit replied a decision that is not known");
  const at = AT.admit;
  const timeMs = integerAt(reply, at.timeMs);
  if (decision === "unknown_key") return { decision, timeMs };
  const version = textAt(reply, at.settingsVersion);
  const settings =
    version === "" && known !== null ? known : rememberSettings(keyId, version, reply[at.settings]);
  return {
    decision,
    timeMs,
    month: monthAt(timeMs).name,
    day: dayAt(timeMs).name,
    key: {
      id: keyId,
      display: settings.display,
      spentMicrocents: amountAt(reply, at.keySpent),
      ...settings.key,
    },
    organization: {
      id: organizationId,
      spentMicrocents: amountAt(reply, at.organizationSpent),
      ...settings.organization,
    },
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
