/**
 * A model of ten megabytes: Llama's architecture, a vocabulary learned from this repository's pages, a chat template with
 * tools, and weights by chance. What it writes is noise, but where it may call a tool it begins a call, which the server's
 * grammar completes. All that is around it is real.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { learnBytePairs } from "./byte-pairs.ts";
import { formatGguf, type MetadataValue, type Tensor } from "./gguf.ts";

/** Tokens of one conversation. */
const CONTEXT_LENGTH = 8_192;
const WIDTH = 64;
/** So many that it writes some hundred tokens a second on one core: what happens in mid-answer can be seen. */
export const LAYERS = 64;
const HEADS = 4;
const KEY_HEADS = 2;
const KEY_WIDTH = (WIDTH / HEADS) * KEY_HEADS;
const INNER_WIDTH = 128;
const MERGES = 512;

/** Of a text's end, of a message's beginning and end, and where the model is to call a tool. */
const CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|tools|>"];
const CALL_TOKENS = ["<tool_call>", "</tool_call>"];
const SPECIAL_TOKENS = [...CONTROL_TOKENS, ...CALL_TOKENS];
/** Numbers of the kinds of tokens. */
const [NORMAL, CONTROL, USER_DEFINED] = [1, 3, 4];

/** What it writes for certain behind a token: a call where it may call, and nothing behind it. */
const HABITS = [
  { before: "<|tools|>", after: "<tool_call>" },
  { before: "</tool_call>", after: "<|im_end|>" },
] as const;
/** The last dimensions of its state are theirs, one of each. */
const FIRST_HABIT = WIDTH - HABITS.length;
const HABIT_STRENGTH = 8;

/** Half a second's work, the same for each model. */
let learned: ReturnType<typeof learnBytePairs> | null = null;

/** The same bytes each time. @param layers The more, the slower it writes. */
export function createTinyModel(layers: number): Buffer {
  learned ??= learnBytePairs(readPage("docs/api.md") + readPage("docs/messages.md"), MERGES);
  const { tokens, merges } = learned;
  const all = [...SPECIAL_TOKENS, ...tokens];
  const types = [...CONTROL_TOKENS.map(() => CONTROL), ...CALL_TOKENS.map(() => USER_DEFINED)];
  return formatGguf(
    {
      ...describeArchitecture(all.length, layers),
      "tokenizer.ggml.model": { string: "gpt2" },
      "tokenizer.ggml.pre": { string: "gpt-2" },
      "tokenizer.ggml.tokens": { strings: all },
      "tokenizer.ggml.token_type": { int32s: [...types, ...tokens.map(() => NORMAL)] },
      "tokenizer.ggml.merges": { strings: merges },
      "tokenizer.ggml.bos_token_id": { uint32: 0 },
      "tokenizer.ggml.eos_token_id": { uint32: 2 },
      "tokenizer.ggml.padding_token_id": { uint32: 0 },
      "tokenizer.ggml.add_bos_token": { bool: false },
      "tokenizer.chat_template": { string: readPage("test/support/llama/chat-template.jinja") },
    },
    createTensors(all.length, layers),
  );
}

function describeArchitecture(vocabulary: number, layers: number): Record<string, MetadataValue> {
  return {
    "general.architecture": { string: "llama" },
    "general.name": { string: "tiny-random" },
    "general.file_type": { uint32: 0 },
    "llama.vocab_size": { uint32: vocabulary },
    "llama.context_length": { uint32: CONTEXT_LENGTH },
    "llama.embedding_length": { uint32: WIDTH },
    "llama.block_count": { uint32: layers },
    "llama.feed_forward_length": { uint32: INNER_WIDTH },
    "llama.rope.dimension_count": { uint32: WIDTH / HEADS },
    "llama.attention.head_count": { uint32: HEADS },
    "llama.attention.head_count_kv": { uint32: KEY_HEADS },
    "llama.attention.layer_norm_rms_epsilon": { float32: 1e-5 },
  };
}

function createTensors(vocabulary: number, layers: number): Tensor[] {
  const random = createRandom(7);
  const matrix = (name: string, dimensions: readonly [number, number], spread = 0.08): Tensor => {
    const values = new Float32Array(dimensions[0] * dimensions[1]);
    for (let index = 0; index < values.length; index += 1) values[index] = random() * spread;
    return { name: `${name}.weight`, dimensions, values };
  };
  const norm = (name: string): Tensor => {
    return { name: `${name}.weight`, dimensions: [WIDTH], values: new Float32Array(WIDTH).fill(1) };
  };
  const layer = (index: number): Tensor[] => {
    const of = (part: string) => `blk.${index}.${part}`;
    return [
      norm(of("attn_norm")),
      norm(of("ffn_norm")),
      matrix(of("attn_q"), [WIDTH, WIDTH]),
      matrix(of("attn_k"), [WIDTH, KEY_WIDTH]),
      matrix(of("attn_v"), [WIDTH, KEY_WIDTH]),
      withoutHabits(matrix(of("attn_output"), [WIDTH, WIDTH])),
      matrix(of("ffn_gate"), [WIDTH, INNER_WIDTH]),
      matrix(of("ffn_up"), [WIDTH, INNER_WIDTH]),
      withoutHabits(matrix(of("ffn_down"), [INNER_WIDTH, WIDTH])),
    ];
  };
  const embedding = matrix("token_embd", [WIDTH, vocabulary], 1);
  const output = matrix("output", [WIDTH, vocabulary], 0.25);
  addHabits(embedding, output);
  return [
    embedding,
    output,
    norm("output_norm"),
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
  ];
}

/** Special tokens are written by habit alone: an answer goes on until its limit, or the end of its grammar. */
function addHabits(embedding: Tensor, output: Tensor): void {
  output.values.fill(0, 0, SPECIAL_TOKENS.length * WIDTH);
  clearHabits(embedding);
  for (const [index, { before, after }] of HABITS.entries()) {
    const dimension = FIRST_HABIT + index;
    embedding.values[SPECIAL_TOKENS.indexOf(before) * WIDTH + dimension] = HABIT_STRENGTH;
    output.values[SPECIAL_TOKENS.indexOf(after) * WIDTH + dimension] = HABIT_STRENGTH;
  }
}

/** Of each token's state. */
function clearHabits({ values }: Tensor): void {
  for (let start = 0; start < values.length; start += WIDTH) {
    values.fill(0, start + FIRST_HABIT, start + WIDTH);
  }
}

/** What a layer adds to the state leaves them alone. */
function withoutHabits(tensor: Tensor): Tensor {
  tensor.values.fill(0, tensor.dimensions[0]! * FIRST_HABIT);
  return tensor;
}

/** Normally distributed, and the same from one run to the next. */
function createRandom(seed: number): () => number {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
}

function readPage(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), "utf8");
}
