/** Remaining caps and rates of an API key, and how to use it. For members and holders of keys. */
import type { KeyStatus } from "../../../../data-path/limits/reports/key-status.ts";
import { hasChat } from "../../../../shared/config/has-chat.ts";
import { isReached, MICROCENTS_PER_CENT } from "../../../../shared/money/money.ts";
import { describeLimit, labelLimit } from "../../../../shared/settings/limit-words.ts";
import { nameTokenType } from "../../../../shared/settings/token-limits.ts";
import { formatCount, formatLimit } from "../../format.ts";
import { nameReset } from "../limit-words.ts";
import { PERIODS } from "../../../../shared/time/periods.ts";
import type { PageCall } from "../page.ts";
import { createSnippets, type SnippetEndpoint } from "../snippets.ts";
import { Section } from "./layout.tsx";
import { ModelForm, Snippets } from "./snippet-box.tsx";
import { RowTable, type RowTableColumns } from "./table.tsx";
import { LIMIT_PERIODS } from "../../../../shared/settings/limits.ts";

type StatusLimit = KeyStatus["limits"][number];

/** One line for all keys of which the same is true: what stops them, or what is left. */
export function Headroom({ page, statuses }: { page: PageCall; statuses: readonly KeyStatus[] }) {
  const lines = new Map<string, KeyStatus[]>();
  for (const status of statuses) {
    const text = describeHeadroom(status);
    lines.set(text, [...(lines.get(text) ?? []), status]);
  }
  return (
    <>
      {[...lines].map(([text, same]) => {
        const blockedBy = same[0]?.blocked_by ?? null;
        return (
          <p class={`notice ${blockedBy === null ? "good" : "bad"}`}>
            <strong>
              <bdi>{same.map(({ name }) => name).join(", ")}</bdi>:
            </strong>{" "}
            {text}{" "}
            {blockedBy === null || blockedBy === "key" ? null : <ContactAdvice page={page} change="more" />}
          </p>
        );
      })}
    </>
  );
}

function describeHeadroom(status: KeyStatus): string {
  const stopping = status.limits.find(isStopping);
  return stopping === undefined ? describeBlocked(status) : describeStop(stopping, status);
}

/** Amounts may be hidden: then only `blocked_by` says that a cap is reached. */
function describeBlocked(status: KeyStatus): string {
  if (status.blocked_by === null) return describeRemaining(status);
  return `A hard cap of the ${status.blocked_by} is reached, so requests return 402.`;
}

function isStopping({ kind, cents, spent_cents: spent }: StatusLimit): boolean {
  return (
    kind === "cap" && cents !== null && isReached(cents, BigInt(spent ?? 0) * BigInt(MICROCENTS_PER_CENT))
  );
}

function describeStop(limit: StatusLimit, status: KeyStatus): string {
  const { scope, period, kind, cents, resets_at: resetsAt } = limit;
  const named = { scope, name: ownerOf(limit, status), period, kind };
  const until = resetsAt === null ? "It doesn't reset." : `It resets on ${nameReset(period, resetsAt)}.`;
  return `${describeLimit(named, formatLimit(cents, status.currency))} reached, so requests return 402. ${until}`;
}

/** "4.94 USD left today, 19.30 USD left this week; 6,000 tokens per minute." */
function describeRemaining({ limits, currency, token_limits: tokens }: KeyStatus): string {
  const caps = LIMIT_PERIODS.flatMap((period) => {
    const amounts = limits
      .filter((limit) => limit.kind === "cap" && limit.period === period)
      .flatMap(({ remaining_cents: remaining }) => (remaining === null ? [] : [remaining]));
    return amounts.length === 0
      ? []
      : [`${formatLimit(Math.min(...amounts), currency)} left ${PERIODS[period].current}`];
  });
  const perMinute = tokens.map(
    ({ type, tokens_per_minute: limit }) =>
      `; ${formatCount(limit)} ${nameTokenType(type, limit)} per minute`,
  );
  const spend = caps.length === 0 ? "No cap with a visible amount" : caps.join(", ");
  return `${spend}${perMinute.join("")}.`;
}

