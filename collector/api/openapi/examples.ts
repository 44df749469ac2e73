import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../platform/paths.ts'
import { type Document, publicOperations, type Schema } from './document.ts'

/** A request, and what was answered to it. */
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
      // An address has examples of what else may be asked; the one below goes with the answer.
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

/** What a text in an address stands for. */
const valueFor = (text: string | undefined, schema: Schema | undefined): unknown =>
  text !== undefined && schema?.type === 'integer' ? Number(text) : text
