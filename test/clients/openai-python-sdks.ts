/** The majors of OpenAI's SDK and of LangChain for Python that are in use; see `python/requirements*.txt`. */
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

interface LangChainPython {
  readonly name: string;
  readonly isCurrent: boolean;
  readonly provenOpenai: Client;
  readonly provenAnthropic: Client;
  /** Plays the scenarios of `langchain_chat.py`. */
  readonly player: PythonPlayer;
}

/** For all tests of a file. */
export function withLangChainPythons(): readonly LangChainPython[] {
  const sdks = firstOnPush([
    {
      name: "LangChain 1 for Python",
      isCurrent: true,
      provenOpenai: CLIENTS.pythonLangchainOpenai,
      provenAnthropic: CLIENTS.pythonLangchainAnthropic,
      older: null,
    },
    {
      name: "LangChain 0 for Python",
      isCurrent: false,
      provenOpenai: CLIENTS.pythonLangchainOpenai0,
      provenAnthropic: CLIENTS.pythonLangchainAnthropic0,
      older: "langchain-0",
    },
  ]);
  return sdks.map(({ older, ...sdk }) => ({ ...sdk, player: withPython("langchain_chat.py", older) }));
}
