/** Page of one request: outcome, timeline, cost, checks. */
import type { Child } from "hono/jsx";
import { alignDecimals, formatCount, formatDuration } from "../../format.ts";
import { formatRemedy } from "../../../../shared/envoy-reasons/reason.ts";
import type { OwnerKind } from "../../../../shared/stored/owner-kinds.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { Layout, Section } from "../parts/layout.tsx";
import { Neighbors, neighborsQuery } from "../parts/request-neighbors.tsx";
import { Cell, Table } from "../parts/table.tsx";
import { Pairs } from "../parts/pairs.tsx";
import { Prose, RequestStatus, Time, UseLink } from "../parts/inline.tsx";
import type { ExplainedRequestView, RequestView } from "../views.ts";

type UpstreamView = NonNullable<ExplainedRequestView["upstream"]>;
type CostPartView = NonNullable<ExplainedRequestView["explanation"]["cost"]>["parts"][number];

export async function showRequest(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body: request } = await page.api("GET /api/organizations/{organization}/requests/{request}", {
    query: await neighborsQuery(page),
  });
  const { sentence, remedy, action } = request.explanation;
  return showPage(
    <Layout page={page} title="Request" section="requests">
      <Neighbors page={page} path={`${page.base}/requests`} request={request} />
      <p class={`notice ${isSuccess(request) ? "good" : "bad"}`}>
        {sentence}{" "}
        {action === null ? null : (
          <strong>
            <a href={action.path}>
              {page.canChange ? action.label : action.label.replace(/^(?:Change|Enable|Choose) /, "See ")}
            </a>
          </strong>
        )}
        {remedy === null ? null : (
          <span class="below">
            <Prose text={formatRemedy(remedy)} />
          </span>
        )}
      </p>
      <Facts page={page} request={request} />
      <RequestDetails request={request} />
    </Layout>,
  );
}

export function isSuccess({ status, error_code: code }: Pick<RequestView, "status" | "error_code">): boolean {
  return status !== null && status < 400 && code === null;
}

/** Timeline, cost and checks. */
export function RequestDetails({ request }: { request: ExplainedRequestView }) {
  return (
    <>
      <Timeline request={request} />
      <Cost request={request} />
      <Checks request={request} />
    </>
  );
}

function Facts({ page, request }: { page: OrganizationPageCall; request: ExplainedRequestView }) {
  const { upstream, requested_model: requested, session_id: session, pinned_by: pinnedBy } = request;
  const tags = Object.entries(request.tags).map(([name, value]) => `${name}=${value}`);
  const facts: Readonly<Record<string, Child>> = {
    status: <RequestStatus request={request} />,
    "request id": <code class="break">{request.id}</code>,
    time: <Time at={request.created_at} exact />,
    key: linkToOwner(page, request, "key"),
    user: linkToOwner(page, request, "user"),
    group: linkToOwner(page, request, "group"),
    route: request.route,
    model: <ModelName page={page} request={request} />,
    "requested model": requested === null ? null : <bdi>{requested}</bdi>,
    tags:
      tags.length === 0
        ? null
        : tags.map((tag, index) => (
            <>
              {index === 0 ? "" : ", "}
              <UseLink base={page.base} filter="tag" value={tag} />
            </>
          )),
    session: session === null ? null : <UseLink base={page.base} filter="session" value={session} />,
    "server chosen by": pinnedBy === null ? null : <code>{pinnedBy}</code>,
    upstream:
      upstream === null ? null : (
        <>
          <UseLink base={page.base} filter="upstream" value={upstream.name} />
          {describeUpstream(upstream)}
        </>
      ),
    "Envoy's details": upstream?.envoy_details ? <code class="break">{upstream.envoy_details}</code> : null,
  };
  return <Pairs facts={facts} />;
}

/** Links to the owner at admission. Deleted owners have no page, so the link leads to their requests. */
function linkToOwner(
  { base }: OrganizationPageCall,
  request: ExplainedRequestView,
  kind: "key" | OwnerKind,
): Child {
  const { [`${kind}_id` as const]: id, [`${kind}_name` as const]: name } = request;
  if (id === null) return null;
  const isDeleted = request[`${kind}_deleted`];
  return (
    <>
      <a href={isDeleted ? `${base}/requests?${kind}_id=${id}` : `${base}/${kind}s/${id}`}>
        <bdi>{name ?? id}</bdi>
      </a>
      {isDeleted ? <span class="quiet"> (deleted; these are its requests)</span> : null}
    </>
  );
}

function describeUpstream({ status, cause, envoy_details: details }: UpstreamView): string {
  const answer = status === null ? "no response" : `status ${status}`;
  return `, ${answer}${cause === null || details !== null ? "" : `: ${cause}`}`;
}

interface ModelNameProps {
  readonly page: OrganizationPageCall;
  readonly request: ExplainedRequestView;
}

function ModelName({ page, request }: ModelNameProps) {
  if (request.model !== null) return <UseLink base={page.base} filter="model" value={request.model} />;
  return (
    <span class="quiet">
      {request.requested_model === null ? "not read before the rejection" : "unknown"}
    </span>
  );
}

