/** @jsxImportSource hono/jsx */
import { Layout } from "../parts/layout.tsx";

/**
 * Leads on without a redirect: behind one that another site has begun a browser holds back strict cookies, and behind a form
 * `form-action` forbids one to another site.
 */
export function MovedPage({ title, to }: { readonly title: string; readonly to: string }) {
  return (
    <Layout page={null} title={title} goesTo={to}>
      <p>
        <a href={to}>Go on</a>
      </p>
    </Layout>
  );
}
