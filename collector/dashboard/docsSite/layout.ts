import { readers } from './guides.ts'
import { Html, html } from './html.ts'
import type { DocsPage } from './page.ts'

/** Common data of all pages. */
export interface Site {
  guides: readonly DocsPage[]
  reference: readonly DocsPage[]
  /** The URLs of files whose names the build chose. */
  assets: Readonly<Record<'script' | 'style' | 'icon', string>>
  publicUrl: string
  version: string
}

/** Renders a page as a document. Only search, copying and old addresses need its script. */
export function layOut(page: DocsPage, site: Site): string {
  const { assets, publicUrl } = site
  const order = [...site.guides, ...site.reference]
  const at = order.findIndex(({ path }) => path === page.path)
  const previous = at > 0 ? order[at - 1] : undefined
  const next = page.path === '' ? order[0] : at >= 0 ? order[at + 1] : undefined
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.description}">
<title>${page.title} – Footfall</title>
<link rel="canonical" href="${publicUrl}/docs${page.path}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/docs">${mark} <span>Footfall <small>docs</small></span></a>
<form class="search" role="search">
<label class="visually-hidden" for="query">Search the documentation</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list">
<kbd aria-hidden="true">Ctrl K</kbd>
<div id="results" class="results" role="listbox" aria-label="Results" hidden></div>
<p class="visually-hidden" role="status"></p>
</form>
<a class="out" href="/">Dashboard</a>
<button class="menu" type="button" popovertarget="pages">Menu</button>
</header>
<div class="frame${page.isWide && ' wide'}">
<nav id="pages" class="pages" popover aria-label="Documentation">
${navigation(page, site)}
</nav>
<main id="content" tabindex="-1">
${page.content}
${
  (previous || next) &&
  html`<nav class="around" aria-label="Previous and next page">
${previous && html`<a href="/docs${previous.path}" rel="prev"><small>Previous</small> ${previous.title}</a>`}
${next && html`<a class="next" href="/docs${next.path}" rel="next"><small>Next</small> ${next.title}</a>`}
</nav>`
}
<footer>Footfall ${site.version} · <a href="/openapi.json">openapi.json</a> · <a href="/docs/glossary">Glossary</a></footer>
</main>
${
  !page.isWide &&
  html`<div class="aside">${
    page.headings.length > 0 &&
    html`<button class="toc-button" type="button" popovertarget="toc">On this page</button>
<nav id="toc" class="toc" popover aria-label="On this page">
<p>On this page</p>
<ul>${page.headings.map(({ id, title, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${title}</a></li>`)}</ul>
</nav>`
  }</div>`
}
</div>
</body>
</html>
`.text
}

function navigation(current: DocsPage, { guides, reference }: Site): Html {
  const linkTo = ({ path, title }: DocsPage) =>
    html`<li><a href="/docs${path}"${path === current.path && new Html(' aria-current="page"')}>${title.replace(/ API$/, '')}</a></li>`
  return html`<ul><li><a href="/docs"${current.path === '' && new Html(' aria-current="page"')}>Overview</a></li></ul>
${readers.map(
  ({ title, guides: names }) => html`<h2>${title}</h2>
<ul>${names.map((name) => linkTo(guides.find(({ path }) => path === `/${name}`)!))}</ul>`,
)}
<h2>API reference</h2>
<ul>${reference.map(linkTo)}</ul>`
}

const mark = new Html(
  `<svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#0d6b55"/><g fill="#fff"><rect x="7.5" y="12" width="6.5" height="9.5" rx="3.25"/><circle cx="10.75" cy="25.25" r="2.25"/><rect x="18" y="5" width="6.5" height="9.5" rx="3.25"/><circle cx="21.25" cy="18.25" r="2.25"/></g></svg>`,
)
