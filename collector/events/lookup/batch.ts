import { ApiError } from '../../api/http/errors.ts'
import { itemErrorOf } from '../../api/http/itemErrors.ts'
import type { Delivery } from '../../billing/charge.ts'
import type { Item } from './batchItems.ts'

/** Size of a piece: each piece costs a turn of the event loop and of the compressor. */
const pieceBytes = 64 * 1024

/**
 * Yields the results of a batch as pieces of JSON, in the order of its items; `people` are JSON objects by
 * hem.
 */
export async function* resultsOf(
  items: readonly Item[],
  people: ReadonlyMap<string, Buffer>,
): AsyncGenerator<Delivery> {
  let parts: Buffer[] = []
  let length = 0
  let records = 0
  for (const item of items) {
    const { index, id, hemOrError: asked } = item
    const named = `${index === 0 ? '' : ','}{"index":${index},"id":${JSON.stringify(id)}`
    const person = asked instanceof ApiError ? undefined : people.get(asked)
    const result = person
      ? [Buffer.from(`${named},"matched":true,"person":`), person, closing]
      : [Buffer.from(`${named},"matched":false,"person":null${errorOf(item)}}`)]
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

const errorOf = ({ index, hemOrError: asked }: Item): string =>
  asked instanceof ApiError ? `,"error":${JSON.stringify(itemErrorOf(index, asked))}` : ''
