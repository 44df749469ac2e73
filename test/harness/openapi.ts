/** GET /openapi.json with every `$ref` replaced by its target, so that each schema can be used alone. */
export function resolveRefs<Document>(document: Document): Document {
  const { schemas = {} } =
    (document as { components?: { schemas?: Record<string, unknown> } }).components ?? {}
  const prefix = '#/components/schemas/'
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve)
    if (typeof node !== 'object' || node === null) return node
    const { $ref } = node as { $ref?: unknown }
    if (typeof $ref === 'string') {
      const name = $ref.slice(prefix.length)
      if (!$ref.startsWith(prefix) || !(name in schemas))
        throw new Error(`Nothing is named ${$ref}`)
      return resolve(schemas[name])
    }
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]))
  }
  return resolve(document) as Document
}
