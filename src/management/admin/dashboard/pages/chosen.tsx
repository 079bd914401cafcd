/** Changes several API keys, users or groups at once: what to change, then what will happen, then the change. */
import { KEY_SETTINGS } from "../../../../shared/settings/key.ts";
import { nameLimit } from "../../../../shared/settings/limit-words.ts";
import type { Limit } from "../../../../shared/settings/limits.ts";
import { isReached } from "../../../../shared/money/money.ts";
import { describeState } from "../../../../shared/settings/state.ts";
import { capitalize } from "../../../../shared/text/capitalize.ts";
import { dayAt } from "../../../../shared/time/calendar.ts";
import { addDays, MAX_DAYS } from "../../../../shared/time/day-range.ts";
import { formatWindowStart } from "../../../../shared/time/periods.ts";
import { AdminError } from "../../admin-error.ts";
import { formatCountOf } from "../../format.ts";
import { describeProblems, LIMIT_PARTS, NO_PROBLEMS, type Problems, splitProblems } from "../form.ts";
import { type PageCall, type PageAnswer, type PageRoute, showForm, showPage } from "../page.ts";
import { resolveOwners } from "../owner-texts.ts";
import { type ArrangedKind, SWITCHES } from "../parts/arranged-list.tsx";
import { Form, ProblemSummary } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { RowTable } from "../parts/table.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import {
  type FormSetting,
  inputName,
  listProblemFields,
  readSettings,
  textsOf,
  textsOfForm,
} from "../setting-form.ts";

interface Kind extends Pick<ArrangedKind, "kind" | "noun"> {
  /** Settings of one, some of which can be changed together. */
  readonly settings: readonly FormSetting[];
  /** Consequence of disabling one. */
  readonly disabled: string;
}

/** Maximum rows of a list's page. */
const MOST_CHOSEN = 100;
/** A date that is left empty is removed, and none of these is kept. */
const NOTHING = { [KEY_SETTINGS.expiresAtMs.apiName]: "unknown" };

type Chosen = Readonly<Record<string, unknown>> & Readonly<Record<"id" | "name" | "created_at", string>>;
type Body = Readonly<Record<string, unknown>>;

interface Step {
  readonly page: PageCall;
  readonly kind: Kind;
  readonly rows: readonly Chosen[];
}

/** Settings that several can get at once. */
const FOR_SEVERAL: ReadonlySet<string> = new Set(["limits", "groupId", "rate", "time"]);

export function createChosenRoute({ settings: all, ...list }: Kind): PageRoute {
  const settings = all.filter(({ path, row }) => FOR_SEVERAL.has(row.kind.notation) || path === "note");
  const kind = { ...list, settings };
  const isOfOrganization = kind.kind !== "organization";
  const path = `/organizations${isOfOrganization ? `/:organization/${kind.kind}s` : ""}/chosen`;
  return {
    method: "POST",
    path,
    ...(isOfOrganization ? {} : { access: "operator" }),
    run: (page) => run(page, kind),
  };
}

async function run(page: PageCall, kind: Kind): Promise<PageAnswer> {
  const ids = [...new Set(page.form.getAll("chosen"))].slice(0, MOST_CHOSEN);
  if (ids.length === 0) return { redirect: backTo(page, "none_chosen") };
  const call = `GET ${callOf(kind)}` as const;
  const rows = await Promise.all(
    ids.map(async (id) => (await page.api(call, { params: { [kind.kind]: id } })).body as Chosen),
  );
  const step = { page, kind, rows };
  const action = page.form.text("action");
  const [set, clear] = SWITCHES[flagOf(kind)].map((verb) => verb.toLowerCase());
  const isSwitch = action === set || action === clear;
  if (!isSwitch && settingsOf(step).length === 0) return showFields(step, NO_PROBLEMS);
  try {
    const body = isSwitch ? { [flagOf(kind)]: action === set } : await readChange(step);
    return page.form.text("sure") === "yes" ? await apply(step, body) : await showPreview(step, body);
  } catch (error) {
    if (!(error instanceof AdminError) || error.status !== 400 || isSwitch) throw error;
    return showFields(step, splitProblems(error));
  }
}

function flagOf({ kind }: Kind): keyof typeof SWITCHES {
  return kind === "organization" ? "suspended" : "disabled";
}

function callOf({ kind }: Kind) {
  const one = `{${kind}}` as const;
  return kind === "organization"
    ? "/api/organizations/{organization}"
    : (`/api/organizations/{organization}/${kind}s/${one}` as const);
}

function listPath({ path }: PageCall): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Returns the path of the list as it was arranged. */
function backTo(page: PageCall, done: string): string {
  const query = new URLSearchParams(page.form.text("back"));
  if (done === "") query.delete("done");
  else query.set("done", done);
  return `${listPath(page)}?${query.toString()}`;
}

