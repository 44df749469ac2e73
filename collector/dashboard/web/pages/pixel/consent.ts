import type { Settings } from '../../api.ts'

/** Labels of the setting: the pixel’s behavior until consent is granted. */
export const consentOptions: Record<Settings['consent'], string> = {
  granted: 'Granted: events have a visitor id',
  cookieless: 'Cookieless: events without a visitor id',
  hold: 'Hold: events wait in the page',
  off: 'Off: no events are recorded',
}

export const consentCall = ' until your banner calls footfall("consent", "granted"), on every page'
