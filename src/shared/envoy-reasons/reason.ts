/**
 * Envoy says in one word why a request ended as it did: a response flag, or the details of its response code. Here each
 * of these words has what a person needs instead: what happened, who must act, and what that one does.
 */

/** Who has to do something, as people read it. */
const ACTORS = {
  client: "the API's caller",
  upstream: "the operator of the model server",
  operator: "the gateway's operator",
  gateway: "no one at first: the gateway recovers by itself",
} as const;

export type Actor = keyof typeof ACTORS;

export interface Reason {
  /** On whose side the request broke off; null: it did not break off by this. */
  readonly brokenBy: "client" | "upstream" | "gateway" | null;
  /** What happened: one sentence without its full stop. `{upstream}` stands for the upstream's name. */
  readonly says: string;
  readonly actor: Actor;
  /** What the actor does about it: whole sentences. */
  readonly todo: string;
}

/** A row of the tables. */
export function reason(brokenBy: Reason["brokenBy"], says: string, actor: Actor, todo: string): Reason {
  return { brokenBy, says, actor, todo };
}

/** "the upstream local refused the connection"; with null for a request that went to no upstream: "the upstream refused …" */
export function sayReason({ says }: Pick<Reason, "says">, upstream: string | null): string {
  return says.replaceAll("{upstream}", upstream === null ? "the upstream" : `the upstream ${upstream}`);
}

/** "For the gateway's operator: Start the model server." */
export function formatRemedy({ actor, todo }: Pick<Reason, "actor" | "todo">): string {
  return `For ${ACTORS[actor]}: ${todo}`;
}