/** Returns the checked settings. */
function settingsOf({ page, kind }: Step): readonly FormSetting[] {
  const ticked = page.form.getAll("set");
  return kind.settings.filter(({ path }) => ticked.includes(path));
}

async function readChange(step: Step): Promise<Body> {
  return resolveOwners(step.page.api, readSettings(settingsOf(step), step.page.form, NOTHING));
}

function sectionOf({ kind }: Kind) {
  return kind === "organization" ? "" : (`${kind}s` as const);
}

function nameRows({ kind, rows }: Step): string {
  return rows.length === 1 ? `${kind.noun} “${rows[0]?.name}”` : formatCountOf(rows.length, kind.noun);
}

function showFields(step: Step, problems: Problems): PageAnswer {
  const { page, kind } = step;
  const ticked = page.form.getAll("set");
  return showForm(
    <Layout page={page} title={`Change ${nameRows(step)}`} section={sectionOf(kind)}>
      <ProblemSummary problems={problems} fields={listProblemFields(kind.settings)} />
      <Form page={page} action={page.path} class="card">
        <p>
          Select the settings to change. An empty field removes a setting, and limits replace all limits. The
          next page shows a preview.
        </p>
        <HiddenFields step={step} />
        {kind.settings.map((setting) => (
          <div class="ticked">
            <input
              type="checkbox"
              name="set"
              value={setting.path}
              checked={ticked.includes(setting.path)}
              aria-label={`Change ${setting.row.label}`}
            />
            <SettingFields
              settings={[setting]}
              texts={textsOfForm([setting], page.form)}
              problems={problems}
              currency={page.organization?.currency ?? ""}
              base={`/organizations/${page.organization?.id ?? ""}`}
              required={false}
            />
          </div>
        ))}
        <p class="actions">
          <button type="submit" name="action" value="change" class="primary">
            Preview
          </button>
          <a href={backTo(page, "")}>Cancel</a>
        </p>
      </Form>
    </Layout>,
    problems,
  );
}

/** Hidden fields with the chosen rows and the list's address. */
function HiddenFields({ step: { page, rows } }: { step: Step }) {
  return (
    <>
      <input type="hidden" name="back" value={page.form.text("back")} />
      {rows.map(({ id }) => (
        <input type="hidden" name="chosen" value={id} />
      ))}
    </>
  );
}

async function showPreview(step: Step, body: Body): Promise<PageAnswer> {
  const { page, kind, rows } = step;
  const action = page.form.text("action");
  const outcomes = await readOutcomes(step, body);
  const changed = rows.filter((row) => (outcomes.get(row)?.length ?? 0) > 0).length;
  const isSwitch = typeof body[flagOf(kind)] === "boolean";
  const verb = capitalize(action);
  const settings = settingsOf(step);
  return showPage(
    <Layout page={page} title={`${verb} ${nameRows(step)}?`} section={sectionOf(kind)}>
      <p>
        {formatCountOf(changed, kind.noun)} will change
        {changed === rows.length ? "" : `, ${rows.length - changed} will not`}.
        {isSwitch && body[flagOf(kind)] === true ? ` ${kind.disabled}` : " Applies from the next request."}
      </p>
      <RowTable
        label="What will happen"
        columns={[
          { label: "name", cell: ({ name }) => <bdi>{name}</bdi> },
          { label: "will happen", cell: (row) => <Outcomes texts={outcomes.get(row) ?? []} /> },
        ]}
        rows={rows}
      />
      <Form page={page} action={page.path} class="actions">
        <HiddenFields step={step} />
        <input type="hidden" name="action" value={action} />
        <input type="hidden" name="sure" value="yes" />
        {settings.map(({ path }) => (
          <input type="hidden" name="set" value={path} />
        ))}
        {settings
          .flatMap(inputNames)
          .flatMap((name) =>
            page.form.getAll(name).map((value) => <input type="hidden" name={name} value={value} />),
          )}
        {changed === 0 ? null : (
          <button type="submit" class={isSwitch && body[flagOf(kind)] === true ? "danger" : "primary"}>
            {verb} {formatCountOf(changed, kind.noun)}
          </button>
        )}
        <a href={backTo(page, "")}>Cancel</a>
      </Form>
    </Layout>,
  );
}

function inputNames(setting: FormSetting): readonly string[] {
  const name = inputName(setting);
  return setting.row.kind.notation === "limits" ? LIMIT_PARTS.map((part) => `${name}.${part}`) : [name];
}

