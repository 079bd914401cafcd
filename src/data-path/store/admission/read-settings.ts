/** Parses the settings in an admission's reply by the tables of settings, and caches them by key. */
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import type { AdmittedOf, StoredSettings } from "../../../shared/settings/setting.ts";
import { admittedRows } from "../../../shared/settings/table.ts";
import { setBounded } from "../../../shared/collections/set-bounded.ts";
import { parseArray, textAt } from "../redis/parse-reply.ts";
import { ADMITTED_AT } from "../redis/reply-layouts.ts";
import type { AdmittedOwner } from "../../../shared/stored/admission.ts";

export interface AdmittedSettings {
  /** Version as `lua/admit.lua` calls it; see `lua/include/stamp.lua`. */
  readonly version: string;
  /** First and last characters of the key, by which people recognize it. */
  readonly display: string;
  readonly key: AdmittedOf<typeof KEY_SETTINGS>;
  readonly organization: AdmittedOf<typeof ORGANIZATION_SETTINGS>;
  readonly user: AdmittedOwner | null;
  readonly group: AdmittedOwner | null;
  /** Number of characters in the cached texts. */
  readonly characters: number;
}

/** Settings of the latest replies by key id, oldest first. */
const known = new Map<string, AdmittedSettings>();
/** Bound of all cached texts: about 20,000 keys, or 600 keys with 100 model names each; 20 MB. */
const MAX_KNOWN_CHARACTERS = 3_000_000;
let knownCharacters = 0;

/** Parsed JSON values by their text, since keys of an organization often share them. */
const MAX_KNOWN_VALUES = 500;

const readKeySettings = createReader(KEY_SETTINGS, ADMITTED_AT.key);
const readOrganizationSettings = createReader(ORGANIZATION_SETTINGS, ADMITTED_AT.organization);

/** Returns the cached settings of a key, or null. Only Redis knows whether they are current. */
export function knownSettings(keyId: string): AdmittedSettings | null {
  return known.get(keyId) ?? null;
}

/**
 * Parses and caches a key's settings from an admission's reply.
 * @param reply The list that `lua/admit.lua` replies.
 * @throws TypeError, or an error of the settings' kinds, if the list was not written by this program.
 */
export function rememberSettings(keyId: string, version: string, reply: unknown): AdmittedSettings {
  const texts = parseArray(reply);
  const settings = {
    version,
    display: textAt(texts, ADMITTED_AT.display),
    key: readKeySettings(texts),
    organization: readOrganizationSettings(texts),
    user: readOwner(texts, ADMITTED_AT.user),
    group: readOwner(texts, ADMITTED_AT.group),
    characters: texts.join("").length,
  };
  evict(keyId);
  known.set(keyId, settings);
  knownCharacters += settings.characters;
  for (const oldest of known.keys()) {
    if (knownCharacters <= MAX_KNOWN_CHARACTERS) break;
    evict(oldest);
  }
  return settings;
}

/** @param first Position of the owner's id; its name follows. */
function readOwner(texts: readonly unknown[], first: number): AdmittedOwner | null {
  const id = textAt(texts, first);
  return id === "" ? null : { id, name: textAt(texts, first + 1) };
}

function evict(keyId: string): void {
  knownCharacters -= known.get(keyId)?.characters ?? 0;
  known.delete(keyId);
}

/** @param first Position of the first setting among the texts; '' stands for the default. */
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
    // Each value was made by its row's kind; TypeScript cannot infer that through the loop.
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
