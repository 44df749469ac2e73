import { byText } from '../components/listTools.tsx'

interface Person {
  name: string | null
  email: string
  role: string
}

export const nameOf = ({ name, email }: Person): string => name ?? email

/** Returns the text of a person that searches of lists use. */
export const personText = ({ name, email, role }: Person): string =>
  `${name ?? ''} ${email} ${role}`

/** Compares people by their names. */
export const byName = byText(nameOf)

/** Buttons that change the role of a person or remove the person. */
export function PersonButtons({
  email,
  choose,
}: {
  email: string
  choose(kind: 'role' | 'remove'): void
}) {
  return (
    <>
      <button type="button" aria-label={`Change role of ${email}`} onClick={() => choose('role')}>
        Change role
      </button>
      <button type="button" aria-label={`Remove ${email}`} onClick={() => choose('remove')}>
        Remove
      </button>
    </>
  )
}
