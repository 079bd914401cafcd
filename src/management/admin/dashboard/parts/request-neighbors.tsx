/** Links from a request to those before and after it in the filtered list, and to the list. */
import type { PageCall } from "../page.ts";
import { addressOf, narrowTo, queryOf, readRequestChoice } from "../request-choice.ts";
import type { ExplainedRequestView } from "../views.ts";

/** Returns the query for a request's page: the list's filters, and that the neighbors are wanted. */
export async function neighborsQuery(page: PageCall): Promise<Record<string, string>> {
  return { ...(await queryOf(page, readRequestChoice(page))), neighbors: "true" };
}

interface NeighborsProps {
  readonly page: PageCall;
  readonly path: string;
  readonly request: ExplainedRequestView;
}

export function Neighbors({ page, path, request: { neighbors } }: NeighborsProps) {
  const choice = readRequestChoice(page);
  const link = (id: string | null | undefined, rel: "prev" | "next", label: string) =>
    id === null || id === undefined ? (
      <span class="quiet">{label}</span>
    ) : (
      <a rel={rel} href={narrowTo(`${path}/${id}`, choice, {})}>
        {label}
      </a>
    );
  return (
    <nav class="neighbors" aria-label="Requests next to this one">
      {link(neighbors?.newer, "prev", "← Newer")}
      {link(neighbors?.older, "next", "Older →")}
      <a href={addressOf(path, choice)}>
        {Object.keys(choice.filters).length > 0 ? "Filtered list" : "All requests"}
      </a>
    </nav>
  );
}
