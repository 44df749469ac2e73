import type { FastifyRequest } from 'fastify'
import { invalidParameter } from './errors.ts'
import { partsOf } from './jsonParts.ts'

/** A preValidation hook: throws 400 for a body with text that PostgreSQL cannot keep. */
export async function rejectUnstorableText({ body }: FastifyRequest): Promise<void> {
  if (typeof body !== 'object' || body === null) return
  for (const [name, value] of Object.entries(body)) {
    for (const part of partsOf(value)) {
      const texts = typeof part === 'object' && part !== null ? Object.keys(part) : [part]
      if (!texts.every(isStorable)) {
        throw invalidParameter(name, 'holds characters that cannot be stored: NUL, or half a surrogate pair')
      }
    }
  }
}

const isStorable = (value: unknown): boolean =>
  typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))
