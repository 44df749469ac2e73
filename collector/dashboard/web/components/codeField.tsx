import { TextField } from './fields.tsx'

/** The field for the second factor's code. */
export function CodeField({ hint }: { hint: string }) {
  return (
    <TextField
      name="code"
      label="Code"
      hint={hint}
      autocomplete="one-time-code"
      maxLength={40}
      required
    />
  )
}
