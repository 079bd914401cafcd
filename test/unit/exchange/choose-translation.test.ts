import { describe, expect, it } from "vitest";
import { chooseTranslation } from "../../../src/exchange/choose-translation.ts";
import type { ProtocolName, UpstreamProtocol } from "../../../src/translation/client-protocol.ts";
import { PROTOCOLS } from "../../../src/translation/protocols.ts";

const choose = (name: ProtocolName, protocols: readonly UpstreamProtocol[]) =>
  chooseTranslation(PROTOCOLS[name], { id: "acme/a", protocols: new Set(protocols) }, PROTOCOLS);

describe("a request", () => {
  it.each(["chat", "messages", "responses"] as const)(
    "of %s is carried to an upstream that speaks chat",
    (name) => {
      expect(choose(name, ["chat"])).toBe(PROTOCOLS[name].translations.chat);
    },
  );
});
