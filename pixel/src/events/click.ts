import type { NotedData } from '../../../schemas/noted.ts'
import { describe, find, mask, unread } from '../element.ts'
import { reactions, watchReactions } from '../reaction.ts'

/** What people mean to click: the button, not the icon in it. */
const clickable = 'a,button,summary,[role=button],[role=tab],[role^=menuitem],[data-footfall-event]'

/** Reads at once what the page's own handlers may change, a text above all; the rest when it is encoded. */
export const click = (
  { clientX, clientY, detail }: MouseEvent,
  path: Element[],
): (() => NotedData<'click'>) => {
  const control = path[0]!.closest(clickable)
  const element = control || path[0]!
  const text =
    // Nobody means all that stands in a large part of the page; reading it would take long.
    !control && element.getElementsByTagName('*')[99]
      ? ''
      : element.querySelector(unread)
        ? mask
        : element.textContent || (element.matches('input') && (element as HTMLInputElement).value) || ''
  const before = reactions
  watchReactions()
  return () => ({
    path: path
      .slice(path.indexOf(element))
      .map((step, at) => (at < 6 || find([step], '[data-footfall-event]')) && describe(step, path)),
    text: find(path, unread) ? mask : text.slice(0, config.textLengthMax),
    clientX,
    clientY,
    detail,
    reacted: reactions > before,
  })
}
