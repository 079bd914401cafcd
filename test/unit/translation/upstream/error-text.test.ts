/** Where servers, and frameworks that servers are built with, have an error's message. */
import { describe, expect, it } from "vitest";
import {
  isErrorBody,
  isUpstreamError,
  parseUpstreamError,
  readUpstreamError,
} from "../../../../src/data-path/translation/upstream/error-text.ts";

describe("the message of an error", () => {
  it.each([
    [
      "the status's name beside the message",
      { error: "Bad Request", message: "n: bad" },
      "Bad Request: n: bad",
    ],
    ["the message repeated", { error: "bad n", message: "bad n: 3" }, "bad n: 3"],
    ["an error in the error", { error: { error: { message: "bad" } } }, "bad"],
    ["a text in the error", { error: { error: "bad" } }, "bad"],
    ["an inner error", { error: { code: "x", innererror: { message: "bad" } } }, "bad"],
    [
      "an outer message before an inner one",
      { error: { message: "bad", innererror: { message: "x" } } },
      "bad",
    ],
    ["AWS, nested", { Error: { Code: "ValidationException", Message: "bad" } }, "bad"],
    ["Apigee", { fault: { faultstring: "bad" } }, "bad"],
    ["a list of texts", { errors: ["bad", "worse"] }, "bad"],
    ["texts by field", { errors: { temperature: ["bad"] } }, "temperature: bad"],
    ["details that are a text", { error: { message: "", details: "bad" } }, "bad"],
    ["a reason", { error: { reason: "bad" } }, "bad"],
    ["a text under a name of its own", { err: "bad" }, "bad"],
    ["a text in the message", { error: { message: { text: "bad" } } }, "bad"],
    ["Spark", { header: { code: 10_003, message: "bad" } }, "bad"],
    ["an error in any member", { response: { error: { message: "bad" } } }, "bad"],
    ["a text in an error in any member", { data: { error: "bad" } }, "bad"],
  ])("is found: %s", (_name, body, message) => {
    expect(readUpstreamError(body).message).toBe(message);
    expect(parseUpstreamError(400, Buffer.from(JSON.stringify(body))).message).toBe(message);
    const raw = { error: { message: "Provider returned error", metadata: { raw: JSON.stringify(body) } } };
    expect(readUpstreamError(raw).message).toBe(message);
  });
});

describe("an error in an answer of status 200", () => {
  it.each([
    { code: 500, msg: "404 NOT_FOUND", success: false },
    { code: 10013, message: "input is not approved", sid: "x" },
    { code: "InvalidParameter", message: "bad range" },
    { success: false, message: "bad" },
    { status: "error", message: "bad" },
    { detail: "bad" },
    { detail: [{ loc: ["body"], msg: "bad" }] },
    { detail: { message: "bad" } },
    { statusCode: 500, message: "bad" },
    { type: "about:blank", title: "Bad", status: 500, detail: "bad" },
    { base_resp: { status_code: "1002", status_msg: "bad" } },
    {
      choices: [{ index: 0, message: { content: "" } }],
      base_resp: { status_code: 1002, status_msg: "bad" },
    },
  ])("is one by its code: %j", (answer) => {
    expect(isUpstreamError(answer)).toBe(true);
  });

  it.each([
    { code: 0, message: "Success", choices: [{ index: 0, delta: { content: "a" } }] },
    { code: 500, message: "odd", choices: [{ index: 0, delta: { content: "a" } }] },
    { code: 0, message: "Success" },
    { code: "0", message: "Success" },
    { message: "still working" },
    { type: "ping", code: 1, message: "odd" },
    { status: "in_progress", message: "odd" },
    { detail: "", choices: [] },
    { detail: "odd", choices: [{ index: 0, delta: { content: "a" } }] },
    { type: "ping", detail: "odd" },
  ])("is none: %j", (answer) => {
    expect(isUpstreamError(answer)).toBe(false);
  });

  it.each([
    { message: "bad" },
    { msg: "bad" },
    { errors: [{ message: "bad" }] },
    { header: { code: 10_003, message: "bad" } },
    { response: { error: { message: "bad" } } },
  ])("is one where a body has nothing else: %j", (body) => {
    expect(isErrorBody(body)).toBe(true);
    expect(isUpstreamError(body)).toBe(false);
    expect(isErrorBody({ ...body, content: [{ type: "text", text: "a" }] })).toBe(false);
  });

  it.each([{}, { id: "c", object: "chat.completion", choices: null }, { type: "message" }])(
    "is none where a body has no words: %j",
    (body) => expect(isErrorBody(body)).toBe(false),
  );
});
