import { isUuid } from '../../../schemas/uuid.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { hemOf } from '../../platform/hem.ts'

/** The cookie id of events without a cookie. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The subject of a request: a person, by the hashed address, or one browser. */
export type Subject = { hem: string; cookieId?: never } | { cookieId: string; hem?: never }

interface SubjectInput {
  hem?: string | undefined
  email?: string | undefined
  cookie_id?: string | undefined
}

/** Reads the subject of a request. Throws 400 unless the request names exactly one. */
export function readSubject(input: SubjectInput): Subject {
  const names = (['hem', 'email', 'cookie_id'] as const).filter((name) => input[name] !== undefined)
  if (names.length !== 1) {
    throw invalidParameter(names[1] ?? 'hem', 'give exactly one of hem, email and cookie_id')
  }
  if (input.email !== undefined) return { hem: hemOf(input.email) }
  if (input.hem !== undefined) return { hem: input.hem.toLowerCase() }
  const cookieId = input.cookie_id!
  if (cookieId === nobody) throw invalidParameter('cookie_id', 'must be the cookie id of a browser')
  return { cookieId }
}

/** Parses an e-mail address, a hem or a cookie's id. Null for other texts. */
export function readSubjectText(input: string): Subject | null {
  const text = input.trim()
  if (/^[0-9a-f]{64}$/i.test(text)) return { hem: text.toLowerCase() }
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return { hem: hemOf(text) }
  return isUuid(text) && text !== nobody ? { cookieId: text.toLowerCase() } : null
}
