/** The two majors of the Anthropic SDK for Node that are in use. */
import * as current from "@anthropic-ai/sdk";
import * as previous from "anthropic-sdk-0";
import { firstOnPush } from "../support/extent.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { type Client, CLIENTS } from "./clients.ts";

export type Anthropic = current.Anthropic;
export type Message = current.Anthropic.Message;
export type MessageParams = current.Anthropic.MessageCreateParamsNonStreaming;
export type MessageEvent = current.Anthropic.RawMessageStreamEvent;
export type APIError = current.APIError;

export interface ClientOptions {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly maxRetries?: number;
  readonly fetch?: typeof fetch;
}

export interface Sdk {
  readonly name: string;
  readonly proven: Client;
  /** What it sends without being asked. */
  readonly apiVersion: string;
  createClient(options: ClientOptions): Anthropic;
  /** The constructor of this name, for `toBeInstanceOf`; the one of `fallback` where this major has none. */
  errorClass(name: string, fallback?: string): new (...args: never[]) => Error;
}

function createSdk(name: string, proven: Client, apiVersion: string, module: typeof current): Sdk {
  const classes = module as unknown as Record<string, new (...args: never[]) => Error>;
  return {
    name,
    proven,
    apiVersion,
    createClient: (options) => new module.Anthropic({ maxRetries: 0, ...options }),
    errorClass: (wanted, fallback = "APIError") => (classes[wanted] ?? classes[fallback])!,
  };
}

export const SDKS = firstOnPush<Sdk>([
  createSdk("@anthropic-ai/sdk 1", CLIENTS.anthropic, "2026-10-21", current),
  // The calls that the tests make have the same form in both.
  createSdk("@anthropic-ai/sdk 0", CLIENTS.anthropic0, "2023-06-01", previous as unknown as typeof current),
]);

/** A small request, and what the test wants otherwise. */
export function messageParams(fields: object = {}, content = "hello big world"): MessageParams {
  return { model: CHAT_MODEL, max_tokens: 1_000, messages: [{ role: "user", content }], ...fields };
}

/** What the SDK throws; fails when it throws nothing. */
export async function catchApiError(promise: PromiseLike<unknown>): Promise<APIError> {
  try {
    await promise;
  } catch (thrown) {
    return thrown as APIError;
  }
  throw new Error("the SDK threw nothing");
}

/** The text of all text blocks. */
export function textOf(message: Pick<Message, "content">): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

export async function readAll(stream: AsyncIterable<MessageEvent>): Promise<MessageEvent[]> {
  const events: MessageEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
