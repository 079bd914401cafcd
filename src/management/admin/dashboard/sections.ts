/** Sections of an organization's pages, in navigation order. */
export const SECTIONS = [
  { section: "overview", path: "", label: "Overview", group: "Spend" },
  { section: "usage", path: "/usage", label: "Usage", group: "Spend" },
  { section: "alerts", path: "/alerts", label: "Alerts", group: "Spend" },
  { section: "keys", path: "/keys", label: "API keys", group: "Access" },
  { section: "users", path: "/users", label: "Users", group: "Access" },
  { section: "groups", path: "/groups", label: "Groups", group: "Access" },
  { section: "tokens", path: "/tokens", label: "Tokens", group: "Access" },
  { section: "sessions", path: "/sessions", label: "Sessions", group: "Access" },
  { section: "requests", path: "/requests", label: "Requests", group: "Traffic" },
  { section: "models", path: "/models", label: "Models", group: "Traffic" },
  { section: "try", path: "/try", label: "Try it", group: "Traffic" },
  { section: "settings", path: "/settings", label: "Inference settings", group: "Settings" },
  { section: "audit", path: "/audit", label: "Audit log", group: "Settings" },
] as const;

/** Sections of an operator's pages, with their whole paths. */
export const OPERATOR_SECTIONS = [
  { section: "organizations", path: "/organizations", label: "Organizations", group: "Operator" },
  { section: "spend", path: "/organizations/spend", label: "Spend by organization", group: "Operator" },
  { section: "system", path: "/system", label: "System", group: "Operator" },
] as const;

/** Returns a section's path below the organization's; the overview's for an unknown section. */
export function sectionPath(section: string | null): string {
  return SECTIONS.find((entry) => entry.section === section)?.path ?? "";
}
