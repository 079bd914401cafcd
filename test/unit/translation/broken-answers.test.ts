/** An answer that its server broke off, told in any way that servers have for it: never a whole one, on any route. */
import { describe, expect, it } from "vitest";
import {
  CHOICES_ROUTES,
  choiceAnswer,
  choiceChunk,
  createRouteAnswer,
  dataEvent,
  NATIVE_ROUTES,
  runRouteStream,
} from "../../support/answer-routes.ts";
import { encode, toMessage } from "../../support/messages-exchange.ts";
import { messagesStream, namedEvent, responsesStream } from "../../support/native-exchange.ts";

const DONE = "data: [DONE]\n\n";
const USAGE = dataEvent({
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
});
const ERROR = JSON.stringify({ message: "boom", code: 500 });
/** What tells a client that its answer is whole. Of responses `[DONE]` is none: it stands behind a failed one, too. */
const WHOLE: Readonly<Record<string, RegExp>> = {
  chat: /\[DONE\]/u,
  completions: /\[DONE\]/u,
  messages: /"stop_reason":"|message_stop/u,
  responses: /response\.(?:completed|incomplete)/u,
};
const BROKEN_REASONS = [
  "abort",
  "error",
  "network_error",
  "insufficient_system_resource",
  "MALFORMED_FUNCTION_CALL",
];

const TOLD_ERRORS = [
  { name: "in a field of its own", event: `error: ${ERROR}\n\n` },
  { name: "as a bare line of JSON", event: `{"error":${ERROR}}\n\n` },
  { name: "in an event of that name", event: `event: error\ndata: ${ERROR}\n\n` },
  { name: "in an event of that name, with `detail`", event: 'event: error\ndata: {"detail":"boom"}\n\n' },
  { name: "in an event of that name, as text", event: "event: error\ndata: boom\n\n" },
  { name: "in an event of that name, without words", event: "event: error\ndata:\n\n" },
  { name: "in place of a chunk", event: dataEvent({ error: { message: "boom", code: 500 } }) },
];

/** Not the protocol's form of an answer. */
const STRANGE_BODIES = [
  {},
  { id: "c", model: "up" },
  { choices: {} },
  { choices: { "0": { message: { content: "a" }, text: "a" } } },
  { choices: "a" },
  { choices: [] },
  { choices: [null] },
  { choices: [{}] },
  { choices: [{ index: 0, finish_reason: "stop" }] },
  { content: {} },
  { output: {} },
];
/** Errors in forms of other servers' own. */
const ERROR_BODIES = [{ detail: "boom" }, { detail: [{ loc: ["body"], msg: "boom" }] }, { message: "boom" }];

describe.each([...CHOICES_ROUTES, ...NATIVE_ROUTES])("$name: a body of status 200", (route) => {
  it.each(STRANGE_BODIES)("[response.unusable] is no empty answer: %j", (body) => {
    for (const stream of [false, true]) {
      expect(() => createRouteAnswer(route, { stream }).translateBody(encode(body))).toThrow(
        expect.objectContaining({ code: "upstream_error" }) as Error,
      );
    }
  });

  it.each(ERROR_BODIES)("[response.error] is an error of its server, and free: %j", (body) => {
    for (const stream of [false, true]) {
      const answer = createRouteAnswer(route, { stream });
      expect(() => answer.translateBody(encode(body))).toThrow(
        expect.objectContaining({ code: "upstream_error" }) as Error,
      );
      expect(answer.observation.isRefused).toBe(true);
    }
  });
});

describe.each(CHOICES_ROUTES)("$name: a stream without a choice", (route) => {
  it.each([...STRANGE_BODIES.slice(0, 7), ...ERROR_BODIES])(
    "[stream.empty] is no empty answer: %j",
    (chunk) => {
      for (const pieces of [[dataEvent(chunk), DONE], [dataEvent(chunk)]]) {
        const { text, last } = runRouteStream(route, pieces);
        expect(last).toMatchObject({ final: false, failed: { code: "upstream_error" } });
        expect(text).not.toMatch(WHOLE[route.client]!);
      }
    },
  );

  it("[stream.empty] is none where a chunk behind its text is an error", () => {
    const pieces = [choiceChunk(route, "half an "), dataEvent({ detail: "boom" }), DONE];
    expect(runRouteStream(route, pieces).last.failed?.code).toBe("upstream_error");
  });
});

