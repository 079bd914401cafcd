/** Sections of an organization's pages, in navigation order. */
export const SECTIONS = [
  { section: "overview", path: "", label: "Overview" },
  { section: "keys", path: "/keys", label: "API keys" },
  { section: "users", path: "/users", label: "Users" },
  { section: "groups", path: "/groups", label: "Groups" },
  { section: "settings", path: "/settings", label: "Inference settings" },
  { section: "usage", path: "/usage", label: "Usage" },
  { section: "requests", path: "/requests", label: "Requests" },
  { section: "alerts", path: "/alerts", label: "Alerts" },
  { section: "audit", path: "/audit", label: "Audit log" },
  { section: "tokens", path: "/tokens", label: "Tokens" },
  { section: "sessions", path: "/sessions", label: "Sessions" },
  { section: "models", path: "/models", label: "Models" },
  { section: "try", path: "/try", label: "Try it" },
] as const;

/** Returns a section's path below the organization's; the overview's for an unknown section. */
export function sectionPath(section: string | null): string {
  return SECTIONS.find((entry) => entry.section === section)?.path ?? "";
}
