import { isJsonObject, toArray, type JsonObject } from "../../../shared/text/json-object.ts";
import type { UsageContradiction } from "../client-protocol.ts";
import type { TokenUsage } from "../../../shared/usage/token-usage.ts";
import { nameServiceTier } from "../../../shared/usage/service-tiers.ts";
import { type FigurePath, USAGE_FORMS, type UsageForm } from "./usage-forms.ts";

/** Far above any context window: a larger figure is a malfunction of the upstream and is not billed. */
const MAX_TOKENS = 1_000_000_000;
const FORMS: readonly UsageForm[] = Object.values(USAGE_FORMS);

/** The usage of an answer, and its contradiction, if any. */
export interface ReportedUsage {
  readonly tokens: TokenUsage;
  readonly contradiction: UsageContradiction | null;
}

/** Figures as in the upstream's object, except that `prompt` always includes cached and written tokens. */
interface Figures {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
  readonly inputAudio: number;
  readonly cachedAudio: number;
  readonly reasoning: number;
  /** The usage has a figure of reasoning, even if 0. */
  readonly hasReasoning: boolean;
  readonly outputAudio: number;
  /** Null if absent. */
  readonly total: number | null;
}

/**
 * Reads the `usage` of a chat completion from any server. Cached and written tokens together never exceed the prompt;
 * reasoning is part of the output wherever the server counts it.
 * @returns null if there is no usage, if the prompt's or the output's tokens are missing or impossible (negative,
 * fractional, too large, not a number), or if all are 0 (a placeholder). The gateway then counts by itself.
 */
export function readUsage(value: unknown): ReportedUsage | null {
  return readForm(value, USAGE_FORMS.chat);
}

/** Reads the `usage` of OpenAI's Responses protocol; see `readUsage`. */
export function readResponseUsage(value: unknown): ReportedUsage | null {
  return readForm(value, USAGE_FORMS.responses);
}

/** Reads the usage of Anthropic's Messages protocol; see `readUsage`. */
export function readMessageUsage(value: unknown): ReportedUsage | null {
  return readForm(isJsonObject(value) ? addCompactions(value) : value, USAGE_FORMS.messages);
}

/** Figures that each compaction of a message reports separately. */
const COMPACTED = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
const MAX_ITERATIONS = 1_000;

/** Adds the compactions, which are generated and billed in addition to the message's own figures. */
function addCompactions(usage: JsonObject): JsonObject {
  const compactions = toArray(usage["iterations"])
    .slice(0, MAX_ITERATIONS)
    .filter((iteration) => isJsonObject(iteration) && iteration["type"] === "compaction");
  if (compactions.length === 0 || !isTokenCount(usage["input_tokens"])) return usage;
  const sums = COMPACTED.map((name) => {
    const figures = [usage, ...(compactions as JsonObject[])].map((each) => readFigure(each, [[name]]));
    return [name, figures.reduce((sum, figure) => sum + figure, 0)];
  });
  return { ...usage, ...Object.fromEntries(sums) };
}

/**
 * Merges one more `message_delta` into the usage of a streamed message. Its figures are totals of the whole message
 * and replace earlier ones; impossible figures are ignored, and totals never decrease.
 * @param start The usage of `message_start`.
 */
export function mergeMessageUsage(before: JsonObject, delta: JsonObject, start: JsonObject): JsonObject {
  const isValid = (figure: unknown): boolean =>
    isJsonObject(figure) || Array.isArray(figure) || isTokenCount(figure);
  const valid = Object.fromEntries(Object.entries(delta).filter(([, figure]) => isValid(figure)));
  const merged = { ...before, ...valid };
  const { output_tokens: outputBefore } = before;
  const { output_tokens: output } = merged;
  const outputTokens =
    isTokenCount(outputBefore) && isTokenCount(output) ? Math.max(outputBefore, output) : output;
  return { ...merged, ...mergePrompt(before, valid, start), output_tokens: outputTokens };
}

/** Figures of a message's prompt. */
const PROMPT_FIELDS = [
  "input_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation",
] as const;

/**
 * Merges the prompt figures, never mixing two that count the same tokens. Servers that first report the whole prompt
 * report its split in the delta: the split counts. Cached tokens are part of the prompt reported before if the delta
 * has no input or repeats the whole prompt as input.
 */
