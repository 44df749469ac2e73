import { type Document, membersOf, type Operation, operationsOf, type Schemas } from './document.ts'

/**
 * Returns the module `operations.ts`, with a line for each operation. A comment lists its parameters, the members of its
 * body in braces, and its statuses. So a review shows each change of the API.
 */
export function operationsModule(document: Document): string {
  const schemas = document.components?.schemas ?? {}
  const calls = operationsOf(document)
  const lines = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => {
      const id = operation.operationId!
      return `  ${id}: '${calls[id]}', // ${factsOf(operation, schemas)}`
    })
  return `// Written by \`npm run client:operations\`: run it after each change of the API.
import type { OperationId } from './client.d.ts'

/**
 * By operationId: the method and the path, and whether its records are charged. Comments list parameters, members of the
 * body and statuses. A ? marks an optional one.
 */
export const operations = {
${lines.join('\n')}
} satisfies Record<OperationId, string>
`
}

function factsOf({ parameters = [], requestBody, responses }: Operation, schemas: Schemas): string {
  const named = (names: readonly string[], required: readonly string[]) =>
    names.toSorted().map((name) => (required.includes(name) ? name : `${name}?`))
  const ofRequest = named(
    parameters.map(({ name }) => name),
    parameters.filter(({ required }) => required).map(({ name }) => name),
  )
  const { properties, required } = membersOf(
    requestBody?.content['application/json']?.schema,
    schemas,
  )
  const members = named(Object.keys(properties), required)
  const body = members.length > 0 ? [`{ ${members.join(' ')} }`] : []
  return [...ofRequest, ...body, '→', ...Object.keys(responses)].join(' ')
}
