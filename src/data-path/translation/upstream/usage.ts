import { isJsonObject, toArray, type JsonObject } from "../../../shared/text/json-object.ts";
import type { UsageContradiction } from "../client-protocol.ts";
import type { TokenUsage } from "../../../shared/usage/token-usage.ts";
import { nameServiceTier } from "../../../shared/usage/service-tiers.ts";
import { type FigurePath, USAGE_FORMS, type UsageForm } from "./usage-forms.ts";

/** No context window comes near it: a larger figure is a broken upstream, not a bill. */
const MAX_TOKENS = 1_000_000_000;
const FORMS: readonly UsageForm[] = Object.values(USAGE_FORMS);

/** The usage of an answer, and what does not fit in it; null when everything does. */
export interface ReportedUsage {
  readonly tokens: TokenUsage;
  readonly contradiction: UsageContradiction | null;
}

/** As they stand in the upstream's object, but for `prompt`, which always counts what is cached and written. */
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
  /** Reasoning is told, if only as 0. */
  readonly isReasoningTold: boolean;
  readonly outputAudio: number;
  /** Null when none is told. */
  readonly total: number | null;
}

/**
 * Reads the `usage` object of a chat completion, whatever server wrote it. Cached and written tokens never exceed the
 * prompt together, reasoning is part of the output wherever the server counts it.
 * @returns null when there is none, when the prompt's or the output's tokens are missing or impossible (negative,
 * fractional, absurd, not a number), or when all are 0, a placeholder: the gateway then counts by itself.
 */
export function readUsage(value: unknown): ReportedUsage | null {
  return readForm(value, USAGE_FORMS.chat);
}

/** The `usage` of a response of OpenAI's Responses protocol, as `readUsage`. */
export function readResponseUsage(value: unknown): ReportedUsage | null {
  return readForm(value, USAGE_FORMS.responses);
}

/** The usage of a message of Anthropic's Messages protocol, as `readUsage`. */
export function readMessageUsage(value: unknown): ReportedUsage | null {
  return readForm(isJsonObject(value) ? addCompactions(value) : value, USAGE_FORMS.messages);
}

/** The figures of a message that its compactions have beside it. */
const COMPACTED = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
const MAX_ITERATIONS = 1_000;

/** A compaction is generated and billed beside the message, whose own figures do not count it. */
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
 * The usage of a streamed message after one more `message_delta`. Its figures are totals of the whole message and replace
 * those before them; one that is impossible is not told, and totals do not fall.
 */
export function mergeMessageUsage(before: JsonObject, delta: JsonObject): JsonObject {
  const isTold = (figure: unknown): boolean =>
    isJsonObject(figure) || Array.isArray(figure) || isTokenCount(figure);
  const told = Object.fromEntries(Object.entries(delta).filter(([, figure]) => isTold(figure)));
  const merged = { ...before, ...told };
  const { output_tokens: outputBefore } = before;
  const { output_tokens: output } = merged;
  const outputTokens =
    isTokenCount(outputBefore) && isTokenCount(output) ? Math.max(outputBefore, output) : output;
  return { ...merged, ...mergePrompt(before, told), output_tokens: outputTokens };
}

/** The figures of a message's prompt. */
const PROMPT_FIELDS = [
  "input_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation",
] as const;

/**
 * The prompt's figures of one event, never a mix of two that count the same tokens. Servers that tell the whole prompt at
 * the start tell its split in the delta: the split counts. Cached tokens alone are part of the prompt told before.
 */
function mergePrompt(before: JsonObject, delta: JsonObject): JsonObject {
  const [first, later] = [readPrompt(before), readPrompt(delta)];
  const isSplit = later.caches > 0 && first.caches === 0;
  if (later.input > 0) {
    const isLess = !isSplit && later.input + later.caches <= first.input + first.caches;
    return isLess
      ? pickPrompt(before)
      : { ...pickPrompt(delta), cache_creation: findLifetimes(before, delta) };
  }
  const { input_tokens: input } = before;
  if (isSplit && later.caches <= first.input) {
    return { ...pickPrompt(delta), input_tokens: first.input - later.caches };
  }
  if (isSplit && delta["input_tokens"] === 0) return pickPrompt(delta);
  const merged = { ...before, ...delta, input_tokens: input ?? delta["input_tokens"] };
  return pickPrompt(countMessagePrompt(merged) < countMessagePrompt(before) ? before : merged);
}

/** How long writes are kept may be told at the start alone. */
function findLifetimes(before: JsonObject, delta: JsonObject): unknown {
  const isSame = delta["cache_creation_input_tokens"] === before["cache_creation_input_tokens"];
  return delta["cache_creation"] ?? (isSame ? before["cache_creation"] : undefined);
}

function pickPrompt(usage: JsonObject): JsonObject {
  return Object.fromEntries(PROMPT_FIELDS.map((name) => [name, usage[name]]));
}

function readPrompt(usage: JsonObject): { readonly input: number; readonly caches: number } {
  const input = readFigure(usage, [USAGE_FORMS.messages.prompt]);
  return { input, caches: countMessagePrompt(usage) - input };
}

