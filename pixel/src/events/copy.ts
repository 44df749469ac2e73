import { closest, cut, ignored, mask, masked, targetOf } from '../element.ts'
import { listen } from '../guard.ts'
import { capture } from '../queue.ts'

export const watchCopies = (): void => {
  listen('copy', (event) => {
    const target = targetOf(event)
    const selection = getSelection()
    const text = `${selection || ''}`
    if (!target || !text) return
    // Where people write, what they copy is their own.
    const written = 'input,textarea,[contenteditable]'
    const hides =
      closest(target, written) ||
      [...document.querySelectorAll(`${masked},${ignored}`)].some((part) =>
        selection!.containsNode(part, true),
      )
    capture('copy', { text: hides ? mask : cut(text), textLength: text.length })
  })
}