describe.each(CHOICES_ROUTES)("$name: an answer that was broken off", (route) => {
  const half = choiceChunk(route, "half an ");
  const errorInChoice = choiceChunk(route, "", {
    finish_reason: "error",
    error: { code: 502, message: "Provider disconnected" },
  });

  it.each([...TOLD_ERRORS, { name: "in a choice", event: errorInChoice }])(
    "[stream.error_event] is an error where it says so $name, before [DONE] and without it",
    ({ event }) => {
      for (const end of [[DONE], []]) {
        const { text, last, answer } = runRouteStream(route, [half, event, ...end]);
        expect(last).toMatchObject({ final: false, failed: { code: "upstream_error" } });
        expect(text).toContain('"error"');
        expect(text).not.toMatch(WHOLE[route.client]!);
        expect(answer.observation.generatedText).toBe("half an ");
      }
    },
  );

  it.each(BROKEN_REASONS)(
    "[stop.broken_off] is an error where its reason to end is %s, and is charged by its usage",
    (finish_reason) => {
      const { text, last, answer } = runRouteStream(route, [
        half,
        choiceChunk(route, "", { finish_reason }),
        USAGE,
        DONE,
      ]);
      expect(last).toMatchObject({ final: false, failed: { code: "upstream_error" } });
      expect(text).toContain('"error"');
      expect(text).not.toMatch(WHOLE[route.client]!);
      expect(answer.observation.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
      const whole = createRouteAnswer(route);
      expect(() => whole.translateBody(encode(choiceAnswer(route, "half", { finish_reason })))).toThrow(
        "ended its response before it was complete",
      );
      expect(whole.observation.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
    },
  );

  it("is an error where it has an error in a choice of a whole answer", () => {
    const error = { code: 502, message: "Provider disconnected" };
    const body = encode(choiceAnswer(route, "half", { finish_reason: "error", error }));
    expect(() => createRouteAnswer(route).translateBody(body)).toThrow(
      expect.objectContaining({ code: "upstream_error" }) as Error,
    );
  });

  it("[responses.stream.broken_off] is an error where its reason to end is empty and the stream is closed", () => {
    const piece = choiceChunk(route, "half", { finish_reason: "" });
    const { text, last } = runRouteStream(route, [piece, piece]);
    expect(last.failed?.code).toBe("upstream_error");
    expect(text).not.toMatch(WHOLE[route.client]!);
  });

  it.each(["data:  \n\n", "data: \t\n\n", "data:\ndata:\n\n", "data: null\n\n", "data: null \n\n"])(
    "[stream.keep_alive] passes over %j wherever it stands",
    (keepAlive) => {
      const end = choiceChunk(route, "", { finish_reason: "stop" });
      const pieces = [choiceChunk(route, "a"), choiceChunk(route, "b"), end, USAGE, DONE];
      const { text, last } = runRouteStream(
        route,
        pieces.flatMap((piece) => [keepAlive, piece]),
      );
      expect(last).toMatchObject({ final: true, failed: null });
      expect(text).not.toMatch(/"error":\{|null \n|data: null/u);
    },
  );
});

describe.each(CHOICES_ROUTES.filter(({ upstream }) => upstream === "chat"))("$name: a call", (route) => {
  const callChunk = (name: string, args: string, finish_reason: string | null = null) => {
    const call = { index: 0, ...(name === "" ? {} : { id: "a" }), function: { name, arguments: args } };
    return dataEvent({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason }] });
  };

  it("[stop.broken_off] that the server aborted in its arguments is none to run", () => {
    const aborted = choiceChunk(route, "", { finish_reason: "abort" });
    const { text } = runRouteStream(route, [callChunk("get", '{"x":1'), aborted, USAGE, DONE]);
    expect(text).toContain('"error"');
    expect(text).not.toMatch(/content_block_stop|function_call_arguments\.done|"stop_reason":"/u);
  });
});

describe.each(NATIVE_ROUTES)("$name: a stream that was broken off", (route) => {
  const stream = route.client === "messages" ? messagesStream() : responsesStream();
  const last = route.client === "messages" ? "event: message_delta" : "event: response.completed";
  const half = stream.slice(0, stream.indexOf(last));

  it.each(TOLD_ERRORS)("[native.foreign_errors] is an error where it says so $name", ({ event }) => {
    for (const end of [[DONE], []]) {
      const { text, last: output } = runRouteStream(route, [half, event, ...end]);
      expect(output).toMatchObject({ final: false, failed: { code: "upstream_error" } });
      expect(text).toContain('event: error\ndata: {"type":"error"');
      expect(text).not.toMatch(WHOLE[route.client]!);
    }
  });

  it("[native.done] is an error where [DONE] stands before the answer's end", () => {
    const { text, last: output } = runRouteStream(route, [half, DONE]);
    expect(output.failed?.code).toBe("upstream_error");
    expect(text).toContain("event: error\n");
  });

  it("[stream.keep_alive] passes over data without words", () => {
    const { text, last: output } = runRouteStream(route, ["data: null\n\n", "data:  \n\n", stream]);
    expect(output.final).toBe(true);
    expect(text).not.toMatch(/data: null|data: {2}/u);
  });
});

it("[native.done] [DONE] in place of message_stop ends the answer at once, though the connection stays open", () => {
  const stream = messagesStream();
  const answer = createRouteAnswer(NATIVE_ROUTES[0]!, { stream: true });
  answer.push(encode(stream.slice(0, stream.indexOf("event: message_stop"))));
  const output = answer.push(encode(DONE));
  expect(Buffer.from(output.bytes).toString()).toBe(namedEvent("message_stop"));
  expect(output).toMatchObject({ final: true, failed: null });
});

it.each(["of_tomorrow", "constructor", "toString", "__proto__"])(
  "[stop.unknown] %s ends an answer normally on each route, and is named for the log",
  (finish_reason) => {
    for (const route of CHOICES_ROUTES) {
      const whole = createRouteAnswer(route);
      whole.translateBody(encode(choiceAnswer(route, "Hi", { finish_reason })));
      expect(whole.observation.unknownFinishReason).toBe(finish_reason);
      const pieces = [choiceChunk(route, "Hi", { finish_reason }), USAGE, DONE];
      const { last, answer } = runRouteStream(route, pieces);
      expect(last).toMatchObject({ final: true, failed: null });
      expect(answer.observation.unknownFinishReason).toBe(finish_reason);
    }
  },
);

it.each([
  ["STOP", "end_turn"],
  ["MAX_TOKENS", "max_tokens"],
  ["SAFETY", "refusal"],
  ["IMAGE_SAFETY", "refusal"],
  ["IMAGE_PROHIBITED_CONTENT", "refusal"],
  ["IMAGE_RECITATION", "refusal"],
  ["MODEL_ARMOR", "refusal"],
  ["LANGUAGE", "refusal"],
  ["content_filter: RECITATION", "refusal"],
  ["content-filter", "refusal"],
  ["OTHER", "end_turn"],
  ["NO_IMAGE", "end_turn"],
])("[stop.refusal] %s of Gemini is %s", (finish_reason, expected) => {
  const body = { choices: [{ index: 0, message: { content: null }, finish_reason }] };
  expect(toMessage(body).stop_reason).toBe(expected);
});

describe.each(CHOICES_ROUTES.filter(({ client }) => client === "messages" || client === "responses"))(
  "$name: arguments",
  (route) => {
    const callsChunk = (...calls: object[]) =>
      dataEvent({ choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: null }] });
    const begin = (index: number, args: string) => ({
      index,
      id: `call_${index}`,
      function: { name: `get_${index}`, arguments: args },
    });
    const more = (index: number, args: string) => ({ index, function: { arguments: args } });
    const end = (finish_reason = "tool_calls") => choiceChunk(route, "", { finish_reason });

    /** The arguments of each call, as its client puts them together. */
    function argumentsOf(...pieces: string[]): string[] {
      const { text, last } = runRouteStream(route, [...pieces, USAGE, DONE]);
      expect(last.failed).toBeNull();
      const found: Record<number, string> = {};
      for (const [, data] of text.matchAll(/^data: (\{.*\})$/gmu)) {
        const event = JSON.parse(data!) as {
          type: string;
          index?: number;
          output_index?: number;
          delta?: string | { partial_json?: string };
          content_block?: { type: string };
          item?: { type: string };
        };
        const at = event.index ?? event.output_index ?? 0;
        if (event.content_block?.type === "tool_use") found[at] ??= "";
        const isCallAdded =
          event.type === "response.output_item.added" && event.item?.type === "function_call";
        if (isCallAdded) found[at] = "";
        const piece = typeof event.delta === "object" ? event.delta.partial_json : event.delta;
        if (/input_json|arguments\.delta|content_block_delta/u.test(event.type)) found[at] += piece ?? "";
      }
      return Object.values(found);
    }

    it.each([
      { name: "in the next pieces", rest: [more(0, '{"x":'), more(0, "1}")] },
      { name: "in one piece", rest: [more(0, '{"x":1}')] },
    ])("[stream.tool_live] that follow {} $name are the call's", ({ rest }) => {
      const pieces = rest.map((piece) => callsChunk(piece));
      expect(argumentsOf(callsChunk(begin(0, "{}")), ...pieces, end())).toEqual(['{"x":1}']);
    });

    it("that follow {} after another call has begun are the first call's", () => {
      const pieces = [
        callsChunk(begin(0, "{}"), begin(1, "{}")),
        callsChunk(more(0, '{"x":1}')),
        callsChunk(more(1, '{"y":2}')),
      ];
      expect(argumentsOf(...pieces, end())).toEqual(['{"x":1}', '{"y":2}']);
    });

    it("that stay {} are {}", () => {
      const pieces = [callsChunk(begin(0, "{}")), callsChunk(begin(1, '{"y":2}'))];
      expect(argumentsOf(...pieces, end()).map((json) => (json === "" ? "{}" : json))).toEqual([
        "{}",
        '{"y":2}',
      ]);
    });

    it("that are cut behind their brace are not made whole", () => {
      expect(argumentsOf(callsChunk(begin(0, "{")), end("length"))).toEqual(["{"]);
    });
  },
);

