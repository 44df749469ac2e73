import { consentLevel, honoursGpc } from './config.ts'
import { forgetId, id, keepId, readId } from './identity.ts'
import { dropAll, forgetParked, gather } from './queue.ts'
import { schedule } from './send.ts'

/**
 * What may be done now. 0: nothing is noted. 1: events wait in the page. 2: they go, without an id. 3: an id is
 * kept. The page says its choice on each load; until then the settings hold.
 */
export let level: number

/** In the id's place: a visitor who wants nothing noted, on any page of this site. */
const out = 'out'
let isOut: boolean
/** The visitor's own word, as a GPC or DNT signal where it is honoured: the page can't turn it. */
let isFinal: boolean | undefined

export const startConsent = (): void => {
  isOut = (id || readId()) === out
  isFinal =
    isOut ||
    (honoursGpc && (navigator.globalPrivacyControl || (navigator.doNotTrack as unknown as number) > 0))
  level = consentLevel
  if (isFinal) deny()
}

/** Where consent comes first, what waited for it is dropped, too. */
const deny = () => {
  if (!isOut) forgetId()
  forgetParked()
  level = !isOut && consentLevel > 1 ? 2 : 0
  if (!level) dropAll()
}

export const consent = (choice: string): void => {
  // What is parked in storage is for this visit to send; without consent it may not stay there.
  gather()
  if (isFinal || choice !== 'granted') deny()
  else level = 3
  schedule()
}

export const optOut = (): void => {
  keepId(out)
  startConsent()
}

export const optIn = (): void => {
  forgetId()
  startConsent()
}
