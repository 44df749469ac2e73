import type { Footfall } from '../footfall.d.ts'
import { configure, type PixelConfig } from './config.ts'
import { choose, isOff, isRefused } from './consent.ts'
import { watchClicks } from './events/click.ts'
import { watchCopies } from './events/copy.ts'
import { set, track } from './events/custom.ts'
import { watchForms } from './events/form_submission.ts'
import { pageView, watchPages } from './events/page_view.ts'
import { readScroll, watchScroll } from './events/scroll_depth.ts'
import { watchVideos } from './events/video.ts'
import type { Call } from './globals.d.ts'
import { listen, safely } from './guard.ts'
import { identify } from './identify.ts'
import { forgetId } from './identity.ts'
import { forgetParked } from './parked.ts'
import { dropAll, gather } from './queue.ts'
import { flush, schedule } from './send.ts'

const consent = (choice: string) => {
  // What is parked in storage is for this visit to send; without consent it may not stay there.
  gather()
  choose(choice)
  enforce()
  schedule()
}

const enforce = () => {
  if (!isRefused()) return
  forgetId()
  forgetParked()
  if (isOff()) dropAll()
}

const commands: Record<string, (...args: never[]) => void> = {
  track,
  page: (data?: object) => pageView(data),
  identify,
  consent,
  set,
  flush: () => flush(),
}

const leave = () => {
  readScroll()
  flush(true)
}

const watchAll = () => {
  for (const watch of [watchPages, watchScroll, watchClicks, watchCopies, watchForms, watchVideos])
    safely(watch)()
  listen('pagehide', leave)
  listen('visibilitychange', () => (document.visibilityState === 'hidden' ? leave() : schedule()))
}

/** Starts the pixel and answers the global footfall function; where one runs already, that one. */
export const start = (config: PixelConfig): Footfall => {
  const before = window.footfall
  if (before?.on) return before
  const calls = (before?.q || []) as Call[]
  const footfall: NonNullable<Window['footfall']> = (...call: unknown[]) => {
    calls.push(call)
  }
  footfall.on = 1
  // Code that kept the stub's function goes on pushing here.
  footfall.q = calls
  window.footfall = footfall
  const begin = safely(() => {
    configure(config)
    watchAll()
    const run = safely(([name, ...args]: Call) => commands[name as string]!(...(args as never[])))
    calls.forEach(run)
    calls.push = run as never
    enforce()
  })
  // A prerendered page that is never shown has no visitor.
  if (document.prerendering) listen('prerenderingchange', begin)
  else begin()
  return footfall
}
