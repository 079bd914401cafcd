/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";

/** `number`: set to the right. `wide`: a column that a bar is drawn in. */
export type Column = string | { readonly label: string; readonly kind: "number" | "wide" };

interface TableProps {
  /** For who hears the page. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly class?: string;
  /** The rows. */
  readonly children?: Child;
}

interface CellProps {
  /** Its column, which stands before it where rows are stacked. */
  readonly label: string;
  readonly kind?: "number" | "wide";
  readonly title?: string;
  readonly children?: Child;
}

/** A cell of a table of the class `stack`: on a phone each row is a card, and nothing of it is hidden. */
export function Cell({ label, kind, title, children }: CellProps) {
  return (
    <td class={kind} data-label={label} title={title}>
      <span>{children}</span>
    </td>
  );
}

/** The columns of `NumberCells`. */
export function numberColumns<Label extends string>(
  labels: readonly Label[],
): readonly { readonly label: Label; readonly kind: "number" }[] {
  return labels.map((label) => ({ label, kind: "number" }));
}

/** A run of figures, each with its column's label, in the columns' order. */
export function NumberCells({ figures }: { figures: Readonly<Record<string, string>> }) {
  return (
    <>
      {Object.entries(figures).map(([label, text]) => (
        <Cell label={label} kind="number">
          {text}
        </Cell>
      ))}
    </>
  );
}

/** A table that scrolls sideways by itself where the screen is too narrow, with the keyboard too. */
export function Table({ label, columns, class: className, children }: TableProps) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={label}>
      <table class={className}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={typeof column === "string" ? undefined : column.kind}>
                {typeof column === "string" ? column : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
