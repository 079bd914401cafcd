import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../src/config/config-error.ts";
import { parseConfig } from "../../../src/config/load.ts";

function problemsOf(text: string): readonly { path: string; line?: number; message: string }[] {
  try {
    parseConfig(text, { baseDir: "/" });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const LITELLM = `model_list:
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/MY_OPENAI_KEY}
  - model_name: claude
    litellm_params: {model: anthropic/claude-sonnet-4-5}
  - model_name: llama
    litellm_params: {model: hosted_vllm/meta-llama/Llama-3.1-8B, api_base: "http://10.0.0.5:8000/v1", api_key: "sk-very-secret"}
  - model_name: gemini
    litellm_params: {model: vertex_ai/gemini-2.5-pro}
  - model_name: nothing
litellm_settings: {drop_params: true}
general_settings: {master_key: sk-1234}
`;

describe("a LiteLLM configuration", () => {
  const problems = problemsOf(LITELLM);

  it("is called one, in the place of every unknown field, with where to read on", () => {
    expect(problems).toHaveLength(6);
    expect(problems[0]).toMatchObject({ path: "model_list", line: 1 });
    expect(problems[0]?.message).toMatch(
      /^this is a LiteLLM configuration: each server of `model_list` becomes one of `upstreams`, each entry one of `catalog`/u,
    );
  });

  it.each([
    [
      1,
      '`upstreams`: {name: openai, url: "https://api.openai.com", credential: {env: MY_OPENAI_KEY}}; ' +
        '`catalog`: {id: openai/gpt-4o, aliases: ["gpt-4o"], upstream: openai, upstream_model: "gpt-4o", …}',
    ],
    [
      2,
      '`upstreams`: {name: anthropic, url: "https://api.anthropic.com", protocols: [messages], ' +
        "credential: {env: ANTHROPIC_API_KEY, header: x-api-key}}; `catalog`: {id: anthropic/claude-sonnet-4-5, " +
        'aliases: ["claude"], upstream: anthropic, upstream_model: "claude-sonnet-4-5", …}',
    ],
    [
      3,
      '`upstreams`: {name: hosted_vllm, url: "http://10.0.0.5:8000", path_prefix: "/v1", credential: {env: …}}; ' +
        '`catalog`: {id: hosted_vllm/Llama-3.1-8B, aliases: ["llama"], upstream: hosted_vllm, ' +
        'upstream_model: "meta-llama/Llama-3.1-8B", …}',
    ],
    [
      4,
      "`upstreams`: one for `vertex_ai`, by the base URL of its OpenAI API; `catalog`: {id: vertex_ai/gemini-2.5-pro, " +
        'aliases: ["gemini"], upstream: vertex_ai, upstream_model: "gemini-2.5-pro", …}',
    ],
    [5, "without `model_name` and `litellm_params.model`"],
  ])("says of entry %i what it is here", (number, message) => {
    expect(problems[number]).toMatchObject({ path: `model_list[${number - 1}]`, message });
  });

  it("shows no key that is written into it", () => {
    expect(JSON.stringify(problems)).not.toMatch(/sk-/u);
  });

  it("is no configuration that merely has a field of that name", () => {
    expect(problemsOf("model_list: nothing\nupstreams: []\ncatalog: []\n")[0]?.message).toContain(
      "unknown field",
    );
  });
});
