/**
 * Lints what people read: Markdown, the texts of the API, the CLI, mails and the dashboard, and comments.
 * `npm run lint` prints the findings by kind, and fails if there are more than remaining.json allows. It then lists those
 * in files that changed since remaining.json did. Arguments: `--all` or paths list all findings, `--counts` prints a table.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { proseOf } from './extract.mjs'
import { findingsOf, longSentences, wordsOf } from './findings.mjs'
import { textsOfMarkdown } from './markdown.mjs'
import { misspelledNames } from './terms.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Guides of other projects, generated figures, and lists that tests read. */
const isLeftOut =
  /^(test\/bench\/RESULTS|test\/pixel\/engines\/|collector\/api\/client\/(api\.d|operations)\.ts)/
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((path) => !isLeftOut.test(path))
const read = (path) => readFileSync(`${root}/${path}`, 'utf8')

/** Findings that are not fixed yet, by kind. Lower a number after fixing some; never raise it. */
const remaining = JSON.parse(read('test/prose/remaining.json'))

const counts = {}
const findings = []
for (const path of tracked) {
  if (path.endsWith('.md')) lintMarkdown(path)
  else if (/\.(ts|tsx|mjs)$/.test(path)) lintSource(path)
}

const wanted = process.argv.slice(2)
if (wanted.includes('--counts')) console.table(counts)
else report()

function report() {
  const exceeded = new Set()
  for (const [kind, { findings: found }] of Object.entries(counts)) {
    const allowed = remaining[kind] ?? 0
    console.log(`${kind}: ${found} findings, at most ${allowed} allowed`)
    if (found > allowed) exceeded.add(kind)
  }
  if (exceeded.size > 0) process.exitCode = 1
  for (const finding of findings.filter(isListed(exceeded)))
    console.log(`${finding.path}:${finding.line} [${finding.kind}] ${finding.message}`)
}

function isListed(exceeded) {
  if (wanted.includes('--all')) return () => true
  if (wanted.length > 0) return ({ path }) => wanted.some((start) => path.startsWith(start))
  if (exceeded.size === 0) return () => false
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const ratchet = git('log', '-1', '--format=%H', '--', 'test/prose/remaining.json')
  const changed = new Set(git('diff', '--name-only', ratchet).split('\n'))
  return ({ path, kind }) => exceeded.has(kind) && changed.has(path)
}

function count(kind, text, messages) {
  counts[kind] ??= { words: 0, 'long sentences': 0, findings: 0 }
  const of = counts[kind]
  of.words += wordsOf(text)
  of['long sentences'] += longSentences(text).length
  of.findings += messages.length
}

function lintMarkdown(path) {
  const source = path === 'CHANGELOG.md' ? unreleasedOf(read(path)) : read(path)
  for (const { text, line } of textsOfMarkdown(source))
    add(path, line, 'Markdown', text, misspelledNames(text))
}

/** The part of the change log that is not released yet. Released parts stay as they were. */
function unreleasedOf(source) {
  const start = source.search(/^## \[?Unreleased/m)
  const end = source.indexOf('\n## ', start + 1)
  return source.slice(0, end === -1 ? undefined : end)
}

function lintSource(path) {
  const { comments, strings } = proseOf(path, read(path))
  const isTest = path.startsWith('test/')
  const kind = isTest ? 'tests' : path.includes('/web/') ? 'dashboard' : 'API, CLI and logs'
  for (const { text, line } of isTest ? [] : strings) add(path, line, kind, text)
  for (const { text, line } of comments)
    add(path, line, isTest ? 'test comments' : 'comments', text)
}

function add(path, line, kind, text, others = []) {
  const messages = [...findingsOf(text), ...others]
  for (const message of messages) findings.push({ path, line, kind, message })
  count(kind, text, messages)
}
