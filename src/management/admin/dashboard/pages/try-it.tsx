/** *Try it*: snippets with the base URL and a model filled in. */
import { type OrganizationPageCall, type PageAnswer, type PageRoute, showPage } from "../page.ts";
import { chooseEndpoint } from "../parts/key-status.tsx";
import { Layout } from "../parts/layout.tsx";
import { ModelForm, Snippets } from "../parts/snippet-box.tsx";
import { createSnippets } from "../snippets.ts";

async function showTryIt(page: OrganizationPageCall): Promise<PageAnswer> {
  const { body } = await page.api("GET /api/catalog");
  const { currency } = page.organization;
  const usable = body.data.filter(
    (model) => model.replaced_by === null && model.prices[currency] !== undefined,
  );
  const ids = usable.map((model) => model.id);
  const wanted = page.query.get("model") ?? "";
  const model = ids.includes(wanted) ? wanted : (ids[0] ?? "vendor/model");
  const endpoint = chooseEndpoint(usable.find(({ id: one }) => one === model)?.capabilities ?? []);
  return showPage(
    <Layout page={page} title="Try it" section="try">
      <p>
        Create a key on <a href={`${page.base}/keys/new`}>API keys</a>, set it in your environment (
        <code>export API_KEY=sk-igw-…</code>) and paste a snippet. OpenAI clients use the base URL{" "}
        <code class="break">{page.gatewayUrl}/v1</code>, Anthropic clients{" "}
        <code class="break">{page.gatewayUrl}</code>.
      </p>
      <ModelForm ids={ids} chosen={model} />
      <Snippets snippets={createSnippets(endpoint, page.gatewayUrl, model)} />
    </Layout>,
  );
}

export const tryItPageRoutes: readonly PageRoute[] = [
  { method: "GET", path: "/organizations/:organization/try", runInOrganization: showTryIt },
];
