/** Columns of *Requests*: one line per request. A value is a link to the requests that have it. */
import type { Child } from "hono/jsx";
import { columnDecimals } from "../../../../shared/money/money.ts";
import { formatAmount, formatCount, formatDuration } from "../../format.ts";
import { narrowTo, type RequestChoice, type RequestFilterName, USUAL_COLUMNS } from "../request-choice.ts";
import type { RequestView } from "../views.ts";
import { RequestStatus } from "./inline.tsx";
import { type ColumnKind, RowTable, type RowTableColumns } from "./table.tsx";

interface Explored {
  readonly path: string;
  readonly choice: RequestChoice;
}

interface RequestColumn {
  readonly label: string;
  readonly kind?: ColumnKind;
  /** Omitted from one's own requests. */
  readonly isOmittedFromOwn?: true;
  /** Filter that the value is a link to. */
  readonly filter?: RequestFilterName;
  /** Value of the filter, if it is not the text. */
  readonly wanted?: (request: RequestView) => string | null;
  /** @param decimals Decimals of all costs in the column. */
  readonly cell: (request: RequestView, decimals: number) => Child;
}

const duration = (ms: number | null): string => (ms === null ? NONE : formatDuration(ms));
const NONE = "–";

/** By their names in the URL. */
export const REQUEST_COLUMNS: Readonly<Record<string, RequestColumn>> = {
  status: {
    label: "status",
    kind: "main",
    cell: (request) => <RequestStatus request={request} />,
  },
  key: {
    label: "key",
    filter: "key_id",
    wanted: ({ key_id: id }) => id,
    cell: ({ key_name: name, key_id: id }) => name ?? id,
  },
  user: {
    label: "user",
    kind: "rest",
    isOmittedFromOwn: true,
    filter: "user_id",
    wanted: ({ user_id: id }) => id,
    cell: ({ user_name: name, user_id: id }) => name ?? id,
  },
  group: {
    label: "group",
    kind: "rest",
    isOmittedFromOwn: true,
    filter: "group_id",
    wanted: ({ group_id: id }) => id,
    cell: ({ group_name: name, group_id: id }) => name ?? id,
  },
  model: {
    label: "model",
    kind: "main",
    filter: "model",
    wanted: ({ model }) => model,
    // A rejected request may name a model that doesn't exist.
    cell: ({ model, requested_model: requested }) => model ?? requested,
  },
  cost: {
    label: "cost",
    kind: "number main",
    cell: ({ cost_microcents: cost, error_code: code }, decimals) =>
      cost === 0 && code !== null ? "none" : formatAmount(cost, "", decimals).trim(),
  },
  duration: {
    label: "duration",
    kind: "number",
    cell: ({ duration_ms: ms }) => duration(ms),
  },
  first_token: {
    label: "first token",
    kind: "number rest",
    cell: ({ first_token_ms: ms }) => duration(ms),
  },
  input: {
    label: "input",
    kind: "number rest",
    cell: ({ input_tokens: tokens }) => formatCount(tokens),
  },
  cached: {
    label: "cached",
    kind: "number rest",
    cell: ({ cached_input_tokens: tokens }) => formatCount(tokens),
  },
  output: {
    label: "output",
    kind: "number rest",
    cell: ({ output_tokens: tokens }) => formatCount(tokens),
  },
  upstream: {
    label: "upstream",
    kind: "rest",
    filter: "upstream",
    cell: ({ upstream }) => upstream?.name ?? null,
  },
  session: { label: "session", kind: "rest", filter: "session", cell: ({ session_id: id }) => id },
  tags: {
    label: "tags",
    kind: "rest",
    filter: "tag",
    cell: ({ tags }) =>
      Object.entries(tags)
        .map(([name, value]) => `${name}=${value}`)
        .join(",") || null,
  },
  route: { label: "route", kind: "rest", cell: ({ route }) => route },
  id: { label: "id", kind: "rest", cell: ({ id }) => <code>{id}</code> },
};

/** Returns the chosen columns, or the usual ones. */
export function shownColumns({ columns }: Pick<RequestChoice, "columns">) {
  const names = columns ?? USUAL_COLUMNS;
  return Object.entries(REQUEST_COLUMNS).filter(([name]) => names.includes(name));
}

interface RequestColumnsProps extends Explored {
  readonly isOwn: boolean;
  readonly requests: readonly RequestView[];
}

/** Table of requests by day. @param empty Text without requests. */
export function RequestTable({ explored, empty }: { explored: RequestColumnsProps; empty: Child }) {
  return (
    <RowTable
      label="Requests"
      class="list requests"
      columns={requestColumns(explored)}
      rows={explored.requests}
      groupOf={({ created_at: at }) => at.slice(0, "2026-11-21".length)}
      empty={empty}
    />
  );
}

/** The first column is the time, a link to the request. */
function requestColumns(props: RequestColumnsProps): RowTableColumns<RequestView> {
  const { path, choice, isOwn, requests } = props;
  const decimals = columnDecimals(requests.map((request) => request.cost_microcents));
  const shown = shownColumns(choice).filter(
    ([, { isOmittedFromOwn }]) => !(isOwn && isOmittedFromOwn === true),
  );
  return [
    {
      label: "time, UTC",
      cell: ({ id, created_at: at }) => (
        <a href={narrowTo(`${path}/${id}`, choice, {})}>
          <time datetime={at}>{at.slice("2026-11-21T".length, "2026-11-21T14:03:59".length)}</time>
        </a>
      ),
    },
    ...shown.map(([name, column]) => ({
      label: name === "cost" ? `cost, ${requests[0]?.currency ?? ""}` : column.label,
      short: column.label,
      ...(column.kind && { kind: column.kind }),
      cell: (request: RequestView) => (
        <Value explored={props} column={column} request={request} decimals={decimals} />
      ),
    })),
  ];
}

interface ValueProps {
  readonly explored: Explored;
  readonly column: RequestColumn;
  readonly request: RequestView;
  readonly decimals: number;
}

function Value({ explored: { path, choice }, column, request, decimals }: ValueProps) {
  const { filter, wanted, cell } = column;
  const text = cell(request, decimals);
  if (text === null) return <>{NONE}</>;
  const value = wanted?.(request) ?? (typeof text === "string" ? text : null);
  if (filter === undefined || value === null) return <>{text}</>;
  return (
    <a href={narrowTo(path, choice, { [filter]: value })} title={typeof text === "string" ? text : value}>
      <bdi>{text}</bdi>
    </a>
  );
}
