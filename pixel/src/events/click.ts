import { attribute, closest, cut, identifierOf, link, mask, masked, targetOf, textOf } from '../element.ts'
import { listen } from '../guard.ts'
import { capture } from '../queue.ts'
import { marking, trackMarked } from './custom.ts'
import { downloadOf } from './download.ts'

export const watchClicks = (): void => {
  listen('click', (event: MouseEvent) => {
    // What people mean to click: the button, not the icon in it.
    const clickable = 'a,button,summary,[role=button],[role=link],[role=tab],[role^=menuitem]'
    const target = targetOf(event)
    if (!target) return
    const element = closest(target, clickable) || target
    const label = attribute(element, 'aria-label')
    capture('click', {
      element: {
        ariaLabel: label && closest(element, masked) ? mask : label && cut(label),
        className: cut(attribute(element, 'class') || '', 1000),
        tagName: element.tagName,
        id: attribute(element, 'id'),
        href: link(element, 'href'),
      },
      elementIdentifier: identifierOf(element),
      elementText: textOf(element),
      coordinates: { x: event.clientX || 0, y: event.clientY || 0 },
    })
    downloadOf(target)
    // A form's turn comes when it is submitted.
    const marked = closest(target, `[${marking}]:not(form)`)
    if (marked) trackMarked(marked)
  })
}
