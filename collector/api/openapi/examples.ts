import { type Document, type Operation, publicOperations, type Schema } from './document.ts'
import { exampleOf } from './exampleAnswer.ts'
import { type ExampleRequest, exampleIds, exampleRequests } from './exampleRequests.ts'

/** Writes examples where OpenAPI has them: at parameters, at the body, and at the answer. */
export function addExamples(document: Document): void {
  for (const [name, operation] of publicOperations(document)) {
    const request = exampleRequestOf(name, operation)
    addRequest(operation, request)
    addAnswer(operation, request)
  }
}

/** Returns the example of a request: its entry in the table, and ids of sample records. */
function exampleRequestOf(name: string, { parameters = [] }: Operation): ExampleRequest {
  const { params, query, body } = exampleRequests[name] ?? {}
  const ids = (place: string, names: readonly string[]) =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === place && names.includes(one.name))
        .map((one) => [one.name, exampleIds[one.name]!]),
    )
  const isProjectInBody = typeof body === 'object' && body !== null && 'project_id' in body
  return {
    params: { ...ids('path', Object.keys(exampleIds)), ...params },
    query: { ...ids('query', isProjectInBody ? [] : ['project_id']), ...query },
    body,
  }
}

function addRequest({ parameters = [], requestBody }: Operation, example: ExampleRequest): void {
  for (const parameter of parameters) {
    // A parameter has examples of other values; the one below belongs to the response.
    const { example: _, ...others } = parameter
    const text = { ...example.params, ...example.query }[parameter.name]
    Object.assign(parameter, others, { example: valueFor(text, parameter.schema) })
  }
  const body = requestBody?.content['application/json']
  if (body && example.body !== undefined) body.example = example.body
}

/** Adds an example to each successful JSON answer, made from its schema. */
function addAnswer({ responses }: Operation, { query = {}, body }: ExampleRequest): void {
  const selected = query.select ?? (body as { select?: string } | undefined)?.select
  const select = selected?.split(',') ?? []
  for (const [status, { content }] of Object.entries(responses)) {
    const answer = content?.['application/json']
    if (!status.startsWith('2') || !answer?.schema) continue
    const example = exampleOf(answer.schema, { select })
    if (example !== undefined) answer.example = example
  }
}

const valueFor = (text: string | undefined, schema: Schema | undefined): unknown =>
  text !== undefined && schema?.type === 'integer' ? Number(text) : text
