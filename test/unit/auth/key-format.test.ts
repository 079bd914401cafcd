import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKey, displayKey, hashKey, isWellFormedKey } from "../../../src/data-path/auth/key-format.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("createKey", () => {
  it("makes keys of the published form that are well-formed and all different", () => {
    const keys = Array.from({ length: 1000 }, createKey);
    for (const key of keys) {
      expect(key).toMatch(/^sk-igw-[0-9A-Za-z]{46}$/);
      expect(isWellFormedKey(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("uses every character about as often as any other", () => {
    const counts = new Map<string, number>();
    for (let made = 0; made < 5000; made += 1) {
      for (const character of createKey().slice(7, 47)) {
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
    }
    const expected = (5000 * 40) / ALPHABET.length;
    // Seven standard deviations: a remainder of bytes by 62 would put eight characters 25 % over the others.
    const tolerance = 7 * Math.sqrt(expected);
    for (const character of ALPHABET) {
      expect(Math.abs((counts.get(character) ?? 0) - expected)).toBeLessThan(tolerance);
    }
  });
});

describe("isWellFormedKey", () => {
  it("takes the CRC-32 of all that precedes it, in base62, as checksum", () => {
    // Computed with Python's binascii.
    expect(isWellFormedKey(`sk-igw-${"0".repeat(40)}0O2OxG`)).toBe(true);
  });

  it.each([
    { name: "nothing", text: "" },
    { name: "another service's key", text: "sk-proj-0123456789" },
    { name: "a placeholder", text: "EMPTY" },
    { name: "a key of the right form without its checksum", text: `sk-igw-${"a".repeat(46)}` },
    { name: "a key with a line break", text: `${createKey()}\n` },
    { name: "a key with a blank before it", text: ` ${createKey()}` },
    { name: "a key in capitals", text: createKey().toUpperCase() },
    { name: "a key that is cut", text: createKey().slice(0, -1) },
    { name: "a key that is too long", text: `${createKey()}0` },
  ])("refuses $name", ({ text }) => {
    expect(isWellFormedKey(text)).toBe(false);
  });

  it("refuses every key with one wrong character", () => {
    fc.assert(
      fc.property(fc.integer({ min: 7, max: 52 }), fc.integer({ min: 1, max: 61 }), (position, shift) => {
        const key = createKey();
        const wrong = ALPHABET[(ALPHABET.indexOf(key[position]!) + shift) % ALPHABET.length]!;
        expect(isWellFormedKey(key.slice(0, position) + wrong + key.slice(position + 1))).toBe(false);
      }),
    );
  });

  it("refuses every key with two neighbours swapped", () => {
    fc.assert(
      fc.property(fc.integer({ min: 7, max: 51 }), (position) => {
        const key = createKey();
        const [left, right] = [key[position]!, key[position + 1]!];
        const swapped = key.slice(0, position) + right + left + key.slice(position + 2);
        expect(isWellFormedKey(swapped)).toBe(left === right);
      }),
    );
  });
});

describe("hashKey", () => {
  it("is SHA-256 in lower-case hexadecimal", () => {
    expect(hashKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

describe("displayKey", () => {
  it("shows the prefix and the last four characters", () => {
    expect(displayKey(`sk-igw-${"x".repeat(42)}a1B2`)).toBe("sk-igw-…a1B2");
  });
});
