import { textLengthMax, unread } from '../config.ts'
import { find, ignored, mask } from '../element.ts'
import { note } from '../queue.ts'

export const copy = (_: Event, path: Element[]): void => {
  const selection = getSelection()!
  const text = `${selection}`
  // Where people write, what they copy is their own.
  const isMasked =
    find(path, unread) ||
    [...document.querySelectorAll(`${unread},${ignored}`)].some((part) => selection.containsNode(part, true))
  if (text) note('copy', { text: isMasked ? mask : text.slice(0, textLengthMax), textLength: text.length })
}
