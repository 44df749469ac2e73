import { ApiError, invalidParameter } from '../http/errors.ts'
import type { Rows } from '../query/rows.ts'
import { hemOfNamedPerson } from './namedPerson.ts'

/** Most items of a batch (spec: Errors and limits). */
export const itemsMax = 10_000

const idLengthMax = 255

/** An item of a batch: whom it asks for, or why it cannot be asked. */
export interface Item {
  readonly index: number
  /** The caller's own word for it; null where there is none. */
  readonly id: string | null
  readonly asked: string | ApiError
}

/** Reads items one by one: what is wrong with one costs its neighbours nothing. */
export const readItems = (items: readonly unknown[]): Item[] => items.map(readItem)

function readItem(item: unknown, index: number): Item {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return { index, id: null, asked: invalidParameter('items', 'an item must be an object') }
  }
  const { id, hem, email, ...others } = item as Record<string, unknown>
  const isIdGood = typeof id === 'string' && id.length <= idLengthMax
  const [other] = Object.keys(others)
  const asked =
    id !== undefined && !isIdGood
      ? invalidParameter('id', `must be a text of at most ${idLengthMax} characters`)
      : other !== undefined
        ? invalidParameter(other, 'there is no such member of an item')
        : hemOfNamedPerson({ hem, email })
  return { index, id: isIdGood ? id : null, asked }
}

/** The hems of all items that name somebody, each once. */
export const hemsOf = (items: readonly Item[]): string[] => [
  ...new Set(items.flatMap(({ asked }) => (asked instanceof ApiError ? [] : asked))),
]

/** A piece has so many bytes: each costs a turn of the event loop, and the compressor's. */
const pieceBytes = 64 * 1024

/** The results of a batch as pieces of JSON, in the order of its items; `people` are JSON objects by hem. */
export async function* resultsOf(
  items: readonly Item[],
  people: ReadonlyMap<string, Buffer>,
): AsyncGenerator<Rows> {
  let parts: Buffer[] = []
  let length = 0
  let records = 0
  for (const { index, id, asked } of items) {
    const named = `${index === 0 ? '' : ','}{"index":${index},"id":${JSON.stringify(id)}`
    const person = asked instanceof ApiError ? undefined : people.get(asked)
    const result = person
      ? [Buffer.from(`${named},"matched":true,"person":`), person, closing]
      : [Buffer.from(`${named},"matched":false,"person":null${errorOf(asked)}}`)]
    for (const part of result) length += part.length
    parts.push(...result)
    if (person) records += 1
    if (length < pieceBytes && index < items.length - 1) continue
    yield { bytes: Buffer.concat(parts), records }
    parts = []
    length = 0
    records = 0
  }
}

const closing = Buffer.from('}')

const errorOf = (asked: string | ApiError): string =>
  asked instanceof ApiError
    ? `,"error":${JSON.stringify({ error: asked.code, message: asked.message, ...asked.extra.body })}`
    : ''
