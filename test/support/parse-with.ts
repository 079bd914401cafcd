import type { ClientRequest, ProtocolName } from "../../src/data-path/translation/client-protocol.ts";
import type { UpstreamProtocol } from "../../src/shared/contract/model-profile.ts";
import { PROTOCOLS } from "../../src/data-path/translation/protocols.ts";
import { atOnce } from "../../src/shared/event-loop/steps.ts";

/** A client's body, read as it is for a model whose upstream speaks this. */
export function parseWith(
  name: ProtocolName,
  body: Uint8Array,
  upstream: UpstreamProtocol = "chat",
): ClientRequest {
  const protocol = PROTOCOLS[name];
  const translation = protocol.translations[upstream];
  if (translation === undefined) throw new Error(`${name} is not carried to ${upstream}`);
  return translation.parseRequest(atOnce(protocol.readBody(body)));
}