const COST_COLUMNS = [
  "part",
  { label: "tokens", kind: "number" },
  { label: "price per million", kind: "number" },
  { label: "cost", kind: "number" },
] as const;

function formatQuantity({ tokens, uses }: Pick<CostPartView, "tokens" | "uses">): string {
  if (uses !== null) return `${formatCount(uses)} uses`;
  return tokens === null ? "" : formatCount(tokens);
}

function Cost({ request }: { request: ExplainedRequestView }) {
  const { currency } = request;
  const { cost } = request.explanation;
  if (cost === null) return null;
  if (cost.parts.length === 0 && request.cost_microcents === 0) {
    return (
      <Section id="cost" title="Cost">
        <p>None: it used no tokens.</p>
      </Section>
    );
  }
  const amounts = alignDecimals([...cost.parts.map(({ amount }) => amount), cost.charged]);
  const prices = alignDecimals(cost.parts.map(({ price }) => price ?? ""));
  return (
    <Section id="cost" title="Cost">
      <Table label="Cost, table" columns={COST_COLUMNS} class="stack">
        {cost.parts.map((part, index) => (
          <tr>
            <th scope="row">{part.name}</th>
            <Cell label="tokens" kind="number">
              {formatQuantity(part)}
            </Cell>
            <Cell label="price per million" kind="number">
              {part.price === null
                ? ""
                : `× ${prices[index]} ${currency}${part.uses === null ? "" : " per thousand"}`}
            </Cell>
            <Cell label="cost" kind="number">
              = {amounts[index]} {currency}
            </Cell>
          </tr>
        ))}
        <tr>
          <th scope="row">charged</th>
          <Cell label="" />
          <Cell label="">{cost.sum === cost.charged ? "" : "rounded up"}</Cell>
          <Cell label="cost" kind="number">
            <strong>
              {amounts.at(-1)} {currency}
            </strong>
          </Cell>
        </tr>
      </Table>
      <p class="quiet">{describeCount(request)}</p>
    </Section>
  );
}

function describeCount(request: ExplainedRequestView): string {
  const { input_tokens: input, cached_input_tokens: cached, output_tokens: output } = request;
  if (input + cached + output === 0) return "It used no tokens.";
  const counted = request.estimated
    ? "The tokens are an estimate: the upstream reported no usable usage."
    : "Tokens as the upstream counted them.";
  return `${counted} Prices as they were when the request was admitted; rounded up once, on the sum.`;
}

function Checks({ request }: { request: ExplainedRequestView }) {
  const { checks } = request.explanation;
  if (checks.length === 0) return null;
  return (
    <Section id="checks" title="Checks, in their order">
      <ol class="checks">
        {checks.map((check) => (
          <li>
            <span class={`state ${check.passed ? "good" : "bad"}`}>
              {check.passed ? "passed" : "rejected here"}
            </span>{" "}
            <strong>{check.name}</strong>
            <span class="below">{check.text}</span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

type Moments = NonNullable<RequestView["timeline"]>;

/** Milestones in order. */
const STEPS: readonly { readonly moment: keyof Moments; readonly label: string; readonly kind: string }[] = [
  { moment: "body_ms", label: "body received", kind: "body" },
  { moment: "routed_ms", label: "sent to the upstream", kind: "recorded" },
  { moment: "upstream_ms", label: "upstream responded", kind: "upstream" },
  { moment: "first_token_ms", label: "first token", kind: "token" },
  { moment: "end_ms", label: "end", kind: "end" },
];

interface Step {
  readonly label: string;
  readonly kind: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Timeline of a request, drawn to scale. */
function Timeline({ request }: { request: Pick<RequestView, "timeline" | "upstream"> }) {
  const { timeline, upstream } = request;
  if (timeline === null) return null;
  const steps = listSteps(timeline);
  const total = Math.max(1, timeline.end_ms);
  const status = upstream?.status ?? null;
  return (
    <Section id="timeline" title="Timeline">
      <ol class="timeline card">
        <li>
          <span>admitted</span>
          <span class="number">0 ms</span>
          <span></span>
        </li>
        {steps.map(({ label, kind, fromMs, toMs }) => (
          <li>
            <span>
              {label}
              {kind === "upstream" && status !== null ? ` with ${status}` : ""}
            </span>
            <span class="number">{formatDuration(toMs)}</span>
            <svg viewBox="0 0 1000 12" preserveAspectRatio="none" class="bar" aria-hidden="true">
              <rect class="track" x="0" y="0" width="1000" height="12" />
              <rect
                class={kind}
                x={Math.min(996, Math.round((fromMs / total) * 1000))}
                y="0"
                width={Math.max(4, Math.round(((toMs - fromMs) / total) * 1000))}
                height="12"
              />
            </svg>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function listSteps(timeline: Moments): Step[] {
  let fromMs = 0;
  return STEPS.flatMap(({ moment, label, kind }) => {
    const toMs = timeline[moment];
    if (toMs === null) return [];
    const step = { label, kind, fromMs, toMs };
    fromMs = toMs;
    return [step];
  });
}
