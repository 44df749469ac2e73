import type { FastifyRequest } from 'fastify'
import { invalidParameter } from './errors.ts'

/** A preValidation hook that throws 400 for a body with text that PostgreSQL cannot store. */
export async function rejectUnstorableText({ body }: FastifyRequest): Promise<void> {
  if (typeof body !== 'object' || body === null) return
  for (const [name, value] of Object.entries(body)) {
    if (!isStorable(value)) {
      throw invalidParameter(name, 'must not contain NUL or half a surrogate pair')
    }
  }
}

/** jsonBody.ts limits the depth of bodies, so the recursion is bounded. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isStorable)
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member))
}
