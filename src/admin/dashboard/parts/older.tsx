/** @jsxImportSource hono/jsx */
import type { PageCall } from "../page.ts";

const PAGE_LIMIT = "50";

/** Which page of a list the address asks for. */
export function pageQueryOf(page: PageCall): Record<string, string> {
  const after = page.query.get("after");
  return after === null ? { limit: PAGE_LIMIT } : { limit: PAGE_LIMIT, after };
}

/** The link to what comes after this page of a list. */
export function Older({ page, next }: { page: PageCall; next: string | null }) {
  if (next === null) return null;
  return (
    <p>
      <a href={`${page.path}?after=${encodeURIComponent(next)}`}>More</a>
    </p>
  );
}
