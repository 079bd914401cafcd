import type { OpenAI } from "openai";
import { describe, expect, it } from "vitest";
import { EMBED_MODEL, TEXT_MODEL, withDemoStack } from "./embeddings-stack.ts";
import { LANGCHAINS } from "./langchain-sdks.ts";
import { createOpenAi, OPENAI_SDKS } from "./openai-sdks.ts";
import { proves } from "./proofs.ts";

const chat = withDemoStack();

describe.each(OPENAI_SDKS)("$name", (sdk) => {
  proves(sdk.proven, "/v1/embeddings");
  const createClient = () => createOpenAi(sdk, chat);

  it("embeds in its default base64 the same as in numbers", async () => {
    const client = createClient();
    const input = ["hello big world", "hello world"];
    const fields = { model: EMBED_MODEL, input, dimensions: 16 };
    const [packed, numbers] = [
      await client.embeddings.create(fields),
      await client.embeddings.create({ ...fields, encoding_format: "float" }),
    ];
    expect(packed.model).toBe(EMBED_MODEL);
    expect(packed.usage).toEqual({ prompt_tokens: 5, total_tokens: 5 });
    expect(packed.data.map(({ embedding }) => embedding.length)).toEqual([16, 16]);
    for (const [index, { embedding }] of packed.data.entries()) {
      for (const [place, number] of embedding.entries()) {
        expect(number).toBeCloseTo(numbers.data[index]?.embedding[place] ?? Number.NaN, 6);
      }
    }
  });

  it("embeds token ids", async () => {
    const answer = await createClient().embeddings.create({ model: EMBED_MODEL, input: [[1, 2, 3], [4]] });
    expect([answer.data.length, answer.usage.prompt_tokens]).toEqual([2, 4]);
  });

  it("completes prompts, whole and streamed", async () => {
    const client = createClient();
    const whole = await client.completions.create({ model: TEXT_MODEL, prompt: ["a b", "c"], n: 2 });
    expect(whole.choices.map(({ text }) => text)).toEqual(["a b", "a b", "c", "c"]);
    expect(whole).toMatchObject({ model: TEXT_MODEL, usage: { prompt_tokens: 3, completion_tokens: 6 } });
    let text = "";
    let usage: OpenAI.CompletionUsage | undefined;
    const stream = await client.completions.create({
      model: TEXT_MODEL,
      prompt: "hello big world",
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? "";
      usage = chunk.usage ?? usage;
    }
    expect([text, usage?.completion_tokens]).toEqual(["hello big world", 3]);
  });

  it("throws BadRequestError where a model is not served at the endpoint", async () => {
    const error = await createClient()
      .embeddings.create({ model: TEXT_MODEL, input: "hi" })
      .then(
        () => null,
        (thrown: unknown) => thrown,
      );
    expect(error).toBeInstanceOf(sdk.module.BadRequestError);
    expect(error).toMatchObject({ code: "endpoint_not_available_for_model", param: "model" });
  });

  it("lists models and finds one, with fields that the SDK does not know", async () => {
    const client = createClient();
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual([TEXT_MODEL, EMBED_MODEL]);
    expect(await client.models.retrieve(EMBED_MODEL)).toMatchObject({
      supported_endpoints: ["/v1/embeddings"],
    });
  });
});

describe.each(LANGCHAINS)("OpenAIEmbeddings of $name for Node", ({ openai, provenOpenai }) => {
  proves(provenOpenai, "/v1/embeddings");

  it("embeds documents and a query", async () => {
    const embeddings = new openai.OpenAIEmbeddings({
      model: EMBED_MODEL,
      dimensions: 32,
      apiKey: chat.key.key,
      configuration: { baseURL: `${chat.stack.baseUrl}/v1` },
    });
    const documents = await embeddings.embedDocuments(["one two", "three"]);
    expect(documents.map((vector) => vector.length)).toEqual([32, 32]);
    expect(await embeddings.embedQuery("one two")).toEqual(documents[0]);
  });
});
