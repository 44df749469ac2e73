/** The bytes of a text in base 32 without padding (RFC 4648, 6), as an authenticator app reads it. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((char) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'),
  )
  return Buffer.from(
    bits
      .join('')
      .match(/.{8}/g)!
      .map((byte) => Number.parseInt(byte, 2)),
  )
}
