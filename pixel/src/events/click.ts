import { downloads, masked, textLengthMax, unread } from '../config.ts'
import { describe, find, mask } from '../element.ts'
import { note } from '../queue.ts'
import { reactions, watchReactions } from '../reaction.ts'
import { tellMarked } from './custom.ts'

/** What people mean to click: the button, not the icon in it. */
const clickable = 'a,button,summary,[role=button],[role=link],[role=tab],[role^=menuitem]'

/** Reads at once what the page's own handlers may change, a text above all; the rest when it is encoded. */
export const click = ({ clientX: x, clientY: y, detail: clicks }: MouseEvent, path: Element[]): void => {
  const control = path[0]!.closest(clickable)
  const element = control || path[0]!
  // Nobody means all that stands in a large part of the page; reading it would take long.
  const isLarge = !control && element.getElementsByTagName('*')[99]
  const text = isLarge ? '' : element.textContent || (element as HTMLInputElement).value || ''
  const hidesText = !isLarge && element.querySelector(unread)
  const before = reactions
  watchReactions()
  note(
    'click',
    (tell) => {
      const showsLabels = !find(path, masked)
      // A shadow root is a step without attributes.
      const steps = path.slice(path.indexOf(element)).filter(({ attributes }) => attributes)
      tell('click', {
        path: steps.slice(0, 5).map((step, at) => describe(step, showsLabels, steps[at + 1])),
        elementText: hidesText || find(path, unread) ? mask : text.slice(0, textLengthMax),
        coordinates: { x, y },
        clicks,
        reacted: reactions > before,
      })
      const link = find(path, 'a[href]') as HTMLAnchorElement | undefined
      if (link && (link.hasAttribute('download') || downloads.test(link.pathname))) {
        tell('download', { element: describe(link) })
      }
      // A form's turn comes when it is submitted.
      tellMarked(tell, find(path, '[data-footfall-event]:not(form)'))
    },
    path,
  )
}
