import { writeFileSync } from 'node:fs'

type Value = string | number | readonly Value[] | { readonly [key: string]: Value }

/** Writes a database in MaxMind's format that knows one thing: `value`, of all IPv4 addresses that begin with `firstByte`. */
export function writeDatabase(file: string, firstByte: number, value: Value): void {
  const bits = [...firstByte.toString(2).padStart(8, '0')].map(Number)
  const nowhere = bits.length
  const data = bits.length + 16
  const tree = bits.flatMap((bit, node) => {
    const next = node + 1 === bits.length ? data : node + 1
    return bit === 0 ? [next, nowhere] : [nowhere, next]
  })
  const metadata = {
    node_count: bits.length,
    record_size: 24,
    ip_version: 4,
    database_type: 'Test',
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 0,
    languages: [],
    description: {},
  }
  writeFileSync(
    file,
    Buffer.concat([
      Buffer.from(tree.flatMap((record) => [record >> 16, (record >> 8) & 0xff, record & 0xff])),
      Buffer.alloc(16),
      encode(value),
      Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
      encode(metadata),
    ]),
  )
}

/** A value of the format's data section; texts and lists are short here. */
function encode(value: Value): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value)
    return Buffer.concat([Buffer.from([(2 << 5) | text.length]), text])
  }
  // uint32, in four bytes.
  if (typeof value === 'number')
    return Buffer.from([(6 << 5) | 4, value >> 24, value >> 16, value >> 8, value])
  if (Array.isArray(value))
    return Buffer.concat([Buffer.from([value.length, 4]), ...value.map(encode)])
  const members = Object.entries(value)
  return Buffer.concat([
    Buffer.from([(7 << 5) | members.length]),
    ...members.flatMap(([key, member]) => [encode(key), encode(member)]),
  ])
}
