/**
 * Explanations of why a request ended. Envoy gives one word, a response flag or the details of its response
 * code; each has a row with what happened, who must act, and what to do.
 */

/** Roles that must act, for people. */
const ACTORS = {
  client: "the API's caller",
  upstream: "the operator of the model server",
  operator: "the gateway's operator",
  gateway: "no one at first, because the gateway recovers by itself",
} as const;

export type Actor = keyof typeof ACTORS;

export interface Reason {
  /** Side on which the request broke off; null: it did not break off. */
  readonly brokenBy: "client" | "upstream" | "gateway" | null;
  /** Sentence about what happened, without its full stop. `{upstream}` stands for the upstream's name. */
  readonly text: string;
  readonly actor: Actor;
  /** Instructions for the actor, in whole sentences. */
  readonly todo: string;
}

/** Creates a row of the tables. */
export function reason(brokenBy: Reason["brokenBy"], text: string, actor: Actor, todo: string): Reason {
  return { brokenBy, text, actor, todo };
}

/**
 * Formats "the upstream local refused the connection"; with null, for a request without an upstream: "the
 * upstream refused …".
 */
export function describeReason({ text }: Pick<Reason, "text">, upstream: string | null): string {
  return text.replaceAll("{upstream}", upstream === null ? "the upstream" : `the upstream ${upstream}`);
}

/** Formats "For the gateway's operator: Start the model server." */
export function formatRemedy({ actor, todo }: Pick<Reason, "actor" | "todo">): string {
  return `For ${ACTORS[actor]}: ${todo}`;
}
