import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { encode, runStream, summarize } from "../../../../support/messages-exchange.ts";
import { checkMessageStream } from "../../../../support/messages-protocol-checker.ts";

const FOLDER = new URL("../../../../fixtures/translation/", import.meta.url);
const CHUNKS = ".chunks.txt";
const names = readdirSync(FOLDER).filter((name) => name.endsWith(CHUNKS));

const REQUEST = { stop_sequences: ["END"] };

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), "utf8");
}

describe("streams of upstreams", () => {
  it.each(names.map((name) => name.slice(0, -CHUNKS.length)))("%s becomes the events beside it", (name) => {
    const body = read(`${name}${CHUNKS}`);
    const { events } = runStream([body], REQUEST);
    const lines = summarize(events).map((line) =>
      line.replace(/^signature gw\..*/, "signature gw.…").replaceAll("\n", "\\n"),
    );
    expect(lines.join("\n")).toBe(read(`${name}.events.txt`).trimEnd());
    expect(checkMessageStream(events)).toBe("message_stop");
    const bytes = [...encode(body)].map((byte) => Uint8Array.of(byte));
    expect(runStream(bytes, REQUEST).events).toEqual(events);
  });
});