function Outcomes({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return <span class="quiet">no change</span>;
  return texts.map((text) => <div>{text}</div>);
}

/** Lists what changes for each, with the caps that its spend has reached. */
async function readOutcomes(step: Step, body: Body): Promise<ReadonlyMap<Chosen, readonly string[]>> {
  const warningsOf = await readWarnings(step, body);
  const withWarnings = (row: Chosen, texts: readonly string[]) =>
    texts.length === 0 ? texts : [...texts, ...warningsOf(row)];
  return new Map(step.rows.map((row) => [row, withWarnings(row, listOutcomes(step, row, body))]));
}

/** Formats "Monthly hard cap: 10.00 → 20.00 USD" for each changed setting. */
function listOutcomes(step: Step, row: Chosen, body: Body): string[] {
  const { page, kind } = step;
  const flag = flagOf(kind);
  if (body[flag] !== undefined) {
    const stateOf = (isSet: unknown) => describeState(isSet === true ? flag : "active").words;
    const [before, after] = [stateOf(row[flag]), stateOf(body[flag])];
    return before === after ? [] : [`${before} → ${after}`];
  }
  const wanted = textsOfForm(kind.settings, page.form);
  const current = textsOf(kind.settings, row);
  return settingsOf(step).flatMap(({ path, row: setting }) => {
    const [before, after] = [String(current[path] ?? ""), String(wanted[path] ?? "")];
    if (before === after || JSON.stringify(row[path]) === JSON.stringify(body[path])) return [];
    const unit = setting.kind.notation === "amount" ? ` ${page.organization?.currency ?? ""}` : "";
    const shown = (text: string) => (text === "" ? "none" : `${text}${unit}`);
    return [`${setting.label}: ${shown(before)} → ${shown(after)}`];
  });
}

/** Returns a function that warns of each wanted cap that an owner's spend has reached in the current window. */
async function readWarnings(step: Step, body: Body): Promise<(row: Chosen) => readonly string[]> {
  const limits = (body["limits"] ?? []) as readonly Limit[];
  const caps: { readonly cap: Limit; readonly spent: Awaited<ReturnType<typeof readSpend>> }[] = [];
  for (const cap of limits.filter(({ kind }) => kind === "cap")) {
    caps.push({ cap, spent: await readSpend(step, cap) });
  }
  return ({ id }) =>
    caps
      .filter(({ cap, spent }) => isReached(cap.cents, spent.get(id) ?? 0n))
      .map(({ cap }) => `Its spend has reached this ${nameLimit(cap)}: requests return 402.`);
}

/** Reads the spend in a period's current window by id; of a total since the first was created, at most a report's days. */
async function readSpend(
  { page, kind, rows }: Step,
  { period }: Limit,
): Promise<ReadonlyMap<string, bigint>> {
  const today = dayAt(page.nowMs).name;
  const created = rows.map((row) => row.created_at.slice(0, today.length)).toSorted()[0] ?? today;
  const longest = addDays(today, 1 - MAX_DAYS);
  const from = formatWindowStart(period, today) ?? (created > longest ? created : longest);
  const call = "GET /api/organizations/{organization}/usage";
  const { kind: group_by } = kind;
  if (group_by !== "organization") {
    const { body } = await page.api(call, { query: { from, group_by } });
    return new Map(body.data.map((row) => [row[`${group_by}_id` as const] ?? "", row.cost_microcents]));
  }
  const spent = new Map<string, bigint>();
  for (const { id } of rows) {
    const { body } = await page.api(call, { params: { organization: id }, query: { from } });
    spent.set(id, body.data[0]?.cost_microcents ?? 0n);
  }
  return spent;
}

async function apply(step: Step, body: Body): Promise<PageAnswer> {
  const { page, kind, rows } = step;
  const call = `PATCH ${callOf(kind)}`;
  const failed: { readonly name: string; readonly why: string }[] = [];
  for (const { id, name } of rows) {
    try {
      await page.api(call, { params: { [kind.kind]: id }, body });
    } catch (error) {
      // If the first one is rejected, all would be.
      if (!(error instanceof AdminError) || (error.status === 400 && id === rows[0]?.id)) throw error;
      failed.push({ name, why: describeProblems(error) });
    }
  }
  if (failed.length === 0) return { redirect: backTo(page, "chosen_changed") };
  return showPage(
    <Layout
      page={page}
      title={`${formatCountOf(failed.length, kind.noun)} not changed`}
      section={sectionOf(kind)}
    >
      <p>{formatCountOf(rows.length - failed.length, kind.noun)} changed. These were not:</p>
      <RowTable
        label="Not changed"
        columns={[
          { label: "name", cell: ({ name }) => <bdi>{name}</bdi> },
          { label: "why", cell: ({ why }) => why },
        ]}
        rows={failed}
      />
      <p>
        <a href={backTo(page, "")}>Back to the list</a>
      </p>
    </Layout>,
  );
}
