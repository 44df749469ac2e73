import type { Document } from '../../api/openapi/document.ts'
import { readers } from './guides.ts'
import { html, inline, prose } from './html.ts'
import type { DocsPage } from './page.ts'

/** Renders the home page: guides by audience, and facts that apply to the complete API. */
export function renderHome(
  { info }: Document,
  guides: readonly DocsPage[],
  reference: readonly DocsPage[],
): DocsPage {
  const linkTo = ({ path, title }: DocsPage) => html`<a href="/docs${path}">${title}</a>`
  const guideOf = (name: string) => guides.find(({ path }) => path === `/${name}`)!
  const description =
    'Guides and API reference of Footfall: install the pixel, query events, build audiences, run the service.'
  return {
    path: '',
    title: 'Documentation',
    description,
    headings: [
      { id: 'guides', title: 'Guides', depth: 2 },
      { id: 'reference', title: 'API reference', depth: 2 },
      { id: 'conventions', title: 'Conventions of the API', depth: 2 },
    ],
    content: html`<h1>Footfall documentation</h1>
<p class="lead">Install the pixel on your site, query events, build audiences, and run the service.</p>
<h2 id="guides">Guides</h2>
<div class="cards">${readers.slice(0, -1).map(
      ({ title, about, guides }) => html`<section class="card">
<h3>${title}</h3>
<p>${about}</p>
<ul>${guides.map((name) => html`<li>${linkTo(guideOf(name))}</li>`)}</ul>
</section>`,
    )}</div>
<p class="after">The ${linkTo(guideOf('glossary'))} explains the terms of all guides.</p>
<h2 id="reference">API reference</h2>
<p>Every route with its parameters, responses and an example. The same as OpenAPI 3.1: <a href="/openapi.json">openapi.json</a>.</p>
<ul class="tags">${reference.map(
      (page) =>
        html`<li>${linkTo(page)} <span>${inline(page.description.replace(/^.*?: [^.]*\. /, ''))}</span></li>`,
    )}</ul>
<h2 id="conventions">Conventions of the API</h2>
${prose(info.description)}`,
    entries: [],
  }
}
