import { consent, level, optIn, optOut } from './consent.ts'
import { click } from './events/click.ts'
import { copy } from './events/copy.ts'
import { set, track } from './events/custom.ts'
import { media } from './events/media.ts'
import { moved, navigated, pageView, restored } from './events/page_view.ts'
import { scroll } from './events/scroll_depth.ts'
import { submit } from './events/submit.ts'
import { attempt } from './guard.ts'
import { note } from './queue.ts'
import { flush, leave, load } from './send.ts'

/**
 * What is listened to, on window and in the capture phase: that sees what does not bubble (media events, scrolling
 * inside elements) and what the page stops from bubbling.
 */
type Listener = (event: never, path: Element[]) => unknown

const listeners: Record<string, Listener> = {
  click,
  copy,
  submit,
  scroll,
  play: media,
  pause: media,
  timeupdate: media,
  ended: media,
  popstate: moved,
  pageshow: restored,
  pagehide: () => leave(true),
  visibilitychange: () => leave(document.hidden),
}

const listen = (type: string, work: Listener) =>
  addEventListener(
    type,
    (event) =>
      attempt(() => {
        const path = event.composedPath() as Element[]
        const data = work(event as never, path)
        if (data) note(type as 'click', data as never, path)
      }),
    true,
  )

const commands: Record<string, (...args: never[]) => void> = {
  track,
  page: pageView,
  /** An address never leaves the page, nor does its hash without consent. */
  async identify(given: object) {
    const person = await load('identify', given)
    note('identify', () => ({ ...(level > 2 && person) }))
  },
  consent,
  set,
  flush,
  opt_out: optOut,
  opt_in: optIn,
}

const begin = () => {
  for (const type in listeners) listen(type, listeners[type]!)
  navigated()
  // Copied at once: pages go on changing the objects they passed.
  const run = ([name, ...args]: unknown[]) =>
    attempt(() => commands[name as string]!(...(JSON.parse(JSON.stringify(args)) as never[])))
  footfall.q!.map(run)
  footfall.q!.push = run as never
  // A page may forbid the patch (a frozen history): then pages inside it go uncounted.
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name]
    history[name] = (...args) => {
      original.apply(history, args)
      attempt(moved)
    }
  }
}

/** The stub keeps calls in q; code that kept the stub's function goes on pushing to it. */
const footfall: NonNullable<Window['footfall']> = (window.footfall =
  window.footfall || ((...call: unknown[]) => footfall.q!.push(call)))
footfall.q = footfall.q || []
// A second copy of the script does nothing.
if (!footfall.on) {
  footfall.on = 1
  // A prerendered page that is never shown has no visitor.
  if (document.prerendering) listen('prerenderingchange', begin)
  else begin()
}
