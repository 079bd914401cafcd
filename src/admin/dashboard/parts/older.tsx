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
      <a href={`${page.path}?${queryAfter(page, next)}`}>More</a>
    </p>
  );
}

/** What is searched for goes with it. */
function queryAfter(page: PageCall, next: string): string {
  const query = new URLSearchParams(page.query);
  query.delete("done");
  query.set("after", next);
  return query.toString();
}
