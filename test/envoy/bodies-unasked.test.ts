/**
 * Requests that need no body are answered by their head: what comes behind it is read by nobody and held nowhere, however
 * long it goes on, with a key or without one.
 */
import { describe, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { readEnvoyMemory } from "./edge/envoy-counters.ts";
import { beginUpload, type HttpVersion } from "./edge/unfinished-upload.ts";

const REQUESTS = byExtent({ push: 20, nightly: 60 });
const BODY_BYTES = 33_000_000;
const OTHERS_REQUESTS = 42;
/** All bodies together, of 660 MB or 2 GB. Envoy reads about 2 MiB of one before it is refused. */
const MAX_HELD_BYTES = 200_000_000;
const VERSIONS: readonly HttpVersion[] = ["HTTP/1.1", "HTTP/2"];

interface Unasked {
  readonly method: string;
  readonly path: string;
  readonly hasKey: boolean;
  readonly contentType?: string;
  readonly status: number;
}

const UNASKED: readonly Unasked[] = [
  { method: "GET", path: "/v1/models", hasKey: true, status: 200 },
  { method: "HEAD", path: "/v1/key", hasKey: true, status: 200 },
  { method: "GET", path: "/v1/requests/req_1", hasKey: true, status: 404 },
  { method: "DELETE", path: "/v1/chat/completions", hasKey: true, status: 405 },
  { method: "POST", path: "/v1/elsewhere", hasKey: true, status: 404 },
  { method: "GET", path: "/v1/models", hasKey: false, status: 401 },
  { method: "GET", path: "/healthz", hasKey: false, status: 200 },
  { method: "HEAD", path: "/readyz", hasKey: false, status: 200 },
  {
    method: "POST",
    path: "/v1/chat/completions",
    hasKey: false,
    contentType: "application/grpc+json",
    status: 401,
  },
];
/** On each push each request with one of the versions. */
const CASES = UNASKED.flatMap((unasked, index) =>
  byExtent({ push: [VERSIONS[index % 2]!], nightly: VERSIONS }).map((version) => ({ version, ...unasked })),
);

describe(`${REQUESTS} bodies without a declared length and without an end`, () => {
  const chat = withChatStack();

  it.each(CASES)(
    "behind $method $path ($version, key: $hasKey) are held by nobody, and cost others nothing",
    async ({ version, method, path, hasKey, contentType, status }) => {
      const hostile = await chat.stack.createKey();
      const other = await chat.stack.createKey();
      const before = await readEnvoyMemory(chat.stack);
      const begun = await Promise.all(
        Array.from({ length: REQUESTS }, () =>
          beginUpload({
            port: Number(new URL(chat.stack.baseUrl).port),
            key: hasKey ? hostile.key : null,
            version,
            method,
            path,
            ...(contentType === undefined ? {} : { contentType }),
            bytes: BODY_BYTES,
            missingBytes: 1,
            isOfUnknownLength: true,
          }),
        ),
      );
      const answers = await Promise.all(
        Array.from({ length: OTHERS_REQUESTS }, () => chat.send({ key: other.key, body: chatBody() })),
      );
      expect(answers.map(describeAnswer)).toEqual(answers.map(() => "200"));
      const held = (await readEnvoyMemory(chat.stack)) - before;
      expect(held).toBeLessThan(MAX_HELD_BYTES);
      const wanted = version === "HTTP/2" ? `status ${status} ` : `HTTP/1.1 ${status} `;
      expect(begun.map(({ outcome }) => outcome.slice(0, wanted.length))).toEqual(begun.map(() => wanted));
    },
  );
});
