import { existsSync } from 'node:fs'

export type EngineName = 'chromium' | 'firefox' | 'webkit'

/** A running browser. */
export interface Engine {
  name: EngineName
  /** A tab in front, with a profile of its own: no cookies, nothing stored, nothing cached. */
  newTab(): Promise<Tab>
  /** The same for a visitor who has switched on Global Privacy Control, where the browser itself has it. */
  newPrivateTab?(): Promise<Tab>
  stop(): Promise<void>
}

/** Actions of the cases on a page. All input is trusted, like that of a visitor. */
export interface Tab {
  /** Resolves when the page has loaded. */
  goto(url: string): Promise<void>
  /** Runs statements in the page and answers the value of the last. */
  evaluate<T = unknown>(code: string): Promise<T>
  /** As often as it is asked, so long between them: twice selects a word. */
  click(selector: string, count?: number, betweenMs?: number): Promise<void>
  /** A click while a key is held. */
  clickHolding(key: 'Control' | 'Shift', selector: string): Promise<void>
  /** Waits for the dialog that the page has open (an alert), and answers it. */
  closeDialog(): Promise<void>
  /** Keys for what has the focus. */
  type(text: string): Promise<void>
  press(shortcut: 'End' | 'Enter' | 'Control+C'): Promise<void>
  /** As when the visitor looks at something else; the page stays loaded. */
  hide(): Promise<void>
  show(): Promise<void>
  /** Closes it as its visitor would: the page receives the events. */
  close(): Promise<void>
  /** Takes its profile away, closed or not. */
  dispose(): Promise<void>
}

/**
 * Message of an error if a driver has lost a command, as WebKit's does sometimes: the state of the page is
 * unknown then.
 */
export const lostCommand = 'the browser’s driver has lost a command'

/** The first of the paths that exists. No engine is ever skipped: one that is missing fails its tests. */
export function findExecutable(what: string, paths: readonly (string | undefined)[]): string {
  const path = paths.find((path) => path && existsSync(path))
  if (!path) throw new Error(`${what} is missing: on Debian as root "npm test" installs it`)
  return path
}
