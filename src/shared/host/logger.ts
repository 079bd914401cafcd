/** Writes one line: varying values go into the fields, the message is constant. */
type WriteLine = (fields: object, message: string) => void;

type Level = "info" | "warn" | "error";

/** Logger with the levels that a part needs, `Logger<"warn" | "error">`; by default all levels. */
export type Logger<Levels extends Level = Level> = Readonly<Record<Levels, WriteLine>>;
