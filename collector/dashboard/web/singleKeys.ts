/**
 * Single-key shortcuts can be disabled in this browser, because dictation or accidental key presses would
 * trigger them (WCAG 2.1.4).
 */
const name = 'footfall.single_keys'

export const areSingleKeysOn = (): boolean => localStorage.getItem(name) !== 'off'

export const switchSingleKeys = (on: boolean): void => localStorage.setItem(name, on ? 'on' : 'off')

/** Whether a key press is a shortcut that nobody handled: the user is not typing, and no dialog is open. */
export const isSingleKey = ({
  ctrlKey,
  metaKey,
  altKey,
  target,
  defaultPrevented,
}: KeyboardEvent): boolean =>
  areSingleKeysOn() &&
  !defaultPrevented &&
  !(ctrlKey || metaKey || altKey) &&
  !(target instanceof HTMLElement && target.closest('input, select, textarea')) &&
  !document.querySelector('dialog[open]')
