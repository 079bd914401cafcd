import { describe, expect, it } from "vitest";
import {
  chooseTranslation,
  formatUpstreamPath,
  listEndpoints,
} from "../../../src/data-path/exchange/admission/choose-translation.ts";
import type { ProtocolName } from "../../../src/data-path/translation/client-protocol.ts";
import type { UpstreamProtocol } from "../../../src/shared/contract/model-profile.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";
import { describeError } from "../../support/messages-exchange.ts";

const choose = (name: ProtocolName, protocols: readonly UpstreamProtocol[]) =>
  chooseTranslation(PROTOCOLS[name], { id: "acme/a", protocols: new Set(protocols) }, PROTOCOLS);

describe("a request", () => {
  it.each(["chat", "messages", "responses"] as const)(
    "of %s is carried to an upstream that speaks chat",
    (name) => {
      expect(choose(name, ["chat"])).toBe(PROTOCOLS[name].translations.chat);
    },
  );

  it.each(["messages", "responses"] as const)("of %s passes to an upstream that speaks it", (name) => {
    expect(choose(name, ["chat", name])).toBe(PROTOCOLS[name].translations[name]);
  });

  it("of chat is refused where the upstream speaks messages alone, with the endpoint that the model has", () => {
    expect(describeError(() => choose("chat", ["messages"]))).toBe(
      "400 endpoint_not_available_for_model The model `acme/a` isn't available at this endpoint. It is available at `POST /v1/messages`.",
    );
  });
});

describe("the path at the upstream", () => {
  it("has `beta=true` of the client's query where the upstream speaks messages, and nothing else of it", () => {
    const path = (upstream: UpstreamProtocol, query: string) =>
      formatUpstreamPath({ pathPrefix: "/v1" }, PROTOCOLS.messages.translations[upstream]!, query);
    expect(path("messages", "key=secret&beta=true")).toBe("/v1/messages?beta=true");
    expect(path("messages", "beta=no")).toBe("/v1/messages");
    expect(path("chat", "beta=true")).toBe("/v1/chat/completions");
  });
});

describe("a model that an upstream serves for embeddings alone", () => {
  const model = { id: "acme/e", protocols: new Set<UpstreamProtocol>(["embeddings"]) };

  it.each(["chat", "messages", "responses", "completions"] as const)("is refused for %s", (name) => {
    expect(() => chooseTranslation(PROTOCOLS[name], model, PROTOCOLS)).toThrow(
      "The model `acme/e` isn't available at this endpoint. It is available at `POST /v1/embeddings`.",
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
