/** What needs somebody, with the page where it is settled. */
export interface Attention {
  readonly level: "bad" | "warn";
  readonly text: string;
  readonly label: string;
  readonly path: string;
}
