/** What one key uploads, and does not end, is its own: others have their answers, and Envoy its memory. */
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uploadsKey } from "../../src/store/redis/keys.ts";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { TRANSPORTS_UNDER_TEST } from "../support/gateway-config.ts";
import { waitFor } from "../support/wait.ts";
import { beginUpload, type HttpVersion, type UnfinishedUpload } from "./edge/unfinished-upload.ts";

const UPLOADS = 66;
const UPLOAD_BYTES = 33_000_000;
/** Of 256 MiB: eight bodies of 33 MB, and seven for which the most counts that a body may have. */
const HELD = { declared: 8, unknown: 7 };
const OTHERS_REQUESTS = 42;
const VERSIONS: readonly HttpVersion[] = ["HTTP/1.1", "HTTP/2"];
const LENGTHS = [
  { length: "declared", isOfUnknownLength: false },
  { length: "unknown", isOfUnknownLength: true },
] as const;
/** One for each way to word a refusal. */
const PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/embeddings"];
const CASES = VERSIONS.flatMap((version) => LENGTHS.map((length) => ({ version, ...length })));

describe("66 uploads of 33 MB of one key that do not end", () => {
  const chat = withChatStack(() => ({ workers: 2 }));

  it.each(CASES)(
    "refuse none of another organization's requests ($version, of $length length)",
    async ({ version, length, isOfUnknownLength }) => {
      const hostile = await chat.stack.createKey();
      const other = await chat.stack.createKey();
      const port = portOf(chat.stack.baseUrl);
      const upload = { port, key: hostile.key, version, isOfUnknownLength };
      const uploads = await Promise.all(
        Array.from({ length: UPLOADS }, () =>
          beginUpload({ ...upload, bytes: UPLOAD_BYTES, missingBytes: 70_000 }),
        ),
      );
      const answers = await Promise.all(
        Array.from({ length: OTHERS_REQUESTS }, () => chat.send({ key: other.key, body: chatBody() })),
      );
      expect(answers.map(describeAnswer)).toEqual(answers.map(() => "200"));
      const refused = uploads.filter(({ outcome }) => outcome !== "held");
      expect(refused.filter(({ outcome }) => !outcome.includes("upload_limit_exceeded"))).toEqual([]);
      expect(UPLOADS - refused.length).toBe(HELD[length]);
    },
  );
});

const BODY_BYTES = 1_000_000;
const STACKS = TRANSPORTS_UNDER_TEST.flatMap((transport) =>
  [1, 2].map((workers) => ({ transport, workers })),
);

describe.each(STACKS)(
  "of four bodies that a key may have on their way, $workers of $transport",
  (options) => {
    const { transport, workers } = options;
    const limits = { max_body_bytes: BODY_BYTES, max_upload_bytes: 4 * BODY_BYTES };
    const chat = withChatStack(() => ({ workers, overrides: { sidecar: { transport }, limits } }));
    let redis: Redis;

    beforeAll(() => {
      redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
    });
    afterAll(() => redis.disconnect());

    const begin = (key: string, path: string): Promise<UnfinishedUpload> => {
      const port = portOf(chat.stack.baseUrl);
      return beginUpload({ port, key, path, version: "HTTP/1.1", bytes: BODY_BYTES, missingBytes: 10 });
    };

    it("are four of its own; small ones go on, and so do those of other organizations", async () => {
      const { key, organizationId } = await chat.stack.createKey({ name: "ci" });
      for (const path of PATHS) await begin(key, path);
      await waitFor(
        "four are on their way",
        async () => (await redis.zcard(uploadsKey(organizationId))) === 4,
      );
      for (const path of PATHS) {
        const refused = await (await begin(key, path)).answer;
        expect(refused).toMatch(
          /^HTTP\/1\.1 429 [\s\S]*\nretry-after: 1\r\n[\s\S]*"code":"upload_limit_exceeded"/,
        );
        expect(refused).toContain(
          'API key \\"ci\\" has reached its limit of 4,000,000 bytes of uploads in progress',
        );
      }
      expect(describeAnswer(await chat.send({ key, body: chatBody() }))).toBe("200");
      const large = { body: chatBody({}, "x".repeat(BODY_BYTES - 1_000)) };
      expect((await chat.send({ key, ...large })).status).toBe(429);
      expect(describeAnswer(await chat.send(large))).toBe("200");
    });

    it("are given back as soon as they have come, whatever becomes of them", async () => {
      const { key } = await chat.stack.createKey();
      const large = { key, body: chatBody({}, "x".repeat(BODY_BYTES - 1_000)) };
      for (let round = 0; round < 3; round += 1) {
        const valid = await Promise.all([1, 2, 3].map(() => chat.send(large)));
        expect(valid.map(describeAnswer)).toEqual(["200", "200", "200"]);
        const invalid = { key, method: "POST", body: Buffer.alloc(BODY_BYTES, 0x20) };
        expect((await chat.send(invalid)).status).toBe(400);
      }
    });
  },
);

function portOf(baseUrl: string): number {
  return Number(new URL(baseUrl).port);
}
