import { settings } from './config.ts'

/** What the page said last; until then the settings hold. Not remembered: the page says it on each load. */
let choice: string | undefined

export const choose = (value: string): void => {
  choice = value
}

/** A visitor's GPC or DNT signal, where it is honoured, beats what the page says. */
export const isRefused = (): boolean =>
  choice === 'denied' ||
  (settings.honour_gpc && (navigator.globalPrivacyControl || navigator.doNotTrack === '1'))

/** May this page keep an id? */
export const hasConsent = (): boolean => !isRefused() && (choice || settings.consent) === 'granted'

/** Must everything stay on this page for now? */
export const isHeld = (): boolean => settings.consent === 'hold' && !hasConsent()

/** Refused where consent comes first: nothing is even noted, so that a later yes can't send it. */
export const isOff = (): boolean => isHeld() && isRefused()
