import { type ErrorEntry, listApiErrors, listManagementErrors } from "../../error-entries.ts";
import { Layout } from "../parts/layout.tsx";
import { Cell, Table } from "../parts/table.tsx";

/** The error reference, for everybody: where `doc_url` of an error leads if no documentation is published. */
export function ErrorsPage() {
  return (
    <Layout page={null} title="Errors">
      <p>
        Decide by <code>error.code</code>; the message names the API key, amount or field. Retry: yes, after
        the time in <code>Retry-After</code>; later, once the remedy is done or a period has ended; or no.
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
          <Cell label="Meaning">{meaning}</Cell>
          <Cell label="Remedy">{remedy}</Cell>
          <Cell label="Retry">{retry}</Cell>
        </tr>
      ))}
    </Table>
  );
}
