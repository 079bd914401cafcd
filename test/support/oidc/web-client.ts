/** A browser without its screen: cookies by host, redirects followed by hand, forms sent as they stand. */
import { type HttpAnswer, send } from "../http.ts";

export interface WebAnswer extends HttpAnswer {
  readonly url: string;
}

export class WebClient {
  readonly #cookies = new Map<string, Map<string, string>>();

  get(url: string, headers: Record<string, string> = {}): Promise<WebAnswer> {
    return this.#send("GET", url, headers);
  }

  post(url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<WebAnswer> {
    const type = { "content-type": "application/x-www-form-urlencoded", origin: new URL(url).origin };
    return this.#send("POST", url, { ...type, ...headers }, new URLSearchParams(form).toString());
  }

  /** Follows redirects until one would lead to `before`, or to a page. */
  async follow(answer: WebAnswer, before = ""): Promise<WebAnswer> {
    let current = answer;
    for (let hop = 0; hop < 20; hop += 1) {
      const { location } = current.headers;
      if (location === undefined) return current;
      const url = new URL(location, current.url).href;
      if (before !== "" && url.startsWith(before)) return current;
      current = await this.get(url);
    }
    throw new Error("the redirects do not end");
  }

  cookie(host: string, name: string): string | undefined {
    return this.#cookies.get(host)?.get(name);
  }

  setCookie(host: string, name: string, value: string): void {
    this.#jar(host).set(name, value);
  }

  async #send(
    method: string,
    url: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<WebAnswer> {
    const { origin, host, pathname, search } = new URL(url);
    const cookie = [...this.#jar(host)].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await send(origin, {
      method,
      path: pathname + search,
      headers: { accept: "text/html", host, ...headers, ...(cookie === "" ? {} : { cookie }) },
      ...(body === undefined ? {} : { body }),
    });
    for (const one of [answer.headers["set-cookie"] ?? []].flat()) this.#keep(host, one);
    return { ...answer, url };
  }

  #keep(host: string, cookie: string): void {
    const [pair = ""] = cookie.split(";");
    const [name = "", ...value] = pair.split("=");
    const jar = this.#jar(host);
    if (/Max-Age=0|Expires=Thu, 01 Jan 1970/iu.test(cookie)) jar.delete(name);
    else jar.set(name, value.join("="));
  }

  #jar(host: string): Map<string, string> {
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }
}

/** Fills in the real provider's forms, up to the address that it sends the browser back to, which is not opened. */
export async function signInAtProvider(
  client: WebClient,
  start: string,
  { login, dashboard }: { readonly login: string; readonly dashboard: string },
): Promise<string> {
  let page = await client.follow(await client.get(start), `${dashboard}/sign-in/oidc/`);
  for (let form = 0; form < 3 && page.headers.location === undefined; form += 1) {
    const action = /<form[^>]* action="([^"]+)"/u.exec(page.text)?.[1];
    const prompt = /name="prompt" value="(\w+)"/u.exec(page.text)?.[1];
    if (action === undefined || prompt === undefined) throw new Error(`no form: ${page.status} ${page.text}`);
    const fields = prompt === "login" ? { prompt, login, password: "any" } : { prompt };
    const sent = await client.post(new URL(action, page.url).href, fields);
    page = await client.follow(sent, `${dashboard}/sign-in/oidc/`);
  }
  return new URL(page.headers.location ?? "", page.url).href;
}
