import { describe, expect, it } from "vitest";
import { pinsSessions } from "../../../src/shared/config/affinity.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";

const TWO = 'urls: ["http://10.0.0.1", "http://10.0.0.2"]';
const PRIORITIES = 'endpoints: [{url: "http://10.0.0.1"}, {url: "http://10.0.0.2", priority: 1}]';

function pins(place: string, fields = ""): boolean {
  const text = `
upstreams: [{name: local, ${place}}]
catalog: [{id: acme/echo, upstream: local, context_window: 100, max_output_tokens: 10, ${fields} prices: {USD: {input: "1", output: "1"}}}]
`;
  const { catalog, upstreams } = parseConfig(text, { baseDir: "/", secrets: "none" });
  return pinsSessions(catalog[0]!, upstreams[0]!);
}

describe("pinsSessions", () => {
  it.each([
    { of: "two servers", place: TWO, isPinned: true },
    { of: "one server", place: 'url: "http://10.0.0.1"', isPinned: false },
    { of: "a host name", place: 'url: "http://pool.default.svc"', isPinned: false },
    { of: "several priorities", place: PRIORITIES, isPinned: false },
    { of: "slow start", place: `${TWO}, slow_start_seconds: 5`, isPinned: false },
    { of: "an endpoint picker", place: `${TWO}, endpoint_picker: {}`, isPinned: false },
  ])("is $isPinned by default with $of", ({ place, isPinned }) => {
    expect(pins(place)).toBe(isPinned);
  });

  it.each([
    { fields: "affinity: off,", isPinned: false },
    { fields: "capabilities: [embeddings],", isPinned: false },
    { fields: "capabilities: [embeddings, completions],", isPinned: true },
  ])("is $isPinned with two servers and `$fields`", ({ fields, isPinned }) => {
    expect(pins(TWO, fields)).toBe(isPinned);
  });

  it.each([
    {
      of: "a host name, which may have several addresses",
      place: 'url: "http://pool.default.svc"',
      isPinned: true,
    },
    { of: "one address", place: 'url: "http://10.0.0.1"', isPinned: false },
  ])("is $isPinned with `affinity: session` and $of", ({ place, isPinned }) => {
    expect(pins(place, "affinity: session,")).toBe(isPinned);
  });
});
