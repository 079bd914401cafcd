/** V8 looks at the objects that a function reads once that has run some ten times. */
const READS = 1_000;

/**
 * Lets V8 find the methods of strings fast again. The Redis client has a class that extends `String`, and V8 keeps what a
 * prototype inherits from as a dictionary until a property of an object with it is read. Strings are no objects, so this
 * never came: each `charCodeAt` or `slice` anywhere in the process was looked up, at up to ten times the cost. Reading a
 * string object makes it good for as long as the process runs.
 */
export function keepStringMethodsFast(): void {
  const text = Object("") as Text;
  for (let read = 0; read < READS; read += 1) readLength(text);
}

type Text = Readonly<Record<"length", number>>;

function readLength(text: Text): number {
  return text.length;
}