/** Prompt tokens of a message, those of caches included. */
function countMessagePrompt(usage: JsonObject): number {
  const { prompt, cached, cacheWrite } = USAGE_FORMS.messages;
  return [[prompt], cached, cacheWrite].reduce((sum, paths) => sum + readFigure(usage, paths), 0);
}

/**
 * The usage of a chat completion or a chunk, wherever the server puts it: beside the choices, in the first of them
 * (Moonshot), or in a member of its own (Groq).
 */
export function findUsage({ usage, choices, x_groq: groq }: JsonObject): unknown {
  if (isJsonObject(usage)) return usage;
  const choice: unknown = Array.isArray(choices) ? choices[0] : null;
  if (isJsonObject(choice) && isJsonObject(choice["usage"])) return choice["usage"];
  return isJsonObject(groq) ? groq["usage"] : usage;
}

/** Whether a usage, of whatever protocol, says that nothing was used at all: neither prompt nor output. */
export function isUsageOfNothing(usage: unknown): boolean {
  return (
    isJsonObject(usage) &&
    FORMS.some(({ prompt, completion }) => follow(usage, prompt) === 0 && follow(usage, completion) === 0) &&
    FORMS.every(({ cached, cacheWrite, total }) =>
      [cached, cacheWrite, total].every((paths) => readFigure(usage, paths) === 0),
    )
  );
}

/** The tokens alone of `readUsage`. */
export function parseUsage(value: unknown): TokenUsage | null {
  return readUsage(value)?.tokens ?? null;
}

/**
 * The service tier that a chat completion, a chunk, a response or a message names (OpenAI beside the usage, Anthropic in
 * it, where its speed and its place are as well); null when it names none.
 */
export function readServiceTier({ service_tier: beside, usage }: JsonObject): string | null {
  if (!isJsonObject(usage)) return nameServiceTier({ service_tier: beside });
  const { service_tier: within, speed, inference_geo: place } = usage;
  const tier = beside ?? within ?? readTrafficType(usage);
  return nameServiceTier({ service_tier: tier, speed, inference_geo: place });
}

const TRAFFIC_TYPES: readonly FigurePath[] = [
  ["extra_properties", "google", "traffic_type"],
  ["extra_properties", "google", "trafficType"],
  ["traffic_type"],
  ["trafficType"],
];

/** The tier that Vertex names: `ON_DEMAND_FLEX` is `flex`. */
function readTrafficType(usage: JsonObject): string | null {
  for (const path of TRAFFIC_TYPES) {
    const type = follow(usage, path);
    if (typeof type === "string") return type.replace(/^ON_DEMAND_/i, "");
  }
  return null;
}

function readForm(usage: unknown, form: UsageForm): ReportedUsage | null {
  if (!isJsonObject(usage)) return null;
  const told = follow(usage, form.prompt);
  const total = readFigure(usage, form.total) || null;
  const completion = follow(usage, form.completion) ?? completeFrom(total, told);
  if (!isTokenCount(told) || !isTokenCount(completion)) return null;
  const cached = readFigure(usage, form.cached);
  const cacheWrite5m = readFigure(usage, form.cacheWrite5m);
  const cacheWrite1h = readFigure(usage, form.cacheWrite1h);
  const cacheWrite = readFigure(usage, form.cacheWrite) || cacheWrite5m + cacheWrite1h;
  const inBoth = form.promptIncludesCache ? told : told + cached + cacheWrite;
  const toolUse = total === null ? 0 : Math.max(0, total - inBoth - completion);
  // What tools put before the model is told beside the prompt, in the total alone.
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
    isReasoningTold: form.reasoning.some((path) => isTokenCount(follow(usage, path))),
    outputAudio: readFigure(usage, form.outputAudio),
    total,
  });
}

/** The output that was left out, where the total tells it. */
function completeFrom(total: number | null, prompt: unknown): number | undefined {
  return total !== null && isTokenCount(prompt) && total >= prompt ? total - prompt : undefined;
}

function countTokens(figures: Figures): ReportedUsage {
  const outside = countOutside(figures);
  const outputTokens = figures.completion + outside;
  const reasoningTokens = Math.min(outputTokens, Math.max(outside, figures.reasoning));
  // What is in two parts is counted in the first of them: cached, written, audio.
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
 * Generated tokens that the completion's figure leaves out. xAI names them as reasoning and adds them to the total;
 * Gemini's OpenAI endpoint names nothing, its total is larger by the thinking. Both bill them as output. Where reasoning is
 * told to be 0, the surplus is something else.
 */
function countOutside({ prompt, completion, cached, reasoning, isReasoningTold, total }: Figures): number {
  // Where cached tokens stand outside of the prompt, they are what the total has more.
  if (total === null || cached > prompt) return 0;
  const surplus = total - prompt - completion;
  return surplus > 0 && (!isReasoningTold || reasoning === surplus) ? surplus : 0;
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

/** The first positive figure of these places; 0 when there is none. */
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
