import type { Principal } from "../principal.ts";
import type { TokenStore } from "../../store/types/tokens.ts";
import type { Session } from "./session.ts";

/** Whose session this is, or null when its token was deleted meanwhile. */
export async function findPrincipal(
  session: Session,
  store: Pick<TokenStore, "findToken">,
): Promise<Principal | null> {
  if (session.tokenHash === null) return { type: "operator" };
  const record = await store.findToken(session.tokenHash);
  if (record === null) return null;
  const { id, name, role, organizationId } = record;
  return { type: "token", id, name, role, organizationId };
}
