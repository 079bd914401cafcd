/**
 * One HTTP request to a URL that a customer chose. Addresses are checked after the name's resolution, and
 * exactly these are connected to, so that a changed name leads nowhere else. Redirects are not followed, only
 * the response's headers matter, and everything together takes 10 s at most.
 */
import type { LookupAddress } from "node:dns";
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import { isPublicAddress } from "./public-address.ts";
import { type ResolveHost, resolveLocalHost, resolvePublicHost } from "./resolve-host.ts";
import { describeConnectionError, WebhookError } from "./webhook-error.ts";

const WEBHOOK_TIMEOUT_MS = 10_000;
/** Bytes of an ignored body. */
const MAX_ANSWER_BYTES = 16 * 1024;
const MAX_ANSWER_HEADER_BYTES = 16 * 1024;

export interface PostOptions {
  /** Also allows private addresses and plain `http`: `notifications.webhooks.allow_private_networks`. */
  readonly allowPrivateNetworks: boolean;
  /** In place of DNS, for tests. */
  readonly resolveHost?: ResolveHost;
  /** PEM, in place of Node's; for tests. */
  readonly certificateAuthorities?: string;
  readonly timeoutMs?: number;
}

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal?: AbortSignal;
}

export interface WebhookAnswer {
  readonly status: number;
  /** Wait requested by `Retry-After`, otherwise 0. */
  readonly retryAfterMs: number;
}

/** @throws WebhookError without a response; customers may see its message. */
export async function postWebhook(post: Post, options: PostOptions): Promise<WebhookAnswer> {
  const url = new URL(post.url);
  requireAllowed(url, options);
  const { timeoutMs = WEBHOOK_TIMEOUT_MS } = options;
  const late = new WebhookError(`no response within ${timeoutMs / 1000} s`);
  return new Promise((resolve, reject) => {
    const request = open(url, post, options);
    const timer = setTimeout(() => request.destroy(late), timeoutMs);
    request.on("close", () => clearTimeout(timer));
    request.on("error", (error) => reject(describeConnectionError(error)));
    request.on("response", (response) => {
      resolve({ status: response.statusCode ?? 0, retryAfterMs: parseRetryAfter(response, Date.now()) });
      drain(response);
    });
    request.end(post.body);
  });
}

function open(url: URL, post: Post, options: PostOptions): ClientRequest {
  const { certificateAuthorities } = options;
  const common = {
    method: "POST",
    headers: {
      ...post.headers,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(post.body),
      "user-agent": "inference-gateway-webhooks/1",
    },
    // A separate connection: one that was opened under an earlier check is not reused.
    agent: false as const,
    maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
    lookup: createLookup(options),
    ...(post.signal === undefined ? {} : { signal: post.signal }),
  };
  if (url.protocol === "http:") return requestHttp(url, common);
  return requestHttps(url, {
    ...common,
    ...(certificateAuthorities === undefined ? {} : { ca: certificateAuthorities }),
  });
}

/**
 * Returns the addresses to connect to, in order.
 * @throws WebhookError if none is allowed, or the resolver's error.
 */
export async function findWebhookAddresses(
  url: URL,
  options: PostOptions,
): Promise<readonly LookupAddress[]> {
  requireAllowed(url, options);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  return family === 0 ? findAddresses(host, options) : [{ address: host, family }];
}

function requireAllowed(url: URL, { allowPrivateNetworks }: PostOptions): void {
  if (allowPrivateNetworks) return;
  if (url.protocol !== "https:") throw new WebhookError("the URL does not begin with https://");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // Node does not call lookup for an address. URLs normalize odd notations ("0x7f.1").
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw createPrivateError();
}

function createLookup(options: PostOptions): LookupFunction {
  const find = callbackify((hostname: string) => findAddresses(hostname, options));
  return (hostname, { all }, callback) => {
    find(hostname, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) callback(error ?? createUnknownError(), "", 0);
      else if (all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

async function findAddresses(hostname: string, options: PostOptions): Promise<LookupAddress[]> {
  const { allowPrivateNetworks } = options;
  const resolve = options.resolveHost ?? (allowPrivateNetworks ? resolveLocalHost : resolvePublicHost);
  const all = await resolve(hostname);
  const allowed = allowPrivateNetworks ? all : all.filter(isPublicAddress);
  if (allowed.length === 0 && all.length > 0) throw createPrivateError();
  return allowed.map((address) => ({ address, family: isIP(address) }));
}

/** Reads some of the body so that the peer can finish. */
function drain(response: IncomingMessage): void {
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
  // Only the response's headers matter.
  response.on("error", () => response.destroy());
}

/** Parses seconds, or an HTTP date (RFC 9110, section 10.2.3). */
function parseRetryAfter({ headers }: IncomingMessage, nowMs: number): number {
  const text = headers["retry-after"];
  if (text === undefined) return 0;
  const waitMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : 0;
}

/** Does not name the address: that would reveal the operator's network. */
function createPrivateError(): WebhookError {
  return new WebhookError("the host's address isn't public");
}

function createUnknownError(): WebhookError {
  return new WebhookError("the host name has no address");
}
