import type { Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { setOperator } from './operators.ts'

/** `footfall operator add EMAIL` and `remove EMAIL`. */
export async function changeOperator(
  postgres: Postgres,
  email: string,
  isOperator: boolean,
): Promise<void> {
  if (!(await setOperator(postgres, email, isOperator)))
    throw new StartError(`no user has the e-mail address ${email}`)
  console.log(
    `${email} ${isOperator ? 'sees' : 'no longer sees'} the operator page of the dashboard.`,
  )
}
