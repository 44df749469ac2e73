import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** GET /openapi.json with every `$ref` replaced by its target, so that each schema can be used alone. */
export function resolveRefs<Document>(document: Document): Document {
  const { schemas = {} } =
    (document as { components?: { schemas?: Record<string, unknown> } }).components ?? {}
  const prefix = '#/components/schemas/'
  /** The same object each time, so that a validator compiles it once. */
  const named = new Map<string, unknown>()
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve)
    if (typeof node !== 'object' || node === null) return node
    const { $ref } = node as { $ref?: unknown }
    if (typeof $ref === 'string') {
      const name = $ref.slice(prefix.length)
      if (!$ref.startsWith(prefix) || !(name in schemas))
        throw new Error(`Nothing is named ${$ref}`)
      if (!named.has(name)) named.set(name, resolve(schemas[name]))
      return named.get(name)
    }
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]))
  }
  return resolve(document) as Document
}

/**
 * Compares values with JSON schemas of a document. `place` is the path of a schema in it; the result is what is wrong with
 * the value, or null. Schemas that others refer to are compiled once.
 */
export function openValidator(document: object) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  ajv.addFormat('int64', true)
  ajv.addSchema(document, 'openapi')
  return (place: readonly string[], value: unknown) => {
    const names = place.map((name) =>
      encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')),
    )
    const validate = ajv.getSchema(`openapi#/${names.join('/')}`)
    if (!validate) throw new Error(`Nothing is at ${place.join(' ')}`)
    return validate(value) ? null : (validate.errors ?? [])
  }
}

/** The place of the JSON schema of an answer in a document. */
export const placeOfAnswer = (name: string, status: string | number): string[] => [
  ...placeOf(name),
  'responses',
  String(status),
  ...jsonSchema,
]
/** The place of the JSON schema of a request’s body. */
export const placeOfBody = (name: string): string[] => [
  ...placeOf(name),
  'requestBody',
  ...jsonSchema,
]
const jsonSchema = ['content', 'application/json', 'schema']
/** Of an operation, such as `GET /api/v1/lists/{list_id}`, or with `:list_id`. */
function placeOf(name: string): string[] {
  const [method, path] = name.split(' ') as [string, string]
  return ['paths', path.replace(/:(\w+)/g, '{$1}'), method.toLowerCase()]
}
