/** The majors of OpenAI's SDK for Python that are in use; see `python/requirements*.txt`. */
import { firstOnPush } from "../support/extent.ts";
import { type PythonPlayer, withPython } from "../support/python.ts";
import { type Client, CLIENTS } from "./clients.ts";

interface OpenAiPythonSdk {
  readonly name: string;
  readonly proven: Client;
  /** Plays the scenarios of `openai_chat.py`. */
  readonly player: PythonPlayer;
}

/** For all tests of a file. */
export function withOpenAiPythonSdks(): readonly OpenAiPythonSdk[] {
  const sdks = firstOnPush([
    { name: "openai 3 for Python", proven: CLIENTS.pythonOpenai, older: null },
    { name: "openai 2 for Python", proven: CLIENTS.pythonOpenai2, older: "openai-2" },
  ]);
  return sdks.map(({ name, proven, older }) => ({
    name,
    proven,
    player: withPython("openai_chat.py", older),
  }));
}
