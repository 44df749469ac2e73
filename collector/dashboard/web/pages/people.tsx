import { byText } from '../components/listTools.tsx'

interface Person {
  name: string | null
  email: string
  role: string
}

export const nameOf = ({ name, email }: Person): string => name ?? email

/** The text of a person that lists are searched in. */
export const personText = ({ name, email, role }: Person): string =>
  `${name ?? ''} ${email} ${role}`

/** Compares people by their names. */
export const byName = byText(nameOf)

/** The buttons of a list that change the role of a person and remove them. */
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
