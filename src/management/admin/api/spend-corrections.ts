/** `POST …/spend-corrections`: corrects a month's spend by hand, with a reason. */
import { createHash } from "node:crypto";
import * as z from "zod";
import type { Catalog } from "../../../data-path/catalog/catalog.ts";
import { MICROCENTS_PER_CENT, wholeCents } from "../../../shared/money/money.ts";
import type { AuditFields } from "../../../shared/stored/audit.ts";
import type { Store } from "../../../shared/stored/store.ts";
import type { KeyRecord } from "../../../shared/stored/management.ts";
import { formatOwnerIds, type OwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type { CorrectionDetails, CorrectResult } from "../../../shared/stored/reporting.ts";
import { createId } from "../../../data-path/store/ids.ts";
import { AdminError, invalidField } from "../admin-error.ts";
import {
  outsideUsage,
  spendCorrection,
  spendCorrectionCreation,
  type SpendCorrectionCreation,
} from "../schemas/spend-correction.ts";
import { readNamedOwners } from "./names.ts";
import { priceOutsideUsage } from "./price-outside-usage.ts";
import { describeChange } from "./record-change.ts";
import { defineOrganizationRoute } from "./route.ts";

const create = defineOrganizationRoute({
  method: "POST",
  path: "/api/organizations/{organization}/spend-corrections",
  operationId: "correctSpend",
  summary: "Add a signed amount, or the price of tokens used elsewhere, to this month's spend.",
  description:
    "In place of an amount, send the tokens of requests outside the gateway, such as a batch job: the catalog's current price applies. " +
    "Send an `Idempotency-Key`: a repeated call then changes nothing while the month's figures are kept. " +
    "Another call with the same key returns 409.",
  access: "operator",
  body: spendCorrectionCreation,
  usesIdempotencyKey: true,
  answers: { 200: spendCorrection, 201: spendCorrection },
  handleInOrganization: async (call, services) => {
    const { organization, body } = call;
    const { store } = services;
    const keyId = body.key_id ?? null;
    const now = await store.timeMs();
    const id = call.idempotencyKey === null ? createId("corr", now) : `corr_${digest(call.idempotencyKey)}`;
    const digestOfRequest = digestOf(body);
    const found = call.idempotencyKey === null ? null : await store.findCorrection(organization.id, id);
    const earlier = readDetails(found);
    refuseOtherRequest(earlier, digestOfRequest);
    const organizationId = organization.id;
    const key = keyId === null ? null : await store.getKey({ organizationId, keyId });
    if (keyId !== null && key === null) throw unknownOwner("key");
    // A repeat uses the first call's details: its model may have left the catalog since, its user the
    // organization.
    const details = earlier ?? {
      ...createDetails(
        body,
        await readOwners(store, organizationId, body, key),
        organization.currency,
        services.catalog(),
        now,
      ),
      asked: digestOfRequest,
    };
    const describe = (month: string) => {
      const target = { type: "spend", id, name: key?.name ?? organization.name };
      return describeChange(
        { action: "spend.corrected", target, before: null, after: { month, ...describeDetails(details) } },
        call,
      );
    };
    const owners = formatOwnerIds({ userId: details.user_id, groupId: details.group_id });
    const amountMicrocents = BigInt(details.amount_microcents);
    const correction = { organizationId, keyId, owners, correctionId: id, amountMicrocents, details };
    const result = await store.correct(correction, describe);
    if (result.outcome === "not_found") throw unknownOwner("key");
    const repeated = result.outcome === "repeated";
    const first = readDetails(result.details) ?? details;
    // Two calls with one id may arrive at once.
    refuseOtherRequest(first, digestOfRequest);
    const { asked: _digest, ...shownDetails } = first;
    const answer = {
      id,
      repeated,
      month: result.month,
      ...shownDetails,
      ...describeSpent(result),
    };
    return { status: repeated ? 200 : 201, body: answer };
  },
});

/** Describes the spend of organization and key in its month, including the correction. */
function describeSpent(corrected: Exclude<CorrectResult, { readonly outcome: "not_found" }>) {
  const { organizationMicrocents: ofOrganization, keyMicrocents: ofKey } = corrected;
  return {
    organization_spent_microcents: ofOrganization,
    organization_spent_cents: wholeCents(ofOrganization),
    key_spent_microcents: ofKey,
    key_spent_cents: ofKey === null ? null : wholeCents(ofKey),
  };
}

const detailsSchema = z.object({
  key_id: z.string().nullable(),
  user_id: z.string().nullable(),
  group_id: z.string().nullable(),
  amount_microcents: z.int(),
  outside_usage: outsideUsage.nullable(),
  reason: z.string(),
  /** Digest of the request, see `digestOf`. */
  asked: z.string(),
});

type Details = z.infer<typeof detailsSchema>;

/** Parses the details of the first call with this id, whose prices may have changed since. Null: none stored. */
function readDetails(details: CorrectionDetails | null): Details | null {
  return details === null ? null : detailsSchema.parse(details);
}

function unknownOwner(kind: "key" | OwnerKind): AdminError {
  return invalidField(`${kind}_id`, `unknown ${kind} in this organization`);
}

/**
 * Reads user and group of a correction; omitted ones are those that a request of this key would have.
 * @throws AdminError 400 if a named one does not exist.
 */
async function readOwners(
  store: Pick<Store, "getUser" | "getGroup">,
  organizationId: string,
  { user_id: user, group_id: group }: SpendCorrectionCreation,
  key: Pick<KeyRecord, "userId" | "groupId"> | null,
): Promise<OwnerIds> {
  const naming = {
    userId: user === undefined ? (key?.userId ?? null) : user,
    groupId: group === undefined ? (key?.groupId ?? null) : group,
  };
  const ownersOf = await readNamedOwners(store, organizationId, [naming]);
  const found = ownersOf(naming);
  if (typeof user === "string" && found.user === null) throw unknownOwner("user");
  if (typeof group === "string" && found.ownGroup === null) throw unknownOwner("group");
  return { userId: found.user?.id ?? null, groupId: group === null ? null : (found.group?.id ?? null) };
}

/** @throws AdminError 400 if usage from outside has no price. */
function createDetails(
  body: SpendCorrectionCreation,
  owners: OwnerIds,
  currency: string,
  catalog: Catalog,
  nowMs: number,
): Omit<Details, "asked"> {
  const { outside_usage: given, reason } = body;
  const priced = given === undefined ? null : priceOutsideUsage(given, currency, catalog, nowMs);
  return {
    key_id: body.key_id ?? null,
    user_id: owners.userId,
    group_id: owners.groupId,
    amount_microcents: priced?.microcents ?? readMicrocents(body) ?? 0,
    outside_usage: priced?.usage ?? null,
    reason,
  };
}

/** Formats for the audit log. */
function describeDetails(details: Details): AuditFields {
  const { key_id: keyId, user_id: userId, group_id: groupId } = details;
  const { amount_microcents: amount, outside_usage: usage, reason } = details;
  const outside = usage === null ? {} : { outside_usage: withoutNone(usage) };
  return {
    key_id: keyId,
    ...(userId === null ? {} : { user_id: userId }),
    ...(groupId === null ? {} : { group_id: groupId }),
    amount_microcents: amount,
    ...outside,
    reason,
  };
}

/** Removes empty fields, which mean nothing in the audit log. */
function withoutNone(usage: AuditFields): AuditFields {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null && value !== 0));
}

/** @throws AdminError 409 if the first call with this id requested something else. */
function refuseOtherRequest(first: Details | null, digestOfRequest: string): void {
  if (first !== null && first.asked !== digestOfRequest) throw new AdminError("idempotency_key_reused");
}

/** Returns a digest of the request, independent of field order and unit. */
function digestOf(body: SpendCorrectionCreation): string {
  const {
    key_id: keyId = null,
    user_id: userId,
    group_id: groupId,
    outside_usage: usage = null,
    reason,
  } = body;
  // An owner that is null differs from an omitted one. The members of `usage` are in the schema's order.
  return digest(JSON.stringify([keyId, readMicrocents(body), usage, reason, { userId, groupId }]));
}

/** Returns the amount in microcents, from either unit; null if usage is given instead. */
function readMicrocents(body: SpendCorrectionCreation): number | null {
  const { amount_cents: cents, amount_microcents: microcents } = body;
  return microcents ?? (cents === undefined ? null : cents * MICROCENTS_PER_CENT);
}

/** Hashes a text chosen by the caller, so that it has one form in Redis. */
function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

export const spendCorrectionRoutes = [create];
