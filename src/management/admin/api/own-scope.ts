/**
 * Restricts calls to what is the caller's own: a person's user, or the API key that its holder signed in with.
 * The owner comes from the session, and from nothing that is sent.
 */
import type * as z from "zod";
import type { UserRecord } from "../../../shared/stored/owners.ts";
import { NO_AMOUNTS_OF_LIMIT } from "../../../data-path/limits/reports/key-status.ts";
import { AdminError } from "../admin-error.ts";
import type { limitList } from "../schemas/limit.ts";
import type { explainedRequest } from "../schemas/requests.ts";
import { requireKey } from "./keys.ts";
import type { ApiServices, OrganizationCall, OrganizationRoute } from "./route.ts";

/** @throws AdminError 404 if the caller is not a user of the organization. */
export async function requireSelf(
  { principal, organization }: Pick<OrganizationCall, "principal" | "organization">,
  { store }: Pick<ApiServices, "store">,
): Promise<UserRecord> {
  const userId = principal.type === "person" ? principal.userId : null;
  const user = userId === null ? null : await store.getUser(organization.id, userId);
  if (user !== null && user.deletedAtMs === null) return user;
  const message =
    "You aren't a user of this organization. Sign in with an identity provider whose role makes you one.";
  throw new AdminError("user_not_found", { message });
}

export type Handle = OrganizationRoute["handleInOrganization"];

/** Returns the person's user, or the key that its holder signed in with. @throws AdminError 404 if the caller is neither. */
async function requireOwner(
  call: Pick<OrganizationCall, "principal" | "organization">,
  services: Pick<ApiServices, "store">,
): Promise<{ readonly user_id: string } | { readonly key_id: string }> {
  const { principal } = call;
  if (principal.type === "key") return { key_id: principal.keyId };
  return { user_id: (await requireSelf(call, services)).id };
}

/** Restricts a call to the caller's own keys. Another user's key gives the same response as a missing one. */
export function ofOwnKey(handle: Handle): Handle {
  return async (call, services) => {
    const owner = await requireOwner(call, services);
    const record = await requireKey(call, services);
    const isOwn = "key_id" in owner ? record.id === owner.key_id : record.userId === owner.user_id;
    if (!isOwn) throw new AdminError("key_not_found");
    return handle(call, services);
  };
}

/** Restricts a call about a user, and a list by user or key, to the caller's own, whatever it names. */
export function ofOwn(handle: Handle): Handle {
  return async (call, services) => {
    const owner = await requireOwner(call, services);
    const params = { ...call.params, user: "user_id" in owner ? owner.user_id : "" };
    return handle({ ...call, params, query: { ...(call.query as object), ...owner } }, services);
  };
}

/** Restricts a call about a user's limits to the caller's own, without amounts that the organization hides. */
export function ofOwnLimits(handle: Handle): Handle {
  return ofOwn(async (call, services) => {
    const answer = await handle(call, services);
    const { time, data } = answer.body as z.output<typeof limitList>;
    const hidden = call.organization.hideAmounts ? { ...NO_AMOUNTS_OF_LIMIT, raises: [] } : {};
    const own = data.filter(({ scope }) => scope === "user").map((limit) => ({ ...limit, ...hidden }));
    return { ...answer, body: { time, data: own } };
  });
}

/** Restricts a call about one request to the caller's own. Another's gives the same response as a missing one. */
export function ofOwnRequest(handle: Handle): Handle {
  return async (call, services) => {
    const owner = await requireOwner(call, services);
    const answer = await handle(call, services);
    const { key_id, user_id } = answer.body as z.output<typeof explainedRequest>;
    const isOwn = "key_id" in owner ? key_id === owner.key_id : user_id === owner.user_id;
    if (!isOwn) throw new AdminError("request_not_found");
    return answer;
  };
}
