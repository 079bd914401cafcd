/** Details of models from Ollama's own API; its list in OpenAI's form has only names. */
import { isJsonObject, toArray } from "../text/json-object.ts";
import { type ServerAccess, fetchText, parseJson } from "./fetch-answer.ts";
import { isTokenCount, type ServerModel } from "./server-model.ts";

/** Adds the details that Ollama reports; others stay unknown. */
export async function askOllama(
  baseUrl: string,
  asker: ServerAccess,
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

/** Ollama's names of capabilities that the catalog calls otherwise. */
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
