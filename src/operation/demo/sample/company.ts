/** People, groups and API keys of the invented company. */
import type { Random } from "./random.ts";

export const COMPANY_NAME = "Northwind Traders";
export const GROUPS = ["Platform", "Search", "Support", "Research"] as const;

const FIRST_NAMES = ["Anna", "Bilal", "Chen", "Dora", "Emil", "Fatima", "Goran", "Hana", "Ivo", "Jun"];
const LAST_NAMES = ["Berg", "Costa", "Dunn", "Eklund", "Farah", "Gupta"];
const USES = ["laptop", "agent", "notebook", "evals", "scripts"];
const KEYS_PER_USER = 5;
const MIN_USERS = 6;
const MAX_USERS = 1_000;

export interface SampleUser {
  readonly name: string;
  readonly email: string;
  /** Position in `GROUPS`; null: none. */
  readonly group: number | null;
}

export interface SampleKey {
  readonly name: string;
  readonly note: string | null;
  /** Position among the users; null: a key without a user. */
  readonly user: number | null;
  /** Position in `GROUPS`; null: the user's. */
  readonly group: number | null;
  /** Value of the tag `feature`; null: no tags. */
  readonly feature: string | null;
  /** Requests name a session, as those of agents do. */
  readonly hasSessions: boolean;
}

/** Keys of every company, in order of their number of requests. */
const SERVICES: readonly SampleKey[] = [
  service("production-api", 0, "checkout", "Shop and apps"),
  service("support-assistant", 2, "chat", "Chat on the help pages"),
  service("search-ranking", 1, "ranking", null),
  { ...service("ci", 0, "review", "Reviews pull requests"), hasSessions: true },
  service("nightly-evaluations", 3, null, null),
  { ...service("anna-agent", null, "coding", null), user: 0, hasSessions: true },
  { ...service("bilal-notebook", null, null, "Disabled until the audit ends"), user: 1 },
  service("the old mobile app, to be switched off in spring", null, null, null),
];

function service(name: string, group: number | null, feature: string | null, note: string | null): SampleKey {
  return { name, note, group, feature, user: null, hasSessions: false };
}

export function listUsers(keys: number): readonly SampleUser[] {
  const count = Math.min(MAX_USERS, Math.max(MIN_USERS, Math.round(keys / KEYS_PER_USER)));
  return Array.from({ length: count }, (_, position) => {
    const first = at(FIRST_NAMES, position);
    const last = at(LAST_NAMES, Math.floor(position / FIRST_NAMES.length));
    const round = Math.floor(position / (FIRST_NAMES.length * LAST_NAMES.length));
    const name = `${first} ${last}${round === 0 ? "" : ` ${round + 1}`}`;
    const email = `${name.toLowerCase().replaceAll(" ", ".")}@northwind.example`;
    return { name, email, group: position % 6 === 5 ? null : position % GROUPS.length };
  });
}

export function listKeys(count: number, users: readonly SampleUser[], random: Random): readonly SampleKey[] {
  const appKeys = Array.from({ length: Math.max(0, count - SERVICES.length) }, (_, index): SampleKey => {
    const user = index % users.length;
    const [first = ""] = (users[user]?.name ?? "").toLowerCase().split(" ");
    const use = at(USES, Math.floor(random() * USES.length));
    return {
      ...service(`${first}-${use}-${index + 1}`, null, random() < 0.5 ? "coding" : null, null),
      user,
      hasSessions: use === "agent",
    };
  });
  return [...SERVICES, ...appKeys].slice(0, count);
}

function at<Item>(items: readonly Item[], position: number): Item {
  return items[position % items.length] as Item;
}
