import { isObject } from '../../platform/json.ts'
import { isText } from '../normalize/text.ts'
import type { Data } from '../normalize/validateEvent.ts'

/** Returns the members of a value that should be an object; none if it is not. */
export const objectOf = (value: unknown): Data => (isObject(value) ? value : {})

export const textOf = (value: unknown): string | undefined =>
  isText(value) && value !== '' ? value : undefined

/** Returns the page data in the context of a message. */
export const pageOf = ({ context }: Data): Data => objectOf(objectOf(context).page)
