/** Explains one request in a terminal, with the management API's texts. */
import { formatRemedy, type Reason } from "../../../shared/envoy-reasons/reason.ts";
import { OWNER_KINDS, type OwnerKind } from "../../../shared/stored/owner-kinds.ts";
import type { JsonObject } from "./admin-client.ts";
import type { Screen } from "../terminal/screen.ts";
import { type Field, formatFields, formatTable, formatValue, showGiven } from "../terminal/table.ts";

export interface ExplainedFor {
  readonly screen: Screen;
  readonly organization: JsonObject;
  /** Address of the dashboard if the operator has not configured it, without a final slash. */
  readonly url: string;
}

/** @param request Response of `GET …/requests/{request}`. */
export function explainRequest(request: JsonObject, { screen, organization, url }: ExplainedFor): string {
  const explanation = request["explanation"] as JsonObject;
  const action = explanation["action"] as JsonObject | null;
  const remedy = explanation["remedy"] as Pick<Reason, "actor" | "todo"> | null;
  const parts = [
    [
      `${String(explanation["sentence"])}\n`,
      ...(remedy === null ? [] : [`→ ${formatRemedy(remedy)}\n`]),
      ...(action === null ? [] : [`${formatAction(action, url)}\n`]),
    ].join(""),
    formatFields(screen, listFacts(request, organization)),
    formatTimeline(screen, request["timeline"] as JsonObject | null),
    formatCost(screen, explanation["cost"] as JsonObject | null, request, String(organization["currency"])),
    formatChecks(screen, explanation["checks"] as readonly JsonObject[]),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function formatAction({ label, path, url }: JsonObject, adminUrl: string): string {
  return `${String(label)}: ${typeof url === "string" ? url : `${adminUrl}${String(path)}`}`;
}

function listFacts(request: JsonObject, organization: JsonObject): readonly Field[] {
  const upstream = request["upstream"] as JsonObject | null;
  return [
    ["request", String(request["id"])],
    ["received", String(request["created_at"])],
    ["ended", String(request["recorded_at"])],
    ["organization", String(organization["name"])],
    ...(["key", ...OWNER_KINDS] as const).flatMap((kind) => showGiven(kind, nameOwner(request, kind))),
    ["route", String(request["route"])],
    ["model", formatValue(request["model"])],
    ...showGiven("requested model", request["requested_model"]),
    ...showGiven("session", request["session_id"]),
    ["status", [formatValue(request["status"]), request["error_code"]].filter(Boolean).join(" ")],
    ...showGiven("server chosen by", request["pinned_by"]),
    ...showGiven("upstream", upstream && formatUpstream(upstream)),
    ...showGiven("Envoy's details", upstream?.["envoy_details"]),
  ];
}

/** Returns the owner at admission; null: none. */
function nameOwner(request: JsonObject, kind: "key" | OwnerKind): string | null {
  const name = request[`${kind}_name`] ?? request[`${kind}_id`] ?? null;
  return name === null
    ? null
    : `${formatValue(name)}${request[`${kind}_deleted`] === true ? " (deleted)" : ""}`;
}

function formatUpstream(upstream: JsonObject): string {
  const isExplained = upstream["cause"] === null || upstream["envoy_details"] !== null;
  const cause = isExplained ? "" : `: ${formatValue(upstream["cause"])}`;
  return `${String(upstream["name"])}, ${formatValue(upstream["status"], "no response")}${cause}`;
}

const MOMENTS = [
  ["body_ms", "body received"],
  ["routed_ms", "sent to the upstream"],
  ["upstream_ms", "upstream responded"],
  ["first_token_ms", "first token"],
  ["end_ms", "end"],
] as const;

function formatTimeline(screen: Screen, timeline: JsonObject | null): string {
  if (timeline === null) return "";
  const steps = MOMENTS.filter(([moment]) => timeline[moment] !== null);
  return formatTable(
    screen,
    ["TIMELINE", "MS"],
    [["admitted", "0"], ...steps.map(([moment, label]) => [label, String(timeline[moment])])],
  );
}

function formatCost(screen: Screen, cost: JsonObject | null, request: JsonObject, currency: string): string {
  if (cost === null) return "";
  const parts = cost["parts"] as readonly JsonObject[];
  const counted = request["estimated"] === true ? "; the tokens are an estimate" : "";
  const table = formatTable(
    screen,
    ["COST", "TOKENS", "PER MILLION", "AMOUNT"],
    parts.map((part) => [
      String(part["name"]),
      part["uses"] === null ? formatValue(part["tokens"]) : `${formatValue(part["uses"])} uses`,
      part["uses"] === null ? formatValue(part["price"]) : `${formatValue(part["price"])} per thousand`,
      String(part["amount"]),
    ]),
  );
  return `${table}sum ${String(cost["sum"])}, charged ${String(cost["charged"])} ${currency}, rounded up${counted}\n`;
}

function formatChecks(screen: Screen, checks: readonly JsonObject[]): string {
  if (checks.length === 0) return "";
  return formatTable(
    screen,
    [
      "CHECK",
      { header: "", levels: checks.map((check) => (check["passed"] === true ? "good" : "bad")) },
      { header: "FIGURES", isWrapped: true },
    ],
    checks.map((check) => [
      String(check["name"]),
      check["passed"] === true ? "passed" : "REJECTED",
      String(check["text"]),
    ]),
  );
}
