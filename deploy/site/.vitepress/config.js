/** A site of the pages in docs/, which stay readable on the code host: it adds search and a sidebar, and no text. */
import { readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const DOCS = fileURLToPath(new URL("../../../docs/", import.meta.url));
const {
  GITHUB_SERVER_URL = "https://github.com",
  GITHUB_REPOSITORY = "inference-gateway/inference-gateway",
} = process.env;
const REPOSITORY = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;

/** The doors of docs/README.md: its headings, and the links below each. */
function readSidebar() {
  const [, ...sections] = readFileSync(`${DOCS}README.md`, "utf8").split(/^## /m);
  return sections.map((section) => ({
    text: section.split("\n")[0],
    items: Array.from(section.matchAll(/\[([^\]]+)\]\(([\w/-]+)\.md\)/g), ([, text, page]) => ({
      text: (text[0].toUpperCase() + text.slice(1)).replaceAll("`", ""),
      link: `/${page.replace(/README$/, "")}`,
    })),
  }));
}

/** Where a link of a page leads on the site: pages stay links within it, all other files are the repository's. */
function resolveLink(href, page) {
  if (/^(?:[a-z]+:|#)/.test(href)) return href;
  const [path = "", place] = href.split("#");
  const target = posix.normalize(posix.join("docs", dirname(page), path));
  const anchor = place === undefined ? "" : `#${place}`;
  if (!target.startsWith("docs/") || !target.endsWith(".md")) {
    return `${REPOSITORY}/blob/HEAD/${target.replace(/\/$/, "")}${anchor}`;
  }
  return `/${target.slice("docs/".length).replace(/README\.md$/, "")}${anchor}`;
}

/** GitHub's names of headings, so that one link works on both. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** The pages are outside of this package, so Vite does not find Vue from them. Pictures are drawn in browsers only. */
const externalOnServer = {
  name: "external-on-server",
  enforce: "pre",
  resolveId: (id, _importer, { ssr }) =>
    ssr && /^(?:vue|mermaid)(?:\/|$)/.test(id) ? { id, external: true } : null,
};

export default defineConfig({
  title: "Inference Gateway",
  description: "API keys, rate limits and spend caps in front of language models",
  srcDir: "../../docs",
  outDir: "./dist",
  cacheDir: "./.cache",
  base: process.env.SITE_BASE || "/",
  // `documentation_url` of gateway.yaml leads to pages by these names: errors.html.
  cleanUrls: false,
  vite: { plugins: [externalOnServer] },
  rewrites: { "README.md": "index.md", "decisions/README.md": "decisions/index.md" },
  markdown: {
    anchor: { slugify },
    config(md) {
      const { fence = () => "" } = md.renderer.rules;
      md.renderer.rules.fence = (...args) => {
        const [tokens, index] = args;
        const { info, content } = tokens[index];
        return info.trim() === "mermaid"
          ? `<pre class="mermaid" v-pre>${md.utils.escapeHtml(content)}</pre>`
          : fence(...args);
      };
      md.core.ruler.push("links-of-both-sites", ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet("href");
          if (href !== null) token.attrSet("href", resolveLink(href, env.relativePath));
        }
      });
    },
  },
  themeConfig: {
    search: { provider: "local" },
    sidebar: readSidebar(),
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    outline: [2, 3],
    editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: "Edit this page" },
  },
});
