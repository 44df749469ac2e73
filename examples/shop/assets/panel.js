/** The panel "What just happened": the journal's events and, as soon as they can be read, their rows. */
const { types, entries, update, follow, clear } = window.shopJournal

const askEveryMs = 300
const askSlowlyMs = 2_000
const giveUpAfterMs = 60_000
/** So many, and what may follow from each, fit into one question. */
const askAtOnceMost = 16

const panel = document.getElementById('panel')
const list = panel.querySelector('[data-entries]')
const toggle = panel.querySelector('.panel-toggle')

/** Entry id → its <li>, so that what a reader opened stays open. */
const items = new Map()

const seconds = (ms) => `${(ms / 1000).toFixed(ms < 9_950 ? 2 : 0)} s`

const pathOf = (url) => {
  const { pathname, search } = new URL(url, location.href)
  return pathname + search
}

/** The event in a few words; of what the collector made, those of its row. */
const words = (entry) => {
  const { type, parent } = entry
  const data = parent ? JSON.parse(entry.row.event_data) : entry.data
  switch (type) {
    case 'search':
      return `“${data.query}”`
    case 'download':
      return data.filename
    case 'page_view':
      return pathOf(data.url)
    case 'click':
      return data.text || data.path[0]['aria-label'] || data.path[0].id || data.path[0].tag
    case 'scroll_depth':
      return `${data.threshold} % of ${pathOf(data.url)}`
    case 'copy':
      return `“${data.text}”`
    case 'form_submission':
      return data.form.name ?? data.form.id ?? 'a form'
    case 'video':
      return `${data.type} at ${data.currentTime.toFixed(1)} s`
    case 'custom':
      return data.name ?? `${data.type}_click`
    default:
      return data.hem
        ? `this browser belongs to ${data.hem.slice(0, 8)}…`
        : 'nothing, for want of consent'
  }
}

const isPending = ({ state, type }) =>
  (state === 'left' || state === 'accepted') && type !== 'identify'

const stateOf = (entry) => {
  switch (entry.state) {
    case 'read':
      return ['read', `read after ${seconds(entry.readAt - entry.happened)}`]
    case 'rejected':
      return ['bad', 'rejected']
    case 'lost':
      return ['bad', 'not readable yet']
    case 'accepted':
      return entry.type === 'identify' ? ['read', 'accepted'] : ['', 'accepted, reading …']
    default:
      return ['', 'left']
  }
}

const element = (tag, className, text = '') => {
  const made = document.createElement(tag)
  made.className = className
  made.textContent = text
  return made
}

/** Changes an element only where something changed: a rewritten text loses its selection. */
const setText = (target, text) => {
  if (target.textContent !== text) target.textContent = text
}

const makeItem = () => {
  const item = document.createElement('li')
  const details = document.createElement('details')
  const summary = document.createElement('summary')
  summary.append(
    element('span', 'entry-type'),
    element('span', 'entry-text'),
    element('span', 'entry-state'),
  )
  const sides = element('div', 'entry-sides')
  for (const side of ['left', 'row']) {
    const part = element('div', side)
    const title = document.createElement('h3')
    const code = document.createElement('pre')
    code.tabIndex = 0
    code.setAttribute(
      'aria-label',
      side === 'left' ? 'The event as it left' : 'The row from the API',
    )
    part.append(title, code)
    sides.append(part)
  }
  details.append(summary, sides)
  item.append(details)
  return item
}

const rowText = (entry) => {
  if (entry.row) return JSON.stringify(entry.row, null, 2)
  if (entry.state === 'rejected') return `The collector turned it away: ${entry.fault}`
  if (entry.type === 'identify')
    return 'No row of its own: from now on rows of this browser have "resolved": true.'
  return entry.state === 'lost' ? 'It could not be read within a minute.' : 'Not readable yet …'
}

const fill = (item, entry) => {
  const [className, state] = stateOf(entry)
  setText(item.querySelector('.entry-type'), entry.type)
  setText(item.querySelector('.entry-text'), words(entry))
  setText(item.querySelector('.entry-state'), state)
  item.querySelector('.entry-state').className = `entry-state ${className}`
  const origin = entry.parent ? `What it was made of, the ${entry.parent}` : 'As it left'
  setText(
    item.querySelector('.left h3'),
    `${origin}, after ${seconds(entry.left - entry.happened)}`,
  )
  setText(item.querySelector('.left pre'), JSON.stringify(entry.data, null, 2))
  setText(
    item.querySelector('.row h3'),
    entry.readAt
      ? `As the API returns it, after ${seconds(entry.readAt - entry.happened)}`
      : 'As the API returns it',
  )
  setText(item.querySelector('.row pre'), rowText(entry))
}

