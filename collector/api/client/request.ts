import type { Request } from './send.ts'

/**
 * Puts the parameters in the places of the operation ("PATCH /api/v1/audiences/{audience_id}?project_id").
 * Names of its path go into the path. Names after the path, and all others of a GET, go into the query, the
 * rest into the body.
 */
export function requestOf(
  operation: string,
  params: Readonly<Record<string, unknown>> = {},
): Request {
  const [method, target, charged] = operation.split(' ') as [string, string, string?]
  const [template, queryNames = ''] = target.split('?') as [string, string?]
  const rest = new Map(Object.entries(params).filter(([, value]) => value !== undefined))
  const path = template.replace(/\{(\w+)\}/g, (_, name) => {
    const value = rest.get(name)
    if (value === undefined) throw new TypeError(`${name} is required by ${template}`)
    // Such a segment would lead to another operation (RFC 3986, 5.2.4).
    if (['', '.', '..'].includes(String(value)))
      throw new TypeError(`${name} must not be empty, "." or ".." in ${template}`)
    rest.delete(name)
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  for (const [name, value] of rest) {
    if (method === 'GET' || queryNames.split('&').includes(name)) query.append(name, String(value))
    else body[name] = value
  }
  // A body may lack all of its members; only DELETE may have none.
  const hasBody = method !== 'GET' && !(method === 'DELETE' && Object.keys(body).length === 0)
  return {
    method,
    path: `${path}${String(query) && `?${query}`}`,
    isCharged: charged !== undefined,
    ...(hasBody && { body }),
  }
}
