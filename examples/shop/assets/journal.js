/**
 * What left this tab, for the panel. Runs before the pixel and wraps the two ways it sends by; it only looks on.
 * Kept in sessionStorage, so that the last events of a page are still there on the next.
 */
;(() => {
  const key = 'shop-journal'
  const entriesMax = 30
  const isBeacon = (url) => new URL(url, location.href).pathname === '/e'

  const entries = () => {
    try {
      return JSON.parse(sessionStorage.getItem(key)) ?? []
    } catch {
      return []
    }
  }

  const keep = (list) => {
    try {
      sessionStorage.setItem(key, JSON.stringify(list.slice(0, entriesMax)))
    } catch {
      // No storage, or it is full: the shop works on, the panel shows less.
    }
    document.dispatchEvent(new Event('journal'))
  }

  /** Changes the entries with these ids. */
  const update = (ids, change) =>
    keep(
      entries().map((entry) => (ids.includes(entry.id) ? { ...entry, ...change(entry) } : entry)),
    )

  /** Adds what the collector made of an entry, each on top of the one it follows from. */
  const follow = (followers) => {
    const known = new Set(entries().map(({ id }) => id))
    const isNew = ({ id }) => !known.has(id)
    keep(
      entries().flatMap((entry) => [
        ...followers.filter((follower) => isNew(follower) && entry.follows?.includes(follower.id)),
        entry,
      ]),
    )
  }

  /** What is stored of what the pixel notes. */
  const storedTypes = {
    page: 'page_view',
    auxclick: 'click',
    scroll: 'scroll_depth',
    cut: 'copy',
    submit: 'form_submission',
    ...{ play: 'video', pause: 'video', timeupdate: 'video', ended: 'video' },
    ...{ track: 'custom', rage: 'custom', dead: 'custom' },
  }
  /** What may follow from it besides: the collector makes events of these types, too, where there is reason to. */
  const followingTypes = {
    page: ['search'],
    click: ['download', 'custom'],
    auxclick: ['download', 'custom'],
    submit: ['search', 'custom'],
  }
  /** As the collector counts them (schemas/events). */
  const types = [
    ...['page_view', 'click', 'scroll_depth', 'copy', 'form_submission', 'search', 'video'],
    ...['download', 'custom'],
  ]

  /** Epoch milliseconds; an event's `at` is that, or ISO 8601. */
  const momentOf = (at) => new Date(at).getTime()

  /** The id under which an event is stored: its time, the number its page threw, the number of its type. */
  const idOf = ({ at, id }, type) => {
    const hex = (value, digits) => value.toString(16).padStart(digits, '0')
    const time = hex(momentOf(at), 12)
    const bits = hex(Math.floor(id * 2 ** 52), 13)
    const last = `${bits.slice(6)}000${hex(types.indexOf(type) + 1, 2)}`
    return `${time.slice(0, 8)}-${time.slice(8)}-8${bits.slice(0, 3)}-8${bits.slice(3, 6)}-${last}`
  }

  /** Notes the events of one body, newest first; what is sent again is no new event. Returns the entries' ids. */
  const note = (body) => {
    const left = Date.now()
    const sent = JSON.parse(body).events.map((event) => {
      const type = storedTypes[event.type] ?? event.type
      const follows = (followingTypes[event.type] ?? []).map((follower) => idOf(event, follower))
      const happened = momentOf(event.at)
      return { id: idOf(event, type), follows, type, data: event, happened, left, state: 'left' }
    })
    const known = new Set(entries().map(({ id }) => id))
    keep([...sent.filter(({ id }) => !known.has(id)).reverse(), ...entries()])
    return sent.map(({ id }) => id)
  }

  /** Looks at a request or its answer; whatever goes wrong in here must not touch either. */
  const quietly = (look) => {
    try {
      return look()
    } catch (error) {
      console.warn('shop journal:', error)
    }
  }

  const noteReceipt = (ids, { rejected }) => {
    const faults = new Map(
      rejected.map((fault) => [ids[fault.index], `${fault.path} ${fault.message}`]),
    )
    update(ids, ({ id, state }) => {
      if (faults.has(id)) return { state: 'rejected', fault: faults.get(id) }
      return state === 'left' ? { state: 'accepted', accepted: Date.now() } : {}
    })
  }

  const originalFetch = window.fetch
  window.fetch = (input, init) => {
    const ids = quietly(() => init?.method === 'POST' && isBeacon(input) && note(init.body))
    const answer = originalFetch.call(window, input, init)
    if (ids) {
      answer
        .then(async (response) => response.ok && noteReceipt(ids, await response.clone().json()))
        .catch(() => {})
    }
    return answer
  }

  const originalBeacon = navigator.sendBeacon
  navigator.sendBeacon = (url, body) => {
    quietly(() => isBeacon(url) && note(body))
    return originalBeacon.call(navigator, url, body)
  }

  window.shopJournal = { types, entries, update, follow, clear: () => keep([]) }
})()
