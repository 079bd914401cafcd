/** The life of an ext_proc stream: its phases, their picture, and each message of Envoy's in each of them. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  FOLLOWING,
  follow,
  handlingOf,
  kindOf,
  type MessageKind,
  type Phase,
  type PhaseName,
} from "../../../src/envoy/phase.ts";
import { createDeferred } from "../../../src/shared/event-loop/deferred.ts";
import { packageFile } from "../../../src/shared/host/package-files.ts";
import {
  COMPLETION,
  JSON_TYPE,
  kindOf as kindOfReply,
  openStream,
  requestBody,
  requestHeaders,
  responseBody,
  responseHeaders,
  settle,
  STREAMED,
  VALID,
} from "./request-stream-fixture.ts";

const NAMES = Object.keys(FOLLOWING) as PhaseName[];
const MESSAGES: Readonly<Record<MessageKind, object>> = {
  request_headers: requestHeaders(),
  request_body: requestBody("{}"),
  request_trailers: { request_trailers: {} },
  response_headers: responseHeaders(JSON_TYPE),
  response_body: responseBody("{}", false),
  response_trailers: { response_trailers: {} },
};
const KINDS = Object.keys(MESSAGES) as MessageKind[];
const STREAM_TYPE = { "content-type": "text/event-stream" };

/** What brings a stream into each phase in which it takes messages. */
const WAYS: Readonly<Partial<Record<PhaseName, readonly object[]>>> = {
  awaitHeaders: [],
  passing: [responseHeaders(JSON_TYPE)],
  awaitBody: [requestHeaders()],
  upstream: [requestHeaders(), VALID],
  collecting: [requestHeaders(), VALID, responseHeaders(JSON_TYPE)],
  failing: [requestHeaders(), VALID, responseHeaders({ ":status": "400" })],
  streaming: [requestHeaders(), STREAMED, responseHeaders(STREAM_TYPE)],
  answered: [requestHeaders(), VALID, responseHeaders(JSON_TYPE), responseBody(COMPLETION)],
};
const PAIRS = Object.keys(WAYS).flatMap((phase) =>
  KINDS.map((kind) => ({ phase: phase as PhaseName, kind, handling: handlingOf(phase as PhaseName, kind) })),
);

/** What a message is answered with, by what becomes of it; where it passes, by its kind. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(KINDS.map((kind) => [kind, [kind]])),
  "break off": ["internal error"],
  refuse: ["immediate 500 internal_error"],
  ignore: [],
  take: [],
};

/** A stream that is in a phase: it has handled all that brings it there. */
async function bringInto(phase: PhaseName) {
  const opened = openStream();
  for (const message of WAYS[phase] ?? []) {
    opened.stream.onMessage(message);
    await settle(() => false);
  }
  return opened;
}

describe("the phases of a stream", () => {
  it.each(NAMES.flatMap((before) => NAMES.map((next) => ({ before, next }))))(
    "$next follows on $before only where it may",
    ({ before, next }) => {
      const [from, to] = [{ name: before }, { name: next }] as [Phase, Phase];
      const tried = (): Phase | string => {
        try {
          return follow(from, to);
        } catch (error) {
          return String(error);
        }
      };
      const refused = `Error: the phase "${next}" of a stream cannot follow on "${before}"`;
      expect(tried()).toBe(FOLLOWING[before].includes(next) ? to : refused);
    },
  );

  it("lead from its headers into each of them, and from each to its end", () => {
    const reached = new Set<PhaseName>(["awaitHeaders"]);
    for (const name of reached) for (const next of FOLLOWING[name]) reached.add(next);
    expect([...reached].toSorted()).toEqual(NAMES.toSorted());
    expect(NAMES.filter((name) => name !== "ended" && !FOLLOWING[name].includes("ended"))).toEqual([]);
    expect(FOLLOWING.ended).toEqual([]);
  });

  it("are those of the picture in docs/internals/envoy.md, arrow by arrow", () => {
    const page = readFileSync(packageFile("docs/internals/envoy.md"), "utf8");
    const [, picture = ""] = /```mermaid\nstateDiagram-v2\n(.*?)```/su.exec(page) ?? [];
    const drawn = [...picture.matchAll(/^ +(\S+) --> (\w+)/gmu)].map(([, from, to]) => `${from} --> ${to}`);
    const arrows = NAMES.flatMap((from) => FOLLOWING[from].map((to) => `${from} --> ${to}`));
    expect(drawn.toSorted()).toEqual(["[*] --> awaitHeaders", ...arrows].toSorted());
  });
});

