/** @jsxImportSource hono/jsx */
/** One request: how it ended, its way, its cost, its checks. */
import { alignDecimals, formatCount } from "../../format.ts";
import { formatRemedy } from "../../../envoy-reasons/reason.ts";
import type { OwnerKind } from "../../../store/types/owner-kinds.ts";
import { fieldOfOwner } from "../owner-texts.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { Layout } from "../parts/layout.tsx";
import { sessionPath } from "../parts/request-filters.tsx";
import { RequestStatus } from "../parts/request-status.tsx";
import { Cell, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { Timeline } from "../parts/timeline.tsx";
import type { ExplainedRequestView } from "../views.ts";

type CostPartView = NonNullable<ExplainedRequestView["explanation"]["cost"]>["parts"][number];

const ONE = "/api/organizations/{organization}/requests/{request}";

export async function showRequest(page: OrganizationPageCall): Promise<PageAnswer> {
  const request = (await page.api(`GET ${ONE}`)).body;
  const { sentence, remedy, action } = request.explanation;
  const isGood = request.status !== null && request.status < 400 && request.error_code === null;
  return showPage(
    <Layout page={page} title="Request" section="requests">
      <p class={`notice ${isGood ? "good" : "bad"}`}>
        {sentence}{" "}
        {action === null ? null : (
          <strong>
            <a href={action.path}>{action.label}</a>
          </strong>
        )}
        {remedy === null ? null : <span class="below">{formatRemedy(remedy)}</span>}
      </p>
      <Facts page={page} request={request} />
      <Timeline request={request} />
      <Cost request={request} currency={page.organization.currency} />
      <Checks request={request} />
    </Layout>,
  );
}

function Facts({ page, request }: { page: OrganizationPageCall; request: ExplainedRequestView }) {
  const { upstream } = request;
  return (
    <dl class="pairs card">
      <Fact name="status">
        <RequestStatus request={request} />
      </Fact>
      <Fact name="request id">
        <code class="break">{request.id}</code>
      </Fact>
      <Fact name="time">
        <Time at={request.created_at} exact />
      </Fact>
      <Fact name="key">
        <KeyLink page={page} request={request} />
      </Fact>
      <OwnerFact page={page} request={request} kind="user" />
      <OwnerFact page={page} request={request} kind="group" />
      <Fact name="route">{request.route}</Fact>
      <Fact name="model">
        <ModelName request={request} />
      </Fact>
      {request.requested_model === null ? null : (
        <Fact name="asked for as">
          <bdi>{request.requested_model}</bdi>
        </Fact>
      )}
      {Object.keys(request.tags).length === 0 ? null : (
        <Fact name="tags">
          {Object.entries(request.tags)
            .map(([name, value]) => `${name}=${value}`)
            .join(", ")}
        </Fact>
      )}
      <SessionFact page={page} name={request.session_id} />
      {upstream === null ? null : (
        <Fact name="upstream">
          {upstream.name}, {upstream.status === null ? "no answer" : `status ${upstream.status}`}
          {upstream.cause === null || upstream.envoy_details !== null ? "" : `: ${upstream.cause}`}
        </Fact>
      )}
      {upstream === null || upstream.envoy_details === null ? null : (
        <Fact name="Envoy's words">
          <code class="break">{upstream.envoy_details}</code>
        </Fact>
      )}
    </dl>
  );
}

/** A deleted key has no page any more: what is left of it are its requests. */
function KeyLink({ page, request }: { page: OrganizationPageCall; request: ExplainedRequestView }) {
  const { base } = page;
  const { key_id: id, key_deleted: isDeleted } = request;
  return (
    <>
      <a href={isDeleted ? `${base}/requests?key_id=${id}` : `${base}/keys/${id}`}>
        <bdi>{request.key_name ?? id}</bdi>
      </a>
      {isDeleted ? <span class="quiet"> (deleted; these are its requests)</span> : null}
    </>
  );
}

interface OwnerFactProps {
  readonly page: OrganizationPageCall;
  readonly request: ExplainedRequestView;
  readonly kind: OwnerKind;
}

/** Whose it was when it was admitted. As of keys: of a deleted one its requests are left. */
function OwnerFact({ page: { base }, request, kind }: OwnerFactProps) {
  const { [`${kind}_id` as const]: id, [`${kind}_name` as const]: name } = request;
  if (id === null) return null;
  const isDeleted = request[`${kind}_deleted`];
  return (
    <Fact name={kind}>
      <a href={isDeleted ? `${base}/requests?${fieldOfOwner(kind)}=${id}` : `${base}/${kind}s/${id}`}>
        <bdi>{name ?? id}</bdi>
      </a>
      {isDeleted ? <span class="quiet"> (deleted; these are its requests)</span> : null}
    </Fact>
  );
}

/** It leads to all of its requests. */
function SessionFact({ page: { base }, name }: { page: OrganizationPageCall; name: string | null }) {
  if (name === null) return null;
  return (
    <Fact name="session">
      <a href={sessionPath(base, name)}>{name}</a>
    </Fact>
  );
}

function ModelName({ request }: { request: ExplainedRequestView }) {
  if (request.model !== null) return <bdi>{request.model}</bdi>;
  return (
    <span class="quiet">
      {request.requested_model === null ? "not known when it was refused" : "none of that name"}
    </span>
  );
}

function Fact({ name, children }: { name: string; children?: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="break">{children}</dd>
    </div>
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

function Cost({ request, currency }: { request: ExplainedRequestView; currency: string }) {
  const { cost } = request.explanation;
  if (cost === null) return null;
  if (cost.parts.length === 0 && request.cost_microcents === 0) {
    return (
      <section aria-labelledby="cost">
        <h2 id="cost">Cost</h2>
        <p>None: it used no tokens.</p>
      </section>
    );
  }
  const amounts = alignDecimals([...cost.parts.map(({ amount }) => amount), cost.charged]);
  const prices = alignDecimals(cost.parts.map(({ price }) => price ?? ""));
  return (
    <section aria-labelledby="cost">
      <h2 id="cost">Cost</h2>
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
    </section>
  );
}

function describeCount(request: ExplainedRequestView): string {
  const { input_tokens: input, cached_input_tokens: cached, output_tokens: output } = request;
  if (input + cached + output === 0) return "It used no tokens.";
  const counted = request.estimated
    ? "The tokens are an estimate: the upstream told no usable usage."
    : "Tokens as the upstream counted them.";
  return `${counted} Prices as they were when the request was admitted; rounded up once, on the sum.`;
}

function Checks({ request }: { request: ExplainedRequestView }) {
  const { checks } = request.explanation;
  if (checks.length === 0) return null;
  return (
    <section aria-labelledby="checks">
      <h2 id="checks">Checks, in their order</h2>
      <ol class="checks">
        {checks.map((check) => (
          <li>
            <span class={`state ${check.passed ? "good" : "bad"}`}>
              {check.passed ? "passed" : "refused here"}
            </span>{" "}
            <strong>{check.name}</strong>
            <span class="below">{check.text}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
