import type { Document } from './document.ts'

/** A title that is a name, so its schema is shared. Other titles ("Without select") are for people. */
const namePattern = /^[A-Z][A-Za-z0-9]*$/

/** Members that contain values instead of schemas. */
const valueKeys = new Set(['example', 'examples', 'default', 'enum', 'const'])

/**
 * Moves every schema whose title is a name (`Event`) to components.schemas, and refers to it. Omits members
 * that only our validator reads (errorMessage). Throws for two different schemas with one name.
 */
export function shareSchemas(document: Document): Document {
  const schemas = new Map<string, { text: string; schema: unknown }>()

  const share = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(share)
    if (typeof node !== 'object' || node === null) return node
    const shared = Object.fromEntries(
      Object.entries(node)
        .filter(([key, value]) => key !== 'errorMessage' || typeof value !== 'string')
        .map(([key, value]) => [key, valueKeys.has(key) ? value : share(value)]),
    )
    const { title } = shared
    if (typeof title !== 'string' || !namePattern.test(title)) return shared
    const text = JSON.stringify(shared)
    const known = schemas.get(title)
    if (known && known.text !== text)
      throw new Error(`Two schemas are named ${title}:\n${known.text}\n${text}`)
    schemas.set(title, { text, schema: shared })
    return { $ref: `#/components/schemas/${title}` }
  }

  const paths = share(document.paths) as Document['paths']
  const byName = [...schemas].sort(([one], [other]) => (one < other ? -1 : 1))
  return {
    ...document,
    paths,
    components: {
      ...document.components,
      schemas: Object.fromEntries(byName.map(([name, { schema }]) => [name, schema])),
    },
  }
}
