/** What Ollama says of its models by its own API; its list in OpenAI's form has nothing but their names. */
import { isJsonObject, toArray } from "../text/json-object.ts";
import { type Asker, fetchText, parseJson } from "./fetch-answer.ts";
import { isTokenCount, type ServerModel } from "./server-model.ts";

/** What it does not tell stays unknown. */
export async function askOllama(
  baseUrl: string,
  asker: Asker,
  models: readonly ServerModel[],
): Promise<readonly ServerModel[]> {
  const url = `${new URL(baseUrl).origin}/api/show`;
  const asked: ServerModel[] = [];
  for (const model of models) {
    const shown = await fetchText(url, asker, { model: model.id }).catch(() => "{}");
    asked.push({ ...model, ...readOllamaModel(shown) });
  }
  return asked;
}

/** Its words for what the catalog calls otherwise. */
const OLLAMA_CAPABILITIES: Readonly<Record<string, string>> = {
  tools: "tools",
  vision: "vision",
  thinking: "reasoning",
  embedding: "embeddings",
};

function readOllamaModel(text: string): Partial<ServerModel> {
  const shown = parseJson(text);
  if (!isJsonObject(shown)) return {};
  const { model_info: info, capabilities } = shown;
  const window = isJsonObject(info)
    ? Object.entries(info).find(([name]) => name.endsWith(".context_length"))?.[1]
    : undefined;
  const known = toArray(capabilities).flatMap((one) => OLLAMA_CAPABILITIES[String(one)] ?? []);
  return {
    ...(isTokenCount(window) && { contextWindow: window }),
    ...(Array.isArray(capabilities) && { capabilities: known }),
  };
}
