import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../src/shared/config/config-error.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";

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
      /^this is a LiteLLM configuration: each server of `model_list` becomes an entry of `upstreams`, and each model one of `catalog`/u,
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

  it.each([
    [
      '{model: azure/my-deployment, api_base: "https://acme.openai.azure.com/", api_key: os.environ/MY_AZURE_KEY, api_version: "2025-01-01"}',
      'upstreams`: {name: azure, url: "https://acme.openai.azure.com", path_prefix: "/openai/v1", ' +
        "credential: {env: MY_AZURE_KEY, header: api-key}}",
    ],
    [
      "{model: azure/my-deployment, api_base: os.environ/AZURE_API_BASE}",
      'upstreams`: {name: azure, url: "https://RESOURCE.openai.azure.com", path_prefix: "/openai/v1", ' +
        "credential: {env: AZURE_API_KEY, header: api-key}}",
    ],
    [
      '{model: azure_ai/mistral-large, api_base: "https://acme.services.ai.azure.com/models"}',
      'upstreams`: {name: azure_ai, url: "https://acme.services.ai.azure.com", path_prefix: "/openai/v1", ' +
        "credential: {env: AZURE_AI_API_KEY, header: api-key}}",
    ],
  ])("names Azure's path prefix, whatever stands behind its host: %s", (params, expected) => {
    const [, entry] = problemsOf(`model_list: [{model_name: gpt, litellm_params: ${params}}]`);
    expect(entry?.message).toContain(expected);
  });

  it.each([
    [
      "{max_input_tokens: 200000, max_output_tokens: 64000}",
      "context_window: 200000, max_output_tokens: 64000, …}",
    ],
    ["{max_input_tokens: 128000, max_tokens: 4096}", "context_window: 128000, max_output_tokens: 4096, …}"],
    ["{max_tokens: 4096, max_output_tokens: 8192}", 'upstream_model: "gpt-4o", max_output_tokens: 8192, …}'],
    ["{max_input_tokens: many}", 'upstream_model: "gpt-4o", …}'],
  ])("takes the window and the longest answer from model_info: %s", (info, expected) => {
    const [, entry] = problemsOf(
      `model_list: [{model_name: x, litellm_params: {model: openai/gpt-4o}, model_info: ${info}}]`,
    );
    expect(entry?.message).toContain(expected);
  });

  it("names the settings that have no field, each once, where the first one is", () => {
    const gaps = problemsOf(`model_list:
  - {model_name: a, litellm_params: {model: openai/a, tpm: 1000, rpm: 10}}
  - {model_name: b, litellm_params: {model: openai/b, tpm: 2000}}
general_settings: {default_team_params: {max_budget: 100}}
litellm_settings: {max_budget: 50, budget_duration: 7d, tpm_limit: 9}
`).slice(3);
    expect(gaps.map(({ path, message }) => [path, message])).toEqual([
      [
        "model_list[0].litellm_params.tpm",
        expect.stringMatching(/^tokens per minute are a limit of an API key/),
      ],
      [
        "model_list[0].litellm_params.rpm",
        expect.stringMatching(/^requests per minute can't be limited for a model server/),
      ],
      ["general_settings.default_team_params", expect.stringMatching(/^a team is a group/)],
      ["litellm_settings.max_budget", expect.stringMatching(/^amounts are not set in this file/)],
    ]);
  });

  it.each([
    ["tpm_limit: 5", "tokens per minute"],
    ["router_settings: {provider_budget_config: {}}", "hard caps"],
    ["teams: [a]", "group"],
    ["max_internal_user_budget: 1", "hard caps"],
    ["router_settings: {context_window_fallbacks: []}", "another model"],
  ])("reports the setting %s", (line, says) => {
    const problems = problemsOf(
      `model_list: [{model_name: a, litellm_params: {model: openai/a}}]\n${line}\n`,
    );
    expect(problems).toHaveLength(3);
    expect(problems[2]?.message).toContain(says);
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
