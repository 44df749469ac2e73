import type { Operation } from '../../api/openapi/document.ts'
import { codeBlock } from './code.ts'
import { type Html, html, inline, prose } from './html.ts'
import { anchorLink } from './markdown.ts'
import { renderProperties, sentences } from './objects.ts'
import { slug } from './page.ts'
import { limitsOf, typeOf } from './properties.ts'

/** Renders an operation with its parameters, body, responses and example. `key` is "GET /path". */
export function renderOperation(
  key: string,
  operation: Operation,
  objects: ReadonlySet<string>,
  publicUrl: string,
): Html {
  const [method, path] = key.split(' ') as [string, string]
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const id = slug(key)
  const body = requestBody?.content['application/json']
  return html`<article aria-labelledby="${id}">
<div class="operation">
<h2 id="${id}">${summary}${anchorLink(id, summary ?? key)}</h2>
<p class="route">${methodOf(method)} <code>${path}</code></p>
${prose(description)}
<p class="access">${accessOf(operation)} Client method: <code>${operationId}</code>.${
    method === 'GET' &&
    waysOf(operation).includes('session') &&
    html` <a href="/explorer?operation=${operationId}" rel="nofollow">Try it in the dashboard</a>`
  }</p>
${
  parameters.length > 0 &&
  html`<h3>Parameters</h3>
<dl>${parameters.map(
    ({ name, in: place, required, schema = {}, description }) => html`<div>
<dt><code>${name}</code> <small>${place}, ${typeOf(schema)}${required && html`, <b>required</b>`}</small></dt>
<dd>${sentences(description, limitsOf(schema))}</dd>
</div>`,
  )}</dl>`
}
${body?.schema && html`<h3>Body</h3>${renderProperties(body.schema, objects)}`}
<h3>Responses</h3>
${Object.entries(responses).map(([status, { description, content }]) => {
  const members = content?.['application/json']
  const line = html`<span class="status${status.startsWith('2') && ' good'}">${status}</span> ${inline(description)}`
  return status.startsWith('2') && members?.schema?.properties
    ? html`<details class="answer"><summary>${line}</summary>${renderProperties(members.schema, objects)}</details>`
    : html`<p class="answer">${line}</p>`
})}
</div>
${renderExample(method, path, operation, publicUrl)}
</article>`
}

/** Renders "GET" as a label with its own color. */
export const methodOf = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`

/** Returns the security schemes with which a caller may authenticate. */
const waysOf = ({ security = [] }: Operation): string[] =>
  security.flatMap((way) => Object.keys(way))

function accessOf(operation: Operation): string {
  const names = waysOf(operation)
  if (names.includes('key')) {
    return `Requires X-Api-Key and X-Api-Secret${names.includes('session') ? ', or a session of the dashboard' : ''}.`
  }
  return 'Requires no key.'
}

/** The request as a command, and the response to it. */
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
  return html`<div class="example">
${codeBlock(command, 'bash', 'Request')}
${codeBlock(JSON.stringify(answer, null, 2), 'json', 'Response')}
</div>`
}
