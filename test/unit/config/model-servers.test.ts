import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { MODEL_SERVER_NAMES } from "../../../src/shared/model-servers/presets.ts";

const good = readFileSync(new URL("../../fixtures/config/good.yaml", import.meta.url), "utf8");

function parse(upstream: string, profile = "{}") {
  const text = good
    .replace("catalog:", `    ${upstream}\ncatalog:`)
    .replace("    prices:", `    capabilities: [reasoning]\n    profile: ${profile}\n    prices:`);
  const [config] = [parseConfig(text, { baseDir: "/", env: {} })];
  return { upstream: config.upstreams[0], profile: config.catalog[0]?.profile };
}

describe("server of an upstream", () => {
  it.each(MODEL_SERVER_NAMES)("is one whose settings the file may have: %s", (name) => {
    expect(parse(`server: ${name}`).upstream).toMatchObject({ server: name });
  });

  it("sets what the server wants of the upstream and of its models", () => {
    const { upstream, profile } = parse("server: ollama");
    expect(upstream).toMatchObject({ protocols: ["chat"], connectionReuse: true });
    expect(profile).toMatchObject({ maxTokensField: "max_tokens", reasoningEfforts: [] });
    expect(parse("server: llama.cpp").upstream).toMatchObject({ connectionReuse: false });
    expect(parse("server: vllm").profile).toMatchObject({ continuousUsage: true, prefill: "vllm" });
  });

  it("counts behind what the file says", () => {
    const { upstream, profile } = parse(
      "server: llama.cpp\n    connection_reuse: true\n    protocols: [chat, responses]",
      "{max_tokens_field: both}",
    );
    expect(upstream).toMatchObject({ protocols: ["chat", "responses"], connectionReuse: true });
    expect(profile).toMatchObject({ maxTokensField: "both" });
  });

  it("leaves models of other upstreams alone", () => {
    expect(parse("connection_reuse: true").profile).toMatchObject({
      maxTokensField: null,
      continuousUsage: false,
    });
  });

  it("is refused with the names that there are", () => {
    expect(() => parse("server: olama")).toThrow(
      /upstreams\[0\]\.server: expected one of `llama\.cpp`, .*did you mean `ollama`/,
    );
  });
});
