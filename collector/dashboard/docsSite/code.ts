import highlighter from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import css from 'highlight.js/lib/languages/css'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import nginx from 'highlight.js/lib/languages/nginx'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { Html, html } from './html.ts'

const languages = {
  bash,
  css,
  javascript,
  json,
  nginx,
  php,
  python,
  sql,
  typescript,
  xml,
  yaml,
}
for (const [name, language] of Object.entries(languages))
  highlighter.registerLanguage(name, language)
highlighter.configure({ classPrefix: 'hl-' })

/** Labels above the code, in place of the language's name in Markdown or a file extension. */
const labels: Record<string, string> = {
  sh: 'Shell',
  js: 'JavaScript',
  jsx: 'JavaScript',
  mjs: 'JavaScript',
  ts: 'TypeScript',
  json: 'JSON',
  html: 'HTML',
  liquid: 'HTML',
  sql: 'SQL',
  py: 'Python',
  php: 'PHP',
  yaml: 'YAML',
  xml: 'XML',
  conf: 'nginx',
}

/** Returns code with colors, a label, and space for the copy button, which the script adds. */
export function codeBlock(code: string, language: string, label = labels[language] ?? ''): Html {
  return html`<figure class="code"><figcaption>${label}</figcaption><pre tabindex="0"><code>${highlighted(code, language)}</code></pre></figure>`
}

function highlighted(code: string, language: string): Html | string {
  const name = language === 'liquid' ? 'xml' : language === 'conf' ? 'nginx' : language
  if (!highlighter.getLanguage(name)) return code
  const { value } = highlighter.highlight(code, { language: name })
  // Brackets have the color of text, but would be half of all elements.
  return new Html(value.replace(/<span class="hl-punctuation">([^<]*)<\/span>/g, '$1'))
}
