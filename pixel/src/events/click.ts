import type { CapturedData } from '../../../schemas/captured.ts'
import { describe, find, mask, masked, pathTo, steps, unread } from '../element.ts'
import { ask } from '../safe.ts'

/** Finds the element that people mean to click: the button, not its icon. */
const clickable =
  'a,area,button,summary,[role=button],[role=tab],[role^=menuitem],[data-footfall-event]'

/** Reads at once what the page's own handlers may change, a text above all; the rest when it is encoded. */
export const click = (
  { button, clientX, clientY }: MouseEvent,
  path: Element[],
): (() => CapturedData<'click'>) | undefined => {
  // The right button opens a menu of the browser's.
  if (button > 1) return
  const control = ask(path[0]!, clickable, 'closest')
  const element = control || path[0]!
  // A click does not target all content of a large part of the page, which would also take long to read.
  const isLarge = !control && element.getElementsByTagName('*')[99]
  const label = control && ask(element, '[alt],[title],[aria-label]', 'querySelector')
  const text = isLarge
    ? ''
    : ask(element, unread, 'querySelector')
      ? mask
      : element.textContent ||
        (element.localName === 'input' && (element as HTMLInputElement).value) ||
        ''
  return () => ({
    path: steps(element, path),
    label: label && describe(label, find(pathTo(label), masked)),
    text: find(path, unread) ? mask : text.slice(0, config.textLengthMax),
    clientX,
    clientY,
  })
}
