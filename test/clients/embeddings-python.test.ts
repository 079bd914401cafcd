import { describe, expect, it } from "vitest";
import { EMBED_MODEL, TEXT_MODEL, withDemoStack } from "./embeddings-stack.ts";
import { withLangChainPythons, withOpenAiPythonSdks } from "./openai-python-sdks.ts";
import { proves } from "./proofs.ts";

const chat = withDemoStack();
const SDKS = withOpenAiPythonSdks();
const LANGCHAINS = withLangChainPythons();

const common = () => ({ base_url: chat.stack.baseUrl, api_key: chat.key.key });

describe.each(SDKS)("$name", ({ proven, player }) => {
  proves(proven, "/v1/embeddings");

  it("embeds, with usage", async () => {
    const fields = { input: ["hello big world", "hello"], dimensions: 8 };
    const answer = await player.play("embeddings", { ...common(), model: EMBED_MODEL, fields });
    expect(answer).toMatchObject({ model: EMBED_MODEL, usage: { prompt_tokens: 4, total_tokens: 4 } });
    const { data } = answer as { data: { embedding: number[] }[] };
    expect(data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
  });

  it("completes a prompt, whole and streamed, with usage", async () => {
    const input = { ...common(), model: TEXT_MODEL, fields: { prompt: "hello big world", max_tokens: 2 } };
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    expect(await player.play("completion", input)).toMatchObject({
      model: TEXT_MODEL,
      choices: [{ text: "hello big", finish_reason: "length" }],
      usage,
    });
    const { chunks } = (await player.play("completion_stream", input)) as { chunks: Chunk[] };
    expect(chunks.map(({ choices }) => choices[0]?.text ?? "").join("")).toBe("hello big");
    expect(chunks.at(-1)?.usage).toMatchObject(usage);
  });

  it("raises BadRequestError where a model is not served at the endpoint", async () => {
    const input = { ...common(), model: TEXT_MODEL, endpoint: "embeddings" };
    expect(await player.play("error", input)).toMatchObject({
      class: "BadRequestError",
      code: "endpoint_not_available_for_model",
    });
  });
});

describe.each(LANGCHAINS)("OpenAIEmbeddings of $name", ({ provenOpenai, player }) => {
  proves(provenOpenai, "/v1/embeddings");

  it("embeds documents and a query", async () => {
    const input = { ...common(), model: EMBED_MODEL, texts: ["one two", "three"], dimensions: 32 };
    const { documents, query } = (await player.play("embed", input)) as {
      documents: number[][];
      query: number[];
    };
    expect(documents.map((vector) => vector.length)).toEqual([32, 32]);
    expect(query).toEqual(documents[0]);
  });
});

interface Chunk {
  readonly choices: readonly { readonly text: string }[];
  readonly usage: unknown;
}
