/** What is copied and pasted to send a first request. The key comes from the environment, never from a page. */

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** @param baseUrl Without a slash at the end and without `/v1`. */
export function createSnippets(baseUrl: string, model: string): readonly Snippet[] {
  return [
    ...createShellSnippets(baseUrl, model),
    {
      id: "openai-python",
      title: "OpenAI SDK, Python",
      text: `import os
from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["API_KEY"])
completion = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "Hello"}]
)
print(completion.choices[0].message.content)`,
    },
    {
      id: "openai-node",
      title: "OpenAI SDK, Node",
      text: `import OpenAI from "openai";

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
      text: `import os
from anthropic import Anthropic

client = Anthropic(base_url="${baseUrl}", api_key=os.environ["API_KEY"])
message = client.messages.create(
    model="${model}", max_tokens=256, messages=[{"role": "user", "content": "Hello"}]
)
print(message.content[0].text)`,
    },
    ...createFrameworkSnippets(baseUrl, model),
  ];
}

function createShellSnippets(baseUrl: string, model: string): Snippet[] {
  return [
    {
      id: "curl",
      title: "curl",
      text: `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    },
    {
      id: "claude-code",
      title: "Claude Code",
      text: `export ANTHROPIC_BASE_URL="${baseUrl}"
export ANTHROPIC_AUTH_TOKEN="$API_KEY"
export ANTHROPIC_MODEL="${model}"
export ANTHROPIC_SMALL_FAST_MODEL="${model}"
claude`,
    },
    {
      id: "codex",
      title: "Codex",
      text: `# ~/.codex/config.toml
model = "${model}"
model_provider = "gateway"

[model_providers.gateway]
name = "gateway"
base_url = "${baseUrl}/v1"
env_key = "API_KEY"
wire_api = "responses"`,
    },
  ];
}

function createFrameworkSnippets(baseUrl: string, model: string): Snippet[] {
  return [
    {
      id: "anthropic-node",
      title: "Anthropic SDK, Node",
      text: `import Anthropic from "@anthropic-ai/sdk";

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
      text: `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model="${model}", base_url="${baseUrl}/v1", api_key=os.environ["API_KEY"]
)
print(model.invoke("Hello").content)`,
    },
    {
      id: "vercel",
      title: "Vercel AI SDK",
      text: `import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";

const gateway = createOpenAI({ baseURL: "${baseUrl}/v1", apiKey: process.env.API_KEY });
const { text } = await generateText({ model: gateway("${model}"), prompt: "Hello" });
console.log(text);`,
    },
  ];
}
