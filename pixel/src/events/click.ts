import type { CapturedData } from '../../../schemas/captured.ts'
import { describe, find, mask, masked, pathTo, steps, unread } from '../element.ts'
import { ask } from '../safe.ts'

/** Controls, whose text is their name. The text of other parts of a page may be anyone's. */
const controls = 'a,area,button,summary,input,[role=button],[role=tab],[role^=menuitem]'

/** Reads at once what the page's own handlers may change, a text above all; the rest when it is encoded. */
export const click = (
  { button, clientX, clientY, isTrusted }: MouseEvent,
  path: Element[],
): (() => CapturedData<'click'>) | undefined => {
  // The right button opens a menu of the browser's. A label's click is followed by one of its field.
  if (
    button > 1 ||
    !(isTrusted || button) ||
    ((find(path, 'label') as HTMLLabelElement)?.control || path[0]) !== path[0]
  )
    return
  const control = find(path, controls)
  // The part that people mean to click: the button, not its icon.
  const element = find(path, `${controls},[data-footfall-event]`) || path[0]!
  const label = control && ask(control, '[alt],[title],[aria-label]', 'querySelector')
  const text =
    // Large ones, such as cards, take long to read.
    !control || control.getElementsByTagName('*')[99]
      ? ''
      : ask(control, unread, 'querySelector')
        ? mask
        : shown(control)
  return () => ({
    path: steps(element, path),
    label: label && describe(label, find(pathTo(label), masked)),
    text: find(path, unread) ? mask : text.slice(0, config.textLengthMax),
    clientX,
    clientY,
  })
}

/** The text of a control as people see it, also in its slots; an SVG has only its content. */
const shown = (control: Element): string =>
  (control as HTMLElement).innerText ||
  [...ask(control, 'slot', 'querySelectorAll')!]
    .map((slot) =>
      (slot as unknown as HTMLSlotElement)
        .assignedNodes({ flatten: true })
        .map((node) => node.textContent),
    )
    .join(' ') ||
  (control as HTMLInputElement).value ||
  ''