function mergePrompt(before: JsonObject, delta: JsonObject, start: JsonObject): JsonObject {
  const [first, later] = [readPrompt(before), readPrompt(delta)];
  const isSplit = later.caches > 0 && first.caches === 0;
  if (later.input > 0) {
    const isLess = !isSplit && later.total <= first.total;
    if (isLess) return pickPrompt(before);
    const isWhole = later.input === first.total && later.caches <= later.input;
    const figures = { ...pickPrompt(delta), cache_creation: findLifetimes(before, delta) };
    return isWhole ? { ...figures, input_tokens: later.input - later.caches } : figures;
  }
  const whole = readPrompt(start);
  const isPart = whole.caches === 0 && whole.input === first.total && later.caches <= whole.input;
  if (isPart && later.caches > 0 && later.caches >= first.caches) {
    return { ...pickPrompt(delta), input_tokens: whole.input - later.caches };
  }
  if (isSplit && delta["input_tokens"] === 0) return pickPrompt(delta);
  const merged = { ...before, ...delta, input_tokens: before["input_tokens"] ?? delta["input_tokens"] };
  return pickPrompt(readPrompt(merged).total < first.total ? before : merged);
}

/** The lifetime of cache writes may only be reported at the start. */
function findLifetimes(before: JsonObject, delta: JsonObject): unknown {
  const isSame = delta["cache_creation_input_tokens"] === before["cache_creation_input_tokens"];
  return delta["cache_creation"] ?? (isSame ? before["cache_creation"] : undefined);
}

function pickPrompt(usage: JsonObject): JsonObject {
  return Object.fromEntries(PROMPT_FIELDS.map((name) => [name, usage[name]]));
}

/** Counts the prompt tokens of a message. */
function readPrompt(usage: JsonObject) {
  const { prompt, cached, cacheWrite } = USAGE_FORMS.messages;
  const input = readFigure(usage, [prompt]);
  const caches = readFigure(usage, cached) + readFigure(usage, cacheWrite);
  return { input, caches, total: input + caches };
}

/**
 * Finds the usage of a chat completion or a chunk: next to the choices, in the first choice (Moonshot), or in `x_groq`
 * (Groq).
 */
export function findUsage({ usage, choices, x_groq: groq }: JsonObject): unknown {
  if (isJsonObject(usage)) return usage;
  const choice: unknown = Array.isArray(choices) ? choices[0] : null;
  if (isJsonObject(choice) && isJsonObject(choice["usage"])) return choice["usage"];
  return isJsonObject(groq) ? groq["usage"] : usage;
}

/** Returns whether a usage of any protocol reports neither prompt nor output tokens. */
export function reportsZeroUsage(usage: unknown): boolean {
  return (
    isJsonObject(usage) &&
    FORMS.some(({ prompt, completion }) => follow(usage, prompt) === 0 && follow(usage, completion) === 0) &&
    FORMS.every(({ cached, cacheWrite, total }) =>
      [cached, cacheWrite, total].every((paths) => readFigure(usage, paths) === 0),
    )
  );
}

/** Returns only the tokens of `readUsage`. */
export function parseUsage(value: unknown): TokenUsage | null {
  return readUsage(value)?.tokens ?? null;
}

/**
 * Reads the service tier of a chat completion, chunk, response or message; null if absent. OpenAI puts it next to the
 * usage, Anthropic into it, together with speed and location.
 */
export function readServiceTier({ service_tier: outer, usage }: JsonObject): string | null {
  if (!isJsonObject(usage)) return nameServiceTier({ service_tier: outer });
  const { service_tier: inner, speed, inference_geo: place } = usage;
  const tier = outer ?? inner ?? readTrafficType(usage);
  return nameServiceTier({ service_tier: tier, speed, inference_geo: place });
}

const TRAFFIC_TYPES: readonly FigurePath[] = [
  ["extra_properties", "google", "traffic_type"],
  ["extra_properties", "google", "trafficType"],
  ["traffic_type"],
  ["trafficType"],
];

/** Reads Vertex's tier: `ON_DEMAND_FLEX` is `flex`. */
function readTrafficType(usage: JsonObject): string | null {
  for (const path of TRAFFIC_TYPES) {
    const type = follow(usage, path);
    if (typeof type === "string") return type.replace(/^ON_DEMAND_/i, "");
  }
  return null;
}

