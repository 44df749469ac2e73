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
    keep(entries().map((entry) => (ids.includes(entry.id) ? { ...entry, ...change(entry) } : entry)))

  /** Notes the events of one body, newest first; what is sent again is no new event. Returns the entries' ids. */
  const note = (body) => {
    const { events, hem, consent, sent_at } = JSON.parse(body)
    const left = Date.now()
    const sent = events.map(({ event_id, event_type, event_data }) => ({
      id: event_id,
      type: event_type,
      data: event_data,
      happened: Date.parse(event_data.timestamp),
      left,
      state: 'left',
    }))
    if (hem)
      sent.push({
        id: `${hem} ${sent_at}`,
        type: 'identify',
        data: { hem, consent },
        happened: left,
        left,
        state: 'left',
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
    const faults = new Map(rejected.map((fault) => [fault.event_id, `${fault.path} ${fault.message}`]))
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

  window.shopJournal = { entries, update, clear: () => keep([]) }
})()
