/**
 * Contracts of Lua blocks (`readScript`), checked when a script is loaded: a block's header names exactly what the
 * block reads and changes of its caller, and each including script has declared these locals in scope.
 */
const KEYWORDS =
  "and break do else elseif end false for function if in local nil not or repeat return then true until while";
const GLOBALS = "redis string math table struct cjson ipairs pairs tonumber tostring type unpack next error";
const KNOWN = new Set(`${KEYWORDS} ${GLOBALS}`.split(" "));
const CONTRACT = /^-- Reads: (.*)\n-- Changes: (.*)$/m;
/** Contracts, and what opens, closes and fills scopes; other comments and texts are skipped. */
const TOKEN =
  /-- (?:Reads|Changes): (?<contract>.*)|--.*|'(?:\\.|[^'\\\n])*'|(?<![.:\w])(?:function ?(?<name>\w*)\((?<parameters>[\w, ]*)|(?:local|(?<loop>for)) (?!function)(?<names>\w+(?:, \w+)*)|(?<opening>if|while|do|repeat)\b|(?<closing>elseif|else|end|until)\b)/g;

interface Names {
  readonly used: readonly string[];
  /** Names that are assigned, or get items. */
  readonly changed: readonly string[];
}

/** Returns whether an included file is a block: its header has a contract. */
export function isBlock(lua: string): boolean {
  return CONTRACT.test(lua);
}

/** @throws Error if a block uses other names of its caller than its header says. */
export function checkBlock(file: string, lua: string): void {
  const [, reads = "", changes = ""] = CONTRACT.exec(lua) ?? [];
  const { used, changed } = readNames(lua);
  const declared = split(changes);
  const wrong = [...differences(used, [...split(reads), ...declared]), ...differences(changed, declared)];
  if (wrong.length === 0) return;
  throw new Error(`${file}: its use of ${format(wrong)} differs from its header's "Reads" and "Changes"`);
}

/** @param lua With its includes. @throws Error if a block needs a local that its caller has not declared in scope. */
export function checkCallers(file: string, lua: string): void {
  const missing = findMissing(lua);
  if (missing.length === 0) return;
  throw new Error(
    `${file} includes a block that needs the locals ${format(missing)}, which are not in scope`,
  );
}

/** Returns the names that only one of two lists has. */
function differences(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...one.filter((name) => !other.includes(name)), ...other.filter((name) => !one.includes(name))];
}

function format(names: readonly string[]): string {
  return [...new Set(names)].join(", ");
}

function readNames(lua: string): Names {
  const code = lua.replaceAll(/--.*$/gm, "").replaceAll(/'[^'\n]*'/g, "''");
  const locals = code.matchAll(/\b(?:local|for) (?!function)([\w, ]+?)(?= =| in |\n)/g);
  const own = new Set([...locals].flatMap(([, names = ""]) => names.split(", ")));
  const names = (text: string): string[] =>
    (text.match(/(?<![.:\w])[A-Za-z_]\w*/g) ?? []).filter((name) => !KNOWN.has(name) && !own.has(name));
  const assigned = code.matchAll(/^ *(?!local )([\w, ]+?|\w+\[.*?\]) = /gm);
  const changed = [...assigned].flatMap(([, target = ""]) => names(target.replace(/\[.*/, "")));
  return { used: names(code), changed };
}

function findMissing(lua: string): readonly string[] {
  if (!isBlock(lua)) return [];
  const scopes: string[][] = [[]];
  const missing: string[] = [];
  let isLoopHead = false;
  for (const { groups = {} } of lua.matchAll(TOKEN)) {
    const { contract, name = "", parameters, loop, names = "", opening, closing } = groups;
    const needed = contract === undefined ? [] : split(contract);
    missing.push(...needed.filter((one) => !scopes.some((scope) => scope.includes(one))));
    if (closing !== undefined) scopes.pop();
    if (closing?.startsWith("else") === true) scopes.push([]);
    if (parameters !== undefined) scopes.at(-1)?.push(name);
    // The `do` of a loop belongs to the scope of its head.
    const isOpening = parameters !== undefined || loop !== undefined || opening !== undefined;
    if (isOpening && !(isLoopHead && opening === "do")) scopes.push(split(parameters ?? ""));
    if (loop !== undefined || opening !== undefined) isLoopHead = loop !== undefined || opening === "while";
    scopes.at(-1)?.push(...split(names));
  }
  return missing;
}

function split(names: string): string[] {
  return names === "none" ? [] : names.split(", ");
}
