import { describe, expect, it } from "vitest";
import { createLogger } from "../../../src/shared/telemetry/logger.ts";
import { scrub, scrubBeginning } from "../../../src/shared/text/scrub.ts";

const SECRETS = [
  { name: "an API key", secret: "sk-igw-Ab3dEf6hIjKlMnOpQrStUvWxYz0123456789abcdAA1B2C3" },
  { name: "an upstream's key", secret: "sk-proj-4f8b2c6d9e1a7355aabbccdd" },
  { name: "a webhook's secret", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
  { name: "an operator's token", secret: "igw_op_3q2-7wABCDEFGHIJKLMNOPQRSTUV" },
];

describe("scrub", () => {
  it.each(SECRETS)("takes $name out of any text", ({ secret }) => {
    const text = scrub(`{"msg":"connect failed for ${secret}, trying again"}`);
    expect(text).not.toContain(secret.slice(8));
    expect(text).toContain("[redacted], trying again");
  });

  it.each([
    "Authorization: Bearer abcdef.ghijkl-mnop",
    "authorization: basic dXNlcjpwYXNzd29yZA==",
    "smtp://user:pass-9@mail.example.com:587",
    "rediss://gateway:p%40ss@10.0.0.5:6379/0",
  ])("takes the credential out of %s", (text) => {
    expect(scrub(text)).toMatch(/\[redacted\]/);
    expect(scrub(text)).not.toMatch(/ghijkl|dXNlc|pass-9|p%40ss/);
  });

  it.each([
    "sk-igw-…a1B2",
    "req_01a1fbff-0f0c-77cd-b67b-97d41186f3aa",
    "http://127.0.0.1:8000/v1 refused",
    '{"path":"/v1/models/acme/echo","from":"a@example.com"}',
  ])("leaves %s as it is", (text) => {
    expect(scrub(text)).toBe(text);
  });
});

describe("scrubBeginning", () => {
  it.each(SECRETS)("leaves no half of $name where it cuts", ({ secret }) => {
    for (let maxCharacters = 1; maxCharacters < 80; maxCharacters += 1) {
      const text = scrubBeginning(`model ${secret} model`, maxCharacters);
      expect(text.length).toBeLessThanOrEqual(maxCharacters);
      expect(text).not.toContain(secret.slice(8, 16));
    }
  });
});

describe("createLogger", () => {
  it("writes no secret, whether in a field, an error's message, its cause or a nested object", () => {
    const lines: string[] = [];
    const logger = createLogger("test", "trace", { write: (text) => lines.push(text) });
    for (const { secret } of SECRETS) {
      const error = new Error(`refused: ${secret}`, { cause: new Error(`inner ${secret}`) });
      logger.error({ err: error }, "failed");
      logger.info({ key: secret, nested: { deep: { url: `https://u:${secret}@host/x` } } }, secret);
    }
    // As ioredis makes it of a refused log-in.
    const refused = Object.assign(new Error("WRONGPASS"), {
      command: { name: "auth", args: ["redis-words"] },
    });
    logger.warn({ err: refused }, "refused");
    logger.warn({ password: "plain-words", smtp: { secret: "more-words" } }, "by name");
    expect(lines).toHaveLength(SECRETS.length * 2 + 2);
    const text = lines.join("");
    const written = [...SECRETS.map(({ secret }) => secret), "plain-words", "more-words", "redis-words"];
    expect(written.filter((secret) => text.includes(secret))).toEqual([]);
    expect(lines.map((line) => JSON.parse(line) as object)).toHaveLength(lines.length);
  });
});
