import type { Params } from '../../../../api/client/index.ts'
import { TextField } from '../../components/fields.tsx'
import type { Values } from '../../components/form.tsx'

type Subject = Pick<Params<'createOptOut'>, 'hem' | 'email' | 'cookie_id'>

/** Asks whom it is about. */
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

/** Which of the three it is, by its form; whether it is a good one the service says. */
export function subjectOf({ subject = '' }: Values): Subject {
  const given = subject.trim()
  if (/^[\da-f]{64}$/i.test(given)) return { hem: given }
  return given.includes('@') ? { email: given } : { cookie_id: given }
}
