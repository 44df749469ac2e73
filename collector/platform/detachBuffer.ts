/**
 * Frees the memory of bytes that nobody needs any more, where it is all theirs. The garbage collector would look at all
 * of the process's memory for every few pages of 10,000 events: most of the time that passing one on took.
 */
export function detachBuffer({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0)
}
