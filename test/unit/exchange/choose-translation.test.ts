import { describe, expect, it } from "vitest";
import { chooseTranslation, listEndpoints } from "../../../src/exchange/choose-translation.ts";
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

describe("a model that an upstream serves for embeddings alone", () => {
  const model = { id: "acme/e", protocols: new Set<UpstreamProtocol>(["embeddings"]) };

  it.each(["chat", "messages", "responses", "completions"] as const)("is refused for %s", (name) => {
    expect(() => chooseTranslation(PROTOCOLS[name], model, PROTOCOLS)).toThrow(
      "The model `acme/e` is not served at this endpoint. It is served at `POST /v1/embeddings`.",
    );
  });

  it("is served at one endpoint, and one with completions at theirs beside all of chat's", () => {
    expect(listEndpoints(model, PROTOCOLS)).toEqual(["/v1/embeddings"]);
    expect(listEndpoints({ protocols: new Set(["chat", "completions"]) }, PROTOCOLS)).toEqual([
      "/v1/chat/completions",
      "/v1/messages",
      "/v1/responses",
      "/v1/completions",
    ]);
  });
});
