import type { Params } from '../../../../api/client/index.ts'
import { TextField } from '../../components/fields.tsx'
import type { Values } from '../../components/form.tsx'

type Subject = Pick<Params<'createOptOut'>, 'hem' | 'email' | 'cookie_id'>

/** The field that names the subject of a request. */
export function SubjectField() {
  return (
    <TextField
      name="subject"
      label="Person or browser"
      hint="An e-mail address, its SHA-256 (hem), or a browser’s cookie id."
      autocomplete="off"
      maxLength={254}
      required
    />
  )
}

/** Returns the kind of a subject by its form; the service validates it. */
export function subjectOf({ subject = '' }: Values): Subject {
  const given = subject.trim()
  if (/^[\da-f]{64}$/i.test(given)) return { hem: given }
  return given.includes('@') ? { email: given } : { cookie_id: given }
}
