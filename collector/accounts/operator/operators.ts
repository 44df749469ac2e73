import { callerId, type Principal } from '../../api/access/principal.ts'
import { forbidden } from '../../api/http/errors.ts'
import { normalizedEmail } from '../../platform/normalizedEmail.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Throws 403 unless the caller is an operator. */
export async function requireOperator(client: Queryable, principal: Principal): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM members JOIN users USING (user_id) WHERE member_id = $1 AND is_operator AND NOT $2',
    // The provider of an organization cannot authenticate operators.
    [
      callerId(principal),
      principal.caller.kind === 'member' && principal.caller.byProvider === true,
    ],
  )
  if (rowCount === 0)
    throw forbidden(
      'This requires an operator. The operator of the service can run `npx footfall-server operator add EMAIL`.',
    )
}

/** Makes a user an operator, or revokes that; false if no user has this e-mail address. */
export async function setOperator(
  client: Queryable,
  email: string,
  isOperator: boolean,
): Promise<boolean> {
  const { rowCount } = await client.query('UPDATE users SET is_operator = $2 WHERE email = $1', [
    normalizedEmail(email),
    isOperator,
  ])
  return rowCount! > 0
}