/** Types that were read back in this tab; they stay when their events have left the list. */
const seenTypes = () => {
  const kept = sessionStorage.getItem('shop-types')?.split(',') ?? []
  const read = entries().filter(({ state }) => state === 'read')
  const seen = new Set([...kept, ...read.map(({ type }) => type)])
  sessionStorage.setItem('shop-types', [...seen].join())
  return seen
}

const showTypes = (read) => {
  panel.querySelector('.types').replaceChildren(
    ...types.map((type) => {
      const chip = element('li', read.has(type) ? 'seen' : '', type)
      chip.append(element('span', 'visually-hidden', read.has(type) ? ': read back' : ': not yet'))
      return chip
    }),
  )
}

let newest

const render = () => {
  const now = entries()
  const ids = new Set(now.map(({ id }) => id))
  for (const [id, item] of items) {
    if (ids.has(id)) continue
    item.remove()
    items.delete(id)
  }
  // Oldest first, each new one on top: what is there does not move in the document, focus and scroll stay.
  for (const entry of now.toReversed()) {
    let item = items.get(entry.id)
    if (!item) {
      item = makeItem()
      items.set(entry.id, item)
      list.prepend(item)
    }
    fill(item, entry)
  }
  if (now[0] && now[0].id !== newest) {
    // The newest is open, unless the reader has something else open.
    const before = items.get(newest)?.firstChild
    if (before?.open) before.open = false
    if (!list.querySelector('details[open]')) items.get(now[0].id).firstChild.open = true
    newest = now[0].id
  }
  showTypes(seenTypes())
  setText(
    panel.querySelector('[data-latest]'),
    now[0] ? `${now[0].type}: ${stateOf(now[0])[1]}` : 'Nothing yet',
  )
  panel.querySelector('.panel-clear').hidden = now.length === 0
}

let isAsking = false

/** Asks for the rows of what has left and was not read yet; once at a time, slower when it takes long. */
const askRows = async () => {
  const pending = entries().filter(isPending).slice(0, askAtOnceMost)
  if (pending.length === 0) {
    isAsking = false
    return
  }
  try {
    const query = new URLSearchParams({
      event_id: pending.flatMap(({ id, follows = [] }) => [id, ...follows]).join(),
      start_ms: Math.min(...pending.map(({ happened }) => happened)),
    })
    const answer = await fetch(`/demo/rows?${query}`)
    if (answer.ok) noteRows((await answer.json()).rows)
  } catch {
    // Offline, or the collector is being restarted: asked again below.
  }
  const now = Date.now()
  const late = entries().filter((entry) => isPending(entry) && now - entry.left > giveUpAfterMs)
  if (late.length > 0)
    update(
      late.map(({ id }) => id),
      () => ({ state: 'lost' }),
    )
  const isFresh = pending.some(({ left }) => now - left < 5_000)
  setTimeout(askRows, isFresh ? askEveryMs : askSlowlyMs)
}

const noteRows = (rows) => {
  if (rows.length === 0) return
  const readAt = Date.now()
  const byId = new Map(rows.map((row) => [row.event_id, row]))
  follow(
    entries().flatMap(({ follows = [], type, data, happened, left }) =>
      follows
        .filter((id) => byId.has(id))
        .map((id) => ({
          ...{ id, parent: type, data, happened, left, readAt },
          ...{ type: byId.get(id).event_type, row: byId.get(id), state: 'read' },
        })),
    ),
  )
  update([...byId.keys()], ({ id, readAt: before }) => ({
    state: 'read',
    row: byId.get(id),
    readAt: before ?? readAt,
  }))
  const latest = entries().find(({ id }) => byId.has(id))
  panel.querySelector('[data-spoken]').textContent = `${latest.type} ${stateOf(latest)[1]}`
}

const changed = () => {
  render()
  if (isAsking) return
  isAsking = true
  setTimeout(askRows, askEveryMs)
}

const show = (isShown) => {
  toggle.setAttribute('aria-expanded', isShown)
  toggle.textContent = isShown ? 'Hide' : 'Show'
  document.getElementById('panel-body').hidden = !isShown
}

toggle.addEventListener('click', () => {
  const isShown = toggle.getAttribute('aria-expanded') !== 'true'
  show(isShown)
  sessionStorage.setItem('shop-panel', isShown ? 'shown' : 'hidden')
})
panel.querySelector('.panel-clear').addEventListener('click', () => {
  clear()
  toggle.focus()
})

const isNarrow = matchMedia('(max-width: 59.99rem)').matches
show((sessionStorage.getItem('shop-panel') ?? (isNarrow ? 'hidden' : 'shown')) === 'shown')
document.addEventListener('journal', changed)
// A page out of the back/forward cache missed what the pages after it sent.
addEventListener('pageshow', changed)
changed()
