/** @jsxImportSource hono/jsx */
import { describeState } from "../../../settings/state.ts";
import type { KeyView, OrganizationView } from "../views.ts";

const LEVELS = { good: "good", warning: "warn", bad: "bad", off: "off" } as const;

/** Why requests of a key, of an organization or of a user's keys are refused, or that they are not. */
export function State({ state }: { state: KeyView["state"] | OrganizationView["state"] }) {
  const { words, level } = describeState(state);
  return <span class={`state ${LEVELS[level]}`}>{words}</span>;
}
