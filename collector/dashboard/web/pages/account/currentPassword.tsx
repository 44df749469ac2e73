import { TextField } from '../../components/fields.tsx'
import { useSession } from '../../session.ts'

/** Field for the password of the signed-in user, which password managers recognize. */
export function CurrentPassword() {
  const { member } = useSession()
  return (
    <>
      <input type="text" autocomplete="username" value={member.email} readOnly hidden />
      <TextField
        name="current_password"
        label="Current password"
        type="password"
        autocomplete="current-password"
        maxLength={200}
        required
      />
    </>
  )
}
