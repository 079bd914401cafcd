/** The dashboard over plain HTTP, without a browser: cookies and form tokens by hand. */
import { type HttpAnswer, send } from "./http.ts";

export interface PageClient {
  get(path: string, cookie?: string): Promise<HttpAnswer>;
  post(path: string, form: Record<string, string>, headers?: Record<string, string>): Promise<HttpAnswer>;
  /** Sends the sign-in form as a browser does. @param cookie That the browser has already. */
  signIn(token: string, form?: Record<string, string>, cookie?: string): Promise<HttpAnswer>;
}

export function createPageClient(url: string): PageClient {
  const get: PageClient["get"] = (path, cookie = "") =>
    send(url, { path, headers: { accept: "text/html", ...(cookie === "" ? {} : { cookie }) } });
  const post: PageClient["post"] = (path, form, headers = {}) =>
    send(url, {
      method: "POST",
      path,
      headers: { "content-type": "application/x-www-form-urlencoded", origin: url, ...headers },
      body: new URLSearchParams(form).toString(),
    });
  return {
    get,
    post,
    async signIn(token, form = {}, cookie = "") {
      const visit = await get("/sign-in", cookie);
      const fields = { form_token: formTokenOf(visit), token, ...form };
      const cookies = [cookieOf(visit), cookie].filter((one) => one !== "");
      return post("/sign-in", fields, { cookie: cookies.join("; ") });
    },
  };
}

export function cookiesOf(answer: HttpAnswer): string[] {
  return [answer.headers["set-cookie"] ?? []].flat();
}

/** What a browser sends back. */
export function cookieOf(answer: HttpAnswer): string {
  return cookiesOf(answer)
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

export function formTokenOf(answer: Pick<HttpAnswer, "text">): string {
  return /name="form_token" value="([^"]+)"/u.exec(answer.text)?.[1] ?? "";
}
