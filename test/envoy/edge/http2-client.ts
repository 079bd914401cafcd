import { connect } from "node:http2";

/** An HTTP/2 request. @returns The status, or "reset" for a stream or connection that was broken off. */
export async function sendHttp2(port: number, headers: Record<string, string>, body = ""): Promise<string> {
  const session = connect(`http://127.0.0.1:${port}`);
  try {
    return await new Promise((resolve) => {
      session.on("error", () => resolve("reset"));
      const stream = session.request(headers);
      stream.on("response", (response) => resolve(String(response[":status"])));
      stream.on("error", () => resolve("reset"));
      stream.on("close", () => resolve("reset"));
      stream.end(body);
    });
  } finally {
    session.destroy();
  }
}