/** Contact for what only others can change. */
export function ContactAdvice({ page, change }: { page: PageCall; change: string }) {
  const contact = page.options.contact ?? null;
  if (contact === null) return <>Ask an admin of your organization for {change}.</>;
  return (
    <>
      Ask <a href={contact.startsWith("https:") ? contact : `mailto:${contact}`}>{contact}</a> or an admin of
      your organization for {change}.
    </>
  );
}

function ownerOf({ scope }: StatusLimit, { name, user, group, organization }: KeyStatus): string {
  const names = { key: name, user: user?.name, group: group?.name, organization: organization.name };
  return names[scope] ?? "";
}

interface ShownLimit {
  readonly limit: StatusLimit;
  readonly status: KeyStatus;
}

/** Every limit that the keys meet, each once. */
export function StatusLimits({ statuses }: { statuses: readonly KeyStatus[] }) {
  const rows = statuses.flatMap((status) => status.limits.map((limit) => ({ limit, status })));
  const once = new Map(
    rows.map((row) => {
      const { scope, period, kind } = row.limit;
      return [[scope === "key" ? row.status.id : scope, period, kind].join(" "), row];
    }),
  );
  return (
    <Section id="limits" title="Limits">
      <RowTable
        label="Limits, table"
        class="stack"
        columns={LIMIT_COLUMNS}
        rows={[...once.values()]}
        empty="No cap or budget applies."
      />
    </Section>
  );
}

/** Formats an amount that the organization may hide from its members. */
export function formatHideable(cents: number | null, currency: string): string {
  return cents === null ? "hidden" : formatLimit(cents, currency);
}

const LIMIT_COLUMNS: RowTableColumns<ShownLimit> = [
  {
    label: "limit",
    cell: ({ limit, status }) => (
      <>
        {labelLimit(limit)}
        <span class="below">
          {limit.scope} <bdi>{ownerOf(limit, status)}</bdi>
        </span>
      </>
    ),
  },
  amountColumn("spent", "spent_cents"),
  amountColumn("of", "cents"),
  amountColumn("left", "remaining_cents"),
  {
    label: "resets",
    cell: ({ limit: { period, resets_at: at } }) => (at === null ? "never" : nameReset(period, at)),
  },
];

function amountColumn(label: string, field: "spent_cents" | "cents" | "remaining_cents") {
  return {
    label,
    kind: "number" as const,
    cell: ({ limit, status }: ShownLimit) => formatHideable(limit[field], status.currency),
  };
}

/** Base URLs, models and snippets of a key. */
export function FirstRequest({ page, status }: { page: PageCall; status: KeyStatus }) {
  const { currency, allowed_models: allowed } = status;
  const models = page.options.listModels({ currency, models: allowed });
  const wanted = page.query.get("model") ?? "";
  const model = models.find(({ id }) => id === wanted) ?? models[0];
  return (
    <Section id="use" title="Use your key">
      <p>
        OpenAI clients use the base URL <code class="break">{page.gatewayUrl}/v1</code>, Anthropic clients{" "}
        <code class="break">{page.gatewayUrl}</code>.
      </p>
      {model === undefined ? (
        <p>No model has a price in {currency} for this key. Ask an admin of your organization.</p>
      ) : (
        <>
          <ModelForm ids={models.map(({ id }) => id)} chosen={model.id} />
          <details>
            <summary>Snippets for {model.id}</summary>
            <Snippets
              snippets={createSnippets(chooseEndpoint([...model.capabilities]), page.gatewayUrl, model.id)}
            />
          </details>
        </>
      )}
    </Section>
  );
}

/** Returns an endpoint that the model supports. */
export function chooseEndpoint(capabilities: readonly string[]): SnippetEndpoint {
  if (hasChat(capabilities)) return "chat";
  return capabilities.includes("completions") ? "completions" : "embeddings";
}
