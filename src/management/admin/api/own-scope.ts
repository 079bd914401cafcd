/**
 * Restricts calls to what is the caller's own: a person's user, or the API key that its holder signed in with.
 * The owner comes from the session, and from nothing that is sent.
 */
import type * as z from "zod";
import type { UserRecord } from "../../../shared/stored/owners.ts";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { AdminError } from "../admin-error.ts";
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

/** Person's user, or the key that its holder signed in with. @throws AdminError 404 if the caller is neither. */
async function requireOwner(
  call: Pick<OrganizationCall, "principal" | "organization">,
  services: Pick<ApiServices, "store">,
): Promise<{ readonly userId: string } | { readonly keyId: string }> {
  const { principal } = call;
  if (principal.type === "key") return { keyId: principal.keyId };
  return { userId: (await requireSelf(call, services)).id };
}

/** Restricts a call to the caller's own keys. Another user's key gives the same response as a missing one. */
export function ofOwnKey(handle: Handle): Handle {
  return async (call, services) => {
    const owner = await requireOwner(call, services);
    const record = await requireKey(call, services);
    const isOwn = "keyId" in owner ? record.id === owner.keyId : record.userId === owner.userId;
    if (!isOwn) throw new AdminError("key_not_found");
    return handle(call, services);
  };
}

/** Restricts a call to the caller's own requests, whatever its query names. */
export function ofOwnRequests(handle: Handle): Handle {
  return async (call, services) => {
    const owner = await requireOwner(call, services);
    const own = "keyId" in owner ? { key_id: owner.keyId } : { [KEY_SETTINGS.userId.apiName]: owner.userId };
    const query = { ...(call.query as object), ...own };
    return handle({ ...call, query }, services);
  };
}

/** Restricts a call about one request to the caller's own. Another's gives the same response as a missing one. */
export function ofOwnRequest(handle: Handle): Handle {
  return async (call, services) => {
    const owner = await requireOwner(call, services);
    const answer = await handle(call, services);
    const { key_id: keyId, user_id: userId } = answer.body as z.output<typeof explainedRequest>;
    const isOwn = "keyId" in owner ? keyId === owner.keyId : userId === owner.userId;
    if (!isOwn) throw new AdminError("request_not_found");
    return answer;
  };
}
