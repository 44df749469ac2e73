import { pageView } from './events/page_view.ts'
import { keepId, readId, uuid } from './identity.ts'
import { dropAll, parked } from './queue.ts'
import { store } from './safe.ts'
import { schedule } from './send.ts'

/**
 * What may be done now. 0: nothing is noted. 1: events wait in the page. 2: they go, without an id. 3: an id is
 * kept. The page says its choice on each load; until then the settings hold.
 */
export let level: number = config.consentLevel

/** In the id's place: a visitor who wants nothing noted, on any page of this site. */
const out = 'out'

/** Asked what the browser keeps: once, and in idle time, for cookies come from another process. */
export let isDecided: boolean | undefined

/** A visitor's own word, an opt-out or a GPC or DNT signal where that is honoured, the page can't turn. */
export const decide = (isGranted?: boolean): void => {
  isDecided = true
  const before = level
  const kept = readId()
  const isOut = kept === out
  const isDenied =
    isOut ||
    isGranted === false ||
    (config.honoursGpc &&
      (navigator.globalPrivacyControl || (navigator.doNotTrack as unknown as number) > 0))
  level = isOut ? 0 : isDenied ? config.deniedLevel : isGranted ? 3 : config.consentLevel
  if (isDenied) {
    if (kept && !isOut) keepId()
    store(parked)
  }
  if (level > 2) keepId(kept || uuid())
  // Where consent comes first, what waited for it is dropped, too.
  if (!level) dropAll()
  // Nothing was noted yet of the page that is open.
  else if (!before) pageView()
}

export const consent = (choice: string): void => {
  decide(choice === 'granted')
  schedule()
}

export const optOut = (): void => {
  keepId(out)
  decide()
}

export const optIn = (): void => {
  keepId()
  decide()
}
