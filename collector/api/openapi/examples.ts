import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../platform/paths.ts'
import { type Document, publicOperations, type Schema } from './document.ts'

/** A request with its response. */
export interface Example {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
  status: number
  answer: unknown
}

/** By operation, recorded by test/spec/examples.test.ts: requests to a real service with sample data, and its answers. */
export const examplesFile = join(packageRoot, 'collector/api/openapi/examples.json')

export const readExamples = (): Record<string, Example> =>
  JSON.parse(readFileSync(examplesFile, 'utf8'))

/** Writes examples where OpenAPI has them: at parameters, at the body, and at the answer. */
export function addExamples(document: Document, examples: Record<string, Example>): void {
  for (const [name, { parameters = [], requestBody, responses }] of publicOperations(document)) {
    const example = examples[name]
    if (!example) continue
    for (const parameter of parameters) {
      // A parameter has examples of other values; the one below belongs to the response.
      const { example: _, ...others } = parameter
      const text = { ...example.params, ...example.query }[parameter.name]
      Object.assign(parameter, others, { example: valueFor(text, parameter.schema) })
    }
    const body = requestBody?.content['application/json']
    if (body && example.body !== undefined) body.example = example.body
    const answer = responses[example.status]?.content?.['application/json']
    if (answer && example.answer !== null) answer.example = example.answer
  }
}

/** The value of a text in a URL. */
const valueFor = (text: string | undefined, schema: Schema | undefined): unknown =>
  text !== undefined && schema?.type === 'integer' ? Number(text) : text
