import { afterAll, describe, it } from 'vitest'
import { cases } from './cases.ts'
import { type Engine, type EngineName, lostCommand } from './engine.ts'
import { openStage, type Stage } from './stage.ts'

/** For the driver's faults alone: a second try for others hid a fault of the pixel. */
const retry = { count: 1, condition: new RegExp(lostCommand) }

/** A driver that has lost a command is asked twice more before its browser is ended, each time for as long. */
const timeoutMs = 120_000

/**
 * Runs the table in one engine. The report lists unsupported cases with the reason. Cases run in parallel
 * (Vitest's maxConcurrency says how many), because most of each is waiting. Each has its own browser, as only
 * one window of a browser is in front.
 */
export function runTable(name: EngineName, start: () => Promise<Engine>): void {
  const opened: ReturnType<typeof openStage>[] = []
  const free: Awaited<(typeof opened)[number]>[] = []
  const open = () => {
    const stage = openStage(start)
    opened.push(stage)
    return stage
  }
  const perform = async (run: (stage: Stage) => Promise<void>, isPrivate = false) => {
    const stage = free.pop() ?? (await open())
    await stage.perform(run, isPrivate).finally(() => free.push(stage))
  }
  afterAll(async () => {
    for (const stage of opened) await (await stage).close()
  })

  describe.concurrent(name, () => {
    for (const { name: outcome, unsupported, isPrivate, run } of cases) {
      const reason = unsupported?.[name]
      if (reason) it.skip(`${outcome} (${name} ${reason})`)
      else it(outcome, { timeout: timeoutMs, retry }, () => perform(run, isPrivate))
    }
  })
}
