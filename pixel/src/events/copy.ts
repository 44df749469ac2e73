import type { CapturedData } from '../../../schemas/captured.ts'
import { find, mask, unread } from '../element.ts'
import { ask } from '../safe.ts'

export const copy = (_: Event, path: Element[]): (() => CapturedData<'copy'>) | '' => {
  const selection = getSelection()!
  const text = `${selection}`
  // Text copied from fields is private.
  const isMasked =
    find(path, unread) ||
    [...ask(document, unread, 'querySelectorAll')!].some((part) =>
      selection.containsNode(part, true),
    )
  return (
    text &&
    (() => ({
      text: isMasked ? mask : text.slice(0, config.textLengthMax),
      textLength: text.length,
    }))
  )
}
