/** Shared parts of the pages of users and groups. */
import { formatCountOf, formatSumMoney } from "../../format.ts";
import type { OwnerKind } from "../../../../shared/stored/owner-kinds.ts";
import { fieldOfOwner } from "../owner-texts.ts";
import type { OrganizationPageCall } from "../page.ts";
import type { KeyPageView, KeyView } from "../views.ts";
import { KeyName, State } from "./inline.tsx";
import { Check, ConfirmedForm } from "./fields.tsx";
import { NO_PROBLEMS } from "../form.ts";
import { Section } from "./layout.tsx";
import { RowTable, type RowTableColumns } from "./table.tsx";

const SHOWN_KEYS = "20";

/** Reads the first keys of a user or a group. */
export async function readKeysOf(
  page: OrganizationPageCall,
  kind: OwnerKind,
  id: string,
): Promise<KeyPageView> {
  const query = { [fieldOfOwner(kind)]: id, limit: SHOWN_KEYS };
  const { body } = await page.api("GET /api/organizations/{organization}/keys", { query });
  return body;
}

interface OwnedKeysProps {
  readonly page: OrganizationPageCall;
  readonly keys: KeyPageView;
  readonly owner: { readonly kind: OwnerKind; readonly id: string };
  /** Text without keys. */
  readonly empty: string;
}

export function OwnedKeys({ page, keys, owner, empty }: OwnedKeysProps) {
  const { base, canChange } = page;
  const owned = `${fieldOfOwner(owner.kind)}=${owner.id}`;
  return (
    <Section id="keys" title="API keys">
      <RowTable label="Its keys" class="list" columns={keyColumns(page)} rows={keys.data} empty={empty} />
      {keys.has_more ? (
        <p>
          <a href={`${base}/keys?${owned}`}>All API keys that count for it</a>
        </p>
      ) : null}
      {canChange ? (
        <p>
          <a class="button quiet" href={`${base}/keys/new?${owned}`}>
            Create an API key
          </a>
        </p>
      ) : null}
    </Section>
  );
}

function keyColumns({ base, organization: { currency } }: OrganizationPageCall): RowTableColumns<KeyView> {
  return [
    {
      label: "name",
      cell: (key) => <KeyName base={base} apiKey={key} />,
    },
    { label: "state", cell: ({ state }) => <State state={state} /> },
    {
      label: "spent this month",
      short: "spent",
      kind: "number",
      cell: ({ spent_microcents: spent }) => formatSumMoney(spent, currency),
    },
  ];
}

interface DeletionProps {
  readonly page: OrganizationPageCall;
  readonly kind: "user" | "group";
  readonly owner: { readonly name: string; readonly key_count: number };
  /** Path of its page. */
  readonly path: string;
}

/** Deletion of a user or a group, with its keys or without. */
export function OwnerDeletion({ page, kind, owner, path }: DeletionProps) {
  const { name, key_count: keyCount } = owner;
  return (
    <Section class="card" id="delete" title="Delete">
      <p>
        Permanent. {kind === "group" ? "Its users stay. " : ""}
        {keyCount === 0
          ? "It has no keys."
          : `Its ${keyCount === 1 ? "key continues" : `${formatCountOf(keyCount, "key")} continue`} without it.`}{" "}
        Its spend stays in the usage.
      </p>
      <ConfirmedForm
        page={page}
        action={`${path}/delete`}
        confirm={`Delete the ${kind} "${name}"? This cannot be undone.`}
        button="Delete"
      >
        {keyCount === 0 ? null : (
          <Check
            name="keys"
            label="Also delete its keys"
            checked={false}
            problems={NO_PROBLEMS}
            hint="Requests with them return 401 at once."
          />
        )}
      </ConfirmedForm>
    </Section>
  );
}
