/** Page of one API key: limits, rotation, deletion. */
import { ROTATION_GRACE_SECONDS } from "../../../../shared/settings/key.ts";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import { nameTokenType } from "../../../../shared/settings/token-limits.ts";
import { amountText, formatCount, formatCountOf, formatMoney } from "../../format.ts";
import { NO_PROBLEMS, readBody } from "../form.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { ConfirmedForm, Form, Select } from "../parts/fields.tsx";
import { OwnerLink, State, Time } from "../parts/inline.tsx";
import { Section } from "../parts/layout.tsx";
import { KEY_FORM } from "../setting-form.ts";
import type { KeyView } from "../views.ts";
import { NewKey } from "./key-creation.tsx";
import { createDisabledRoutes, createOwnerRoutes, DisabledSwitch, ownerPath } from "./owner-page.tsx";

export const keyRoutes: readonly PageRoute[] = [
  ...createOwnerRoutes({
    scope: "key",
    title: "API key",
    settings: KEY_FORM,
    deleted: "deleted",
    read: (page) => page.api("GET /api/organizations/{organization}/keys/{key}"),
    describe: (page, key) => <KeySummary page={page} apiKey={key} />,
    showActions: (page, key) => <KeyActions page={page} apiKey={key} />,
  }),
  ...createDisabledRoutes("key", { disable: "disabled", enable: "enabled" }),
  { method: "POST", path: "/organizations/:organization/keys/:key/rotate", runInOrganization: rotateKey },
];

async function rotateKey(page: OrganizationPageCall): Promise<PageAnswer> {
  const body = readBody(page.form, { grace_seconds: "default" });
  const answer = await page.api("POST /api/organizations/{organization}/keys/{key}/rotate", { body });
  return showPage(<NewKey page={page} created={answer.body} title="The key's new secret" />);
}

const GRACE_CHOICES = [
  { value: "0", label: "ends at once" },
  { value: "3600", label: "works for an hour" },
  { value: "86400", label: "works for a day" },
  { value: "604800", label: "works for a week" },
  { value: "2592000", label: "works for 30 days" },
];

/** Actions on a key besides its limits. */
function KeyActions({ page, apiKey }: { page: OrganizationPageCall; apiKey: KeyView }) {
  const path = ownerPath(page, "key");
  return (
    <div class="columns">
      <Section class="card" id="rotate" title="Rotate">
        <p>Gives the key a new secret. Id, limits and spend stay.</p>
        <Form page={page} action={`${path}/rotate`}>
          <Select
            name="grace_seconds"
            label="The previous key"
            value={String(ROTATION_GRACE_SECONDS)}
            problems={NO_PROBLEMS}
            choices={GRACE_CHOICES}
          />
          <button type="submit">Rotate</button>
        </Form>
      </Section>
      <DisabledSwitch
        page={page}
        path={path}
        isDisabled={apiKey.disabled}
        meaning="Requests with this key return 403"
      />
      <Section class="card" id="delete" title="Delete">
        <p>Permanent: requests with the API key return 401 at once. Its spend stays in the usage.</p>
        <ConfirmedForm
          page={page}
          action={`${path}/delete`}
          confirm={`Delete the API key "${apiKey.name}"? This cannot be undone.`}
          button="Delete"
        />
      </Section>
    </div>
  );
}

/** Formats "10,000 input tokens per minute; 2,500 left now, full in 45 s". */
function describeTokens(bucket: KeyView["token_buckets"][number]): string {
  const { type, limit, remaining, full_in_seconds: seconds } = bucket;
  const full = seconds === 0 ? "" : `, full in ${formatCount(seconds)} s`;
  return `${formatCount(limit)} ${nameTokenType(type, limit)} per minute; ${formatCount(remaining)} left now${full}`;
}

function KeySummary({ page, apiKey }: { page: OrganizationPageCall; apiKey: KeyView }) {
  const { currency } = page.organization;
  const { requests_per_minute: perMinute, bucket } = apiKey;
  return (
    <div class="card">
      <p>
        <State state={apiKey.state} /> <span class="code">{apiKey.display}</span>, created{" "}
        <Time at={apiKey.created_at} />
      </p>
      <p>
        {formatMoney(apiKey.spent_microcents, currency)} spent this month; limits:{" "}
        {apiKey.limits.map((limit) => `${labelLimit(limit)} ${amountText(limit.cents)}`).join(", ") || "none"}
      </p>
      <p>
        {formatCountOf(perMinute, "request")} per minute, burst {formatCount(bucket.capacity)};{" "}
        {formatCount(bucket.remaining)} left now
      </p>
      {apiKey.token_buckets.map((tokens) => (
        <p key={tokens.type}>{describeTokens(tokens)}</p>
      ))}
      {apiKey.user === null && apiKey.group === null ? null : (
        <p>
          {apiKey.user === null ? null : (
            <>
              User <OwnerLink base={page.base} kind="users" owner={apiKey.user} />
            </>
          )}
          {apiKey.user === null || apiKey.group === null ? null : ", "}
          {apiKey.group === null ? null : (
            <>
              group <OwnerLink base={page.base} kind="groups" owner={apiKey.group} />
              {apiKey.group_id === null ? " of its user" : ""}
            </>
          )}
        </p>
      )}
      {apiKey.former_key_until === null ? null : (
        <p>
          The previous secret works until <Time at={apiKey.former_key_until} />.
        </p>
      )}
      <p class="quiet">
        Id <code>{apiKey.id}</code>
      </p>
    </div>
  );
}
