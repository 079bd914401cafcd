/** Finds a request's caller, by its API key or by a token that Envoy has verified. */
import type { Caller, KeyDirectory } from "../../auth/key-directory.ts";
import { invalidKey, readKey, unknownKey } from "../../auth/read-key.ts";
import { readToken, type TokenVerdict } from "../../auth/read-token.ts";
import type { TokenCallers } from "../../auth/token-callers.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import type { DashboardAddress } from "../../../shared/contract/pages.ts";
import type { KnownKeyResult } from "../../../shared/stored/admission.ts";

export interface CallerServices {
  readonly directory: KeyDirectory;
  /** Null if only API keys are accepted. */
  readonly tokenCallers: Pick<TokenCallers, "issuers" | "find" | "remove"> | null;
  /** Linked in errors. */
  readonly dashboard: DashboardAddress;
}

/** Credentials of a request, and Envoy's verdict on them. */
interface Presented {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly token?: TokenVerdict | null;
}

/** Returns the caller. An unknown key is rejected without an admission call. */
export async function findCaller(
  { directory, tokenCallers, dashboard }: CallerServices,
  request: Presented,
  requestId: string,
): Promise<Caller> {
  if (tokenCallers !== null) {
    const token = readToken(request.headers, request.token ?? null, tokenCallers.issuers);
    if (token !== null) return tokenCallers.find(token, requestId).catch(throwUnavailable);
  }
  const caller = await directory.find(readKey(request.headers, dashboard.baseUrl)).catch(throwUnavailable);
  if (caller === null) throw unknownKey(dashboard.baseUrl);
  return caller;
}

/** Drops a cached key or user that, according to Redis, no longer exists. */
export function dropCaller({ directory, tokenCallers }: CallerServices, caller: Caller): void {
  if (caller.userId === null) directory.remove(caller.presentedHash);
  else tokenCallers?.remove(caller);
}

/**
 * Rejects a token whose user no longer exists, because a token's key belongs to its user. An API key works without
 * its user.
 */
export function requireUser(services: CallerServices, caller: Caller, { user }: KnownKeyResult): void {
  if (caller.userId === null || caller.userId === user?.id) return;
  dropCaller(services, caller);
  throw invalidKey("The user of this token was just deleted. Try again.");
}

/** Rethrows a GatewayError. Any other error means that Redis is unreachable. */
export function throwUnavailable(cause: unknown): never {
  if (cause instanceof GatewayError) throw cause;
  throw new GatewayError("gateway_unavailable", { cause });
}
