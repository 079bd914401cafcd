/** @jsxImportSource hono/jsx */
import type { PageCall } from "../page.ts";
import { Form } from "./fields.tsx";

interface RowEnd {
  readonly action: string;
  /** Asked before it is sent. */
  readonly confirm: string;
  readonly button: string;
  /** For who hears the page: the button of which row it is. */
  readonly label: string;
}

/** A list's last column, for who may: a button that ends what the row is about. */
export function endColumn<Row>(page: PageCall, endOf: (row: Row) => RowEnd) {
  const cell = (row: Row) => {
    const { action, confirm, button, label } = endOf(row);
    return (
      <Form page={page} action={action} confirm={confirm}>
        <button type="submit" class="danger" aria-label={label}>
          {button}
        </button>
      </Form>
    );
  };
  return page.canChange ? [{ label: "end", cell }] : [];
}
