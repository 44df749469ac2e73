import { afterAll, beforeAll, it } from 'vitest'
import { cases } from './cases.ts'
import type { Engine, EngineName } from './engine.ts'
import { openStage } from './stage.ts'

/** Runs the table in one engine. What it cannot do stands in the report with the reason. */
export function runTable(name: EngineName, start: () => Promise<Engine>): void {
  let stage: Awaited<ReturnType<typeof openStage>>
  beforeAll(async () => {
    stage = await openStage(start)
  }, 60_000)
  afterAll(() => stage?.close())

  for (const { name: outcome, unsupported, isPrivate, run } of cases) {
    const reason = unsupported?.[name]
    if (reason) it.skip(`${outcome} (${name} ${reason})`)
    // A browser's driver loses an answer now and then (WebKit's above all): what fails twice fails.
    else it(outcome, { timeout: 60_000, retry: 1 }, () => stage.perform(run, isPrivate))
  }
}
