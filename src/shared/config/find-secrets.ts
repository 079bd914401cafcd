import { Secret } from "./secret.ts";

/** Lists every secret in a configuration or a part of one. */
export function findSecrets(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((member) => findSecrets(member));
}
