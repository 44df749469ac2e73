import type { OperationId } from '../client/client.d.ts'
import {
  type Document,
  membersOf,
  type Operation,
  type Schema,
  type Schemas,
} from '../client/document.ts'
import {
  type Bound,
  chargedOperations,
  chargedParameters,
  freeOperations,
} from './allowedOperations.ts'

/** A tool of the server: an operation of the API. */
export interface Tool {
  name: OperationId
  title: string
  description: string
  inputSchema: { type: 'object'; properties: Record<string, Schema> } & Schema
  annotations: { readOnlyHint: true }
  /** The limit of charged records; null for a free operation. */
  bound: Bound | null
  /** Whether the operation has `dry_run`, which makes a request free. */
  hasDryRun: boolean
  recordsMax: number
}

export function toolsOf(document: Document): Tool[] {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]))
  const allowed: [OperationId, Bound | null][] = [
    ...freeOperations.map((id): [OperationId, null] => [id, null]),
    ...(Object.entries(chargedOperations) as [OperationId, Bound][]),
  ]
  return allowed.flatMap(([id, bound]) => {
    const operation = byId.get(id)
    return operation ? [toolOf(id, operation, bound, document.components?.schemas ?? {})] : []
  })
}

const maxRecords: Schema = {
  type: 'integer',
  minimum: 1,
  description: 'Most records that this request may be charged for. Ask the user for this number.',
}

function toolOf(
  name: OperationId,
  { summary = name, description = '', parameters = [], requestBody }: Operation,
  bound: Bound | null,
  schemas: Schemas,
): Tool {
  const members = membersOf(requestBody?.content['application/json']?.schema, schemas)
  for (const parameter of parameters) {
    if (parameter.in !== 'path' && parameter.in !== 'query') continue
    members.properties[parameter.name] = {
      ...parameter.schema,
      ...(parameter.description !== undefined && { description: parameter.description }),
    }
    if (parameter.required) members.required.push(parameter.name)
  }
  const { properties } = members
  const hasDryRun = 'dry_run' in properties
  const limit = bound === 'limit' || bound === 'page_size' ? properties[bound] : undefined
  if (bound) {
    // `max_records` replaces the parameter that limits the records, or counts `items`.
    for (const member of Object.keys(properties))
      if (!chargedParameters.has(member) && !(bound === 'items' && member === bound))
        delete properties[member]
    properties.max_records = maxRecords
    if (!hasDryRun) members.required.push('max_records')
  }
  const required = [...new Set(members.required)].filter((member) => member in properties)
  const charge = bound ? ' Charged for each record: requires max_records' : ''
  const freely = bound && hasDryRun ? ', unless dry_run is true' : ''
  return {
    name,
    title: summary,
    description: `${summary}.${charge}${freely}${bound ? '.' : ' Free.'} ${description}`.trim(),
    inputSchema: withDefinitions(
      { type: 'object', properties, required, additionalProperties: false },
      schemas,
    ),
    annotations: { readOnlyHint: true },
    bound,
    hasDryRun,
    recordsMax: limit?.maximum ?? Number.MAX_SAFE_INTEGER,
  }
}

const reference = /#\/components\/schemas\/([\w.-]+)/g

/** Returns a schema together with the shared schemas that it refers to. */
function withDefinitions<S extends Schema>(schema: S, schemas: Schemas): S {
  const $defs: Record<string, Schema> = {}
  const rewritten = (part: Schema): Schema => {
    const text = JSON.stringify(part)
    for (const [, name] of text.matchAll(reference)) {
      if (name! in $defs) continue
      $defs[name!] = {}
      $defs[name!] = rewritten(schemas[name!]!)
    }
    return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'))
  }
  const own = rewritten(schema) as S
  return Object.keys($defs).length === 0 ? own : { ...own, $defs }
}
