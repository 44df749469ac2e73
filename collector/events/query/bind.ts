import type { Query } from '../../platform/clickhouse/client.ts'

/** Binds a value and returns its placeholder for SQL. Values enter a query only through this function. */
export type Bind = (type: string, value: Bound | readonly Bound[]) => string
type Bound = string | number | bigint | boolean

/** Returns an empty set of parameters, p0, p1, …, and the function that adds to it. */
export function bindings(): { bind: Bind; params: Query['params'] } {
  const params: Record<string, Bound | readonly Bound[]> = {}
  let bound = 0
  const bind: Bind = (type, value) => {
    const name = `p${bound++}`
    params[name] = value
    return `{${name}:${type}}`
  }
  return { bind, params }
}
