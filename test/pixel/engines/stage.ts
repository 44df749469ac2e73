import { setTimeout as pause } from 'node:timers/promises'
import { snippet } from '../../../pixel/stub.mjs'
import {
  type BeaconEvent,
  defaultPixelSettings,
  type PixelSettings,
} from '../../../schemas/beacon.ts'
import { waitFor } from '../../harness/service.ts'
import { pixelId, startReceiver } from '../receiver.ts'
import type { Engine, Tab } from './engine.ts'

type EventType = BeaconEvent['event_type']
type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** A receiver for one engine, with the pages that cases put there, and a fresh tab for each case. */
export interface Stage {
  readonly engine: Engine['name']
  readonly tab: Tab
  readonly receiver: Receiver
  /** Serves a page with the pixel; without it where `pixel` is false. */
  put(path: string, page?: { head?: string; body?: string; pixel?: boolean }): void
  /** What `/p/{pixel_id}.js` has baked in. */
  set(settings: Partial<PixelSettings>): void
  goto(path: string): Promise<void>
  /** Opens a page and waits until the pixel runs on it. */
  visit(path?: string): Promise<void>
  /** Waits until this many events of the type have arrived, and answers their data. */
  events(type: EventType, count: number): Promise<Record<string, unknown>[]>
  /** Sends a last custom event and waits for it: earlier events have arrived. */
  settled(): Promise<void>
  /** Waits until the page answers true; a page that is being replaced answers nothing. */
  pageSays(condition: string): Promise<void>
  /** Lets the page be, so that what must not happen has had its time. The clock is ours: WebKit's driver has lost a promise's answer. */
  rest(ms: number): Promise<void>
  /** The same with a further tab, whose profile the caller disposes of. */
  another(): Promise<Stage>
}

export async function openStage(start: () => Promise<Engine>) {
  const engine = await start()

  /** Calls `work` with a tab and a receiver of its own. */
  const perform = async (work: (stage: Stage) => Promise<void>, isPrivate = false) => {
    const receiver = await startReceiver()
    const { state } = receiver
    try {
      const tab = isPrivate ? await engine.newPrivateTab!() : await engine.newTab()
      try {
        await work(stageOf(engine, tab, receiver))
      } finally {
        await tab.dispose()
      }
    } finally {
      await receiver.close()
    }
    const preflights = state.requests.filter((request) => request.startsWith('OPTIONS'))
    if (preflights.length > 0) throw new Error(`${preflights.length} preflight requests`)
    if (state.invalid.length > 0) throw new Error(`no schema takes ${state.invalid}`)
  }

  return { perform, close: () => engine.stop() }
}

function stageOf(engine: Engine, tab: Tab, receiver: Receiver): Stage {
  const { state } = receiver
  const goto = (path: string) => tab.goto(new URL(path, receiver.pageOrigin).href)
  const pageSays = async (condition: string) => {
    await waitFor(condition, () => tab.evaluate<boolean>(condition).catch(() => false))
  }
  return {
    engine: engine.name,
    tab,
    receiver,
    put(path, { head = '', body = '', pixel = true } = {}) {
      const script = pixel ? snippet(`${receiver.collectorOrigin}/p/${pixelId}.js`) : ''
      const title = path.slice(1)
      state.pages.set(
        path,
        `<!doctype html><html><head><title>${title}</title>${head}${script}</head><body>${body}</body></html>`,
      )
    },
    set(settings) {
      state.settings = { ...defaultPixelSettings, ...settings }
    },
    goto,
    async visit(path = '/page') {
      await goto(path)
      await pageSays('!!window.footfall?.on')
    },
    async events(type, count) {
      const arrived = () => receiver.events(type).map(({ event_data }) => ({ ...event_data }))
      await waitFor(`${count} ${type} events`, () => arrived().length >= count).catch((error) => {
        throw new Error(
          `${error.message}; arrived: ${receiver.events().map((event) => event.event_type)}`,
        )
      })
      return arrived()
    },
    async settled() {
      await tab.evaluate(`footfall('track', 'settled'); footfall('flush')`)
      await waitFor('the last event', () =>
        receiver.events('custom').some(({ event_data }) => event_data.name === 'settled'),
      )
    },
    pageSays,
    rest: (ms) => pause(ms),
    another: async () => stageOf(engine, await engine.newTab(), receiver),
  }
}
