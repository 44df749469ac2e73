import { config } from './config.ts'
import { hasConsent } from './consent.ts'
import { safely } from './guard.ts'

const key = () => `footfall_${config.pixel_id}`

/** Adds lines to those in storage; not true when there is no storage, or no consent to use it. */
export const park = safely((lines: string[]): boolean => {
  // What one origin may well spare of its 5 MB; the oldest events go first.
  const charactersMax = 250_000
  if (!hasConsent() || !lines[0]) return false
  let text = [...unpark(), ...lines].join('\n')
  while (text.length > charactersMax) text = text.slice(text.indexOf('\n') + 1)
  localStorage.setItem(key(), text)
  return true
})

/** Takes all lines out of storage, those of earlier pages and other tabs too. */
export const unpark = (): string[] =>
  safely(() => {
    const text = hasConsent() && localStorage.getItem(key())
    if (!text) return []
    forgetParked()
    return text.split('\n')
  })() || []

export const forgetParked = safely(() => localStorage.removeItem(key()))
