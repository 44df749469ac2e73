import { isUuid } from '../../../schemas/uuid.ts'
import { ApiError } from '../../api/http/errors.ts'
import { step } from '../../api/http/itemErrors.ts'
import { isObject } from '../../platform/json.ts'

/** 400 "invalid_parameter" with the JSON pointer of the faulty value in the body. */
export const invalidAt = (pointer: string, message: string): ApiError =>
  new ApiError(400, 'invalid_parameter', `${pointer}: ${message}`, {
    body: { parameter: pointer.slice(1).replaceAll('/', '.'), pointer },
  })

/** Reads the members of an object at `pointer`. All readers throw 400 with a pointer. */
export class Members {
  readonly #given: Record<string, unknown>
  readonly #pointer: string

  /** Accepts only the members `names`. */
  constructor(object: unknown, pointer: string, names: readonly string[]) {
    if (!isObject(object)) throw invalidAt(pointer, 'must be an object')
    const unknown = Object.keys(object).find((name) => !names.includes(name))
    if (unknown !== undefined) {
      throw invalidAt(
        this.#placeOf(unknown, pointer),
        `is not allowed; allowed are ${names.join(', ')}`,
      )
    }
    this.#given = object
    this.#pointer = pointer
  }

  #placeOf(name: string, pointer = this.#pointer): string {
    return `${pointer}/${step(name)}`
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#given, name)
  }

  /** Returns 400 for a fault of that member. */
  invalid(name: string, message: string): ApiError {
    return invalidAt(this.#placeOf(name), message)
  }

  required(name: string): unknown {
    if (!this.has(name)) throw this.invalid(name, 'is required')
    return this.#given[name]
  }

  text(name: string, lengthMax: number): string {
    const value = this.required(name)
    if (typeof value !== 'string' || value === '') throw this.invalid(name, 'must be a string')
    if (value.length > lengthMax)
      throw this.invalid(name, `must have at most ${lengthMax} characters`)
    return value
  }

  /** Returns an id in lower case, and writes it back: a stored definition has ids as the service writes them. */
  id(name: string): string {
    const id = this.text(name, 100).toLowerCase()
    if (!isUuid(id)) throw this.invalid(name, 'must be a UUID')
    this.#given[name] = id
    return id
  }

  integer(name: string, minimum: number, maximum: number): number {
    const value = this.required(name)
    if (!Number.isInteger(value) || (value as number) < minimum || (value as number) > maximum) {
      throw this.invalid(name, `must be a whole number from ${minimum} to ${maximum}`)
    }
    return value as number
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T {
    const value = this.required(name)
    const match = values.find((candidate) => candidate === value)
    if (match === undefined) throw this.invalid(name, `must be ${values.join(' or ')}`)
    return match
  }
}
