/** Writes one line: what differs goes into the fields, the message is a constant. */
type WriteLine = (fields: object, message: string) => void;

type Level = "info" | "warn" | "error";

/** What a part needs of a logger: the levels that it writes, `Logger<"warn" | "error">`; all where none is named. */
export type Logger<Levels extends Level = Level> = Readonly<Record<Levels, WriteLine>>;
