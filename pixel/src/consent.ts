import { keepId, readId, uuid } from './identity.ts'
import { store } from './safe.ts'
import { dropAll } from './waiting.ts'

/**
 * The level of consent. 0: nothing is recorded. 1: events wait in the page. 2: events are sent without an id. 3:
 * an id is stored. The page sets its choice on each load; until then the settings apply.
 */
export let level: number = config.consentLevel

/** The key in storage for refused events. */
export const parked = config.queueName

/** The stored value instead of an id: the visitor opted out on all pages of this site. */
export const out = 'out'

/** Reads the stored id once, in idle time, because cookies come from another process. */
export let isDecided: boolean | undefined

/** The page cannot override a visitor's opt-out, or a GPC or DNT signal if the settings honor it. */
export const decide = (start?: () => void, isGranted?: boolean): void => {
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
  // If consent is required first, waiting events are dropped, too.
  if (!level) dropAll()
  else if (!before) start!()
}
