import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { packageRoot } from '../../../../collector/platform/paths.ts'
import { waitFor } from '../../../harness/service.ts'
import type { Case } from '../case.ts'
import type { Stage } from '../stage.ts'

const webVitals = readFileSync(
  join(packageRoot, 'node_modules/web-vitals/dist/web-vitals.iife.js'),
  'utf8',
)

/** The library as a page has it by itself, before everything else; it keeps what it reports. */
const reference = `<script>${webVitals}
  reported = {}
  for (const name of ['CLS', 'FCP', 'INP', 'LCP', 'TTFB'])
    webVitals['on' + name](({ value }) => { reported[name] = value })
  </script>`

/** A click long enough to count, too short for browsers to keep it for who comes later. */
const button = `<h1>A heading</h1><button onclick="for (const end = Date.now() + 60; Date.now() < end;);">x</button>`

/** What waits for idle time, the chunk, waits for us. */
const untilAsked = `<script>
  waiting = []
  requestIdleCallback = (work) => waiting.push(work)
</script>`

/** Hides the page and compares its report with the library's. */
async function expectSame(stage: Stage, clicks: number): Promise<void> {
  stage.set({ web_vitals: true })
  stage.put('/page', { head: reference + untilAsked, body: button })
  await stage.visit()
  await stage.pageSays('waiting.length > 0')
  for (let n = 0; n < clicks; n++) await stage.tab.click('button')
  // The library reads its observations in idle time, which a page without drawing may never have.
  await stage.tab.evaluate(
    'requestIdleCallback = (work) => setTimeout(work); for (const work of waiting) work()',
  )
  await stage.pageSays(
    `performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/vitals.js'))`,
  )
  await stage.rest(500)
  await stage.tab.hide()
  await stage.pageSays('document.hidden')
  const reported = await stage.tab.evaluate<Record<string, number>>('({ ...reported })')
  const told = () =>
    Object.fromEntries(
      stage.receiver
        .events('custom')
        .map(({ event_data: { properties } }) => [properties.name, properties.value]),
    )
  await waitFor(
    `${Object.keys(reported)}`,
    () => Object.keys(told()).length >= Object.keys(reported).length,
  ).catch(() => {})
  expect(told()).toEqual(reported)
}

const unsupported = { webkit: 'measures neither LCP nor INP' }

export const vitals: Case[] = [
  {
    name: 'web vitals of a page that is only looked at, then hidden, are what web-vitals itself reports',
    unsupported,
    run: (stage) => expectSame(stage, 0),
  },
  {
    name: 'web vitals of a page with one click, made before the chunk came, are what web-vitals itself reports',
    unsupported,
    run: (stage) => expectSame(stage, 1),
  },
]
