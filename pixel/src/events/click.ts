import { downloads, masked, textLengthMax, unread } from '../config.ts'
import { describe, find, mask } from '../element.ts'
import { note } from '../queue.ts'
import { reactions, watchReactions } from '../reaction.ts'
import { noteMarked } from './custom.ts'

/** What people mean to click: the button, not the icon in it. */
const clickable = 'a,button,summary,[role=button],[role=link],[role=tab],[role^=menuitem]'

/** Reads at once what the page's own handlers may change, a text above all; the rest is read when it is encoded. */
export const click = ({ clientX: x, clientY: y, detail: clicks }: MouseEvent, path: Element[]): void => {
  const element = path[0]!.closest(clickable) || path[0]!
  const isMasked = find(path, masked)
  const text = element.textContent || (element as HTMLInputElement).value || ''
  const isUnread = find(path, unread) || element.querySelector(unread)
  const before = reactions
  watchReactions()
  note('click', {
    get path() {
      const steps = path.slice(path.indexOf(element)).filter(({ attributes }) => attributes)
      return steps.slice(0, 5).map((step, at) => describe(step, !isMasked, steps[at + 1]))
    },
    elementText: isUnread ? mask : text.slice(0, textLengthMax),
    coordinates: { x, y },
    clicks,
    get reacted() {
      return reactions > before
    },
  })
  const link = find(path, 'a[href]') as HTMLAnchorElement | undefined
  if (link && (link.hasAttribute('download') || downloads.test(link.pathname))) {
    note('download', { element: describe(link) })
  }
  // A form's turn comes when it is submitted.
  noteMarked(find(path, '[data-footfall-event]:not(form)'))
}
