/** Who a request is from: by its key, or by a token that Envoy has verified. */
import type { Caller, KeyDirectory } from "../../auth/key-directory.ts";
import { invalidKey, readKey, unknownKey } from "../../auth/read-key.ts";
import { readToken, type TokenVerdict } from "../../auth/read-token.ts";
import type { TokenCallers } from "../../auth/token-callers.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import type { DashboardAddress } from "../../../shared/contract/pages.ts";
import type { KnownKeyResult } from "../../store/types/admission.ts";

export interface CallerServices {
  readonly directory: KeyDirectory;
  /** Null where only keys are taken. */
  readonly tokenCallers: Pick<TokenCallers, "issuers" | "find" | "forget"> | null;
  /** Where refusals lead. */
  readonly dashboard: DashboardAddress;
}

/** What a request says of whom it is from, and what Envoy has found out of it. */
interface Presented {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly token?: TokenVerdict | null;
}

/** A key that is nobody's is refused without a call. */
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

/** Admission found that its key or user is there no more. */
export function forget({ directory, tokenCallers }: CallerServices, caller: Caller): void {
  if (caller.userId === null) directory.forget(caller.presentedHash);
  else tokenCallers?.forget(caller);
}

/** The key of somebody with a token is that user's: it does not go on without, as others do. */
export function requireUser(services: CallerServices, caller: Caller, { user }: KnownKeyResult): void {
  if (caller.userId === null || caller.userId === user?.id) return;
  forget(services, caller);
  throw invalidKey(
    "The user of this token was deleted a moment ago. Try again: the next request finds out who you are now.",
  );
}

/** What is no refusal already is Redis that does not answer. */
export function throwUnavailable(cause: unknown): never {
  if (cause instanceof GatewayError) throw cause;
  throw new GatewayError("gateway_unavailable", { cause });
}
