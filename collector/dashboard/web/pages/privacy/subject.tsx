import type { Params } from '../../../../api/client/index.ts'
import { ApiError } from '../../api.ts'
import { TextField } from '../../components/fields.tsx'
import type { Values } from '../../components/form.tsx'

type Subject = Pick<Params<'createOptOut'>, 'hem' | 'email' | 'cookie_id'>

/** The field that names the subject of a request. */
export function SubjectField() {
  return (
    <TextField
      name="subject"
      label="Person or browser"
      hint="An e-mail address, its SHA-256 hash, or a visitor id."
      autocomplete="off"
      maxLength={254}
      required
    />
  )
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Returns the kind of a subject by its form; the service validates addresses. */
export function subjectOf({ subject = '' }: Values): Subject {
  const given = subject.trim()
  if (/^[\da-f]{64}$/i.test(given)) return { hem: given }
  if (given.includes('@')) return { email: given }
  if (uuid.test(given)) return { cookie_id: given }
  const message = `Must be an e-mail address, its SHA-256 hash, or a visitor id (got “${given}”).`
  throw new ApiError(400, 'invalid_parameter', message, { details: { parameter: 'subject' } })
}
