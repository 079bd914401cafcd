/** The shipped Grafana dashboard's queries, with its variables filled in as Grafana does. */
import { readFileSync } from "node:fs";

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  readonly panels: readonly {
    readonly title: string;
    /** A row, which folds the panels below it, has none. */
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const FILE = new URL("../../deploy/grafana/inference-gateway.json", import.meta.url);

export function readDashboard(): {
  readonly queries: readonly { readonly panel: string; readonly expression: string }[];
  /** Series that panels and variables name. */
  readonly names: readonly string[];
} {
  const { panels, templating } = JSON.parse(readFileSync(FILE, "utf8")) as Dashboard;
  const queries = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      panel: title,
      expression: expr.replaceAll("$instance", ".*").replaceAll("$__range", "1h"),
    })),
  );
  const texts = [
    ...queries.map(({ expression }) => expression),
    ...templating.list.map(({ query }) => query),
  ];
  const names = texts.flatMap((text) =>
    Array.from(text.matchAll(/\b(?:inference_gateway|gen_ai_(?:server|client))_\w+/g), ([name]) => name),
  );
  return { queries, names: [...new Set(names)].sort() };
}
