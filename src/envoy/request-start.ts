/** Reads the beginning of a request: the headers that affect its route. */
import { BETA_HEADER } from "../data-path/exchange/upstream/header-policy.ts";
import type { RequestHeaders } from "../data-path/exchange/upstream/upstream-call.ts";
import { AFFINITY_HEADER } from "../shared/contract/header-names.ts";
import { findHeader, namesOf } from "./messages/headers.ts";
import type { Message } from "./messages/messages.ts";

export function readRequestHeaders(map: Message<"HeaderMap"> | undefined): RequestHeaders {
  return {
    names: namesOf(map),
    betas: findHeader(map, BETA_HEADER),
    affinity: findHeader(map, AFFINITY_HEADER),
  };
}
