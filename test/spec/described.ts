/** Compares answers with the document at /openapi.json. */
import { openValidator, placeOfAnswer, resolveRefs } from '../harness/openapi.ts'
import type { Asked } from './record.ts'

export interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  parameters?: { name: string; in: string; description?: string }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses: Record<
    string,
    { description: string; content?: Record<string, { schema: JsonSchema }> }
  >
}
export interface JsonSchema {
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
}
export interface OpenApi {
  openapi: string
  paths: Record<string, Record<string, Operation>>
}

export const operationOf = (document: OpenApi, name: string): Operation | undefined => {
  const [method, path] = name.split(' ') as [string, string]
  return document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
}

/** An answer without each of its members in turn, where they are always there, and with another type in their place. */
function spoiltOnes(answer: Record<string, unknown>, { required = [] }: JsonSchema): unknown[] {
  return required.flatMap((name) => {
    const { [name]: value, ...rest } = answer
    return [rest, { ...rest, [name]: Array.isArray(value) ? {} : [] }]
  })
}

/** Returns every answer that is not as the document says. */
export function undescribed(unresolved: OpenApi, answers: readonly Asked[]): object[] {
  const errorsOf = openValidator(unresolved)
  const document = resolveRefs(unresolved)
  /** One of each status of a route is also spoilt. */
  const spoilt = new Set<string>()
  /** An error is the same for all who get it. */
  const compared = new Set<string>()
  return answers.flatMap(({ name, who, status, error, text }): object[] => {
    const key = `${name} ${status} ${error}`
    if (status >= 400 && compared.has(key)) return []
    compared.add(key)
    const described = operationOf(document, name)?.responses[String(status)]
    if (!described) return [{ name, who, status, text, is: 'not described' }]
    if (text === '') return []
    const schema = described.content?.['application/json']?.schema
    if (!schema) return [{ name, who, status, is: 'described without a body' }]
    const place = placeOfAnswer(name, status)
    const errors = errorsOf(place, JSON.parse(text))
    if (errors) return [{ name, who, status, text, errors }]
    if (spoilt.has(`${name} ${status}`)) return []
    spoilt.add(`${name} ${status}`)
    // A validator that cannot fail proves nothing: each answer, spoilt, is refused.
    return spoiltOnes(JSON.parse(text), schema)
      .filter((one) => !errorsOf(place, one))
      .map((one) => ({ name, status, passesSpoilt: one }))
  })
}
