/** Words of real servers, and of real servers about other things. */
import { describe, expect, it } from "vitest";
import {
  describeContextOverflow,
  isContextOverflow,
} from "../../../../src/data-path/translation/upstream/context-overflow.ts";

const says = (message: string, fields: { code?: string; type?: string } = {}) => ({
  message,
  code: fields.code ?? null,
  type: fields.type ?? null,
  param: null,
  status: null,
});

const OVERFLOWS = [
  ["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum"],
  ["Bedrock", "Input is too long for requested model."],
  ["Bedrock, short", "ValidationException: The input is too long"],
  ["Bedrock, tokens", "Input exceeds the max input token limit"],
  ["OpenAI", "Your input exceeds the context window of this model. Please adjust your input and try again."],
  [
    "OpenAI, older",
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
  ],
  [
    "OpenAI, configured",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.",
  ],
  ["Gemini", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."],
  [
    "Vertex",
    "Unable to submit request because the input token count is 10000 but model only supports up to 8192.",
  ],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ["Baidu", "the max input characters is 20000"],
  ["a window that was reached", "The model has reached its context window limit."],
  ["SiliconFlow", "length of prompt_tokens (40000) must be less than max_seq_len (32768)."],
  ["Groq", "Please reduce the length of the messages or completion."],
  [
    "OpenRouter",
    "This endpoint's maximum context length is 128000 tokens. However, you requested about 150000 tokens (140000 of text input, 10000 in the output).",
  ],
  ["llama.cpp", "the request exceeds the available context size, try increasing it"],
  [
    "llama.cpp, figures",
    "request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it",
  ],
  ["LM Studio", "tokens to keep from the initial prompt is greater than the context length"],
  [
    "LM Studio, loaded",
    "Trying to keep the first 10000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.",
  ],
  ["Copilot", "prompt token count of 150000 exceeds the limit of 128000"],
  ["MiniMax", "invalid params, context window exceeds limit (2013)"],
  ["Kimi", "Your request exceeded model token limit: 262144 (requested: 291351)"],
  [
    "vLLM",
    "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
  ],
  [
    "vLLM, decoder",
    "The decoder prompt (length 10127) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
  ],
  ["SGLang", "The input (33000 tokens) is longer than the model's context length (32768 tokens)."],
  [
    "SGLang, sum",
    "Requested token count exceeds the model's maximum context length of 32768 tokens. You requested a total of 40000 tokens: 30000 tokens from the input messages and 10000 tokens for the completion.",
  ],
  ["Ollama", "prompt too long; exceeded max context length by 24 tokens"],
  ["Ollama, embeddings", "the input length exceeds the context length"],
  [
    "Cohere",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4200. Try using a shorter prompt.",
  ],
  ["Cohere, total", "total tokens exceeds the model's max of 4096"],
  ["TGI", "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000"],
  [
    "TGI, sum",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`",
  ],
  ["Mistral", "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"],
  ["Fireworks", "The prompt is too long: 140000, model maximum context length: 131071"],
  ["Zhipu", "Prompt exceeds max length"],
  ["DashScope", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"],
  [
    "transformers",
    "Token indices sequence length is longer than the specified maximum sequence length for this model (9000 > 8192).",
  ],
  ["AI21", "Prompt has too many tokens. Decrease its size."],
  ["LiteLLM", "litellm.ContextWindowExceededError: the context window was exceeded"],
] as const;

const OTHERS = [
  ["vLLM's limit of an answer", "max_tokens must be at least 1, got 0."],
  [
    "vLLM's limit of an answer, too large",
    "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 20 input tokens (4096 > 4096 - 20).",
  ],
  [
    "SGLang's limit of an answer",
    "max_completion_tokens is too large: 4096. This model supports at most 2048 completion tokens.",
  ],
  [
    "Anthropic's limit of an answer",
    "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5",
  ],
  [
    "Groq's limit of an answer",
    "`max_tokens` must be less than or equal to `8192`, the maximum value is less than the `context_window`",
  ],
  ["Anthropic's thinking", "`max_tokens` must be greater than `thinking.budget_tokens`."],
  [
    "Groq's rate",
    "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.",
  ],
  [
    "a text in characters",
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576, but got a string with length 2000000 instead.",
  ],
  [
    "tools",
    "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
  ],
  [
    "a tool's name",
    "Invalid 'tools[0].function.name': string too long. Expected at most 64, but got 70 instead.",
  ],
  ["stops", "Invalid 'stop': array too long. Expected an array with maximum length 4."],
  [
    "images",
    "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
  ],
  ["too many images", "At most 1 image(s) may be provided in one prompt."],
  ["a temperature", "temperature must be between 0 and 2, but got 3."],
  ["log probabilities", "top_logprobs must be less than or equal to 20"],
  [
    "a schema",
    "Invalid schema for response_format: context=('properties', 'a'), 'required' is required to be supplied",
  ],
  ["a token that is no token", "Invalid token in the grammar at line 3, but expected a rule"],
  ["an unknown field", "Unrecognized request argument supplied: context"],
  ["an order of messages", "Conversation roles must alternate user/assistant/user/assistant/..."],
  [
    "an image",
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
  ],
  [
    "a call without an answer",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
  ],
  ["a cache", "A maximum of 4 blocks with cache_control may be provided. Found 5."],
  ["n", "n must be at most 128, but got 500 in the request"],
  ["nothing", ""],
] as const;

describe("isContextOverflow", () => {
  it.each(OVERFLOWS)("[errors.context_length] knows the words of %s", (_server, message) => {
    expect(isContextOverflow(says(message))).toBe(true);
    expect(describeContextOverflow(says(message))).toMatch(
      /^(?:prompt is too long(?!: prompt is too long)|input length .* exceed context limit)/s,
    );
  });

  it.each(["context_length_exceeded", "exceed_context_size_error", "ContextWindowExceededError"])(
    "knows the name %s, as a code and as a type",
    (name) => {
      expect(isContextOverflow(says("Too much.", { code: name }))).toBe(true);
      expect(isContextOverflow(says("Too much.", { type: name }))).toBe(true);
    },
  );

  it.each(OTHERS)("takes no other error for one: %s", (_about, message) => {
    expect(isContextOverflow(says(message))).toBe(false);
  });

  it("looks at the beginning alone: servers repeat the request behind it", () => {
    expect(isContextOverflow(says(`bad tool${" ".repeat(1_000)}the prompt is too long`))).toBe(false);
  });
});
