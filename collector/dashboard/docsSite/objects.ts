import { type Document, publicOperations, type Schema } from '../../api/openapi/document.ts'
import { Html, html, inline } from './html.ts'
import { type DocsPage, slug } from './page.ts'
import { propertiesOf, typeOf } from './properties.ts'

/** An object with more members has its own page, which operations link instead of repeating it. */
const membersMax = 25

const objectPath = (name: string): string => `/reference/objects/${slug(name)}`

/** Returns the large objects of the API by name, each without the members of others in it. */
export function largeObjects(document: Document): Map<string, Schema> {
  const named = new Map<string, Schema>()
  const collect = (schema: Schema) => {
    const { title, items, properties = {}, anyOf = [], oneOf = [], allOf = [] } = schema
    if (title && /^[A-Z][A-Za-z0-9]*$/.test(title)) named.set(title, schema)
    for (const part of [...Object.values(properties), ...anyOf, ...oneOf, ...allOf]) collect(part)
    if (items) collect(items)
  }
  for (const { requestBody, responses } of publicOperations(document).values()) {
    const bodies = [requestBody, ...Object.values(responses)]
    for (const body of bodies) {
      const schema = body?.content?.['application/json']?.schema
      if (schema) collect(schema)
    }
  }
  // Small objects first, because an object may be small without the large ones in it.
  const bySize = [...named].toSorted(
    ([, one], [, other]) => propertiesOf(one).length - propertiesOf(other).length,
  )
  const large = new Map<string, Schema>()
  for (const [name, schema] of bySize) {
    if (propertiesOf(schema, new Set(large.keys())).length > membersMax) large.set(name, schema)
  }
  return large
}

/** The page of a large object. */
export function objectPage(name: string, schema: Schema, names: ReadonlySet<string>): DocsPage {
  const others = new Set([...names].filter((other) => other !== name))
  const path = objectPath(name)
  return {
    path,
    title: `${name} object`,
    description: `Members of the object ${name} in the Footfall API.`,
    content: html`<h1>${name}</h1>
<p class="lead">Members of this object in requests and responses of the API.</p>
${renderProperties(schema, others)}`,
    headings: [],
    entries: [
      {
        url: `/docs${path}`,
        title: `${name} object`,
        page: 'API reference',
        text: propertiesOf(schema)
          .map(({ path }) => path)
          .join(' '),
      },
    ],
  }
}

/** The members of a schema, with links to the pages of the objects in it. */
export function renderProperties(schema: Schema, objects: ReadonlySet<string>): Html {
  const linked = (type: string): Html => {
    const text = html`${type}`.text
    return new Html(
      text.replace(/\b[A-Z]\w+/g, (name) =>
        objects.has(name) ? html`<a href="/docs${objectPath(name)}">${name}</a>`.text : name,
      ),
    )
  }
  const type = typeOf(schema, objects)
  const properties = objects.has(type) ? [] : propertiesOf(schema, objects)
  if (properties.length === 0) return html`<p>${linked(type)}</p>`
  return html`<dl>${properties.map(
    ({ path, type, isRequired, limits, description }) => html`<div>
<dt><code>${path}</code> <small>${linked(type)}${!isRequired && ', optional'}</small></dt>
<dd>${sentences(description, limits)}</dd>
</div>`,
  )}</dl>`
}

/** Returns a description and the limits of a value as sentences. */
export const sentences = (description: string | undefined, limits: readonly string[]): Html =>
  inline([description, ...limits.map(capitalized)].filter(Boolean).join(' '))

const capitalized = (limit: string): string => `${limit[0]!.toUpperCase()}${limit.slice(1)}.`
