import { consent, optIn, optOut } from './consent.ts'
import { click } from './events/click.ts'
import { copy } from './events/copy.ts'
import { set, track } from './events/custom.ts'
import { submit } from './events/form_submission.ts'
import { moved, navigated, pageView, restored, watchHistory } from './events/page_view.ts'
import { readScroll, scroll, watchHeight } from './events/scroll_depth.ts'
import { video } from './events/video.ts'
import { attempt } from './guard.ts'
import { identify } from './identify.ts'
import { note } from './queue.ts'
import { reacted } from './reaction.ts'
import { flush, leave } from './send.ts'

/** A click that leads away is no dead one, and hidden pages get no frame to read their scroll position in. */
const pass = (leaves: boolean) => {
  reacted()
  readScroll()
  leave(leaves)
}

/**
 * What is listened to, on window and in the capture phase: that sees what does not bubble (media events, scrolling
 * inside elements) and what the page stops from bubbling.
 */
const listeners: Record<string, (event: never, path: Element[]) => void> = {
  click,
  copy,
  submit,
  scroll,
  play: video,
  pause: video,
  timeupdate: video,
  ended: video,
  popstate: moved,
  pageshow: restored,
  pagehide: () => pass(true),
  visibilitychange: () => pass(document.visibilityState === 'hidden'),
}

const listen = (type: string, work: (event: never, path: Element[]) => void) =>
  addEventListener(
    type,
    (event) => attempt(() => work(event as never, event.composedPath() as Element[])),
    true,
  )

const commands: Record<string, (...args: never[]) => void> = {
  track,
  page: (data?: object) => pageView(data),
  identify,
  consent,
  set,
  flush,
  opt_out: optOut,
  opt_in: optIn,
  // For the chunks.
  note,
}

const begin = () => {
  for (const type in listeners) listen(type, listeners[type]!)
  navigated()
  const run = ([name, ...args]: unknown[]) => attempt(() => commands[name as string]!(...(args as never[])))
  calls.map(run)
  calls.push = run as never
  watchHeight()
  watchHistory()
}

const footfall: NonNullable<Window['footfall']> =
  window.footfall || ((...call: unknown[]) => calls.push(call))
window.footfall = footfall
/** The stub keeps calls here; code that kept the stub's function goes on pushing to it. */
const calls: unknown[][] = footfall.q || []
footfall.q = calls
// A second copy of the script does nothing.
if (!footfall.on) {
  footfall.on = 1
  // A prerendered page that is never shown has no visitor.
  if (document.prerendering) listen('prerenderingchange', begin)
  else begin()
}
