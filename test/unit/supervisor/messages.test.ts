import { describe, expect, it } from "vitest";
import {
  parseServeReport,
  parseWorkerOrder,
  parseWorkerReport,
} from "../../../src/operation/supervisor/messages.ts";

describe("messages between processes", () => {
  it.each([
    { parse: parseWorkerReport, value: { type: "ready" } },
    { parse: parseWorkerReport, value: { type: "ready", url: "http://127.0.0.1:1" } },
    { parse: parseWorkerReport, value: { type: "failed", message: "why" } },
    { parse: parseWorkerReport, value: { type: "application", body: { a: 1 } } },
    { parse: parseWorkerOrder, value: { type: "drain", boundMs: 5 } },
    { parse: parseWorkerReport, value: { type: "configuration_wanted" } },
    { parse: parseWorkerOrder, value: { type: "configuration", config: {} } },
    { parse: parseWorkerOrder, value: { type: "catalog", catalog: [] } },
    { parse: parseWorkerOrder, value: { type: "application", body: null } },
    { parse: parseServeReport, value: { type: "ready", adminUrl: "http://127.0.0.1:1", demoKey: null } },
    { parse: parseServeReport, value: { type: "failed", message: "why" } },
  ])("reads $value", ({ parse, value }) => {
    expect(parse(value)).toEqual(value);
  });

  it.each([null, undefined, 7, "ready", [], {}, { type: "other" }, { type: "drain" }])(
    "passes over %j",
    (value) => {
      expect([parseWorkerReport(value), parseWorkerOrder(value), parseServeReport(value)]).toEqual([
        null,
        null,
        null,
      ]);
    },
  );
});
