/** @jsxImportSource hono/jsx */
/** One API key: its limits, rotation, end. */
import { nameTokenType } from "../../../settings/token-limits.ts";
import { NO_PROBLEMS, type Problems, pickChanges, readBody } from "../form.ts";
import { formatCount, formatCountOf, formatLimit, formatMoney } from "../../format.ts";
import { resolveOwners } from "../owner-texts.ts";
import { type OrganizationPageCall, type PageAnswer, showPage } from "../page.ts";
import { OwnerLink } from "../parts/owners.tsx";
import { askFirst, isSure } from "../parts/confirmation.tsx";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { KeyActions } from "../parts/key-actions.tsx";
import { readLimits } from "../parts/limits.tsx";
import { OwnerLimits } from "../parts/owner-limits.tsx";
import { Layout } from "../parts/layout.tsx";
import { State } from "../parts/state.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { Time } from "../parts/time.tsx";
import { createRaiseActions, RAISE_FIELDS } from "../raise-form.ts";
import {
  KEY_FORM,
  listProblemFields,
  readSettings,
  type SettingTexts,
  textsOf,
  textsOfForm,
} from "../setting-form.ts";
import { requestRateOf } from "../request-rate.ts";
import { spendingOf } from "../spending.ts";
import { submit } from "../submit.ts";
import type { KeyView } from "../views.ts";
import { NewKey } from "./key-creation.tsx";

const ONE = "/api/organizations/{organization}/keys/{key}";

export async function showKey(page: OrganizationPageCall): Promise<PageAnswer> {
  const { key, etag } = await readKey(page);
  return renderKey(page, key, { texts: textsOf(KEY_FORM, key), problems: NO_PROBLEMS, etag });
}

export async function changeKey(page: OrganizationPageCall): Promise<PageAnswer> {
  const { key, etag } = await readKey(page);
  return submit({
    send: async () => {
      await page.api(`PATCH ${ONE}`, {
        body: pickChanges(await resolveOwners(page.api, readSettings(KEY_FORM, page.form, key)), key),
        ifMatch: page.form.text("etag"),
      });
      return { redirect: `${pathOf(page)}?done=saved` };
    },
    refused: (problems) => {
      const texts = textsOfForm(KEY_FORM, page.form);
      return renderKey(page, key, { texts, problems, etag: page.form.text("etag") });
    },
    outdated: () => {
      const message = "Somebody else has changed this key meanwhile. The fields show it as it is now.";
      return renderKey(page, key, {
        texts: textsOf(KEY_FORM, key),
        problems: new Map([["", message]]),
        etag,
      });
    },
  });
}

/** Disables or enables. */
export function setKeyDisabled(disabled: boolean): (page: OrganizationPageCall) => Promise<PageAnswer> {
  return async (page) => {
    await page.api(`PATCH ${ONE}`, { body: { disabled } });
    return { redirect: `${pathOf(page)}?done=${disabled ? "disabled" : "enabled"}` };
  };
}

export async function rotateKey(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body } = await page.api(`POST ${ONE}/rotate`, {
    body: readBody(page.form, { grace_seconds: "default" }),
  });
  return showPage(<NewKey page={page} created={body} title="The key's new secret" />);
}

export async function deleteKey(page: OrganizationPageCall): Promise<PageAnswer> {
  const path = `${page.base}/keys`;
  if (page.canChange && !isSure(page)) {
    const { key } = await readKey(page);
    const text = `Delete the API key "${key.name}"? This cannot be undone.`;
    return askFirst(page, {
      title: "Delete a key",
      section: "keys",
      text,
      answer: "Delete",
      back: pathOf(page),
    });
  }
  await page.api(`DELETE ${ONE}`);
  return { redirect: `${path}?done=deleted` };
}

export async function revokeAllKeys(page: OrganizationPageCall): Promise<PageAnswer> {
  const path = `${page.base}/keys`;
  if (!isSure(page)) return { redirect: path };
  await page.api("POST /api/organizations/{organization}/keys/revoke-all");
  return { redirect: `${path}?done=revoked` };
}

