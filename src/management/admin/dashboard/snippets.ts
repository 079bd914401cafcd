/** Snippets for a first request. The key comes from the environment, except on the page of a new key. */

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** Endpoint of a model. */
export type SnippetEndpoint = "chat" | "completions" | "embeddings";

interface Template {
  readonly id: string;
  readonly title: string;
  readonly text: (baseUrl: string, model: string) => string;
}

/**
 * @param baseUrl Without a final slash and `/v1`.
 * @param key A new key that is shown once; null: from the environment.
 */
export function createSnippets(
  endpoint: SnippetEndpoint,
  baseUrl: string,
  model: string,
  key: string | null = null,
): readonly Snippet[] {
  return TEMPLATES[endpoint].map(({ id, title, text }) => {
    const filled = text(baseUrl, model);
    return { id, title, text: key === null ? filled : fillIn(filled, key) };
  });
}

/** Inserts the key into a snippet, in the language's own way. */
function fillIn(text: string, key: string): string {
  return text
    .replaceAll('os.environ["API_KEY"]', `"${key}"`)
    .replaceAll("process.env.API_KEY", `"${key}"`)
    .replaceAll("{env:API_KEY}", key)
    .replaceAll("$API_KEY", key)
    .replace('env_key = "API_KEY"', `env_key = "API_KEY" # export API_KEY="${key}"`);
}

function formatCurlCall(url: string, body: string): string {
  return `curl ${url} \\
  -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\
  -d '${body}'`;
}

function formatPythonCall(baseUrl: string, call: string): string {
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["API_KEY"])
${call}`;
}

/** In display order. */
const TEMPLATES: Readonly<Record<SnippetEndpoint, readonly Template[]>> = {
  chat: [
    {
      id: "curl",
      title: "curl, OpenAI chat completions",
      text: (baseUrl, model) =>
        formatCurlCall(
          `${baseUrl}/v1/chat/completions`,
          `{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}`,
        ),
    },
    {
      id: "curl-responses",
      title: "curl, OpenAI responses",
      text: (baseUrl, model) =>
        formatCurlCall(`${baseUrl}/v1/responses`, `{"model": "${model}", "input": "Hello"}`),
    },
    {
      id: "curl-messages",
      title: "curl, Anthropic messages",
      text: (baseUrl, model) => `curl ${baseUrl}/v1/messages \\
  -H "x-api-key: $API_KEY" -H "anthropic-version: 2023-06-01" -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "max_tokens": 256, "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    // Coding programs for a terminal. Run unchanged with Claude Code 2.1.197 and Codex 0.169.0.
    {
      id: "claude-code",
      title: "Claude Code",
      text: (baseUrl, model) => `export ANTHROPIC_BASE_URL="${baseUrl}"
export ANTHROPIC_AUTH_TOKEN="$API_KEY"
export ANTHROPIC_MODEL="${model}"
export ANTHROPIC_DEFAULT_OPUS_MODEL="${model}"
export ANTHROPIC_DEFAULT_SONNET_MODEL="${model}"
export ANTHROPIC_DEFAULT_HAIKU_MODEL="${model}"
claude`,
    },
    {
      id: "codex",
      title: "Codex",
      text: (baseUrl, model) => `# ~/.codex/config.toml
model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "gateway"
base_url = "${baseUrl}/v1"
env_key = "API_KEY"
wire_api = "responses"`,
    },
    // Programs with their own configuration file or window. OpenCode's file was run unchanged with 1.18.33.
    {
      id: "opencode",
      title: "OpenCode, opencode.json",
      text: (baseUrl, model) => `{
  "$schema": "https://opencode.ai/config.json",
  "model": "gateway/${model}",
  "provider": {
    "gateway": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Gateway",
      "options": { "baseURL": "${baseUrl}/v1", "apiKey": "{env:API_KEY}" },
      "models": { "${model}": { "name": "${model}" } }
    }
  }
}`,
    },
    // Not run here: it is a desktop program whose servers call the gateway. Its names are those in guides of
    // similar gateways (https://openrouter.ai/docs/cookbook/coding-agents/cursor-integration,
    // https://ngrok.com/docs/ai-gateway/agents/cursor; November 2026).
    {
      id: "cursor",
      title: "Cursor, whose servers must reach the gateway",
      text: (baseUrl, model) => `Cursor Settings, Models
OpenAI API Key:            $API_KEY
Override OpenAI Base URL:  ${baseUrl}/v1
Add a custom model:        ${model}`,
    },
    {
      id: "openai-python",
      title: "OpenAI SDK, Python",
      text: (baseUrl, model) =>
        formatPythonCall(
          baseUrl,
          `completion = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "Hello"}]
)
print(completion.choices[0].message.content)`,
        ),
    },
    {
      id: "openai-node",
      title: "OpenAI SDK, Node",
      text: (baseUrl, model) => `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${baseUrl}/v1", apiKey: process.env.API_KEY });
const completion = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(completion.choices[0].message.content);`,
    },
    {
      id: "anthropic-python",
      title: "Anthropic SDK, Python",
      text: (baseUrl, model) => `import os
from anthropic import Anthropic

client = Anthropic(base_url="${baseUrl}", api_key=os.environ["API_KEY"])
message = client.messages.create(
    model="${model}", max_tokens=256, messages=[{"role": "user", "content": "Hello"}]
)
print(message.content[0].text)`,
    },
    {
      id: "anthropic-node",
      title: "Anthropic SDK, Node",
      text: (baseUrl, model) => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: "${baseUrl}", apiKey: process.env.API_KEY });
const message = await client.messages.create({
  model: "${model}",
  max_tokens: 256,
  messages: [{ role: "user", content: "Hello" }],
});
console.log(message.content[0].text);`,
    },
    {
      id: "langchain",
      title: "LangChain, Python",
      text: (baseUrl, model) => `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="${model}", base_url="${baseUrl}/v1", api_key=os.environ["API_KEY"]
)
print(model.invoke("Hello").content)`,
    },
    {
      id: "vercel",
      title: "Vercel AI SDK",
      text: (baseUrl, model) => `import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const gateway = createOpenAI({ baseURL: "${baseUrl}/v1", apiKey: process.env.API_KEY });
const { text } = await generateText({ model: gateway("${model}"), prompt: "Hello" });
console.log(text);`,
    },
  ],
  completions: [
    {
      id: "curl-completions",
      title: "curl, completions",
      text: (baseUrl, model) =>
        formatCurlCall(
          `${baseUrl}/v1/completions`,
          `{"model": "${model}", "prompt": "Hello", "max_tokens": 16}`,
        ),
    },
    {
      id: "openai-python-completions",
      title: "OpenAI SDK, Python, completions",
      text: (baseUrl, model) =>
        formatPythonCall(
          baseUrl,
          `answer = client.completions.create(model="${model}", prompt="Hello", max_tokens=16)
print(answer.choices[0].text)`,
        ),
    },
  ],
  embeddings: [
    {
      id: "curl-embeddings",
      title: "curl, embeddings",
      text: (baseUrl, model) =>
        formatCurlCall(`${baseUrl}/v1/embeddings`, `{"model": "${model}", "input": "Hello"}`),
    },
    {
      id: "openai-python-embeddings",
      title: "OpenAI SDK, Python, embeddings",
      text: (baseUrl, model) =>
        formatPythonCall(
          baseUrl,
          `answer = client.embeddings.create(model="${model}", input="Hello")
print(answer.data[0].embedding)`,
        ),
    },
  ],
};
