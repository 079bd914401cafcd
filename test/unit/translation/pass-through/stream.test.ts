import { describe, expect, it } from "vitest";
import {
  messagesStream,
  namedEvent,
  responsesStream,
  runNativeStream,
} from "../../../support/native-exchange.ts";

const UPSTREAM = {
  messages: { stream: messagesStream(), expected: messagesStream("acme/echo"), model: "claude-upstream" },
  responses: { stream: responsesStream(), expected: responsesStream("acme/echo"), model: "gpt-upstream" },
};
const NAMES = ["messages", "responses"] as const;

/** An unknown event says the upstream's name where nobody knows of it: that stays. */
function expectedStream(name: (typeof NAMES)[number]): string {
  const { expected, model } = UPSTREAM[name];
  const unknown = expected.indexOf("thing_of_tomorrow");
  const end = expected.indexOf("\n\n", unknown);
  return (
    expected.slice(0, unknown) +
    expected.slice(unknown, end).replace('"acme/echo"', `"${model}"`) +
    expected.slice(end)
  );
}

describe.each(NAMES)("a stream of %s that passes through", (name) => {
  const { stream } = UPSTREAM[name];

  it("is the upstream's byte for byte, but for the model's name", () => {
    const { text, last } = runNativeStream(name, [stream]);
    expect(text).toBe(expectedStream(name));
    expect(last).toMatchObject({ final: true, failed: null });
  });

  it("is the same and is counted the same wherever its bytes are split", () => {
    const bytes = Buffer.from(stream);
    const whole = runNativeStream(name, [stream]);
    for (let at = 1; at < bytes.length; at += 1) {
      const { text, answer } = runNativeStream(name, [bytes.subarray(0, at), bytes.subarray(at)]);
      expect(text).toBe(whole.text);
      expect(answer.observation.usage).toEqual(whole.answer.observation.usage);
    }
    const single = runNativeStream(
      name,
      Array.from(bytes, (byte) => Uint8Array.of(byte)),
    );
    expect(single.text).toBe(whole.text);
    expect(single.answer.observation.generatedText).toBe(whole.answer.observation.generatedText);
  });

  it("keeps line ends of CRLF and of CR", () => {
    for (const end of ["\r\n", "\r"]) {
      const { text } = runNativeStream(name, [stream.replaceAll("\n", end)]);
      expect(text).toBe(expectedStream(name).replaceAll("\n", end));
    }
  });

  it("is over with its last event, whatever follows", () => {
    expect(runNativeStream(name, [stream, "data: [DONE]\n\n", stream]).text).toBe(expectedStream(name));
  });

  it("passes on what is no JSON, unread", () => {
    const odd = "event: odd\ndata: not JSON\n\n";
    expect(runNativeStream(name, [odd, stream]).text).toBe(odd + expectedStream(name));
  });

  it("takes an event that no blank line ends for one, when nothing follows", () => {
    const { text, last } = runNativeStream(name, [stream.slice(0, -2)]);
    expect(text).toBe(expectedStream(name).slice(0, -2));
    expect(last.final).toBe(true);
  });

  it("writes JSON in several data lines in several, with the catalog's name", () => {
    const first = name === "messages" ? "message_start" : "response.created";
    const member = name === "messages" ? "message" : "response";
    const event = `event: ${first}\ndata: {"type":"${first}",\ndata: "${member}":{"model":"x","id":"1"}}\n\n`;
    expect(runNativeStream(name, [event]).text).toContain(event.replace('"x"', '"acme/echo"'));
  });

  it("fails with an event that is too large, and never throws", () => {
    const { text, last } = runNativeStream(name, [`data: ${"x".repeat(17 * 1_048_576)}`]);
    expect(last.failed?.code).toBe("upstream_error");
    expect(text).toContain("event: error\n");
  });
});

describe("what a stream of messages came to", () => {
  it("is the prompt of message_start and the output of message_delta, with cache reads and writes of both kinds", () => {
    const { observation } = runNativeStream("messages", [messagesStream()]).answer;
    expect(observation.usage).toMatchObject({
      inputTokens: 17,
      cachedInputTokens: 5,
      cacheWriteTokens: 4,
      cacheWrite1hTokens: 3,
      outputTokens: 20,
    });
    expect(observation.serviceTier).toBe("standard");
    expect(observation.generatedText).toBe("HmGrüße 👋");
    expect(observation.generatedDeltas).toBe(2);
  });

  it("is not the one token of output that message_start tells, when the stream breaks off", () => {
    const stream = messagesStream();
    const cut = stream.slice(0, stream.indexOf("event: message_delta"));
    const { answer, last, text } = runNativeStream("messages", [cut]);
    expect(answer.observation.usage).toMatchObject({ inputTokens: 17, outputTokens: 0 });
    expect(last.failed?.code).toBe("upstream_error");
    expect(text).toContain('event: error\ndata: {"type":"error","error":');
  });

  it("is whole where only message_stop is missing", () => {
    const stream = messagesStream();
    const cut = stream.slice(0, stream.indexOf("event: message_stop"));
    const { last, text } = runNativeStream("messages", [cut]);
    expect(last).toMatchObject({ final: true, failed: null });
    expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  });
});

