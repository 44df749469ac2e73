import { type ApiError, invalidParameter } from '../../api/http/errors.ts'
import { hemOf, isEmail, isHem } from '../../platform/hem.ts'

/** The parameters that name a person; exactly one must be given. */
export interface NamedPerson {
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
