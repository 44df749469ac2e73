/** The parts of an OpenAPI 3.1 document that this module reads. */
export interface Document {
  info: { title: string; version: string; description?: string }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, unknown> }
}

export interface Operation {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Content }
  security?: Record<string, string[]>[]
  responses: Record<string, { description: string; content?: Content }>
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}

export type Content = Record<string, { schema?: Schema; example?: unknown }>

export interface Schema {
  title?: string
  type?: string | string[]
  format?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/** Tag of operations for our own pages, which the public contract does not contain. */
export const internalTag = 'Dashboard'

/** Returns the operations by "GET /path", in the order of the document, without those of our own pages. */
export function publicOperations({ paths }: Document): Map<string, Operation> {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  )
  return new Map(all.filter(([, { tags }]) => !tags?.includes(internalTag)))
}