describe("a message of Envoy's", () => {
  it("is of the one kind that it has", () => {
    expect(KINDS.map((kind) => kindOf(MESSAGES[kind]))).toEqual(KINDS);
    expect(kindOf({})).toBeNull();
  });

  it("of no known kind breaks a stream off, unless all is said", () => {
    const said = new Set<PhaseName>(["closing", "answered", "ended"]);
    for (const name of NAMES) expect(handlingOf(name, null)).toBe(said.has(name) ? "ignore" : "break off");
  });

  it.each([
    { what: "headers twice", phase: "upstream", kind: "request_headers" },
    { what: "headers behind a body that is on its way", phase: "awaitBody", kind: "request_headers" },
    { what: "a body behind its end", phase: "upstream", kind: "request_body" },
    { what: "a body first", phase: "awaitHeaders", kind: "request_body" },
    { what: "a request's trailers first", phase: "awaitHeaders", kind: "request_trailers" },
    { what: "a request behind another filter's answer", phase: "passing", kind: "request_headers" },
    { what: "a response's body before its headers", phase: "upstream", kind: "response_body" },
    { what: "a response's trailers before its headers", phase: "upstream", kind: "response_trailers" },
    { what: "a response's headers twice", phase: "collecting", kind: "response_headers" },
    { what: "a response's headers in a stream", phase: "streaming", kind: "response_headers" },
  ] as const)("that never comes breaks the stream off: $what", ({ phase, kind }) => {
    expect(handlingOf(phase, kind)).toBe("break off");
  });

  it.each(PAIRS)(
    "$kind in phase $phase: $handling, and the request ends once",
    async ({ phase, kind, handling }) => {
      const { stream, replies, logged, finished, seen, budget } = await bringInto(phase);
      const before = replies.length;
      stream.onMessage(MESSAGES[kind]);
      await settle(() => false);
      const told = replies.slice(before).map(kindOfReply);
      // A message that is taken may be answered or not.
      expect(handling === "take" ? TOLD["take"] : told).toEqual(TOLD[handling === "pass" ? kind : handling]);
      expect(logged.includes("exchange interrupted")).toBe(handling === "break off");
      stream.onEnd();
      await settle(() => false);
      const wasAdmitted = phase !== "passing" && (phase !== "awaitHeaders" || kind === "request_headers");
      expect(finished).toHaveLength(wasAdmitted ? 1 : 0);
      expect(seen.charges.filter(({ final }) => final !== null)).toHaveLength(seen.opened.length);
      expect(budget.bufferedBytes).toBe(0);
    },
  );

  it.each(KINDS)("%s is not looked at once the stream has ended", async (kind) => {
    const { stream, replies, logged } = openStream();
    stream.onEnd();
    stream.onMessage(MESSAGES[kind]);
    await settle(() => false);
    expect([replies, logged]).toEqual([[], []]);
  });
});

describe("an end that comes while something is waited for", () => {
  it("lets the answer be charged and finished once, and sends nothing", async () => {
    const charged = createDeferred<{ outcome: "applied" }>();
    const { stream, replies, finished, seen } = openStream({ charge: () => charged.promise });
    for (const message of [requestHeaders(), VALID, responseHeaders(JSON_TYPE), responseBody(COMPLETION)]) {
      stream.onMessage(message);
      await settle(() => false);
    }
    stream.onEnd();
    charged.resolve({ outcome: "applied" });
    await settle(() => finished.length > 0);
    expect(replies.map(kindOfReply)).toEqual(["request_headers"]);
    expect(finished).toMatchObject([{ status: 200 }]);
    expect(seen.charges).toMatchObject([{ final: { status: 200 } }]);
  });

  it("leaves a request whose record is refused, finishes it once, and sends nothing", async () => {
    const failed = createDeferred<Error>();
    const openRecord = async (): Promise<never> => {
      throw await failed.promise;
    };
    const { stream, replies, finished, budget } = openStream({ openRecord });
    stream.onMessage(requestHeaders());
    stream.onMessage(VALID);
    await settle(() => false);
    stream.onEnd();
    failed.resolve(new Error("away"));
    await settle(() => finished.length > 0);
    await settle(() => false);
    expect([replies, budget.bufferedBytes]).toEqual([[], 0]);
    expect(finished).toMatchObject([{ status: 503, code: "gateway_unavailable" }]);
  });
});
