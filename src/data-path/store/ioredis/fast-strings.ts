/** Number of reads after which V8 optimizes; it inspects the objects that a function reads after about ten calls. */
const READS = 1_000;

/**
 * Makes V8 find string methods fast again. The Redis client has a class that extends `String`, and V8 keeps
 * its prototype chain as a dictionary until a property of such an object is read. Primitive strings are not
 * objects, so that never happened: each `charCodeAt` or `slice` in the process was looked up slowly, at up to
 * ten times the cost. Reading properties of a string object fixes it for the rest of the process.
 */
export function makeStringMethodsFast(): void {
  const text = Object("") as Text;
  for (let read = 0; read < READS; read += 1) readLength(text);
}

type Text = Readonly<Record<"length", number>>;

function readLength(text: Text): number {
  return text.length;
}
