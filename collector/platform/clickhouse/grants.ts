import { StartError } from '../startError.ts'
import { ClickHouseRefused } from '../storeErrors.ts'

const accessDenied = 497

/** Whether ClickHouse refused for want of a grant. */
export const isAccessDenied = (error: unknown): error is ClickHouseRefused =>
  error instanceof ClickHouseRefused && error.code === accessDenied

/** The sentence that names the grant which ClickHouse asks for. */
export function lacksGrant({ message }: ClickHouseRefused): StartError {
  const grant = /necessary to have the grant (.+?)(?:\. |\.?$)/s.exec(message)?.[1]
  return new StartError(
    `the login of CLICKHOUSE_URL needs a grant of ClickHouse: ${grant ? `GRANT ${grant}` : message}; collector/docs/operations.md lists all required grants`,
  )
}
