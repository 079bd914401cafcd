/**
 * *Command line*: allows a program on the same computer to act for a person who is signed in with an identity
 * provider. Always asks for confirmation, because anyone can send a link to this page. The program is only
 * reached on loopback.
 */
import {
  displayChallenge,
  formatProgramPage,
  formatReturn,
  parseProgramRequest,
  PROGRAM_PAGE,
  type ProgramRequest,
} from "../../../../shared/contract/program-sign-in.ts";
import { AdminError } from "../../admin-error.ts";
import { type PageAnswer, type PageCall, type PageRoute, showPage } from "../page.ts";
import { Form } from "../parts/fields.tsx";
import { Layout } from "../parts/layout.tsx";
import { MovedPage } from "./sign-in.tsx";

const TITLE = "Sign in the command line";

function showQuestion(page: PageCall): Promise<PageAnswer> {
  const request = requireRequest(page.query);
  const person = requirePerson(page);
  const markup = (
    <Layout page={page} title={TITLE}>
      <p>
        A program on this computer asks for access to the management API as <bdi>{person.name}</bdi>, with
        your permissions. Allow it only if you have just run <code>inference-gateway login --oidc</code> and
        your terminal shows this code:
      </p>
      <p class="card">
        <code>{displayChallenge(request.challenge)}</code>
      </p>
      <Form page={page} action={formatProgramPage(request)}>
        <button type="submit" class="primary">
          Allow
        </button>
      </Form>
      <p class="quiet">
        The sign-in ends after 8 hours without a command, and after 24 hours at most. An admin can end it on
        the page Sessions.
      </p>
    </Layout>
  );
  return Promise.resolve(showPage(markup));
}

async function allow(page: PageCall): Promise<PageAnswer> {
  const request = requireRequest(page.query);
  requirePerson(page);
  const code = await page.beginProgram(request.challenge);
  // The session has ended between the page and the form.
  if (code === null) throw refuseTokens();
  return showPage(<MovedPage title="Signed in" to={formatReturn(request, code)} />);
}

/** @throws AdminError 400 */
function requireRequest(query: URLSearchParams): ProgramRequest {
  const request = parseProgramRequest(query);
  if (request !== null) return request;
  const message =
    "This address wasn't created by `inference-gateway login --oidc`, or it is incomplete. Run that command again.";
  throw new AdminError("invalid_parameter", { message });
}

/** @throws AdminError 403 if the user signed in with a token. */
function requirePerson({ principal }: PageCall) {
  const person = principal.type === "token" || principal.type === "key" ? undefined : principal.person;
  if (person === undefined) throw refuseTokens();
  return person;
}

function refuseTokens(): AdminError {
  const message =
    "You signed in here with a token, but this page is for identity providers. Run `inference-gateway login` to use a token, or sign out and sign in with your identity provider.";
  return new AdminError("permission_denied", { message });
}

export const commandLineRoutes: readonly PageRoute[] = [
  { method: "GET", path: PROGRAM_PAGE, member: true, access: "read", run: showQuestion },
  { method: "POST", path: PROGRAM_PAGE, member: true, access: "read", run: allow },
];
