/** Questions of one process to another over their channel: each has one answer, or fails. */
import type { Channel } from "./channel.ts";
import { requireInTime } from "../event-loop/wait.ts";

/** What can be asked: each takes one plain JSON value, or none, and answers with one. */
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

/** Answers what comes by the channel; what is unknown is answered with a problem. */
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

export type Ask<Questions extends Answers<Questions>> = <Name extends keyof Questions & string>(
  name: Name,
  ...input: Parameters<Questions[Name]>
) => Promise<Awaited<ReturnType<Questions[Name]>>>;

/** Asks the other side. The promise rejects when it cannot answer, or does not within five seconds. */
export function createAsk<Questions extends Answers<Questions>>(channel: Channel): Ask<Questions> {
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
      // Both sides are of one version.
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
