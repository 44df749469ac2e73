import { ApiError, invalidParameter } from '../http/errors.ts'
import { hemOfNamedPerson } from '../lookup/namedPerson.ts'

/** Most items of a batch (spec: Errors and limits). */
export const itemsMax = 10_000

const idLengthMax = 255

/** An item of a batch: whom it asks for, or why it cannot be asked. */
export interface Item {
  /** The caller's own word for it; null where there is none. */
  readonly id: string | null
  readonly asked: string | ApiError
}

/**
 * Reads items one by one: what is wrong with one costs its neighbours nothing. An id that comes again is wrong there.
 */
export function readItems(items: readonly unknown[]): Item[] {
  const seen = new Set<string>()
  return items.map((item) => {
    const read = readItem(item)
    if (read.id === null) return read
    if (seen.has(read.id)) return { id: read.id, asked: invalidParameter('id', 'an item before has it') }
    seen.add(read.id)
    return read
  })
}

function readItem(item: unknown): Item {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return { id: null, asked: invalidParameter('items', 'an item must be an object') }
  }
  const { id, hem, email, ...others } = item as Record<string, unknown>
  if (typeof id !== 'string' || id === '' || id.length > idLengthMax) {
    return { id: null, asked: invalidParameter('id', `must be a text of 1 to ${idLengthMax} characters`) }
  }
  const [other] = Object.keys(others)
  if (other !== undefined) {
    return { id, asked: invalidParameter(other.slice(0, 100), 'there is no such member of an item') }
  }
  if (hem === undefined && email === undefined) {
    return { id, asked: invalidParameter('email', 'is missing') }
  }
  return { id, asked: hemOfNamedPerson({ hem, email }) }
}

/** The hems of all items that name somebody, each once. */
export const hemsOf = (items: readonly Item[]): string[] => [
  ...new Set(items.flatMap(({ asked }) => (asked instanceof ApiError ? [] : asked))),
]

/** What is answered of an item that cannot be asked. */
export const errorOf = ({ code, message, extra }: ApiError) => ({ error: code, message, ...extra.body })
