import { type Document, type Operation, publicOperations, type Schema } from './document.ts'
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

/** Texts by their format, and by the name of their member. */
const byFormat: Readonly<Record<string, string>> = {
  uuid: '5a3b1e00-0000-4000-8000-000000000001',
  'date-time': '2026-11-01T09:30:00Z',
  date: '2026-11-01',
  uri: 'https://www.example.com/pricing',
  email: 'ann@example.com',
}
const textByName: readonly (readonly [RegExp, string])[] = [
  [/^event_type$/, 'page_view'],
  [/^tier$/, 'web_event'],
  [/(^|_)id$/, byFormat.uuid!],
  [/(_at|^at|^from|^until|^timestamp|time|^since)$/, byFormat['date-time']!],
  [/(date|^day)$/, byFormat.date!],
  [/url$/, byFormat.uri!],
  [/email$/, byFormat.email!],
  [/path$/, '/pricing'],
  [/^hem$/, '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8'],
  [/country$/, 'DE'],
  [/domain$|host$/, 'example.com'],
  [/cursor$/, 'eyJpZCI6IjVhM2IxZTAwIn0'],
  [/first_name$/, 'Ann'],
  [/last_name$/, 'Lee'],
  [/job_title$/, 'Director of Sales'],
  [/company_name$/, 'Example Ltd'],
  [/name$/, 'Example'],
  [/currency$/, 'EUR'],
  [/zone$/, 'Europe/Berlin'],
  [/filter$/, 'country:eq:DE'],
]

/** Numbers by the name of their member; 42 for others. */
const numberByName: readonly (readonly [RegExp, number])[] = [
  [/^(start|from)_ms$|_millis$/, 1_767_225_600_000],
  [/^(end|until|to)_ms$/, 1_767_312_000_000],
  [/_ms$/, 1_500],
  [/^(records|charged)$/, 1],
]

interface ExampleOptions {
  /** The fields that the request selects: rows show these. */
  readonly select: readonly string[]
}

/** Members of rows that the schema does not require, if the request selects none. */
const optionalMax = 6

/**
 * Returns an answer that a schema describes: one item of each list, required members, and the selected fields of rows.
 * `undefined` for a schema that describes nothing.
 */
function exampleOf(schema: Schema, options: ExampleOptions, name = ''): unknown {
  const { const: only, enum: values, examples, type, anyOf, oneOf, allOf } = schema
  const fixed = only ?? examples?.[0] ?? values?.find((value) => value !== null) ?? schema.default
  if (fixed !== undefined) return fixed
  const alternatives = anyOf ?? oneOf
  if (alternatives) {
    const chosen = alternatives.find((part) => part.type !== 'null') ?? alternatives[0]!
    return exampleOf(chosen, options, name)
  }
  if (allOf)
    return Object.assign({}, ...allOf.map((part) => exampleOf(part, options, name) as object))
  const first = Array.isArray(type) ? type.find((each) => each !== 'null') : type
  switch (first) {
    case 'object':
      return objectOf(schema, options)
    case 'array':
      return arrayOf(schema, options, name)
    case 'string':
      return textOf(schema, name)
    case 'integer':
    case 'number':
      return numberOf(schema, name)
    case 'boolean':
      return name !== 'has_more'
    default:
      return first === 'null' ? null : undefined
  }
}

function objectOf({ properties = {}, required = [] }: Schema, options: ExampleOptions): object {
  const names = Object.keys(properties)
  const selected = names.filter((name) => options.select.includes(name))
  const optional = selected.length > 0 ? selected : names.slice(0, optionalMax)
  const shown = required.length > 0 ? [...required, ...selected] : optional
  return Object.fromEntries(
    names
      .filter((name) => shown.includes(name))
      .map((name) => [name, exampleOf(properties[name]!, options, name)])
      .filter(([, value]) => value !== undefined),
  )
}

function arrayOf({ items, maxItems = 1 }: Schema, options: ExampleOptions, name: string) {
  const item = maxItems === 0 || !items ? undefined : exampleOf(items, options, name)
  return item === undefined ? [] : [item]
}

function textOf({ format, maxLength }: Schema, name: string): string {
  const text = byFormat[format ?? ''] ?? named(textByName, name) ?? 'text'
  return maxLength === undefined ? text : text.slice(0, maxLength)
}

function numberOf({ minimum = 0, maximum }: Schema, name: string): number {
  const value = Math.max(minimum, named(numberByName, name) ?? 42)
  return maximum === undefined ? value : Math.min(maximum, value)
}

const named = <Value>(table: readonly (readonly [RegExp, Value])[], name: string) =>
  table.find(([pattern]) => pattern.test(name))?.[1]
