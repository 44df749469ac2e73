import { setTimeout as delay } from 'node:timers/promises'
import { withoutLimits } from '../chaos/scenario.ts'
import { ask } from '../harness/api.ts'
import { type Service, startService } from '../harness/service.ts'

/** Runs the built service, with one process that takes beacons, for as long as `use` does. */
export async function withService<T>(
  use: (service: Service) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const service = await startService({ env: { ...withoutLimits, FOOTFALL_WORKERS: '1', ...env } })
  try {
    return await use(service)
  } finally {
    await service.stop()
  }
}

const quietPollMs = 700

/** Waits until nothing is shipped any more, so that it does not slow what is measured next. */
export async function untilQuiet(service: Service): Promise<void> {
  for (
    let before = -1, now = await countRows(service);
    now !== before;
    now = await countRows(service)
  ) {
    before = now
    await delay(quietPollMs)
  }
}

async function countRows(service: Service): Promise<number> {
  const answer = await ask(service, '/api/v3/events/web_event/counts')
  if (!answer.ok) throw new Error(`the API answered ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { total: number }).total
}
