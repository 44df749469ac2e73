import { ApiError, invalidParameter } from '../../api/http/errors.ts'
import { hemOf, isEmail, isHem } from '../../platform/hem.ts'

/** Most items of a batch (spec: Errors and limits). */
export const itemsMax = 10_000

const idLengthMax = 255
const parameterCharsMax = 100

/** An item of a batch: its hem, or the reason why it is invalid. */
export interface Item {
  readonly index: number
  /** The caller's name of the item, which may be empty or repeated; null without one. */
  readonly id: string | null
  readonly hemOrError: string | ApiError
}

/** Reads the items of a batch one by one: an invalid item does not affect the others. */
export const readItems = (
  items: readonly unknown[],
  { requiresId }: { requiresId: boolean },
): Item[] => items.map((item, index) => ({ index, ...readItem(item, requiresId) }))

function readItem(item: unknown, requiresId: boolean): Pick<Item, 'id' | 'hemOrError'> {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    return { id: null, hemOrError: invalidParameter('items', 'an item must be an object') }
  }
  const { id, hem, email, ...others } = item as Record<string, unknown>
  const isIdGood = typeof id === 'string' && id.length <= idLengthMax
  const [other] = Object.keys(others)
  const hemOrError =
    (id !== undefined || requiresId) && !isIdGood
      ? invalidParameter('id', `must be a string of at most ${idLengthMax} characters`)
      : other !== undefined
        ? invalidParameter(other.slice(0, parameterCharsMax), 'is not a field of an item')
        : hemOfNamedPerson({ hem, email })
  return { id: isIdGood ? id : null, hemOrError }
}

/** Returns the number of items that name a person, which is the maximum number of matches. */
export const countAskable = (items: readonly Item[]): number =>
  items.filter(({ hemOrError }) => !(hemOrError instanceof ApiError)).length

/** Returns the hems of all items that name a person, without duplicates. */
export const hemsOf = (items: readonly Item[]): string[] => [
  ...new Set(items.flatMap(({ hemOrError }) => (hemOrError instanceof ApiError ? [] : hemOrError))),
]

/** The parameters that name a person; exactly one must be given. */
interface NamedPerson {
  hem?: unknown
  email?: unknown
}

/** Returns the hem of the named person. Throws 400 "invalid_parameter". */
export function hemOfNamedPerson({ hem, email }: NamedPerson): string | ApiError {
  if (hem === undefined && email === undefined)
    return invalidParameter('hem', 'is required: give hem or email')
  if (hem !== undefined && email !== undefined)
    return invalidParameter('email', 'cannot be combined with hem')
  if (hem !== undefined) {
    const lowered = typeof hem === 'string' ? hem.trim().toLowerCase() : ''
    return isHem(lowered)
      ? lowered
      : invalidParameter('hem', 'must be a SHA-256 hash, 64 hexadecimal digits')
  }
  const address = typeof email === 'string' ? email.trim() : ''
  return isEmail(address) ? hemOf(address) : invalidParameter('email', 'must be an e-mail address')
}
