const bytesFirst = 16 * 1024 * 1024
/** The maximum number of UTF-8 bytes for one UTF-16 unit. */
const bytesPerUnit = 3

/** Collects lines as bytes, because long-lived strings would slow down the garbage collector. */
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
