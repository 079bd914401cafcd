import { describe, expect, it } from "vitest";
import { formatFrontPage, formatFrontPagePolicy } from "../../../src/envoy/bootstrap/front-page.ts";

/** The most that Envoy takes as a response of its own. */
const MOST_BYTES = 4_096;

describe("the page of the base URL", () => {
  const dashboard = `https://gateway.example.com/${"a".repeat(500)}`;

  it("leads to the sign-in and the documentation, and fits into a response of Envoy's own", () => {
    const page = formatFrontPage({ documentation: "https://docs.example.com", dashboard });
    expect(page).toContain(`<a href="${dashboard}/sign-in">Sign in</a>`);
    expect(page).toContain(`<iframe src="${dashboard}/status" title="Status of the models">`);
    expect(page).toContain('<a href="https://docs.example.com">Documentation</a>');
    expect(Buffer.byteLength(page)).toBeLessThan(MOST_BYTES);
  });

  it("frames the dashboard alone, and nothing without one", () => {
    const policyOf = (of: string | null) => formatFrontPagePolicy({ documentation: "x", dashboard: of });
    expect(policyOf(dashboard)).toContain("frame-src https://gateway.example.com;");
    expect(policyOf(null)).not.toContain("frame-src");
    expect(formatFrontPage({ documentation: "x", dashboard: null })).not.toContain("<iframe");
  });

  it("says whom to ask where no dashboard is known", () => {
    expect(formatFrontPage({ documentation: "x", dashboard: null })).toContain("ask your operator");
  });

  it("escapes addresses", () => {
    const page = formatFrontPage({ documentation: 'https://x/?a=1&b="<script>', dashboard: null });
    expect(page).toContain('href="https://x/?a=1&amp;b=&quot;&lt;script>"');
  });
});
