import type { FormValues } from "../form.ts";
import type { PageCall } from "../page.ts";
import { Prose } from "../parts/inline.tsx";
import { Layout } from "../parts/layout.tsx";
import { type ErrorEntry, listApiErrors, listManagementErrors } from "../../error-entries.ts";
import { Cell, Table } from "../parts/table.tsx";

interface ProblemProps {
  readonly page: PageCall | null;
  readonly title: string;
  readonly message: string;
  readonly requestId: string | null;
  /** Page to open again, or form to send again, if a retry may work. */
  readonly again?: { readonly path: string; readonly form: FormValues | null } | null;
}

/** Error page with instructions. */
export function ProblemPage({ page, title, message, requestId, again = null }: ProblemProps) {
  return (
    <Layout page={page} title={title}>
      <p class="notice bad" role="alert">
        {message}
      </p>
      {again === null ? null : <Again {...again} />}
      <p>
        <a href="/">Go to the start page</a>
      </p>
      {requestId === null ? null : <p class="quiet">Request {requestId}</p>}
    </Layout>
  );
}

function Again({ path, form }: { path: string; form: FormValues | null }) {
  if (form === null) {
    return (
      <p>
        You stay signed in. <a href={path}>Open this page again</a>
      </p>
    );
  }
  return (
    <form method="post" action={path} class="card">
      <p>Nothing was changed. You stay signed in, and what you typed is kept in this page.</p>
      {[...form].map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button type="submit" class="primary">
        Send it again
      </button>
    </form>
  );
}

/** Error reference without sign-in: the target of an error's `doc_url` if no documentation is published. */
export function ErrorsPage() {
  return (
    <Layout page={null} title="Errors">
      <p>
        Branch on <code>error.code</code> in your program; the message names the API key, amount or field.
        Retry “yes” means after the time in <code>Retry-After</code>, “later” after the remedy or the end of
        the period.
      </p>
      <h2>API</h2>
      <Entries label="Errors of the API" entries={listApiErrors()} />
      <h2>Management API</h2>
      <Entries label="Errors of the management API" entries={listManagementErrors()} />
    </Layout>
  );
}

function Entries({ label, entries }: { label: string; entries: readonly ErrorEntry[] }) {
  return (
    <Table label={label} class="stack" columns={["Code", "Status", "Meaning", "Remedy", "Retry"]}>
      {entries.map(({ id, code, status, meaning, remedy, retry }) => (
        <tr id={id}>
          <Cell label="Code">
            <code>{code}</code>
          </Cell>
          <Cell label="Status">{status}</Cell>
          <Cell label="Meaning">
            <Prose text={meaning} />
          </Cell>
          <Cell label="Remedy">
            <Prose text={remedy} />
          </Cell>
          <Cell label="Retry">{retry}</Cell>
        </tr>
      ))}
    </Table>
  );
}