export const { createRaise: raiseKey, deleteRaise: deleteKeyRaise } = createRaiseActions({
  scope: "key",
  pathOf,
  render: async (page, problems) => {
    const { key, etag } = await readKey(page);
    return renderKey(page, key, { texts: textsOf(KEY_FORM, key), problems, etag });
  },
});

async function readKey(page: OrganizationPageCall): Promise<{ key: KeyView; etag: string }> {
  const { body, headers } = await page.api(`GET ${ONE}`);
  return { key: body, etag: headers?.["etag"] ?? "*" };
}

function pathOf(page: OrganizationPageCall): string {
  return `${page.base}/keys/${page.params["key"] ?? ""}`;
}

interface FormState {
  readonly texts: SettingTexts;
  readonly problems: Problems;
  /** The version that the fields began from. */
  readonly etag: string;
}

async function renderKey(page: OrganizationPageCall, key: KeyView, state: FormState): Promise<PageAnswer> {
  const [{ body }, limits] = await Promise.all([page.api("GET /api/catalog"), readLimits(page, "key")]);
  const { currency } = page.organization;
  return showPage(
    <Layout
      page={page}
      title={`API key ${key.name}`}
      heading={
        <>
          API key <bdi>{key.name}</bdi>
        </>
      }
      section="keys"
    >
      <KeySummary page={page} apiKey={key} />
      <ProblemSummary problems={state.problems} fields={[...listProblemFields(KEY_FORM), ...RAISE_FIELDS]} />
      <OwnerLimits
        page={page}
        scope="key"
        path={pathOf(page)}
        raises={key.raises}
        limits={limits}
        problems={state.problems}
      />
      <section aria-labelledby="settings">
        <h2 id="settings">Settings</h2>
        <Form page={page} action={pathOf(page)} class="card">
          <input type="hidden" name="etag" value={state.etag} />
          <SettingFields
            settings={KEY_FORM}
            texts={state.texts}
            problems={state.problems}
            currency={currency}
            catalog={body}
            base={page.base}
            disabled={!page.canChange}
          />
          {page.canChange ? <button type="submit">Save</button> : null}
        </Form>
      </section>
      {page.canChange ? <KeyActions page={page} apiKey={key} path={pathOf(page)} /> : null}
    </Layout>,
    state.problems.size === 0 ? 200 : 400,
  );
}

/** "10,000 input tokens per minute; 2,500 left now, full in 45 s" */
function describeTokens({
  type,
  limit,
  remaining,
  full_in_seconds: seconds,
}: KeyView["token_buckets"][number]): string {
  const full = seconds === 0 ? "" : `, full in ${formatCount(seconds)} s`;
  return `${formatCount(limit)} ${nameTokenType(type)} per minute; ${formatCount(remaining)} left now${full}`;
}

function KeySummary({ page, apiKey }: { page: OrganizationPageCall; apiKey: KeyView }) {
  const { currency } = page.organization;
  const spending = spendingOf(apiKey);
  const rate = requestRateOf(apiKey);
  return (
    <div class="card">
      <p>
        <State state={apiKey.state} /> <span class="code">{apiKey.display}</span>, made{" "}
        <Time at={apiKey.created_at} />
      </p>
      <p>
        {formatMoney(spending.spentMicrocents, currency)} spent this month, hard cap{" "}
        {formatLimit(spending.monthCapCents, currency)}, budget{" "}
        {formatLimit(spending.monthBudgetCents, currency)}
      </p>
      <p>
        {formatCountOf(rate.perMinute, "request")} per minute, burst {formatCount(rate.burst)};{" "}
        {formatCount(rate.left)} left now
      </p>
      {apiKey.token_buckets.map((bucket) => (
        <p key={bucket.type}>{describeTokens(bucket)}</p>
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
          The key before the last rotation works until <Time at={apiKey.former_key_until} />.
        </p>
      )}
      <p class="quiet">
        Id <code>{apiKey.id}</code>
      </p>
    </div>
  );
}
