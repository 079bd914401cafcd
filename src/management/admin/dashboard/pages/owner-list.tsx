/** What *Users* and *Groups* do alike: the list, a search, a new one. */
import type { OwnerKind } from "../../../../data-path/store/types/owner-kinds.ts";
import { NO_PROBLEMS, type Problems } from "../form.ts";
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showForm, submit } from "../page.ts";
import { resolveOwners, suggestOwners } from "../owner-texts.ts";
import { ProblemSummary } from "../parts/fields.tsx";
import { CreationForm, Layout } from "../parts/layout.tsx";
import { List, type RowTableColumns, SearchForm, searchOf, searchQueryOf } from "../parts/table.tsx";
import { SettingFields } from "../parts/setting-fields.tsx";
import { WITH_TIGHTEST } from "../parts/charts.tsx";
import { type FormSetting, listProblemFields, readSettings, textsOfForm } from "../setting-form.ts";

interface OwnerList<Row> {
  readonly kind: OwnerKind;
  readonly title: string;
  readonly settings: readonly FormSetting[];
  readonly read: (
    page: OrganizationPageCall,
    query: Readonly<Record<string, string>>,
  ) => Promise<{ readonly body: { readonly data: readonly Row[]; readonly next: string | null } }>;
  readonly columnsOf: (page: OrganizationPageCall) => RowTableColumns<Row>;
  /** What is said where there is none yet. */
  readonly empty: string;
  /** What of it is searched: "a name". */
  readonly searched: string;
}

export function createOwnerListRoutes<Row>(list: OwnerList<Row>): readonly PageRoute[] {
  const { kind, settings } = list;
  const path = `/organizations/:organization/${kind}s`;
  const create = (page: OrganizationPageCall): Promise<PageAnswer> =>
    submit({
      send: async () => {
        const body = await resolveOwners(page.api, readSettings(settings, page.form, null));
        const made = await page.api(`POST /api/organizations/{organization}/${kind}s` as const, { body });
        return { redirect: `${page.base}/${kind}s/${made.body.id}?done=made` };
      },
      refused: (problems) => renderList(list, page, problems),
    });
  /** For the script, which offers names while one is typed. */
  const suggest = async (page: OrganizationPageCall): Promise<PageAnswer> => {
    const names = await suggestOwners(page.api, kind, page.query.get("search") ?? "");
    return { text: JSON.stringify(names), headers: { "content-type": "application/json" } };
  };
  return [
    { method: "GET", path, runInOrganization: (page) => renderList(list, page, NO_PROBLEMS) },
    { method: "POST", path, runInOrganization: create },
    { method: "GET", path: `${path}/suggestions`, runInOrganization: suggest },
  ];
}

async function renderList<Row>(
  { kind, title, settings, read, columnsOf, empty, searched }: OwnerList<Row>,
  page: OrganizationPageCall,
  problems: Problems,
): Promise<PageAnswer> {
  const path = `${page.base}/${kind}s`;
  const search = searchOf(page);
  const { body } = await read(page, { ...searchQueryOf(page), ...WITH_TIGHTEST });
  const notFound = (
    <>
      No {kind} has {searched} with a word that begins with “{search}”. <a href={path}>Show all</a>
    </>
  );
  return showForm(
    <Layout page={page} title={title} section={`${kind}s`}>
      <ProblemSummary problems={problems} fields={listProblemFields(settings)} />
      <SearchForm page={page} list={body} path={path} />
      <List
        page={page}
        label={title}
        list={body}
        columns={columnsOf(page)}
        empty={search === "" ? empty : notFound}
      />
      {page.canChange ? (
        <CreationForm page={page} what={`a ${kind}`} action={path}>
          <SettingFields
            settings={settings}
            texts={textsOfForm(settings, page.form)}
            problems={problems}
            base={page.base}
          />
        </CreationForm>
      ) : null}
    </Layout>,
    problems,
  );
}
