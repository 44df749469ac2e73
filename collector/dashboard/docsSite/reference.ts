import {
  type Document,
  internalTag,
  type Operation,
  publicOperations,
} from '../../api/openapi/document.ts'
import { html, prose } from './html.ts'
import { largeObjects, objectPage } from './objects.ts'
import { methodOf, renderOperation } from './operation.ts'
import { type DocsPage, slug } from './page.ts'

/** The address of a tag's page. */
const tagPath = (tag: string): string => `/reference/${slug(tag)}`

/** The API reference: one page for each tag of the OpenAPI document, in its order, and one for each large object. */
export function renderReference(
  document: Document,
  publicUrl: string,
): { reference: DocsPage[]; objects: DocsPage[] } {
  const operations = publicOperations(document)
  const names = new Set([
    ...(document.tags ?? []).map(({ name }) => name),
    ...[...operations.values()].flatMap(({ tags = [] }) => tags),
  ])
  const large = largeObjects(document)
  const objectNames = new Set(large.keys())
  const reference = [...names]
    .filter((name) => name !== internalTag)
    .map((name) => ({
      name,
      description: document.tags?.find((tag) => tag.name === name)?.description,
      operations: [...operations].filter(([, { tags }]) => tags?.includes(name)),
    }))
    .filter(({ operations }) => operations.length > 0)
    .map((tag) => tagPage(tag, objectNames, publicUrl))
  const objects = [...large].map(([name, schema]) => objectPage(name, schema, objectNames))
  return { reference, objects }
}

interface Tag {
  name: string
  description: string | undefined
  operations: [string, Operation][]
}

function tagPage(
  { name, description, operations }: Tag,
  objects: ReadonlySet<string>,
  publicUrl: string,
): DocsPage {
  const path = tagPath(name)
  return {
    path,
    title: `${name} API`,
    description: `Reference of the Footfall API: ${name}. ${description ?? ''}`.trim(),
    isWide: true,
    headings: [],
    content: html`<h1>${name}</h1>
<div class="lead">${prose(description)}</div>
<nav class="operations" aria-label="Operations">
<ul>${operations.map(([key, { summary }]) => {
      const [method, route] = key.split(' ') as [string, string]
      return html`<li><a href="#${slug(key)}">${methodOf(method)} <code>${route}</code></a> <span>${summary}</span></li>`
    })}</ul>
</nav>
${operations.map(([key, operation]) => renderOperation(key, operation, objects, publicUrl))}`,
    entries: operations.map(([key, { summary, operationId, description }]) => ({
      url: `/docs${path}#${slug(key)}`,
      title: summary ?? key,
      page: `${name} API`,
      text: `${key} ${operationId ?? ''} ${description ?? ''}`,
    })),
  }
}
