/** Every code block of the guides runs against a service, or says `no-run`. */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, inject, test } from 'vitest'
import { useSite } from '../examples/site.ts'
import { ask } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { type Block, blocksOf, guides } from './guides/blocks.ts'
import { commandsOf, troubleWith } from './guides/commands.ts'
import { runBundled, runCalls, runFilters, runHtml, runPolicy } from './guides/pages.ts'
import { runProgram } from './guides/programs.ts'
import { askClickHouse, runShell } from './guides/shell.ts'

const site = useSite({ hasSample: true })

const hem = createHash('sha256').update('someone@company.example').digest('hex')

/** How blocks run, by language and mark. Shell blocks of a guide run together. */
const runners: Record<string, (block: Block) => Promise<void>> = {
  html: (block) => runHtml(block, site),
  'text csp': (block) => runPolicy(block, site),
  'text filters': (block) => runFilters(block, site),
  async js(block) {
    if (block.code.includes("'footfall-pixel/pixel'")) return runBundled(block, site)
    if (!block.code.includes('import ')) {
      const answer = await ask(
        site.service,
        `/api/v1/pixel/identify-secrets/${site.service.demo.pixel_id}`,
      )
      const [{ secret }] = ((await answer.json()) as { secrets: [{ secret: string }] }).secrets
      return runCalls(block, site, hem, createHmac('sha256', secret).update(hem).digest('hex'))
    }
    expect(await runProgram(block, site.service)).not.toBe('')
  },
  async 'json error'({ code }) {
    const answer = await ask(site.service, '/api/v3/events/web_event?limit=0')
    const error = (await answer.json()) as Record<string, string>
    const documented = JSON.parse(code) as Record<string, string>
    expect(Object.keys(error).toSorted()).toEqual(Object.keys(documented).toSorted())
    for (const [name, value] of Object.entries(documented))
      if (value !== '…') expect(error[name]).toBe(value)
  },
  async 'json definition'({ code }) {
    const { api_key, api_secret, project_id } = site.service.demo
    const answer = await fetch(`${site.service.url}/api/v1/audiences/sample`, {
      method: 'POST',
      headers: {
        'x-api-key': api_key,
        'x-api-secret': api_secret,
        'x-project-id': project_id,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ definition: { entity: 'people', include: JSON.parse(code) } }),
    })
    expect([answer.status, await answer.text()]).toEqual([200, expect.anything()])
  },
  async sql({ code }) {
    // The local server keeps no logins: its parser reads the statements.
    for (const statement of code.split(';').filter((text) => text.trim() !== '')) {
      const answer = await askClickHouse(inject('clickhouseUrl'), `EXPLAIN AST ${statement}`)
      expect([statement, answer.status]).toEqual([statement, 200])
    }
  },
}

const kindOf = ({ language, marks }: Block): string => [language, ...marks].join(' ')
const isSkipped = ({ marks }: Block): boolean => marks.includes('no-run')
const isShell = (block: Block): boolean => block.language === 'sh' && !isSkipped(block)

describe.each(guides)('%s', (guide) => {
  const blocks = blocksOf(guide)

  test('each block runs, or is marked no-run', () => {
    const unknown = blocks.filter(
      (block) => !isSkipped(block) && !isShell(block) && !(kindOf(block) in runners),
    )
    expect(unknown.map((block) => [block.place, kindOf(block)])).toEqual([])
  })

  for (const block of blocks.filter((block) => !isSkipped(block) && !isShell(block))) {
    test(`${block.place} (${kindOf(block)}) works`, () => runners[kindOf(block)]!(block))
  }

  // After pages: examples change settings of the pixel.
  const shell = blocks.filter(isShell)
  test.runIf(shell.length > 0)('the shell examples work one after the other', async () => {
    await waitFor('the demo', () => site.service.output().includes('Footfall is up'), 120_000)
    await runShell(shell, site.service, inject('clickhouseUrl'))
  })

  const commands = commandsOf(guide)
  test.runIf(commands.length > 0)('every command exists and takes its arguments', async () => {
    const trouble: string[] = []
    for (const command of commands) trouble.push((await troubleWith(command)) ?? '')
    expect(trouble.filter(Boolean)).toEqual([])
  })
})

test('the guides have examples of every kind that can run', () => {
  const kinds = new Set(guides.flatMap(blocksOf).map(kindOf))
  expect(Object.keys(runners).filter((kind) => !kinds.has(kind))).toEqual([])
})
