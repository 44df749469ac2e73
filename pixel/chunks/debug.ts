/**
 * Shows every event that leaves the page, its size, its delivery, and the collector's result. Loaded only if
 * the page's URL or localStorage has footfall_debug. The pixel waits for it before it sends.
 */
import type { BeaconReceipt } from '../../schemas/beacon.ts'
import type { CapturedEvent } from '../../schemas/captured.ts'

/** The first line of an event: its type, its name if it has one, and the rest. */
type Sent = Pick<CapturedEvent, 'type' | 'url' | 'at'> & { name?: string }

const host = document.createElement('div')
host.dataset.footfallIgnore = ''
const root = host.attachShadow({ mode: 'open' })
// Not innerHTML, nor a style element: a page's policy may forbid either.
const sheet = new CSSStyleSheet()
sheet.replaceSync(`
  :host { all: initial; position: fixed; right: 8px; bottom: 8px; z-index: 2147483647; width: 26rem; max-width: 95vw;
    font: 12px/1.5 ui-monospace, monospace; color: #111; background: #fff; border: 1px solid #888; border-radius: 6px;
    box-shadow: 0 2px 12px #0004 }
  header { display: flex; gap: 8px; padding: 4px 8px; border-bottom: 1px solid #ccc }
  header b { flex: 1 }
  ul { list-style: none; margin: 0; padding: 0; max-height: 45vh; overflow: auto }
  li { padding: 2px 8px; border-bottom: 1px solid #eee }
  summary { cursor: pointer }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 4px 0 }
  .bad { color: #b00 }
`)
root.adoptedStyleSheets = [sheet]

/** Creates an element with its content. */
const make = <K extends keyof HTMLElementTagNameMap>(tag: K, ...inside: (Node | string)[]) => {
  const element = document.createElement(tag)
  element.append(...inside)
  return element
}

const list = make('ul')
const heading = make('b')
const close = make('button', 'close')
root.append(make('header', heading, close), list)
document.documentElement.append(host)
close.onclick = () => {
  host.remove()
  try {
    delete localStorage.footfall_debug
  } catch {}
}

let count = 0
let bytes = 0

/** Describes the properties of this browser that affect what the pixel sends. */
const circumstances = () => {
  const found: string[] = []
  if (/footfall_id=out/.test(document.cookie)) found.push('opted out')
  if (navigator.globalPrivacyControl) found.push('Global Privacy Control')
  if (navigator.doNotTrack === '1') found.push('Do Not Track')
  return found.length > 0 ? `: ${found.join(', ')}` : ''
}

const showCount = () => {
  heading.textContent = `Footfall${circumstances()} · ${count} events, ${bytes} bytes`
}
showCount()

/** Adds a line for an event. Returns the function that sets its result. */
const show = (event: Sent, way: string) => {
  const size = new Blob([JSON.stringify(event)]).size
  count++
  bytes += size
  showCount()
  const title = `${event.type} ${event.name ?? ''} · ${size} bytes · ${way}`
  const summary = make('summary', title)
  list.prepend(make('li', make('details', summary, make('pre', JSON.stringify(event, null, 1)))))
  return (fate: string, isBad = false) => {
    summary.textContent = `${title} · ${fate}`
    summary.className = isBad ? 'bad' : ''
  }
}

/** The events of a request body, if the pixel sent it. */
const eventsIn = (body: unknown): Sent[] | undefined => {
  try {
    const { pixel_id, events } = JSON.parse(body as string)
    return pixel_id && events
  } catch {}
}

const originalFetch = window.fetch
window.fetch = async (...call) => {
  const events = eventsIn(call[1]?.body)
  const rows = events?.map((event) => show(event, 'fetch'))
  const tell = (fate: string, isBad?: boolean) => {
    for (const row of rows || []) row(fate, isBad)
  }
  try {
    const answer = await originalFetch(...call)
    if (rows) readAnswer(answer.clone(), rows, tell)
    return answer
  } catch (error) {
    tell(`not sent: ${(error as Error).message}`, true)
    throw error
  }
}

const readAnswer = async (
  answer: Response,
  rows: ReturnType<typeof show>[],
  tell: (fate: string, isBad?: boolean) => void,
) => {
  const receipt = await answer.json().catch(() => ({}))
  if (!answer.ok) {
    tell(`${answer.status} ${receipt.error ?? ''}: ${receipt.message ?? 'refused'}`, true)
    return
  }
  const { ignored, ignored_by, rejected } = receipt as BeaconReceipt
  tell(
    ignored ? `${ignored} of ${rows.length} ignored: ${ignored_by}` : `${answer.status} accepted`,
  )
  for (const { index, path, message } of rejected) {
    rows[index]?.(`rejected: ${path} ${message}`, true)
  }
}

const originalBeacon = navigator.sendBeacon
navigator.sendBeacon = (url, body) => {
  const isQueued = originalBeacon.call(navigator, url, body)
  for (const event of eventsIn(body) || []) {
    show(event, 'beacon')(
      isQueued ? 'sent when the page closed, no answer' : 'refused by the browser',
      !isQueued,
    )
  }
  return isQueued
}
