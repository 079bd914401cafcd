/** Requests between processes over their channel: each gets one response, or fails. */
import type { Channel } from "./channel.ts";
import { requireInTime } from "../event-loop/wait.ts";

/** Requests: each takes one plain JSON value, or none, and returns one. */
type Answers<Questions> = {
  readonly [Name in keyof Questions]: (input: never) => unknown;
};

interface Question {
  readonly kind: "question";
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

interface Answer {
  readonly kind: "answer";
  readonly id: number;
  readonly value?: unknown;
  readonly problem?: string;
}

const ANSWER_BOUND_MS = 5_000;

/** Answers requests on the channel; unknown ones get an error. */
export function answerQuestions<Questions extends Answers<Questions>>(
  channel: Channel,
  answers: Questions,
): void {
  const known = new Map(Object.entries<(input: never) => unknown>(answers));
  const answer = async ({ id, name, input }: Question): Promise<Answer> => {
    try {
      const reply = known.get(name);
      if (reply === undefined) return { kind: "answer", id, problem: `unknown question ${name}` };
      return { kind: "answer", id, value: await reply(input as never) };
    } catch (error) {
      return { kind: "answer", id, problem: String(error) };
    }
  };
  channel.onMessage((message) => {
    if (isOf<Question>(message, "question")) void answer(message).then((reply) => channel.send(reply));
  });
}

export type CallHost<Questions extends Answers<Questions>> = <Name extends keyof Questions & string>(
  name: Name,
  ...input: Parameters<Questions[Name]>
) => Promise<Awaited<ReturnType<Questions[Name]>>>;

/**
 * Returns a function that sends requests. Its promise rejects if the other side fails, or takes more than
 * five seconds.
 */
export function createHostCalls<Questions extends Answers<Questions>>(channel: Channel): CallHost<Questions> {
  const open = new Map<number, (answer: Answer) => void>();
  let last = 0;
  channel.onMessage((message) => {
    if (isOf<Answer>(message, "answer")) open.get(message.id)?.(message);
  });
  return async (name, ...[input]) => {
    last += 1;
    const id = last;
    const answered = new Promise<Answer>((resolve) => open.set(id, resolve));
    channel.send({ kind: "question", id, name, input } satisfies Question);
    try {
      const { value, problem } = await requireInTime(answered, ANSWER_BOUND_MS, `no answer to ${name}`);
      if (problem !== undefined) throw new Error(problem);
      // Both sides have the same version.
      return value as never;
    } finally {
      open.delete(id);
    }
  };
}

function isOf<Message extends Question | Answer>(value: unknown, kind: Message["kind"]): value is Message {
  return (
    typeof value === "object" && value !== null && "kind" in value && value.kind === kind && "id" in value
  );
}
