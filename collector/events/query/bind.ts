import type { Query } from '../../platform/clickhouse/client.ts'

/** Binds a value and returns the placeholder that stands for it in SQL: the only way a value gets into a query. */
export type Bind = (type: string, value: Bound | readonly Bound[]) => string
type Bound = string | number | bigint | boolean

/** A fresh set of parameters, p0, p1, …, and the function that fills it. */
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
