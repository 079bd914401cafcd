import { Layout } from "../parts/layout.tsx";

interface SignInProps {
  readonly formToken: string;
  /** Path on this server to open after the sign-in. */
  readonly next: string;
  readonly problem: string | null;
  /** Names of identity providers. */
  readonly providers: readonly string[];
  /** False: no field for a token. */
  readonly takesTokens: boolean;
}

export function SignInPage({ formToken, next, problem, providers, takesTokens }: SignInProps) {
  return (
    <Layout page={null} title="Sign in">
      {problem === null ? null : (
        <p class="notice bad" role="alert" id="token-problem">
          {problem}
        </p>
      )}
      {providers.map((name, place) => (
        <p>
          <a
            class={place === 0 ? "button" : "button quiet"}
            href={`/sign-in/oidc/${name}?next=${encodeURIComponent(next)}`}
          >
            Sign in with {name}
          </a>
        </p>
      ))}
      {takesTokens ? (
        <TokenForm formToken={formToken} next={next} problem={problem} isOther={providers.length > 0} />
      ) : null}
    </Layout>
  );
}

interface TokenFormProps extends Pick<SignInProps, "formToken" | "next" | "problem"> {
  /** There is another way to sign in, which is the main one. */
  readonly isOther: boolean;
}

function TokenForm({ formToken, next, problem, isOther }: TokenFormProps) {
  return (
    <>
      {/* Without an action it goes to the page's own address, so that a #field in it outlives the sign-in. */}
      <form method="post" class="card">
        <input type="hidden" name="form_token" value={formToken} />
        <input type="hidden" name="next" value={next} />
        <div class="field">
          <label for="token">API key or token</label>
          <input
            id="token"
            name="token"
            type="password"
            required
            autocomplete="current-password"
            aria-describedby="token-hint"
            {...(problem === null ? {} : { "aria-invalid": "true" as const })}
          />
          <p class="hint" id="token-hint">
            Your API key (<code>sk-igw-…</code>), an organization's token (<code>igw_org_…</code>), or the
            operator's token.
          </p>
        </div>
        <button type="submit" class={isOther ? undefined : "primary"}>
          Sign in
        </button>
      </form>
      <details>
        <summary>Where is my token?</summary>
        <p>
          With an API key you can see the key's limits, usage and requests, but change nothing. An admin
          creates organization tokens on the page <em>Tokens</em>.
        </p>
        <p>
          The operator's token is in the variable or file that <code>admin.operator_token</code> in{" "}
          <code>gateway.yaml</code> names; without that setting, in the file <code>operator-token</code> in
          the gateway's <code>data_dir</code>.
        </p>
      </details>
    </>
  );
}

interface NotSignedInProps {
  readonly message: string;
  /** For the operator, who finds the reason by it; null: the message is complete. */
  readonly requestId: string | null;
}

/** Page after a failed sign-in with an identity provider. */
export function NotSignedInPage({ message, requestId }: NotSignedInProps) {
  return (
    <Layout page={null} title="Not signed in">
      <p class="notice bad" role="alert">
        {message}
      </p>
      {requestId === null ? null : (
        <p class="quiet">
          The operator can find the cause in the log with this request ID: <code>{requestId}</code>
        </p>
      )}
      <p>
        <a href="/sign-in">Back to sign-in</a>
      </p>
    </Layout>
  );
}

/**
 * Page that forwards without a redirect: after a redirect that another site started, browsers withhold strict
 * cookies, and after a form `form-action` forbids a redirect to another site.
 */
export function MovedPage({ title, to }: { readonly title: string; readonly to: string }) {
  return (
    <Layout page={null} title={title} forwardTo={to}>
      <p>
        <a href={to}>Continue</a>
      </p>
    </Layout>
  );
}
