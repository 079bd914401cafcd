/** The lines of OpenAI's SDK for Python that are in use, side by side; see `python/requirements*.txt`. */
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
  return [
    { name: "openai 3 for Python", proven: CLIENTS.pythonOpenai, player: withPython("openai_chat.py") },
    {
      name: "openai 2 for Python",
      proven: CLIENTS.pythonOpenai2,
      player: withPython("openai_chat.py", "openai-2"),
    },
  ];
}
