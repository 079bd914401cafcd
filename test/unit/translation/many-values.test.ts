/** What an upstream sends may have a million objects, lists and strings: parsing more would stop all others for seconds. */
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
import { encode } from "../../support/messages-exchange.ts";
import { parseUpstreamError } from "../../../src/data-path/translation/upstream/error-text.ts";

const OBJECTS = `[${"{},".repeat(1_000_000)}{}]`;
const MORE = `"more":${OBJECTS},"choices"`;
const addMore = (text: string): string => text.replace('"choices"', MORE);

describe.each(CHOICES_ROUTES)("$name", (route) => {
  it("refuses a whole answer of more than a million values", () => {
    const body = encode(addMore(JSON.stringify(choiceAnswer(route, "x"))));
    expect(() => createRouteAnswer(route).translateBody(body)).toThrow(
      expect.objectContaining({ code: "upstream_error" }),
    );
  });

  it("ends a stream with an event of more than a million values as an error", () => {
    const { last } = runRouteStream(route, [choiceChunk(route, "x"), addMore(choiceChunk(route, "y"))]);
    expect(last.failed).toMatchObject({ code: "upstream_error" });
  });
});

describe.each(NATIVE_ROUTES)("$name", (route) => {
  it("refuses a whole answer of more than a million values", () => {
    const body = encode(`{"type":"message","more":${OBJECTS}}`);
    expect(() => createRouteAnswer(route).translateBody(body)).toThrow(
      expect.objectContaining({ code: "upstream_error" }),
    );
  });

  it("passes an event of more than a million values on unread", () => {
    const event = `{"type":"ping","error":{},"more":${OBJECTS}}`;
    expect(runRouteStream(route, [dataEvent(event)]).text).toContain(event);
  });
});

it("an error body that nests deep or has many values says nothing", () => {
  for (const body of [
    "[".repeat(1_000_000),
    `{"error":{"message":"x","a":${"[".repeat(600)}${"]".repeat(600)}}}`,
  ]) {
    expect(parseUpstreamError(400, encode(body)).message).toBeNull();
  }
});
