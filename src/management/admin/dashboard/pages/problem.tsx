import type { FormValues } from "../form.ts";
import type { PageCall } from "../page.ts";
import { Layout } from "../parts/layout.tsx";

interface ProblemProps {
  readonly page: PageCall | null;
  readonly title: string;
  readonly message: string;
  readonly requestId: string | null;
  /** What may work in a moment: a page to open, or a form that nothing was done with. */
  readonly again?: { readonly path: string; readonly form: FormValues | null } | null;
}

/** An error, in words that say what to do. */
export function ProblemPage({ page, title, message, requestId, again = null }: ProblemProps) {
  return (
    <Layout page={page} title={title}>
      <p class="notice bad" role="alert">
        {message}
      </p>
      {again === null ? null : <Again {...again} />}
      <p>
        <a href="/">Go to the start page</a>
      </p>
      {requestId === null ? null : <p class="quiet">Request {requestId}</p>}
    </Layout>
  );
}

function Again({ path, form }: { path: string; form: FormValues | null }) {
  if (form === null) {
    return (
      <p>
        You stay signed in. <a href={path}>Open this page again</a>
      </p>
    );
  }
  return (
    <form method="post" action={path} class="card">
      <p>Nothing was changed. You stay signed in, and what you typed is kept in this page.</p>
      {[...form].map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <button type="submit">Send it again</button>
    </form>
  );
}