it("a character whose halves come in two deltas is whole in what is done", () => {
  const route = CHOICES_ROUTES.find(({ client }) => client === "responses")!;
  const delta = (fields: string) =>
    `data: {"choices":[{"index":0,"delta":{${fields}},"finish_reason":null}]}\n\n`;
  const { text } = runRouteStream(route, [
    delta(String.raw`"reasoning_content":"r\ud83d"`),
    delta(String.raw`"reasoning_content":"\ude00s"`),
    delta(String.raw`"content":"a\ud83d"`),
    delta(String.raw`"content":"\ude00b"`),
    delta(
      String.raw`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"x\":\"\ud83d"}}]`,
    ),
    delta(String.raw`"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]`),
    choiceChunk(route, "", { finish_reason: "tool_calls" }),
    USAGE,
    DONE,
  ]);
  const completed = JSON.parse(/^data: (\{"type":"response\.completed".*\})$/mu.exec(text)![1]!) as {
    response: { output: { content?: { text: string }[]; arguments?: string }[] };
  };
  const [reasoning, message, call] = completed.response.output;
  expect(reasoning!.content![0]!.text).toBe("r😀s");
  expect(message!.content![0]!.text).toBe("a😀b");
  expect(call!.arguments).toBe('{"x":"😀"}');
  expect(text).toContain('"text":"a😀b"');
});
