/**
 * Frees the memory of bytes that are no longer needed, if the buffer contains only these. Otherwise the
 * garbage collector scans all memory of the process for every few pages of 10,000 events. This took most of the time of a page.
 */
export function detachBuffer({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0)
}
