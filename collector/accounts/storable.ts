import type { FastifyRequest } from 'fastify'
import { invalidParameter } from '../errors.ts'

/** In JSON text: NUL, and halves of characters that stand alone. */
const unstorable = /\\u(0000|d[89a-f])/i

/** A preValidation hook: throws 400 for a body with text that PostgreSQL cannot keep. */
export async function requireStorable({ body }: FastifyRequest): Promise<void> {
  if (typeof body !== 'object' || body === null) return
  for (const [name, value] of Object.entries(body)) {
    if (unstorable.test(JSON.stringify(value))) {
      throw invalidParameter(name, 'holds characters that cannot be stored: NUL, or half a surrogate pair')
    }
  }
}
