const bytesFirst = 16 * 1024 * 1024
/** Most bytes of UTF-8 for one unit of a string. */
const bytesPerUnit = 3

/** Gathers lines as bytes at once: strings that lived as long as a chunk would occupy the garbage collector. */
export class LineBuffer {
  #bytes = Buffer.allocUnsafeSlow(bytesFirst)
  #length = 0

  add(line: string): void {
    const needed = this.#length + bytesPerUnit * line.length
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * needed)
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#length += this.#bytes.write(line, this.#length)
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }
}
