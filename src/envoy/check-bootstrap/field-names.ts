/** Converts a field's name to camelCase; Envoy accepts both spellings. */
export function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
