import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { addAssets } from "../../../../src/management/admin/dashboard/assets.ts";
import type { AdminApp } from "../../../../src/management/admin/app-options.ts";

const FOLDER = path.resolve(import.meta.dirname, "../../../../src/management/admin/dashboard/assets/styles");

describe("the style sheet", () => {
  it("has every part of its folder once and whole, the tokens first", async () => {
    const app = new Hono() as unknown as AdminApp;
    addAssets(app);
    const answer = await app.request("/assets/dashboard.css");
    expect(answer.headers.get("content-type")).toBe("text/css; charset=utf-8");
    const sheet = await answer.text();
    const parts = readdirSync(FOLDER).map((name) => readFileSync(path.join(FOLDER, name), "utf8"));
    expect(parts.filter((part) => !sheet.includes(part))).toEqual([]);
    expect(sheet.length).toBe(parts.join("\n").length);
    expect(sheet.startsWith(readFileSync(path.join(FOLDER, "tokens.css"), "utf8"))).toBe(true);
  });
});
