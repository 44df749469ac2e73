/** The parts of the service's OpenAPI document from which the clients' files are made. */
export interface Document {
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Schemas }
}

export interface Operation {
  operationId?: string
  summary?: string | undefined
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
}

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string | undefined
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  minimum?: number
  maximum?: number
  $defs?: Schemas
}

export type Schemas = Readonly<Record<string, Schema>>

/**
 * Returns every operation by its `operationId`: "METHOD path". Methods other than GET also list query
 * parameters that the body does not have. Charged operations have "charged".
 */
export function operationsOf({
  paths,
  components: { schemas = {} } = {},
}: Document): Record<string, string> {
  const operations: Record<string, string> = {}
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId, parameters = [], requestBody }] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`
      if (operationId === undefined) throw new Error(`${name} has no operationId`)
      if (operationId in operations) throw new Error(`two operations are named ${operationId}`)
      const { properties } = membersOf(requestBody?.content['application/json']?.schema, schemas)
      const inQuery = parameters
        .filter((parameter) => parameter.in === 'query' && !(parameter.name in properties))
        .map((parameter) => parameter.name)
      const query = method !== 'get' && inQuery.length > 0 ? `?${inQuery.join('&')}` : ''
      const isCharged = parameters.some((parameter) => parameter.name === 'Idempotency-Key')
      operations[operationId] = `${name}${query}${isCharged ? ' charged' : ''}`
    }
  }
  return operations
}

/** The members that objects of a schema may have, and those that every alternative requires. */
export function membersOf(schema: Schema = {}, schemas: Schemas): Members {
  const { $ref, properties = {}, required = [], anyOf = [], oneOf = [], allOf = [] } = schema
  const named = $ref === undefined ? [] : [schemas[nameIn($ref)]!]
  const members: Members = { properties: { ...properties }, required: [...required] }
  for (const part of [...named, ...allOf]) {
    const own = membersOf(part, schemas)
    Object.assign(members.properties, own.properties)
    members.required.push(...own.required)
  }
  for (const part of [...anyOf, ...oneOf])
    Object.assign(members.properties, membersOf(part, schemas).properties)
  return members
}

export interface Members {
  properties: Record<string, Schema>
  required: string[]
}

/** The name of the shared schema that a `$ref` names. */
export const nameIn = ($ref: string): string => $ref.split('/').at(-1)!
