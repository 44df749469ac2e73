import { consent, optIn, optOut } from './choice.ts'
import { level, parked } from './consent.ts'
import { find, masked, pathTo, steps, unread } from './element.ts'
import { click } from './events/click.ts'
import { common, set } from './events/custom.ts'
import { submit } from './events/submit.ts'
import { more } from './more.ts'
import { moved, navigated, note, pageView, settle } from './page.ts'
import { attempt, json } from './safe.ts'
import { flush, load, sendNow } from './send.ts'

/** The page closes, or the page or its connection returns. */
const leave = ({ type }: Event): void => {
  settle()
  more.read?.(location.href)
  const isGone = type === 'pagehide'
  // A page that is shown after that comes out of the back/forward cache.
  if (isGone) window.addEventListener('pageshow', navigated)
  sendNow(isGone || document.hidden)
}

/**
 * Listeners, on window and in the capture phase. They receive events that do not bubble (media events,
 * scrolling inside elements) and those that the page stops.
 */
type Listener = (event: never, path: Element[]) => unknown

/** Quiet visits neither scroll nor copy nor play, so the code for it is a chunk. */
function capture({ type }: Event, path: Element[]): void {
  const captured = {
    type,
    path,
    // Of a copy or a cut: to read a selection takes time.
    selected: type < 'd' && `${window.getSelection()}`,
    note,
    more,
    find,
    steps,
    unread,
    masked,
    searchField: config.searchField,
    max: config.textLengthMax,
  }
  if (more.capture) more.capture(captured)
  else load('capture', captured)
}

/** The visitor is in a form. */
function enter(event: Event, path: Element[]): void {
  if (!more.submit && find(path, 'form')) capture(event, path)
}

const listeners: Record<string, Listener> = {
  // Some pages extend the prototype of all objects, which for-in loops then include.
  __proto__: null as never,
  click,
  auxclick: click,
  copy: capture,
  cut: capture,
  submit(event: Event, path) {
    enter(event, path)
    return submit(event, path)
  },
  scroll(event: Event, path) {
    if (more.scroll) more.scroll(path[0])
    else {
      // Until the chunk has come.
      more.scroll = () => {}
      capture(event, path)
    }
  },
  play: capture,
  // Also for the shadow roots on its way.
  focusin: enter,
  popstate: () => moved(),
  pagehide: leave,
  visibilitychange: leave,
  online: leave,
}

const handle = (event: Event & { [pixel: string]: unknown }) =>
  attempt(() => {
    const path = pathTo(event.composedPath()[0] as Node)
    // Events that leave a shadow root arrive here twice.
    if (event[parked]) return
    event[parked] = true
    // Submissions and media events stay in theirs: once something else came out of one, it is listened to as well.
    for (const step of path) if ((step as Partial<ShadowRoot>).mode) listen(step)
    const data = listeners[event.type]!(event as never, path)
    if (data) note(event.type as 'click', data as never, path)
  })

/** Can be called repeatedly: a page that replaces itself with document.open() has removed all listeners. */
const listen = (target: EventTarget = window) => {
  for (const type in listeners) target.addEventListener(type, handle as never, true)
}

const commands: Record<string, (...args: never[]) => void> = {
  track(name: string, own?: object) {
    const properties = { ...common, ...own }
    note('track', () => ({ name, properties }))
  },
  page: pageView,
  /** Addresses never leave the page, and hashes only with consent. */
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
  listen()
  navigated()
  if (config.frustration) load('frustration', { note, click })
  // Copied at once, because pages may change these objects later.
  const run = ([name, ...args]: unknown[]) =>
    attempt(() => commands[name as string]!(...(JSON.parse(json(args)) as never[])))
  const { q } = footfall as { q: unknown[] }
  q.map(run as never)
  // Another pixel's page may have two: each call is for both, and some are kept for one that comes later. In an object
  // of its own: a page may have frozen what arrays can do.
  footfall.q = {
    __proto__: q,
    push(call: never) {
      if (!q[99]) q.push(call)
      return run(call)
    },
  } as never
  if (window.navigation)
    window.navigation.addEventListener('currententrychange', (event) =>
      attempt(() =>
        moved((event as Event & { navigationType: string }).navigationType === 'replace'),
      ),
    )
  // A page may forbid the patch (a frozen history): then pages inside it go uncounted.
  else
    for (const name of ['pushState', 'replaceState'] as const) {
      const original = history[name]
      history[name] = (...args) => {
        original.apply(history, args)
        attempt(() => moved(name > 'r'))
      }
    }
}

/**
 * The stub keeps calls in q; code that kept the stub's function goes on pushing to it. An element may have the name for
 * its id.
 */
const footfall: NonNullable<Window['footfall']> = (window.footfall = window.footfall?.call
  ? window.footfall
  : (((...call: unknown[]) => footfall.q!.push(call)) as never))
footfall.q = footfall.q || []
// A second copy of a pixel's script starts nothing.
if (footfall[parked]) footfall[parked]!()
else {
  footfall.on = 1
  footfall[parked] = listen
  // A prerendered page that is never shown has no visitor, nor has a hidden frame.
  if (document.prerendering === true)
    window.addEventListener('prerenderingchange', () => attempt(begin), true)
  else if (window === top || innerWidth > 1) begin()
}
