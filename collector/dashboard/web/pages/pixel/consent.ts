import type { Settings } from '../../api.ts'

/** What the pixel does until consent is granted, by its setting. */
export const consentOptions: Record<Settings['consent'], string> = {
  granted: 'Granted: events have a visitor id',
  cookieless: 'Cookieless: events without a visitor id',
  hold: 'Hold: events wait in the page',
  off: 'Off: no events are recorded',
}

export const consentCall = ' until your banner calls footfall("consent", "granted")'