function readForm(usage: unknown, form: UsageForm): ReportedUsage | null {
  if (!isJsonObject(usage)) return null;
  const given = follow(usage, form.prompt);
  const total = readFigure(usage, form.total) || null;
  const completion = follow(usage, form.completion) ?? completeFrom(total, given);
  if (!isTokenCount(given) || !isTokenCount(completion)) return null;
  const cached = readFigure(usage, form.cached);
  const cacheWrite5m = readFigure(usage, form.cacheWrite5m);
  const cacheWrite1h = readFigure(usage, form.cacheWrite1h);
  const cacheWrite = readFigure(usage, form.cacheWrite) || cacheWrite5m + cacheWrite1h;
  const inBoth = form.promptIncludesCache ? given : given + cached + cacheWrite;
  const toolUse = total === null ? 0 : Math.max(0, total - inBoth - completion);
  // Prompt tokens added by tools are not part of `prompt`, only of the total.
  const prompt = inBoth + (toolUse === 0 ? 0 : Math.min(toolUse, readFigure(usage, form.toolUsePrompt)));
  if (prompt === 0 && completion === 0) return null;
  return countTokens({
    prompt,
    completion,
    cached,
    cacheWrite,
    cacheWrite5m,
    cacheWrite1h,
    inputAudio: readFigure(usage, form.inputAudio),
    cachedAudio: readFigure(usage, form.cachedAudio),
    reasoning: readFigure(usage, form.reasoning),
    hasReasoning: form.reasoning.some((path) => isTokenCount(follow(usage, path))),
    outputAudio: readFigure(usage, form.outputAudio),
    total,
  });
}

/** Computes missing output tokens from the total. */
function completeFrom(total: number | null, prompt: unknown): number | undefined {
  return total !== null && isTokenCount(prompt) && total >= prompt ? total - prompt : undefined;
}

function countTokens(figures: Figures): ReportedUsage {
  const outside = countOutside(figures);
  const outputTokens = figures.completion + outside;
  const reasoningTokens = Math.min(outputTokens, Math.max(outside, figures.reasoning));
  // A token in two parts counts in the first of them: cached, written, audio.
  const { prompt, cached, cacheWrite, cacheWrite1h, inputAudio, cachedAudio } = figures;
  const cachedInputTokens = Math.min(prompt, cached);
  const inputTokens = prompt - cachedInputTokens;
  const written = Math.min(inputTokens, cacheWrite);
  const writtenFor1h = Math.min(written, cacheWrite1h);
  const audio = Math.max(0, inputAudio - cachedAudio);
  const tokens = {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens: written - writtenFor1h,
    cacheWrite1hTokens: writtenFor1h,
    inputAudioTokens: Math.min(inputTokens - written, audio),
    outputTokens,
    reasoningTokens,
    outputAudioTokens: Math.min(outputTokens - reasoningTokens, figures.outputAudio),
  };
  return { tokens, contradiction: findContradiction(figures, outputTokens) };
}

/**
 * Counts generated tokens missing from the completion's figure. xAI reports them as reasoning and adds them to the
 * total; Gemini's OpenAI endpoint only has a larger total. Both bill them as output. If reasoning is reported as 0,
 * the surplus is something else.
 */
function countOutside({ prompt, completion, cached, reasoning, hasReasoning, total }: Figures): number {
  // If the prompt excludes cached tokens, they are the surplus of the total.
  if (total === null || cached > prompt) return 0;
  const surplus = total - prompt - completion;
  return surplus > 0 && (!hasReasoning || reasoning === surplus) ? surplus : 0;
}

function findContradiction(figures: Figures, output: number): UsageContradiction | null {
  const { prompt, cached, cacheWrite, cacheWrite5m, cacheWrite1h, reasoning, total } = figures;
  if (cached > prompt) return "cached_above_prompt";
  if (cacheWrite > prompt - cached) return "cache_write_above_prompt";
  const split = cacheWrite5m + cacheWrite1h;
  if (split > 0 && split !== cacheWrite) return "cache_write_split";
  if (figures.inputAudio > prompt) return "audio_above_prompt";
  if (reasoning > output) return "reasoning_above_output";
  if (figures.outputAudio > output) return "audio_above_output";
  return total !== null && total !== prompt + output ? "total" : null;
}

/** Returns the first positive figure, or 0. */
function readFigure(usage: JsonObject, paths: readonly FigurePath[]): number {
  for (const path of paths) {
    const figure = follow(usage, path);
    if (isTokenCount(figure) && figure > 0) return figure;
  }
  return 0;
}

function follow(usage: JsonObject, path: FigurePath): unknown {
  let value: unknown = usage;
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS;
}
