/** n8n and Open WebUI against the real stack. They have up to 3 GB, so they are installed and run each night. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  APPLICATIONS,
  type N8n,
  openN8n,
  type OpenWebui,
  startOpenWebui,
  type Workflow,
} from "../support/applications.ts";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { monthLimits } from "../support/month-limits.ts";
import { ensureAtNight, type FoundProgram } from "../support/packaged-program.ts";
import { messageAnswer, textStream } from "./chat-answers.ts";
import { CLIENTS } from "./clients.ts";
import { proves } from "./proofs.ts";

const chat = withSharedChatStack();
const n8n = await ensureAtNight(APPLICATIONS.n8n.ensure);
const openWebui = await ensureAtNight(APPLICATIONS.openWebui.ensure);
const note = ({ missing }: FoundProgram): string => (missing === null ? "" : ` (skipped: ${missing})`);
const answerBlue = (): void =>
  chat.upstream.answer(({ body }) =>
    body?.["stream"] === true ? textStream("It is ", "blue.") : messageAnswer({ content: "It is blue." }),
  );
const CAP_REACHED = /Monthly hard cap of 0\.00 USD for API key \\*"ci\\*" reached/u;

describe.skipIf(n8n.missing !== null)(`n8n${note(n8n)}`, () => {
  let opened: N8n | null = null;
  beforeAll(async () => {
    const { key } = await chat.stack.createKey({ name: "ci", limits: monthLimits({ cap: 0 }) });
    const apiKeys = { open: chat.key.key, capped: key };
    const { baseUrl } = chat.stack;
    opened = await openN8n({
      program: n8n.path ?? "",
      baseUrl,
      apiKeys,
      model: CHAT_MODEL,
      prompt: "Say blue.",
    });
  });
  afterAll(() => opened?.close());
  const run = (workflow: Workflow): Promise<string> => {
    if (opened === null) throw new Error("n8n is not set up");
    return opened.run(workflow);
  };

  describe.each([
    { route: "/v1/chat/completions", usesResponses: false },
    { route: "/v1/responses", usesResponses: true },
  ] as const)("a workflow on $route", ({ route, usesResponses }) => {
    proves(CLIENTS.n8n, route);

    it("gets its model's response", async () => {
      answerBlue();
      expect(await run({ credential: "open", usesResponses })).toContain("It is blue.");
      expect(JSON.stringify(chat.upstream.lastRequest.body?.["messages"])).toContain("Say blue.");
    });

    it("shows the cap that is reached", async () => {
      expect(await run({ credential: "capped", usesResponses })).toMatch(CAP_REACHED);
      expect(chat.upstream.requests).toHaveLength(0);
    });
  });
});

describe.skipIf(openWebui.missing !== null)(`Open WebUI${note(openWebui)}`, () => {
  proves(CLIENTS.openWebui, "/v1/chat/completions");
  const opened: OpenWebui[] = [];
  afterAll(() => Promise.all(opened.map((one) => one.close())));
  const open = async (apiKey: string): Promise<OpenWebui> => {
    const { baseUrl } = chat.stack;
    const one = await startOpenWebui({ program: openWebui.path ?? "", baseUrl, apiKey, model: CHAT_MODEL });
    opened.push(one);
    return one;
  };
  const ask = (one: OpenWebui): Promise<string> =>
    one.call("/api/chat/completions", {
      model: CHAT_MODEL,
      stream: true,
      messages: [{ role: "user", content: "Say blue." }],
    });

  it("lists the gateway's models and streams a response", async () => {
    const one = await open(chat.key.key);
    expect(await one.call("/api/models")).toContain(CHAT_MODEL);
    answerBlue();
    const text = await ask(one);
    expect(text).toContain('"It is "');
    expect(text).toContain('"blue."');
    expect(chat.upstream.lastRequest.body).toMatchObject({ stream: true });
  });

  it("shows the cap that is reached", async () => {
    const { key } = await chat.stack.createKey({ name: "ci", limits: monthLimits({ cap: 0 }) });
    expect(await ask(await open(key))).toMatch(CAP_REACHED);
    expect(chat.upstream.requests).toHaveLength(0);
  });
});
