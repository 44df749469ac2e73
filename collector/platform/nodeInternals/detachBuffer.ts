/**
 * Frees the memory of a buffer that is no longer needed, if it owns its ArrayBuffer alone. Otherwise the
 * garbage collector scans all memory of the process for every few pages of 10,000 events.
 */
export function detachBuffer({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0)
}
