import { describe, expect, it } from "vitest";
import type { ModelProfile } from "../../../../src/shared/contract/model-profile.ts";
import { createModel as createNativeModel, describeError } from "../../../support/messages-exchange.ts";
import { parseNative } from "../../../support/native-exchange.ts";
import { parseWith } from "../../../support/parse-with.ts";

const createModel = (profile: Partial<ModelProfile> = {}) => ({
  ...createNativeModel({ maxTokensField: "both", ...profile }),
  maxOutputTokens: 50,
});
const PROMPTS = {
  chat: { messages: [{ role: "user", content: "Hi" }] },
  completions: { prompt: "Hi" },
  embeddings: { input: "Hi" },
};
type Name = keyof typeof PROMPTS;

function send(name: Name, fields: object, caps: "default" | "strict" = "default", model = createModel()) {
  const body = JSON.stringify({ model: "acme/echo", ...PROMPTS[name], ...fields });
  const sent = parseWith(name, Buffer.from(body), name).toUpstream(model, caps);
  return JSON.parse(Buffer.from(sent).toString()) as Record<string, unknown>;
}

/** What goes upstream beside the prompt and the model. */
function rest(name: Name, ...args: [object, ("default" | "strict")?, ReturnType<typeof createModel>?]) {
  const {
    model: _model,
    messages: _messages,
    prompt: _prompt,
    input: _input,
    ...others
  } = send(name, ...args);
  return others;
}

const both = (tokens: number) => ({ max_tokens: tokens, max_completion_tokens: tokens });

describe("the limit of output tokens", () => {
  it.each([
    ["its only name", { max_tokens: 7 }, both(7)],
    ["its other name", { max_completion_tokens: 7 }, both(7)],
    ["more than the model's maximum", { max_tokens: 700 }, both(50)],
    ["several names, the smallest of them", { max_tokens: 9, n_predict: 7, max_new_tokens: 8 }, both(7)],
    ["a name that would win at llama.cpp", { max_tokens: 7, n_predict: -1 }, both(7)],
    ["a name in other letters", { MaxNewTokens: 7, "Max-Length": 900 }, both(7)],
    // A Kelvin sign and a long s, which fold to k and s in readers of JSON that do not mind case.
    ["a name in letters that fold to others", { "max_new_to\u212aen\u017f": 7 }, both(7)],
    ["no name", {}, {}],
  ])("is one, however a client gives it: by %s", (_how, fields, expected) => {
    expect(rest("chat", fields)).toEqual(expected);
  });

  it("of 0 tokens of a completion says nothing of how many there will be, since some servers take it for none", () => {
    const body = { model: "acme/echo", prompt: "Hi", max_tokens: 0 };
    const request = parseWith("completions", Buffer.from(JSON.stringify(body)), "completions");
    expect(request.maxOutputTokens).toBeNull();
  });

  it("goes along under the names that the profile says", () => {
    const model = createModel({ maxTokensField: "max_completion_tokens" });
    expect(rest("chat", { max_tokens: 7 }, "default", model)).toEqual({ max_completion_tokens: 7 });
    expect(rest("completions", { n_predict: 7 })).toEqual({ max_tokens: 7 });
    expect(rest("embeddings", { max_tokens: 7, n_predict: 7 })).toEqual({});
  });

  it("is there under strict caps, though the client gave none", () => {
    expect(rest("chat", {}, "strict")).toEqual(both(50));
    expect(rest("completions", {}, "strict")).toEqual({ max_tokens: 50 });
  });

  it("of 0, which is none on Ollama, is refused under strict caps", () => {
    expect(rest("completions", { max_tokens: 0 })).toEqual({ max_tokens: 0 });
    expect(describeError(() => send("completions", { max_tokens: 0 }, "strict"))).toContain(
      "400 unsupported_parameter max_tokens: some model servers read 0 as no limit",
    );
  });

  it("of a body that passes is the only character that changes beside the model's name", () => {
    const text = `{ "n_predict" : -1,"id":12345678901234567890,"model":"acme/echo", "max_output_tokens": 7e2,"input":"\\u00e9" }`;
    const sent = Buffer.from(parseNative("responses", text).toUpstream(createModel())).toString();
    expect(sent).toBe(
      `{ "id":12345678901234567890,"model":"echo-7b", "max_output_tokens": 50,"input":"\\u00e9" }`,
    );
  });
});

describe("fields by which another model answers, or more is generated", () => {
  it.each(["models", "route", "fallbacks", "context_window_fallbacks", "max_length", "Fallbacks"])(
    "are taken off: %s",
    (name) => {
      expect(rest("chat", { [name]: ["acme/dear"], temperature: 1 })).toEqual({ temperature: 1 });
    },
  );

  it.each(["n_cmpl", "num_return_sequences", "generation_config", "extra_body", "provider", "api_base"])(
    "are refused: %s",
    (name) => {
      for (const protocol of ["chat", "completions", "embeddings"] as const) {
        const refused = () => send(protocol, { [name]: { x: 1 } });
        expect(describeError(refused)).toContain(`400 unsupported_parameter ${name}: `);
      }
      const native = parseNative("messages", { [name]: 2 });
      expect(describeError(() => native.toUpstream(createModel()))).toContain(name);
    },
  );

  it("are counted where the protocol has them, and taken off elsewhere", () => {
    expect(rest("chat", { n: 2, best_of: 3 })).toEqual({ n: 2, best_of: 3 });
    expect(rest("completions", { n: 2, best_of: 3 })).toEqual({ n: 2, best_of: 3 });
    expect(rest("embeddings", { n: 2, best_of: 3 })).toEqual({});
    const native = parseNative("messages", { n: 2, best_of: 3 }).toUpstream(createModel());
    expect(Object.keys(JSON.parse(Buffer.from(native).toString()) as object)).not.toContain("n");
  });

  it("pass by when they say nothing", () => {
    expect(rest("chat", { provider: null })).toEqual({});
  });
});

describe("a field of which is not known what it costs", () => {
  it("passes under default caps, and is refused by name under strict ones", () => {
    expect(rest("chat", { tomorrow: [1] })).toEqual({ tomorrow: [1] });
    const error = describeError(() => send("chat", { tomorrow: [1] }, "strict"));
    expect(error).toContain("400 unsupported_parameter tomorrow: ");
    expect(error).toContain("`passthrough_fields` in the profile of `acme/echo`");
  });

  it("passes under strict caps if it is null", () => {
    for (const name of ["chat", "completions", "embeddings"] as const) {
      expect(rest(name, { tomorrow: null }, "strict")).toMatchObject({ tomorrow: null });
    }
  });

  it("passes under strict caps where the model's profile lists it", () => {
    const model = createModel({ passthroughFields: ["tomorrow"] });
    expect(rest("chat", { tomorrow: 1 }, "strict", model)).toEqual({ tomorrow: 1, ...both(50) });
  });
});
