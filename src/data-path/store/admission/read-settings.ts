/** The settings that an admission tells, read by their tables. */
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import type { AdmittedOf, StoredSettings } from "../../../shared/settings/setting.ts";
import { admittedRows } from "../../../shared/settings/table.ts";
import { setBounded } from "../../../shared/collections/set-bounded.ts";
import { parseArray, textAt } from "../redis/parse-reply.ts";
import { ADMITTED_AT } from "../redis/reply-layouts.ts";
import type { AdmittedOwner } from "../types/admission.ts";

export interface AdmittedSettings {
  /** What `lua/admit.lua` calls them; see `lua/include/stamp.lua`. */
  readonly version: string;
  /** What people know the key by: its first and last characters. */
  readonly display: string;
  readonly key: AdmittedOf<typeof KEY_SETTINGS>;
  readonly organization: AdmittedOf<typeof ORGANIZATION_SETTINGS>;
  readonly user: AdmittedOwner | null;
  readonly group: AdmittedOwner | null;
  /** The characters of their texts. */
  readonly characters: number;
}

/** What was told last, by key id, the oldest first. */
const known = new Map<string, AdmittedSettings>();
/** The bound of all texts that are known: some 20,000 keys, or 600 with an organization's 100 names of models; 20 MB. */
const MAX_KNOWN_CHARACTERS = 3_000_000;
let knownCharacters = 0;

/** Values that are JSON themselves, by their text, since keys of an organization share them. */
const MAX_KNOWN_VALUES = 500;

const readKeySettings = createReader(KEY_SETTINGS, ADMITTED_AT.key);
const readOrganizationSettings = createReader(ORGANIZATION_SETTINGS, ADMITTED_AT.organization);

/** What a key's settings were when last told, or null: whether they still are is for Redis to say. */
export function knownSettings(keyId: string): AdmittedSettings | null {
  return known.get(keyId) ?? null;
}

/**
 * Reads what an admission tells of a key's settings, and keeps it.
 * @param told The list that `lua/admit.lua` replies.
 * @throws TypeError, or what the settings' kinds throw, when it is none that this program writes.
 */
export function rememberSettings(keyId: string, version: string, told: unknown): AdmittedSettings {
  const texts = parseArray(told);
  const settings = {
    version,
    display: textAt(texts, ADMITTED_AT.display),
    key: readKeySettings(texts),
    organization: readOrganizationSettings(texts),
    user: readOwner(texts, ADMITTED_AT.user),
    group: readOwner(texts, ADMITTED_AT.group),
    characters: texts.join("").length,
  };
  forget(keyId);
  known.set(keyId, settings);
  knownCharacters += settings.characters;
  for (const oldest of known.keys()) {
    if (knownCharacters <= MAX_KNOWN_CHARACTERS) break;
    forget(oldest);
  }
  return settings;
}

/** @param first Where its id stands, and its name behind it. */
function readOwner(texts: readonly unknown[], first: number): AdmittedOwner | null {
  const id = textAt(texts, first);
  return id === "" ? null : { id, name: textAt(texts, first + 1) };
}

function forget(keyId: string): void {
  knownCharacters -= known.get(keyId)?.characters ?? 0;
  known.delete(keyId);
}

/** @param first Where the first of them stands among the texts; '' there: the default. */
function createReader<Table extends StoredSettings>(
  table: Table,
  first: number,
): (texts: readonly unknown[]) => AdmittedOf<Table> {
  const readers = admittedRows(table).map(([name, row]) => ({
    name,
    none: row.default,
    parse: remember((text) => row.kind.parse(text)),
  }));
  return (texts) => {
    const settings: Record<string, unknown> = {};
    for (const [index, { name, none, parse }] of readers.entries()) {
      const text = textAt(texts, first + index);
      settings[name] = text === "" && none !== undefined ? none : parse(text);
    }
    // Each row's kind made its value, which a loop over the rows hides from TypeScript.
    return settings as AdmittedOf<Table>;
  };
}

function remember(parse: (text: string) => unknown): (text: string) => unknown {
  const values = new Map<string, unknown>();
  return (text) => {
    if (!/^[[{]/.test(text)) return parse(text);
    if (values.has(text)) return values.get(text);
    const value = parse(text);
    setBounded(values, text, value, MAX_KNOWN_VALUES);
    return value;
  };
}
