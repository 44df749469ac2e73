import { StartError } from '../startError.ts'
import { ClickHouseRefused } from '../storeErrors.ts'

const accessDenied = 497

/** Whether ClickHouse refused a statement because a grant is missing. */
export const isAccessDenied = (error: unknown): error is ClickHouseRefused =>
  error instanceof ClickHouseRefused && error.code === accessDenied

/** Returns an error that names the missing grant. */
export function lacksGrant({ message }: ClickHouseRefused): StartError {
  const grant = /necessary to have the grant (.+?)(?:\. |\.?$)/s.exec(message)?.[1]
  return new StartError(
    `the login of CLICKHOUSE_URL needs a grant of ClickHouse: ${grant ? `GRANT ${grant}` : message}; collector/docs/operations.md lists all required grants`,
  )
}
