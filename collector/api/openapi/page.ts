import {
  type Content,
  type Document,
  internalTag,
  type Operation,
  publicOperations,
} from './document.ts'
import { type Html, html, inline, prose } from './html.ts'
import { limitsOf, propertiesOf, typeOf } from './properties.ts'

/** The description as one page of HTML, without scripts: what is in the document, and nothing of our own pages. */
export function renderPage(document: Document, publicUrl: string): string {
  const operations = publicOperations(document)
  const tags = [
    ...new Set([
      ...(document.tags ?? []).map(({ name }) => name),
      ...[...operations.values()].flatMap(({ tags = [] }) => tags),
    ]),
  ]
    .filter((name) => name !== internalTag)
    .map((name) => ({
      name,
      description: document.tags?.find((tag) => tag.name === name)?.description,
      operations: [...operations].filter(([, { tags }]) => tags?.includes(name)),
    }))
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${document.info.title} API</title>
  <link rel="icon" href="/favicon.ico">
  <link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<nav aria-label="Operations">
  <p class="home"><a href="/docs">${document.info.title} API</a> <span>${document.info.version}</span></p>
  ${tags.map(
    ({ name, operations }) => html`<h2><a href="#${slug(name)}">${name}</a></h2>
  <ul>${operations.map(([key, { summary }]) => html`<li><a href="#${slug(key)}">${summary}</a></li>`)}</ul>`,
  )}
</nav>
<main>
  <header>
    <h1>${document.info.title} API</h1>
    ${prose(document.info.description)}
    <p>The same as OpenAPI 3.1: <a href="/openapi.json">openapi.json</a>. <a href="/">Dashboard</a>.</p>
  </header>
  <div id="operations">
  ${tags.map(
    ({ name, description, operations }) => html`<section aria-labelledby="${slug(name)}">
    <h2 id="${slug(name)}">${name}</h2>
    ${prose(description)}
    ${operations.map(([key, operation]) => renderOperation(key, operation, publicUrl))}
  </section>`,
  )}
  </div>
</main>
</body>
</html>
`.text
}

/** "GET /api/v1/whoami" → "get-api-v1-whoami". */
const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/-$/, '')

function renderOperation(key: string, operation: Operation, publicUrl: string): Html {
  const [method, path] = key.split(' ') as [string, string]
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']
  return html`<article aria-labelledby="${slug(key)}">
    <h3 id="${slug(key)}">${summary}</h3>
    <p class="route"><span class="method">${method}</span> <code>${path}</code></p>
    ${prose(description)}
    <p class="access">${accessOf(operation)} In <code>footfall/client</code>: <code>${operationId}</code>.${
      method === 'GET' &&
      waysOf(operation).includes('session') &&
      html` <a href="/explorer?operation=${operationId}">Try it, signed in</a>.`
    }</p>
    ${
      parameters.length > 0 &&
      html`<h4>Parameters</h4>
    <dl>${parameters.map(
      ({ name, in: place, required, schema = {}, description }) => html`<div>
      <dt><code>${name}</code> <small>${place}, ${typeOf(schema)}${required && html`, <b>required</b>`}</small></dt>
      <dd>${inline([description, ...limitsOf(schema).map((limit) => `${limit}.`)].filter(Boolean).join(' '))}</dd>
    </div>`,
    )}</dl>`
    }
    ${body?.schema && html`<h4>Body</h4>${renderProperties(body)}`}
    ${renderExample(method, path, operation, publicUrl)}
    <h4>Answers</h4>
    ${Object.entries(responses).map(([status, { description, content }]) => {
      const members = content?.['application/json']
      const line = html`<span class="status">${status}</span> ${inline(description)}`
      return status.startsWith('2') && members?.schema?.properties
        ? html`<details class="answer"><summary>${line}</summary>${renderProperties(members)}</details>`
        : html`<p class="answer">${line}</p>`
    })}
  </article>`
}

/** By which of the document's ways a caller may say who they are. */
const waysOf = ({ security = [] }: Operation): string[] =>
  security.flatMap((way) => Object.keys(way))

function accessOf(operation: Operation): string {
  const names = waysOf(operation)
  if (names.includes('key')) {
    return `Asks for X-Api-Key and X-Api-Secret${names.includes('session') ? ', or a session of the dashboard' : ''}.`
  }
  return 'Open to anyone.'
}

function renderProperties({ schema = {} }: Content[string]): Html {
  const properties = propertiesOf(schema)
  if (properties.length === 0) return html`<p>${typeOf(schema)}</p>`
  return html`<dl>${properties.map(
    ({ path, type, isRequired, limits, description }) => html`<div>
      <dt><code>${path}</code> <small>${type}${!isRequired && ', not always'}</small></dt>
      <dd>${inline([description, ...limits.map((limit) => `${limit}.`)].filter(Boolean).join(' '))}</dd>
    </div>`,
  )}</dl>`
}

/** The request as a command, and what was answered. */
function renderExample(
  method: string,
  path: string,
  operation: Operation,
  publicUrl: string,
): Html | null {
  const answered = Object.values(operation.responses).find(
    ({ content }) => content?.['application/json']?.example,
  )
  const answer = answered?.content?.['application/json']?.example
  if (answer === undefined) return null
  const body = operation.requestBody?.content['application/json']?.example
  const given = (operation.parameters ?? []).filter(({ example }) => example !== undefined)
  const filled = given.reduce(
    (url, { name, example }) => url.replace(`{${name}}`, String(example)),
    path,
  )
  const query = given
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example }) => `${name}=${encodeURI(String(example))}`)
    .join('&')
  const command = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${publicUrl}${filled}${query && `?${query}`}'`,
    ...(operation.security ? ['-H "X-Api-Key: $KEY"', '-H "X-Api-Secret: $SECRET"'] : []),
    ...(body === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
        ]),
  ].join(' \\\n  ')
  return html`<h4>Example</h4>
    <pre tabindex="0" aria-label="Request"><code>${command}</code></pre>
    <pre tabindex="0" aria-label="Answer"><code>${JSON.stringify(answer, null, 2)}</code></pre>`
}