describe("an error event in a stream of messages", () => {
  it("passes as it is, and ends the stream", () => {
    const error = namedEvent("error", { error: { type: "overloaded_error", message: "Overloaded" } });
    const { text, last, answer } = runNativeStream("messages", [error, messagesStream()]);
    expect(text).toBe(error);
    expect(last.failed?.code).toBe("model_overloaded");
    expect(answer.observation.isRefused).toBe(true);
  });

  it.each(["authentication_error", "permission_error", "billing_error"])(
    "tells nothing of the gateway's own account: %s",
    (type) => {
      const error = namedEvent("error", { error: { type, message: "invalid x-api-key sk-ant-1" } });
      const { text, last } = runNativeStream("messages", [error]);
      expect(last.failed?.code).toBe("upstream_authentication_failed");
      expect(text).not.toContain("sk-ant");
      expect(text).toContain("upstream_authentication_failed");
    },
  );
});

it("an invalid_request_error about the gateway's balance in a stream of messages is not told", () => {
  const error = { type: "invalid_request_error", message: "Your credit balance is too low" };
  const { text, last } = runNativeStream("messages", [namedEvent("error", { error })]);
  expect(last.failed?.code).toBe("upstream_authentication_failed");
  expect(text).not.toContain("credit");
});

describe("a stream of responses that passes through", () => {
  it("[responses.native.usage] is counted by the usage of its last event", () => {
    const { observation } = runNativeStream("responses", [responsesStream()]).answer;
    expect(observation.usage).toMatchObject({
      inputTokens: 17,
      cachedInputTokens: 5,
      outputTokens: 20,
      reasoningTokens: 3,
    });
    expect(observation.generatedText).toBe("Grüße 👋");
  });

  it("that breaks off ends in an error and in response.failed, with the items that were finished", () => {
    const stream = responsesStream();
    const cut = stream.slice(0, stream.indexOf("event: response.completed"));
    const { text, last } = runNativeStream("responses", [cut]);
    expect(last.failed?.code).toBe("upstream_error");
    const events = text.split("\n\n").filter((event) => event !== "");
    const [error, failed] = events.slice(-2).map((event) => event.split("\n")[1]!.slice(6));
    expect(JSON.parse(error!)).toMatchObject({ type: "error", sequence_number: 6, code: "upstream_error" });
    expect(JSON.parse(failed!)).toMatchObject({
      type: "response.failed",
      sequence_number: 7,
      response: { id: "resp_1", model: "acme/echo", status: "failed", output: [{ id: "msg_1" }] },
    });
  });

  it("passes an error and the response that failed after it, and then it has failed", () => {
    const error = namedEvent("error", {
      sequence_number: 1,
      code: "server_error",
      message: "Oops",
      param: null,
    });
    const response = { id: "resp_1", object: "response", status: "failed", error: { code: "server_error" } };
    const failed = namedEvent("response.failed", { sequence_number: 2, response });
    const { text, last } = runNativeStream("responses", [error + failed]);
    expect(text).toBe(error + failed);
    expect(last.failed?.code).toBe("upstream_error");
  });

  it("tells nothing of the gateway's own account, in an error or in the response that failed", () => {
    const told = { code: "insufficient_quota", message: "You exceeded your current quota" };
    const error = namedEvent("error", { sequence_number: 1, ...told });
    const response = { id: "resp_1", object: "response", status: "failed", error: told };
    const failed = namedEvent("response.failed", { sequence_number: 2, response });
    for (const stream of [error + failed, failed]) {
      const { text, last } = runNativeStream("responses", [stream]);
      expect(last.failed?.code).toBe("upstream_authentication_failed");
      expect(text).not.toContain("quota");
      expect(text).toContain("upstream_authentication_failed");
    }
  });
});

describe("an overflow of the context window in a stream that passes through", () => {
  const OVERFLOW = "Input is too long for requested model.";
  const started = {
    messages: namedEvent("message_start", { message: { id: "m", model: "x" } }),
    responses: namedEvent("response.created", { response: { id: "r", model: "x", output: [] } }),
  };
  const failed = (code: string, message: string) =>
    namedEvent("response.failed", { response: { id: "r", status: "failed", error: { code, message } } });

  it("is told by the words and the code by which agents know one", () => {
    const error = namedEvent("error", { error: { type: "api_error", message: OVERFLOW } });
    const { text, last } = runNativeStream("messages", [started.messages, error]);
    expect(last.failed).toMatchObject({ publicCode: "context_length_exceeded" });
    expect(text).toContain(`prompt is too long: ${OVERFLOW}`);
    expect(text).toContain('"type":"invalid_request_error"');
    const responses = runNativeStream("responses", [started.responses, failed("server_error", OVERFLOW)]);
    expect(responses.text).toContain(
      `"status":"failed","error":{"code":"context_length_exceeded","message":"${OVERFLOW}"}`,
    );
    expect(responses.text).not.toContain("server_error");
  });

  it("is the upstream's own where it has them", () => {
    const message = "prompt is too long: 2 tokens > 1 maximum";
    const error = namedEvent("error", { error: { type: "invalid_request_error", message } });
    expect(runNativeStream("messages", [started.messages, error]).text).toContain(error);
    const told = failed("context_length_exceeded", OVERFLOW);
    expect(runNativeStream("responses", [started.responses, told]).text).toContain(
      told.slice(told.indexOf('"error"'), -2),
    );
  });
});
